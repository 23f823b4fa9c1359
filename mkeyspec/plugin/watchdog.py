"""Ends a process that hangs in a call to a real driver, and names the case (MKS2010)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from mkeyspec.plugin.case_report import rig_taken
from mkeyspec.plugin.watchdog_process import Guard

NAME = "mkeyspec-watch"
DEADLINES, GRACE = 10, 10.0
"""Longest time between two steps or waits of a case: this number of deadlines, plus these seconds."""


class Watch:
    """Registered for every device except the model, where no call can hang."""

    def __init__(self, config: pytest.Config, note: Path | None) -> None:
        """`note`: the file for the last message, for the process that reports about this one."""
        self.device = config.getoption("--device")
        # pytest does not capture stderr at this point.
        self._out = os.dup(2)
        self._guard = Guard(DEADLINES * config.getoption("--deadline") + GRACE, self._out, note)

    @contextlib.contextmanager
    def over(self, what: str) -> Iterator[None]:
        self._guard.begin(what)
        try:
            yield
        finally:
            self._guard.end()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Watch only the case: other fixtures and tests may take any time."""
        rig = rig_taken(pyfuncitem)
        if rig is None:
            return (yield)
        what = f"in {pyfuncitem.nodeid}"
        rig.alive = lambda: self._guard.begin(what)
        try:
            with self.over(what):
                return (yield)
        finally:
            rig.alive = lambda: None

    def pytest_enter_pdb(self) -> None:
        """Suspend the watchdog: there is no limit of time in a debugger."""
        self._guard.close()

    def pytest_unconfigure(self) -> None:
        self._guard.close()
        os.close(self._out)


def watched(config: pytest.Config, done: str) -> contextlib.AbstractContextManager[None]:
    """Watches a call to the device that is not a step of a case; `done`: opened, closed, tested,
    asked what it is."""
    watch: Watch | None = config.pluginmanager.get_plugin(NAME)
    return contextlib.nullcontext() if watch is None else watch.over(f"while {watch.device} was {done}")
