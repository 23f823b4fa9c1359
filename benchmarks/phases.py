"""A pytest plugin that appends to the file in $PHASES when each process of a session reached what, as JSON lines.

One line a process: its name (`gw0`, or `main`), and for each phase (wall, processor) in seconds since its start.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

_seen: dict[str, tuple[float, float]] = {}


def _note(phase: str) -> None:
    _seen[phase] = time.monotonic(), time.process_time()


def pytest_configure() -> None:
    _note("configured")


def pytest_collection_finish() -> None:
    _note("collected")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport() -> None:
    _seen.setdefault("first report", (time.monotonic(), time.process_time()))
    _note("last report")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    _note("end")
    line = json.dumps({"process": os.environ.get("PYTEST_XDIST_WORKER", "main"), **_seen})
    with Path(os.environ["PHASES"]).open("a") as file:
        file.write(line + "\n")
