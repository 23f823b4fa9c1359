"""Carries out a row on the model, and gives for each step the calls that the rig made, and how it ruled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from mkeyspec import plan
from mkeyspec.abi.constants import ALWAYS_OFFERED
from mkeyspec.device import protocol
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import OFFERS, Profile
from mkeyspec.device.protocol import Unsupported
from mkeyspec.device.soft import lab_login
from mkeyspec.device.soft.personality import VARIABLE
from mkeyspec.plan import At
from mkeyspec.repro import calls
from mkeyspec.repro.recorder import Forced, Recorder
from mkeyspec.repro.symbol import Leaf, Symbol
from mkeyspec.run.buffer import Buffer
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.departures import Expectations
from mkeyspec.run.endpoint import End
from mkeyspec.run.executor import Executor
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.section import Section
from mkeyspec.run.verdict import Failure, Verdict
from mkeyspec.value.bytestring import ByteString

DEADLINE = 0.01
"""Longest wait for the model, in seconds: it has done all its work before a call returns."""


PERSONALITY = "bluefield3-wrapped"
"""Of the software NIC, whose credential and import KEK a program logs in with: they are public, a lab's are not."""


class Unsayable(Exception):
    """What a program of verbs alone can't do, or what this writer can't write; `str()` says what, `at` where."""

    def __init__(self, at: At, what: str) -> None:
        super().__init__(what)
        self.at = at


@dataclass(slots=True)
class Ruled:
    """An attempt of a step, and the claim it is held against."""

    attempt: Attempt
    claim: plan.Claim
    known: plan.Known | None


@dataclass(slots=True)
class Taken:
    """A step that was carried out. `step` None: the end of the case."""

    step: plan.Step | None
    calls: list[calls.Call] = field(default_factory=list)
    ruled: Ruled | None = None
    failures: list[Failure] = field(default_factory=list)
    came: bool = True
    """Of a step with a branch: whether its outcome is the model's."""
    quiet: bool = False
    """Whether the rig waited for a quiet time, which is no call."""


class _State(CaseState):
    """Tells the recorder how buffers are called, and that a number is read from one."""

    recorder: Recorder

    def buffer(self, name: str, at: At, side: protocol.Side, length: int, data: Any = None, **more: Any) -> Buffer:
        self.recorder.filling = name, data if isinstance(data, ByteString) else None
        return super().buffer(name, at, side, length, data, **more)

    def _number_at(self, subject: str, encoding: str, start: int) -> int:
        number = super()._number_at(subject, encoding, start)
        if subject.startswith("="):
            return Symbol(number, Leaf("snapshot", subject[1:], f"{encoding}@{start}"))
        buffer = self.wires[subject[1:]].buffer if subject.startswith("@") else self.buffers[subject]
        return Symbol(number, Leaf("number", self.recorder.memory_name(buffer.memory), f"{encoding}@{start}"))


def _without(profile: Profile, row: plan.Row) -> Profile:
    """A device that lacks what the row needs to be lacking."""
    method = "wrapped" if "crypto.wrapped" in row.needs else profile.import_method
    known = {name for name in OFFERS - ALWAYS_OFFERED if not name.startswith("crypto.")}
    lacked = [name for name in plan.lacked(row.needs) if name in known]
    return replace(profile, without=(*profile.without, *lacked), import_method=method)


class Trace:
    """A row that is carried out, step by step."""

    def __init__(self, row: plan.Row, id: str, at: At, profile: Profile) -> None:
        self.row = row
        model = Model(_without(profile, row))
        model.logins.lab = lab_login.of_environment({VARIABLE: PERSONALITY}) or model.logins.lab
        device = Recorder(model)
        self.recorder = device
        self.state = _State(device, profile, DEADLINE, id, at=at, isolated=True)
        self.state.recorder = device
        self.verdict = Verdict()
        self.executor = Executor(self.state, Expectations(), self.verdict)
        self._ruled: Ruled | None = None
        rule = self.executor.rulings.rule

        def noted(
            attempt: Attempt,
            claimed: plan.Claim,
            known: plan.Known | None,
            end: End | None = None,
            done: Section | None = None,
        ) -> bool:
            self._ruled = Ruled(attempt, claimed, known)
            return rule(attempt, claimed, known, end, done)

        self.executor.rulings.rule = noted  # type: ignore[method-assign]

    def steps(self, forced: dict[int, Forced] | None = None) -> Iterator[Taken]:
        """Each step in turn, while it can be carried out; then the end of the case."""
        force = forced or {}
        for number, step in enumerate(self.row.steps):
            yield self._take(step, force.get(number))
            if self.executor.rulings.over:
                return
        yield self.end()

    def _take(self, step: plan.Step, force: Forced | None) -> Taken:
        recorder, state = self.recorder, self.state
        before, quiet = len(self.verdict.failures), len(state.quiet)
        recorder.naming = str(getattr(step, "name", ""))
        if isinstance(step, (plan.Transmit, plan.Receive, plan.Post, plan.Recv, plan.Poll, plan.Await)):
            recorder.naming = "qp"
        self._ruled = None
        state.take_turn(step.at.turn)
        branch = getattr(step, "branch", None)
        came = branch is None or (branch.at in state.accepted) is branch.accepted
        recorder.force = force
        try:
            self.executor.take(step)
        except Unsupported as unsupported:  # the devices that know it differ in it
            raise Unsayable(step.at, str(unsupported)) from None
        return Taken(
            step, self._calls(), self._ruled, self.verdict.failures[before:], came, quiet=len(state.quiet) > quiet
        )

    def end(self) -> Taken:
        before = len(self.verdict.failures)
        self._ruled = None
        self.executor.close()
        return Taken(None, self._calls(), None, self.verdict.failures[before:])

    def _calls(self) -> list[calls.Call]:
        found, self.recorder.calls = self.recorder.calls, []
        came = {id(call.completion): call for call in found if isinstance(call, calls.Came)}
        for pair in self.state.pairs.values():
            for end in pair.ends:
                for due in reversed(end.arrived):
                    call = came.get(id(due.got))
                    if call is not None and not call.due:
                        call.due.append(due)
        return found
