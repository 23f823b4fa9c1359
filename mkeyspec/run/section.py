"""Sections: requests posted together, waited for, and judged by the completions they owe.

language-syntax (d) 6, 7, 13, 14: a section refused at complete has no completion and moves no byte; of one that is
refused at completion the failing request is the one that names an mkey, what follows it is flushed, and the other
end sees an error or nothing. Either way the pair is reconnected before the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mkeyspec.device.protocol import Completion, Refused
from mkeyspec.plan import At
from mkeyspec.run import wait
from mkeyspec.run.bench import Bench, errno_name
from mkeyspec.run.claim import Attempt, describe, show
from mkeyspec.run.endpoint import Due, End, Receive
from mkeyspec.run.request import Planned
from mkeyspec.run.verdict import Failure

FLUSH = "wr_flush_err"


@dataclass(slots=True, eq=False)
class Section:
    """Posted requests: `dues` of this end's send queue, `far` of the other end's receives."""

    at: At
    what: str
    end: End
    planned: Sequence[Planned]
    dues: list[Due] = field(default_factory=list)
    far: list[Due] = field(default_factory=list)
    listed: int | None = None
    """How many completions the claim lists; then the send queue owes nothing by itself."""

    def order_of(self, wr_id: int) -> int:
        """The place of a request in the section; -1 for one posted earlier."""
        for i, planned in enumerate(self.planned):
            if planned.wr_id == wr_id:
                return i
        return -1


def post(bench: Bench, section: Section, *, abort: bool = False) -> Attempt | None:
    """Hand the section to the driver. An Attempt if that is the end of it (refused, or aborted as asked)."""
    end = section.end
    try:
        errno = bench.device.post(end.qp, [planned.request for planned in section.planned], abort=abort)
        reason = errno_name(errno) if errno else ""
    except Refused as refusal:
        errno, reason = refusal.errno, errno_name(refusal.errno)
    if errno:
        return Attempt(section.at, section.what, "complete", reason, fault=_moved(bench, section))
    if abort:
        return Attempt(section.at, section.what, fault=_moved(bench, section))
    signal_all = end.pair.attributes.sq_sig_all
    for order, planned in enumerate(section.planned):
        if not planned.opcode:
            continue
        end.number_of[planned.wr_id] = planned.at
        signaled = planned.signaled or signal_all
        end.dirty = not signaled
        if signaled and section.listed is None:
            due = Due(planned.at, "send", planned.wr_id, planned.opcode, planned.names_mkey, order=order)
            end.due_send.append(due)
            section.dues.append(due)
        if planned.delivers is not None and end.other.receives:
            section.far.append(owe(end.other, planned, order))
    return None


def owe(end: End, planned: Planned, order: int) -> Due:
    """The first waiting receive of `end` will take this message."""
    receive = end.receives.popleft()
    due = Due(
        receive.at,
        "recv",
        receive.wr_id,
        "recv_rdma_with_imm" if planned.by_write else "recv",
        receive.names_mkey and not planned.by_write,
        order=order,
        byte_len=None if receive.byte_len_open else planned.delivers,
        imm=planned.imm,
        invalidated=planned.invalidated,
        sender=planned.wr_id,
        receive=receive,
    )
    receive.due = due
    if receive.label is not None:
        receive.label.dues.append(due)
    end.due_recv.append(due)
    return due


def post_receive(bench: Bench, end: End, receive: Receive) -> str:
    """Post a receive; the errno's name if it is refused."""
    try:
        errno = bench.device.post_recv(end.qp, receive.wr_id, receive.sges)
    except Refused as refusal:
        errno = refusal.errno
    if errno:
        return errno_name(errno)
    end.receives.append(receive)
    end.number_of[receive.wr_id] = receive.at
    return ""


def settle(bench: Bench, section: Section, *, expect_error: bool = False) -> Attempt:
    """Wait for what the section owes, and say what came. `expect_error`: an unsignaled request is to fail."""
    end, what, at = section.end, section.what, section.at
    if section.listed is not None:
        return _settle_listed(bench, section)
    if section.dues or section.far:
        in_time = wait.for_dues(bench, end, section.dues, section.far)
    elif expect_error:
        in_time = wait.until(bench, lambda: end.broken, lambda: bench.poll(end))
    else:
        return Attempt(at, what)
    failed = _failed(section)
    if failed is None:
        if not in_time and (section.dues or section.far):
            return Attempt(at, what, fault=_late(bench, section))
        for dues in (section.dues, section.far, take_loose(end)):
            for due in dues:
                if (fault := misfit(due, what)) is not None:
                    return Attempt(at, what, fault=fault)
        return Attempt(at, what)
    order, completion = failed
    fault = _behind(section, order) if in_time else _late(bench, section)
    return Attempt(at, what, "completion", completion.status, fault=fault)


def take_loose(end: End) -> list[Due]:
    """What this end has paid of the debts that nobody waited for."""
    if not end.loose:
        return []
    paid = [due for due in end.loose if due.got is not None]
    end.loose = [due for due in end.loose if due.got is None]
    return paid


