"""Rulings: what the outcome of each step means for the case.

A step with another outcome than claimed ends the case; a failed expectation does not. A known departure of a step
ends it too.
"""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.device.protocol import DeviceLost
from mkeyspec.plan.claim import lists
from mkeyspec.run import outcomes, reset, section_faults, teardown_checks
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.course import BEFORE_THE_FIRST_BYTE
from mkeyspec.run.departures import Expectations
from mkeyspec.run.endpoint import End
from mkeyspec.run.extent import Extent
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.section import Section
from mkeyspec.run.verdict import Failure, Verdict


class Rulings:
    """The rulings of one case, entered in its verdict. `over`: it ended before its last statement."""

    def __init__(self, state: CaseState, expectations: Expectations, verdict: Verdict) -> None:
        self.state = state
        self.expectations = expectations
        self.verdict = verdict
        self.over = False
        self.admitted = False
        """A refusal came that the case allows beside success: of the device it shows nothing."""
        self.excused = Extent()
        """What was written before the case ended, and statements that are not run would have looked at."""
        self._stated: list[tuple[str, plan.At, bool]] = []
        """Known departures of the statements that ran: (id, place, whether the statement says how)."""
        self._shown: set[str] = set()
        """Those that were seen, or whose statement went wrong otherwise and is reported as that."""

    def fail(self, failure: Failure) -> None:
        self.verdict.failures.append(failure)
        self.state.wrong = True
        self.over = self.over or failure.hard

    def lose(self, lost: DeviceLost, at: plan.At) -> None:
        """The first call that did not come back tells that the device is gone; no later one does."""
        if not any(failure.code == lost.code for failure in self.verdict.failures):
            self.fail(Failure(lost.code, at, lost.message, hard=True))

    def rule(
        self,
        attempt: Attempt,
        claimed: plan.Claim,
        known: plan.Known | None,
        end: End | None = None,
        done: Section | None = None,
    ) -> bool:
        """Compare an attempt with its claim; True if the case continues after a claimed refusal or success.

        `end`: whose send queue it was posted to; `done`: what was posted.
        """
        state = self.state
        if attempt.phase is not None:
            self.verdict.statuses.append((attempt.at, attempt.phase, attempt.reason))
        if attempt.earlier is not None:
            self.fail(attempt.earlier)
            return False
        ruling = outcomes.decide(attempt, claimed, known, state.profile, self.expectations, state.evaluate)
        failure = ruling.failure
        listed = ruling.outcome.listed() if ruling.outcome is not None else None
        if failure is None and listed is not None:
            assert end is not None
            failure = section_faults.around_list(end, attempt, listed)
        elif failure is None and ruling.departure is None and done is not None and done.listed is not None:
            failure = section_faults.besides_list(state, done, attempt)
        self.mention(attempt.at, known, ruling.fits or failure is not None)
        if ruling.departure is not None and known is not None:
            if known.outcome is not None and (entries := known.outcome.listed()) is not None and end is not None:
                claimed_lists = lists(claimed)
                again = len(entries) - min(map(len, claimed_lists), default=0)
                other = section_faults.around_list(end, attempt, entries, again)
                if other is not None:
                    self.fail(outcomes.depart(other, known, False, self.expectations).failure or other)
                    return False
            self._depart(ruling.departure)
            self.over = True
            if attempt.phase == "completion" and end is not None:
                end.pair.failed = f"the departure {ruling.departure} at {attempt.at}"
            self._untouched(attempt, done)
            self._excuse()
            return False
        if failure is not None:
            self.fail(failure)
            return False
        if attempt.phase is not None and outcomes.admits_success(claimed):
            self.admitted = True
        if attempt.phase is not None and end is not None:
            for left in reset.recover(state, end, attempt, done, plan.is_undecided(claimed)):
                self.fail(left)
            if attempt.phase == "completion":
                self._before_the_first_byte(attempt.at, ruling.outcome)
        self._untouched(attempt, done)
        if claimed and ruling.outcome is not None and ruling.outcome.succeeds():
            state.accepted.add(attempt.at)
        return True

    def _excuse(self) -> None:
        """Those who would have looked at the bytes so far are not run."""
        state = self.state
        moved = [entry for entry in state.written.by_last(state) if state.course.may_have_moved(entry.at)]
        self.excused.add(state, (span for entry in moved for span in entry.written))
        for buffer in state.all_buffers():
            self.excused.add_mask(buffer, state.written.unseen(state, buffer))

    def _untouched(self, attempt: Attempt, done: Section | None) -> None:
        """What was refused or aborted as a whole has moved nothing."""
        aborted = done is not None and done.aborted
        if attempt.phase == "complete":
            self.state.not_posted.add(attempt.at)
        elif not aborted:
            return
        for moved in teardown_checks.moved(self.state, attempt.at, "aborted" if aborted else "refused"):
            self.fail(moved)

    def _before_the_first_byte(self, at: plan.At, outcome: plan.Outcome | None) -> None:
        """Mark the requests of the statement at `at` that failed for a key, and so before their first byte. What the
        other end refuses, it refuses before any part of it, however many pieces the requester has."""
        if not plan.is_rejection(outcome) or outcome.rule not in BEFORE_THE_FIRST_BYTE:
            return
        # To the compiler any other key is wrong; one of another object may break a rule about lengths.
        elsewhere = outcome.rule == "bad_lkey" and self.state.aimed[-1] is not self.state.taken[-1]
        for entry in self.state.written.by_last(self.state):
            if entry.in_one or (entry.far_in_one and outcome.reason == "remote_access"):
                for due in self.state.course.stopped_by(entry.at):
                    due.unmoved = due.astray or not elsewhere

    def soft(self, failure: Failure | None, known: plan.Known | None, stated: bool, at: plan.At) -> None:
        """Rule on an expectation or a check."""
        # A value of the page's that the departure names as well neither shows the departure nor denies it.
        self.mention(at, known, failure is not None, open=stated)
        if failure is None:
            return
        if known is None:
            self.fail(failure)
            return
        ruling = outcomes.depart(failure, known, stated, self.expectations)
        if ruling.departure is not None:
            self._depart(ruling.departure)
        elif ruling.failure is not None:
            self.fail(ruling.failure)

    def mention(self, at: plan.At, known: plan.Known | None, fits: bool, *, open: bool = False) -> None:
        if known is None:
            return
        concrete = known.outcome is not None or bool(known.members)
        concrete = concrete or (known.value is not None and not plan.is_any(known.value))
        self._stated.append((known.id, at, concrete and not open))
        if fits:
            self._shown.add(known.id)

    def _depart(self, id: str) -> None:
        self._shown.add(id)
        if id not in self.verdict.known:
            self.verdict.known.append(id)

    def departures_unshown(self) -> None:
        """Listed departures that the case names and the device did not show."""
        unseen = [item for item in self._stated if item[0] not in self._shown and self.expectations.demands(item[0])]
        told: set[str] = set()
        open = {id for id, _, concrete in unseen if not concrete}
        for id, at, concrete in unseen:
            if concrete and id not in told and id not in open:
                told.add(id)
                file, seen = self.expectations.departures[id]
                message = f"the device keeps to the page here, and {file} lists it for {id}"
                self.fail(Failure("MKS2301", at, message, (("listed", seen), ("fix", f"take {id} out of {file}"))))
        self.verdict.absent += dict.fromkeys(id for id, _, _ in unseen if id not in told)
        self.verdict.shown = sorted(self._shown)
