"""Sections: requests posted together, waited for, and judged by the completions they owe.

language-syntax (d) 6, 7, 13, 14: a section refused at complete has no completion and moves no byte; of one that is
refused at completion the failing request is the one that names an mkey, what follows it is flushed, and the other
end sees an error or nothing. Either way the pair is reset before the next step, once all that came is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mkeyspec.device.protocol import Refused
from mkeyspec.plan import At, Claim, Completes, Known
from mkeyspec.run import drain, reset, wait
from mkeyspec.run.bench import Bench, byte_lens, errno_name
from mkeyspec.run.claim import ERROR, Attempt, arrange, describe
from mkeyspec.run.completion import late, misfit, unowed
from mkeyspec.run.endpoint import End, Receive
from mkeyspec.run.evidence import FLUSH, SUCCESS, Due
from mkeyspec.run.request import Planned
from mkeyspec.run.verdict import Failure


@dataclass(slots=True, eq=False)
class Section:
    """Posted requests: `dues` of this end's send queue, signaled or not, and `far` of the other end's receives."""

    at: At
    what: str
    end: End
    planned: Sequence[Planned]
    dues: list[Due] = field(default_factory=list)
    far: list[Due] = field(default_factory=list)
    listed: int | None = None
    """How many completions the claim lists, of the send queue."""
    breaking: tuple[int, ...] | None = None
    """An error completion is claimed: the requests that break a rule, () if nobody has said which."""

    @property
    def is_signaled(self) -> bool:
        """Whether each of its requests tells when it is over."""
        return self.end.pair.attributes.sq_sig_all or all(one.signaled for one in self.planned if one.opcode)

    @property
    def owed(self) -> list[Due]:
        return [due for due in self.dues if due.signaled]


def post(bench: Bench, section: Section, *, abort: bool = False) -> Attempt | None:
    """Hand the section to the driver. An Attempt if that is the end of it (refused, or aborted as asked)."""
    end = section.end
    if end.pair.attributes.sig_pipelining:
        bench.look_for_events()
        for entry in () if end.number_of else bench.events:
            entry.early = entry.early or bench.pair_of(entry.event.qp) is end.pair
    drained = end.drained
    try:
        errno = bench.device.post(end.qp, [planned.request for planned in section.planned], abort=abort)
        reason = errno_name(errno) if errno else ""
    except Refused as refusal:
        errno, reason = refusal.errno, errno_name(refusal.errno)
    for planned in section.planned:
        if planned.opcode:
            end.number_of[planned.wr_id] = planned.at
    if errno:
        return Attempt(section.at, section.what, "complete", reason, fault=_moved(bench, section))
    if abort:
        return Attempt(section.at, section.what, fault=_moved(bench, section))
    signal_all = end.pair.attributes.sq_sig_all
    for order, planned in enumerate(section.planned):
        if not planned.opcode:
            continue
        due = Due(planned.at, "send", planned.wr_id, planned.opcode, planned.names_mkey, order)
        due.signaled = planned.signaled or signal_all
        due.byte_lens, due.imm = planned.byte_lens, planned.imm
        due.dc, due.drained, due.events = planned.dc, drained, len(bench.events)
        end.owe(due)
        if planned.opcode == "driver1":
            end.configurations.add(due.wr_id)
        section.dues.append(due)
        if planned.mkeys:
            bench.use(planned.mkeys, planned.at, due)
        if planned.domains is not None:
            planned.mkeys[0].domains = planned.domains
        if planned.layout is not None:
            planned.layout[0].entries = planned.layout[1]
        if planned.delivers is not None and end.other.receives:
            section.far.append(owe(end.other, planned, due))
    return None


def owe(end: End, planned: Planned, request: Due) -> Due:
    """The first waiting receive of `end` will take this message."""
    receive = end.receives.popleft()
    due = Due(
        receive.at,
        "recv",
        receive.wr_id,
        "recv_rdma_with_imm" if planned.by_write else "recv",
        receive.names_mkey and not planned.by_write,
        request.order,
        byte_lens=byte_lens(receive.signed, planned.delivers or 0),
        imm=planned.imm,
        invalidated=planned.invalidated,
        request=request,
        receive=receive,
    )
    receive.due = due
    if receive.label is not None:
        receive.label.dues.append(due)
    end.owe(due)
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


def most_listed(claim: Claim) -> int | None:
    """How many completions the longest list of a claim has; None without one."""
    return max((len(item.entries) for item in claim if isinstance(item, Completes)), default=None)


def departs_by_list(section: Section, known: Known | None) -> bool:
    """Whether a known departure lists completions where the claim does not."""
    return section.listed is None and known is not None and isinstance(known.outcome, Completes)


def settle(
    bench: Bench, section: Section, *, expect_error: bool = False, expect_success: bool = False
) -> Attempt:
    """Wait for what the section owes, and say what came. `expect_error`: an unsignaled request is to fail;
    `expect_success`: or not."""
    end, what, at = section.end, section.what, section.at
    attempt = Attempt(at, what)
    owed, unsettled = section.owed, None
    if section.listed is not None:
        unsettled = _wait_for_list(bench, section)
        attempt.listed = [due for due in end.unjudged() if _is_listed(section, due)]
    elif owed or section.far:
        wait.for_dues(bench, end, owed, section.far)
    elif expect_error and expect_success:
        unsettled = drain.exact(bench, end, at)  # a marker tells which
    elif expect_error:
        wait.until(bench, lambda: end.broken, lambda: bench.poll(end))
    else:
        return attempt
    failed = _failed(section)
    if failed is not None:
        assert failed.got is not None
        attempt.phase, attempt.reason = "completion", failed.got.status
    attempt.earlier = _earlier(section)
    attempt.fault = _fault(bench, section, failed) or _far_alone(section, attempt, failed) or unsettled
    for due in (*section.dues, *section.far, *attempt.listed):
        # What came unasked is the closing rule's, unless the list has it.
        if not due.judged and due.got is not None and (due.signaled or due.failed or section.listed is not None):
            due.judge(f"`{what}`")
    if section.listed is not None:
        close(end, section.dues)
    return attempt


def close(end: End, dues: Sequence[Due]) -> None:
    """What a list says of these is judged: they owe nothing any more."""
    for due in dues:
        if due.got is None and not due.passed:
            if not due.judged:
                due.judge("a list of completions")
            for line in (end.send, end.recv):
                if due in line:
                    line.remove(due)


def _wait_for_list(bench: Bench, section: Section) -> Failure | None:
    """As many completions as the claim lists, the receives of the other end, and then nothing more."""
    end, want = section.end, section.listed or 0

    def listed() -> int:
        return sum(1 for due in end.unjudged() if _is_listed(section, due))

    wait.until(bench, lambda: listed() >= want, lambda: bench.poll(end))
    if section.far:
        wait.for_dues(bench, end, [], section.far)
    return drain.exact(bench, end, section.at)


def _is_listed(section: Section, due: Due) -> bool:
    """Whether a list of the section's completions speaks of it: its own, and what no request owes."""
    return due.queue == "send" and ((due.stray and due.wr_id not in section.end.markers) or due in section.dues)


