"""Waits for the completions of a section or a poll, and returns what came."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.plan import At, Entry
from mkeyspec.run import drain, placed, wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.completion import late, misfit
from mkeyspec.run.endpoint import ACKNOWLEDGED, End
from mkeyspec.run.evidence import FLUSH, Due
from mkeyspec.run.outcomes import Attempt, arrange
from mkeyspec.run.section import Section
from mkeyspec.run.section_faults import blame, earlier, failed_by, far_alone, fault_of
from mkeyspec.run.verdict import Failure


def completions(
    state: CaseState, section: Section, *, expect_error: bool = False, expect_success: bool = False
) -> Attempt:
    """Wait for the completions of the section, and return what came. `expect_error`: an unsignaled request may fail;
    `expect_success`: it may also succeed."""
    end, what, at = section.end, section.what, section.at
    attempt = Attempt(at, what)
    owed, unsettled = section.owed, None
    if section.listed is not None:
        unsettled = _wait_for_list(state, section)
        attempt.listed = [due for due in end.unjudged() if _is_listed(section, due)]
    elif owed or section.far:
        wait.for_dues(state, end, owed, section.far)
    elif not expect_error:
        return attempt
    if section.listed is None and expect_error and not section.is_signaled and not _has_failed_here(section):
        # What asked for no completion may still fail, whatever has come of the others.
        if expect_success:
            unsettled = drain.exact(state, end, at)  # a marker shows which
        else:
            wait.until(state, lambda: _has_failed_here(section), lambda: _look(state, section))
    failed = failed_by(section)
    if failed is not None:
        assert failed.got is not None
        attempt.phase, attempt.reason = "completion", failed.got.status
        if failed.receive is not None and not failed.receive.own:
            attempt.of = f" (the receive at {failed.at})"
    attempt.earlier = earlier(section)
    attempt.fault = fault_of(state, section, failed) or far_alone(section, attempt, failed) or unsettled
    for due in (*section.dues, *section.far, *attempt.listed):
        # What came unasked is the closing rule's, unless the list has it.
        if not due.judged and due.got is not None and (due.signaled or due.failed or section.listed is not None):
            due.mark_judged(f"`{what}`")
    if section.listed is not None:
        _close(end, section.dues)
    return attempt


def _has_failed_here(section: Section) -> bool:
    """Whether the error of this end's send queue has come. Where receipt is acknowledged, a receive that failed or was
    flushed at the other end is no more than a sign of it, as is one of this end: nothing orders two CQs. Elsewhere, and
    where an invalidation is refused (X-OPEN-27), the error at the other end may be the only one."""
    acknowledged = section.end.pair.attributes.type in ACKNOWLEDGED and not section.invalidates
    return any(due.failed for due in section.dues) if acknowledged else failed_by(section) is not None


def _look(state: CaseState, section: Section) -> None:
    state.poll(section.end)
    if section.far:
        state.poll(section.end.other)


def _wait_for_list(state: CaseState, section: Section) -> Failure | None:
    """As many completions as the claim lists, the receives of the other end, and then nothing more."""
    end, want = section.end, section.listed or 0

    def listed() -> int:
        return sum(1 for due in end.unjudged() if _is_listed(section, due))

    wait.until(state, lambda: listed() >= want, lambda: state.poll(end))
    if section.far:
        wait.for_dues(state, end, [], section.far)
    brought = placed.take(state, (*section.dues, *section.far))
    return drain.exact(state, end, section.at) or placed.changed(state, brought)


def _is_listed(section: Section, due: Due) -> bool:
    """Whether a list of the section's completions speaks of it: its own, and what no request owes."""
    return due.queue == "send" and ((due.stray and due.wr_id not in section.end.markers) or due in section.dues)


def gather(state: CaseState, section: Section, attempt: Attempt) -> None:
    """For a known departure that lists completions where the page has one each: all that came, and nothing more."""
    attempt.fault = attempt.fault or drain.exact(state, section.end, section.at)
    strays = [due for due in section.end.unjudged() if due.stray and due.queue == "send"]
    attempt.listed = [*(due for due in section.dues if due.got is not None), *strays]


def poll(state: CaseState, at: At, end: End, lists: Sequence[tuple[Entry, ...]]) -> Attempt:
    """Wait for what is due at one end; with `lists`, for all that comes to it and is not checked yet."""
    attempt = Attempt(at, "poll")
    owed = [due for due in end.owed() if not due.judged]
    if not lists:
        owed = [*(due for due in end.unjudged() if due.signaled and not due.stray), *owed]
        wait.until(state, lambda: all(due.over for due in owed) or wait.failed(end, owed), lambda: state.poll(end))
        attempt.fault = _before_poll(state, at, end, owed)
        for due in owed:
            if due.judged or (attempt.fault is not None and (due.got is None or due.failed)):
                continue  # of a QP that has failed, the closing rule
            fault = late(state, end, due, "poll") if due.got is None else misfit(due, "poll")
            if due.got is not None:
                due.mark_judged("poll")
            attempt.fault = attempt.fault or fault
        return attempt
    want = max(len(entries) for entries in lists)
    wait.until(state, lambda: sum(1 for _ in end.unjudged()) >= want, lambda: state.poll(end))
    brought = placed.take(state, list(end.unjudged()))
    attempt.fault = drain.exact(state, end, at, both=True) or placed.changed(state, brought)
    came = [due for due in end.unjudged() if due.wr_id not in end.markers]
    attempt.listed = came
    failed = [due for due in arrange(lists[0], came) if due.failed]
    if failed:
        assert failed[0].got is not None
        attempt.phase, attempt.reason = "completion", failed[0].got.status
        state.seen_events = min(due.events for due in failed)
    for due in came:
        due.mark_judged("poll")
    _close(end, owed)
    return attempt


def _before_poll(state: CaseState, at: At, end: End, owed: Sequence[Due]) -> Failure | None:
    """What failed first, here or at the other end, if a poll for these finds a failure: what is flushed, and what is
    missing, follows from it."""
    if not wait.failed(end, list(owed)):
        return None
    state.poll(end.other)
    for side in (end, end.other):
        for due in side.unjudged():
            if due.failed and due.got is not None and due.got.status != FLUSH and not due.stray:
                return blame(end, due, "poll", at)
    return None


def _close(end: End, dues: Sequence[Due]) -> None:
    """Mark these as checked by a list; nothing is due any more, but what may wait in a stopped queue."""
    for due in dues:
        if due.may_wait:
            due.left_out = True
        elif due.got is None and not due.passed:
            if not due.judged:
                due.mark_judged("a list of completions")
            for line in (end.send, end.recv):
                if due in line:
                    line.remove(due)
