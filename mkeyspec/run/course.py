"""The course of one case: each step carried out on the bench, each outcome ruled on.

Steps are hard, expectations are soft (language-syntax (d) 5): a step that went otherwise than claimed ends the case,
a failed expectation does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mkeyspec import plan
from mkeyspec.device.protocol import Unsupported
from mkeyspec.run import (
    check,
    claim,
    closing,
    declare,
    drain,
    event,
    judge,
    pipelining,
    reset,
    section,
    section_faults,
    settle,
    suspect,
    transfer,
)
from mkeyspec.run.bench import Bench, Less
from mkeyspec.run.buffer import GUARD, Beyond, inside
from mkeyspec.run.claim import Attempt
from mkeyspec.run.endpoint import End, Label, Receive, Unobserved
from mkeyspec.run.expectation import Expectations
from mkeyspec.run.extent import Extent
from mkeyspec.run.request import Builder
from mkeyspec.run.section import Section
from mkeyspec.run.verdict import Failure, Verdict
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Live, NoValue, evaluate

LONGEST_RECORD = 64
"""Bytes of a recorded byte string that are written out."""


class Course:
    """One case under way. `over`: it ended before its last statement."""

    def __init__(self, bench: Bench, expectations: Expectations, verdict: Verdict) -> None:
        self.bench = bench
        self.builder = Builder(bench)
        self.expectations = expectations
        self.verdict = verdict
        self.over = False
        self.excused = Extent()
        """What the statement with a known departure, which ended the case, may have written."""
        self._stated: list[tuple[str, plan.At, bool]] = []
        """Known departures of the statements that ran: (id, place, whether the statement says how)."""
        self._shown: set[str] = set()
        """Those that were seen, or whose statement went wrong otherwise and is told as that."""
        self._verbs: dict[type, Callable[[Any], None]] = {
            plan.Memory: self._memory,
            plan.Mkey: self._mkey,
            plan.Qp: self._qp,
            plan.Pd: self._pd,
            plan.Dek: self._dek,
            plan.Dct: self._dct,
            plan.Post: self._post,
            plan.Transmit: self._transmit,
            plan.Receive: self._receive,
            plan.Recv: self._recv,
            plan.Store: self._store,
            plan.Check: self._check,
            plan.Await: self._await,
            plan.Poll: self._poll,
            plan.Cancel: self._cancel,
            plan.Resume: self._resume,
            plan.Retag: self._retag,
            plan.Expect: self._expect,
            plan.Snapshot: self._snapshot,
            plan.Record: self._record,
        }

    def take(self, step: plan.Step) -> None:
        """Carry out one step, or note that it was not run. Raises Unsupported, and whatever a broken device raises."""
        if self.over:
            if isinstance(step, plan.Record):
                self._record(step)
            else:
                self.verdict.not_run.append(step.at)
            return
        self.bench.taken.append(step)
        try:
            if self.bench.unknown and self._names_unknown(step):
                self._pass_over(step)
            else:
                self._verbs[type(step)](step)
        except Unobserved as missing:
            if str(missing) in self.bench.absent:
                self._pass_over(step)
            elif not self._is_moot(step):
                self.fail(Failure("MKS2105", step.at, f"`{missing}` was never there to be read", hard=True))

        except Less as less:
            self.fail(Failure("MKS2109", step.at, str(less), hard=True))
        except Beyond as beyond:
            self.fail(Failure("MKS2108", step.at, str(beyond), hard=True))
        except NoValue as fault:
            self.fail(Failure("MKS2107", step.at, f"a number of this statement has no value here: {fault}", hard=True))

    def _is_moot(self, step: plan.Step) -> bool:
        """Whether what this expectation looks at is missing since a step was refused that the case admits to be."""
        if not isinstance(step, plan.Expect) or not isinstance(step.observed, Live):
            return False
        label = self.bench.labels.get(step.observed.subject)
        return label is not None and label.moot

    def _names_unknown(self, step: plan.Step) -> bool:
        """Whether a statement needs an mkey whose configuration was refused, as the case admits: it is in an unknown
        state until it has a layout again (mlx5dv_wr_set_mkey_sig_block(3), Notes)."""
        unknown = self.bench.unknown
        left = [self.bench.mkeys[name] for name in suspect.needed(step) if name in self.bench.mkeys]
        seen = set[str]()
        while left:
            mkey = left.pop()
            if mkey.name in unknown:
                return True
            if mkey.name not in seen:
                seen.add(mkey.name)
                left += mkey.entries
        return False

    def _pass_over(self, step: plan.Step) -> None:
        """A statement that names what the device refused to make, as the case admits: it can't be carried out, nor can
        those that name what it would have made."""
        bench = self.bench
        self.verdict.not_run.append(step.at)
        self._refused()
        bench.moot.add(bench, suspect.reach(bench.taken))
        bench.moot.remove_unseen(bench)
        bench.absent |= {name for name in (getattr(step, "label", None), getattr(step, "name", None)) if name}
        if isinstance(step, plan.Recv) and step.qp not in bench.absent:
            bench.pair(step.qp, step.at).end(step.peer).absent += 1
        if isinstance(step, plan.Transmit):
            bench.absent |= {"wire", f"{step.label}.wire"}
            bench.wires.pop("", None)

    def fail(self, failure: Failure) -> None:
        self.verdict.failures.append(failure)
        self.over = self.over or failure.hard

    def close(self) -> None:
        """The end of the case: the closing rule, whichever way it ended.

        What is found after a failure that ended the case may follow from it, and is told as that; but a guard is
        never written by right. After a known departure the buffers that its statement may have written are excused.
        """
        bench, verdict = self.bench, self.verdict
        failed = any(failure.hard for failure in verdict.failures)
        verdict.quiet = bench.quiet
        for failure, excused in closing.close(bench, patient=not failed, excused=self.excused):
            if (excused or failed) and failure.code != "MKS2104":
                verdict.consequences.append(failure)
            else:
                verdict.failures.append(failure)
        if not self.over:
            self._keeps_to_the_page()

    def _keeps_to_the_page(self) -> None:
        """Listed departures that the case names and the device did not show."""
        unseen = [item for item in self._stated if item[0] not in self._shown and self.expectations.lists(item[0])]
        told: set[str] = set()
        for id, at, concrete in unseen:
            if concrete and id not in told:
                told.add(id)
                file, seen = self.expectations.departures[id]
                message = f"the device keeps to the page here, and {file} lists it for {id}"
                self.fail(Failure("MKS2301", at, message, (("listed", seen), ("mend", f"take {id} out of {file}"))))
        self.verdict.absent += dict.fromkeys(id for id, _, _ in unseen if id not in told)

    # Rulings ---------------------------------------------------------------------------------

    def _rule(
        self,
        attempt: Attempt,
        claimed: plan.Claim,
        known: plan.Known | None,
        end: End | None = None,
        done: Section | None = None,
    ) -> bool:
        """Hold an attempt against its claim; True if the case goes on from a refusal or success that was claimed.

        `end`: whose send queue it was posted to; `done`: what was posted.
        """
        bench = self.bench
        if attempt.phase is not None:
            self.verdict.statuses.append((attempt.at, attempt.phase, attempt.reason))
        if attempt.earlier is not None:
            self.fail(attempt.earlier)
            return False
        ruling = claim.judge(attempt, claimed, known, bench.profile, self.expectations, bench.evaluate)
        failure = ruling.failure
        if failure is None and isinstance(ruling.outcome, plan.Completes):
            assert end is not None
            failure = section_faults.around_list(end, attempt, ruling.outcome)
        elif failure is None and ruling.departure is None and done is not None and done.listed is not None:
            failure = section_faults.besides_list(bench, done, attempt)
        self._mention(attempt.at, known, ruling.fits or failure is not None)
        if ruling.departure is not None:
            self._depart(ruling.departure)
            self.over = True
            if attempt.phase == "completion" and end is not None:
                end.pair.failed = f"the departure {ruling.departure} at {attempt.at.line}:{attempt.at.column}"
            self.excused.add(bench, suspect.reach(bench.taken))
            return False
        if failure is not None:
            self.fail(failure)
            return False
        either = claim.admits_both(claimed)
        if attempt.phase is not None and end is not None:
            messages = sum(one.delivers is not None for one in done.planned) if done is not None and either else 0
            for left in reset.recover(bench, end, attempt, messages):
                self.fail(left)
        if attempt.phase is not None:
            went = frozenset(due.at for due in done.dues if due.succeeded) if done is not None else frozenset()
            self._refused(went)
            if either:
                self._either(went)
                for due in done.far if done is not None else ():
                    if not due.succeeded and due.receive is not None and due.receive.label is not None:
                        due.receive.label.moot = True
            bench.moot.remove(bench, suspect.reach(bench.taken, of=went))
        elif len(bench.taken) - 1 not in bench.refused:
            bench.moot.remove(bench, suspect.reach(bench.taken) if bench.moot else ())
            bench.unknown -= _laid_out(bench.taken[-1])
        return True

    def _refused(self, went: frozenset[plan.At] = frozenset()) -> None:
        self.bench.refused[len(self.bench.taken) - 1] = went

    def _either(self, went: frozenset[plan.At]) -> None:
        """The case admits both: what the statement would have shown or written is not there, but for the requests that
        succeeded. What a statement before it should have written, and nobody has looked at yet, must be."""
        bench = self.bench
        bench.moot.add(bench, suspect.reach(bench.taken, but=went))
        bench.moot.remove_unseen(bench)
        bench.unknown |= _configured(bench.taken[-1], went)
        label = getattr(self.bench.taken[-1], "label", None)
        if label is not None and label in self.bench.labels:
            self.bench.labels[label].moot = True

    def _mention(self, at: plan.At, known: plan.Known | None, fits: bool) -> None:
        if known is None:
            return
        concrete = known.outcome is not None or known.value is not None or bool(known.members)
        self._stated.append((known.id, at, concrete))
        if fits:
            self._shown.add(known.id)

    def _depart(self, id: str) -> None:
        self._shown.add(id)
        if id not in self.verdict.known:
            self.verdict.known.append(id)

    def _soft(self, failure: Failure | None, known: plan.Known | None, stated: bool, at: plan.At) -> None:
        """Rule on an expectation or a check."""
        self._mention(at, known, stated or failure is not None)
        if failure is None:
            return
        if known is None:
            self.fail(failure)
            return
        ruling = claim.depart(failure, known, stated, self.expectations)
        if ruling.departure is not None:
            self._depart(ruling.departure)
        elif ruling.failure is not None:
            self.fail(ruling.failure)

    # Declarations ----------------------------------------------------------------------------

    def _memory(self, step: plan.Memory) -> None:
        declare.memory(self.bench, step)

    def _mkey(self, step: plan.Mkey) -> None:
        self._create(step.name, declare.mkey(self.bench, step), step)

    def _qp(self, step: plan.Qp) -> None:
        self._create(step.name, declare.qp(self.bench, step), step)

    def _pd(self, step: plan.Pd) -> None:
        declare.pd(self.bench, step)

    def _dek(self, step: plan.Dek) -> None:
        self._create(step.name, declare.dek(self.bench, step), step)

    def _dct(self, step: plan.Dct) -> None:
        declare.dct(self.bench, step)

    def _retag(self, step: plan.Retag) -> None:
        attempt = declare.retag(self.bench, step)
        if attempt.phase is not None:
            # The pages give this call no phase of its own: it counts as the one the case speaks of.
            phases = [item.phase for item in step.claim if isinstance(item, plan.Rejected)]
            attempt.phase = phases[0] if phases else attempt.phase
        self._rule(attempt, step.claim, step.known)

    def _create(self, name: str, attempt: Attempt, step: plan.Mkey | plan.Qp | plan.Dek) -> None:
        made = self._rule(attempt, step.claim, step.known) and attempt.phase is None
        if not made and claim.admits_success(step.claim):
            self.bench.absent.add(name)

    # Work requests ---------------------------------------------------------------------------

    def _post(self, step: plan.Post) -> None:
        bench = self.bench
        end = bench.pair(step.qp, step.at).end(step.peer)
        planned = [self.builder.request(wr) for wr in step.requests]
        messages = sum(one.delivers is not None for one in planned)
        if end.other.absent and len(end.other.receives) < messages:
            end.other.absent -= 1
            self._pass_over(step)
            return
        done = Section(step.at, _what(step), end, planned)
        done.listed = section.most_listed(step.claim)
        listed = done.listed is not None
        refusals = [item.phase for item in step.claim if isinstance(item, plan.Rejected)]
        late = "completion" in refusals
        known = step.known.outcome if step.known is not None else None
        for outcome in (*step.claim, known):
            if isinstance(outcome, plan.Rejected) and outcome.phase == "completion":
                done.breaking = done.breaking or outcome.requests
        if (refusals or listed) and (failure := drain.before(bench, end, step.at)) is not None:
            self.fail(failure)
            return
        if step.abort:
            self._refused()
        if not step.claim and not (step.wait and done.is_signaled):
            bench.look_for_events()
        attempt = section.post(bench, done, abort=step.abort)
        if attempt is None:
            if listed or late or (step.wait and done.owed):
                attempt = settle.completions(bench, done, expect_error=late, expect_success=len(step.claim) > 1)
            else:
                attempt = Attempt(step.at, done.what)
        if section.departs_by_list(done, step.known):
            settle.gather(bench, done, attempt)
        if step.label is not None:
            label = bench.labels.setdefault(step.label, Label())
            transfer.note(label, done, attempt)
            label.dues.extend(due for due in attempt.listed if due.stray)
        self._rule(attempt, step.claim, step.known, end, done)

    def _transmit(self, step: plan.Transmit) -> None:
        if step.claim:
            self.bench.look_for_events()
            self.bench.seen_events = len(self.bench.events)
        done, attempt = transfer.transmit(self.bench, self.builder, step)
        self._rule(attempt, step.claim, step.known, done.end, done)

    def _receive(self, step: plan.Receive) -> None:
        if step.claim:
            self.bench.look_for_events()
            self.bench.seen_events = len(self.bench.events)
        done, attempt = transfer.receive(self.bench, self.builder, step)
        self._rule(attempt, step.claim, step.known, done.end, done)

    def _recv(self, step: plan.Recv) -> None:
        bench = self.bench
        end = bench.pair(step.qp, step.at).end(step.peer)
        self.builder.named = []
        sges = tuple(self.builder.sge(part) for part in step.into)
        named = [self.builder.names_mkey(part.name) for part in step.into]
        signed = tuple(mkey for mkey in self.builder.named if mkey.signed)
        if signed and len(step.into) > 1:
            signed = (*signed, *signed)  # pieces of different counts: byte_len can't be told
        wr_id = bench.number() if step.options.id is None else step.options.id
        receive = Receive(step.at, wr_id, sges, any(named), signed)
        if step.label is not None:
            receive.label = bench.labels.setdefault(step.label, Label())
        if refused := section.post_receive(bench, end, receive):
            self._rule(Attempt(step.at, "recv", "complete", refused), (), None)
        bench.use(self.builder.named, step.at, receive)

    def _poll(self, step: plan.Poll) -> None:
        """Exactly the completions the claim lists; without a list, what is owed and was not waited for."""
        bench = self.bench
        end = bench.pair(step.qp, step.at).end(step.peer)
        listed = [outcome for outcome in step.claim if isinstance(outcome, plan.Completes)]
        attempt = settle.poll(bench, step.at, end, listed)
        self._rule(attempt, step.claim, step.known, end)

    def _cancel(self, step: plan.Cancel) -> None:
        self._rule(pipelining.cancel(self.bench, step), step.claim, step.known)

    def _resume(self, step: plan.Resume) -> None:
        refused = pipelining.resume(self.bench, step)
        if refused is not None:
            self._rule(refused, (), None)

    def _await(self, step: plan.Await) -> None:
        failure = event.awaited(self.bench, step)
        if failure is None:
            self._mention(step.at, step.known, False)
            return
        self._soft(failure, step.known, True, step.at)
        self.over = True

    # Bytes and values ------------------------------------------------------------------------

    def _store(self, step: plan.Store) -> None:
        bench = self.bench
        buffer = bench.buffers[step.to.name]
        start = bench.evaluate(step.to.start)
        data = evaluate(step.data, bench.read)
        inside(buffer, buffer.addr + start, len(data))
        self._rest(step)
        if (changed := closing.changed(bench, buffer, start, len(data))) is not None:
            self.fail(changed)
        bench.moot.remove(bench, ((step.to.name, start, start + len(data)),))
        bench.device.write(buffer.memory, GUARD + start, data)
        buffer.believe(start, data, step.data if isinstance(step.data, ByteString) else None)

    def _check(self, step: plan.Check) -> None:
        bench = self.bench
        attempt, record = check.call(bench, step)
        if attempt.phase is not None or not claim.admits_success(step.claim):
            self._rule(attempt, step.claim, step.known)
            return
        failure = check.judge(bench, step, record)
        known, stated = step.known, False
        if known is not None and known.outcome is None:
            changed = check.departure(step, known)
            stated = failure is not None if changed is None else check.judge(bench, changed, record) is None
        self._soft(failure, known, stated, step.at)

    def _rest(self, step: plan.Expect | plan.Snapshot | plan.Record | plan.Store) -> None:
        """Whatever may still write where a statement looks, or stores, comes to its end."""
        parts: tuple[Part, ...] = ()
        if isinstance(step, plan.Store):
            parts = (step.to,)
        elif isinstance(step.observed, plan.Content):
            parts = step.observed.parts
        if parts and (failure := drain.rest(self.bench, step.at, parts)) is not None:
            self.fail(failure)

    def _expect(self, step: plan.Expect) -> None:
        self._rest(step)
        failure, stated = judge.judge(self.bench, step)
        self._soft(failure, step.known, stated, step.at)

    def _snapshot(self, step: plan.Snapshot) -> None:
        """What is there becomes a value: it must be what was said of it, or what a statement since may have written."""
        bench = self.bench
        self._rest(step)
        seen = judge.look(bench, step.observed)
        if seen.wire is None:
            written = Extent()
            written.add_unseen(bench)
            for piece in seen.pieces:
                changed = closing.changed(bench, piece.buffer, piece.start, piece.length, written.without(bench.moot))
                if changed is not None:
                    self.fail(changed)
        elif not seen.wire.whole and judge.moot(bench, seen).any():
            bench.absent.add(step.name)  # the wire of a transmit that was refused, as the case admits
            return
        bench.snapshots[step.name] = seen.data.tobytes()

    def _record(self, step: plan.Record) -> None:
        """Absent if it was never observed, whatever the reason."""
        bench = self.bench
        if not self.over:
            self._rest(step)
        try:
            if isinstance(step.observed, plan.Wire):
                view = bench.wires.get(step.observed.label or "")
                if view is None or not view.whole:
                    return
            if step.operator is not None:
                text = "yes" if judge.holds(bench, step) else "no"
            elif isinstance(step.observed, (plan.Content, plan.Wire)):
                data = judge.look(bench, step.observed).data
                more = f"… ({len(data)} bytes)" if len(data) > LONGEST_RECORD else ""
                text = data[:LONGEST_RECORD].tobytes().hex() + more
            else:
                text = str(judge.scalar(bench, step.observed))
        except (Unobserved, Unsupported):
            return
        self.verdict.records[step.name] = text


def _configured(step: plan.Step, went: frozenset[plan.At]) -> set[str]:
    """The mkeys that a section configures, but for the requests at `went`."""
    requests = step.requests if isinstance(step, plan.Post) else ()
    return {one.mkey for one in requests if isinstance(one, suspect.CONFIGURATIONS) and one.at not in went}


def _laid_out(step: plan.Step) -> set[str]:
    """The mkeys that a section gives a layout."""
    requests = step.requests if isinstance(step, plan.Post) else ()
    return {one.mkey for one in requests if isinstance(one, suspect.CONFIGURATIONS) and suspect.layout_of(one)}


_WORDS = {
    plan.Configure: "configure",
    plan.MrList: "mr_list",
    plan.MrInterleaved: "mr_interleaved",
    plan.Send: "send",
    plan.Write: "write",
    plan.Read: "read",
    plan.FetchAdd: "fetch_add",
    plan.Invalidate: "invalidate",
    plan.Memcpy: "memcpy",
    plan.RawWqe: "raw",
    plan.StraySetter: "a setter",
}


def _what(step: plan.Post) -> str:
    """A section in a word or two."""
    if step.abort:
        return "abort"
    if len(step.requests) != 1:
        return "post"
    request = step.requests[0]
    word = _WORDS[type(request)]
    name = getattr(request, "mkey", None)
    return f"{word} {name}" if name else word
