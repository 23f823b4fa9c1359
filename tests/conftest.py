"""What all tests share: quick ones come first, and what this machine can't run is one list at the end.

With MKEYSPEC_REQUIRE_SOFT=1, as in .ci/run, nothing may be left out: a skipped test is a failed one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = os.environ.get("MKEYSPEC_REQUIRE_SOFT") == "1"

ORDER = (
    "reference", "value", "diagnostics", "syntax", "compiler", "ui", "emit", "run", "device", "docs", "softnic",
    "upstream", "plugin", "cli", "cases",
)  # fmt: skip
"""Folders by what a test in them takes; one that is not named comes before the last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: ORDER.index(name) if (name := _folder(item.path)) in ORDER else len(ORDER) - 1.5)


def _folder(path: Path) -> str:
    parts = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
    return parts[1] if len(parts) > 2 else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: MKEYSPEC_REQUIRE_SOFT=1, and this was left out: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The list of what was left out, by reason."""
    places: dict[str, Counter[str]] = {}
    for report in terminalreporter.stats.get("skipped", []):
        places.setdefault(_reason(report), Counter())[report.nodeid.split("::")[0]] += 1
    if not places:
        return
    number = sum(counts.total() for counts in places.values())
    terminalreporter.section(f"left out on this machine: {number}")
    for reason, counts in sorted(places.items(), key=lambda place: -place[1].total()):
        terminalreporter.write_line(f"{counts.total()} left out: {reason}")
        for place, count in sorted(counts.items()):
            terminalreporter.write_line(f"    {count:4} in {place}")
    terminalreporter.write_line("`.venv/bin/mkeyspec doctor` says what to install.")
