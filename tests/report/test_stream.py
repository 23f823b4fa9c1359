"""The stream of results of a run: in each way to run cases, when the run is killed, and where it can't be written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import __version__
from mkeyspec.report.place import streams_in
from mkeyspec.report.reader import Run, read
from tests.plugin.project import BROKEN, CASES, ROOT, Project
from tests.report.test_record import VALIDATOR

ALONE_AND_XDIST = pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
FAILED = "cases/a.mks::fails[n=2]"


@pytest.fixture
def suite(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    return made


def lines_of(project: Project) -> list[dict[str, Any]]:
    (path,) = streams_in(project.path / "reports")
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def run_of(project: Project) -> Run:
    (path,) = streams_in(project.path / "reports")
    return read(path)


def verdicts(run: Run) -> Counter[str]:
    return Counter(result.verdict for result in run.results.values())


# Each way to run -----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["pytest", "mkeyspec", "generated"])
@ALONE_AND_XDIST
def test_every_way_to_run(suite: Project, way: str, workers: list[str]) -> None:
    if way == "generated":
        suite.mkeyspec("compile", "cases")
    done = suite.mkeyspec("run", "cases", *workers) if way == "mkeyspec" else suite.pytest(
        "generated" if way == "generated" else "cases", *workers
    )  # fmt: skip
    assert done.code == 1, done.out + done.err
    for line in lines_of(suite):
        VALIDATOR.validate(line)
    run = run_of(suite)
    assert verdicts(run) == {"passed": 5, "failed": 1, "skipped": 1}
    assert run.end is not None
    assert run.end.exit == 1
    assert run.selected == 7
    assert run.in_flight == []
    failed = run.results[FAILED]
    assert (failed.code, failed.line, failed.column) == ("MKS2101", 20, 5)
    assert failed.message == "63 of 64 bytes differ, first at wire[1]"
    assert ":20:5: error[MKS2101]: 63 of 64 bytes" in failed.text.split("\n")[0]
    assert bool(failed.node) == (way == "generated")
    assert bool(failed.worker) == bool(workers)
    assert run.results["cases/a.mks::setup_module"].records == {"granted": "4"}
    skipped = run.results["cases/a.mks::lacks"]
    assert skipped.message.startswith("needs crypto.wrapped, device.max_wr_memcpy_length < 1 (it is ")
    assert run.cases["cases/a.mks::lacks"].needs == ["crypto.wrapped", "device.max_wr_memcpy_length < 1"]
    assert run.cases["cases/a.mks::passes"].requirements == ["CRC-02", "LAY-05"]
    assert run.suites["cases/a.mks"].title == "a suite"
    assert run.device.device == "model"
    assert "signature.crc32c" in run.device.offers
    assert run.device.values["max_sge"] > 0


def test_what_the_first_line_says(suite: Project) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *identity, *words], cwd=suite.path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    git("add", "cases")
    git("commit", "-q", "-m", "a")
    suite.put("list.toml", "[[shows]]\nids = {}\n")
    suite.put("cases/few.toml", 'items = ["cases/a.mks::passes[n=1]"]\n')
    suite.pytest("cases", "--expectations=list.toml", "--case-profile=few", "--drawn-from=7")
    begin = run_of(suite).begin
    assert begin.git_commit == git("rev-parse", "HEAD")
    assert not begin.git_changed
    assert begin.mkeyspec == __version__
    assert (begin.device, begin.profile, begin.expectations, begin.seed) == ("model", "few", ["list.toml"], "7")
    assert "--case-profile=few" in begin.options
    assert begin.host == os.uname().nodename
    assert begin.kernel == f"Linux {os.uname().release}"
    suite.put("cases/a.mks", CASES + "\n")
    (suite.path / "reports" / begin.run / "results.ndjson").unlink()
    suite.pytest("cases")
    assert run_of(suite).begin.git_changed


def test_other_verdicts(suite: Project) -> None:
    suite.put("cases/b.mks", BROKEN)
    suite.put("cases/test_own.py", "import pytest\n@pytest.fixture\ndef f(): 1 / 0\ndef test_a(f): pass\n")
    suite.put("cases/test_b.py", "def test_b(): raise ValueError('error[MKS2101]: no')\n")
    suite.put("cases/test_c.py", "import nothing_of_this_name\n")
    suite.pytest("cases", "--continue-on-collection-errors")
    results = run_of(suite).results
    broken = results["cases/b.mks::MKS0202"]
    assert (broken.verdict, broken.code, broken.message) == ("error", "MKS0202", "nothing is called `nothing`")
    assert results["cases/test_own.py::test_a"].verdict == "error"
    assert results["cases/test_b.py::test_b"].verdict == "failed"
    assert results["cases/test_c.py"].verdict == "error"


def test_a_row_of_a_case_fails_by_a_code_or_is_an_error(suite: Project) -> None:
    """An exception of the rig itself is no verdict on the device."""
    suite.put(
        "conftest.py",
        "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n"
        "    if 'n=1' in pyfuncitem.name: raise ZeroDivisionError\n",
    )
    suite.pytest("cases")
    results = run_of(suite).results
    assert results["cases/a.mks::passes[n=1]"].verdict == "error"
    assert results["cases/a.mks::passes[n=2]"].verdict == "passed"


def test_sessions_without_cases_leave_nothing(suite: Project) -> None:
    suite.put("tests/test_a.py", "def test_a(): pass\n")
    assert suite.pytest("tests").code == 0
    suite.pytest("cases", "--collect-only", "-q")
    suite.pytest("cases", "--results=off")
    assert not (suite.path / "reports").exists()


# Killed --------------------------------------------------------------------------------------

KILLED = """\
import os, pytest
@pytest.hookimpl(trylast=True)
def pytest_runtest_{when}(item):
    if item.name == "{name}":
        os.kill(os.getpid(), 9)
