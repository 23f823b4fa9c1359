"""`mkeyspec run --watch`: what a change runs again, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from mkeyspec.cli import main
from tests.plugin.project import ROOT, Project

LIBRARY = 'mks 1\nsuite "sizes"\nlet size = 64\n'
USES = """\
mks 1
suite "uses"
use "common.mks"

case by_library
    verifies LAY-05
    memory m = counter(size)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""
ALONE = USES.replace('use "common.mks"\n', "").replace("size)", "64)").replace("by_library", "alone")
WAITING = "mkeyspec: watching"


class Watched:
    """What a watching command prints, as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._seen = 0

    def _read(self) -> None:
        assert self.process.stdout is not None
        while part := self.process.stdout.read(1):
            self.text += part

    def until_it_waits(self, seconds: float = 120) -> str:
        """What has been printed since the last time, up to the line that says that it waits."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            at = self.text.find(WAITING, self._seen)
            if at >= 0 and "\n" in self.text[at:]:
                found = self.text[self._seen : at]
                self._seen = at + len(WAITING)
                return found
            time.sleep(0.02)
        raise AssertionError(f"it does not wait:\n{self.text[self._seen :]}")

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """As ^C of its terminal; what it printed since the last time."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        self._reader.join(10)
        return code, self.text[self._seen :]


def _not_ignored() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def watching(project: Project, *words: str) -> Iterator[Watched]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "mkeyspec", "run", *words],
        cwd=project.path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_not_ignored,
    ) as process:
        try:
            yield Watched(process)
        finally:
            process.kill()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/common.mks", LIBRARY)
    made.put("cases/uses.mks", USES)
    made.put("cases/alone.mks", ALONE)
    return made


def test_a_change_runs_what_it_touches(project: Project) -> None:
    with watching(project, "cases", "--watch", "-v") as watched:
        first = watched.until_it_waits()
        assert "2 passed, 0 failed" in first
        project.put("cases/common.mks", LIBRARY.replace("64", "128"))
        again = watched.until_it_waits()
        assert "changed: cases/common.mks; running again" in again
        assert "by_library" in again
        assert "alone" not in again
        assert "1 passed, 0 failed" in again
        project.put("cases/alone.mks", ALONE.replace("expect wire == m", "expect wire == fill(0, 64)"))
        failed = watched.until_it_waits()
        assert "error[MKS2101]" in failed
        assert "0 passed, 1 failed" in failed
        project.put("cases/alone.mks", ALONE.replace("mkey k\n", "mky k\n"))
        broken = watched.until_it_waits()
        assert "error[MKS0210]" in broken
        assert "alone.mks:7:5" in broken
        project.put("cases/alone.mks", ALONE)
        assert "1 passed, 0 failed" in watched.until_it_waits()
        project.put("cases/new.mks", ALONE)
        assert "changed: cases/new.mks; running again" in watched.until_it_waits()
        (project.path / "cases" / "new.mks").unlink()
        assert "changed: cases/new.mks; no case is touched" in watched.until_it_waits()
        code, rest = watched.end()
        assert code == 0
        assert rest.endswith("\nmkeyspec: no longer watching\n")
        assert "Traceback" not in watched.text
        assert "KeyboardInterrupt" not in watched.text


def test_a_key_ends_it_in_the_middle_of_a_run(project: Project) -> None:
    """The run ends too, and says nothing of it."""
    many = ALONE.replace("verifies LAY-05", "verifies LAY-05\n    for n in 1..3000")
    project.put("cases/alone.mks", many)
    with watching(project, "cases/alone.mks", "--watch", "-v") as watched:
        end = time.monotonic() + 100
        while "alone[n=" not in watched.text and time.monotonic() < end:
            time.sleep(0.02)
        code, _ = watched.end()
        assert code == 0
        assert watched.text.endswith("\nmkeyspec: no longer watching\n")
        assert "Interrupt" not in watched.text
        assert "passed" not in watched.text
        before = watched.text
        time.sleep(0.5)
        assert watched.text == before


def test_ids_and_options_stay(project: Project) -> None:
    project.put("mkeyspec.toml", 'device = "model"\n')
    with watching(project, "--watch", "cases/uses.mks::by_library", "-q") as watched:
        assert "1 passed" in watched.until_it_waits()
        project.put("cases/common.mks", LIBRARY.replace("64", "128"))
        assert "1 passed" in watched.until_it_waits()
        project.put("mkeyspec.toml", 'device = "nothing"\n')
        told = watched.until_it_waits()
        assert "changed: mkeyspec.toml; running again" in told
        assert "nothing" in told.partition("running again")[2]
        watched.end()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cases/none.mks"], "error[MKS0903]: no such file or directory: cases/none.mks"),
        (["--generate", "3"], "error[MKS0905]: --watch is for cases of files"),
        (["--shipped", "cases"], "error[MKS0905]: --shipped takes no path"),
    ],
)
def test_what_cannot_be_watched(
    words: Sequence[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--watch", *words]) == 2
    assert told in capsys.readouterr().err
