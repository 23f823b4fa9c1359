"""Which project a command works in: where files are named from, where things go, which folders are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.plugin.project import CASES, ROOT, Done, Project

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")


def mkeyspec(where: Path, *arguments: str, **environment: str) -> Done:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = forked.run(["-m", "mkeyspec", *arguments], cwd=where, env=variables)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with nothing in it, which is not a project."""
    made = tmp_path / "elsewhere"
    made.mkdir()
    return made


# Where things go -----------------------------------------------------------------------------


def test_the_project_is_that_of_what_is_run(tmp_path: Path, elsewhere: Path) -> None:
    project = Project(tmp_path / "project")
    project.put("cases/a.mks", GOOD)
    done = mkeyspec(elsewhere, "run", str(project.path / "cases"))
    assert done.code == 0
    assert list(elsewhere.iterdir()) == []
    assert project.module().exists()
    assert (project.path / "reports" / "junit.xml").exists()
    assert "report: ../project/reports/junit.xml" in done.out


def test_from_another_project_too(tmp_path: Path) -> None:
    here, there = Project(tmp_path / "here"), Project(tmp_path / "there")
    there.put("cases/a.mks", GOOD)
    assert mkeyspec(here.path, "run", "../there/cases/a.mks::passes").code == 0
    assert [path.name for path in here.path.iterdir()] == ["pyproject.toml"]
    assert there.module().exists()
    there.put("cases/b.mks", "mks 1\n")
    assert "--> cases/b.mks" in mkeyspec(here.path, "check", "../there/cases/b.mks").out


def test_what_is_in_no_project_leaves_nothing_beside_it(tmp_path: Path, elsewhere: Path) -> None:
    lonely = tmp_path / "lonely"
    lonely.mkdir()
    (lonely / "a.mks").write_text(GOOD)
    cache = tmp_path / "cache"
    done = mkeyspec(elsewhere, "run", str(lonely / "a.mks"), XDG_CACHE_HOME=str(cache))
    assert done.code == 0, done.out + done.err
    assert [path.name for path in lonely.iterdir()] == ["a.mks"]
    assert list(elsewhere.iterdir()) == []
    (report,) = cache.rglob("junit.xml")
    assert f"report: {os.path.relpath(report, elsewhere)}" in done.out


