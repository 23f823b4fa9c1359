"""Which near misses of the rows that failed are ruled out by rows that passed.

A near miss that a failure names is tried on the rows that come after it and pass: if by its rule a row would have
failed, the row speaks against it. Only near misses that were named are tried, and each until a few rows have spoken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from mkeyspec.lookslike.witness import ruled_out
from mkeyspec.run import likeness
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.verdict import Failure
from mkeyspec.value.live import NoValue

ENOUGH = 12
"""Rows that speak against a near miss, after which no more are asked, unless more rows were explained by it."""
MOST = 48
"""Near misses that are tried on one row."""
ASKED = 400
"""Rows on which one near miss is tried."""


class Doubts:
    """Of one run on one device."""

    def __init__(self) -> None:
        self._named: Counter[str] = Counter()
        """By near miss: how many rows it explains."""
        self._asked: Counter[str] = Counter()
        """On how many rows it was tried."""
        self._against: Counter[str] = Counter()
        """How many of these spoke against it."""

    def failed(self, failures: Iterable[Failure]) -> None:
        for failure in failures:
            for name, _ in failure.looks_like:
                if not name.startswith("bytes."):
                    self._named[name] += 1

    def passed(self, state: CaseState) -> list[str]:
        """The near misses by which this row, whose closing rule was applied, would have failed."""
        open = [name for name in self._named if self._is_open(name)][:MOST]
        if not open:
            return []
        stage = replace(likeness.stage_of(state), read=_unread)
        found = ruled_out(stage, open, state.asked, likeness.laid_down_by(state), ended=True)
        self._asked.update(open)
        self._against.update(found)
        return sorted(found)

    def _is_open(self, name: str) -> bool:
        return self._asked[name] < ASKED and self._against[name] < max(ENOUGH, self._named[name])


def _unread(subject: str, member: str) -> int | bytes:
    """Nothing more is asked of the device: a run that is judged again has no answer to that."""
    raise NoValue(f"{subject}.{member} is not read")
