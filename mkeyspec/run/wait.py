"""Waiting: always by polling, always until a deadline of the monotonic clock, and never longer than needed."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import End
from mkeyspec.run.evidence import Due

REFUSED_BY_RECEIVE = frozenset({"rem_op_err", "rem_inv_req_err"})
"""The status at the sender when the other end's receive could not take its message (IBTA: a remote operation error,
an invalid request)."""

_SHORTEST = 20e-6
_LONGEST = 1e-3


def until(state: CaseState, done: Callable[[], bool], look: Callable[[], None]) -> bool:
    """Call `look` until `done`; False if the deadline passes first. Calls `look` once more after the deadline."""
    look()
    if done():
        return True
    state.alive()
    around = state.around
    end = around.now() + state.deadline
    pause = _SHORTEST
    while around.now() < end:
        around.pause(pause)
        pause = min(2 * pause, _LONGEST)
        look()
        if done():
            return True
    around.ran_out()
    return False


def for_dues(state: CaseState, end: End, dues: list[Due], far: list[Due]) -> bool:
    """Wait until `end` has the completions `dues` and its other end has `far`. After a request failed, the other end
    may never get a completion (no message came). Then only `dues` count, unless the error says that a receive could
    not take the message, or its request succeeded.
    """
    other = end.other
    messages = [due.request for due in far]
    others = [pair.owner for pair in state.pairs.values() if pair.peer.shared] if far and other.shared else []

    def look() -> None:
        state.poll(end)
        for one in others:  # a failure there may leave its receive to a message of this end
            state.poll(one)
        if far:
            state.poll(other)

    def done() -> bool:
        for due in dues:
            if due.got is None:
                return False
        for message, paired in zip(messages, far, strict=True):
            due = paired if message is None or message.takes is None else message.takes
            if due.got is None:
                return (failed(end, dues) or failed(other, far)) and not _met(due) and not end.owes(due)
        return True

    return until(state, done, look)


def _met(far: Due) -> bool:
    """Whether the request of this receive failed since the receive did."""
    got = far.request.got if far.request is not None else None
    return got is not None and got.status in REFUSED_BY_RECEIVE


def failed(end: End, dues: list[Due]) -> bool:
    """Whether one of these, or anything not checked yet, has an error completion."""
    return end.broken or any(due.failed for due in dues)
