"""`--device-profile` in the last lines of a run: in what the device differs from the defaults."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from mkeyspec.device.profile.difference import differences

_WIDTH = 120
_BLANK = "\0"
"""In the place of a blank inside a point: a line is not broken there."""


class DevicePoints:
    """Registered in the process that gets all reports, not in a worker."""

    def __init__(self, file: str) -> None:
        self._file = file

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        found = differences(Path(self._file))
        if not found:
            return
        count = "1 point" if len(found) == 1 else f"{len(found)} points"
        terminalreporter.write_line(f"mkeyspec: {self._file}: the device differs from the defaults in {count}:")
        named = ", ".join(f"{one.point} = {one.value}".replace(" ", _BLANK) for one in found)
        for line in textwrap.wrap(named, _WIDTH - 4, break_long_words=False, break_on_hyphens=False):
            terminalreporter.write_line(f"    {line}".replace(_BLANK, " "))
