"""What a statement moves: the bytes that it may write, the buffers that it may read, the receives it may take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.run.course import Course
from mkeyspec.run.evidence import Due

Span = tuple[str, int, int]
"""Bytes [start, end) of a buffer."""


class Arrival(NamedTuple):
    """A receive that a message may take, by the number of its step, and the bytes that are then written."""

    step: int
    spans: tuple[Span, ...]


class Moved(NamedTuple):
    """A statement that moved data: its location, the bytes it may write, the buffers it may read. `in_one`: it reads
    one piece of memory and writes one; `far_in_one`: what it accesses at the other end is one piece. `message`: the
    request whose message takes one of the receives of `arrivals`; None before it is posted."""

    at: plan.At
    written: tuple[Span, ...]
    read: frozenset[str]
    in_one: bool = False
    far_in_one: bool = False
    message: Due | None = None
    arrivals: tuple[Arrival, ...] = ()

    @property
    def unsettled(self) -> bool:
        """Whether it is not known yet which of several receives its message takes."""
        if self.message is None or len(self.arrivals) < 2:
            return False
        takes = self.message.takes
        return self.message.doubtful if takes is None else takes.got is None

    def taken_by_now(self, course: Course) -> tuple[Arrival, ...]:
        """The receives that its message may have taken, as far as is known by now."""
        if self.message is None:
            return self.arrivals
        takes = self.message.takes
        if takes is None and not self.message.doubtful:
            return ()
        own = takes.receive.step if takes is not None and takes.receive is not None else -1
        if takes is not None and takes.got is not None:
            return tuple(one for one in self.arrivals if one.step == own)
        return tuple(one for one in self.arrivals if one.step == own or course.waits(one.step))

    def by_now(self, course: Course) -> tuple[Span, ...]:
        """The bytes it may write, as far as is known by now which receive its message has taken."""
        if self.message is None:
            return self.written
        return tuple(span for one in self.taken_by_now(course) for span in one.spans)


NOTHING: frozenset[str] = frozenset()
ANY = "*"
"""Stands for every buffer: a raw WQE names its own addresses."""
NOWHERE = ""
"""Stands for what a key of nothing reaches (`target`)."""
WHOLE = 1 << 62
"""An offset greater than the length of any buffer."""


def unnamed(at: plan.At) -> str:
    """The peer's buffer of the short form at `at`, which has no name."""
    return f"{at}"


def names_of(spans: Iterable[Span]) -> frozenset[str]:
    return frozenset(name for name, _, _ in spans if name != NOWHERE)
