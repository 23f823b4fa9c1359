"""`record name = …`: an observation as the report has it."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.device.protocol import Unsupported
from mkeyspec.run import expectations
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.label import Unobserved

LONGEST_RECORD = 64
"""Bytes of a recorded byte string that are written out."""


def text(state: CaseState, step: plan.Record) -> str | None:
    """None if there is nothing to observe."""
    try:
        return _text(state, step)
    except (Unobserved, Unsupported):
        return None


def _text(state: CaseState, step: plan.Record) -> str | None:
    if isinstance(step.observed, plan.Wire):
        view = state.wires.get(step.observed.label or "")
        if view is None or not view.whole:
            return None
    if step.operator is not None:
        return "yes" if expectations.holds(state, step) else "no"
    if plan.is_bytes(step.observed):
        data = expectations.look(state, step.observed).data
        more = f"… ({len(data)} bytes)" if len(data) > LONGEST_RECORD else ""
        return data[:LONGEST_RECORD].tobytes().hex() + more
    return str(expectations.scalar(state, step.observed))
