"""`--device-profile` with a profile that was measured on another device than that of the run (MKS0958): a warning.

The profile's points may be right here too, so the verdicts count; but nobody has measured that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.device.profile.profile import load_measured
from mkeyspec.device.protocol import Info
from mkeyspec.plugin.row_report import ATTRIBUTE


class MeasuredElsewhere:
    """Registered in the process that gets all reports, not in a worker of xdist."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._measured = load_measured(Path(file))
        self._unlike: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        about = (getattr(report, ATTRIBUTE, None) or {}).get("device")
        if about is not None and self._measured is not None:
            unlike = self._measured.unlike(Info(about["device"], about["firmware"]))
            if unlike is not None:
                self._unlike[unlike] = None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for unlike in self._unlike:
            text = f"{self._file}: warning[MKS0958]: a profile of another device: {unlike}; calibrate this one"
            terminalreporter.write_line(text, yellow=True)
