"""What a case came to, as a pytest report: a failure shows the rig's text, and no Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.plugin.departure import absence_properties
from mkeyspec.plugin.property import case_properties, verdict_properties
from mkeyspec.run.mark import case_of
from mkeyspec.run.verdict import Blocked, CaseFailed, CaseSkipped

if TYPE_CHECKING:
    from mkeyspec.run.rig import Rig

RIG: pytest.StashKey[Rig] = pytest.StashKey()
"""In the config's stash: the rig of this process, once there is one."""


BEGUN: pytest.StashKey[pytest.Item] = pytest.StashKey()
"""In the config's stash: the item that the rig was begun for last; its verdict is that item's."""


class Unmet(Exception):
    """The device lacks what the case needs; `str()` gives every reason."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
    """Reports of cases. Everything else, and a defect of the rig itself, is left to pytest."""
    excinfo = call.excinfo
    if call.when == "teardown":
        # Only now, so that properties travel in one of a test's three reports.
        _add_properties(item)
    if excinfo is None:
        if call.when != "call":
            return None
        rig = _rig_of(item)
        if rig is None or rig.verdict.status != "known":
            return None
        return _known(item, call, rig.verdict.known)
    if _rig_of(item) is None:
        return None  # an ordinary test, whatever it raises
    error = excinfo.value
    if isinstance(error, CaseFailed):
        if item.config.getoption("fulltrace", False):
            return None
        return _failed(item, call, excinfo, error)
    if isinstance(error, (CaseSkipped, Unmet, Blocked)):
        return _skipped(item, call, str(error))
    return None


def _add_properties(item: pytest.Item) -> None:
    mark = case_of(getattr(item, "obj", None))
    if mark is None:
        return
    item.user_properties += case_properties(item.config, mark, item.nodeid)
    rig = _rig_of(item)
    if rig is not None:
        item.user_properties += verdict_properties(rig.verdict)
        item.user_properties += absence_properties(item, rig.verdict)


def _rig_of(item: pytest.Item) -> Rig | None:
    stash = item.config.stash
    return stash[RIG] if stash.get(BEGUN, None) is item else None


def _plain_report(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """The report as if nothing had been raised: making pytest's own text of a traceback takes 60 ms a failure."""
    excinfo, call.excinfo = call.excinfo, None
    try:
        return pytest.TestReport.from_item_and_call(item, call)
    finally:
        call.excinfo = excinfo


def _failed(
    item: pytest.Item, call: pytest.CallInfo[None], excinfo: pytest.ExceptionInfo[BaseException], error: CaseFailed
) -> pytest.TestReport:
    report = _plain_report(item, call)
    path, line = _place(item)
    summary = ""
    if error.failures:
        first = error.failures[0]
        mark = case_of(getattr(item, "obj", None))
        source = mark.suite.source if mark is not None else path.name
        summary = f"{first.code} {first.message} ({source}:{first.at.line})"
        if item.path.suffix == ".mks":
            line = first.at.line
    report.outcome = "failed"
    report.longrepr = case_report(excinfo, path, line, summary or str(error))
    return report


def _skipped(item: pytest.Item, call: pytest.CallInfo[None], reason: str) -> pytest.TestReport:
    report = _plain_report(item, call)
    path, line = _place(item)
    report.outcome = "skipped"
    report.longrepr = (str(path), line, f"Skipped: {reason}")
    return report


def _known(item: pytest.Item, call: pytest.CallInfo[None], known: list[str]) -> pytest.TestReport:
    """Exactly a stated departure from the pages: expected, and still not a pass."""
    report = _plain_report(item, call)
    path, line = _place(item)
    reason = f"known: {', '.join(known)}"
    report.outcome = "skipped"
    report.longrepr = (str(path), line, reason)
    report.wasxfail = reason
    return report


def _place(item: pytest.Item) -> tuple[Path, int]:
    path, line, _ = item.reportinfo()
    mark = case_of(getattr(item, "obj", None))
    if mark is not None and item.path.suffix == ".mks":
        return item.path, mark.at.line
    return Path(path), (line or 0) + 1


def case_report(excinfo: pytest.ExceptionInfo[BaseException], path: Path, line: int, summary: str) -> Any:
    """pytest's representation of a failure that is its text alone; `summary` is its line in the short summary.

    It is pytest's own class, since only that keeps its parts on the way through xdist.
    """
    report = excinfo.getrepr(style="value", chain=False)
    crash = report.reprcrash
    if crash is not None:
        crash.path, crash.lineno = str(path), line
        crash.message = summary.split("\n", 1)[0]
    return report
