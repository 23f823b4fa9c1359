"""Waits until a send queue has no outstanding work, with a marker or a quiet time.

Unsignaled requests have a completion only if they fail, and an extra completion may come late. A marker (`marker`) is a
signaled RDMA write of length zero after all other requests. Its completion shows that no other completion of the send
queue can follow. It is posted at the end of a case, before a reset, and where a statement lists its exact completions.
If the other end has received something, the marker is a SEND, for that queue: with a receive of its own where none
waits, and at the end of a case with the first that waits.

A marker is not possible on some services (UD, XRC, raw packets, a DCI without a target, a queue that may be drained).
There a bounded time without new completions is used instead. The verdict records it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mkeyspec.device.protocol import Side
from mkeyspec.plan import At, Step, options_of
from mkeyspec.run import marker, wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.dependence import Touched, meet
from mkeyspec.run.endpoint import End
from mkeyspec.run.evidence import ANSWERED, LATE, Due
from mkeyspec.run.verdict import Failure

QUIET = 5e-3
"""Seconds without anything new that replace a marker."""
GRACE = 5e-4
"""Seconds of polling after a marker, and before a QP is reset: for what the device should not send at all."""

LOOKS = 44
"""Polls of a queue from which nothing should come any more, at a reset and at the end of a case."""

MOST_SEEN = 1000
"""Number of extra completions after which the rig does not wait for more."""


def exact(state: CaseState, end: End, at: At, *, both: bool = False) -> Failure | None:
    """The statement at `at` lists its exact completions: none of them may come after this. `both`: of the receive queue
    too, which the other end's messages fill."""
    marked, failure = _end_here(state, end, at)
    if both and failure is None and end.received and marker.takes_send(end.other):
        failure = _end_here(state, end.other, at)[1]
    if marked:
        look(state, end, GRACE)
    return failure


def before(state: CaseState, end: End, at: At) -> Failure | None:
    """The pair may have to be reset after the next section. Wait first for outstanding work at both ends, since an
    error at one end flushes the work of the other."""
    state.look_for_events()
    state.seen_events = len(state.events)
    for side in (end, end.other):
        if side is not end and (end.pair.failed or any(one.broken for one in end.pair.ends)):
            break
        if side.quiet() or is_unmarked(side):
            failure = _end_here(state, side, at)[1]
            if failure is not None:
                return failure
        if side is not end and not end.pair.attributes.sig_pipelining:
            sent = [due for due in side.send if due.signaled and due.got is None]
            met = [due for due in side.other.recv if due.got is None and due.request is not None and side.is_own(due)]
            wait.for_dues(state, side, sent, met)
        received(state, side.other, at)
    return None


def received(state: CaseState, end: End, at: At) -> None:
    """Completions of receives were seen here, and no message of the rig closed the queue: wait for a quiet time."""
    if end.received and not end.pair.failed and not any(one.broken for one in end.pair.ends):
        look(state, end, QUIET)
        _note(state, end, at)
        end.received.clear()


def rest(state: CaseState, at: At, looks: Sequence[Touched], own: End | None = None) -> Failure | None:
    """Wait for outstanding requests that access the same objects as the statement at `at` and were not waited for.
    Requests of its `own` queue are carried out before it anyway, unless they are in another stream of it, but not
    before its inline data are taken. `rest_late` waits for those of them that end late."""
    ends = [end for pair in state.pairs.values() for end in pair.ends if end.send or end.other.recv]
    inline = any(look.takes for look in looks)
    ends = [end for end in ends if inline or _may_overtake(end, own)]
    if not ends:
        return None
    last, entries = len(state.taken) - 1, state.followed.touched()
    those = {one.at for _, one in entries if one.at != at and any(meet(one, look) for look in looks)}
    apart = {
        (one.at, one.stream)
        for number, one in entries
        if number < last and any(one.stream != look.stream and meet(one, look) for look in looks)
    }
    for end in ends:
        some = end is own and not inline
        near = [due for due in end.send if (_key(due) in apart if some else due.at in those)]
        sent = [(due, due.request) for due in end.other.recv if due.request is not None]
        far = [due for due, one in sent if (_key(one) in apart if some else one.at in those)]
        if (near or far) and end.pair.attributes.sig_pipelining:
            _rest_pipelined(state, end, at, near, far)
        elif (near or far) and not end.pair.failed and not end.broken:
            failure = _end_here(state, end, at)[1] if near else None
            if failure is not None:
                return failure
            wait.for_dues(state, end, [], [due for due in far if due.got is None])
    return None


