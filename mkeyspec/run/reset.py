"""Reset a QP pair after a refusal or a failure that was claimed, once all that came is judged."""

from __future__ import annotations

from mkeyspec.plan import At
from mkeyspec.run import leftovers
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import End, OpenReceive, Pair
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.section import post_receive
from mkeyspec.run.verdict import Failure


def recover(bench: CaseState, end: End, attempt: Attempt, spare: int = 0) -> list[Failure]:
    """After a refusal that was claimed: the pair reset, receives that no message has used posted again, but for the
    `spare` first ones at the other end. What was left unjudged on it comes back as failures."""
    if attempt.phase not in ("complete", "completion"):
        return []
    waiting: list[tuple[End, OpenReceive]] = []
    claimed = ""
    if attempt.phase == "complete":
        waiting = [
            (side, receive)
            for side in (end, end.other)
            if not side.shared
            for receive in side.receives
            if not receive.own
        ]
        spared = [one for one in waiting if one[0] is end.other][:spare]
        waiting = [one for one in waiting if one not in spared]
    else:
        claimed = f"the failure claimed at {attempt.at.line}:{attempt.at.column}"
    failures = reset(bench, end.pair, attempt.at, claimed, None if claimed else end)
    for side, receive in waiting:
        if refused := post_receive(bench, side, receive):
            message = f"a receive that waited was refused with {refused} when it was posted again"
            details = (("posted again", f"after the reset at {attempt.at.line}:{attempt.at.column}"),)
            failures.append(Failure("MKS2001", receive.at, message, details, True))
    return failures


def reset(bench: CaseState, pair: Pair, at: At, failed: str, refused: End | None = None) -> list[Failure]:
    """Bring the pair to rest, judge what is left, and connect it again. `failed`: the failure that was claimed of it,
    or "" if a section was refused at the end `refused` and the QPs are as they were."""
    pair.failed = failed
    failures = leftovers.settle(bench, pair, reset=at, refused=refused)
    if failed:
        fail_qps(bench, pair)
    bench.look_for_events()
    pair.renew(bench.device.reconnect(pair.handle))
    return failures


def fail_qps(bench: CaseState, pair: Pair) -> None:
    """A failure of these QPs is judged: their own error events follow from it, unless they came before."""
    bench.look_for_events()
    handles = {pair.handle.owner.handle, pair.handle.peer.handle}
    for entry in bench.events[bench.seen_events :]:
        if entry.event.qp is not None and entry.event.qp.handle in handles:
            entry.of_failure = True
    bench.failed_qps.update(handles)
