"""The steps of a case, each followed once, however often something asks what they did.

Nothing here depends on what the device did: `written` keeps what does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from mkeyspec.plan import Step
from mkeyspec.run.dependence import Touched, Walk
from mkeyspec.run.moved import Moved
from mkeyspec.run.reach import MkeyReach, cancelled

_Entry = TypeVar("_Entry")


class _Entries(Generic[_Entry]):
    """`begin` starts to follow a list of steps, and gives what takes the next one."""

    def __init__(self, begin: Callable[[Sequence[Step]], Callable[[Step], Iterable[_Entry]]]) -> None:
        self._begin = begin
        self._take: Callable[[Step], Iterable[_Entry]] | None = None
        self._followed = 0
        self._found: list[tuple[int, _Entry]] = []

    def of(self, steps: Sequence[Step]) -> Sequence[tuple[int, _Entry]]:
        """Of `steps`, which only ever grow: what each did, with its number."""
        # A cancel changes which receives the messages before it have taken.
        if self._take is None or any(True for _ in cancelled(steps[self._followed :])):
            self._take, self._followed, self._found = self._begin(steps), 0, []
        for number in range(self._followed, len(steps)):
            self._found += ((number, entry) for entry in self._take(steps[number]))
        self._followed = len(steps)
        return self._found


class Followed:
    """Of one case."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._moved = _Entries[Moved](lambda steps: MkeyReach(steps).take)
        self._touched = _Entries[Touched](lambda steps: Walk(steps).take)

    def moves(self) -> Sequence[tuple[int, Moved]]:
        """What the steps so far may move if all of them are carried out, as `culprits.moves`."""
        return self._moved.of(self._steps)

    def touched(self) -> Sequence[tuple[int, Touched]]:
        """What the requests of the steps so far access, each with the number of its step."""
        return self._touched.of(self._steps)
