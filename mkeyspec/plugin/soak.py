"""`--soak MINUTES`: the same rows again and again, in another order each time, and a look for leaks (MKS2208).

Whole rounds are run, three at least: the first one fills pools and caches. A round after the first reports only rows
that go wrong and did not before, so that an hour's stream is that of one run.
"""

from __future__ import annotations

import time
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from mkeyspec.plugin.device_opening import OPEN
from mkeyspec.plugin.evidence import Port, begin_row, port_of
from mkeyspec.plugin.leaks import Leak, Measure, leaks, measure, shown
from mkeyspec.plugin.option_values import read_choice
from mkeyspec.plugin.quarantine import quarantined
from mkeyspec.plugin.session_failure import fail_session
from mkeyspec.plugin.watchdog import watched

NAME = "mkeyspec-soak"
LEAST = 3
"""Rounds."""
_LONGEST = 100_000.0
"""Minutes."""
_TOLD = ("memory", "file descriptors")


class Soak:
    """Replaces the loop that runs the tests."""

    def __init__(self, config: pytest.Config, minutes: float, seed: str) -> None:
        self.config = config
        self._seconds, self._seed = 60 * minutes, seed
        self._wrong: dict[str, int] = {}
        """By id: the round in which a row went wrong first."""
        self._measures: list[Measure] = []
        self._leaks: list[Leak] = []
        self._rows = 0
        self._blocked = ""
        """Why the device runs no row any more."""
        self._took = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._wrong.setdefault(report.nodeid, len(self._measures) + 1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if not session.items or (session.testsfailed and not self.config.option.continue_on_collection_errors):
            return None  # pytest's own says so
        began = time.monotonic()
        choice = read_choice(self.config.option.device)
        port = port_of(self.config.option.device)
        order = list(session.items)
        try:
            while len(self._measures) < LEAST or time.monotonic() - began < self._seconds:
                self._round(session, order)
                self._measures.append(self._measure(port, real=choice.kind == "nic"))
                Random(f"{self._seed} {len(self._measures)}").shuffle(order)
                if self._blocked or quarantined(self.config) is not None:
                    break
        finally:
            self._took = time.monotonic() - began
            state: Any = session._setupstate
            state.teardown_exact(None)  # the device is closed
        if len(self._measures) >= LEAST:
            self._leaks = list(leaks(self._measures))
        return True

    def _measure(self, port: Port | None, *, real: bool) -> Measure:
        """Without what the device has in its pools, of which there is more or less after each order."""
        device = self.config.stash.get(OPEN, None)
        if device is not None:
            with suppress(Exception), watched(self.config, "giving back its pools"):
                device.release(healthy=False)
                device.events()
        begin_row(self.config)  # its calls hold what the last row made
        return measure(port, real=real)

    def _round(self, session: pytest.Session, order: list[pytest.Item]) -> None:
        """What the session has open is not closed between rounds. The next row may be this one: it is not named."""
        rest: Any = session
        for item, following in zip(order, [*order[1:], rest], strict=True):
            if self._measures:
                self._again(item, following)
            else:
                self.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self._rows += 1
            if self._blocked:
                return
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)

    def _again(self, item: pytest.Item, following: pytest.Item) -> None:
        again: Any = item
        again._initrequest()  # its fixtures are those of a test that has not run
        reports = runtestprotocol(item, nextitem=following, log=False)
        blocked = next((report for report in reports if getattr(report, "blocked", None)), None)
        if blocked is not None:
            self._blocked = blocked.longrepr.reprcrash.message  # type: ignore[union-attr]
            return
        if any(report.failed for report in reports) and item.nodeid not in self._wrong:
            hook = self.config.hook
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            for report in reports:
                hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for leak in self._leaks:
            device = self.config.getoption("--device")
            text = f"error[MKS2208]: the soak found a leak: {leak}, in {self._rows} rows"
            name = f"MKS2208 {leak.name}"
            fail_session(session, f"{device}::{name}", (device, 0, name), text)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._measures:
            return
        first, last = self._measures[0].values, self._measures[-1].values
        grew = ", ".join(f"{name} {shown(name, first[name])} -> {shown(name, last[name])}" for name in _TOLD)
        rounds = f"{len(self._measures)} rounds, {self._rows} rows in {self._took / 60:.1f} min"
        leak = f"{len(self._leaks)} leaks" if len(self._leaks) > 1 else "a leak" if self._leaks else "no leak"
        if len(self._measures) < LEAST:
            leak = f"less than {LEAST} rounds, so leaks were not looked for"
        line = f"mkeyspec: soak: {rounds}, order by seed {self._seed}; after the first round: {grew}; {leak}"
        terminalreporter.write_line(line, red=bool(self._leaks))
        if self._blocked:
            terminalreporter.write_line(f"mkeyspec: soak: stopped in round {len(self._measures)}: {self._blocked}")
        for id, round in self._wrong.items():
            if round > 1 and "::MKS2208" not in id:
                terminalreporter.write_line(f"mkeyspec: soak: went wrong in round {round} and not before: {id}")


def add_options(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--soak",
        metavar="MINUTES",
        help="run the rows again and again for so long, in another order each time, and look for leaks at the end",
    )
    group.addoption("--soak-seed", metavar="S", default="0", help="what the orders of --soak follow from (default: 0)")


def register(config: pytest.Config) -> None:
    """Raises UsageError for what is no time, and for several processes."""
    option = config.option
    if option.soak is None or option.collectonly:
        return
    try:
        minutes = float(option.soak)
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes <= _LONGEST:
        raise pytest.UsageError(f"error[MKS0905]: --soak {option.soak}: say a number of minutes, as 30 or 0.5")
    if option.processes or getattr(option, "dist", "no") != "no":
        raise pytest.UsageError("error[MKS0905]: --soak: leaks are those of one process; leave -n out")
    config.pluginmanager.register(Soak(config, minutes, option.soak_seed), NAME)
