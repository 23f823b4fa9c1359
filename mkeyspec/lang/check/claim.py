"""What is broken against what is claimed."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.lang.check.rule import Broken, Spans
from mkeyspec.lang.diagnostic import Diagnostics


def settle(
    broken: list[Broken],
    claim: plan.Claim,
    spans: Spans,
    step: plan.Step,
    diagnostics: Diagnostics,
    when_false: bool = False,
) -> plan.Claim:
    """The claim with its reason pinned. `when_false`: a claim stood there, but its `when` is false in this row."""
    return claim
