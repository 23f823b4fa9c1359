"""One end of a pair of QPs at a point of a row: the contents of its queues."""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec import plan

Queue = tuple[str | None, bool]
"""An end of a pair of QPs: the pair's name (None: the default one), and whether it is the peer's."""

TARGETS: Queue = ("the case's DCTs", True)
"""The targets of all DCIs have one shared receive queue."""


class Sent(NamedTuple):
    """Requests that no completion has shown to be complete: WQEs, those after the last signaled request, and the
    names that they use or write to."""

    wqes: int = 0
    later: int = 0
    touched: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


NOTHING_SENT = Sent()


class QueueEnd(NamedTuple):
    """The account of one end; replaced, never changed.

    `waiting`: receives of the case that no message has consumed. `perhaps`: receives that a cancelled SEND may have
    consumed. `unread`: consumed receives whose completion was not waited for. `receives`: those that wait, in order;
    None where a cancelled request or a failed one leaves open which are left. `met`: ids of the SENDs of this end
    that have consumed a receive. `pending`: completions that were not waited for. `drained`: since the last `resume`,
    an sq_drained was waited for. `may_stop`: since it was made, or last reset, something was posted that could have a
    signature error. `reset`: the claimed failure that has reset it last.
    """

    waiting: int = 0
    perhaps: int = 0
    unread: int = 0
    receives: tuple[plan.Recv, ...] | None = ()
    met: tuple[int, ...] = ()
    pending: int = 0
    sent: Sent = NOTHING_SENT
    drained: bool = False
    may_stop: bool = False
    reset: plan.At | None = None


EMPTY = QueueEnd()
