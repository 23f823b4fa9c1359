"""Departures that are listed for the device and that no row of a case shows (MKS2301).

A `known ID` without a value is not checked for each row, since some rows may follow the page. The controller checks
it at the end, for cases of which every row has run to its end, or is skipped for what the device lacks.
"""

from __future__ import annotations

import pytest

from mkeyspec.plugin.session_failure import fail_session
from mkeyspec.run.marks import case_of, row_count
from mkeyspec.run.verdict import Verdict


def absence_properties(item: pytest.Item, verdict: Verdict) -> list[tuple[str, object]]:
    """What the controller must know of a row that did not show a listed departure."""
    function = getattr(item, "obj", None)
    if not verdict.absent or case_of(function) is None:
        return []
    return [("absent", " ".join(verdict.absent)), ("rows", row_count(function))]


SHOWN = "mkeyspec_shown"
"""Attribute of a row's last report, which survives xdist and the journal: the departures that it showed. A report
without it is of a row that ended early, and may have shown more."""


class Absences:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.cases: dict[str, dict[str, frozenset[str] | None]] = {}
        """Of each case: its rows, by their ids, each with the departures that it showed; None if that is not known."""
        self.absent: dict[str, set[str]] = {}
        """Of each case: the departures that a row did not show."""
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
        before, now = rows.get(report.nodeid), getattr(report, SHOWN, None)
        rows[report.nodeid] = before if now is None else frozenset(now) | (before or frozenset())
        if absent:
            self.absent.setdefault(case, set()).update(absent)
            self.told.setdefault(case, (int(str(properties["rows"])), report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for case, (number, report) in self.told.items():
            rows = self.cases[case].values()
            shown = [one for one in rows if one is not None]
            if len(shown) == len(rows) >= number:  # more where another plugin made several of each
                for id in sorted(self.absent[case].difference(*shown)):
                    self._fail(session, case, id, report)

    def _fail(self, session: pytest.Session, case: str, id: str, report: pytest.TestReport) -> None:
        path, line, _ = report.location
        text = (
            f"{path}:{(line or 0) + 1}: error[MKS2301]: the device keeps to the page in every row of this case, "
            f"and an expectations file lists it for {id}\n    fix       take {id} out of the file"
        )
        fail_session(session, f"{case}::{id}", (path, line, id), text, "unseen")
