"""Warnings (MKS06xx): what is allowed but hardly meant."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.lang.check.rule import Spans
from mkeyspec.lang.check.world import World
from mkeyspec.lang.diagnostic import Diagnostics
from mkeyspec.lang.tree import Span


def lint_step(world: World, step: plan.Step, spans: Spans, diagnostics: Diagnostics) -> None:
    """Warnings about one step, before it happens in `world`."""


def lint_case(
    rows: Sequence[plan.Row], verifies: tuple[str, ...], spans: Spans, span: Span, diagnostics: Diagnostics
) -> None:
    """Warnings about a whole case. `span`: of the case's name."""
