"""What became of the requests of a case: which of them can't have moved a byte.

A section that was refused or aborted is not posted. A request that is flushed after a failed one, or cancelled, is not
carried out. One that fails because a key of it belongs to nothing, or because a right is missing, fails before its
first byte.
"""

from __future__ import annotations

from collections.abc import Iterable

from mkeyspec.plan import At
from mkeyspec.run.evidence import Due

BEFORE_THE_FIRST_BYTE = frozenset({
    "access_right", "bad_lkey", "crypto_keytag", "crypto_missing", "destroyed_dek", "destroyed_key", "foreign_pd",
    "invalidated_key", "no_layout", "update_tag",
})  # fmt: skip
"""Rules of a key, which a request breaks before its first byte if all of its bytes go through that key alone. A message
that breaks a rule about lengths may have moved a part."""


NOT_YET = 1 << 62
"""A step that is not reached: the request is under way."""


class Course:
    """`lost`: the steps after which a pair was connected again, so that its waiting receives are gone."""

    __slots__ = ("_dues", "_ended", "_messages", "_met", "_open", "lost")

    def __init__(self) -> None:
        self._dues: dict[At, list[Due]] = {}
        """Of each place, the requests that were posted."""
        self._open: dict[At, list[Due]] = {}
        """Of each place, those that are not known to be over."""
        self._messages: list[Due] = []
        """Requests whose messages were paired with receives that have no completion yet."""
        self._met: dict[At, int] = {}
        """Of each place of a receive, the number of the step in which its completion was seen."""
        self._ended: dict[At, int] = {}
        """Of each place, the number of the step in which its requests were over, if they were not at once."""
        self.lost: set[At] = set()

    def ask(self, places: Iterable[At]) -> None:
        """Requests of these places are handed to the driver."""
        for at in places:
            self._dues.setdefault(at, [])

    def post(self, due: Due) -> None:
        """The driver took this one."""
        self._dues[due.at].append(due)
        self._open.setdefault(due.at, []).append(due)
        self._messages.append(due)

    def step_ends(self, number: int) -> None:
        """The step of this number has been carried out."""
        for at, dues in list(self._open.items()):
            self._ended[at] = number
            if left := [due for due in dues if not due.over and not due.still]:
                self._open[at] = left
            else:
                del self._open[at]
        waiting = []
        for due in self._messages:
            if due.takes is not None and due.takes.got is not None and due.takes.receive is not None:
                self._met[due.takes.receive.at] = number
            elif due.takes is not None or not due.over:
                waiting.append(due)
        self._messages = waiting

    def met(self, at: At) -> int:
        """The number of the step in which a message was seen to have taken the receive of this place, for good;
        NOT_YET: in none."""
        return self._met.get(at, NOT_YET)

    def took(self, at: At) -> At | None:
        """The place of the receive that the message of this place has taken; None: not known, or several messages."""
        dues = self._dues.get(at, ())
        taken = dues[0].takes if len(dues) == 1 else None
        if taken is None or not taken.succeeded or taken.mixed or taken.receive is None:
            return None
        return taken.receive.at

    def until(self, at: At) -> int:
        """The number of the last step in which a request of this place may have moved a byte, though another step has
        posted it; -1: none."""
        return self._ended.get(at, -1) if at not in self._open else NOT_YET

    def was_posted(self, at: At) -> bool:
        """False only of what is known to have been refused or aborted."""
        return self._dues.get(at) != []

    def was_cancelled(self, at: At) -> bool:
        """Whether each request of this place has been cancelled for sure: it was carried out as a NOP."""
        dues = self._dues.get(at)
        return bool(dues) and all(due.cancelled and not due.doubtful for due in dues or ())

    def may_have_moved(self, at: At) -> bool:
        """Whether a request of this place may have moved a byte."""
        dues = self._dues.get(at)
        return dues is None or not all(due.still for due in dues)

    def stopped_by(self, at: At) -> list[Due]:
        """The requests of this place that failed by themselves."""
        return [due for due in self._dues.get(at, ()) if due.failed and not due.flushed]


UNKNOWN = Course()
"""Of steps that were not carried out yet."""
