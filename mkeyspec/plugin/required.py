"""`--require NAME`: a capability that the device must have.

Rows that need it and lack it fail (MKS2009). A session in which no row needs it fails by itself.
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
        self._told = False
        """A row has failed for it."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        device = (getattr(report, ATTRIBUTE, None) or {}).get("device")
        if device is not None:
            self._lacking.update(dict.fromkeys(name for name in self.names if name not in device["offers"]))
        self._told = self._told or (report.failed and "MKS2009" in report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._lacking or self._told:
            return
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        names = ", ".join(self._lacking)
        failed = pytest.TestReport(
            nodeid="--require::MKS2009",
            location=("--require", 0, "MKS2009"),
            keywords={},
            outcome="failed",
            longrepr=f"error[MKS2009]: the device lacks {names}, which --require names; no row that was run needs it",
            when="call",
        )
        failed.__dict__.update(of_case=True, verdict="error")  # not of a row
        session.config.hook.pytest_runtest_logreport(report=failed)
