"""Departures that are listed for the device and that no row of a case shows (MKS2301).

A `known ID` without a value is not checked for each row, since some rows may follow the page. The controller checks
it at the end, for cases of which every row has run.
"""

from __future__ import annotations

import pytest

from mkeyspec.run.marks import case_of, row_count
from mkeyspec.run.verdict import Verdict


def absence_properties(item: pytest.Item, verdict: Verdict) -> list[tuple[str, object]]:
    """What the controller must know of a row that did not show a listed departure."""
    function = getattr(item, "obj", None)
    if not verdict.absent or case_of(function) is None:
        return []
    return [("absent", " ".join(verdict.absent)), ("rows", row_count(function))]


class Absences:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.cases: dict[str, dict[str, frozenset[str]]] = {}
        """Of each case: its rows that have run, by their ids, each with the departures that it never showed."""
        self.told: dict[str, tuple[int, pytest.TestReport]] = {}
        """Of each case in which a row did not show one: how many rows it has, and that row's report."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        properties = dict(report.user_properties)
        absent = frozenset(str(properties.get("absent", "")).split())
        file, _, name = report.nodeid.partition("::")  # a folder may be called `x[1]`
        case = f"{file}::{name.split('[', 1)[0]}"
        rows = self.cases.setdefault(case, {})
        # A row may run several times, as with --dist=each.
        rows[report.nodeid] = absent & rows.get(report.nodeid, absent)
        if absent:
            self.told.setdefault(case, (int(str(properties["rows"])), report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for case, (number, report) in self.told.items():
            rows = self.cases[case].values()
            if len(rows) >= number:  # more where another plugin made several of each
                for id in sorted(frozenset.intersection(*rows)):
                    self._fail(session, case, id, report)

    def _fail(self, session: pytest.Session, case: str, id: str, report: pytest.TestReport) -> None:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        path, line, _ = report.location
        text = (
            f"{path}:{(line or 0) + 1}: error[MKS2301]: the device keeps to the page in every row of this case, "
            f"and an expectations file lists it for {id}\n    fix       take {id} out of the file"
        )
        failed = pytest.TestReport(
            nodeid=f"{case}::{id}",
            location=(path, line, id),
            keywords={},
            outcome="failed",
            longrepr=text,
            when="call",
        )
        failed.__dict__.update(of_case=True)  # not of a row
        self.config.hook.pytest_runtest_logreport(report=failed)