def _failed(section: Section) -> Due | None:
    """What the section failed by: the request that names an mkey if there are several, a flush only if there is
    nothing else."""
    found = [due for due in (*section.dues, *section.far) if due.failed and not due.judged]
    return min(found, key=_rank) if found else None


def _rank(due: Due) -> tuple[bool, bool, int]:
    return (due.got is not None and due.got.status == FLUSH, not due.names_mkey, due.order)


def _fault(bench: Bench, section: Section, failed: Due | None) -> Failure | None:
    """What no claim covers: a completion that is missing, and one that is not what its request owes."""
    end, what = section.end, section.what
    if section.listed is None:
        for due in section.owed:
            if due.got is None:
                return late(bench, end, due, what)
    for due in section.far:
        if due.got is None and failed is None:
            return late(bench, end.other, due, what)
    if failed is None:
        dues = section.far if section.listed is not None else (*section.owed, *section.far)
        return next((fault for due in dues if (fault := misfit(due, what)) is not None), None)
    return _elsewhere(section, failed) or _another(section, failed) or _around(bench, section, failed)


def _another(section: Section, failed: Due) -> Failure | None:
    """A failure claimed of a section of several, and the wrong request of it failed.

    It is due to those that break a rule; where the checker can't tell which, to those that name an mkey, if there are
    any. What memcpy takes the device alone says.
    """
    if section.breaking is None or failed.got is None or failed.got.status == FLUSH or len(section.planned) == 1:
        return None
    dues = (*section.dues, *section.far)
    named = {due.order for due in dues if due.names_mkey}
    orders = set(section.breaking) or (named | {due.order for due in dues if due.opcode == "driver3"} if named else ())
    if not orders:
        return None
    which = ", ".join(f"{at.line}:{at.column}" for at in (section.planned[order].at for order in sorted(orders)))
    if failed.order not in orders:
        why = "breaks no rule" if section.breaking else "names no mkey"
        message = f"the `{failed.opcode}` of `{section.what}` failed, which {why}"
        details = (("expected", f"an error of the request at {which}"), ("got", describe(failed.got)))
        return Failure("MKS2005", failed.at, message, details, True)
    for due in section.dues:
        if due.order in section.breaking and due.order < failed.order and due.over and not due.failed:
            message = f"the `{due.opcode}` of `{section.what}` went through, and should be refused"
            got = "no error" if due.got is None else describe(due.got)
            return Failure("MKS2005", due.at, message, (("expected", "an error"), ("got", got)), True)
    return None


