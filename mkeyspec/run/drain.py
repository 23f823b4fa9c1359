"""Bringing a QP pair to rest, and judging all that came and that nobody has judged.

Requests that are not signaled tell of themselves only when they fail, and a completion too many may come late. A
marker, a signaled RDMA write of length zero behind everything else, tells when nothing can come any more of a send
queue: at the end of a case, before a reset, and where a statement says exactly what comes. Where the other end has
received something, and none of its receives waits, the marker is a SEND into a receive of its own, for that queue.

Where a service has no such request (UD, XRC, raw packets, a DCI without a target, a queue that may be drained), or the
driver may take none (after a section that it refused), a bounded time without anything new takes its place; it is noted
in the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from errno import ENOMEM
from time import monotonic, sleep

from mkeyspec.constants import SendFlag
from mkeyspec.device.protocol import DcAddress, Refused, Send, WorkRequest, Write
from mkeyspec.plan import At
from mkeyspec.run import suspect, wait
from mkeyspec.run.bench import Bench, errno_name
from mkeyspec.run.claim import describe, show
from mkeyspec.run.endpoint import End, Pair
from mkeyspec.run.evidence import FLUSH, SUCCESS, Due
from mkeyspec.run.verdict import Failure
from mkeyspec.value.layout import Part

QUIET = 5e-3
"""Seconds without anything new that take the place of a marker."""
GRACE = 5e-4
"""Seconds that are looked on behind a marker, and before a QP is reset: for what the device should not send at all."""

LOOKS = 44
"""Polls of a queue from which nothing should come any more, at a reset and at the end of a case."""

MOST_TOLD = 8
"""Completions too many that are told one by one."""
MOST_SEEN = 1000
"""So many completions too many are enough: nobody waits until no more come."""

MARKED = frozenset({"rc", "uc"})
"""QP types that take a plain RDMA write."""


def exact(bench: Bench, end: End, at: At) -> Failure | None:
    """The statement at `at` says exactly what comes: nothing of it may come after this."""
    marked, failure = _end_here(bench, end, at)
    if marked:
        _look(bench, end, GRACE)
    return failure


def before(bench: Bench, end: End, at: At) -> Failure | None:
    """A section follows after which the pair may have to be reset: what is under way comes to its end first."""
    bench.look_for_events()
    bench.seen_events = len(bench.events)
    if end.quiet() or _unmarked(end):
        return _end_here(bench, end, at)[1]
    other = end.other
    healthy = not end.pair.failed and not any(one.broken or one.owed() for one in end.pair.ends)
    if healthy and other.pair.attributes.type in MARKED and _unmarked(other):
        return _end_here(bench, other, at)[1]
    return None


def rest(bench: Bench, at: At, parts: Iterable[Part]) -> Failure | None:
    """The statement at `at` looks at these parts of buffers: requests that may write there, and that nobody has waited
    for, come to their end first. A queue that may be drained is given a short while only."""
    ends = [end for pair in bench.pairs.values() for end in pair.ends if end.send or end.other.recv]
    if not ends:
        return None
    names = {part.name for part in parts} | {suspect.ANY}
    writers = {by for _, (by, written, _) in suspect.moves(bench.taken) if any(name in names for name, _, _ in written)}
    for end in ends:
        far = [due for due in end.other.recv if due.request is not None and due.request.at in writers]
        near = any(due.at in writers for due in end.send)
        if (near or far) and end.pair.attributes.sig_pipelining:
            until_quiet(bench, end)
        elif (near or far) and not end.pair.failed and not end.broken:
            failure = _end_here(bench, end, at)[1] if near else None
            if failure is not None:
                return failure
            wait.for_dues(bench, end, [], [due for due in far if due.got is None])
    return None


def _unmarked(end: End) -> bool:
    """Whether requests of this queue, or receives of the other one, were completed and no marker has come behind."""
    return end.used is not None or (end.other.received and _takes_send(end))


def _takes_send(end: End) -> bool:
    """Whether a marker can be a message: none of the case's receives would take it, and nothing has failed."""
    return (
        end.pair.attributes.type == "rc"
        and end.pair.attributes.max_recv_wr > 0
        and not end.pair.failed
        and not end.other.receives
        and not any(one.broken or one.failed for one in end.pair.ends)
    )


