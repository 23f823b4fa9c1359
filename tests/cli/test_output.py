"""Where output, the report or the journal can't be written, a run still comes to its verdict, and says it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.plugin.project import BROKEN, CASES, ROOT, Project

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")
pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/good.mks", GOOD)
    made.put("cases/bad.mks", CASES)
    made.put("cases/broken.mks", BROKEN)
    return made


def shell(project: Project, line: str) -> subprocess.CompletedProcess[str]:
    """`mkeyspec` in a line of bash is this one; the exit code is that of the first command of a pipe."""
    function = f'mkeyspec() {{ "{sys.executable}" -m mkeyspec "$@"; }}'
    return subprocess.run(
        ["bash", "-c", f"{function}; {line}; exit ${{PIPESTATUS[0]}}"],
        cwd=project.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


# Standard output and standard error ----------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "pipe"),
    [
        ("run cases/bad.mks", 1, "2>&1 | head -c 1"),
        ("run cases/bad.mks", 1, "| true"),
        ("run cases/bad.mks -n 2", 1, "2>&1 | head -c 1"),
        ("run cases/good.mks", 0, "2>&1 | head -c 1"),
        ("run cases/broken.mks", 2, "2>&1 | true"),
        ("check cases/broken.mks", 2, "2>&1 | true"),
        ("list cases/good.mks --rows", 0, "| true"),
    ],
)
def test_a_reader_that_goes_away_changes_no_exit_code(project: Project, command: str, code: int, pipe: str) -> None:
    done = shell(project, f"mkeyspec {command} {pipe}")
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    assert "MKS" not in done.stderr.replace("error[MKS0202]", "")
    if command.startswith("run"):
        ElementTree.parse(project.path / "reports" / "junit.xml")


@pytest.mark.parametrize("processes", ["", "-n 2"])
@pytest.mark.parametrize(("name", "code"), [("good", 2), ("bad", 1)])
def test_a_full_disk(project: Project, name: str, code: int, processes: str) -> None:
    done = shell(project, f"mkeyspec run cases/{name}.mks {processes} > /dev/full")
    assert done.returncode == code
    assert done.stderr == "mkeyspec: error[MKS0902]: can't write standard output: No space left on device\n"


def test_a_list_that_is_cut_is_no_success(project: Project) -> None:
    done = shell(project, "mkeyspec list cases/good.mks > /dev/full")
    assert done.returncode == 2
    assert "error[MKS0902]: can't write standard output" in done.stderr


@pytest.mark.parametrize("processes", ["", "-n 2"])
def test_nothing_is_written_into_files_that_take_the_place_of_closed_streams(project: Project, processes: str) -> None:
    done = shell(project, f"mkeyspec run cases/bad.mks {processes} <&- >&- 2>&-")
    assert done.returncode == 1
    ElementTree.parse(project.path / "reports" / "junit.xml")


def test_a_directory_that_was_removed(project: Project) -> None:
    done = shell(project, f"mkdir gone; cd gone; rmdir ../gone; mkeyspec check {project.path}/cases")
    assert done.returncode == 2
    assert done.stderr.endswith("error[MKS0903]: the current directory was removed; go to one that is there\n")


# The report ----------------------------------------------------------------------------------


def test_a_report_that_cannot_be_written_hides_no_failure(project: Project) -> None:
    done = project.mkeyspec("run", "cases/bad.mks", "--junit", "/dev/full")
    assert done.code == 1
    assert "error[MKS0902]: can't write " in done.out
    assert "No space left on device; make room, or name another place with --junit" in done.out
    assert "cases/bad.mks:20:5: error[MKS2101]" in done.out
    assert "1 failed (1 MKS2101)" in done.out.rstrip().split("\n")[-1]
    assert done.out.rstrip().endswith("; no report")
    assert project.mkeyspec("run", "cases/good.mks", "--junit", "/dev/full").code == 2


def test_pytest_too(project: Project) -> None:
    done = project.pytest("cases/good.mks", "--junitxml=/dev/full")
    assert done.code == 4
    assert "error[MKS0902]: can't write " in done.out
    assert "Traceback" not in done.out + done.err
    done = project.pytest("cases/bad.mks", "--junitxml=/dev/full")
    assert done.code == 1
    assert done.counts["failed"] == 1


LIMIT = """\
import os, resource, signal, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, -1))
"""


def test_no_half_of_a_report_is_left(project: Project) -> None:
    project.put("conftest.py", LIMIT)
    done = project.mkeyspec("run", "cases/good.mks")
    assert done.code == 2
    assert "can't write reports/junit.xml: File too large; make room" in done.out
    assert list((project.path / "reports").rglob("*.xml*")) == []


# The journal ---------------------------------------------------------------------------------

FULL = """\
import os, resource, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid):
    if nodeid.endswith("[n=2]"):
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, -1))

def pytest_runtest_setup(item):
    if item.name == "passes[n=3]":
        {then}

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
"""


@pytest.mark.parametrize("processes", [(), ("-n", "2")])
def test_a_run_goes_on_without_a_journal(project: Project, processes: tuple[str, ...]) -> None:
    project.put("conftest.py", FULL.format(limit=10, then="pass"))
    done = project.mkeyspec("run", "cases/good.mks", *processes)
    assert done.code == 2  # the results can't be written either
    assert "6 passed, 0 failed" in done.out.rstrip().split("\n")[-1]
    assert "the journal can't be written (File too large)" in done.out
    assert "error[MKS0902]: can't write reports/" in done.out


@pytest.mark.parametrize("limit", [10, 500])
def test_after_a_cut_journal_no_row_is_blamed(project: Project, limit: int) -> None:
    """Whether a line is cut in its middle or not: what is in it of a row that had begun may have ended."""
    project.put("conftest.py", FULL.format(limit=limit, then="os._exit(0)"))
    done = project.mkeyspec("run", "cases/good.mks")
    assert done.code == 1
    assert "1 lost (1 MKS2012)" in done.out.rstrip().split("\n")[-1]
    assert "the process ended in a case that is not known, since the journal could not be written" in done.out
    assert "the middle of this case" not in done.out


def test_a_journal_that_takes_nothing(project: Project) -> None:
    done = project.pytest("cases/good.mks", "--journal=/dev/full")
    assert done.code == 0
    assert "the journal can't be written (No space left on device)" in done.out
