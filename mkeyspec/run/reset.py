"""What becomes of a QP pair after a claimed refusal or failure, when all that came is checked.

A failure resets it. A section that was refused at complete leaves the QPs as they are (ibv_wr_complete returned an
error, and none of its requests was posted): the case goes on with them. They are made anew only where a receive waits
for a message of that section, which would take a later one.
"""

from __future__ import annotations

from mkeyspec.plan import At
from mkeyspec.run import leftovers, shared_receives
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import End
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.pair import Pair
from mkeyspec.run.section import Section, post_receive
from mkeyspec.run.verdict import Failure


def recover(state: CaseState, end: End, attempt: Attempt, done: Section | None, undecided: bool) -> list[Failure]:
    """After a claimed refusal of `done`: keep the pair, or reset it and post unused receives again. Where the claim
    leaves the outcome open, the receives that its messages would have taken are not there any more, as after a success;
    nor is one that a short form has posted. Returns the failures of what was not checked yet."""
    if attempt.phase not in ("complete", "completion"):
        return []
    waiting: list[tuple[End, OpenReceive]] = []
    claimed = ""
    paired = [due.receive for due in done.far] if done is not None else []
    spare = 0
    if done is not None and undecided:
        spare = sum(one.delivers is not None for one in done.planned)
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
        claimed = f"the failure claimed at {attempt.at}"
    failures = list[Failure]()
    if not claimed:
        end.used = attempt.at  # a request must still be carried out after the refusal: this one, or the closing marker
        if not spare and not any(receive.own for side in (end, end.other) for receive in side.receives):
            return leftovers.settle(state, end.pair, reset=attempt.at, refused=end)
    failures += reset(state, end.pair, attempt.at, claimed)
    if end.other.shared:
        first = list(end.other.receives)[:spare] if attempt.phase == "complete" else []
        left = [one for one in end.other.receives if one.own or one in first or (undecided and one in paired)]
        if (wrong := shared_receives.use_up(state, end, left, attempt.at)) is not None:
            failures.append(wrong)
    for side, receive in waiting:
        if refused := post_receive(state, side, receive):
            message = f"a receive that waited was refused with {refused} when it was posted again"
            details = (("posted again", f"after the reset at {attempt.at}"),)
            failures.append(Failure("MKS2001", receive.at, message, details, True))
    return failures


def reset(state: CaseState, pair: Pair, at: At, failed: str) -> list[Failure]:
    """Wait for outstanding work, check what is left, and connect the pair again. `failed`: the claimed failure, or ""
    if a section was refused and the QPs did not change."""
    pair.failed = failed
    failures = leftovers.settle(state, pair, reset=at)
    if failed:
        fail_qps(state, pair)
    state.look_for_events()
    pair.renew(state.device.reconnect(pair.handle))
    return failures


def fail_qps(state: CaseState, pair: Pair) -> None:
    """A failure of these QPs was checked: their error events follow from it, unless they came before."""
    state.look_for_events()
    handles = {pair.handle.owner.handle, pair.handle.peer.handle}
    for entry in state.events[state.seen_events :]:
        if entry.event.qp is not None and entry.event.qp.handle in handles:
            entry.of_failure = True
    state.failed_qps.update(handles)
