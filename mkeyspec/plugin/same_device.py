"""Workers with devices that differ (MKS2014): the session fails.

What a device says of itself comes with the first report of its process; a worker of `mkeyspec run -n` says it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mkeyspec.plugin.row_report import ATTRIBUTE
from mkeyspec.plugin.session_failure import fail_session

NAME = "mkeyspec-same-device"


class SameDevice:
    """Registered in the process that gets all reports."""

    def __init__(self) -> None:
        self._first: tuple[str, dict[str, Any]] | None = None
        self._same: set[str] = set()
        """Workers whose device was the first one's, or is it."""
        self._texts: dict[str, str] = {}
        """By worker."""

    def is_other(self, about: dict[str, Any], worker: str) -> bool:
        """Whether the device of this worker is not the one that was told of first."""
        if self._first is None:
            self._first = worker, about
        first, known = self._first
        said = "; ".join(differences(known, about))
        if not said:
            self._same.add(worker)
        elif worker not in self._texts:
            again = ", when it is started again," if worker in self._same else ""
            before = "the one before" if worker == first else f"that of {first}"
            self._texts[worker] = f"error[MKS2014]: the device of worker {worker}{again} is not {before}: {said}"
        return bool(said)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        device = (getattr(report, ATTRIBUTE, None) or {}).get("device")
        worker = getattr(report, "worker_id", None)
        if device is not None and worker is not None:
            self.is_other(device, worker)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for worker, text in self._texts.items():
            fail_session(session, f"{worker}::MKS2014", (worker, 0, "MKS2014"), text)


def differences(known: dict[str, Any], about: dict[str, Any]) -> Iterator[str]:
    """What two devices say of themselves otherwise, of the second."""
    lacks, more = sorted({*known["offers"]} - {*about["offers"]}), sorted({*about["offers"]} - {*known["offers"]})
    if lacks:
        yield f"it lacks {', '.join(lacks)}"
    if more:
        yield f"it offers {', '.join(more)}, too"
    old, new = _named(known), _named(about)
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{name} {_shown(new.get(name))}, not {_shown(old.get(name))}"


def _named(about: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: about[name] for name in ("device", "firmware", "pci")},
        **about["versions"],
        **{f"device.{name}": value for name, value in about["values"].items()},
    }


def _shown(value: object) -> str:
    return "none" if value is None or value == "" else str(value)
