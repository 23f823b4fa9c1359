"""A call that never comes back: the process beside it ends it, and says in what."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.plugin.project import ROOT

LIMIT = 1.0
START = f"""
import ctypes, os, signal, sys, time
from mkeyspec.plugin.watchdog_process import Guard
guard = Guard({LIMIT}, 2)
"""
HANG = "ctypes.PyDLL(None).pause()"
"""As pyverbs calls: the interpreter's lock is held, so no thread of Python and no handler of a signal runs."""


def start(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START + program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(program: str) -> tuple[int, str, float]:
    """(exit code, stderr, seconds)"""
    started = time.monotonic()
    process = start(program)
    said = process.communicate(timeout=30)[1]
    return process.returncode, said, time.monotonic() - started


def test_what_hangs_is_ended_and_named() -> None:
    code, said, seconds = run(f"guard.begin('in a.mks::one')\nguard.begin('in a.mks::two[n=é]')\n{HANG}")
    assert code == -signal.SIGABRT
    (line,) = said.strip().splitlines()
    assert line.startswith("mkeyspec: error[MKS2010]: the device did not come back from a call within 1 s: ")
    assert "in a.mks::two[n=é]; process " in line
    assert seconds < 15


def test_the_line_that_called_follows() -> None:
    code, said, _ = run(f"import faulthandler\nfaulthandler.enable()\nguard.begin('x')\n{HANG}")
    assert code == -signal.SIGABRT
    assert 'File "<string>", line 8 in <module>' in said


def test_one_that_ignores_it_is_killed() -> None:
    assert run(f"signal.signal(signal.SIGABRT, signal.SIG_IGN)\nguard.begin('x')\n{HANG}")[0] == -signal.SIGKILL


@pytest.mark.parametrize(
    "program",
    [
        "guard.begin('x')\nguard.end()\ntime.sleep(2)",
        "for n in range(8):\n    guard.begin(str(n))\n    time.sleep(0.25)",
        "guard.begin('x')\nguard.close()\nguard.begin('y')\ntime.sleep(2)",
        # A forked child has nothing to say here, and takes nothing away.
        "guard.begin('x')\nguard.end()\nif not os.fork():\n  guard.begin('y')\n  os._exit(0)\nos.wait()\ntime.sleep(2)",
    ],
)
def test_what_goes_on_is_left_alone(program: str) -> None:
    code, said, _ = run(program)
    assert (code, said) == (0, "")


def test_a_stopped_process_has_its_time() -> None:
    process = start("guard.begin('x')\nprint('begun', flush=True)\ntime.sleep(0.2)\nguard.end()")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    time.sleep(2 * LIMIT)
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=30)[1] == ""
    assert process.returncode == 0


def test_it_does_not_outlive_the_process() -> None:
    process = start("guard.begin('x')\nprint(guard._process.pid, flush=True)\ntime.sleep(60)")
    assert process.stdout is not None
    beside = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=30)
    stat = Path(f"/proc/{beside}/stat")
    end = time.monotonic() + 10
    while stat.exists() and " Z " not in stat.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert not stat.exists() or " Z " in stat.read_text()
