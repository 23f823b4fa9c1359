"""Runs tests against a mutant in a process that has imported nothing of mkeyspec: for what runs at import.

It also judges again what survived the quick way, whose tests saw values that were made before the mutant was there.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from time import process_time
from typing import Any

import pytest

from tests.mutants import reach, swap
from tests.mutants.child import Died, TimedOut, alarm, forked
from tests.mutants.mutant import ROOT, Mutant, Source

SECONDS = 10.0
"""Processor time of tests for one mutant."""
LONGEST = 20.0
"""Processor time beside that, for imports and the collection."""
DEADLINE = 300.0
"""Seconds in which they must end, whatever else this machine does."""
QUIET = ["-q", "-x", "--no-header", "--assert=plain", "-p", "no:cacheprovider"]
"""pytest would import what it rewrites by a finder of its own."""
LIBRARIES = (
    "numpy",
    "lark",
    "jinja2",
    "cryptography",
    "hypothesis",
    "fastcrc",
    "awscrt.checksums",
    "execnet",
    "zstandard",
)
"""Imported once, before the processes are forked."""


def prepare() -> None:
    for name in LIBRARIES:
        __import__(name)


class Budget:
    """A plugin of pytest: `first` come first, and so many seconds of tests are enough."""

    def __init__(self, first: Sequence[str]) -> None:
        self.first = {name: place for place, name in enumerate(first)}
        self.ends: float | None = None
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.first.get(item.nodeid, len(self.first)))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        if self.ends is None:
            self.ends = process_time() + SECONDS
        elif process_time() > self.ends:
            pytest.exit("enough", 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def judged(mutant: Mutant, tests: Sequence[str], first: Sequence[str] = ()) -> tuple[str, str]:
    """`killed`, `timed out` or `survived`, and by what. `first`: the ids of tests that are likely to fail."""
    try:
        killer = forked(partial(_run, mutant, tests, first), DEADLINE)
    except TimedOut as how:
        return "timed out", str(how)
    except Died:
        return "killed", "the process ended"
    return ("killed", killer) if killer else ("survived", f"{SECONDS:.0f} s of its tests pass")


def _run(mutant: Mutant, tests: Sequence[str], first: Sequence[str]) -> str:
    silent()
    alarm(SECONDS + LONGEST)
    path = str(ROOT / mutant.module)
    finder: Any = swap.Finder(swap.module_name(mutant.module), path, swap.compiled(path, mutant.code))
    sys.meta_path.insert(0, finder)
    budget = Budget(first)
    code = pytest.main([*QUIET, *tests], plugins=[budget])
    if budget.failed:
        return budget.failed
    return "" if code == 0 else f"pytest ends with {code}"


def reached_at_import(mutants: Sequence[tuple[int, Mutant]], tests: Sequence[str]) -> set[int] | None:
    """Which of them run while the tests are imported and collected; None if they can't be collected."""
    try:
        found = forked(partial(_collect, mutants, tests), DEADLINE)
    except (TimedOut, Died):
        return None
    return None if found is None else set(found)


def _collect(mutants: Sequence[tuple[int, Mutant]], tests: Sequence[str]) -> list[int] | None:
    silent()
    now: set[int] = set()
    setattr(builtins, reach.NOTE, now.add)
    for module in {mutant.module for _, mutant in mutants}:
        some = [(number, mutant) for number, mutant in mutants if mutant.module == module]
        path = str(ROOT / module)
        code = reach.probed(Source(module).text, path, some)
        finder: Any = swap.Finder(swap.module_name(module), path, code)
        sys.meta_path.insert(0, finder)
    return sorted(now) if pytest.main([*QUIET, "--collect-only", *tests]) == 0 else None


def silent() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            os.dup2(nowhere, stream)
