"""Which statements may have changed a byte that no statement names. Computed from the steps after a case has failed.

The closing rule finds such a byte at the end of a case, so the statement that wrote it is unknown. Candidates are, in
this order, steps that write to the buffer, steps that only read it, and steps that move data at all. Only steps since
the byte was last compared count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mkeyspec import plan
from mkeyspec.run.course import UNKNOWN, Course
from mkeyspec.run.moved import ANY, Moved, names_of
from mkeyspec.run.reach import MkeyReach


@dataclass(frozen=True, slots=True)
class Suspects:
    """`label` says how certain it is; `alone`: there is no other candidate."""

    label: str
    places: tuple[plan.At, ...]
    alone: bool = field(default=False, compare=False)


def suspects(steps: Sequence[plan.Step], name: str, since: int) -> Suspects:
    """The statements that may have caused a change of the buffer `name`, of those from number `since` on."""
    moved = [(entry.at, names_of(entry.written), entry.read) for number, entry in moves(steps) if number >= since]
    every = tuple(dict.fromkeys(at for at, _, _ in moved))
    for label, kind in (("maybe by", 1), ("read by", 2)):
        found = tuple(dict.fromkeys(entry[0] for entry in moved if name in entry[kind] or ANY in entry[kind]))
        if found:
            return Suspects(label, found, len(found) == 1 and (kind == 1 or every == found))
    return Suspects("since", every, len(every) == 1)


def moves(steps: Sequence[plan.Step], course: Course = UNKNOWN) -> Iterator[tuple[int, Moved]]:
    """What these steps may have moved, each with the number of its step; with a `course`, without what is known to have
    moved nothing."""
    reach = MkeyReach(steps, course)
    for number, step in enumerate(steps):
        for entry in reach.take(step):
            if course.may_have_moved(entry.at):
                yield number, entry
