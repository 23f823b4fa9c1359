"""The room in the queues of a row's QPs: a right device refuses a request that finds none (ibv_post_recv(3), ENOMEM).

A driver may give more room than was asked for, so that no claim can say what becomes of it. A queue has room again once
the completion of a request has been waited for, or one behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.compiler.check.context import count, place
from mkeyspec.compiler.check.state import AbstractState, QpState
from mkeyspec.compiler.eval.buffer_contents import BufferContents
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.layout import Part

Queue = tuple[str | None, bool]
"""A QP (None: the default one), and whether it is the peer's end."""

TARGETS: Queue = ("the case's DCTs", True)
"""The targets of all DCIs have one shared receive queue."""

SHARED_RECEIVES = 64
"""Receives that it holds."""


class Sent(NamedTuple):
    """What no completion has told to be over: WQEs, those behind the last signaled request, and the names that they
    have to do with, or write to."""

    wqes: int = 0
    behind: int = 0
    touched: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


class Room:
    """Of one row. `held`: receives that no message has met; `met`: those whose completion nobody has waited for."""

    __slots__ = ("held", "met", "sent")

    def __init__(self) -> None:
        self.sent: dict[Queue, Sent] = {}
        self.held: dict[Queue, int] = {}
        self.met: dict[Queue, int] = {}

    def take(self, world: AbstractState, ledger: BufferContents, step: plan.Step, span: Span) -> None:
        """`step` is about to happen. Raises `Fault` MKS0516 where a queue has no room for it."""
        if isinstance(step, plan.Post):
            self._post(world, ledger, step, span)
        elif isinstance(step, (plan.Transmit, plan.Receive)):
            self._short_form(world, ledger, step, span)
        elif isinstance(step, plan.Recv):
            key = receiver(world, step.qp, step.peer)
            self._receives(world, key, 1, span)
            self.held[key] = self.held.get(key, 0) + 1
        elif isinstance(step, plan.Poll):
            queue = step.qp, step.peer
            sent = self.sent.pop(queue, Sent())
            if not step.claim and sent.behind:
                self.sent[queue] = sent._replace(wqes=sent.behind)
            self.met.pop(receiver(world, *queue), None)
        elif isinstance(step, (plan.Expect, plan.Record)):
            parts = step.observed.parts if isinstance(step.observed, plan.Content) else ()
            self._rest(world, (part.name for part in parts), looks=True)
        elif isinstance(step, plan.Store):
            self._rest(world, (step.to.name,))
        elif isinstance(step, plan.Check):
            self._rest(world, (step.mkey,))

    def _post(self, world: AbstractState, ledger: BufferContents, step: plan.Post, span: Span) -> None:
        if step.abort:
            return
        queue = step.qp, step.peer
        touched = frozenset(name for one in step.requests for name in _names(ledger, one, span))
        parts = [part.name for one in step.requests for part in one.writes()]
        if any(one.meets_receive() for one in step.requests):
            parts += [part.name for into in world.receives.get((step.qp, not step.peer)) or () for part in into]
        written = frozenset(name for part in parts for name in _behind(ledger, part, span))
        self._rest(world, touched, but=queue)
        qp = world.qp(step.qp)
        refused = any(isinstance(item, plan.Rejected) for item in step.claim)
        listed = any(isinstance(item, plan.Completes) for item in step.claim)
        if refused or listed:
            self.sent.pop(queue, None)  # what is under way comes to its end before
        sent = self.sent.get(queue, Sent())
        wqes, behind = sent.wqes, sent.behind
        for one in step.requests:
            wqes, behind = wqes + _wqes(one), behind + _wqes(one)
            if one.options.signaled or qp.sq_sig_all:
                behind = 0
        if wqes > qp.max_send_wr and not refused:
            raise _full(qp, "max_send_wr", wqes, qp.max_send_wr, "the send queue", span)
        waited = step.wait and behind != wqes
        far = receiver(world, step.qp, not step.peer)
        messages = sum(one.takes_receive() for one in step.requests)
        self.held[far] = max(self.held.get(far, 0) - messages, 0)
        if plan.is_rejected(step.claim) and any(item.phase == "completion" for item in _rejections(step.claim)):
            for side in (False, True):
                self.sent.pop((step.qp, side), None)
                self.held.pop((step.qp, side), None)  # not those of the targets: they are no DCI's
        elif refused or listed:
            self.met.pop(far, None)
        else:
            self.sent[queue] = Sent(behind if waited else wqes, behind, sent.touched | touched, sent.written | written)
            self.met[far] = 0 if waited else self.met.get(far, 0) + messages

    def _short_form(
        self, world: AbstractState, ledger: BufferContents, step: plan.Transmit | plan.Receive, span: Span
    ) -> None:
        peer = step.by in ("peer_read", "recv", "peer_write", "peer_write_imm")
        queue = step.qp, peer
        self._rest(world, _behind(ledger, step.part.name, span), but=queue)
        qp = world.qp(step.qp)
        wqes = 1 + self.sent.get(queue, Sent()).wqes
        if wqes > qp.max_send_wr and not step.claim:
            raise _full(qp, "max_send_wr", wqes, qp.max_send_wr, "the send queue", span)
        if step.by in ("send", "send_imm", "write_imm", "recv", "peer_write_imm"):
            far = receiver(world, step.qp, not peer)
            self._receives(world, far, 1, span)
            self.met.pop(far, None)
        self.sent.pop(queue, None)

    def _receives(self, world: AbstractState, key: Queue, more: int, span: Span) -> None:
        qp = world.qp(key[0])
        most = SHARED_RECEIVES if key == TARGETS else qp.max_recv_wr
        number = self.held.get(key, 0) + self.met.get(key, 0) + more
        if number > most:
            raise _full(qp, "max_recv_wr", number, most, "the receive queue", span)

    def _rest(self, world: AbstractState, names: Iterable[str], but: Queue | None = None, looks: bool = False) -> None:
        """A statement that has to do with these comes after what touches them: the queue has room again. One that
        `looks` comes after what writes there."""
        wanted = frozenset(names)
        for queue, sent in list(self.sent.items()):
            meets = (sent.written if looks else sent.touched) & wanted
            if meets and queue != but and not world.qp(queue[0]).sig_pipelining:
                del self.sent[queue]


