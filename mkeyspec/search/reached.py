"""What cases reach of the code of a device, as numbers that steer a search and as the places that nothing reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol


class Unreached(NamedTuple):
    """Lines of a file, from `first` to `last`, or a way out of line `first`."""

    file: str
    first: int
    last: int
    what: str

    def __str__(self) -> str:
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines}: {self.what}"


class Total(NamedTuple):
    """`reached` of `all` things: `what` they are and whose."""

    reached: int
    all: int
    what: str


class Reached(Protocol):
    """Counts from its making on."""

    def count(self) -> int:
        """How much was reached until now; it never becomes less."""

    def total(self) -> Total:
        """The same in the unit that is reported."""

    def left(self) -> Iterator[Unreached]:
        """What was not reached, file by file."""


def ranges(file: str, lines: Iterable[tuple[int, bool]]) -> Iterator[Unreached]:
    """`lines`: numbers of the lines that have code, in order, and whether each was reached."""
    first = last = 0
    for number, reached in lines:
        if reached:
            if first:
                yield Unreached(file, first, last, "never reached")
            first = 0
        else:
            first, last = first or number, number
    if first:
        yield Unreached(file, first, last, "never reached")