def _elsewhere(section: Section, failed: Due) -> Failure | None:
    """Of a short form, an error that the request which names the mkey does not have itself."""
    if failed.names_mkey or (failed.got is not None and failed.got.status == FLUSH):
        return None
    if not any(due.receive is not None and due.receive.own for due in section.far):
        return None
    for due in (*section.dues, *section.far):
        if due.names_mkey and (due.got is None or due.got.status == FLUSH):
            assert failed.got is not None
            message = f"`{section.what}` failed, and the request that names the mkey has no error of its own"
            got = describe(due.got) if due.got is not None else "none"
            details = (
                ("expected", f"an error of the {due.opcode} ({due.queue} queue)"),
                ("got", got),
                ("other end", describe(failed.got)),
            )
            return Failure("MKS2005", due.at, message, details, True)
    return None


def _far_alone(section: Section, attempt: Attempt, failed: Due | None) -> Failure | None:
    """A receive of the other end that failed, while all that the list speaks of succeeded: no claim covers it."""
    if section.listed is None or failed is None or failed not in section.far:
        return None
    return None if any(due.failed for due in attempt.listed) else misfit(failed, section.what)


def _earlier(section: Section) -> Failure | None:
    """A request that was posted before this section, and failed: what became of the section follows from it."""
    own = set(map(id, (*section.dues, *section.far)))
    for due in section.end.unjudged():
        got = due.got
        if got is None or got.status in (SUCCESS, FLUSH) or due.stray or id(due) in own:
            continue
        return _blamed(section.end, due, section.what, section.at)
    return None


def _blamed(end: End, due: Due, what: str, at: At) -> Failure:
    """The failure of a request that was posted before `what`, which has seen it at `at`."""
    assert due.got is not None
    due.judge(f"`{what}`")
    end.pair.failed = f"the failure at {due.at.line}:{due.at.column}"
    message = f"`{due.opcode}` before `{what}` completed with {due.got.status}, and should succeed"
    details = (("expected", SUCCESS), ("got", describe(due.got)), ("seen at", f"{at.line}:{at.column}"))
    return Failure("MKS2005", due.at, message, details, True)


def _around(bench: Bench, section: Section, failed: Due) -> Failure | None:
    """Whether everything before the failed request succeeded as it should, and nothing behind it did."""
    what, streams = section.what, section.end.pair.attributes.streams
    for due in () if section.listed is not None else section.dues:
        if due is failed or due.got is None:
            continue
        status = due.got.status
        if due.order < failed.order or (streams and due.dc != failed.dc):
            if status == SUCCESS:
                if (fault := misfit(due, section.what)) is not None:
                    return fault
                continue
            want = SUCCESS
        elif due.order > failed.order and status != FLUSH:
            want = FLUSH
        else:
            continue
        message = f"around the failed request of `{section.what}` another completed with {status}"
        return Failure("MKS2005", due.at, message, (("expected", want), ("got", describe(due.got))), True)
    for due in section.far:
        if section.end.owes(due) and (due.got is None or due.got.status != SUCCESS):
            return misfit(due, what) if due.got is not None else late(bench, section.end.other, due, what)
        if due.got is None or due.got.status != SUCCESS:
            continue
        if due.order >= failed.order:
            message = f"`{section.what}` failed, and yet the other end received the message"
            details = (("expected", "an error, a flush, or no completion"), ("got", describe(due.got)))
            return Failure("MKS2005", due.at, message, details, True)
        if (fault := misfit(due, section.what)) is not None:
            return fault
    return None


def poll(bench: Bench, at: At, end: End, lists: Sequence[Completes]) -> Attempt:
    """What one end owes and nobody waited for; with `lists`, all that comes to it and nobody has judged."""
    attempt = Attempt(at, "poll")
    owed = [due for due in end.owed() if not due.judged]
    if not lists:
        owed = [*(due for due in end.unjudged() if due.signaled and not due.stray), *owed]
        wait.until(bench, lambda: all(due.over for due in owed) or wait.failed(end, owed), lambda: bench.poll(end))
        attempt.fault = _before_poll(bench, at, end, owed)
        for due in owed:
            if due.judged or (attempt.fault is not None and (due.got is None or due.failed)):
                continue  # of a QP that has failed, the closing rule
            fault = late(bench, end, due, "poll") if due.got is None else misfit(due, "poll")
            if due.got is not None:
                due.judge("poll")
            attempt.fault = attempt.fault or fault
        return attempt
    want = max(len(outcome.entries) for outcome in lists)
    wait.until(bench, lambda: sum(1 for _ in end.unjudged()) >= want, lambda: bench.poll(end))
    attempt.fault = drain.exact(bench, end, at)
    came = [due for due in end.unjudged() if due.wr_id not in end.markers]
    attempt.listed = came
    failed = [due for due in arrange(lists[0].entries, came) if due.failed]
    if failed:
        assert failed[0].got is not None
        attempt.phase, attempt.reason = "completion", failed[0].got.status
        bench.seen_events = min(due.events for due in failed)
    for due in came:
        due.judge("poll")
    close(end, owed)
    return attempt


