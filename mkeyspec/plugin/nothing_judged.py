"""A run in which every row was skipped has no result: its exit code is pytest's for no collected tests (5). One that
skipped more rows than it judged says so, and what they needed: this happens with a driver that reports too little."""

from __future__ import annotations

from collections import Counter

import pytest

from mkeyspec.plugin.row_report import ATTRIBUTE

MOST_NAMED = 6
"""Needs that the line names."""


class Judged:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self) -> None:
        self.verdicts = 0
        self.skipped_rows = 0
        """For what the device lacks, or by a waiver."""
        self.skipped_by_others = 0
        """By a mark or a fixture of the project."""
        self._skipped: set[str] = set()
        """Ids of what was skipped, whether it is a row or not."""
        self.needs: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            unmet = getattr(report, "unmet", None)
            if unmet is None:
                self._skipped.add(report.nodeid)
            else:
                self.skipped_rows += 1
                self.needs.update(str(unmet).removeprefix("needs ").split(", "))
        elif report.when == "call" or report.failed:
            self.verdicts += 1
        if report.when == "teardown" and hasattr(report, ATTRIBUTE):
            self.skipped_by_others += report.nodeid in self._skipped

    @property
    def _nothing(self) -> bool:
        return self.skipped_rows + self.skipped_by_others > 0 and self.verdicts == 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._nothing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._nothing:
            terminalreporter.write_line(
                "mkeyspec: every row was skipped, so that no row came to a verdict", yellow=True
            )
        elif self.skipped_rows > self.verdicts:
            named = [f"{need} ({count})" for need, count in self.needs.most_common(MOST_NAMED)]
            more = [f"and {len(self.needs) - MOST_NAMED} more"] if len(self.needs) > MOST_NAMED else []
            rows = f"more rows were skipped ({self.skipped_rows}) than came to a verdict ({self.verdicts})"
            terminalreporter.write_line(
                f"mkeyspec: {rows}. They need {', '.join([*named, *more])}. Is the device what you take it for? "
                "`mkeyspec doctor --device NAME` lists what it offers",
                yellow=True,
            )
