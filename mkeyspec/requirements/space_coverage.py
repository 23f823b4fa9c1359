"""What a suite covers of the space of each requirement: classes of its dimensions, and pairs of them (1-wise, 2-wise).

An *event* is one request's use of one key, as the classes of all dimensions then. A class, or a pair, is covered for a
requirement if an event of a row that verifies it has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from mkeyspec.requirements.space import Class, Space, dimensions, spaces


@lru_cache(maxsize=1)
def bits() -> dict[Class, int]:
    """A bit for every class of every dimension: an event is the sum of those that it has."""
    classes = [(name, label) for name, one in dimensions().items() for label in one.classes]
    return {one: 1 << place for place, one in enumerate(classes)}


@dataclass(slots=True)
class SpaceCovered:
    """Of one requirement. `classes` and `pairs`: how many there are."""

    requirement: str
    classes: int = 0
    pairs: int = 0
    missing: list[Class] = field(default_factory=list)
    missing_pairs: list[tuple[Class, Class]] = field(default_factory=list)

    @property
    def covered(self) -> int:
        return self.classes - len(self.missing)

    @property
    def covered_pairs(self) -> int:
        return self.pairs - len(self.missing_pairs)

    def grouped(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """The missing pairs by their two dimensions."""
        found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for one, other in self.missing_pairs:
            found[one[0], other[0]].append((one[1], other[1]))
        return dict(found)


class SpaceCoverage:
    """Filled row by row."""

    def __init__(self) -> None:
        self._events: dict[str, set[int]] = {name: set() for name in spaces()}
        self._masks = {name: sum(bits()[one] for one in space.singles()) for name, space in spaces().items()}

    def add(self, verifies: Iterable[str], events: Iterable[int]) -> None:
        """The events of one row, and the entries that it verifies."""
        events = list(events)
        for name in verifies:
            if name in self._events:
                mask = self._masks[name]
                self._events[name].update(event & mask for event in events)

    def of(self, name: str) -> SpaceCovered:
        """What is covered of one entry."""
        space: Space = spaces()[name]
        together: dict[Class, int] = dict.fromkeys(space.singles(), 0)
        for one in together:
            bit = bits()[one]
            for event in self._events[name]:
                if event & bit:
                    together[one] |= event
        found = SpaceCovered(name, len(together), 0, [one for one, seen in together.items() if not seen])
        for first, second in space.pairs():
            found.pairs += 1
            if not together[first] & bits()[second]:
                found.missing_pairs.append((first, second))
        return found
