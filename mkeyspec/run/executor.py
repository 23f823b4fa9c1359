"""Carries out the steps of one case, and passes each outcome to the rulings."""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.run import (
    declarations,
    drain,
    event,
    expectations,
    live_numbers,
    login,
    mkey_check,
    outcomes,
    pipelining,
    raised,
    record,
    recv,
    section,
    settle,
    snapshot,
    target,
    teardown_checks,
    transfer,
)
from mkeyspec.run.buffer import GUARD, inside
from mkeyspec.run.case_state import CaseState, Misfit
from mkeyspec.run.departures import Expectations
from mkeyspec.run.label import Label
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.outstanding import Outstanding
from mkeyspec.run.request import RequestBuilder
from mkeyspec.run.ruling import Rulings
from mkeyspec.run.section import Section
from mkeyspec.run.section_faults import is_of_invalidation
from mkeyspec.run.verdict import Verdict
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import evaluate


class Executor:
    """One running case."""

    def __init__(
        self,
        state: CaseState,
        expectations: Expectations,
        verdict: Verdict,
        rules: live_numbers.Rules = live_numbers.NoJudge,
    ) -> None:
        """`rules`: makes what judges steps whose live numbers are known."""
        self.state = state
        self.builder = RequestBuilder(state)
        self.verdict = verdict
        self.rulings = Rulings(state, expectations, verdict)
        self.outstanding = Outstanding(state, self.rulings)
        state.wait_for_label = self.outstanding.wait_for_label
        state.wait_for_bytes = self.outstanding.wait_for_bytes
        state.judge = self._judge
        self._rules = rules()
        self._judged = 0

    def take(self, step: plan.Step) -> None:
        """Carry out one step, or note that it was not run. Raises Unsupported, and any exception of a broken
        device."""
        if self.rulings.over:
            if isinstance(step, plan.Record):
                self._record(step)
            else:
                self.verdict.not_run.append(step.at)
            return
        self.state.course.step_ends(len(self.state.taken) - 1)
        self.state.taken.append(step)
        try:
            self._aim(step)
            self._carry_out(step)
        except raised.KINDS as error:
            self.rulings.fail(raised.failure(step.at, error))

    def _aim(self, step: plan.Step) -> None:
        """Reading its numbers may wait for the requests before it."""
        aimed = step
        try:
            aimed = target.of(step, self.state)
        finally:
            self.state.aimed.append(aimed)

    def _carry_out(self, step: plan.Step) -> None:
        match step:
            case plan.Memory():
                self._memory(step)
            case plan.Mkey():
                self._mkey(step)
            case plan.Qp():
                self._qp(step)
            case plan.Pd():
                self._pd(step)
            case plan.Dek():
                self._dek(step)
            case plan.Dct():
                self._dct(step)
            case plan.Post():
                self._post(step)
            case plan.Transmit():
                self._transmit(step)
            case plan.Receive():
                self._receive(step)
            case plan.Recv():
                self._recv(step)
            case plan.Store():
                self._store(step)
            case plan.Check() | plan.Expect() if not self._came(step.branch):
                pass
            case plan.Check():
                self._check(step)
            case plan.Await():
                self._await(step)
            case plan.Poll():
                self._poll(step)
            case plan.Cancel():
                self._cancel(step)
            case plan.Resume():
                self._resume(step)
            case plan.Retag():
                self._retag(step)
            case plan.Destroy():
                self._destroy(step)
            case plan.DestroyDek():
                self._destroydek(step)
            case plan.Query():
                self._query(step)
            case plan.Login():
                self._login(step)
            case plan.Logout():
                self._logout(step)
            case plan.LoginState():
                self._loginstate(step)
            case plan.Expect():
                self._expect(step)
            case plan.Snapshot():
                self._snapshot(step)
            case plan.Record():
                self._record(step)
            case _:
                assert_never(step)

    def close(self) -> None:
        """End the case: apply the closing rule, whatever the verdict is. What is found after a failure that ended the
        case may follow from it and is reported so. A changed guard is always a failure. After a known departure the
        buffers that its statement may have written are exempt.
        """
        state, verdict = self.state, self.verdict
        failed = any(failure.hard for failure in verdict.failures)
        verdict.quiet = state.quiet
        for failure, excused in teardown_checks.close(state, patient=not failed, excused=self.rulings.excused):
            if (excused or failed) and failure.code != "MKS2104":
                verdict.consequences.append(failure)
            else:
                verdict.failures.append(failure)
        if not self.rulings.over:
            self.rulings.departures_unshown()

    # Declarations ----------------------------------------------------------------------------

    def _memory(self, step: plan.Memory) -> None:
        declarations.memory(self.state, step)

    def _mkey(self, step: plan.Mkey) -> None:
        self._create(declarations.mkey(self.state, step), step)
        self._judge()  # a number of a buffer is what it is now

    def _qp(self, step: plan.Qp) -> None:
        self._create(declarations.qp(self.state, step), step)

    def _pd(self, step: plan.Pd) -> None:
        declarations.pd(self.state, step)

    def _dek(self, step: plan.Dek) -> None:
        self._create(declarations.dek(self.state, step), step)

    def _dct(self, step: plan.Dct) -> None:
        declarations.dct(self.state, step)

    def _retag(self, step: plan.Retag) -> None:
        declarations.retag(self.state, step)

    def _destroy(self, step: plan.Destroy) -> None:
        """Check now what the closing rule checks of every key: after this it can't be checked."""
        state = self.state
        mkey = state.mkeys[step.mkey]
        self.outstanding.rest(step)
        if (failure := drain.heard(state, mkey.handle.side, step.at)) is not None:
            self.rulings.fail(failure)
        state.poll_all()
        for failure in teardown_checks.signature_errors(state, (mkey,)):
            self.rulings.soft(failure, None, False, step.at)
        self._answered(declarations.destroy(state, step), step)

    def _destroydek(self, step: plan.DestroyDek) -> None:
        """What an mkey with crypto attributes is used for may need the DEK."""
        keys = [name for name, key in self.state.mkeys.items() if key.flags & MkeyFlag.CRYPTO and not key.destroyed]
        if (failure := drain.rest_of_keys(self.state, step.at, keys)) is not None:
            self.rulings.fail(failure)
        self._answered(declarations.destroy_dek(self.state, step), step)

    def _query(self, step: plan.Query) -> None:
        attempt, failure = declarations.query(self.state, step)
        if self._answered(attempt, step) and failure is not None:
            self.rulings.soft(failure, step.known, False, step.at)

    def _login(self, step: plan.Login) -> None:
        attempt = login.login(self.state, step)
        self._note(attempt, step.label)
        self._create(attempt, step)

    def _logout(self, step: plan.Logout) -> None:
        self._answered(login.logout(self.state, step), step)

    def _loginstate(self, step: plan.LoginState) -> None:
        attempt, failure = login.query(self.state, step)
        if self._answered(attempt, step) and failure is not None:
            self.rulings.soft(failure, step.known, False, step.at)

    def _answered(
        self, attempt: Attempt, step: plan.Destroy | plan.DestroyDek | plan.Query | plan.Logout | plan.LoginState
    ) -> bool:
        """A call that returns 0 or an errno."""
        self._note(attempt, step.label)
        return self.rulings.rule(attempt, step.claim, step.known)

    def _note(self, attempt: Attempt, label: str | None) -> None:
        if label is not None:
            self.state.labels[label] = Label(errno=0 if attempt.phase is None else attempt.reason)

    def _create(self, attempt: Attempt, step: plan.Mkey | plan.Qp | plan.Dek | plan.Login) -> None:
        """A refusal that the case allows beside success ends it: later statements need the object."""
        goes_on = self.rulings.rule(attempt, step.claim, step.known)
        if goes_on and attempt.phase is not None and outcomes.admits_success(step.claim):
            self.rulings.over = True

    # Work requests ---------------------------------------------------------------------------

    def _post(self, step: plan.Post) -> None:
        state = self.state
        end = state.pair(step.qp, step.at).end(step.peer)
        planned = [self.builder.request(wr) for wr in step.requests]
        done = Section(step.at, section.what_of(step), end, planned)
        done.listed = section.most_listed(step.claim)
        listed = done.listed is not None
        late = plan.rejected_at(step.claim, "completion")
        known = step.known.claim() if step.known is not None else ()
        for outcome in plan.rejections((*step.claim, *known)):
            if outcome.phase == "completion":
                done.breaking = done.breaking or outcome.requests
        done.invalidates = is_of_invalidation(step.claim)
        if not self.outstanding.rest_for(step, end):
            return
        if (listed or plan.may_be_rejected(step.claim)) and (failure := drain.before(state, end, step.at)) is not None:
            self.rulings.fail(failure)
            return
        if not step.claim and not (step.wait and done.is_signaled):
            state.look_for_events()
        attempt = section.post(state, done, abort=step.abort)
        if attempt is None:
            if listed or late or (step.wait and done.owed):
                attempt = settle.completions(state, done, expect_error=late, expect_success=len(step.claim) > 1)
            else:
                attempt = Attempt(step.at, done.what)
        if section.departs_by_list(done, step.known):
            settle.gather(state, done, attempt)
        if step.label is not None:
            label = state.labels.setdefault(step.label, Label())
            transfer.note(label, done, attempt)
            label.dues.extend(due for due in attempt.listed if due.stray)
        self.rulings.rule(attempt, step.claim, step.known, end, done)

    def _transmit(self, step: plan.Transmit) -> None:
        if step.claim or step.known is not None:
            self.state.look_for_events()
            self.state.seen_events = len(self.state.events)
        if not self.outstanding.rest_for(step, self.state.pair(step.qp, step.at).end(step.by == "peer_read")):
            return
        done, attempt = transfer.transmit(self.state, self.builder.addresses, step)
        self.rulings.rule(attempt, step.claim, step.known, done.end, done)

    def _receive(self, step: plan.Receive) -> None:
        if step.claim or step.known is not None:
            self.state.look_for_events()
            self.state.seen_events = len(self.state.events)
        if not self.outstanding.rest_for(step, self.state.pair(step.qp, step.at).end(step.by != "read")):
            return
        done, attempt = transfer.receive(self.state, self.builder.addresses, step)
        self.rulings.rule(attempt, step.claim, step.known, done.end, done)

    def _recv(self, step: plan.Recv) -> None:
        self.outstanding.note_exact()
        refused = recv.post(self.state, self.builder.addresses, step)
        if refused is not None:
            self.rulings.rule(refused, (), None)

    def _poll(self, step: plan.Poll) -> None:
        """Exactly the completions the claim lists; without a list, what is due and was not waited for."""
        state = self.state
        end = state.pair(step.qp, step.at).end(step.peer)
        attempt = settle.poll(state, step.at, end, plan.lists(step.claim))
        self.rulings.rule(attempt, step.claim, step.known, end)

    def _cancel(self, step: plan.Cancel) -> None:
        attempt = pipelining.cancel(self.state, step)
        self.rulings.rule(attempt, step.claim, step.known)
        if self.rulings.over:  # the queue stays stopped: what waits in it never completes
            pair = self.state.pair(step.qp, step.at)
            pair.failed = pair.failed or f"the refused cancel at {attempt.at}"

    def _resume(self, step: plan.Resume) -> None:
        refused = pipelining.resume(self.state, step)
        if refused is not None:
            self.rulings.rule(refused, (), None)

    def _await(self, step: plan.Await) -> None:
        failure = event.awaited(self.state, step)
        if failure is None:
            self.rulings.mention(step.at, step.known, False)
            return
        self.rulings.soft(failure, step.known, True, step.at)
        self.rulings.over = True

    # Bytes and values ------------------------------------------------------------------------

    def _store(self, step: plan.Store) -> None:
        state = self.state
        buffer = state.buffers[step.to.name]
        start = state.evaluate(step.to.start)
        data = evaluate(step.data, state.read)
        inside(buffer, buffer.addr + start, len(data))
        self.outstanding.rest(step)
        if (changed := teardown_checks.changed(state, buffer, start, len(data))) is not None:
            self.rulings.fail(changed)
        state.device.write(buffer.memory, GUARD + start, data)
        buffer.believe(start, data, step.data if isinstance(step.data, ByteString) else None)

    def _check(self, step: plan.Check) -> None:
        state = self.state
        self.outstanding.rest(step)
        if (failure := drain.heard(state, state.mkeys[step.mkey].handle.side, step.at)) is not None:
            self.rulings.fail(failure)
        attempt, record = mkey_check.call(state, step)
        self._note(attempt, step.label)
        if attempt.phase is not None or not outcomes.admits_success(step.claim):
            self.rulings.rule(attempt, step.claim, step.known)
            return
        state.accepted.add(step.at)
        failure = mkey_check.compare(state, step, record)
        known, stated = step.known, False
        if known is not None and known.outcome is None:
            changed = mkey_check.departure(step, known)
            stated = failure is not None if changed is None else mkey_check.compare(state, changed, record) is None
        self.rulings.soft(failure, known, stated, step.at)

    def _judge(self) -> None:
        """Hold the step under way against the rules of the pages, if a live number may decide: then the compiler has
        left it open. Raises Misfit."""
        state = self.state
        if not state.counted:
            return
        said = ""
        while self._judged < len(state.taken):
            step = state.taken[self._judged]
            self._judged += 1
            said = self._rules.take(live_numbers.resolved(step, state))
        if said:
            raise Misfit(said)

    def _came(self, branch: plan.Branch | None) -> bool:
        """Whether the outcome came that a statement is of."""
        return branch is None or (branch.at in self.state.accepted) is branch.accepted

    def _expect(self, step: plan.Expect) -> None:
        seen = self.outstanding.rest(step)
        failure, stated = expectations.compare(self.state, step, seen)
        self.rulings.soft(failure, step.known, stated, step.at)

    def _snapshot(self, step: plan.Snapshot) -> None:
        self.outstanding.rest(step)
        for failure in snapshot.take(self.state, step):
            self.rulings.fail(failure)

    def _record(self, step: plan.Record) -> None:
        """It is absent if the value was not observed."""
        state = self.state
        if not self.rulings.over:
            self.outstanding.rest(step)
        text = record.text(state, step)
        if text is not None:
            self.verdict.records[step.name] = text
