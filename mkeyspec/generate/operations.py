"""A case that grows operation by operation, for whoever chooses them: `mkeyspec search`.

Each operation has random numbers of its own. So one can be left out, and the others are drawn as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import NamedTuple

from mkeyspec.generate import life, refusals, sections
from mkeyspec.generate.case import Case
from mkeyspec.generate.draw import KINDS, STEPS, step
from mkeyspec.generate.machine import Open
from mkeyspec.generate.seed import VERSION
from mkeyspec.generate.suite import text_of

KEYS = tuple(f"key {kind}" for kind in KINDS)
"""A new key, and what it is for."""
NAMES = (*KEYS, *STEPS, "section", "refuse alone")
"""Every operation. Those of STEPS happen to one key; a section is of all keys."""
MOST_KEYS = 4


class Operation(NamedTuple):
    """`which` key, counted round and round; `number`: what its random numbers follow from."""

    name: str
    which: int
    number: int


class Grown:
    """A case, and the operations that are in it."""

    def __init__(self, name: str) -> None:
        self.operations: list[Operation] = []
        self._case = Case(Random(0), name)
        self._keys: list[str] = []
        """Their names: keys of layouts are not among them."""

    def fits(self, name: str) -> bool:
        """Whether an operation can come next."""
        return len(self._keys) < MOST_KEYS if name in KEYS else name == "refuse alone" or bool(self._keys)

    def add(self, one: Operation) -> bool:
        """The operation is in the case, unless the pages leave open what it gives: then nothing has changed."""
        before = deepcopy(self._case)
        self._case.rng = Random(f"mkeyspec {VERSION} {one.name} {one.number}")
        try:
            self._add(one)
        except Open:
            self._case = before
            return False
        self.operations.append(one)
        return True

    def _add(self, one: Operation) -> None:
        case = self._case
        if one.name in KEYS:
            kind = one.name.removeprefix("key ")
            made = case.key(signature=kind in ("signature", "both"), crypto=kind in ("crypto", "both"))
            self._keys.append(made.name)
            return
        if one.name == "refuse alone":
            refusals.refuse_alone(case)
            return
        keys = [case.machine.keys[name] for name in self._keys]
        if one.name == "section":
            life.end(case)
            sections.in_flight(case, keys)
            return
        key = keys[one.which % len(keys)]
        if not key.usable:
            life.begin(case, key)
        step(case, key, one.name)

    def text(self) -> str:
        """The file with this case; errors that no check has read are read at its end."""
        case = deepcopy(self._case)
        case.rng = Random(0)
        life.end(case)
        return f"mks 1\n\n{text_of(case)}"


def grown(name: str, operations: Sequence[Operation]) -> Grown:
    """The case of these operations; what does not fit, or is open, is left out."""
    made = Grown(name)
    for one in operations:
        if made.fits(one.name):
            made.add(one)
    return made
