"""Departures that are listed for the device and that no row of a case shows: the list is a claim too (MKS2301).

A bare `known ID` is not held to each row, since some may keep to the page, so this is decided at the end, by the
controller, of the cases of which every row has run.
"""

from __future__ import annotations

from collections import Counter

import pytest

from mkeyspec.run.mark import case_of, row_count
from mkeyspec.run.verdict import Verdict


def absence_properties(item: pytest.Item, verdict: Verdict) -> list[tuple[str, object]]:
    """What the controller must know of a row that did not show a listed departure."""
    function = getattr(item, "obj", None)
    if not verdict.absent or case_of(function) is None:
        return []
    return [("absent", " ".join(verdict.absent)), ("rows", row_count(function))]


class Absences:
    """Registered where reports come together: not in a worker of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.cases: dict[str, tuple[int, Counter[str], pytest.TestReport]] = {}
        """Of each case: how many rows it has, how many of them did not show which departure, and one's report."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        properties = dict(report.user_properties)
        absent = properties.get("absent")
        if not isinstance(absent, str):
            return
        case = report.nodeid.split("[", 1)[0]
        _, counts, _ = self.cases.setdefault(case, (int(str(properties["rows"])), Counter(), report))
        counts.update(absent.split())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for case, (rows, counts, report) in self.cases.items():
            for id, absent in counts.items():
                if absent == rows:
                    self._fail(session, case, id, report)

    def _fail(self, session: pytest.Session, case: str, id: str, report: pytest.TestReport) -> None:
        session.testsfailed += 1
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        path, line, _ = report.location
        text = (
            f"{path}:{(line or 0) + 1}: error[MKS2301]: the device keeps to the page in every row of this case, "
            f"and an expectations file lists it for {id}\n    mend      take {id} out of the file"
        )
        failed = pytest.TestReport(
            nodeid=f"{case}::{id}",
            location=(path, line, id),
            keywords={},
            outcome="failed",
            longrepr=text,
            when="call",
        )
        self.config.hook.pytest_runtest_logreport(report=failed)
