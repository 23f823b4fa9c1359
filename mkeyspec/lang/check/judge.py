"""A step under all rules."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.lang.check.rule import Broken, Spans
from mkeyspec.lang.check.world import World
from mkeyspec.lang.diagnostic import Diagnostics


def broken_by(world: World, step: plan.Step, spans: Spans) -> list[Broken]:
    """The rules that `step` breaks, or may break, in `world`; changes nothing."""
    return []


def judge(
    world: World, step: plan.Step, spans: Spans, diagnostics: Diagnostics, when_false: bool = False
) -> plan.Step:
    """Look, settle, lint, and let the step happen in `world`. Returns the step with its claim settled."""
    world.apply(step)
    return step