def _idle(bench: Bench, end: End) -> bool:
    """Whether nothing tells that a pair is as it was: nothing was posted to it, or another one has failed since it was
    marked. The owner's marker is answered by the peer."""
    untouched = not any(one.number_of for one in end.pair.ends)
    return end.side == "owner" and not end.drained and (untouched or bool(bench.failed_qps))


def _end_here(bench: Bench, end: End, at: At) -> tuple[bool, Failure | None]:
    """A marker, and what is wrong with it; or a quiet time."""
    marked, wrong = False, list[Failure]()
    if not end.pair.attributes.sig_pipelining:
        marked, wrong = _mark(bench, end, at, closing=False)
    if not marked and not wrong:
        quiet(bench, end, at)
        end.used = None
    return marked, wrong[0] if wrong else None


def quiet(bench: Bench, end: End, at: At) -> None:
    """Nothing new for a while, in place of a marker."""
    _look(bench, end, QUIET)
    for due in end.quiet():
        due.passed = True
        due.judge("a quiet time")
        end.send.remove(due)
    of = f"`{end.pair.name}`" if end.pair.name else "the default QP"
    bench.quiet.append((at, f"{of} ({end.pair.attributes.type}), {end.side}: nothing new within {QUIET * 1e3:g} ms"))


def until_quiet(bench: Bench, end: End) -> None:
    """A short while: completions that are on their way."""
    _look(bench, end, GRACE)


def _look(bench: Bench, end: End, seconds: float) -> None:
    """Poll until nothing new has come for that long; never longer than a step may wait."""
    look_on(bench, (end,))
    last = monotonic() + bench.deadline
    limit = monotonic() + seconds
    begun = count = len(end.arrived)
    while monotonic() < min(limit, last) and count < begun + MOST_SEEN:
        sleep(seconds / 4)
        look_on(bench, (end,))
        if len(end.arrived) != count:
            count, limit = len(end.arrived), monotonic() + seconds


def look_on(bench: Bench, ends: Sequence[End]) -> None:
    """Some polls at once: a completion too many may be behind others that a device holds back."""
    for _ in range(LOOKS):
        for end in ends:
            bench.poll(end)


# Markers -------------------------------------------------------------------------------------


def _addresses(bench: Bench, end: End) -> list[DcAddress | None]:
    """Where markers must go to be behind everything: of a DCI, to each target and stream in use; [] if nowhere."""
    kind = end.pair.attributes.type
    if kind in MARKED:
        return [None]
    if kind == "dci" and end.side == "owner" and not end.pair.failed and not end.broken:
        used = {due.dc: None for due in (*end.send, *end.arrived[-8:]) if due.dc is not None}
        known = dict(bench.dcts.values())
        return [dc for dc in used if known.get(dc.dct) == dc.key]
    return []


def _mark(bench: Bench, end: End, at: At, *, closing: bool) -> tuple[bool, list[Failure]]:
    """Post markers and wait for them. Whether they came back, and what is wrong if one did not."""
    addresses = _addresses(bench, end)
    if not addresses or any(due.dc is not None and due.dc not in addresses for due in end.quiet()):
        return False, []
    for dc in addresses:
        marker = Due(at, "send", bench.number(), "rdma_write", dc=dc)
        request: WorkRequest = Write(marker.wr_id, int(SendFlag.SIGNALED), (), 0, 0, None, dc)
        receive = Due(at, "recv", bench.number(), "recv", byte_lens=(0,), request=marker)
        # Not where the queue may be full: a message that is not sent would leave its receive to the case's.
        by_message = end.other.received and _takes_send(end) and (closing or not end.quiet())
        if by_message and (refused := _receive(bench, end.other, receive)):
            message = f"the QP takes no more receives at the end of the case ({refused})"
            return False, [Failure("MKS2204", at, message, hard=True)]
        if by_message:
            marker.opcode = "send"
            request = Send(marker.wr_id, int(SendFlag.SIGNALED), (), None, None, None)
        try:
            errno = bench.device.post(end.qp, [request])
        except Refused as refusal:
            errno = refusal.errno
        if errno == ENOMEM and end.quiet() and not closing:
            return False, []  # the queue may be full of them: no completion has told the driver otherwise
        if errno:
            message = f"the QP takes no more requests at the end of the case ({errno_name(errno)})"
            return False, [Failure("MKS2204", at, message, hard=True)]
        stopped = end.ordered and end.stopped > 0
        end.owe(marker)
        end.markers.add(marker.wr_id)
        marker.judge("marker")
        wait.until(bench, lambda marker=marker: marker.got is not None, lambda: bench.poll(end))  # type: ignore[misc]
        if by_message and (wrong := _received(bench, end, receive)) is not None:
            return True, [wrong]
        if marker.got is None:
            end.send.remove(marker)
            if stopped:
                return True, [late(bench, end, marker, "a request behind a failed one")]
            if end.broken or end.pair.failed:
                return False, []
            return False, [late(bench, end, marker, "the closing zero-length write" if closing else "the marker")]
        broken = end.broken or bool(end.pair.failed)
        if marker.got.status == SUCCESS and (wrong := misfit(marker, "the marker")) is not None:
            return True, [wrong]
        if marker.got.status not in (SUCCESS, FLUSH) and stopped:
            message = f"a request behind a failed one came back with {marker.got.status}"
            return True, [Failure("MKS2005", at, message, (("expected", FLUSH), ("got", describe(marker.got))))]
        if marker.got.status != SUCCESS and not broken:
            message = f"the QP had failed by the end of the case: the closing write came back with {marker.got.status}"
            return True, [Failure("MKS2204", at, message, (("got", describe(marker.got)),))]
        end.used = None
        lost = []
        for due in end.quiet():
            if dc is None or due.dc == dc:
                flushed = stopped and end.stopped < due.place
                due.passed = True
                due.succeeded = not flushed and end.ordered
                due.judge("nothing came" if flushed else "marker")
                end.send.remove(due)
                if flushed:
                    lost.append(late(bench, end, due, f"the {due.opcode} behind a failed request"))
        if lost:
            return True, lost
    return True, []


