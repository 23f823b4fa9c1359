"""The search: each pass offers edits, an edit that still fails is kept, until no pass has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from mkeyspec import plan
from mkeyspec.shrink.edits import PASSES, Pass, applied, parsed, statements
from mkeyspec.shrink.judge import Judge


@dataclass(frozen=True, slots=True)
class Shrunk:
    """`text`: a file. `whole`: no edit of it fails any more; False: the time was over before all were tried."""

    text: str
    statements: int
    tried: int
    whole: bool


class _OverError(Exception):
    """The time is over."""


def shrink(text: str, judge: Judge, seconds: float, clock: Callable[[], float] = monotonic) -> Shrunk:
    """The smallest file that is found from `text`, which fails itself."""
    search = _Search(text, judge, clock() + seconds, clock)
    whole = True
    try:
        while search.once():
            pass
    except _OverError:
        whole = False
    return Shrunk(_tidy(search.text, judge), statements(parsed(search.text)), judge.tried, whole)


class _Search:
    def __init__(self, text: str, judge: Judge, end: float, clock: Callable[[], float]) -> None:
        self.text = text
        self._judge = judge
        self._end = end
        self._clock = clock
        self._failed: set[str] = set()
        """Texts that were tried and do not fail."""

    def once(self) -> bool:
        """Go through all passes; whether one of them found something."""
        before = self.text
        for one in PASSES:
            self._pass(one)
        return self.text != before

    def _pass(self, one: Pass) -> None:
        at = 0
        changes = list(one(parsed(self.text), self._row()))
        while at < len(changes):
            text = applied(self.text, changes[at])
            if text not in self._failed and self._try(text):
                # What was tried before this does not fail in the smaller text either, most often.
                changes = list(one(parsed(self.text), self._row()))
            else:
                at += 1

    def _try(self, text: str) -> bool:
        if self._clock() > self._end:
            raise _OverError
        if self._judge.fails(text):
            self.text = text
            return True
        self._failed.add(text)
        return False

    def _row(self) -> plan.Row:
        suite = self._judge.compiled(self.text).suite
        assert suite is not None
        return suite.cases[0].rows[0]


def _tidy(text: str, judge: Judge) -> str:
    """Without empty lines and blanks at ends of lines, but for the line before the case, if that still fails."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    tidy = "\n".join(f"\n{line}" if line.startswith("case ") else line for line in lines) + "\n"
    return tidy if judge.fails(tidy) else text
