"""Sections: requests posted together, and their expected completions.

A section refused at complete has no completion and moves no byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mkeyspec import plan
from mkeyspec.device.protocol import Configure, RawWqe, Refused, SetSignature, Sge, WorkRequest, Write
from mkeyspec.plan import At, Claim, Known, lists
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import CONFIGURATION_WQES, End
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.evidence import Due
from mkeyspec.run.mkey_state import Fills, Setting, byte_lens
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.outcomes import Attempt, describe
from mkeyspec.run.pairing import PLACES
from mkeyspec.run.request import Planned
from mkeyspec.run.verdict import Failure

GRH = 40
"""Bytes in front of each message that a UD QP receives; byte_len counts them (ibv_poll_cq(3))."""


@dataclass(slots=True, eq=False)
class Section:
    """Posted requests: `dues` of this end's send queue, signaled or not, and `far` of the other end's receives."""

    at: At
    what: str
    end: End
    planned: Sequence[Planned]
    dues: list[Due] = field(default_factory=list)
    listed: int | None = None
    """How many completions the claim lists, of the send queue."""
    aborted: bool = False
    """It was ended by ibv_wr_abort: nothing of it is posted."""
    breaking: tuple[int, ...] | None = None
    """An error completion is claimed: the requests that break a rule, () if they are unknown."""
    invalidates: bool = False
    """An error completion is claimed for an invalidation that the other end refuses, without a status."""

    @property
    def is_signaled(self) -> bool:
        """Whether all of its requests are signaled."""
        return self.end.pair.attributes.sq_sig_all or all(one.signaled for one in self.planned if one.opcode)

    @property
    def far(self) -> list[Due]:
        return [due.takes for due in self.dues if due.takes is not None]

    @property
    def owed(self) -> list[Due]:
        return [due for due in self.dues if due.signaled]


def most_listed(claim: Claim) -> int | None:
    """How many completions the longest list of a claim has; None without one."""
    return max((len(entries) for entries in lists(claim)), default=None)


def departs_by_list(section: Section, known: Known | None) -> bool:
    """Whether a known departure lists completions where the claim does not."""
    return section.listed is None and known is not None and bool(lists(known.claim()))


def post(state: CaseState, section: Section, *, abort: bool = False) -> Attempt | None:
    """Post the section. Returns an Attempt if there is nothing to wait for (refused, or aborted on purpose). Raises
    Misfit."""
    state.judge()
    end = section.end
    if end.pair.attributes.sig_pipelining:
        state.look_for_events()
        for entry in () if end.number_of else state.events:
            entry.early = entry.early or state.pair_of(entry.event.qp) is end.pair
    drained = end.drained
    state.course.ask(len(state.taken) - 1, (planned.at for planned in section.planned if planned.opcode))
    section.aborted = abort
    try:
        errno = state.device.post(end.qp, [planned.request for planned in section.planned], abort=abort)
        reason = errno_name(errno) if errno else ""
    except Refused as refusal:
        errno = errno_of(refusal)
        reason = errno_name(errno)
    for planned in section.planned:
        if planned.opcode:
            end.number_of[planned.wr_id] = planned.at
    if errno:
        return Attempt(section.at, section.what, "complete", reason, fault=_moved(state, section))
    if abort:
        return Attempt(section.at, section.what, fault=_moved(state, section))
    signal_all = end.pair.attributes.sq_sig_all
    for order, planned in enumerate(section.planned):
        if not planned.opcode:
            continue
        due = Due(planned.at, "send", planned.wr_id, planned.opcode, planned.names_mkey, order)
        due.signaled = planned.signaled or signal_all
        due.byte_lens, due.imm = planned.byte_lens, planned.imm
        if planned.answer is not None:
            due.lengths_at = _lengths_of_answer(*planned.answer, due)
        due.dc, due.drained, due.events = planned.dc, drained, len(state.events)
        due.astray, due.fence = planned.astray, planned.fence
        end.owe(due)
        state.course.post(due)
        if planned.opcode == "driver1":
            end.configurations.setdefault(due.wr_id, []).extend([due] * _further_wqes(planned.request))
        section.dues.append(due)
        if planned.mkeys:
            state.use(planned.mkeys, planned.at, due)
        writes = _writes_there(planned)
        if writes:
            end.written[due.at] = due.position
        if writes or any(mkey.handle.side != end.side for mkey in planned.mkeys):
            end.remote = due.position
        if planned.opcode == "driver1":
            key, layout = planned.mkeys[0], planned.layout
            key.settings.append(Setting(due, len(key.earlier), planned.domains, None if layout is None else layout[1]))
        if planned.delivers is not None and end.other.receives:
            owe(end.other, planned, due)
    return None


def _lengths_of_answer(fills: Fills, count: int, due: Due) -> Callable[[OpenReceive | None], tuple[int, ...]]:
    """Of a READ or an atomic: by the signatures that the requests before it leave."""
    return lambda _: byte_lens(fills, count, due)


def _writes_there(planned: Planned) -> bool:
    """Whether it may write to memory of the other end without a message there. What a raw WQE does is in its bytes."""
    match planned.request:
        case RawWqe():
            return True
        case Write():
            return planned.delivers is None
        case _:
            return False


def _moved(state: CaseState, section: Section) -> Failure | None:
    """A completion of a section that was refused or aborted, if there is one."""
    end = section.end
    state.poll(end)
    ids = {planned.wr_id for planned in section.planned if planned.opcode}
    for due in end.unjudged():
        if due.stray and due.queue == "send" and due.wr_id in ids:
            assert due.got is not None
            due.mark_judged(f"`{section.what}`")
            message = f"`{section.what}` was refused as a whole, and yet one of its requests completed"
            return Failure("MKS2201", section.at, message, (("got", describe(due.got)),), True)
    return None


def owe(end: End, planned: Planned, request: Due) -> None:
    """The first waiting receive of `end` will take this message."""
    receive = end.receives.popleft()
    header = GRH if end.pair.attributes.type == "ud" else 0

    def lengths(taken: OpenReceive | None) -> tuple[int, ...]:
        fills = () if taken is None else taken.fills
        return tuple(header + length for length in byte_lens(fills, planned.delivers or 0, request))

    due = Due(
        receive.at,
        "recv",
        receive.wr_id,
        "recv_rdma_with_imm" if planned.by_write else "recv",
        receive.names_mkey and not planned.by_write,
        request.order,
        imm=planned.imm,
        invalidated=planned.invalidated,
        request=request,
        receive=receive,
        lengths_at=lengths,
    )
    receive.due, request.takes = due, due
    if receive.label is not None:
        receive.label.dues.append(due)
    end.owe(due)


def _further_wqes(request: WorkRequest) -> int:
    """How many WQEs a configuration has at most beside the first: one for each domain of a signature that it sets
    (X-LIM-05)."""
    signed = isinstance(request, Configure) and SetSignature in map(type, request.setters)
    return CONFIGURATION_WQES - 1 if signed else 0


def post_receive(state: CaseState, end: End, receive: OpenReceive) -> str:
    """Post a receive; the errno's name if it is refused. Of a UD QP the first 40 bytes are the GRH's
    (ibv_post_recv(3)): they go to a buffer of the rig; the case's buffer gets the message."""
    sges = receive.sges
    if end.pair.attributes.type == "ud":
        if end.header is None:
            pd = end.pair.attributes.pd
            own = pd if pd is not None and pd.side == end.side else None
            end.header = state.buffer(f"the place for the {end.side}'s GRH", receive.at, end.side, GRH, pd=own)
            end.header.free = [(0, GRH)]
            state.fresh.append(end.header)
        sges = (Sge(end.header.addr, GRH, end.header.memory.lkey), *sges)
    try:
        errno = state.device.post_recv(end.qp, receive.wr_id, sges)
    except Refused as refusal:
        errno = errno_of(refusal)
    if errno:
        return errno_name(errno)
    receive.place, receive.gone = next(PLACES), False
    end.receives.append(receive)
    end.number_of[receive.wr_id] = receive.at
    return ""


def what_of(step: plan.Post) -> str:
    """A section in a word or two."""
    if step.abort:
        return "abort"
    if len(step.requests) != 1:
        return "post"
    request = step.requests[0]
    name = getattr(request, "mkey", None)
    return f"{request.word} {name}" if name else request.word
