"""The personality `unkind` does what its members say."""

from __future__ import annotations

import subprocess
import sys

from tests.device.verbs import soft
from tests.plugin.project import ROOT


def test_what_it_does() -> None:
    """The tests of unkind.py, in a process of theirs."""
    soft.need()
    command = [sys.executable, "-m", "mkeyspec", "softnic", "exec", "--personality", "unkind", "--", sys.executable]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/softnic/unkind.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