def _receive(bench: Bench, end: End, due: Due) -> str:
    """Post a receive for a marker that is a message; the errno's name if it is refused."""
    try:
        errno = bench.device.post_recv(end.qp, due.wr_id, ())
    except Refused as refusal:
        errno = refusal.errno
    if errno:
        return errno_name(errno)
    end.owe(due)
    end.markers.add(due.wr_id)
    due.judge("marker")
    return ""


def _received(bench: Bench, end: End, due: Due) -> Failure | None:
    """Wait for the receive of a marker, and what is wrong with it."""
    other = end.other
    if due.request is not None and due.request.succeeded:
        wait.until(bench, lambda: due.got is not None, lambda: bench.poll(other))
    if due.got is None:
        other.recv.remove(due)
        sent = due.request is not None and due.request.succeeded
        return late(bench, other, due, "the receive of the closing message") if sent else None
    other.received = False
    return misfit(due, "the closing message") if due.request is not None and due.request.succeeded else None


# Judging -------------------------------------------------------------------------------------


def settle(
    bench: Bench, pair: Pair, *, patient: bool = True, reset: At | None = None, refused: End | None = None
) -> list[Failure]:
    """Wait for what is owed, mark the end of what owes nothing, and judge everything that nobody has judged.

    `patient` False: the case has failed already, and what does not come is not waited for. `reset`: the statement
    after which the pair is reset; `refused`: the end whose driver refused a section, which leaves it in no state for a
    marker.
    """
    failures: list[Failure] = []
    _wait(bench, pair, patient)
    for end in pair.ends:
        missing = any(due.queue == "send" for due in end.owed())
        # One that failed takes no more; to one whose other end has failed, a marker would time out.
        healthy = patient and not missing and not end.broken and not pair.failed
        idle = healthy and reset is None and _idle(bench, end)
        unmarked = healthy and _unmarked(end)
        if end.quiet() or unmarked or idle:
            at = end.quiet()[-1].at if end.quiet() else end.used or pair.at
            if not patient or end is refused or pair.attributes.sig_pipelining:
                if patient or end.quiet():
                    quiet(bench, end, at)
                continue
            marked, wrong = _mark(bench, end, at, closing=True)
            failures += wrong
            if not marked and not wrong and (end.quiet() or unmarked):
                quiet(bench, end, at)
    for end in pair.ends:
        bench.poll(end)
        if reset is not None:
            _look(bench, end, GRACE)
    if patient:
        failures += _flushes(bench, pair) + _contradictions(pair)
    failures += leftovers(pair)
    for end in pair.ends:
        for line in (end.send, end.recv):
            own = [due for due in line if end.is_own(due)]
            rest = [due for due in line if not end.is_own(due)]
            line.clear()
            line.extend(rest)
            for due in reversed(own) if end.shared else ():
                end.take_back(due)  # what has no completion was not taken out of a shared receive queue
            for due in own:
                if due.judged:
                    continue
                if not patient or (pair.failed and not _must_come(end, due)):
                    due.judge(f"consequence of {pair.failed or 'a failure'}")
                    continue
                due.judge("nothing came")
                if due.signaled:  # of the others the marker has told
                    failures.append(late(bench, end, due, f"the {due.opcode} that was not waited for"))
    return failures


