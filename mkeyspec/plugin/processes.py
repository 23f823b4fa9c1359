"""Rows in processes of their own: all rows with `mkeyspec run -n N`, in N processes; with `--isolate` the `isolated`
ones, each in one that runs nothing else.

`run` says `--isolate` for a device under a driver, where a file has the word. If an `isolated` row is selected then,
the others have a process of their own too, since this one must not have opened the device: what a driver has set up
does not go through a fork.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from mkeyspec.plugin import trial
from mkeyspec.plugin.journal import lose_process
from mkeyspec.plugin.option_values import read_choice
from mkeyspec.plugin.progress import Progress
from mkeyspec.plugin.registered import OURS
from mkeyspec.plugin.workers import Workers
from mkeyspec.run.marks import case_of

_NAME = f"{OURS}processes"


class Processes:
    """Replaces the loop that runs the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.number: int = config.option.processes
        self._lost: str | None = None
        """The device could not be tried: the process ended, with this message of its watchdog."""

    def pytest_sessionstart(self) -> None:
        """A device that can't be opened ends the session here, with one line."""
        if read_choice(self.config.option.device).kind not in ("model", "bundle"):
            self._lost = trial.of_device(self.config)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        if self.number:
            self.config.hook.pytest_xdist_setupnodes(config=self.config, specs=range(self.number))
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed and not self.config.option.continue_on_collection_errors:
            return None  # pytest's own says so
        if self._lost is not None:
            lose_process(self.config, self._lost)
            return True
        alone = _isolated(session) if self.config.option.isolate else []
        if not self.number:
            if not alone:
                return None  # pytest's own loop, in this process
            Workers(session, 1, alone).run()
            return True
        reporter: Any = self.config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            reporter.showfspath = False  # rows of several files are under way
        with Progress.over(session):
            Workers(session, self.number, alone).run()
        return True


def _isolated(session: pytest.Session) -> list[int]:
    """The places of the rows that have a process of their own."""
    marks = (case_of(getattr(item, "obj", None)) for item in session.items)
    return [place for place, mark in enumerate(marks) if mark is not None and mark.isolated]


def register(config: pytest.Config) -> None:
    if config.getoption("usepdb", False) or config.getoption("trace", False):
        if not config.option.processes:  # `isolated` rows are run in this process
            config.option.isolate = False
            return
        raise pytest.UsageError("error[MKS0905]: -n: a debugger needs the terminal for itself; leave -n out")
    config.pluginmanager.register(Processes(config), _NAME)
