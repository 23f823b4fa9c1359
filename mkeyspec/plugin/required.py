"""`--require NAME`: a capability that the device must have.

Rows that need it and lack it fail (MKS2009). A session in which no row needs it fails by itself; so does one in which
a row fails for another name only.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mkeyspec.plugin.row_report import ATTRIBUTE
from mkeyspec.plugin.session_failure import fail_session


class Required:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self._lacking: dict[str, None] = {}
        self._failed: set[str] = set()
        """The ids of rows."""
        self._told: set[str] = set()
        """Those for which a row has failed."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)
        row = getattr(report, ATTRIBUTE, None) or {}  # of the row's last report
        device = row.get("device")
        if device is not None:
            self._lacking.update(dict.fromkeys(name for name in self.names if name not in device["offers"]))
        if row.get("code") == "MKS2009" and report.nodeid in self._failed:  # no waiver excuses it
            self._told.update(row["message"].removeprefix("the device lacks ").split(", "))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        names = ", ".join(name for name in self._lacking if name not in self._told)
        if not names:
            return
        text = f"error[MKS2009]: the device lacks {names}, which --require names; no row that was run needs it"
        fail_session(session, "--require::MKS2009", ("--require", 0, "MKS2009"), text)
