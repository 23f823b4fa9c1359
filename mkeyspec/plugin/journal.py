"""The results of a run so far, on disk line by line, so that there is a report if the process ends during a row.

`mkeyspec run` names the file (`--journal`); when pytest's process was killed or crashed, a second run of pytest reads
the reports from it (`--replay`) instead of running tests, and adds one for each row that had begun and not ended.
With xdist the controller adds one for each row in which a worker ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.plugin.junitxml_option import report_of
from mkeyspec.plugin.messages import restored
from mkeyspec.plugin.nodes import mark_of
from mkeyspec.plugin.report_properties import SESSION, case_properties
from mkeyspec.plugin.row_report import ATTRIBUTE, case_data, row_id

NOTE = "mkeyspec_note"
"""In a worker's input: the file for the last message of its watchdog."""


_HEAD = 3
"""Number of lines at the beginning that say how the run was started."""
_WHOLE, _CUT = b'["whole"]\n', b'["cut"]  \n'
"""The two forms of the first line. They have the same length, so the second can overwrite the first on a full
disk."""


class Journal:
    """Writes the journal. Registered in the process that gets all reports, not in a worker of xdist. If it can't be
    written, for example on a full disk, the run continues without it.
    """

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self.config = config
        self._file = -1
        self._told = False
        self._session: pytest.Session | None = None
        self._items = 0
        self._error: OSError | None = None
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            self._error = error
        self._put(_WHOLE)
        self._write("shown", _display(config))
        self._write("device", config.option.device)

    def _write(self, *line: object) -> None:
        self._put(json.dumps(line, default=str).encode() + b"\n")

    def _put(self, data: bytes) -> None:
        # Not buffered: what is written is in the kernel's hands, whatever becomes of this process.
        while data and self._error is None:
            try:
                data = data[os.write(self._file, data) :]
            except OSError as error:
                self._error = error
                with contextlib.suppress(OSError):
                    os.pwrite(self._file, _CUT, 0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._error is not None:
            why = f"the journal can't be written ({self._error.strerror}): a crash would have left no report"
            terminalreporter.write_line(f"mkeyspec: {why}", yellow=True)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        # Not when the collection has finished: a controller of xdist collects nothing itself, and is told the number.
        if self._session is not None and self._session.testscollected != self._items:
            self._items = self._session.testscollected
            self._write("items", self._items)
        self._write("start", nodeid, location)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup" and report.passed:
            return
        if not self._told and (values := self.config.stash.get(SESSION, None)):
            self._told = True
            self._write("session", values)
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        data.pop("node", None)  # of xdist
        self._write("report", data)

    def pytest_unconfigure(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._file)


_DISPLAY = ("verbose", "tbstyle", "color", "showcapture", "reportchars", "no_summary", "fulltrace")
"""Options that say what of its results a run shows."""


def _display(config: pytest.Config) -> dict[str, object]:
    return {name: getattr(config.option, name) for name in _DISPLAY if hasattr(config.option, name)}


def _display_as(config: pytest.Config, journal: Path) -> None:
    """Show results with the display options of the run that wrote the journal, wherever they were set."""
    shown: dict[str, object] = {}
    for line in journal.read_bytes().decode(errors="replace").splitlines()[:_HEAD]:
        with contextlib.suppress(ValueError):
            kind, *rest = json.loads(line)
            if kind == "shown":
                shown = rest[0]
    for name, value in shown.items():
        setattr(config.option, name, value)
    # What was shown once is not shown line by line again unless the user asks for it.
    config.option.verbose = config.option.verbose or -1


class Replay:
    """Replaces collection and the tests."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self.config = config
        self.path = path

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        session.items = []
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        hook = self.config.hook
        begun: dict[str, Any] = {}
        first, *lines = self.path.read_bytes().decode(errors="replace").splitlines() or [""]
        for line in lines:
            try:
                kind, *rest = json.loads(line)
            except ValueError:
                break  # the last line, cut
            if kind == "shown":
                continue  # read when this run was configured
            if kind == "device":
                self.config.option.device = rest[0]  # none is opened: for whoever asks what this was
            elif kind == "items":
                session.testscollected = rest[0]
            elif kind == "session":
                self.config.stash[SESSION] = rest[0]
            elif kind == "start":
                begun[rest[0]] = rest[1]
            else:
                report = restored(hook.pytest_report_from_serializable(config=self.config, data=rest[0]))
                if report.when == "teardown":
                    begun.pop(report.nodeid, None)
                hook.pytest_runtest_logreport(report=report)
        why = note_in(note_of(self.path))
        outside = "outside of any case,"
        if first != _WHOLE.decode().rstrip():
            begun.clear()  # they may have ended
            outside = "in a case that is not known, since the journal could not be written,"
        for nodeid, location in begun.items():
            report = pytest.TestReport(nodeid, tuple(location), {}, "failed", None, "teardown")
            lose(self.config, report, why)
            hook.pytest_runtest_logreport(report=report)
        if not begun:
            lose_process(self.config, why, outside)
        return True


# Lost rows -----------------------------------------------------------------------------------


def note_of(journal: Path) -> Path:
    return journal.with_suffix(".note")


def note_in(path: Path) -> str:
    """The last message of the watchdog; "" if there is none."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def lose(config: pytest.Config, report: pytest.TestReport, why: str) -> None:
    """Make `report` that of a row in which its process ended: an error with a code, and the row's properties."""
    code = "MKS2010" if why else "MKS2012"
    report.longrepr = why or f"error[{code}]: the process ended in the middle of this case, by a crash or from outside"
    report.__dict__.update(lost=code)
    report.when = "teardown"  # where JUnit takes properties
    mark = None
    with contextlib.suppress(Exception):  # whatever a project has in its place: the row is lost all the same
        mark = mark_of(config, report.nodeid)
    if mark is not None:
        report.user_properties = [*case_properties(config, mark, report.nodeid), ("lost", code)]
        report.__dict__[ATTRIBUTE] = {"id": row_id(mark, report.nodeid), "about": case_data(mark)}


def lose_process(config: pytest.Config, why: str, where: str = "outside of any case,") -> None:
    """A process ended outside of any row: while the device was opened or closed, before the first row or after the
    last."""
    code = "MKS2010" if why else "MKS2012"
    text = why or f"error[{code}]: the process ended {where} by a crash or from outside"
    report = pytest.CollectReport("the device" if why else "the process", "failed", text, [])
    report.__dict__.update(lost=code)
    config.hook.pytest_collectreport(report=report)


class Crashes:
    """In the process that has workers: the row in which one of them ended."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.folder = Path(tempfile.mkdtemp(prefix="mkeyspec-"))
        self._called: set[str] = set()
        """Rows of which the call has been reported."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        note = self.folder / str(node.gateway.id)
        note.unlink(missing_ok=True)  # of a worker in whose place this one is
        node.workerinput[NOTE] = str(note)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, report: pytest.TestReport) -> None:
        node: Any = report.node
        lose(node.config, report, note_in(self.folder / str(node.gateway.id)))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Iterator[None]:
        """pytest takes an error after the set-up for the second one of its row, and counts it as none."""
        xml = report_of(self.config)
        before = getattr(xml, "cnt_double_fail_tests", None)
        yield
        if getattr(report, "lost", None) and report.nodeid not in self._called and before is not None:
            xml.cnt_double_fail_tests = before
        elif report.when == "call":
            self._called.add(report.nodeid)

    def pytest_unconfigure(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def register(config: pytest.Config) -> None:
    """Register what the options select; a worker of xdist reports to its controller."""
    if hasattr(config, "workerinput"):
        return
    manager = config.pluginmanager
    if config.option.journal is not None:
        manager.register(Journal(config, Path(config.option.journal)), "mkeyspec-journal")
    if config.option.replay is not None:
        _display_as(config, Path(config.option.replay))
        manager.register(Replay(config, Path(config.option.replay)), "mkeyspec-replay")
    forked = config.option.processes or config.option.isolate
    if forked or getattr(config.option, "dist", "no") != "no":  # by --dist and --tx
        manager.register(Crashes(config), "mkeyspec-crashes")


def note_for(config: pytest.Config) -> Path | None:
    """The file for the last message of this process's watchdog."""
    told = getattr(config, "workerinput", {}).get(NOTE)
    if told is not None:
        return Path(told)
    journal = config.option.journal
    return note_of(Path(journal)) if journal is not None else None
