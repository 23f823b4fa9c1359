"""A process that runs rows for the one that started it (`processes`), and sends it their reports.

It is forked when the rows are collected, so it has the rows, options and plugins of its parent. For plugins it is what
a worker of pytest-xdist is: it has `config.workerinput` and `config.workeroutput`, and no terminal.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import pytest

from mkeyspec.plugin.junitxml_option import report_of
from mkeyspec.plugin.messages import ALL, Message, framed
from mkeyspec.plugin.registered import OURS, register
from mkeyspec.plugin.report_properties import SESSION
from mkeyspec.plugin.row_report import TELL
from mkeyspec.plugin.watchdog import NAME
from mkeyspec.process.child import end_with


def serve(session: pytest.Session, given: dict[str, Any], orders: int, answers: int, parent: int) -> NoReturn:
    """Run the rows that `orders` names, and write what becomes of them to `answers`. `given`: the worker's input."""
    worker = Worker(session, orders, answers)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if end_with(parent):
            become_worker(session.config, given)
            session.config.pluginmanager.register(worker, f"{OURS}worker")
            session.config.stash[TELL] = worker.tell
            worker.work()
            worker.close()
    except BaseException:
        worker.tell(("internal", traceback.format_exc()))
    finally:
        with suppress(BaseException):
            worker.flush()
        with suppress(BaseException):
            sys.stdout.flush()  # with -s, what a test has printed
        os._exit(0)


def become_worker(config: pytest.Config, given: dict[str, Any]) -> None:
    """What the parent's plugins write and show is not for this process."""
    manager = config.pluginmanager
    config.workerinput = given  # type: ignore[attr-defined]  # as pytest-xdist names them
    config.workeroutput = {}  # type: ignore[attr-defined]
    os.environ["PYTEST_XDIST_WORKER"] = given["workerid"]
    os.environ["PYTEST_XDIST_WORKER_COUNT"] = str(given["workercount"])
    watched = manager.hasplugin(NAME)
    for name, _ in list(manager.list_name_plugin()):
        if name.startswith(OURS) or name == "terminalreporter":
            manager.unregister(name=name)
    xml = report_of(config)
    if xml is not None and manager.is_registered(xml):
        manager.unregister(xml)
    register(config, watched=watched)
    capture: Any = manager.getplugin("capturemanager")
    if capture is not None and capture.is_globally_capturing():
        # Its temporary files are shared with the parent, and so are the places in them.
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()


class Worker:
    """A plugin, in a worker."""

    def __init__(self, session: pytest.Session, orders: int, answers: int) -> None:
        self.session = session
        self._orders, self._answers = orders, answers
        self._rows: deque[int] = deque()
        self._line = b""
        self._all_told = False
        self._untold: list[Message] = []
        self._properties: dict[str, str] = {}

    def work(self) -> None:
        try:
            while self._next():
                self._run(self._rows.popleft())
                if self.session.shouldfail:  # by -x or --maxfail
                    break
        except pytest.exit.Exception as error:
            self.tell(("exit", error.msg, error.returncode))
        except KeyboardInterrupt as error:  # of a test
            self.tell(("interrupt", str(error)))

    def _run(self, row: int) -> None:
        items = self.session.items
        self.tell(("start", row))
        self.flush()
        following = items[self._rows[0]] if self._rows else None
        self.session.config.hook.pytest_runtest_protocol(item=items[row], nextitem=following)
        self.tell(("finish", row))
        if self.session.shouldstop:
            self.tell(("stop", str(self.session.shouldstop)))

    def close(self) -> None:
        """What is open for the session is closed here, if this process was stopped between two rows."""
        self.flush()
        config = self.session.config
        config.hook.pytest_sessionfinish(session=self.session, exitstatus=self.session.exitstatus)
        self.tell(("end", config.workeroutput))  # type: ignore[attr-defined]

    def _next(self) -> bool:
        """Whether there is another row to run. A row is run when the next one is known, or that there is none: what is
        open for the session would be closed after it otherwise."""
        while True:
            waits = not self._all_told and len(self._rows) < 2
            if waits:
                self.flush()
            if not select.select([self._orders], [], [], None if waits else 0)[0]:
                return bool(self._rows)
            data = os.read(self._orders, 1 << 16)
            if not data:  # stopped
                return False
            *lines, self._line = (self._line + data).split(b"\n")
            for line in lines:
                if line == ALL:
                    self._all_told = True
                else:
                    self._rows.extend(map(int, line.split()))

    def tell(self, message: Message) -> None:
        self._untold.append(message)

    def flush(self) -> None:
        told, self._untold = self._untold, []
        if told:
            data = memoryview(framed(told, self.session.config))
            while data:
                data = data[os.write(self._answers, data) :]

    # Hooks -----------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        values = self.session.config.stash.get(SESSION, {})
        if values != self._properties:
            self._properties = dict(values)
            self.tell(("session", self._properties))
        report.__dict__["worker_id"] = os.environ["PYTEST_XDIST_WORKER"]
        self.tell(("report", report))
        if report.failed:
            self.flush()

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Sequence[Any] | None
    ) -> None:
        about = (str(warning_message.message), warning_message.category, warning_message.filename)
        self.tell(("warning", *about, warning_message.lineno, when, nodeid, location))
