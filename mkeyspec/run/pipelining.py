"""A QP that signature pipelining has stopped: cancelling requests and resuming."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.plan import Cancel, Resume
from mkeyspec.run import drain, wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import End
from mkeyspec.run.errnos import errno_name, returned
from mkeyspec.run.evidence import Due
from mkeyspec.run.label import Label
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.verdict import Failure


def cancel(state: CaseState, step: Cancel) -> Attempt:
    """mlx5dv_qp_cancel_posted_send_wrs. The returned count is checked here, unless an expectation reads it."""
    pair = state.pair(step.qp, step.at)
    drain.until_quiet(state, pair.owner)
    count = returned(state.device.cancel(pair.owner.qp, step.id))
    sure, most = _pending(pair.owner, step.id)
    if 0 <= count < len(sure):  # completions of requests that were carried out may come after the event
        wait.until(state, lambda: len(_pending(pair.owner, step.id)[0]) <= count, lambda: state.poll(pair.owner))
        sure, most = _pending(pair.owner, step.id)
    fewest = len(sure)
    waiting = [due for due in pair.owner.send if due.wr_id == step.id and not due.cancelled]
    attempt = Attempt(step.at, f"cancel {step.id}")
    if count > 0:
        if not pair.attributes.streams:  # a queue is carried out in order: what was over before are the first ones
            waiting = waiting[-count:]
        for due in waiting:
            due.cancelled = True
            due.doubtful = count < len(waiting) and due not in sure
        _take_back(state, pair.peer, waiting, sure if fewest <= count else [])
    if count < 0:
        attempt.phase, attempt.reason = "cancel", errno_name(-count)
    elif not fewest <= count <= most:
        expected = str(most) if fewest == most else f"{fewest} to {most}"
        message = f"`cancel {step.id}` returned {count}, and {expected} of that number wait"
        failure = Failure("MKS2110", step.at, message, (("expected", expected), ("got", str(count))))
        state.wrong_numbers[step.label or f"the cancel at {step.at}", "count"] = failure
    if step.label is not None:
        state.labels[step.label] = Label(errno=attempt.reason) if count < 0 else Label(errno=0, count=count)
    return attempt


def _take_back(state: CaseState, far: End, cancelled: Sequence[Due], sure: Sequence[Due]) -> None:
    """The cancelled requests send no message: what their messages were paired with waits for the next one. One that
    asked for no completion may have been over before, and then its receive is. Those in `sure` waited."""
    if all(due.takes is None for due in cancelled):
        return
    drain.until_quiet(state, far)
    for due in sure:
        if due.takes is not None and due.takes.got is not None:
            text = f"`{due.opcode}` (id {due.wr_id}) was cancelled, and a receive completed with its message"
            far.strange.append((due.at, text))
    gone = [due for due in cancelled if due.takes is not None and due.takes.got is None]
    for free in far.take_back(gone):
        free.mark_judged("cancel")


def _pending(end: End, wr_id: int) -> tuple[list[Due], int]:
    """The requests with that wr_id that wait for sure, and the greatest possible number of those that do. In a drained
    queue no request is being carried out: a signaled request without a completion waits, and so do all later ones.
    Earlier unsignaled ones may be complete or not.
    """
    sure, most = list[Due](), 0
    waits = False
    for due in end.send:
        waits = waits or (end.drained and due.signaled)
        if due.wr_id == wr_id and not due.cancelled:
            most += 1
            sure += [due] if waits else []
    return sure, most


def resume(state: CaseState, step: Resume) -> Attempt | None:
    """From SQD to RTS; an Attempt if that is refused."""
    end = state.pair(step.qp, step.at).owner
    state.poll(end)
    errno = state.device.resume(end.qp)
    if errno:
        return Attempt(step.at, "resume", "complete", errno_name(errno))
    end.drained = False
    return None
