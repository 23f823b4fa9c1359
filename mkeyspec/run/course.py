"""What became of the requests of a case: which of them can't have moved a byte.

A section that was refused or aborted is not posted. A request that is flushed after a failed one, or cancelled, is not
carried out. One that fails because a key of it belongs to nothing, or because a right is missing, fails before its
first byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mkeyspec.plan import At
from mkeyspec.run.evidence import Due

if TYPE_CHECKING:
    from mkeyspec.run.open_receive import OpenReceive

BEFORE_THE_FIRST_BYTE = frozenset({
    "access_right", "bad_lkey", "crypto_keytag", "crypto_missing", "destroyed_dek", "destroyed_key", "foreign_pd",
    "invalidated_key", "no_layout", "update_tag",
})  # fmt: skip
"""Rules of a key, which a request breaks before its first byte if all of its bytes go through that key alone. A message
that breaks a rule about lengths may have moved a part."""


NOT_YET = 1 << 62
"""A step that is not reached: the request is under way."""


class Course:
    """What is known of the requests and receives that were posted, by their places and their steps' numbers."""

    __slots__ = ("_dues", "_ended", "_number", "_of_step", "_open", "_receives")

    def __init__(self) -> None:
        self._dues: dict[At, list[Due]] = {}
        """Of each place, the requests that were posted."""
        self._open: dict[At, list[Due]] = {}
        """Of each place, those that are not known to be over."""
        self._number = -1
        """Of the step that is carried out."""
        self._of_step: dict[tuple[int, At], list[Due]] = {}
        """Of each step, the requests of each place."""
        self._receives: dict[int, OpenReceive] = {}
        """Of each step that posted one, the receive."""
        self._ended: dict[At, int] = {}
        """Of each place, the number of the step in which its requests were over, if they were not at once."""

    def ask(self, number: int, places: Iterable[At]) -> None:
        """The step of this number hands requests of these places to the driver."""
        self._number = number
        for at in places:
            self._of_step.setdefault((number, at), [])
            self._dues.setdefault(at, [])

    def post(self, due: Due) -> None:
        """The driver took this one."""
        due.step = self._number
        self._dues[due.at].append(due)
        self._open.setdefault(due.at, []).append(due)
        self._of_step[self._number, due.at].append(due)

    def take_receive(self, number: int, receive: OpenReceive) -> None:
        """The step of this number has posted a receive."""
        receive.step = number
        self._receives[number] = receive

    def message(self, number: int, at: At, turn: int) -> Due | None:
        """The request that the step of this number has posted from this place, the `turn`th of it; None: not posted."""
        dues = self._of_step.get((number, at), [])
        return dues[turn] if turn < len(dues) else None

    def waits(self, number: int) -> bool:
        """Whether the receive of this step may still wait for a message."""
        receive = self._receives.get(number)
        return receive is None or not (receive.gone or (receive.due is not None and receive.due.got is not None))

    def is_open(self, number: int, step: int) -> bool:
        """Whether the receive of this number may wait, or a message of this `step` or a later one has taken it."""
        receive = self._receives.get(number)
        request = receive.due.request if receive is not None and receive.due is not None else None
        return self.waits(number) or (request is not None and request.step >= step)

    def is_free(self, number: int) -> bool:
        """Whether it waits, and is paired with no message."""
        receive = self._receives.get(number)
        return receive is None or not (receive.gone or receive.due is not None)

    def step_ends(self, number: int) -> None:
        """The step of this number has been carried out."""
        for at, dues in list(self._open.items()):
            self._ended[at] = number
            if left := [due for due in dues if not due.over and not due.still]:
                self._open[at] = left
            else:
                del self._open[at]

    def until(self, at: At) -> int:
        """The number of the last step in which a request of this place may have moved a byte, though another step has
        posted it; -1: none."""
        return self._ended.get(at, -1) if at not in self._open else NOT_YET

    def was_posted(self, number: int, at: At) -> bool:
        """False only of what is known to have been refused or aborted in the step of this number."""
        return self._of_step.get((number, at)) != []

    def was_cancelled(self, number: int, at: At) -> bool:
        """Whether each request of this place and step has been cancelled for sure: it was carried out as a NOP."""
        dues = self._of_step.get((number, at))
        return bool(dues) and all(due.cancelled and not due.doubtful for due in dues or ())

    def has_succeeded(self, number: int, at: At) -> bool:
        """Whether each request of this place and step is known to have succeeded."""
        dues = self._of_step.get((number, at))
        return bool(dues) and all(due.succeeded for due in dues or ())

    def may_have_moved(self, at: At) -> bool:
        """Whether a request of this place may have moved a byte."""
        dues = self._dues.get(at)
        return dues is None or not all(due.still for due in dues)

    def stopped_by(self, at: At) -> list[Due]:
        """The requests of this place that failed by themselves."""
        return [due for due in self._dues.get(at, ()) if due.failed and not due.flushed]


UNKNOWN = Course()
"""Of steps that were not carried out yet."""
