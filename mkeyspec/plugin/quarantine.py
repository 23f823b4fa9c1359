"""`--quarantine N`: after N rows that the device did not survive, the run gives it no other one (MKS2015).

A row that its process ended in counts (MKS2010, MKS2012), and one after which the device was not healthy. Opened again
the device may be healthy each time; a run of thousands of rows would take a deadline and an opening for each.
"""

from __future__ import annotations

import pytest

from mkeyspec.run.verdict import Blocked

USUAL = 3
"""Rows, unless the option says another number."""
OFF = "off"
NAME = "mkeyspec-quarantine"
WEDGED = "wedged"
"""An attribute of the report of a row after which the device was not healthy: what was wrong."""
_NAMED = 3
"""Rows that the message names."""


class Quarantined(Blocked):
    """The device has wedged too often: this row was not run."""

    def __init__(self, rows: dict[str, str]) -> None:
        (*_, (culprit, symptom)) = rows.items()
        first = [f"{id} ({why})" for id, why in list(rows.items())[:_NAMED]]
        more = [f"and {len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
        count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
        text = f"MKS2015: blocked: the device is in quarantine after {count}: {', '.join([*first, *more])}"
        super().__init__(culprit, symptom, text)


class Quarantine:
    """Registered in each process that runs rows, and in the one that gets all reports."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        lost = getattr(report, "lost", None)
        symptom = getattr(report, WEDGED, None)
        if lost:
            self._rows[report.nodeid] = f"lost, {lost}"
        elif symptom:
            self._rows[report.nodeid] = symptom

    @property
    def reason(self) -> Quarantined | None:
        """Why no other row is run; None while rows are."""
        return Quarantined(self._rows) if len(self._rows) >= self._most else None


def add_option(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--quarantine",
        metavar="N",
        help=f"stop giving rows to a device that N rows have wedged or crashed (default: {USUAL}; `{OFF}`: never)",
    )


def register(config: pytest.Config) -> None:
    """Raises UsageError for what is no number."""
    text = config.option.quarantine
    if text == OFF:
        return
    number = USUAL if text is None else int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    if number == 0:
        raise pytest.UsageError(f"error[MKS0905]: --quarantine {text}: say a number of rows from 1, or {OFF}")
    config.pluginmanager.register(Quarantine(number), NAME)


def quarantined(config: pytest.Config) -> Quarantined | None:
    """Why the device is given no other row; None if it is."""
    plugin: Quarantine | None = config.pluginmanager.get_plugin(NAME)
    return None if plugin is None else plugin.reason
