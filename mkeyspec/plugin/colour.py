"""Failures of cases in colour, where pytest writes in colour: on a terminal, unless NO_COLOR is set, or by --color.

The colours are put in when all reports have come, so that no other report has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mkeyspec.report.colour import coloured

_CODE = "error[MKS"


class Colours:
    """Registered in the process that gets all reports, not in a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Iterator[None]:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.hasmarkup:
            for kind in ("failed", "error", "blocked"):
                for report in reporter.stats.get(kind, ()):
                    _colour(report.longrepr)
        yield


def _colour(longrepr: Any) -> None:
    """Colour a failure that has text of mkeyspec only. A traceback has pytest's colours."""
    entries: Any = getattr(getattr(longrepr, "reprtraceback", None), "reprentries", ())
    if len(entries) == 1 and any(_CODE in line for line in entries[0].lines[:1]):
        entries[0].lines[:] = [coloured(line) for line in entries[0].lines]
