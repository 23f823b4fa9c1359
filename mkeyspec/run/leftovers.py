"""Leftovers of a QP pair, at the end of a case and before a reset: waits for them and checks them.

Each outstanding request and each completion that no statement has checked is checked here, once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from mkeyspec.plan import At
from mkeyspec.run import drain, marker, wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.completion import late, misfit
from mkeyspec.run.endpoint import End
from mkeyspec.run.evidence import FLUSH, SUCCESS, Due
from mkeyspec.run.outcomes import describe
from mkeyspec.run.pair import Pair
from mkeyspec.run.section_faults import told
from mkeyspec.run.verdict import Failure

MOST_TOLD = 8
"""Completions too many that are reported one by one."""


def settle(
    state: CaseState, pair: Pair, *, patient: bool = True, reset: At | None = None, refused: End | None = None
) -> list[Failure]:
    """Wait for what is due, post a marker after unsignaled requests, and check everything that is not checked yet.
    `patient` False: the case has failed already; do not wait. `reset`: the statement after which the pair is reset;
    `refused`: the end whose driver refused a section, and which is not reset: its next request, or the marker at the
    end of the case, shows that its queue lives.
    """
    failures: list[Failure] = []
    _wait(state, pair, patient)
    for end in pair.ends if patient else ():
        failures += marker.lost(state, end)
    for end in pair.ends:
        missing = any(due.queue == "send" and not due.waits for due in end.owed())
        # One that failed takes no more; to one whose other end has failed, a marker would time out.
        healthy = patient and not missing and not end.broken and not pair.failed
        idle = healthy and reset is None and drain.is_idle(state, end)
        unmarked = healthy and drain.is_unmarked(end, spare=reset is None)
        if end.quiet() or (unmarked and end is not refused) or idle:
            at = end.quiet()[-1].at if end.quiet() else end.used or pair.at
            if not patient or pair.attributes.sig_pipelining:
                if patient or end.quiet():
                    drain.quiet(state, end, at)
                continue
            marked, wrong = marker.mark(state, end, at, closing=True, spare=reset is None)
            failures += wrong
            if not marked and not wrong and (end.quiet() or unmarked):
                drain.quiet(state, end, at)
        if healthy and reset is None and not failures:
            drain.received(state, end.other, end.used or pair.at)
    for end in pair.ends:
        state.poll(end)
        if reset is not None:
            drain.look(state, end, drain.GRACE)
    if patient:
        failures += _flushes(state, pair) + _contradictions(pair) + _out_of_turn(state, pair)
    failures += unjudged(state, pair)
    for end in pair.ends:
        for line in (end.send, end.recv):
            own = [due for due in line if end.is_own(due)]
            if end.shared:  # what has no completion was not taken out of a shared receive queue
                back = end.take_back([due.request for due in own if due.request is not None])
                own = [*back, *(due for due in own if due in line and end.is_own(due))]
            rest = [due for due in line if not end.is_own(due)]
            line.clear()
            line.extend(rest)
            for due in own:
                if due.judged:
                    continue
                if not patient or (pair.failed and not _must_come(end, due)):
                    due.mark_judged(f"consequence of {pair.failed or 'a failure'}")
                    continue
                stopped = due.waits and (due.left_out or due.queue == "recv")
                due.mark_judged("the queue is stopped" if stopped else "nothing came")
                if stopped:
                    continue  # a list says so, or its request does
                if due.signaled or end.is_after_failure(due):  # the marker has shown that the others are over
                    failures.append(late(state, end, due, f"the {due.opcode} that was not waited for"))
    return failures


def _wait(state: CaseState, pair: Pair, patient: bool) -> None:
    state.look_for_events()
    dues = [(end, due) for end in pair.ends for due in end.owed() if not due.judged and end.is_own(due)]
    owed = [one for one in dues if not one[1].waits]
    if not owed:
        return

    def look() -> None:
        for end in pair.ends:
            state.poll(end)

    def done() -> bool:
        missing = [(end, due) for end, due in owed if due.got is None]
        if not missing:
            return True
        if pair.failed or any(end.broken for end in pair.ends):
            # What was posted is flushed; a message that never came leaves its receive waiting.
            return all(due.queue == "recv" and not _must_come(end, due) for end, due in missing)
        return False

    if patient:
        wait.until(state, done, look)
    else:
        look()


def _must_come(end: End, due: Due) -> bool:
    """Whether a completion must come although the pair has failed: with success, or flushed after the failure."""
    if due.queue == "recv" and end.flushes and not end.shared and not due.stray:
        return True  # whether its message came or not (IBTA 10.3.1.7)
    return end.owes(due) or end.misses(due) or (due.queue == "send" and end.is_after_failure(due))


def _flushes(state: CaseState, pair: Pair) -> list[Failure]:
    """Receives that wait at a QP in the error state are flushed (IBTA 10.3.1.7)."""
    failures = []
    for end in pair.ends if pair.attributes.type in ("rc", "uc", "ud") else ():
        if end.flushes and end.receives:
            wait.until(state, lambda end=end: not end.receives, lambda end=end: state.poll(end))  # type: ignore[misc]
            for receive in end.receives:
                due = Due(receive.at, "recv", receive.wr_id, "flushed")
                failures.append(late(state, end, due, "the receive of a QP that has failed"))
            end.receives.clear()
    return failures


def _contradictions(pair: Pair) -> list[Failure]:
    """Receives that failed, as claimed, although the requests of their messages were reported as successful."""
    failures = []
    for end in pair.ends:
        for due in end.arrived:
            if due.judged and due.failed and end.owes(due) and due.request is not None and due.got is not None:
                due.request.succeeded = False  # reported once
                status = due.got.status
                message = f"the {due.request.opcode} succeeded, and the receive of its message completed with {status}"
                failures.append(Failure("MKS2005", due.request.at, message, (("got", describe(due.got)),), True))
    return failures


def _out_of_turn(state: CaseState, pair: Pair) -> list[Failure]:
    """Errors that a list names without their status, and that no queue gives: the first error of a QP is no flush, and
    what was posted after a request that failed is flushed (IBTA 10.3.1.7). An event may be all that is told of an error
    of the responder."""
    failures = []
    came = [(end, due) for end in pair.ends for due in end.arrived[end.closed :] if due.failed and end.is_own(due)]
    caused = bool(state.events) or any(due.got is not None and due.got.status != FLUSH for _, due in came)
    for end, due in came:
        if due.queue != "send" or due.stray or not due.judged or due.overtaken or due.got is None:
            continue
        if due.wr_id in end.markers:  # `marker` has reported it
            continue
        flushed = due.got.status == FLUSH
        if flushed and (end.fails_after(due) or not caused):
            wrong = "and no request before it had failed"
        elif not flushed and end.is_after_failure(due):
            wrong = "after a request that failed: what follows is flushed"
        else:
            continue
        message = f"the {due.opcode} (id {due.wr_id}) completed with {due.got.status}, {wrong}"
        failures.append(Failure("MKS2005", due.at, message, (("got", describe(due.got)),), True))
    for end in pair.ends:
        end.closed = len(end.arrived)
    return failures


def unjudged(state: CaseState, pair: Pair) -> list[Failure]:
    """Check all that came and is not checked yet."""
    failures = []
    for end in pair.ends:
        for at, text in end.strange:
            failures.append(Failure("MKS2005", at, text))
        end.strange.clear()
    left = [(end, due) for end in pair.ends for due in list(end.unjudged()) if end.is_own(due)]
    root: Due | None = None
    if not pair.failed:
        errors = [due for _, due in left if due.failed and due.got is not None and due.got.status != FLUSH]
        root = min(errors, key=lambda due: due.queue == "recv", default=None)  # a receive fails with its request
        pair.failed = "" if root is None else f"the failure at {root.at}"
    found = [_left(state, end, due, due is root) for end, due in left]
    return _told_once(failures + [failure for failure in found if failure is not None])


def _told_once(failures: list[Failure]) -> list[Failure]:
    """The same failures; equal ones are one, and at most MOST_TOLD are returned."""
    counts = Counter(failures)
    told = [
        one if number == 1 else replace(one, message=f"{one.message} ({number} times)")
        for one, number in counts.items()
    ]
    if len(told) > MOST_TOLD:
        rest = sum(counts.values()) - sum(list(counts.values())[: MOST_TOLD - 1])
        told[MOST_TOLD - 1 :] = [
            replace(
                told[MOST_TOLD - 1],
                message=f"{rest} more completions are left over, first " + told[MOST_TOLD - 1].message,
            )
        ]
    return told


def _left(state: CaseState, end: End, due: Due, is_root: bool) -> Failure | None:
    """Check what came and is not named by a statement. What comes with an error follows from that error, but for the
    first one of the pair (`is_root`)."""
    got = due.got
    assert got is not None
    if not is_root and end.pair.failed and got.status != SUCCESS and _follows(state, end, due):
        due.mark_judged(f"consequence of {end.pair.failed}")
        return None
    if due.overtaken and got.status != SUCCESS:
        due.mark_judged("its order")  # `strange` reports it
        return None
    due.mark_judged("the closing rule")
    if due.stray or not due.signaled:
        asked = "" if due.stray or got.status != SUCCESS else ", which nobody asked for"
        which = ", of no request of this case" if due.stray and got.wr_id not in end.number_of else asked
        if due.stray and got.wr_id in end.markers:
            which = ", of the rig's own closing request, which has been reported already"
        message = f"a completion is left over at the {end.side}: {describe(got)}{which}"
        return Failure("MKS2201", due.at, message)
    return misfit(due, f"the {due.opcode} that was not waited for")


def _follows(state: CaseState, end: End, due: Due) -> bool:
    """Whether an error follows from one that was checked: a flush of what was posted, or an error at the other
    end."""
    assert due.got is not None
    if due.overtaken or (due.queue == "recv" and end.owes(due)):  # a flush of a later request says nothing of one
        return False
    if due.got.status == FLUSH:
        if due.queue == "send" and end.fails_after(due):
            return False
        # Each WQE of a configuration may be flushed by itself; of anything else there is one completion.
        return not due.stray or due.receive is not None or due.part
    if due.queue == "send" and (far := due.takes) is not None and far.failed and far.judged:
        # What the responder answers to a message that its receive could not take; it may be told after that.
        return due.got.status in told(state.profile, invalidates=far.invalidated is not None)
    # What no message has reached is flushed; another error is of a message (IBTA 10.3.1.7), which then failed, too.
    return due.queue == "recv" and due.request is not None and due.request.failed and not due.request.unsent