def _may_overtake(end: End, own: End | None) -> bool:
    """Whether requests that are posted to `own` may be carried out before earlier ones of this queue."""
    return end is not own or end.pair.attributes.streams > 0


def _key(due: Due) -> tuple[At, int]:
    """Where a request stands, and its stream."""
    return due.at, (due.dc.stream or 0) if due.dc is not None else 0


def rest_of_keys(state: CaseState, at: At, names: Collection[str]) -> Failure | None:
    """Wait for the requests that use or configure these mkeys, of either end."""
    failure = rest(state, at, (Touched(at, changes=frozenset(names)),)) if names else None
    for side in sorted({state.mkeys[name].handle.side for name in names}):
        failure = failure or heard(state, side, at)
    return failure


def _rest_pipelined(state: CaseState, end: End, at: At, near: Sequence[Due], far: Sequence[Due]) -> None:
    """The same for a queue that may be drained, which then holds a marker back: wait for the completions that these
    requests owe, or one after them. Where none is owed, wait until nothing new has come for a short time."""
    last = max((due.position for due in near), default=0)
    later = [due for due in end.send if due.signaled and due.position >= last][:1] if near else []
    owed = [*(due for due in near if due.signaled), *later, *(due for due in far if due.got is None)]

    def poll() -> None:
        state.poll(end)
        state.poll(end.other)
        state.look_for_events()

    wait.until(state, lambda: end.drained or end.broken or all(due.over for due in owed), poll)
    if near and not later and not far and not end.drained:
        look(state, end, QUIET)
        _note(state, end, at)
    else:
        until_quiet(state, end)
    wait.for_dues(state, end, [], [due for due in far if due.got is None and end.other.owes(due)])


def rest_for(state: CaseState, step: Step, own: End) -> Failure | None:
    """The same for the requests of the current step, which are posted to `own`."""
    inline = any(options_of(request).inline for request in step.posted())
    ends = [end for pair in state.pairs.values() for end in pair.ends if inline or _may_overtake(end, own)]
    if not any(end.send or end.other.recv for end in ends):
        return None
    last = len(state.taken) - 1
    return rest(state, step.at, [one for number, one in state.followed.touched() if number == last], own)


def rest_late(state: CaseState, step: Step, own: End) -> Failure | None:
    """Wait for READs, atomics and memcpys of the `own` queue whose bytes or keys the requests of a statement use,
    unless those wait themselves, with a fence, or are answered as well: nothing else orders them (IBTA volume 1,
    10.8.3.3)."""
    late = {due.at: due.opcode for due in own.send if due.opcode in LATE and not due.over}
    if not late or own.drained or own.broken or own.pair.failed:
        return None
    last, entries = len(state.taken) - 1, state.followed.touched()
    ordered = _before_a_fence(step, own)
    looks = [one for number, one in entries if number == last and (not step.posted() or one.at in ordered)]
    if not any(
        one.at in late and meet(one, look) and not (late[one.at] in ANSWERED and ordered.get(look.at))
        for _, one in entries
        for look in looks
    ):
        return None
    if own.pair.attributes.sig_pipelining:
        _rest_pipelined(state, own, step.at, [due for due in own.send if due.at in late], [])
        return None
    return _end_here(state, own, step.at)[1]


def _before_a_fence(step: Step, own: End) -> dict[At, bool]:
    """The requests of a statement that no fence of their stream holds back, each with whether it is answered."""
    found: dict[At, bool] = {}
    fenced = set[int]()
    for one in step.posted():
        options = options_of(one)
        stream = (options.stream or 0) if own.pair.attributes.streams else 0
        if options.fence:
            fenced.add(stream)
        if stream not in fenced:
            found[one.at] = one.opcode in ANSWERED
    return found


