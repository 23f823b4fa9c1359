"""The rig: carries out the plan of a case on a device, step by step, and checks it. Independent of pytest."""

from __future__ import annotations

import operator
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mkeyspec import plan
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Capabilities, Device, DeviceLost, Info, Refused, Unsupported
from mkeyspec.plan import At, Comparison, Lacks, Need, Step
from mkeyspec.run import diagnosis, health_check
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.departures import Expectations
from mkeyspec.run.doubts import Doubts
from mkeyspec.run.errnos import NoErrno, errno_name, errno_of
from mkeyspec.run.event_kinds import DEVICE_EVENTS
from mkeyspec.run.executor import Executor
from mkeyspec.run.live_numbers import NoJudge, Rules
from mkeyspec.run.size import size_of
from mkeyspec.run.surroundings import PASSED_ON, NotRecorded, Surroundings
from mkeyspec.run.turn import Turn
from mkeyspec.run.verdict import Blocked, CaseFailed, CaseInfo, Failure, Verdict

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Rig:
    """One per worker: `begin`, `step`…, `finish` for each case."""

    def __init__(
        self,
        device: Device,
        profile: Profile,
        expectations: Expectations,
        *,
        deadline: float = 5.0,
        statement: Callable[[str], str | None] = lambda requirement: None,
        again: Callable[[str], str] = lambda id: "",
        values: diagnosis.Values = diagnosis.no_values,
        calls: diagnosis.CallsOfStep = diagnosis.no_calls,
        around: Surroundings | None = None,
        rules: Rules = NoJudge,
    ) -> None:
        """`deadline` bounds every wait, in seconds; `statement` gives a requirement's sentence by its id; `again` the
        command that runs the row of this id alone; `values` the values at a statement of a row; `calls`
        its calls in C, by the steps that were taken; `rules` makes what judges steps by the numbers of the device."""
        self.device = device
        self.profile = profile
        self.expectations = expectations
        self.deadline = deadline
        self.statement = statement
        self.again = again
        self.values = values
        self.calls = calls
        self.rules = rules
        self.around = around if around is not None else Surroundings(device)
        self.verdict = Verdict()
        self.doubts = Doubts()
        self.capabilities, self._info = _told_by(device)
        """What rows may need, from the opening of the device on."""
        self._case: CaseInfo | None = None
        self._executor: Executor | None = None
        self._at = At(1, 1)
        self.alive: Callable[[], None] = lambda: None
        """Called with each step, and with each wait, for whoever looks whether a call has come back."""
        self.likens = True
        """Whether failures are compared with near misses, which takes longer than all else of a case."""
        self._blocked: Blocked | None = None
        self._late: tuple[Counter[int], ...] = ()
        """Handles of QPs that failed as the last case claimed: an event of that may come late."""
        self._whole = False
        """Whether the end of the case under way was waited for."""
        self.varied: tuple[str, tuple[str, ...]] | None = None
        """Of a case in other surroundings: the seed, and what differs from its text."""

    def begin(self, case: CaseInfo) -> list[str]:
        """Start a case. Returns what it needs and the device lacks: not empty means don't run it (and don't finish it).

        Raises Blocked when an earlier case left the device unhealthy, CaseFailed when what is lacking is what the
        profile requires.
        """
        self.leave()
        self.verdict, self.varied = Verdict(), None
        if self._blocked is not None:
            culprit, symptom = self._blocked.culprit, self._blocked.symptom
            self.verdict = Verdict("blocked", reason=symptom, blocked_by=culprit)
            raise Blocked(culprit, symptom)
        unmet = self.unmet(case.needs)
        if unmet:
            self._same(case)
            self._required(case, unmet)
            self.around.passed_by(case.id, unmet)
            self.verdict.shown = []
            return unmet
        self._case, self._at = case, case.at
        numbers = self.capabilities.values
        state = CaseState(
            self.device, self.profile, self.deadline, case.id, at=case.at, isolated=case.isolated, numbers=numbers
        )
        state.late = self.around.begin(case.id, sum(self._late, Counter()))
        state.alive, state.around, state.likens = self.alive, self.around, self.likens
        self._whole = False
        self._executor = Executor(state, self.expectations, self.verdict, self.rules)
        return []

    @property
    def under_way(self) -> bool:
        """Whether a case was begun and has neither finished nor been left."""
        return self._executor is not None

    @property
    def blocked(self) -> Blocked | None:
        """Why no further case can run on this device; None while it is healthy."""
        return self._blocked

    def take_over(self, device: Device) -> None:
        """Continue with a device that was opened again: no case is running. Nothing is blocked any more, unless the
        device says other things of itself than before: rows would be skipped for what it lacks now."""
        capabilities, info = _told_by(device)
        if self._blocked is not None and (capabilities, info) != (self.capabilities, self._info):
            lacks = ", ".join(sorted(self.capabilities.offers - capabilities.offers))
            symptom = f"opened again, it is another device{f': it lacks {lacks}' if lacks else ''}"
            self._blocked = Blocked(self._blocked.culprit, symptom)
            return
        self.device, self.capabilities, self._info = device, capabilities, info
        self._blocked, self._late = None, ()

    def leave(self) -> None:
        """Release the objects of a case whose test function ended with its own exception, without `finish`."""
        if self._executor is not None:
            self.verdict.status, self._whole = "fail", False
            self._give_back()

    def _same(self, case: CaseInfo) -> None:
        """Raises CaseFailed if the device says other things of itself than when it was opened: which of them decides
        whether a row is skipped is not known."""
        try:
            now = self.device.capabilities()
        except PASSED_ON:
            raise
        except BaseException as error:
            found = _died(case.at, error)
        else:
            if now == self.capabilities:
                return
            more = ", ".join(sorted(map(str, now.offers - self.capabilities.offers)))
            less = ", ".join(sorted(map(str, self.capabilities.offers - now.offers)))
            kinds = [f"it offers {more}, too" if more else "", f"it lacks {less}" if less else ""]
            said = "; ".join(filter(None, kinds)) or "its numbers are others"
            message = f"the device is not what it was when it was opened: {said}"
            found = Failure("MKS2014", case.at, message, (("device", self._info.device),), True)
        self.verdict = Verdict("fail", [found])
        raise self._failed(case)

    def _required(self, case: CaseInfo, unmet: list[str]) -> None:
        required = [need for need in unmet if need in self.profile.require]
        if not required:
            return
        details = (
            ("required", f"by the profile {self.profile.name} or by --require"),
            ("device", self._info.device),
        )
        message = f"the device lacks {', '.join(required)}"
        self.verdict = Verdict("fail", [Failure("MKS2009", case.at, message, details, True)])
        raise self._failed(case)

    def _failed(self, case: CaseInfo, taken: Sequence[Step] = ()) -> CaseFailed:
        """`taken`: the steps that were carried out."""
        if self.varied is not None:
            seed, notes = self.varied
            first = self.verdict.failures[0]
            around = (("varied", f"by seed {seed}"), *(("", note) for note in notes))
            self.verdict.failures[0] = replace(first, details=(*first.details, *around))
        info = self._info
        words = [info.device, f"firmware {info.firmware}" if info.firmware else ""]
        words += [f"{name} {version}" for name, version in info.versions.items()]
        device = ", ".join(filter(None, words))
        calls = partial(self.calls, case, taken, self.profile)
        more = diagnosis.OfStatements(self.values, calls)
        text = diagnosis.render(case, self.verdict, self.statement, device, self.again(case.id), more)
        return CaseFailed(text, tuple(self.verdict.failures), self.verdict.unhealthy)

    def unmet(self, needs: tuple[Need, ...]) -> list[str]:
        """Which of these needs the device does not meet, each as one phrase."""
        offers, values = self.capabilities.offers, self.capabilities.values
        missing = []
        for need in needs:
            match need:
                case Comparison():
                    name = need.live.member
                    have = values.get(name)
                    if have is None:
                        missing.append(f"{need.live.subject}.{name} (unknown to this device)")
                    elif not _COMPARE[need.operator](have, need.value):
                        missing.append(f"{need} (it is {have})")
                case Lacks():
                    if need.name in offers:
                        missing.append(f"{need} (the device offers it)")
                case _:
                    if need not in offers:
                        missing.append(need)
        return missing

    def step(self, step: Step) -> None:
        """Carry out one step. Never raises for a failure of the device: it is recorded, and `finish` reports it."""
        executor = self._executor
        if executor is None:
            raise RuntimeError("no case is under way: call begin first")
        self._at = step.at
        executor.state.take_turn(step.at.turn)
        self.alive()
        try:
            executor.take(step)
        except self.around.missing as missing:
            raise NotRecorded(f"{step.at}: {missing}") from None
        except Unsupported as unsupported:
            executor.rulings.fail(self._withheld(step.at, unsupported))
        except Refused as refusal:
            # A call that no claim can speak of (a registration, a reconnect) was refused.
            executor.rulings.fail(_refused(step.at, refusal))
        except DeviceLost as lost:
            executor.rulings.lose(lost, step.at)
        except PASSED_ON:
            raise
        except BaseException as error:
            executor.rulings.fail(_died(step.at, error))

    def repeat(self, at: At, of: int, /, **columns: Sequence[Any]) -> Iterator[Turn]:
        """The turns of the `repeat` at `at`, in order. After a failure that ends the case there is no further one.

        `columns`: values in which the turns differ, the first turn's first. A column with fewer values than there are
        turns goes on with its last one.
        """
        for number in range(1, of + 1):
            if self._executor is not None and self._executor.rulings.over:
                self.verdict.not_run.append(at)
                return
            values = {name: column[min(number, len(column)) - 1] for name, column in columns.items()}
            yield Turn(plan.Turn(number, of, at.line, at.column), values)

    def finish(self) -> Verdict:
        """Apply the closing rule and release all objects. Returns the verdict if it is pass or known.

        Raises CaseFailed, whose text is the whole message.
        """
        executor, case, verdict = self._executor, self._case, self.verdict
        if executor is None or case is None:
            raise RuntimeError("no case is under way: call begin first")
        if not any(failure.code == "MKS2007" for failure in verdict.failures):
            self._whole = not any(failure.hard for failure in verdict.failures)
            try:
                executor.close()
            except self.around.missing as missing:
                if self._whole:
                    raise NotRecorded(f"the end of the case: {missing}") from None
            except Unsupported as unsupported:
                executor.rulings.fail(self._withheld(self._at, unsupported))
            except DeviceLost as lost:
                executor.rulings.lose(lost, self._at)
            except Refused as refusal:
                executor.rulings.fail(_refused(self._at, refusal))
            except NoErrno as odd:
                executor.rulings.fail(_odd(self._at, odd))
            except PASSED_ON:
                raise
            except BaseException as error:
                executor.rulings.fail(_died(self._at, error))
        self._settle()
        if verdict.status == "pass":
            verdict.against = self.doubts.passed(executor.state)
        elif verdict.status == "fail":
            verdict.size = size_of(executor.state)
        taken = executor.state.taken
        self._give_back()
        self.doubts.failed(verdict.failures)
        if verdict.status == "fail":
            raise self._failed(case, taken)
        return verdict

    def _withheld(self, at: At, unsupported: Unsupported) -> Failure:
        """The failure for what a device offers, and then refuses as unsupported. Every need of the row is met: what the
        device lacks, it had to say before the row began."""
        assert self._case is not None
        needs = ", ".join(map(str, self._case.needs)) or "nothing that a device may lack"
        details = (
            ("needs", needs),
            ("device", self._info.device),
            ("fix", "take out of the device's capabilities what it does not carry out"),
        )
        return Failure("MKS2013", at, f"the device lacks what it offers: {unsupported}", details, True)

    def _settle(self) -> None:
        verdict = self.verdict
        if verdict.failures:
            verdict.status = "fail"
        elif verdict.known:
            verdict.status = "known"

    def _give_back(self) -> None:
        try:
            self._release()
        finally:
            self.around.ended()

    def _release(self) -> None:
        """Release the objects of the case. After every verdict except passed, and after a refusal that the case allows
        beside success, check whether the device is still healthy. The case fails if an object can't be released, or if
        the device is not healthy after a case without a failure. The following cases on such a device are blocked.
        """
        case, verdict = self._case, self.verdict
        cut_short = False
        if self._executor is not None:
            self._late = self._executor.state.untold(self._late)
            rulings = self._executor.rulings
            cut_short = rulings.over or rulings.admitted  # a dead device refuses too
        self._executor = None
        assert case is not None
        self.around.end(self._whole)
        try:
            self.device.release(healthy=verdict.status == "pass")
            events = self.device.events()
        except DeviceLost as lost:
            if not verdict.failures:
                verdict.failures.append(Failure(lost.code, case.at, lost.message, hard=True))
            events = []
        except PASSED_ON:
            raise
        except self.around.missing:
            raise
        except BaseException as error:
            raised = f"{type(error).__name__}: {error}"
            message = f"what the case made could not be given back: {raised}"
            verdict.failures.append(Failure("MKS2205", case.at, message, (("raised", raised),), True))
            events = []
        for event in events:
            if event.kind in DEVICE_EVENTS:  # those of QPs may be of their end
                message = f"an async event came while what the case made was given back: {event.kind}"
                verdict.failures.append(Failure("MKS2203", case.at, message, hard=True))
        self._settle()
        if verdict.status == "pass" and not cut_short:
            return
        verdict.unhealthy = self.around.symptom(
            lambda: health_check.symptom(self.device, self.deadline)
        )  # gives back once more what is left
        # Of the canary transfer: the case that follows has no part in them.
        health_check.forget_events(self.device, self.around.missing)
        if not verdict.unhealthy:
            return
        self._blocked = Blocked(case.id, verdict.unhealthy)
        if not verdict.failures:
            message = f"the device is not healthy after this case: {verdict.unhealthy}"
            verdict.failures.append(Failure("MKS2206", case.at, message, hard=True))
            self._settle()


def _refused(at: At, refusal: Refused) -> Failure:
    """The failure for a refusal that no claim can speak of."""
    try:
        return Failure("MKS2001", at, f"{refusal.call} was refused with {errno_name(errno_of(refusal))}", hard=True)
    except NoErrno as odd:
        return _odd(at, odd)


def _odd(at: At, odd: NoErrno) -> Failure:
    return Failure("MKS2007", at, f"the device failed: {odd}", hard=True)


def _told_by(device: Device) -> tuple[Capabilities, Info]:
    """What a device says of itself now: copies, since it may change the objects that it gave."""
    offers, info = device.capabilities(), device.info()
    return Capabilities(frozenset(offers.offers), dict(offers.values)), replace(info, versions=dict(info.versions))


def _died(at: At, error: BaseException) -> Failure:
    """The failure for an exception that is neither a refusal nor a missing capability."""
    trace = traceback.format_exception(type(error), error, error.__traceback__)
    lines = "".join(trace).rstrip().split("\n")
    details = [("raised", f"{type(error).__name__}: {error}"), ("traceback", lines[0])]
    details += [("", line) for line in lines[1:]]
    return Failure("MKS2007", at, f"the device failed: {type(error).__name__}: {error}", tuple(details), True)
