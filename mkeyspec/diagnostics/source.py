"""A source file: its text, its lines, and positions in it."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple


class Location(NamedTuple):
    """A position as shown to the user; both numbers count from 1, `column` in characters."""

    line: int
    column: int


class Source:
    """The text of one file. `name` is the name shown to the user: the path relative to the suite's root, with `/`.
    `raw`: the bytes that were read, of a file."""

    __slots__ = ("_starts", "name", "path", "raw", "text")

    def __init__(self, name: str, text: str, path: Path | None = None, raw: bytes = b"") -> None:
        self.raw = raw
        self.name = name
        self.text = text
        self.path = path
        starts = [0]
        find = text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        self._starts = starts

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    def location(self, offset: int) -> Location:
        """The line and column of the character at `offset`."""
        line = bisect_right(self._starts, offset)
        return Location(line, offset - self._starts[line - 1] + 1)

    def start_of(self, number: int) -> int:
        """The offset of the first character of line `number` (from 1)."""
        return self._starts[number - 1]

    def line(self, number: int) -> str:
        """The text of line `number` (from 1) without its end."""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


class Span(NamedTuple):
    """A half-open range of characters [start, end) of one source."""

    source: Source
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.source, self.start, other.end)

    def holds(self, other: Span) -> bool:
        """Whether `other` begins inside this one."""
        return other.source is self.source and self.start <= other.start < self.end
