"""The catalogue of conditional faults: faults of the catalogue times conditions of the entries that they violate.

It is generated: every fault, every dimension of the entries that it violates, every condition of that dimension.
`faults()` leaves out what has no witness in `witnesses.json`: of such a pair nothing is known that could be seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.space import Space, dimensions, spaces
from mkeyspec.sabotage import catalogue, model
from mkeyspec.sabotage.catalogue import Fault, UnknownFaultError
from mkeyspec.sabotage.conditions.condition import Condition, parse
from mkeyspec.sabotage.conditions.parts import LEFT_OUT, conditional

WITNESSES = Path(__file__).with_name("witnesses.json")
assert model.MODULES, "importing it is what fills the table of faulty classes"


@dataclass(frozen=True, slots=True)
class ConditionalFault:
    """`requirement`: the sentence that is violated where the condition holds."""

    base: Fault
    condition: Condition
    requirement: str

    @property
    def id(self) -> str:
        return f"{self.base.name}@{self.condition}"

    @property
    def what(self) -> str:
        return f"{self.base.what}; {self.condition.what}"

    def make(self, profile: Profile) -> Model:
        """The model that has it."""
        return conditional(self.base.name, self.condition, profile)


@lru_cache(maxsize=1)
def candidates() -> dict[str, ConditionalFault]:
    """Every pair, by id, in the order of the catalogue and of the dimensions."""
    found: dict[str, ConditionalFault] = {}
    for fault in catalogue.faults().values():
        if fault.name in LEFT_OUT:
            continue
        for requirement in fault.violates:
            space = spaces()[requirement]
            for name in space.classes:
                for text in dimensions()[name].conditions:
                    one = ConditionalFault(fault, parse(text), requirement)
                    if one.id not in found and counts(space, one.condition):
                        found[one.id] = one
    return found


def counts(space: Space, condition: Condition) -> bool:
    """Whether the condition holds somewhere in the entry's space."""
    dimension = dimensions()[condition.dimension]
    labels = space.classes.get(condition.dimension)
    if labels is None:
        return False
    if dimension.values:
        return condition.value in labels
    firsts = [bound for bound, label in zip(dimension.bounds, dimension.classes, strict=True) if label in labels]
    assert isinstance(condition.value, int)
    if condition.operator == "=":
        return condition.value in firsts
    return firsts[-1] >= condition.value


@lru_cache(maxsize=1)
def witnesses() -> dict[str, dict[str, int]]:
    """By fault and condition: the seed of a scenario that shows it (tests/quality/scenario.py)."""
    table: dict[str, dict[str, int]] = json.loads(WITNESSES.read_text(encoding="utf-8"))
    return table


@lru_cache(maxsize=1)
def faults() -> dict[str, ConditionalFault]:
    """Those of which something can be seen, by id."""
    known = witnesses()
    return {key: one for key, one in candidates().items() if str(one.condition) in known.get(one.base.name, {})}


def named(id: str, among: Mapping[str, ConditionalFault] | None = None) -> ConditionalFault:
    """`among`: those of a device; None: of the model. Raises UnknownFaultError."""
    among = faults() if among is None else among
    found = among.get(id)
    if found is None:
        base, _, _ = id.partition("@")
        near = get_close_matches(id, [key for key in among if key.startswith(f"{base}@")] or among, n=3)
        advice = f"did you mean {' or '.join(near)}?" if near else "`mkeyspec sabotage --conditions --list` names them"
        raise UnknownFaultError(f"no conditional fault is called {id!r}; {advice}")
    return found
