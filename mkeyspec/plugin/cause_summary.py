"""The last lines of a run in which several rows went wrong: by what causes. One defect is one line with its count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from mkeyspec.report.causes import causes_of
from mkeyspec.report.reader import Run, case_of
from mkeyspec.report.record import WRONG, Begin, Case, NearMiss, Result
from mkeyspec.report.rows import plain

_SHOWN = 10
"""Causes that are listed."""
_KEPT = WRONG | {"passed"}


class Causes:
    """Keeps the rows that went wrong or passed. Registered in the process that gets all reports, not in a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._run = Run(Path(), Begin(0, "", "", ""))

    def add(self, record: object) -> None:
        """A line of the stream. Of a row that is run again the last result counts; other tests have no causes."""
        if isinstance(record, Case):
            self._run.cases[record.case] = record
        elif isinstance(record, NearMiss):
            self._run.near_misses[record.name] = record.sentence
        elif isinstance(record, Result):
            self._run.results.pop(record.id, None)
            if record.verdict in _KEPT and case_of(record.id) in self._run.cases:
                self._run.results[record.id] = record

    def add_all(self, records: Iterable[object]) -> None:
        for record in records:
            self.add(record)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Iterator[None]:
        yield  # pytest's own summary
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and not reporter.no_summary:
            for line in self._lines():
                reporter.write_line(line)

    def _lines(self) -> Iterator[str]:
        """One row is its own cause; its failure was shown."""
        if sum(result.verdict in WRONG for result in self._run.results.values()) < 2:
            return
        causes = causes_of((self._run, result) for result in self._run.results.values())
        yield "mkeyspec: what went wrong, by cause"
        for cause in causes[:_SHOWN]:
            yield f"{len(cause.results):5}  {plain(cause.title)}"
            for line in cause.lines():
                yield f"       {plain(line)}"
        if len(causes) > _SHOWN:
            rest = sum(len(cause.results) for cause in causes[_SHOWN:])
            yield f"{rest:5}  by {len(causes) - _SHOWN} causes more; `mkeyspec report text` lists them"
