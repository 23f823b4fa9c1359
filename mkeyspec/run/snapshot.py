"""Bytes that a `let` of a case takes."""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec import plan
from mkeyspec.run import expectations, teardown_checks
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.extent import Extent
from mkeyspec.run.verdict import Failure


def take(state: CaseState, step: plan.Snapshot) -> Iterator[Failure]:
    """Take the current bytes as a value. They must be the expected ones, or bytes that a later statement may have
    written."""
    seen = expectations.look(state, step.observed)
    if seen.wire is None:
        for piece in seen.pieces:
            excused = Extent()
            excused.add_mask(piece.buffer, state.written.unseen(state, piece.buffer))
            changed = teardown_checks.changed(state, piece.buffer, piece.start, piece.length, excused)
            if changed is not None:
                yield changed
    state.snapshots[step.name] = seen.data.tobytes()
    seen.believe(seen.data)  # and so they stay, unless a statement names them
