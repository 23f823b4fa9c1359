"""Writes the stream of results (`--results`). Registered in the process that gets all reports, not in a worker.

The line of a row is written when its last report comes. `mkeyspec run` and `--results` begin the stream with the
session; pytest alone begins it with the first row of a case, so a session without cases leaves nothing.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.files.unwritable import Unwritable
from mkeyspec.plugin import evidence
from mkeyspec.plugin.cause_summary import Causes
from mkeyspec.plugin.provenance import begin_of, run_of
from mkeyspec.plugin.report_properties import reopened
from mkeyspec.plugin.row_report import ATTRIBUTE, RowReports
from mkeyspec.plugin.settings_defaults import reports_folder
from mkeyspec.plugin.shards import SPLIT
from mkeyspec.report import place
from mkeyspec.report.record import (
    Calls,
    Case,
    DeviceInfo,
    Difference,
    End,
    Items,
    NearMiss,
    Record,
    Result,
    Start,
    Suite,
    Verdict,
)
from mkeyspec.report.writer import Writer

OFF = "off"
_CODE = re.compile(r"(?:.{1,300}?:\d+: )?(?:error\[)?(MKS\d{4})\b")
"""At the beginning of a text; it may come after a place."""
_HARNESS = frozenset({"MKS2007", "MKS2011", "MKS2016"})
"""Codes of failures that are not of a verdict: an exception that no case describes, a test that judged nothing, a peer
that is gone."""
_RANK: tuple[Verdict, ...] = ("passed", "known", "skipped", "unseen", "blocked", "failed", "error", "lost")
"""If setup, call and teardown of an item differ, the last of these counts."""
_LOOKED_AT = frozenset({"failed", "error", "lost"})
"""Verdicts of rows after which the machine is looked at."""
_LONGEST_TEXT, _LONGEST_LINE = 1 << 16, 1000
"""Characters that are kept of a failure, and of its first line."""


class Stream:
    """`again`: the reports of a stream that was written before come once more; only what it lacks is added."""

    def __init__(self, config: pytest.Config, path: Path, *, named: bool, again: bool) -> None:
        """`named`: by an option, so that it must be written; otherwise a project that can't be written has none."""
        self.config = config
        self.named = named
        self.path = path
        self.again = again
        self._writer: Writer | None = None
        self._waiting: list[Record] = []
        self._items = 0
        self._session: pytest.Session | None = None
        self._began = time.monotonic()
        self._open: dict[str, Result] = {}
        """By node id: what the reports of an item said until now."""
        self._seconds: dict[str, float] = {}
        """By node id: of its reports that said nothing else."""
        self._told: set[str] = set()
        self._evidence = None if again else evidence.register(config)
        self._causes = Causes(config)
        config.pluginmanager.register(self._causes, "mkeyspec-causes")
        if named:
            self._begin()

    def _begin(self) -> None:
        self._writer = Writer(self.path, again=self.again)
        if self._writer.empty:
            usual = self.path.name == place.FILE and place.is_run_name(self.path.parent.name)
            name = self.path.parent.name if usual else run_of(self.config)
            self._writer.write(begin_of(self.config, name))
            if self._evidence is not None:
                self._writer.write(self._evidence.start())
        self._writer.write(*self._waiting)
        self._waiting.clear()

    def _write(self, *records: Record) -> None:
        self._causes.add_all(records)
        if self._writer is not None:
            self._writer.write(*records)
        else:
            self._waiting += records

    # Hooks -----------------------------------------------------------------------------------

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.again:
            return
        # A controller of pytest-xdist collects nothing itself; it is told the number.
        if self._session is not None and self._session.testscollected != self._items:
            self._items = self._session.testscollected
            self._write(Items(self._items, *self.config.stash.get(SPLIT, ())))
        self._write(Start(nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        written = not self.again or bool(getattr(report, "lost", None))
        if report.outcome == "passed" and report.when != "teardown":  # nothing but its duration
            self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
            return
        row = getattr(report, ATTRIBUTE, None)
        found = _result(report, self._seconds.pop(report.nodeid, 0.0) + report.duration)
        before = self._open.pop(report.nodeid, None)
        if before is not None:
            found = _joined(before, found)
        of_case = getattr(report, "of_case", False)
        if report.when != "teardown" and not of_case and not found.rerun:
            self._open[report.nodeid] = found
            return
        lines: list[Record] = []
        if row is not None:
            lines += self._about(row)
            found = _completed(found, row, report.nodeid)
            if self._writer is None and written:
                self._begin()
        if written:
            self._write(*lines, found)
            if self._evidence is not None and found.verdict in _LOOKED_AT:
                machine = self._evidence.failure(found.id)
                self._write(*([] if machine is None else [machine]))
        else:  # it is there; the causes are not: they are of all rows
            self._causes.add_all([*lines, found])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.failed:
            return
        lost = getattr(report, "lost", None)
        if self.again and not lost:
            return
        text = report.longreprtext
        code = str(lost) if lost else _code_in(text)
        id = report.nodeid or "the session"
        found = Result(id, "lost" if lost else "error", code=code, message=_first_line(text), text=text[:_LONGEST_TEXT])
        self._write(found)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._writer is None:
            return
        machine = None if self._evidence is None else self._evidence.end()
        self._write(*([] if machine is None else [machine]))
        self._write(End(round(time.monotonic() - self._began, 3), int(session.exitstatus), reopened(self.config)))
        self._writer.close()
        good = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._writer.error is not None and self.named and good:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._writer is not None and self._writer.error is not None:
            terminalreporter.write_line(str(Unwritable(self.path, self._writer.error, "--results")), red=True)

    def _about(self, row: dict[str, Any]) -> Iterable[Record]:
        about, device = row.get("about"), row.get("device")
        if row.get("calls"):
            yield Calls(row["id"], row["calls"])
        for name, sentence in row.get("near_misses", {}).items():
            if f"near {name}" not in self._told:
                self._told.add(f"near {name}")
                yield NearMiss(name, sentence)
        if device is not None and repr(device) not in self._told:
            self._told.add(repr(device))
            yield DeviceInfo(**device)
        if about is not None:
            for key, cls, name in (("suite", Suite, "file"), ("case", Case, "case")):
                mark = f"{key} {about[key][name]}"
                if mark not in self._told:
                    self._told.add(mark)
                    yield cls(**about[key])


# Verdicts --------------------------------------------------------------------------------------


def _result(report: pytest.TestReport, seconds: float) -> Result:
    """What one of the reports of an item says."""
    verdict, code, message, culprit, known = _verdict(report)
    text = "" if verdict in ("passed", "known", "skipped") else _text(report)[:_LONGEST_TEXT]
    text = str((getattr(report, "waived", None) or {}).get("text", text))[:_LONGEST_TEXT]
    return Result(
        report.nodeid,
        verdict,
        seconds=round(seconds, 6),
        code=code,
        message=message,
        text=text,
        known=known,
        culprit=culprit,
        rerun=report.outcome == "rerun",  # type: ignore[comparison-overlap]  # of plugins that run a failed test again
        worker=str(getattr(report, "worker_id", "")),
    )


def _text(report: pytest.TestReport) -> str:
    """Without the line about the worker that pytest puts before it."""
    text = report.longreprtext
    worker = getattr(report, "worker_id", None)
    return text.partition("\n")[2] if worker and text.startswith(f"[{worker}] ") else text


def _verdict(report: pytest.TestReport) -> tuple[Verdict, str, str, str, list[str]]:
    """Verdict, code, message, culprit, known departures."""
    if report.passed:
        return "passed", "", "", "", []
    known = str(getattr(report, "known", "") or "")
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        waived = getattr(report, "waived", None)
        if waived:
            return "known", waived["code"], reason, "", []
        if known:
            return "known", "", reason.removeprefix("known: "), "", known.split(", ")
        reason = str(getattr(report, "wasxfail", "") or reason)
        return "skipped", "", reason, "", []
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else _text(report)
    code, message = _code_in(text), _first_line(text)
    if getattr(report, "blocked", None):
        return "blocked", code or "MKS2008", message, str(report.blocked), []
    lost = getattr(report, "lost", None)
    if lost:
        return "lost", str(lost), message, "", []
    if getattr(report, "not_judged", ""):
        return "error", report.not_judged, message, "", []
    if getattr(report, "of_case", False):
        return getattr(report, "verdict", "unseen"), code, message, "", []
    ours = code.startswith("MKS2") and code not in _HARNESS
    return "failed" if ours or (not code and report.when == "call") else "error", code, message, "", []


def _joined(before: Result, after: Result) -> Result:
    """Two reports of one item."""
    first, second = (before, after) if _RANK.index(before.verdict) >= _RANK.index(after.verdict) else (after, before)
    return replace(
        first,
        seconds=round(first.seconds + second.seconds, 6),
        known=first.known or second.known,
        rerun=after.rerun,
        worker=after.worker or before.worker,
    )


_ROW = ("needs", "records", "known", "quiet", "not_run", "consequences", "against", "size", "waiver")


def _completed(found: Result, row: dict[str, Any], node: str) -> Result:
    """With what the row's process said of it."""
    values: dict[str, Any] = {name: row[name] for name in _ROW if name in row}
    values["id"] = row["id"]
    if row["id"] != node:
        values["node"] = node
    if found.verdict in ("failed", "error") and "code" in row:
        values.update({name: row[name] for name in ("code", "message", "line", "column", "looks_like") if name in row})
        if "difference" in row:
            values["difference"] = Difference(**row["difference"])
    elif found.verdict == "failed" and not found.code:
        values["verdict"] = "error"  # a case fails with a code; this is an exception of the rig
    return replace(found, **values)


def _code_in(text: str) -> str:
    found = _CODE.match(text)
    return "" if found is None else found[1]


def _first_line(text: str) -> str:
    """The first line that says something, without a code at its beginning."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return re.sub(r"^(error\[MKS\d{4}\]:|MKS\d{4}:?) *", "", line)[:_LONGEST_LINE]


# Options ---------------------------------------------------------------------------------------


def add_option(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--results",
        metavar="FILE",
        help="where the stream of results goes (default: reports/RUN/results.ndjson in the root directory; "
        f"`{OFF}`: nowhere)",
    )


def register(config: pytest.Config) -> None:
    """Register what writes the stream, and in each process what gives it the rows' own values."""
    option = config.option
    config.pluginmanager.register(RowReports(), "mkeyspec-rows")
    if hasattr(config, "workerinput") or option.collectonly or option.results == OFF:
        return
    named = option.results is not None
    path = (
        Path(config.invocation_params.dir, option.results)
        if named
        else reports_folder(config) / run_of(config) / place.FILE
    )
    again = getattr(option, "replay", None) is not None
    if not again and named:
        refuse_other_file(path)
    config.pluginmanager.register(Stream(config, path, named=named, again=again), "mkeyspec-results")


def refuse_other_file(path: Path) -> None:
    """Raises UsageError if a file that is not a stream would be overwritten."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as stream:
                head = stream.read(20)
            if head and not head.startswith(b'{"kind":"run"'):
                raise pytest.UsageError(
                    f"error[MKS0902]: {path} is there and is not a stream of results: name another file after "
                    "--results, or move it away"
                )
