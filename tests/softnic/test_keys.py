"""Programs register and free keys by the million; `python benchmarks/keys.py` does, this is its short form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.device.verbs import soft

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "keys.py"


def test_keys_are_recycled_and_not_soon() -> None:
    """Indexes stay small, the last 200 keys differ, and the process does not grow."""
    soft.need()
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--count", "20000"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["20000 memory regions", "20000 mkeys"]
