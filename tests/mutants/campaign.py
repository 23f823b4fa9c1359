"""Runs tests against mutants inside pytest, one forked process for each: the tests are collected once.

First a process runs all tests with a note at each mutant (`reach`). Then each mutant gets those that reach it, the
fastest first, until one fails.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants import reach, swap
from tests.mutants.child import Died, TimedOut, alarm, forked
from tests.mutants.mutant import ROOT, Mutant, Source

LONGEST = 1.5
"""Processor time of a test beside ten times what it takes without a mutant. It ends the process."""
PLAIN = 1800.0
"""Seconds that all tests may take once without a mutant."""
DEADLINE = 30.0
"""Seconds that all tests of a mutant may wait for, whatever else this machine does."""


@dataclass(slots=True)
class Found:
    """What became of mutants, by their number: `killed` says by what. `later` are those that can't be put in place,
    `unreached` those that no test reaches while it runs."""

    killed: dict[int, str] = field(default_factory=dict)
    timed_out: dict[int, str] = field(default_factory=dict)
    survived: dict[int, str] = field(default_factory=dict)
    later: list[int] = field(default_factory=list)
    unreached: list[int] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Tests that fail twice without a mutant."""
    seconds: float = 0.0
    tests: int = 0


@dataclass(slots=True)
class Plain:
    """A run without a mutant."""

    seconds: dict[int, float] = field(default_factory=dict)
    """By the place of a test that passed."""
    reached: dict[int, list[int]] = field(default_factory=dict)
    """Tests, by the number of a mutant."""
    broken: list[str] = field(default_factory=list)


class Campaign:
    """A plugin of pytest, which does this in place of running the tests."""

    def __init__(self, mutants: Sequence[Mutant], seconds: float) -> None:
        self.mutants, self.seconds = mutants, seconds
        self.found = Found()
        self.items: list[pytest.Item] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return False
        self.items = session.items
        found = self.found
        began = monotonic()
        pairs = {number: self._pairs(mutant) for number, mutant in enumerate(self.mutants)}
        found.later = [number for number, each in pairs.items() if each is None]
        functions = swap.Functions()
        plain = Plain(**forked(partial(self._plain, functions, [n for n in pairs if pairs[n] is not None]), PLAIN))
        plain.seconds = {int(place): took for place, took in plain.seconds.items()}
        plain.reached = {int(number): tests for number, tests in plain.reached.items()}
        found.broken = plain.broken
        found.seconds, found.tests = monotonic() - began, len(plain.seconds)
        for number, each in pairs.items():
            if each is not None:
                self._judge(number, each, functions, plain)
        return True

    def _pairs(self, mutant: Mutant) -> list[tuple[Any, Any]] | None:
        path = str(ROOT / mutant.module)
        return swap.changed(swap.compiled(path, Source(mutant.module).text), swap.compiled(path, mutant.code))

    def _plain(self, functions: swap.Functions, numbers: Sequence[int]) -> dict[str, Any]:
        now: set[int] = set()
        setattr(builtins, reach.NOTE, now.add)
        for module in {self.mutants[number].module for number in numbers}:
            path, text = str(ROOT / module), Source(module).text
            some = [(number, self.mutants[number]) for number in numbers if self.mutants[number].module == module]
            pairs = swap.changed(swap.compiled(path, text), reach.probed(text, path, some))
            for pair in pairs or []:
                functions.put([pair])
        result = Plain()
        for place, item in enumerate(self.items):
            now.clear()
            began = process_time()
            failed = _failed(item, _next(self.items, place))
            if failed:  # some wait, and this machine may be busy
                began = process_time()
                failed = _failed(item, _next(self.items, place))
            if failed:
                result.broken.append(f"{item.nodeid}: {failed}")
                continue
            result.seconds[place] = process_time() - began
            for number in now:
                result.reached.setdefault(number, []).append(place)
        return {name: getattr(result, name) for name in Plain.__slots__}

    def _judge(self, number: int, pairs: list[tuple[Any, Any]], functions: swap.Functions, plain: Plain) -> None:
        tests, total = [], 0.0
        for place in self._order(plain.reached.get(number, []), plain):
            total += plain.seconds[place]
            if total > self.seconds:
                break
            tests.append(place)
        if not tests:
            self.found.unreached.append(number)
            return
        try:
            killer = forked(partial(self._run, pairs, functions, tests, plain), DEADLINE + 10 * total)
        except TimedOut as how:
            self.found.timed_out[number] = str(how)
        except Died:
            self.found.killed[number] = "the process ended"
        else:
            if killer is None:
                self.found.later.append(number)
            elif killer:
                self.found.killed[number] = killer
            else:
                self.found.survived[number] = f"{len(tests)} tests that reach it pass"

    def _order(self, places: Sequence[int], plain: Plain) -> list[int]:
        """The fastest first; of each file one before the second of any."""
        turns: dict[Path, int] = {}
        keys: dict[int, tuple[int, float]] = {}
        for place in sorted(places, key=lambda place: plain.seconds[place]):
            turn = turns[self.items[place].path] = turns.get(self.items[place].path, 0) + 1
            keys[place] = (turn, plain.seconds[place])
        return sorted(places, key=lambda place: keys[place])

    def _run(
        self, pairs: list[tuple[Any, Any]], functions: swap.Functions, tests: Sequence[int], plain: Plain
    ) -> str | None:
        """The test that fails, or "". None if the mutant can't be put in place."""
        if not functions.put(pairs):
            return None
        items = [self.items[place] for place in tests]
        for place, item in enumerate(items):
            alarm(LONGEST + 10 * plain.seconds[tests[place]])
            if _failed(item, _next(items, place)):
                return item.nodeid
        return ""


def _next(items: Sequence[pytest.Item], place: int) -> pytest.Item | None:
    return items[place + 1] if place + 1 < len(items) else None


def _failed(item: pytest.Item, following: pytest.Item | None) -> str:
    """Which phase failed, and of what, in a line."""
    for report in runtestprotocol(item, nextitem=following, log=False):
        if report.failed:
            return f"{report.when}: {str(report.longrepr).strip().splitlines()[-1]}"
    return ""
