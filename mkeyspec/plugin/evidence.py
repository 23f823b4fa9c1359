"""What must be taken when a row fails, for a ticket: its calls, the counters that changed, the kernel's new lines.

In each process that runs rows the calls of the row under way are kept in memory, and told if it fails. The process
that gets all reports looks at counters and at the kernel's log as the run begins, after each row that failed, and at
the end. A row that passes costs only the keeping of its calls. The model has none of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.protocol import Device
from mkeyspec.plugin.option_values import read_choice
from mkeyspec.report.record import Machine
from mkeyspec.ticket import counters
from mkeyspec.ticket.kernel_log import KernelLog
from mkeyspec.ticket.trace import Trace

TRACE: pytest.StashKey[Trace] = pytest.StashKey()
"""In the config's stash: the calls of the row under way, of this process."""
_WITHOUT = frozenset({"model", "late", "bundle"})
_OF_SOFT = "mlx5_0"
"""The name of the software NIC in its sysfs."""
NAME = "mkeyspec-evidence"
_MOST_ROWS = 200
"""Rows of a process whose calls are told, and rows of a run after which counters are looked at: of a run in which
everything fails, the first ones say what there is to say."""
_TOLD: pytest.StashKey[int] = pytest.StashKey()


def traced(config: pytest.Config, device: Device) -> Device:
    """A device whose calls are kept, row by row."""
    if read_choice(config.option.device).kind in _WITHOUT:
        return device
    return config.stash.setdefault(TRACE, Trace()).over(device)


def begin_row(config: pytest.Config) -> None:
    trace = config.stash.get(TRACE, None)
    if trace is not None:
        trace.begin()


def calls_of_failed(config: pytest.Config) -> list[str]:
    """The calls of the row under way, which has failed."""
    trace, told = config.stash.get(TRACE, None), config.stash.get(_TOLD, 0)
    if trace is None or told >= _MOST_ROWS:
        return []
    config.stash[_TOLD] = told + 1
    return trace.lines()


@dataclass(frozen=True, slots=True)
class Port:
    device: str
    number: int


def port_of(device: str) -> Port | None:
    """The port of what `--device` names; None of one that is in no sysfs."""
    choice = read_choice(device)
    if choice.kind == "nic":
        return Port(choice.name, choice.port)
    return Port(_OF_SOFT, 1) if choice.kind == "soft" else None


class Evidence:
    """In the process that gets all reports: `machine` at each of its looks."""

    def __init__(self, port: Port, *, expected: bool, sysfs: Path | None = None) -> None:
        """`expected`: a real NIC has counters, so that it is told if they can't be read."""
        self._port = port
        self._expected = expected
        self._sysfs = counters.SYSFS if sysfs is None else sysfs
        self._first: counters.Counters = counters.Counters()
        self._last = self._first
        self._since = ""
        self._log: KernelLog | None = None
        self._looks = 0
        self._warning = ""

    def start(self) -> Machine:
        self._log = KernelLog()
        self._first = self._last = counters.read(self._port.device, self._port.number, self._sysfs)
        unread = dict(self._first.unread)
        if unread and self._expected:
            name, why = next(iter(unread.items()))
            more = f", and {len(unread) - 1} more" if len(unread) > 1 else ""
            place = self._sysfs / self._port.device / name
            text = f"counters of {self._port.device} can't be read: {place}: {why}{more}; the run goes on without them"
            self._warning = f"mkeyspec: warning[MKS0990]: {text}"
        if self._log.why:
            unread["the kernel's log"] = self._log.why
        return Machine("start", unread=unread)

    def failure(self, row: str) -> Machine | None:
        """After a row that failed: what changed since the last look."""
        if self._looks >= _MOST_ROWS or self._log is None:
            return None
        self._looks += 1
        found = self._look("failure", row, self._last.values, self._since)
        self._since = row
        return found

    def end(self) -> Machine | None:
        """What changed in the whole run; the kernel's lines since the last look."""
        if self._log is None:
            return None
        found = self._look("end", "", self._first.values, "")
        self._log.close()
        return found if found.after or found.kernel else None

    def _look(self, at: str, row: str, before: Any, since: str) -> Machine:
        assert self._log is not None
        self._last = counters.read(self._port.device, self._port.number, self._sysfs)
        changed = list(counters.changes(before, self._last.values))
        return Machine(
            at,
            row=row,
            since=since,
            before={name: value for name, value, _ in changed},
            after={name: value for name, _, value in changed},
            kernel=self._log.new(),
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._warning:
            terminalreporter.write_line(self._warning, yellow=True)


def register(config: pytest.Config) -> Evidence | None:
    """In the process that gets all reports."""
    port = port_of(config.option.device)
    if port is None or config.option.collectonly:
        return None
    found = Evidence(port, expected=read_choice(config.option.device).kind == "nic")
    config.pluginmanager.register(found, NAME)
    return found
