"""Ranges of bytes of named buffers, and which of them overlap others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mkeyspec.reference.layout import Segment


class Region(NamedTuple):
    """Bytes [start, end) of a buffer; `at`: where they are in the bytes of all the regions, one after the other."""

    start: int
    end: int
    at: int


class Regions:
    """Parts of buffers in the order of their bytes; immutable. They may overlap each other.

    They are sorted by their starts, and the longest one is known, so that those around a place are found in the
    logarithm of their number when they have about the same length.
    """

    __slots__ = ("_found",)

    def __init__(self, found: dict[str, list[Region]]) -> None:
        self._found = {name: _Sorted(regions) for name, regions in found.items() if regions}

    @classmethod
    def of(cls, segments: Iterable[Segment]) -> Regions:
        """Those of concatenated segments; empty ones are left out."""
        found: dict[str, list[Region]] = {}
        at = 0
        for name, start, length in segments:
            if length:
                found.setdefault(name, []).append(Region(start, start + length, at))
                at += length
        return cls(found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def overlapping(self, name: str, low: int, high: int) -> list[Region]:
        """Those that have bytes of [low, high), by their starts."""
        of_name = self._found.get(name)
        return [] if of_name is None else of_name.overlapping(low, high)

    def overlaps(self, other: Regions) -> bool:
        """Whether a byte is in both."""
        return any(
            other.overlapping(name, region.start, region.end)
            for name, of_name in self._found.items()
            if name in other._found
            for region in of_name.regions
        )

    def inside(self, other: Regions) -> bool:
        """Whether all their bytes are in `other`, too."""
        for name, of_name in self._found.items():
            for region in of_name.regions:
                reached = region.start
                for one in other.overlapping(name, region.start, region.end):
                    reached = max(reached, one.end) if one.start <= reached else reached
                if reached < region.end:
                    return False
        return True

    def without(self, other: Regions) -> Regions:
        """Those that share no byte with `other`."""
        if not any(name in other._found for name in self._found):
            return self
        return Regions(
            {
                name: [one for one in of_name.regions if not other.overlapping(name, one.start, one.end)]
                for name, of_name in self._found.items()
            }
        )

    def twice(self) -> Iterator[tuple[Region, Region]]:
        """Each two that share a byte."""
        for of_name in self._found.values():
            yield from of_name.twice()


class _Sorted:
    """The regions of one buffer by their starts."""

    __slots__ = ("longest", "regions", "starts")

    def __init__(self, regions: list[Region]) -> None:
        self.regions = sorted(regions)
        self.starts = [region.start for region in self.regions]
        self.longest = max(region.end - region.start for region in self.regions)

    def overlapping(self, low: int, high: int) -> list[Region]:
        first, last = bisect_right(self.starts, low - self.longest), bisect_left(self.starts, high)
        return [one for one in self.regions[first:last] if one.end > low]

    def twice(self) -> Iterator[tuple[Region, Region]]:
        open_: list[Region] = []
        for region in self.regions:
            open_ = [one for one in open_ if one.end > region.start]
            for one in open_:
                yield one, region
            open_.append(region)
