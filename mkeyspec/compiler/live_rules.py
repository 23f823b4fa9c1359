"""The rules of the man pages at a run: for steps whose live numbers have become known.

The compiler leaves open what a live number decides. The rig walks the steps again, in order, with the numbers of its
device, and the same rules and claims are looked at once more. What is wrong then is the author's mistake.
"""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.rules import RULES
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.statements import held
from mkeyspec.compiler.statements.check_step import apply, broken_by, check_step
from mkeyspec.compiler.statements.row_state import HeldBack
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source, Span

_NOWHERE = Span(Source("", ""), 0, 0)


class LiveRules:
    """Of one row: its steps so far, and the state that they have left."""

    __slots__ = ("held_back", "state", "steps")

    def __init__(self) -> None:
        self.state = AbstractState()
        self.steps: list[plan.Step] = []
        self.held_back: dict[str | None, HeldBack] = {}

    def apply(self, state: AbstractState, step: plan.Step) -> None:
        apply(state, step)

    def take(self, step: plan.Step) -> str:
        """Apply the next step. What is wrong with it, in a sentence; "" if nothing is."""
        origin = Origin(_NOWHERE, _NOWHERE)
        step = _located(step, origin)
        claim: plan.Claim = getattr(step, "claim", ())
        named = {one.rule for one in plan.rejections(claim)} if plan.is_rejected(claim) else set()
        broken = {one.rule.name for one in broken_by(self.state, step, origin)} if named else set()
        found = Diagnostics()
        match step:
            case plan.Post():
                held.hold(self, step)
            case plan.Cancel() if not plan.is_rejected(claim):
                held.cancel(self, step.qp, step.id)
            case _:
                pass
        check_step(self.state, step, origin, found)
        self.steps.append(step)
        for name in named - broken:
            if name in RULES:
                title = RULES[name].title
                return f"nothing breaks the rule that the claimed refusal is for ({title})"
        # With this device's numbers two rules may be broken where the author had one in mind: refused is refused.
        errors = [error for error in found.errors if error.code != "MKS0501"]
        return errors[0].message if errors else ""


def _located(step: plan.Step, origin: Origin) -> plan.Step:
    """A copy with an origin, as the rules want it; a generated module's steps have none."""
    match step:
        case plan.Post():
            requests = tuple([replace(one, origin=origin) for one in step.requests])
            return replace(step, requests=requests, origin=origin)
        case _:
            return replace(step, origin=origin)
