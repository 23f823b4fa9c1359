"""What is known of a send queue that signature pipelining may stop: whether it can have stopped, and what has set it
going again.

A signature error stops the queue of the QP whose request it is in (XCAN-01). Only the owner's queue can be waited for,
cancelled in and resumed. A failure that the case claims resets both ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check.state import AbstractState


def can_stop(state: AbstractState, qp: str | None) -> bool:
    """Whether the owner's send queue may stop: on a signature error, which only a key with BLOCK_SIGNATURE has."""
    return state.qp(qp).sig_pipelining and any(_is_signed(state, name, peer=False) for name in state.things)


def never_drained(state: AbstractState, qp: str | None) -> tuple[str, str]:
    """Why no sq_drained of the QP can come now, and what to write; "" if one may."""
    called = f"`{qp}`" if qp is not None else "the default QP"
    name = qp or "q"
    end = state.end((qp, False))
    if not state.qp(qp).sig_pipelining:
        return f"{called} has no sig_pipelining", f"await sq_drained on {name}, with qp {name} {{ sig_pipelining }}"
    if not can_stop(state, qp):
        why = "the case has no mkey with block_signature at the owner, so no signature error stops its queue"
        return why, ""
    if end.drained:
        return f"{called} is drained already, and nothing has resumed it", f"resume {name}"
    if not end.may_stop:
        since = "" if end.reset is None else f" since the failure that is claimed at {end.reset}"
        return f"nothing that could have a signature error was posted to {called}{since}", ""
    return "", ""


def note_requests(state: AbstractState, queue: tuple[str | None, bool], requests: Iterable[plan.Wr]) -> None:
    """These requests were posted to that queue, and are carried out, or will be."""
    qp, peer = queue
    if not state.qp(qp).sig_pipelining:
        return
    for one in requests:
        if isinstance(one, plan.RawWqe):  # its bytes name what they like
            _note(state, qp)
        note_uses(state, qp, (end.part.name for end in one.ends()))
        if peer:
            _note_peer(state, qp, one)


def note_uses(state: AbstractState, qp: str | None, names: Iterable[str]) -> None:
    """Requests, or receives, of that pair go through these keys."""
    if state.qp(qp).sig_pipelining and any(_is_signed(state, name, peer=False) for name in names):
        _note(state, qp)


def reset(state: AbstractState, qp: str | None, at: plan.At) -> None:
    """A claimed failure has reset both ends: nothing is stopped, and nothing waits there."""
    if state.qp(qp).sig_pipelining:
        state.ends[qp, False] = state.end((qp, False))._replace(drained=False, may_stop=False, reset=at)


def _note(state: AbstractState, qp: str | None) -> None:
    state.ends[qp, False] = state.end((qp, False))._replace(may_stop=True)


def _note_peer(state: AbstractState, qp: str | None, request: plan.Wr) -> None:
    """An error of a key that a request of the peer goes through stops the peer's queue, and nothing resumes that."""
    for end in request.ends():
        key = state.mkey(end.part.name)
        if key is not None and not end.use.remote and _is_signed(state, end.part.name, peer=True):
            state.things[end.part.name] = key._replace(stops=qp, stops_at=request.at)


def _is_signed(state: AbstractState, name: str, *, peer: bool) -> bool:
    key = state.mkey(name)
    return key is not None and key.peer == peer and key.has(MkeyFlag.BLOCK_SIGNATURE)
