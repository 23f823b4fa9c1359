"""One line on the terminal while processes run rows: how many have ended, what went wrong, how long it takes still."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.plugin.registered import OURS
from mkeyspec.plugin.settings_defaults import reports_folder
from mkeyspec.report import place

_NAME = f"{OURS}progress"
_BETWEEN = 0.2
"""Seconds between two changes of the line."""
_EARLY = 1.0
"""Seconds after which the time that is left can be told."""
_LOOKED_AT = 2
"""Runs that the times of rows are taken from: the last ones on the same device."""


class Progress:
    """In place of pytest's letters."""

    def __init__(self, session: pytest.Session, seconds: dict[str, float]) -> None:
        """`seconds`: of rows by their ids, in earlier runs."""
        self._mean = sum(seconds.values()) / len(seconds) if seconds else 1.0
        self._seconds = seconds
        self._rows = len(session.items)
        self._whole = sum(self._weight(item.nodeid) for item in session.items)
        self._done = 0
        self._passed = 0.0
        self._wrong: dict[str, int] = {}
        self._began = time.monotonic()
        self._shown = 0.0

    @staticmethod
    @contextlib.contextmanager
    def over(session: pytest.Session) -> Iterator[None]:
        """While rows run, on a terminal that is not to show more or less."""
        config = session.config
        manager = config.pluginmanager
        if not session.items or not _wanted(config):
            yield
            return
        line = Progress(session, _seconds_before(config))
        manager.register(line, _NAME)
        try:
            yield
        finally:
            manager.unregister(line)
            line.clear()

    def _weight(self, id: str) -> float:
        return self._seconds.get(id, self._mean)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Generator[None, Any, Any]:
        """The count without its letter and its word."""
        category, _, word = yield
        if word and category not in ("passed", "skipped", "xfailed"):
            kind = "lost" if getattr(report, "lost", None) else "failed" if category == "error" else category
            self._wrong[kind] = self._wrong.get(kind, 0) + 1
        return category, "", ""

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._done += 1
        self._passed += self._weight(nodeid)
        now = time.monotonic()
        if now - self._shown >= _BETWEEN:
            self._shown = now
            self._write(self.text(now - self._began))

    def text(self, elapsed: float) -> str:
        """`812 of 3066 rows, 2 failed, 41 s left`."""
        parts = [f"{self._done} of {self._rows} rows", *(f"{n} {kind}" for kind, n in self._wrong.items())]
        if elapsed >= _EARLY and self._passed:
            parts.append(f"{_told(elapsed * max(0.0, self._whole - self._passed) / self._passed)} left")
        return ", ".join(parts)

    def _write(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:width]}\x1b[K", end="", flush=True)

    def clear(self) -> None:
        self._write("")


def _told(seconds: float) -> str:
    """`41 s`, `2 min 5 s`, `1 h 12 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _wanted(config: pytest.Config) -> bool:
    """The user asked neither for a line of each row nor for less than a letter."""
    terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    shown = config.pluginmanager.hasplugin("terminalreporter")
    return terminal and shown and config.option.verbose in (-1, 0) and config.getoption("capture") != "no"


def _seconds_before(config: pytest.Config) -> dict[str, float]:
    """What rows took on this device, by their ids."""
    own = Path(config.option.results or "")
    usual = own.name == place.FILE and place.is_run_name(own.parent.name)
    reports = own.parents[1] if usual else reports_folder(config)
    like = place.run_name(config.option.device).split("-", 2)[2].rpartition("-")[0]
    streams = [path for path in place.streams_in(reports) if path.parent.name != own.parent.name]
    alike = [path for path in streams if path.parent.name.split("-", 2)[2].rpartition("-")[0] == like]
    found: dict[str, float] = {}
    for path in alike[-_LOOKED_AT:]:
        with contextlib.suppress(OSError), path.open("rb") as lines:
            for line in lines:
                if line.startswith(b'{"kind":"result"'):
                    with contextlib.suppress(ValueError, KeyError, TypeError):
                        result = json.loads(line)
                        found[result["id"]] = float(result["seconds"])
    return found
