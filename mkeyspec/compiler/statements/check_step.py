"""Checks a step against the rules of the man pages, in the state that the previous steps left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from mkeyspec import plan
from mkeyspec.compiler.check.claims import check_told, settle
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.rules import BrokenRule
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.check.unread_members import check_effect
from mkeyspec.compiler.statements.registry import record_of
from mkeyspec.diagnostics.diagnostic import Diagnostics


def broken_by(state: AbstractState, step: plan.Step, origin: Origin) -> list[BrokenRule]:
    """The rules that `step` breaks, or may break, in `state`; changes nothing."""
    record = record_of(step)
    if record is None or record.check is None:
        return []
    qp, peer = step.queue()
    context = Context(state, step, origin, state.qp(qp), peer)
    record.check(context, step)
    return context.found


def apply(state: AbstractState, step: plan.Step) -> None:
    """Change `state` to what it is after `step`. `accepted or rejected …` continues as if accepted."""
    record = record_of(step)
    if record is not None and record.effect is not None:
        record.effect(state, step)


def check_step(
    state: AbstractState, step: plan.Step, origin: Origin, diagnostics: Diagnostics, when_false: bool = False
) -> plan.Step:
    """Check, settle the claim, warn, and apply the step to `state`. Returns the step with its claim settled.

    `when_false`: the text has a claim, but its `when` is false in this row (then `step.claim` is empty).
    """
    broken = broken_by(state, step, origin) if check_effect(state, step, origin, diagnostics) else []
    claimed: plan.Claim | None = getattr(step, "claim", None)
    if claimed is not None and (broken or claimed):
        check_told(claimed, state.qp(step.queue()[0]).type, origin, step, diagnostics)
        claim = settle(broken, claimed, origin, step, diagnostics, when_false)
        if claim is not claimed:
            step = cast("plan.Step", replace(cast("Any", step), claim=claim))
    elif broken:
        settle(broken, (), origin, step, diagnostics)
    record = record_of(step)
    if record is not None and record.lint is not None:
        record.lint(state, step, origin, diagnostics)
    apply(state, step)
    return step
