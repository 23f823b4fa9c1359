"""A run in which every row was skipped has no result: its exit code is pytest's for no collected tests (5)."""

from __future__ import annotations

import pytest


class Judged:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self) -> None:
        self.verdicts = 0
        self.skipped_rows = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped_rows += hasattr(report, "unmet")
        elif report.when == "call" or report.failed:
            self.verdicts += 1

    @property
    def _nothing(self) -> bool:
        return self.skipped_rows > 0 and self.verdicts == 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._nothing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._nothing:
            terminalreporter.write_line(
                "mkeyspec: every row was skipped, so that no row came to a verdict", yellow=True
            )