def _flushes(bench: Bench, pair: Pair) -> list[Failure]:
    """Receives that wait at a QP in the error state are flushed (IBTA 10.3.1.7)."""
    failures = []
    for end in pair.ends if pair.attributes.type == "rc" else ():
        if end.failed and end.receives:
            wait.until(bench, lambda end=end: not end.receives, lambda end=end: bench.poll(end))  # type: ignore[misc]
            for receive in end.receives:
                due = Due(receive.at, "recv", receive.wr_id, "flushed")
                failures.append(late(bench, end, due, "the receive of a QP that has failed"))
            end.receives.clear()
    return failures


def _contradictions(pair: Pair) -> list[Failure]:
    """Receives that failed, as a claim says, of messages whose requests were told success."""
    failures = []
    for end in pair.ends:
        for due in end.arrived:
            if due.judged and due.failed and end.owes(due) and due.request is not None and due.got is not None:
                due.request.succeeded = False  # told once
                status = due.got.status
                message = f"the {due.request.opcode} succeeded, and the receive of its message completed with {status}"
                failures.append(Failure("MKS2005", due.request.at, message, (("got", describe(due.got)),), True))
    return failures


def leftovers(pair: Pair) -> list[Failure]:
    """Judge all that came and that nobody has judged."""
    failures = []
    for end in pair.ends:
        for at, text in end.strange:
            failures.append(Failure("MKS2005", at, text))
        end.strange.clear()
    left = [(end, due) for end in pair.ends for due in list(end.unjudged()) if end.is_own(due)]
    root = next((due for _, due in left if due.failed and due.got is not None and due.got.status != FLUSH), None)
    if root is not None and not pair.failed:
        pair.failed = f"the failure at {root.at.line}:{root.at.column}"
    return _told_once(failures + [failure for end, due in left if (failure := _left(end, due)) is not None])


def _told_once(failures: list[Failure]) -> list[Failure]:
    """The same failures, those that are equal as one, and no more than can be read."""
    counts = Counter(failures)
    told = [
        one if number == 1 else replace(one, message=f"{one.message} ({number} times)")
        for one, number in counts.items()
    ]  # fmt: skip
    if len(told) > MOST_TOLD:
        rest = sum(counts.values()) - sum(list(counts.values())[: MOST_TOLD - 1])
        told[MOST_TOLD - 1 :] = [replace(told[MOST_TOLD - 1], message=f"{rest} more completions are left over, first "
                                         + told[MOST_TOLD - 1].message)]  # fmt: skip
    return told


def _must_come(end: End, due: Due) -> bool:
    """Whether a completion must come although the pair has failed: with success, or flushed behind the failure."""
    return due.signaled and (end.owes(due) or (due.queue == "send" and end.ordered and end.stopped > 0))


def _wait(bench: Bench, pair: Pair, patient: bool) -> None:
    owed = [(end, due) for end in pair.ends for due in end.owed() if not due.judged and end.is_own(due)]
    if not owed:
        return

    def look() -> None:
        for end in pair.ends:
            bench.poll(end)

    def done() -> bool:
        missing = [(end, due) for end, due in owed if due.got is None]
        if not missing:
            return True
        if pair.failed or any(end.broken for end in pair.ends):
            # What was posted is flushed; a message that never came leaves its receive waiting.
            return all(due.queue == "recv" and not end.owes(due) for end, due in missing)
        return False

    if patient:
        wait.until(bench, done, look)
    else:
        look()


def _left(end: End, due: Due) -> Failure | None:
    """Judge what came and was named by nothing. What is flushed behind an error is that error's echo."""
    got = due.got
    assert got is not None
    if end.pair.failed and got.status != SUCCESS and _follows(end, due):
        due.judge(f"consequence of {end.pair.failed}")
        return None
    due.judge("the closing rule")
    if due.stray or not due.signaled:
        asked = "" if due.stray or got.status != SUCCESS else ", which nobody asked for"
        which = ", of no request of this case" if due.stray and got.wr_id not in end.number_of else asked
        if due.stray and got.wr_id in end.markers:
            which = ", of the rig's own closing request, which has been told already"
        message = f"a completion is left over at the {end.side}: {describe(got)}{which}"
        return Failure("MKS2201", due.at, message)
    return misfit(due, f"the {due.opcode} that was not waited for")


