"""Which steps may have written which bytes of a case, kept while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mkeyspec.run.buffer import Buffer, Numbers
from mkeyspec.run.course import NOT_YET, UNKNOWN
from mkeyspec.run.extent import Mask, resolve
from mkeyspec.run.moved import ANY, WHOLE, Moved
from mkeyspec.run.reach import MkeyReach, cancelled

if TYPE_CHECKING:
    from mkeyspec.run.case_state import CaseState


class Written:
    """The steps are followed once, also where a `repeat` has hundreds of turns."""

    def __init__(self) -> None:
        self._followed = 0
        self._reach: MkeyReach | None = None
        self._last: dict[int, Numbers] = {}
        """By the buffer's address, for each byte: the last step that may have written it; -1: none."""
        self._anywhere = -1
        """The last step that may have written any byte."""
        self._open: list[tuple[int, Moved]] = []
        """Of requests that were under way when they were followed, with the numbers of their steps."""

    def by_last(self, state: CaseState, *, posted: bool = True) -> list[Moved]:
        """What the last step may write. `posted` False: what it would write, though it was refused or aborted."""
        number = len(state.aimed) - 1
        reach = self._follow(state).fork()
        if not posted:
            reach.keep_free()
            reach.course = UNKNOWN
        return list(reach.take(state.exact.get(number, state.aimed[number])))

    def unseen(self, state: CaseState, buffer: Buffer, low: int = 0, high: int = WHOLE) -> Mask:
        """For each byte of [low, high), whether a step before the last one may have written it since it was compared,
        or a request may still write it."""
        self._follow(state)
        high = min(high, buffer.length)
        last = self._last.get(buffer.addr)
        if last is None and self._anywhere < 0:
            found: Mask = np.zeros(high - low, np.bool_)
        else:
            found = buffer.looked()[low:high] <= self._anywhere
            if last is not None:
                found |= buffer.looked()[low:high] <= last[low:high]
        open_ = [span for _, entry in self._open for span in entry.by_now(state.course)]
        if any(name == ANY for name, _, _ in open_):
            found[:] = True
        for there, start, end in resolve(state, open_):
            if there is buffer:
                found[max(start - low, 0) : max(end - low, 0)] = True
        return found

    def _follow(self, state: CaseState) -> MkeyReach:
        """Of all steps but the last one."""
        steps = state.aimed[:-1]
        reach = self._reach
        cancels = any(True for _ in cancelled(steps[self._followed :]))
        if reach is None or cancels:  # a cancel changes which receives the messages before it have taken
            self._followed, self._last, self._anywhere, self._open = 0, {}, -1, []
            self._reach = reach = MkeyReach(steps, state.course)
        before, self._open = self._open, []
        for number, entry in before:
            if state.course.may_have_moved(entry.at):  # it may have been flushed meanwhile
                self._note(state, number, entry)
        for number in range(self._followed, len(steps)):
            for entry in reach.take(state.exact.get(number, steps[number])):
                if state.course.may_have_moved(entry.at):
                    self._note(state, number, entry)
        self._followed = len(steps)
        return reach

    def _note(self, state: CaseState, number: int, entry: Moved) -> None:
        until = state.course.until(entry.at)
        if until == NOT_YET or entry.unsettled:
            self._open.append((number, entry))
            return
        number = max(number, until)
        spans = entry.by_now(state.course)
        if any(name == ANY for name, _, _ in spans):
            self._anywhere = max(self._anywhere, number)
            return
        for buffer, start, end in resolve(state, spans):
            if (last := self._last.get(buffer.addr)) is None:
                last = self._last[buffer.addr] = np.full(buffer.length, -1, np.int32)
            np.maximum(last[start:end], number, out=last[start:end])