def is_unmarked(end: End, *, spare: bool = False) -> bool:
    """Whether requests of this queue, or receives of the other one, were completed and no marker has come after."""
    spoken = bool(end.other.received) or marker.tells_arrival(end)
    return end.used is not None or (spoken and marker.takes_send(end, spare=spare))


def is_idle(state: CaseState, end: End) -> bool:
    """Whether the state of a pair is unknown: nothing was posted to it, or another pair has failed since its last
    marker. The peer answers the owner's marker."""
    untouched = not any(one.number_of for one in end.pair.ends)
    return end.side == "owner" and not end.drained and (untouched or bool(state.failed_qps))


def _end_here(state: CaseState, end: End, at: At) -> tuple[bool, Failure | None]:
    """Post a marker and return what is wrong with it; or wait for a quiet time."""
    marked, wrong = False, list[Failure]()
    if not end.pair.attributes.sig_pipelining:
        marked, wrong = marker.mark(state, end, at, closing=False)
    if not marked and not wrong:
        quiet(state, end, at)
        end.used = None
    return marked, wrong[0] if wrong else None


def quiet(state: CaseState, end: End, at: At) -> None:
    """Wait until nothing new comes for a time, instead of a marker."""
    look(state, end, QUIET)
    for due in end.quiet():
        due.passed = True
        due.mark_judged("a quiet time")
        end.send.remove(due)
    _note(state, end, at)


def heard(state: CaseState, side: Side, at: At, writers: Collection[At] | None = None) -> Failure | None:
    """The memory of `side` will be read, to which requests of these places may have written; without `writers`, its
    keys will be checked for an error. If the other end has written there, or used a key, it sends a message first: only
    a received message shows that the transfer is over at this end too. (IBTA volume 1, transaction ordering: an
    application must not depend on what an RDMA WRITE brings before a later message has been received.
    mlx5dv_mkey_check(3), NOTES.) Where it can't, a quiet time takes its place; so it does for requests of a connection
    that was reset, since a message of the new one is in no order with them."""
    for pair in state.pairs.values():
        for end in pair.ends:
            if end.side == side:
                continue
            if end.remote_gone if writers is None else any(at in writers for at in end.gone):
                look(state, end.other, QUIET)
                _note(state, end.other, at)
                end.remote_gone, end.gone = False, set()
            for _ in range(2):  # the first is not a message after unsignaled requests
                sends = marker.tells_arrival(end) and marker.takes_send(end) and not pair.attributes.sig_pipelining
                if not _is_unheard(end, writers) or not sends:
                    break
                if failure := marker.mark(state, end, at, closing=False)[1]:
                    return failure[0]
            if _is_unheard(end, writers):
                look(state, end.other, QUIET)
                _note(state, end.other, at)
                end.remote, end.written = 0, {}
    return None


def _is_unheard(end: End, writers: Collection[At] | None) -> bool:
    return bool(end.remote) if writers is None else any(at in writers for at in end.written)


def _note(state: CaseState, end: End, at: At) -> None:
    of = f"`{end.pair.name}`" if end.pair.name else "the default QP"
    state.quiet.append((at, f"{of} ({end.pair.attributes.type}), {end.side}: nothing new within {QUIET * 1e3:g} ms"))


def until_quiet(state: CaseState, end: End) -> None:
    """Wait a short time for completions that may still come."""
    look(state, end, GRACE)


def look(state: CaseState, end: End, seconds: float) -> None:
    """Poll until nothing new has come for that long; never longer than a step may wait."""
    look_on(state, (end,))
    around = state.around
    last = around.now() + state.deadline
    limit = around.now() + seconds
    begun = count = len(end.arrived)
    while around.now() < min(limit, last) and count < begun + MOST_SEEN:
        around.rest(seconds / 4)
        look_on(state, (end,))
        if len(end.arrived) != count:
            count, limit = len(end.arrived), around.now() + seconds
    around.fell_quiet()


def look_on(state: CaseState, ends: Sequence[End]) -> None:
    """Some polls at once: an extra completion may follow others that a device delays."""
    state.poll_often(ends, LOOKS)