"""


@ALONE_AND_XDIST
@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_run_whose_process_ends(suite: Project, workers: list[str], when: str) -> None:
    """`mkeyspec run` goes on: each result is there once, and the row is lost."""
    suite.put("conftest.py", KILLED.format(when=when, name="fails[n=1]"))
    suite.mkeyspec("run", "cases", *workers)
    for line in lines_of(suite):
        VALIDATOR.validate(line)
    run = run_of(suite)
    lost = run.results["cases/a.mks::fails[n=1]"]
    assert (lost.verdict, lost.code) == ("lost", "MKS2012")
    assert run.cases["cases/a.mks::fails"].requirements == ["SIG-07"]
    assert run.end is not None
    assert not run.cut
    assert sum(line["kind"] == "result" for line in lines_of(suite)) == len(run.results)
    assert verdicts(run)["passed"] == (3 if not workers else 4)


SLOW = """\
import time
def pytest_runtest_setup(item):
    time.sleep(0.05)
"""


LOADED = any(one.name == "mkeyspec" for one in entry_points(group="pytest11"))
PYTEST = ["pytest"] if LOADED else ["pytest", "-pmkeyspec.plugin"]


@pytest.mark.parametrize("command", [PYTEST, ["mkeyspec", "run", "-pconftest"]], ids=["pytest", "mkeyspec"])
def test_kill_9_loses_at_most_the_case_in_flight(suite: Project, command: list[str]) -> None:
    """Of all processes of a run, at some moment."""
    many = CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 400)))}")
    suite.put("cases/a.mks", many)
    suite.put("conftest.py", SLOW)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{suite.path}"
    process = subprocess.Popen(
        [sys.executable, "-m", *command, "cases"],
        cwd=suite.path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and process.poll() is None:
            streams = streams_in(suite.path / "reports")
            if streams and streams[0].read_bytes().count(b'"verdict"') >= 20:
                break
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    run = run_of(suite)
    begun = [line["id"] for line in map(json.loads, _whole_lines(run.path)) if line["kind"] == "start"]
    assert len(run.results) >= 20
    assert run.end is None
    assert len(begun) - len(run.results) <= 1
    assert run.in_flight == begun[len(run.results) :]
    assert run.not_run == run.selected - len(begun)


def _whole_lines(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


# Where it can't be written -------------------------------------------------------------------


def test_another_file_is_not_overwritten(suite: Project) -> None:
    for name in ("cases/a.mks", "pyproject.toml"):
        before = (suite.path / name).read_bytes()
        for done in (suite.pytest("cases", f"--results={name}"), suite.mkeyspec("run", "cases", "--results", name)):
            assert done.code in (2, 4)
            assert "error[MKS0902]: " in done.out + done.err
            assert f"{name} is there and is not a stream of results" in done.out + done.err
            assert (suite.path / name).read_bytes() == before


def test_results_of_the_last_run_are_replaced(suite: Project) -> None:
    for _ in range(2):
        assert suite.mkeyspec("run", "cases", "-k", "passes", "--results", "out/r.ndjson").code == 0
    assert len(read(suite.path / "out" / "r.ndjson").results) == 3
    assert streams_in(suite.path / "reports") == []


@pytest.mark.parametrize("place", ["pyproject.toml/results.ndjson", "cases"])
def test_a_place_that_can_not_be_written(suite: Project, place: str) -> None:
    done = suite.mkeyspec("run", "cases", "--results", place)
    assert done.code == 2
    assert done.err.startswith("mkeyspec: error[MKS0902]: can't write ")
    assert done.err.count("\n") == 1


FULL = """\
import os, resource
def pytest_runtest_setup(item):
    if item.name == "passes[n=3]":
        resource.setrlimit(resource.RLIMIT_FSIZE, (1400, -1))
"""


def test_a_full_disk(suite: Project) -> None:
    """The run goes on and says so; what is there are whole lines."""
    suite.put("conftest.py", FULL)
    done = suite.mkeyspec("run", "cases", "-k", "passes or setup_module")
    assert done.code == 2, done.out + done.err
    assert "error[MKS0902]: can't write reports/" in done.out
    assert "File too large; make room" in done.out
    run = run_of(suite)
    assert not run.cut
    assert run.end is None
