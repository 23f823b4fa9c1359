"""`--require NAME`: a capability that the device must have.

Rows that need it and lack it fail (MKS2009). A session in which no row needs it is not a success either.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mkeyspec.plugin.row_report import ATTRIBUTE


class Required:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self._lacking: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        device = (getattr(report, ATTRIBUTE, None) or {}).get("device")
        if device is not None:
            self._lacking.update(dict.fromkeys(name for name in self.names if name not in device["offers"]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._lacking and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._lacking:
            names = ", ".join(self._lacking)
            terminalreporter.write_line(f"error[MKS2009]: the device lacks {names}, which --require names", red=True)
