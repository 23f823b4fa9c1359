"""The space of each requirement: the dimensions under which its sentence must hold, with their values and boundaries.

Read from `requirements/space/`: `dimensions.toml`, `entries.toml` (which entry has which), `conflicts.toml` (what can't
be combined). A dimension has classes: its values, or for a number the ranges that begin at its bounds. A *fact* is what
a dimension is at one moment; `Dimension.class_of` gives its class.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Union

from mkeyspec.files import resource

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Fact = Union[int, str]
Class = tuple[str, str]
"""A dimension's name and the label of one of its classes: ("blocks", "2..3")."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """`values` of an enumeration, else `bounds` of a number. `draw`: conditions of a number, as ">=8" or "=0"."""

    name: str
    what: str
    source: str
    values: tuple[str, ...] = ()
    bounds: tuple[int, ...] = ()
    draw: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        if self.values:
            return self.values
        ends = (*self.bounds[1:], None)
        return tuple(_label(first, end) for first, end in zip(self.bounds, ends, strict=True))

    def class_of(self, fact: Fact) -> str | None:
        """The label of the class that a fact is in; None outside of all."""
        if self.values:
            return str(fact) if fact in self.values else None
        assert isinstance(fact, int)
        place = bisect_right(self.bounds, fact) - 1
        return None if place < 0 else self.classes[place]

    @property
    def conditions(self) -> tuple[str, ...]:
        """What a fault can be made to depend on: "kind=crc32", "block>=8"."""
        return tuple(f"{self.name}{text}" for text in self.draw or (f"={value}" for value in self.values))

    def matches(self, spec: str) -> frozenset[str]:
        """Classes that a value of a conflict names: a label, a number in the class, or all others than "!…"."""
        if spec.startswith("!"):
            return frozenset(self.classes) - self.matches(spec[1:])
        if spec in self.classes:
            return frozenset({spec})
        found = self.class_of(int(spec)) if self.bounds else None
        if found is None:
            raise ValueError(f"{self.name} has no class {spec}")
        return frozenset({found})


def _label(first: int, end: int | None) -> str:
    if end is None:
        return f"{first}.."
    return str(first) if end == first + 1 else f"{first}..{end - 1}"


@dataclass(frozen=True, slots=True)
class Space:
    """The dimensions of one entry of the ledger; of each the classes that count for it."""

    requirement: str
    classes: Mapping[str, tuple[str, ...]]

    def singles(self) -> Iterator[Class]:
        for name, labels in self.classes.items():
            yield from ((name, label) for label in labels)

    def pairs(self) -> Iterator[tuple[Class, Class]]:
        """Every combination of two classes of two dimensions that can be."""
        for one, other in combinations(self.classes, 2):
            if _is_apart(one, other):
                continue
            for first in self.classes[one]:
                for second in self.classes[other]:
                    if can_be((one, first), (other, second)):
                        yield (one, first), (other, second)


def _load(name: str) -> dict[str, Any]:
    with (resource.directory("requirements") / "space" / name).open("rb") as file:
        return tomllib.load(file)


@lru_cache(maxsize=1)
def dimensions() -> dict[str, Dimension]:
    """All dimensions by name, in the order of the file."""
    return {
        name: Dimension(
            name,
            entry["what"],
            entry["source"],
            tuple(entry.get("values", ())),
            tuple(entry.get("bounds", ())),
            tuple(entry.get("draw", ())),
        )
        for name, entry in _load("dimensions.toml").items()
    }


@lru_cache(maxsize=1)
def spaces() -> dict[str, Space]:
    """The space of each testable entry of the ledger, by its id."""
    table = _load("entries.toml")
    groups, only, families = table["groups"], table["only"], table["families"]
    found: dict[str, Space] = {}
    for requirement, names in table["dimensions"].items():
        limited = {**families.get(requirement.split("-")[0], {}), **only.get(requirement, {})}
        is_open = limited.pop("open", ())
        classes: dict[str, tuple[str, ...]] = {}
        for name in _expanded(names, groups):
            if name in is_open:
                continue
            dimension = dimensions()[name]
            classes[name] = dimension.classes
            if name in limited:
                wanted = frozenset().union(*(dimension.matches(spec) for spec in limited[name]))
                classes[name] = tuple(label for label in dimension.classes if label in wanted)
        found[requirement] = Space(requirement, classes)
    return found


def _expanded(names: Iterable[str], groups: Mapping[str, list[str]]) -> list[str]:
    found: list[str] = []
    for name in names:
        found += groups[name[1:]] if name.startswith("@") else [name]
    return list(dict.fromkeys(found))


# What can't be combined ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conflict:
    """No class of `these` goes with a class of `those`."""

    these: frozenset[Class]
    those: frozenset[Class]
    why: str


@lru_cache(maxsize=1)
def conflicts() -> tuple[Conflict, ...]:
    return tuple(
        Conflict(_classes(entry["these"]), _classes(entry["those"]), entry["why"])
        for entry in _load("conflicts.toml")["conflict"]
    )


def _classes(table: Mapping[str, list[str]]) -> frozenset[Class]:
    return frozenset(
        (name, label) for name, specs in table.items() for spec in specs for label in dimensions()[name].matches(spec)
    )


@lru_cache(maxsize=1)
def _partners() -> dict[Class, frozenset[Class]]:
    """By class: those that it can't be combined with."""
    found: dict[Class, frozenset[Class]] = {}
    for conflict in conflicts():
        for some, others in ((conflict.these, conflict.those), (conflict.those, conflict.these)):
            for one in some:
                found[one] = found.get(one, frozenset()) | others
    return found


@lru_cache(maxsize=1)
def _limits() -> dict[tuple[str, str], int]:
    """By index and number: by how much the index is below the number, at least."""
    table = _load("conflicts.toml")
    below = {(entry["index"], entry["number"]): 1 for entry in table["smaller"]}
    return below | {(entry["index"], entry["number"]): 0 for entry in table["at_most"]}


@lru_cache(maxsize=1)
def _apart() -> tuple[tuple[frozenset[str], frozenset[frozenset[str]]], ...]:
    return tuple(
        (frozenset(entry["dimensions"]), frozenset(map(frozenset, entry["meet"])))
        for entry in _load("conflicts.toml")["apart"]
    )


@lru_cache(maxsize=4096)
def _is_apart(one: str, other: str) -> bool:
    return any(one in names and other in names and frozenset((one, other)) not in meet for names, meet in _apart())


def can_be(one: Class, other: Class) -> bool:
    """Whether two classes of two dimensions can be combined."""
    if other in _partners().get(one, ()):
        return False
    for (index, low), (number, high) in ((one, other), (other, one)):
        below = _limits().get((index, number))
        if below is not None:
            return _first(low) + below <= _last(high)
    return True


def _first(label: str) -> int:
    return int(label.split("..")[0])


def _last(label: str) -> float:
    if label.endswith(".."):
        return float("inf")
    return int(label.split("..")[-1])
