"""The result of a case as a pytest report: a failure shows the text of the rig, and no Python traceback."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.plugin.compilation import warnings
from mkeyspec.plugin.report_properties import case_properties, reopened, verdict_properties
from mkeyspec.plugin.unseen_departures import absence_properties
from mkeyspec.plugin.waivers import Waived, ruling_of
from mkeyspec.run.marks import case_of
from mkeyspec.run.surroundings import NotRecorded
from mkeyspec.run.verdict import Blocked, CaseFailed

if TYPE_CHECKING:
    from mkeyspec.run.rig import Rig
    from mkeyspec.run.verdict import Verdict

RIG: pytest.StashKey[Rig] = pytest.StashKey()
"""In the config's stash: the rig of this process, once there is one."""


BEGUN: pytest.StashKey[pytest.Item] = pytest.StashKey()
"""In the config's stash: the item that the rig was begun for last; its verdict is that item's."""


JUDGED: pytest.StashKey[bool] = pytest.StashKey()
"""In the stash of an item whose function has come to its end with the rig that it was begun with."""


CULPRITS: pytest.StashKey[dict[str, BaseException]] = pytest.StashKey()
"""In the config's stash: the ids of the items after which the device was not healthy any more, and what each raised."""


WAIVED = "waived"
"""Why a failure does not make the run fail: a waiver. Else it is the level of the case."""


_OURS: pytest.StashKey[list[tuple[str, object]]] = pytest.StashKey()
"""In an item's stash: the properties that its last run added."""


class Unfinished(Exception):
    """A test used the rig and did not call `rig.finish()`; or a row that mkeyspec's rig did not judge."""


_PASSED_BY = (
    "the row was not judged: a conftest.py or a plugin took the place of the test's call, or of what it raised; "
    "take that out, or run with mkeyspec run, which loads none"
)


class Unhealthy(Exception):
    """The device is not healthy after a test that ended with its own exception; `str()` names the symptom."""


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
        if case_of(getattr(item, "obj", None)) is not None and JUDGED not in item.stash:
            passed_by = Unfinished(f"error[MKS2011]: {_PASSED_BY}")
            return _failed(item, call, _excinfo(passed_by), passed_by)
        rig = _rig_of(item)
        if rig is None or rig.verdict.status != "known":
            return None
        return _known(item, call, rig)
    error = excinfo.value
    if isinstance(error, Blocked) and call.when == "setup":
        return _blocked(item, call, excinfo, error)
    if isinstance(error, Waived):
        return _skipped(item, call, str(error))
    if isinstance(error, Unfinished):
        return _failed(item, call, excinfo, error)
    rig = _rig_of(item)
    if rig is None:
        return None  # an ordinary test, whatever it raises
    if rig.blocked is not None:
        item.config.stash.setdefault(CULPRITS, {}).setdefault(rig.blocked.culprit, error)
    ruling = ruling_of(item)
    if isinstance(error, CaseFailed) and ruling is not None and ruling.excuses(error):
        return _excused(item, call, error, WAIVED, ruling.text)
    mark = case_of(getattr(item, "obj", None))
    if isinstance(error, CaseFailed) and mark is not None and mark.level != "mandatory" and error.is_judged:
        return _excused(item, call, error, mark.level, f"{error.failures[0].code} {error.failures[0].message}")
    if isinstance(error, (CaseFailed, Unfinished, Unhealthy)):
        if item.config.getoption("fulltrace", False):
            return None
        return _failed(item, call, excinfo, error)
    if isinstance(error, Unmet):
        return _skipped(item, call, str(error))
    if isinstance(error, NotRecorded) and rig.around.missing:
        return _not_judged(item, call, excinfo, error)
    return None


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> Any:
    """A blocked row has a count of its own."""
    if getattr(report, "blocked", None) and report.outcome == "failed":  # and not run again
        return "blocked", "B", ("BLOCKED", {"red": True})
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The compiler's warnings; blocked rows, once per case that caused them, so that they do not hide the others."""
    found = warnings(config)
    if found:
        terminalreporter.section("warnings of the compiler", yellow=True)
        for line in found:
            terminalreporter.write_line(line)
        terminalreporter.write_line("`mkeyspec check` shows them with their help; `allow` in the file hides one")
    not_mandatory = [
        (report.nodeid, report.waived)
        for report in terminalreporter.stats.get("xfailed", [])
        if getattr(report, "waived", None) and report.waived["why"] != WAIVED
    ]
    if not_mandatory:
        terminalreporter.section("failed, and not mandatory", yellow=True)
    for node, about in not_mandatory:
        terminalreporter.write_line(f"{about['why']}: {node}")
        terminalreporter.write_line(about["text"].rstrip() + "\n")
    counts = Counter(str(report.longrepr.reprcrash.message) for report in terminalreporter.stats.get("blocked", []))
    for culprit, symptom in reopened(config).items():
        terminalreporter.write_line(f"the device was opened again after {culprit} ({symptom})")
    if not counts:
        return
    terminalreporter.section("blocked", red=True)
    for message, number in counts.items():
        terminalreporter.write_line(f"{number} not run: {message}")


