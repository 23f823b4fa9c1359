"""What disturbs a whole run: calls that never come back, that end the process, a device that can't be closed.

A run that met one of these must not end with 0, and must name the row in which it happened.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.project import Done, Project

CASES = """\
mks 1
suite "five rows"

case copies
    verifies LAY-05, XCHK-02
    for n in 1, 2, 3, 4, 5
    memory m = framed(counter(n * 512), crc32(ones) every 512)
    mkey k { block_signature }
    configure k { layout list(m); signature { mem crc32(ones) every 512 } }
    transmit k by send
    expect wire == counter(n * 512)
    check k is ok
"""
CULPRIT = "copies[n=3]"
CONFTEST = """\
import os, signal, time
import pytest
from mkeyspec.device import select as choice
from mkeyspec.device.model.device import Model
from mkeyspec.plugin import journal, watchdog as watch

watch.GRACE, watch.DEADLINES = 1.0, 0

@pytest.hookimpl(trylast=True)  # --deadline is settled in the plugin's own
def pytest_configure(config):
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        return
    config.pluginmanager.register(watch.Watch(config, journal.note_for(config)), watch.NAME)

def hang():
    time.sleep(600)

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def crash():
    os.kill(os.getpid(), signal.SIGSEGV)

def leave():
    os._exit(0)

def fail():
    raise OSError(16, "Device or resource busy")

AT_ONCE = ("close", "info", "capabilities")

class Disturbed(Model):
    rows = 0

    def release(self, *, healthy):
        super().release(healthy=healthy)
        Disturbed.rows += 1

def disturb(name, what):
    method = getattr(Disturbed, name)

    def disturbed(self, *arguments, **options):
        if name in AT_ONCE or Disturbed.rows == 2:
            what()
        return method(self, *arguments, **options)

    setattr(Disturbed, name, disturbed)

choice.open_choice = lambda *arguments, **options: Disturbed(arguments[1])
"""


@pytest.fixture
def five(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    return project


def disturbed(project: Project, name: str, what: str, workers: list[str]) -> Done:
    project.put("conftest.py", f'{CONFTEST}\ndisturb("{name}", {what})\n')
    return project.mkeyspec("run", "cases", *workers)


@pytest.mark.parametrize(
    ("name", "what", "workers"),
    [
        ("post", "hang", 0),
        ("post", "hang", 1),
        ("release", "hang", 1),
        ("poll", "die", 1),
        ("poll", "crash", 1),
        ("mkey_check", "leave", 1),
    ],
)
def test_the_row_is_named(five: Project, name: str, what: str, workers: int) -> None:
    done = disturbed(five, name, what, ["-n", str(workers)] if workers else [])
    assert done.code not in (0, 3), done.out
    assert CULPRIT in done.out + done.err
    assert " 5 passed" not in done.out
    assert "MKS2010" in done.out if what == "hang" else "MKS2012" in done.out


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "processes"])
def test_a_device_that_cant_be_closed(five: Project, workers: list[str]) -> None:
    done = disturbed(five, "close", "fail", workers)
    assert done.code == 1, done.out
    assert "busy" in done.out + done.err


@pytest.mark.parametrize("workers", [[], ["-n", "1"], ["-n", "2"]], ids=" ".join)
def test_a_device_that_hangs_when_it_is_closed(five: Project, workers: list[str]) -> None:
    done = disturbed(five, "close", "hang", workers)
    assert done.code == 1, done.out
    assert "error[MKS2010]: the device did not come back from a call" in done.out
    assert "while model was closed" in done.out


def test_a_device_that_hangs_when_it_is_opened(five: Project) -> None:
    """Again and again, in whatever process, until the device is in quarantine."""
    five.put("conftest.py", f"{CONFTEST}\nchoice.open_choice = lambda *arguments, **options: hang()\n")
    done = five.mkeyspec("run", "cases", "-n", "1")
    assert done.code == 1, done.out
    assert (
        "0 passed, 0 failed, 2 blocked (2 since cases/a.mks::copies[n=3]), 3 lost (3 MKS2010), 0 skipped on" in done.out
    )
    assert "while model was opened" in done.out


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "processes"])
@pytest.mark.parametrize("name", ["info", "capabilities"])
def test_a_device_that_hangs_when_it_is_asked(five: Project, name: str, workers: list[str]) -> None:
    done = disturbed(five, name, "hang", workers)
    assert done.code == 1, done.out
    assert "MKS2010" in done.out
    assert "while model was asked what it is" in done.out


def test_undisturbed(five: Project) -> None:
    done = disturbed(five, "post", "lambda: None", [])
    assert done.code == 0, done.out + done.err
