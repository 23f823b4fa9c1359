"""The room in the queues of a row's QPs: a right device refuses a request that finds none (ibv_post_recv(3), ENOMEM).

A driver may give more room than was asked for, so that no claim can say what becomes of it. A queue has room again once
the completion of a request has been waited for, or one after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.check.context import count, place
from mkeyspec.compiler.check.queue_end import NOTHING_SENT, TARGETS, Queue, Sent
from mkeyspec.compiler.check.state import AbstractState, QpState
from mkeyspec.compiler.eval.buffer_contents import BufferContents
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.diagnostics.source import Span

SHARED_RECEIVES = 64
"""Receives that it holds."""


def take_room(state: AbstractState, ledger: BufferContents, step: plan.Step, span: Span) -> None:
    """`step` is about to happen. Raises `Fault` MKS0516 where a queue has no room for it."""
    match step:
        case plan.Post():
            _post(state, ledger, step, span)
        case plan.Transmit() | plan.Receive():
            _short_form(state, ledger, step, span)
        case plan.Recv():
            queue = state.receive_queue(step.qp, step.peer)
            _room_for_receive(state, queue, span)
            end = state.end(queue)
            state.ends[queue] = end._replace(waiting=end.waiting + 1)
        case plan.Poll():
            queue = step.qp, step.peer
            sent = state.end(queue).sent
            left = sent._replace(wqes=sent.later) if not step.claim and sent.later else NOTHING_SENT
            state.ends[queue] = state.end(queue)._replace(sent=left)
            _read(state, state.receive_queue(*queue))
        case plan.Expect() | plan.Record():
            parts = plan.parts_of(step.observed)
            _rest(state, (part.name for part in parts), looks=True)
        case plan.Store():
            _rest(state, (step.to.name,))
        case plan.Check() | plan.Destroy():
            _rest(state, (step.mkey,))
        case plan.Memory() | plan.Mkey() | plan.Qp() | plan.Pd() | plan.Dek() | plan.Dct() | plan.Retag():
            pass  # nothing is posted
        case plan.Query() | plan.DestroyDek() | plan.Login() | plan.Logout() | plan.LoginState():
            pass
        case plan.Await() | plan.Cancel() | plan.Resume() | plan.Snapshot():
            pass  # no completion is waited for
        case _:
            assert_never(step)


def _post(state: AbstractState, ledger: BufferContents, step: plan.Post, span: Span) -> None:
    if step.abort:
        return
    queue = step.qp, step.peer
    touched = frozenset(name for one in step.requests for name in _names(ledger, one))
    parts = [part.name for one in step.requests for part in one.writes()]
    if any(one.takes_receive() for one in step.requests):
        parts += [
            part.name
            for one in state.end(state.receive_queue(step.qp, not step.peer)).receives or ()
            for part in one.into
        ]
    written = frozenset(name for part in parts for name in ledger.reached_by(part))
    _rest(state, touched, but=queue)
    qp = state.qp(step.qp)
    refused, listed = plan.may_be_rejected(step.claim), bool(plan.lists(step.claim))
    if refused or listed:
        _marked(state, queue)  # what is under way comes to its end before
    sent = state.end(queue).sent
    wqes, after = sent.wqes, sent.later
    for one in step.requests:
        wqes, after = wqes + _wqes(one), after + _wqes(one)
        if one.options.signaled or qp.sq_sig_all:
            after = 0
    if wqes > qp.max_send_wr and not refused:
        raise _full(qp, queue, "max_send_wr", wqes, qp.max_send_wr, span)
    waited = step.wait and after != wqes
    far = state.receive_queue(step.qp, not step.peer)
    if plan.is_rejected(step.claim) and plan.rejected_at(step.claim, "completion"):
        for side in (False, True):
            _over(state, (step.qp, side))
    elif refused or listed:
        _read(state, far)
    else:
        now = Sent(after if waited else wqes, after, sent.touched | touched, sent.written | written)
        state.ends[queue] = state.end(queue)._replace(sent=now)
        messages = sum(one.takes_receive() for one in step.requests)
        unread = 0 if waited else state.end(far).unread + messages
        state.ends[far] = state.end(far)._replace(unread=unread)


def short_queue(step: plan.Transmit | plan.Receive) -> Queue:
    """The queue that the request of a short form is posted to."""
    return step.qp, step.by in ("peer_read", "recv", "peer_write", "peer_write_imm")


def _short_form(state: AbstractState, ledger: BufferContents, step: plan.Transmit | plan.Receive, span: Span) -> None:
    queue = short_queue(step)
    _rest(state, ledger.reached_by(step.part.name), but=queue)
    qp = state.qp(step.qp)
    wqes = 1 + state.end(queue).sent.wqes
    if wqes > qp.max_send_wr and not step.claim:
        raise _full(qp, queue, "max_send_wr", wqes, qp.max_send_wr, span)
    if step.by in ("send", "send_imm", "write_imm", "recv", "peer_write_imm"):
        far = state.receive_queue(step.qp, not queue[1])
        _room_for_receive(state, far, span)
        _read(state, far)
    _over(state, queue)


def _room_for_receive(state: AbstractState, queue: Queue, span: Span) -> None:
    qp, end = state.qp(queue[0]), state.end(queue)
    most = SHARED_RECEIVES if queue == TARGETS else qp.max_recv_wr
    number = end.waiting + end.unread + 1
    if number > most:
        raise _full(qp, queue, "max_recv_wr", number, most, span)


def _over(state: AbstractState, queue: Queue) -> None:
    """A completion has shown that everything posted there is over."""
    state.ends[queue] = state.end(queue)._replace(sent=NOTHING_SENT)


def _marked(state: AbstractState, queue: Queue) -> None:
    """A request of the rig shows that everything posted there is over, if one fits after what has no completion: else a
    quiet time does, and tells the driver nothing."""
    sent = state.end(queue).sent
    left = sent._replace(wqes=sent.later) if sent.later >= state.qp(queue[0]).max_send_wr else NOTHING_SENT
    state.ends[queue] = state.end(queue)._replace(sent=left)


def _read(state: AbstractState, queue: Queue) -> None:
    """The completions of the receives there have been waited for."""
    state.ends[queue] = state.end(queue)._replace(unread=0)


def _rest(state: AbstractState, names: Iterable[str], but: Queue | None = None, looks: bool = False) -> None:
    """A statement that uses these names comes after what uses them: the queue has room again. One that `looks` comes
    after what writes there."""
    wanted = frozenset(names)
    for queue, end in list(state.ends.items()):
        meets = (end.sent.written if looks else end.sent.touched) & wanted
        if meets and queue != but and not state.qp(queue[0]).sig_pipelining:
            _marked(state, queue)


def _wqes(request: plan.Wr) -> int:
    """A configuration has one more for each domain of its signature (X-LIM-05)."""
    match request:
        case plan.StraySetter():
            return 0
        case plan.Configure(setters=setters):
            given = (domains for setter in setters if (domains := setter.domains_given()) is not None)
            return 1 + sum(domain is not None for domain in next(given, ()))
        case _:
            return 1


def _names(ledger: BufferContents, request: plan.Wr) -> set[str]:
    """The keys of a request, and the buffers of what it names."""
    names = {getattr(request, "mkey", "")}
    for end in request.ends():
        names |= ledger.reached_by(end.part.name)
    return names


def _full(qp: QpState, queue: Queue, member: str, number: int, most: int, span: Span) -> Exception:
    notes = () if qp.at is None else (Note(f"the QP is declared at {place(qp.at)}"),)
    what = count(number, "entry", "entries")
    which = "send" if member == "max_send_wr" else "receive"
    larger = "" if queue == TARGETS else f", or qp {queue[0] or 'q'} {{ {member} {number} }}"
    return fault(
        "MKS0516",
        f"{what} would wait in the {which} queue, and the QP was made for {most}",
        span,
        notes=notes,
        help=f"wait for some before{larger}",
        page="ibv_create_qp(3), ibv_post_recv(3)",
    )