def _before_poll(bench: Bench, at: At, end: End, owed: Sequence[Due]) -> Failure | None:
    """What failed first, here or at the other end, if a poll for these finds a failure: what is flushed, and what is
    missing, follows from it."""
    if not wait.failed(end, list(owed)):
        return None
    bench.poll(end.other)
    for side in (end, end.other):
        for due in side.unjudged():
            if due.failed and due.got is not None and due.got.status != FLUSH and not due.stray:
                return _blamed(end, due, "poll", at)
    return None


def gather(bench: Bench, section: Section, attempt: Attempt) -> None:
    """For a known departure that lists completions where the page has one each: all that came, and nothing more."""
    attempt.fault = attempt.fault or drain.exact(bench, section.end, section.at)
    strays = [due for due in section.end.unjudged() if due.stray and due.queue == "send"]
    attempt.listed = [*(due for due in section.dues if due.got is not None), *strays]


def around_list(end: End, attempt: Attempt, outcome: Completes) -> Failure | None:
    """The members that a list which fits does not name: they are those of a completion nobody lists."""
    for entry, due in zip(outcome.entries, arrange(outcome.entries, attempt.listed), strict=False):
        if entry.opcode != ERROR and due.got is not None and (due.queue == "recv") != entry.opcode.startswith("recv"):
            message = f"a completion of `{attempt.what}` came out of the QP's other queue"
            return Failure("MKS2005", due.at, message, (("got", describe(due.got)),), True)
        if due.got is not None and due.failed and (wrong := unowed(end, due)):
            message = f"an error completion of `{attempt.what}` {wrong}"
            return Failure("MKS2005", due.at, message, (("got", describe(due.got)),), True)
        if due.got is None or due.got.status != SUCCESS or due.stray:
            continue
        named = ("id", "opcode", *(name for name, _ in entry.members))
        if (fault := misfit(due, attempt.what, named)) is not None:
            return fault
    return None


def besides_list(bench: Bench, section: Section, attempt: Attempt) -> Failure | None:
    """What a claim with a list says of what came if it is met by another outcome than a list: each request is held to
    what it owes without one, and nothing came that no request owes."""
    found = [due for due in (*section.dues, *section.far) if due.failed]
    fault = _fault(bench, replace(section, listed=None), min(found, key=_rank) if found else None)
    if fault is not None:
        return fault
    for due in attempt.listed:
        if due.got is not None and (due.stray or not due.signaled) and due.got.status == SUCCESS:
            message = f"a completion of `{attempt.what}` came that no request owes: {describe(due.got)}"
            return Failure("MKS2201", due.at, message, hard=True)
    return None


def recover(bench: Bench, end: End, attempt: Attempt, spare: int = 0) -> list[Failure]:
    """After a refusal that was claimed: the pair reset, receives that no message has used posted again, but for the
    `spare` first ones at the other end. What was left unjudged on it comes back as failures."""
    if attempt.phase not in ("complete", "completion"):
        return []
    waiting: list[tuple[End, Receive]] = []
    claimed = ""
    if attempt.phase == "complete":
        waiting = [(side, receive) for side in (end, end.other) if not side.shared
                   for receive in side.receives if not receive.own]  # fmt: skip
        spared = [one for one in waiting if one[0] is end.other][:spare]
        waiting = [one for one in waiting if one not in spared]
        for _, receive in spared:
            if receive.label is not None:
                receive.label.moot = True
    else:
        claimed = f"the failure claimed at {attempt.at.line}:{attempt.at.column}"
    failures = reset.reset(bench, end.pair, attempt.at, claimed, None if claimed else end)
    for side, receive in waiting:
        if refused := post_receive(bench, side, receive):
            message = f"a receive that waited was refused with {refused} when it was posted again"
            details = (("posted again", f"behind the reset at {attempt.at.line}:{attempt.at.column}"),)
            failures.append(Failure("MKS2001", receive.at, message, details, True))
    return failures


def _moved(bench: Bench, section: Section) -> Failure | None:
    """A completion of a section that was refused or aborted, if there is one."""
    end = section.end
    bench.poll(end)
    ids = {planned.wr_id for planned in section.planned if planned.opcode}
    for due in end.unjudged():
        if due.stray and due.queue == "send" and due.wr_id in ids:
            assert due.got is not None
            due.judge(f"`{section.what}`")
            message = f"`{section.what}` was refused as a whole, and yet one of its requests completed"
            return Failure("MKS2201", section.at, message, (("got", describe(due.got)),), True)
    return None