def misfit(due: Due, what: str) -> Failure | None:
    """How a successful completion is not what its request owes."""
    got = due.got
    assert got is not None
    if got.status != "success":
        details = (("expected", "success"), ("got", describe(got)))
        return Failure("MKS2005", due.at, f"`{what}` completed with {got.status}, and should succeed", details, True)
    if got.opcode != due.opcode:
        member, want, have = "opcode", due.opcode, got.opcode
    elif due.byte_len is not None and got.byte_len != due.byte_len:
        member, want, have = "byte_len", show(due.byte_len), show(got.byte_len)
    elif due.queue == "recv" and got.imm != due.imm:
        member, want, have = "imm", show(due.imm), show(got.imm)
    elif due.invalidated is not None and got.invalidated_rkey != due.invalidated:
        member, want, have = "invalidated", show(due.invalidated), show(got.invalidated_rkey)
    else:
        return None
    side = "receive" if due.queue == "recv" else "request"
    message = f"the completion of `{what}` has another {member}"
    details = (("expected", f"{member} {want}"), ("got", f"{member} {have} ({side} queue)"))
    return Failure("MKS2005", due.at, message, details, True)


def recover(bench: Bench, section: Section, attempt: Attempt) -> None:
    """After a refusal that was claimed: the pair reconnected, receives that no message has used posted again."""
    if attempt.phase not in ("complete", "completion"):
        return
    end = section.end
    waiting: list[tuple[End, Receive]] = []
    if attempt.phase == "complete":
        waiting = [(side, receive) for side in (end, end.other) for receive in side.receives if not receive.own]
    bench.retire(end.pair)
    for side, receive in waiting:
        post_receive(bench, side, receive)


def _moved(bench: Bench, section: Section) -> Failure | None:
    """A completion of a section that was refused or aborted, if there is one."""
    end = section.end
    bench.poll(end)
    ids = {planned.wr_id for planned in section.planned if planned.opcode}
    for stray in end.stray:
        if stray.wr_id in ids:
            end.stray.remove(stray)
            message = f"`{section.what}` was refused as a whole, and yet one of its requests completed"
            return Failure("MKS2201", section.at, message, (("got", describe(stray)),), True)
    return None


def _failed(section: Section) -> tuple[int, Completion] | None:
    """The completion that the section failed by, and the place of its request: the one that names an mkey if there
    are several, a flush only if there is nothing else."""
    found: list[tuple[bool, bool, int, Completion]] = []
    end = section.end
    for due in end.loose:
        if due.got is not None and due.got.status != "success":
            found.append((due.got.status == FLUSH, not due.names_mkey, -1, due.got))
    for due in (*section.dues, *section.far):
        if due.got is not None and due.got.status != "success":
            found.append((due.got.status == FLUSH, not due.names_mkey, due.order, due.got))
    for stray in end.stray:
        if stray.status != "success":
            order = section.order_of(stray.wr_id)
            named = order < 0 or section.planned[order].names_mkey
            found.append((stray.status == FLUSH, not named, order, stray))
    if not found:
        return None
    _, _, order, completion = min(found, key=lambda item: item[:3])
    return order, completion


def _behind(section: Section, order: int) -> Failure | None:
    """Whether everything before the failed request succeeded, and nothing behind it did."""
    for due in section.dues:
        assert due.got is not None
        status = due.got.status
        if due.order < order and status != "success":
            want = "success"
        elif due.order > order and status != FLUSH:
            want = FLUSH
        else:
            continue
        message = f"around the failed request of `{section.what}` another completed with {status}"
        details = (("expected", want), ("got", describe(due.got)))
        return Failure("MKS2005", due.at, message, details, True)
    for due in section.far:
        if due.order >= order and due.got is not None and due.got.status == "success":
            message = f"`{section.what}` failed, and yet the other end received the message"
            details = (("expected", "an error, a flush, or no completion"), ("got", describe(due.got)))
            return Failure("MKS2005", due.at, message, details, True)
    return None


def _settle_listed(bench: Bench, section: Section) -> Attempt:
    """Wait for as many completions as the claim lists, and take what came as it is."""
    end = section.end
    assert section.listed is not None
    want = section.listed
    wait.until(bench, lambda: len(end.stray) >= want, lambda: bench.poll(end))
    strays = end.take_strays()
    error = next((stray for stray in strays if stray.status != "success"), None)
    attempt = Attempt(section.at, section.what, completions=tuple(strays))
    if error is not None:
        attempt.phase, attempt.reason = "completion", error.status
        return attempt
    if section.far and not wait.for_dues(bench, end, [], section.far):
        attempt.fault = _late(bench, section)
    return attempt


def _late(bench: Bench, section: Section) -> Failure:
    """The deadline passed with a completion missing."""
    missing = next(due for due in (*section.dues, *section.far) if due.got is None)
    return late(bench, section.end if missing.queue == "send" else section.end.other, missing, section.what)


def late(bench: Bench, end: End, missing: Due, what: str) -> Failure:
    """A completion that did not come within the deadline."""
    arrived = ", ".join(describe(stray) for stray in end.stray) or "nothing"
    details = (
        ("expected", f"{missing.opcode} ({end.side}'s {missing.queue} queue, id {missing.wr_id})"),
        ("got", f"{arrived}, within {bench.deadline:g} s"),
    )
    return Failure("MKS2004", missing.at, f"`{what}` did not complete", details, True)
