"""pytest alone, on a device that ends the process: the exit code is not 0."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.plugin.project import ROOT, Done, Project
from tests.quality.test_whole import CASES

DEVICE = """\
import atexit
import ctypes
import os
import signal
import time

from mkeyspec.device.model.device import Model


class Leaves(Model):
    rows = 0

    def __init__(self, profile, how):
        super().__init__(profile)
        self.how = how
        if how == "atexit":
            atexit.register(os._exit, 0)
        if how == "open":
            self._leave("_exit")

    def release(self, *, healthy):
        super().release(healthy=healthy)
        self.rows += 1

    def post(self, *arguments, **options):
        if self.rows == 2:
            self._leave(self.how)
        return super().post(*arguments, **options)

    def close(self):
        super().close()
        if self.how == "close":
            self._leave("_exit")

    def _leave(self, how):
        if how == "_exit":
            os._exit(0)
        if how == "exit":
            ctypes.CDLL(None).exit(0)
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "hang":
            time.sleep(60)


def open(argument, profile):
    return Leaves(profile, argument)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    made.put("acme_nic.py", DEVICE)
    made.put("acme_nic-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-nic\nVersion: 1.0\n")
    made.put("acme_nic-1.0.dist-info/entry_points.txt", "[mkeyspec.devices]\nacme = acme_nic:open\n")
    return made


def ran(project: Project, how: str, *arguments: str) -> Done:
    return project.pytest("cases", "-q", "--results=off", f"--device=acme:{how}", *arguments)


@pytest.mark.parametrize("how", ["_exit", "exit", "kill", "open", "close"])
def test_a_device_that_ends_the_process(project: Project, how: str) -> None:
    done = ran(project, how)
    assert done.code == 1, done.out + done.err
    assert "error[MKS2012]: pytest's process ended" in done.err
    assert "before all rows were run" in done.err


@pytest.mark.parametrize(
    ("how", "arguments", "code"),
    [
        ("stays", [], 0),
        ("stays", ["--deny=nothing"], 4),
        ("stays", ["-k", "nothing"], 5),
        ("stays", ["--help"], 0),
        ("atexit", [], 0),
    ],
)
def test_exit_codes_are_as_without_a_child(project: Project, how: str, arguments: list[str], code: int) -> None:
    done = ran(project, how, *arguments)
    assert done.code == code, done.out + done.err
    assert "MKS2012" not in done.out + done.err


def test_what_ends_after_the_last_row_hides_no_failure(project: Project) -> None:
    project.put("cases/b.mks", CASES.replace("expect wire == counter(n * 512)", "expect wire == fill(0, n * 512)"))
    assert ran(project, "atexit").code == 1


def test_a_key_and_a_signal_reach_the_session(project: Project) -> None:
    for number, code in ((signal.SIGINT, 2), (signal.SIGTERM, 1)):
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "cases", "-pno:randomly", "--results=off", "--device=acme:hang"],
            cwd=project.path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(project.path)))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
        assert process.stdout is not None
        text = ""
        while ".." not in text:
            text += process.stdout.read(1)
        time.sleep(0.2)
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        text += process.communicate(timeout=60)[0]
        assert process.returncode == code, text
