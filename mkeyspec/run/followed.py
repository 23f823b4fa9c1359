"""The steps of a case, each followed once, however often something asks what they did."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.plan import Step
from mkeyspec.run.course import UNKNOWN, Course
from mkeyspec.run.dependence import Touched, Walk
from mkeyspec.run.moved import Moved
from mkeyspec.run.reach import MkeyReach, cancelled


class Followed:
    """Of one case, whose steps only ever grow. `course`: what became of its requests."""

    def __init__(self, steps: Sequence[Step], course: Course = UNKNOWN) -> None:
        self._steps = steps
        self._course = course
        self._reach: MkeyReach | None = None
        self._moves: list[tuple[int, Moved]] = []
        self._reached = 0
        self._walk: Walk | None = None
        self._touched: list[tuple[int, Touched]] = []
        self._walked = 0
        self._open: list[tuple[int, Touched]] = []
        """Those of which it is not known yet which receive their message takes, with their places in `_touched`."""

    def moves(self) -> Sequence[tuple[int, Moved]]:
        """What the steps so far may move if all of them are carried out, as `culprits.moves`: for what does not depend
        on the receives that messages take."""
        steps = self._steps
        # A cancel changes which receives the messages before it have taken.
        if self._reach is None or any(True for _ in cancelled(steps[self._reached :])):
            self._reach, self._reached, self._moves = MkeyReach(steps), 0, []
        for number in range(self._reached, len(steps)):
            self._moves += ((number, entry) for entry in self._reach.take(steps[number]))
        self._reached = len(steps)
        return self._moves

    def touched(self) -> Sequence[tuple[int, Touched]]:
        """What the requests of the steps so far access, each with the number of its step: of those that were carried
        out, as far as is known by now, and of the last step, which may not be posted yet."""
        steps, last = self._steps, len(self._steps) - 1
        if self._walk is None or any(True for _ in cancelled(steps[self._walked :])):
            self._walk, self._walked, self._touched, self._open = Walk(steps, self._course), 0, [], []
        for place, entry in self._open:
            self._touched[place] = (self._touched[place][0], entry.by_now(self._course))
        self._open = [one for one in self._open if one[1].message is not None and one[1].message.unsettled]
        for number in range(self._walked, last):
            for entry in self._walk.take(steps[number]):
                if entry.message is not None:
                    self._open.append((len(self._touched), entry))
                self._touched.append((number, entry.by_now(self._course)))
        self._walked = max(last, self._walked)
        fork = self._walk.fork()
        return [*self._touched, *((last, entry.by_now(self._course)) for entry in fork.take(steps[last]))]
