"""pytest's JUnit report, written completely or not at all. If it can't be written, failures are still shown."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.files.unwritable import Unwritable

if TYPE_CHECKING:
    from _pytest.junitxml import LogXML
else:
    try:  # its place is private: where it is not, pytest's own report stays as it is
        from _pytest.junitxml import LogXML
    except ImportError:
        LogXML = object


class Report(LogXML):
    """Replaces pytest's own report class, with the same content."""

    unwritable: Unwritable | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # of plugins that run a failed test again
            return  # no verdict; it would be an element without one, which reads as passed
        super().pytest_runtest_logreport(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:  # type: ignore[override]  # pluggy gives what is named
        """An error here would end pytest before it has shown any failure."""
        place = Path(self.logfile)
        whole = place.with_name(f".{place.name}.{os.getpid()}") if place.is_file() or not place.exists() else place
        self.logfile = str(whole)
        try:
            super().pytest_sessionfinish()
            if whole != place:
                whole.replace(place)
        except OSError as error:
            self.unwritable = Unwritable(place, error, "--junit")
            if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
            if whole != place:
                with contextlib.suppress(OSError):
                    whole.unlink(missing_ok=True)
        finally:
            self.logfile = str(place)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if self.unwritable is None:
            super().pytest_terminal_summary(terminalreporter, config)
        else:
            terminalreporter.write_line(str(self.unwritable), red=True)


def take_over(config: pytest.Config) -> None:
    """At the start of a session."""
    xml = report_of(config)
    if xml is not None and type(xml) is LogXML:
        config.pluginmanager.unregister(xml)
        xml.__class__ = Report
        config.pluginmanager.register(xml)


def report_of(config: pytest.Config) -> Any:
    """pytest's own JUnit report, if there is one; its place is private, so do without where it is not."""
    try:
        from _pytest.junitxml import xml_key
    except ImportError:
        return None
    return config.stash.get(xml_key, None)
