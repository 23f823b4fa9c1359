"""A child process ends with its parent, also when that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = """\
import os, sys, time
from mkeyspec.process.child import end_with

parent = os.getpid()
child = os.fork()
if not child:
    print(end_with(parent), os.getpid(), flush=True)
    time.sleep(60)
os.wait()
"""


def is_running(pid: int) -> bool:
    """Whether the process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_child_ends_with_a_killed_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        marked, pid = parent.stdout.readline().split()
        assert marked == "True"
        assert is_running(int(pid))
        parent.kill()
    deadline = time.monotonic() + 10
    try:
        while is_running(int(pid)):
            assert time.monotonic() < deadline, "the child outlives its parent"
            time.sleep(0.01)
    finally:
        if is_running(int(pid)):
            os.kill(int(pid), signal.SIGKILL)


def test_a_parent_that_has_ended_is_seen() -> None:
    """The number of a process that is not the parent."""
    script = "import os; from mkeyspec.process.child import end_with; print(end_with(os.getpid()))"
    got = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert got.stdout == "False\n"
