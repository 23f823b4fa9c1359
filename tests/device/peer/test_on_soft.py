"""`--peer popen` on the software NIC: its two processes, the conformance kit, and runs that lose the peer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.device.verbs import soft
from tests.plugin.project import ROOT, Project, last_run


def on_soft(*arguments: str) -> str:
    soft.need()
    command = [sys.executable, "-m", "mkeyspec", "softnic", "exec", "--", sys.executable]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_two_processes() -> None:
    assert " passed" in on_soft("tests/device/peer/on_soft.py")


def test_the_kit() -> None:
    """Each sentence of the protocol holds of two processes."""
    assert " passed" in on_soft("--pyargs", "mkeyspec.device.kit", "--device", "soft", "--peer", "popen")


SUITE = """\
mks 1
suite "both ways"

case there
    verifies LAY-05
    for n in 1, 2, 3, 4
    memory m = counter(n * 64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""

LOSES = """\
import os, signal
from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.verbs.peer import process

STARTED = []
real = process.PeerProcess.__init__

def started(self, *given, **named):
    if STARTED and HOST == "dead":
        raise Unavailable("MKS0981", "the host is dead")
    real(self, *given, **named)
    STARTED.append(self)

process.PeerProcess.__init__ = started

def pytest_runtest_call(item):
    if "n=2" in item.nodeid:
        os.kill(STARTED[-1].about["pid"], signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("host", "more", "expected"),
    [
        ("alive", [], ["passed", "error", "passed", "passed"]),
        ("dead", ["-n", "1"], ["passed", "error", "blocked", "blocked"]),
    ],
)
def test_a_run_that_loses_the_peer(tmp_path: Path, host: str, more: list[str], expected: list[str]) -> None:
    """What ran is kept. The peer is started again; where it does not start, the rest is blocked."""
    soft.need()
    project = Project(tmp_path)
    project.put("cases/a.mks", SUITE)
    project.put("conftest.py", f"HOST = {host!r}\n{LOSES}")
    done = project.mkeyspec("run", "cases", "--device", "soft", "--peer", "popen", *more)
    assert done.code == 1, done.out + done.err
    results = list(last_run(project).results.values())
    assert [one.verdict for one in results] == expected
    assert results[1].code == "MKS2016"
    assert "the peer, this host, is lost: its process has ended" in results[1].message
    assert "Traceback" not in done.out + done.err