def test_a_folder_without_a_mark_is_a_project_where_one_stands(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.mks").write_text(GOOD)
    assert mkeyspec(tmp_path, "run").code == 0
    assert (tmp_path / "generated" / "cases" / "test_a.py").exists()
    assert (tmp_path / "reports" / "junit.xml").exists()


# Which mkeyspec ------------------------------------------------------------------------------


@pytest.fixture
def other(tmp_path: Path) -> Project:
    """Another checkout, with a compiler and a rig of its own."""
    made = Project(tmp_path / "other")
    made.put("cases/a.mks", GOOD)
    made.put("mkeyspec/__init__.py", '__version__ = "0"\n')
    made.put("mkeyspec/runtime.py", "")
    return made


@pytest.mark.parametrize("command", ["run", "check", "compile", "list"])
def test_another_checkout_s_cases_are_not_for_this_one(other: Project, elsewhere: Path, command: str) -> None:
    done = mkeyspec(elsewhere, command, str(other.path / "cases"))
    assert done.code == 2
    assert "error[MKS0924]" in done.err
    assert str(other.path / "mkeyspec") in done.err
    assert str(ROOT / "mkeyspec") in done.err
    assert not other.module().exists()


def test_pytest_says_so_too(other: Project, elsewhere: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, pytest, mkeyspec.plugin; sys.exit(pytest.main(sys.argv[1:]))", "-q",
         f"--rootdir={other.path}", str(other.path / "cases")],
        cwd=elsewhere, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 4
    assert "error[MKS0924]" in done.stderr + done.stdout


# Which folders -------------------------------------------------------------------------------

FOLDERS = (
    "cases", "cases/deep/er", "cases/generated", "cases/reports", "cases/build", "cases/dist", "cases/.hidden",
    "cases/node_modules", "cases/venv", "cases/environment", "cases/a.egg", "cases/__pycache__", "cases/CVS",
    "cases/old", "cases/{arch}",
)  # fmt: skip


@pytest.mark.parametrize("ini", ["", 'norecursedirs = ["old", "de*", ".*"]'])
def test_check_and_pytest_read_the_same_folders(tmp_path: Path, ini: str) -> None:
    project = Project(tmp_path)
    project.put("pyproject.toml", f'[tool.pytest.ini_options]\ntestpaths = ["cases"]\n{ini}\n')
    for folder in FOLDERS:
        project.put(f"{folder}/a.mks", GOOD)
    project.put("cases/environment/pyvenv.cfg", "")
    (tmp_path / "linked").mkdir()
    project.put("linked/a.mks", GOOD)
    (tmp_path / "cases" / "link").symlink_to(tmp_path / "linked")
    items = project.pytest("--collect-only", "-q").out.splitlines()
    collected = {line.split("::")[0] for line in items if "::passes[n=1]" in line}
    listed = {suite["file"] for suite in json.loads(project.mkeyspec("list", "--format", "json").out)}
    assert listed == collected
    assert {"cases/generated/a.mks", "cases/link/a.mks"} <= listed
    assert ("cases/old/a.mks" in listed) == (not ini)
    assert project.pytest("-n", "2", "-q").code == 0


OPTION_FILES = {
    "pytest.toml": '[pytest]\nnorecursedirs = ["old"]\n',
    ".pytest.toml": '[pytest]\nnorecursedirs = ["old"]\n',
    "pytest.ini": "[pytest]\nnorecursedirs = old\n",
    ".pytest.ini": "[pytest]\nnorecursedirs = old\n",
    "tox.ini": "[pytest]\nnorecursedirs = old\n",
    "setup.cfg": "[tool:pytest]\nnorecursedirs = old\n",
}


@pytest.mark.parametrize("name", OPTION_FILES)
def test_every_file_of_pytest_s_options_is_read(tmp_path: Path, name: str) -> None:
    if name.endswith(".toml") and pytest.version_tuple < (9,):
        pytest.skip("pytest reads it from version 9 on")
    (tmp_path / "cases" / "old").mkdir(parents=True)
    (tmp_path / "cases" / "new").mkdir()
    for folder in ("old", "new"):
        (tmp_path / "cases" / folder / "a.mks").write_text(GOOD)
    (tmp_path / name).write_text(OPTION_FILES[name])
    done = mkeyspec(tmp_path / "cases", "list", ".", "--format", "json")
    assert [suite["file"].endswith("new/a.mks") for suite in json.loads(done.out)] == [True]
    done = mkeyspec(tmp_path / "cases", "run", "new", "-q")
    assert done.code == 0, done.out + done.err
    assert (tmp_path / "generated" / "cases" / "new" / "test_a.py").exists()
    assert not (tmp_path / "cases" / "generated").exists()


def test_a_file_that_is_no_regular_one_is_not_passed_by(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", GOOD)
    (tmp_path / "cases" / "gone.mks").symlink_to("nowhere")
    os.mkfifo(tmp_path / "cases" / "pipe.mks")
    assert project.mkeyspec("check").code == 2
    done = project.mkeyspec("run")
    assert done.code == 2
    assert "6 passed, 2 failed (2 MKS0801)" in done.out.rstrip().split("\n")[-1]
    assert "FAILED cases/gone.mks::MKS0801 - error[MKS0801]: there is no such file" in done.out
    done = project.pytest("-n", "2", "-k", "passes")
    assert done.counts == {"passed": 3, "failed": 2}
    assert project.pytest("cases/a.mks").counts == {"passed": 6, "skipped": 1}
    assert project.pytest("--ignore=cases/gone.mks", "--ignore=cases/pipe.mks").code == 0