def _follows(end: End, due: Due) -> bool:
    """Whether an error is the echo of one that was judged: a flush of what was posted, or what the other end sees."""
    assert due.got is not None
    if due.overtaken or end.owes(due):
        return False
    if due.got.status == FLUSH:
        if due.queue == "send" and end.ordered and end.fails_behind(due):
            return False
        # Each WQE of a configuration may be flushed by itself; of anything else there is one completion.
        return not due.stray or due.receive is not None or due.wr_id in end.configurations
    return due.queue == "recv" and not due.stray


def unowed(end: End, due: Due) -> str:
    """What is wrong with an error whatever is claimed of it, in a few words; "" if nothing is."""
    if due.overtaken:
        return "came behind a later one's"
    if due.stray and due.receive is None and due.wr_id not in end.configurations:
        return "is of no request of its queue"
    return ""


def misfit(due: Due, what: str, named: tuple[str, ...] = ()) -> Failure | None:
    """How a completion is not the success that its request owes; the members in `named` somebody else compares."""
    got = due.got
    assert got is not None
    if got.status != SUCCESS:
        details = (("expected", SUCCESS), ("got", describe(got)))
        return Failure("MKS2005", due.at, f"`{what}` completed with {got.status}, and should succeed", details, True)
    if due.overtaken:
        details = (("expected", "in the order of the requests"), ("got", describe(got)))
        return Failure("MKS2005", due.at, f"a completion of `{what}` came behind a later one's", details, True)
    member, want, have = "", "", ""
    if got.opcode != due.opcode:
        member, want, have = "opcode", due.opcode, got.opcode
    elif due.byte_lens and got.byte_len not in due.byte_lens and "byte_len" not in named:
        member, want, have = "byte_len", " or ".join(map(show, due.byte_lens)), show(got.byte_len)
    elif got.imm != due.imm and "imm" not in named and (due.queue == "recv" or due.imm is None):
        member, want, have = "imm", show(due.imm), show(got.imm)
    elif got.invalidated_rkey != due.invalidated and "invalidated" not in named:
        member, want, have = "invalidated", show(due.invalidated), show(got.invalidated_rkey)
    else:
        return None
    side = "receive" if due.queue == "recv" else "request"
    message = f"the completion of `{what}` has another {member}"
    details = (("expected", f"{member} {want}"), ("got", f"{member} {have} ({side} queue)"))
    return Failure("MKS2005", due.at, message, details, True)


def late(bench: Bench, end: End, missing: Due, what: str) -> Failure:
    """A completion that did not come within the deadline."""
    arrived = ", ".join(describe(due.got) for due in end.unjudged() if due.got is not None) or "nothing"
    details = (
        ("expected", f"{missing.opcode} ({end.side}'s {missing.queue} queue, id {missing.wr_id})"),
        ("got", f"{arrived}, within {bench.deadline:g} s"),
    )
    return Failure("MKS2004", missing.at, f"`{what}` did not complete", details, True)


# Resetting -----------------------------------------------------------------------------------


def reset(bench: Bench, pair: Pair, at: At, failed: str, refused: End | None = None) -> list[Failure]:
    """Bring the pair to rest, judge what is left, and connect it anew. `failed`: the failure that was claimed of it,
    or "" if a section was refused at the end `refused` and the QPs are as they were."""
    pair.failed = failed
    failures = settle(bench, pair, reset=at, refused=refused)
    if failed:
        fail_qps(bench, pair)
    bench.look_for_events()
    pair.renew(bench.device.reconnect(pair.handle))
    return failures


def fail_qps(bench: Bench, pair: Pair) -> None:
    """A failure of these QPs is judged: their own error events follow from it, unless they came before."""
    bench.look_for_events()
    handles = {pair.handle.owner.handle, pair.handle.peer.handle}
    for entry in bench.events[bench.seen_events :]:
        if entry.event.qp is not None and entry.event.qp.handle in handles:
            entry.of_failure = True
    bench.failed_qps.update(handles)
