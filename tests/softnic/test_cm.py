"""The connection manager, by commands to /dev/infiniband/rdma_cm alone; each scenario a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ALONE = (
    "connecting", "datagrams", "rejections", "refusals", "ends", "waiting", "moving", "full", "again", "many", "forks",
    "fuzz",
)  # fmt: skip


def run(preload: str | Path, scenario: str, temporary: Path, **more: str) -> None:
    ours = ("LD_PRELOAD", "SYSFS_PATH", "MKEYSPEC_SOFTNIC")
    plain = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [sys.executable, str(HERE / "cm_scenarios.py"), scenario],
        capture_output=True,
        text=True,
        timeout=120,
        env={**plain, "LD_PRELOAD": str(preload), "TMPDIR": str(temporary), "ASAN_OPTIONS": "detect_leaks=0", **more},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scenario", ALONE)
def test_scenario(library: Path, tmp_path: Path, scenario: str) -> None:
    run(library, scenario, tmp_path)


def test_another_process_is_killed(library: Path, tmp_path: Path) -> None:
    run(library, "killed", tmp_path, MKEYSPEC_SOFTNIC_FABRIC=uuid.uuid4().hex)


@pytest.mark.parametrize("scenario", ALONE)
def test_sanitized(sanitized: str, tmp_path: Path, scenario: str) -> None:
    run(sanitized, scenario, tmp_path)