def _add_properties(item: pytest.Item) -> None:
    mark = case_of(getattr(item, "obj", None))
    if mark is None:
        return
    ours = case_properties(item.config, mark, item.nodeid)
    rig = _rig_of(item)
    if rig is not None:
        ours += verdict_properties(rig.verdict)
        ours += absence_properties(item, rig.verdict)
    # A row that is run again has those of its last run alone.
    for old in item.stash.get(_OURS, ()):
        item.user_properties.remove(old)
    item.user_properties += ours
    item.stash[_OURS] = ours


def rig_taken(item: pytest.Item) -> Rig | None:
    """The rig that a test uses; None if it uses none, or if its `rig` is another fixture."""
    taken = getattr(item, "funcargs", {}).get("rig")
    return taken if taken is not None and taken is item.config.stash.get(RIG, None) else None


def _rig_of(item: pytest.Item) -> Rig | None:
    stash = item.config.stash
    return stash[RIG] if stash.get(BEGUN, None) is item else None


def row_verdict(item: pytest.Item) -> Verdict | None:
    """The verdict of a row that was begun."""
    rig = _rig_of(item)
    return None if rig is None else rig.verdict


def _plain_report(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """The report without pytest's own traceback, which takes 60 ms per failure."""
    excinfo, call.excinfo = call.excinfo, None
    try:
        return pytest.TestReport.from_item_and_call(item, call)
    finally:
        call.excinfo = excinfo


def _failed(
    item: pytest.Item, call: pytest.CallInfo[None], excinfo: pytest.ExceptionInfo[BaseException], error: Exception
) -> pytest.TestReport:
    report = _plain_report(item, call)
    path, line = _place(item)
    summary = ""
    if isinstance(error, CaseFailed) and error.failures:
        first = error.failures[0]
        mark = case_of(getattr(item, "obj", None))
        source = mark.suite.source if mark is not None else path.name
        summary = f"{first.code} {first.message} ({source}:{first.at.line})"
        if item.path.suffix == ".mks":
            line = first.at.line
    report.outcome = "failed"
    report.longrepr = case_report(excinfo, path, line, summary or str(error))
    return report


def _excinfo(error: Exception) -> pytest.ExceptionInfo[BaseException]:
    def raising() -> None:
        raise error

    found = pytest.CallInfo.from_call(raising, "call").excinfo
    assert found is not None
    return found


def _blocked(
    item: pytest.Item, call: pytest.CallInfo[None], excinfo: pytest.ExceptionInfo[BaseException], error: Blocked
) -> pytest.TestReport:
    report = _plain_report(item, call)
    path, line = _place(item)
    report.outcome = "failed"
    report.longrepr = case_report(excinfo, path, line, str(error))
    report.__dict__.update(blocked=error.culprit)  # with what is set on a report it survives xdist
    return report


def blocked_report(item: pytest.Item, error: Blocked) -> pytest.TestReport:
    """Of a row that no process was given, in one report."""

    def raising() -> None:
        raise error

    call = pytest.CallInfo.from_call(raising, "setup")
    assert call.excinfo is not None
    report = _blocked(item, call, call.excinfo, error)
    report.when = "teardown"  # its last
    return report


def _skipped(item: pytest.Item, call: pytest.CallInfo[None], reason: str) -> pytest.TestReport:
    report = _plain_report(item, call)
    path, line = _place(item)
    report.outcome = "skipped"
    report.longrepr = (str(path), line, f"Skipped: {reason}")
    report.__dict__.update(unmet=reason)
    return report


def _not_judged(
    item: pytest.Item, call: pytest.CallInfo[None], excinfo: pytest.ExceptionInfo[BaseException], error: NotRecorded
) -> pytest.TestReport:
    """A row of a bundle that can't be judged from it: an error, not a failure of the device."""
    report = _plain_report(item, call)
    report.outcome = "failed"
    report.longrepr = case_report(excinfo, *_place(item), f"error[MKS0954]: can't be judged from the bundle: {error}")
    report.__dict__.update(not_judged="MKS0954")
    return report


def _known(item: pytest.Item, call: pytest.CallInfo[None], rig: Rig) -> pytest.TestReport:
    """A known departure from the pages: expected, but not a pass."""
    report = _plain_report(item, call)
    path, line = _place(item)
    listed = rig.expectations.departures
    seen = [f"{id}: {listed[id][1]}" if id in listed else id for id in rig.verdict.known]
    reason = f"known: {'; '.join(seen)}"
    report.outcome = "skipped"
    report.longrepr = (str(path), line, reason)
    report.wasxfail = reason
    report.__dict__.update(known=", ".join(rig.verdict.known))
    return report


def _excused(
    item: pytest.Item, call: pytest.CallInfo[None], error: CaseFailed, why: str, text: str
) -> pytest.TestReport:
    """A failure that a waiver is for, or of a case that is not mandatory: no pass, and the run does not fail. The
    stream of results keeps its text."""
    report = _plain_report(item, call)
    path, line = _place(item)
    reason = f"{why}: {text}"
    report.outcome = "skipped"
    report.longrepr = (str(path), line, reason)
    report.wasxfail = reason
    report.__dict__.update(waived={"code": error.failures[0].code, "text": str(error), "why": why})
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
