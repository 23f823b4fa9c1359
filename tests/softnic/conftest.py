"""The library of the software NIC, plain and with sanitizers."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from mkeyspec.device.soft import softnic

SOURCES = Path(__file__).resolve().parents[2] / "softnic"


def _absent(reason: str) -> NoReturn:
    pytest.skip(reason)


@pytest.fixture(scope="session")
def library() -> Path:
    return softnic.library() or _absent(softnic.missing() or "no library")


@pytest.fixture(scope="session")
def sanitized() -> str:
    """What to preload for AddressSanitizer and UBSan: their libraries, then ours."""
    if not shutil.which("gcc") or not shutil.which("make"):
        _absent("no gcc and make to build with sanitizers")
    said = [
        subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], capture_output=True, text=True)
        for name in ("asan", "ubsan")
    ]
    runtimes = [run.stdout.strip() for run in said]
    if not all(Path(runtime).is_absolute() for runtime in runtimes):
        _absent("gcc has no sanitizer libraries: apt-get install libasan8 libubsan1")
    (SOURCES / "build").mkdir(exist_ok=True)
    with (SOURCES / "build" / "asan.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "-C", str(SOURCES), "asan", "CC=gcc"], check=True, capture_output=True)
    return " ".join([*runtimes, str(SOURCES / "build" / "asan" / softnic.NAME)])
