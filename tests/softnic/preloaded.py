"""A script of this directory in a process of its own under the software NIC."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mkeyspec.device.soft import softnic

HERE = Path(__file__).parent


def library() -> Path:
    """The library to preload; the test is skipped, with the reason, where it can't be built."""
    found = softnic.library()
    if found is None:
        pytest.skip(softnic.missing() or "no library")
    return found


def run(script: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: text for name, text in os.environ.items() if name not in ("LD_PRELOAD", "SYSFS_PATH")}
    return subprocess.run(
        [sys.executable, str(HERE / script), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**plain, "LD_PRELOAD": str(library()), **environment},
    )


def passes(script: str, *words: str, **environment: str) -> None:
    """Runs to its end without a word."""
    done = run(script, *words, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