def receiver(world: AbstractState, qp: str | None, peer: bool) -> Queue:
    """The queue that has the receives of that end."""
    return TARGETS if peer and world.qp(qp).type == "dci" else (qp, peer)


def _rejections(claim: plan.Claim) -> list[plan.Rejected]:
    return [item for item in claim if isinstance(item, plan.Rejected)]


def _wqes(request: plan.Wr) -> int:
    """A configuration has one more for each domain of its signature (X-LIM-05)."""
    if isinstance(request, plan.StraySetter):
        return 0
    setters = request.setters if isinstance(request, plan.Configure) else ()
    domains = [(one.mem, one.wire) for one in setters if isinstance(one, plan.SetSignature)][:1]
    return 1 + sum(domain is not None for both in domains for domain in both)


def _names(ledger: BufferContents, request: plan.Wr, span: Span) -> set[str]:
    """The keys of a request, and the buffers behind what it names."""
    names = {getattr(request, "mkey", "")}
    for end in request.ends():
        names |= _behind(ledger, end.part.name, span)
    return names


def _behind(ledger: BufferContents, name: str, span: Span) -> set[str]:
    shape = ledger.mkeys.get(name)
    if shape is None or shape.layout is None:
        return {name}
    return {name, *(segment[0] for segment in ledger.targets(Part(name, 0, 0), None, span))}


def _full(qp: QpState, member: str, number: int, most: int, queue: str, span: Span) -> Exception:
    notes = () if qp.at is None else (Note(f"the QP is declared at {place(qp.at)}"),)
    what = count(number, "entry", "entries")
    return fault(
        "MKS0516",
        f"{what} would wait in {queue}, and the QP was made for {most}",
        span,
        notes=notes,
        help=f"wait for some before, or qp q {{ {member} {number} }}",
        page="ibv_create_qp(3), ibv_post_recv(3)",
    )
