"""A project's own options of pytest, and those of xdist, change nothing of what is told of a run."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.plugin.project import CASES, Project, properties

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")
KILLED = """\
import os

def pytest_addoption(parser):
    parser.addoption("--own")
    parser.addini("own", "of this project")

def pytest_runtest_setup(item):
    if item.name == "fails[n=2]":
        os._exit(0)
"""
OPTIONS = '[tool.pytest.ini_options]\naddopts = ["--own=1", "--strict-markers", "--strict-config"]\nown = "1"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", GOOD)
    made.put("cases/b.mks", CASES)
    return made


def last_line(text: str) -> str:
    return text.rstrip().split("\n")[-1]


def test_a_crash_is_told_whatever_options_a_conftest_has(project: Project) -> None:
    project.put("pyproject.toml", OPTIONS)
    project.put("conftest.py", KILLED)
    done = project.mkeyspec("run", "cases/a.mks")
    assert done.code == 1, done.out
    assert "4 passed, 0 failed, 1 lost (1 MKS2012), 0 skipped, 2 not run on model" in last_line(done.out)
    assert properties(project.path / "reports" / "junit.xml")["fails[n=2]"]["lost"] == "MKS2012"


def test_a_crash_under_any_way_of_distribution_is_lost(project: Project) -> None:
    project.put("conftest.py", KILLED)
    done = project.mkeyspec("run", "cases/a.mks", "--dist=load", "--tx=1*popen")
    assert done.code == 1
    assert "0 failed, 1 lost (1 MKS2012)" in last_line(done.out)
    assert properties(project.path / "reports" / "junit.xml")["fails[n=2]"]["requirements"] == "SIG-07"


@pytest.mark.parametrize("id", ["cases/a.mks::passes[n=99]", "cases/a.mks::nowhere"])
def test_an_id_that_is_not_there_is_told_by_workers(project: Project, id: str) -> None:
    alone = project.mkeyspec("run", id, "cases/b.mks")
    assert alone.code == 2
    assert "not found: " in alone.err
    done = project.mkeyspec("run", id, "cases/b.mks", "-n", "2")
    assert done.code == 2, done.out
    assert done.err.count("ERROR: not found: ") == 1
    assert "no case was selected" not in done.out
    assert project.pytest(id, "cases/b.mks", "-n", "2").code == 4


# Reruns --------------------------------------------------------------------------------------

RERUNS = """\
from _pytest.runner import runtestprotocol
from mkeyspec.device.model.device import Model

post, calls = Model.post, 0


def failing(self, *arguments, **named):
    global calls
    calls += 1
    if calls >= 4:
        raise RuntimeError("wedged")
    return post(self, *arguments, **named)


Model.post = failing


def pytest_runtest_protocol(item, nextitem):
    '''As pytest-rerunfailures does: what fails runs once more, and nothing is told of the run after its failure.'''
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for last in (False, True):
        again = False
        for one in runtestprotocol(item, nextitem=nextitem or item.session.items[0], log=False):
            if not last and one.failed:
                again, one.outcome = True, "rerun"
            hook.pytest_runtest_logreport(report=one)
            if again:
                break
        if not again:
            break
        item._initrequest()
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "xdist"])
def test_a_culprit_that_runs_again_keeps_its_failure(project: Project, workers: list[str]) -> None:
    """Else it would be blocked by itself, and nothing would say what it did."""
    project.put("conftest.py", RERUNS)
    done = project.mkeyspec("run", "cases/a.mks", *workers)
    assert done.code == 1
    assert "1 failed (1 MKS2007), 5 blocked (5 since cases/a.mks::passes[n=2]), 0 skipped" in last_line(done.out)
    assert "1 rerun on" in last_line(done.out)
    assert "wedged" in done.out
    (suite,) = ElementTree.parse(project.path / "reports" / "junit.xml").iter("testsuite")
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert len(cases) == len(list(suite.iter("testcase"))) == int(suite.attrib["tests"])
    (error,) = cases["passes[n=2]"].iter("error")
    assert "error[MKS2007]" in (error.text or "")
    assert "MKS2008" not in (error.text or "")
    assert not list(cases["passes[n=1]"].iter("error"))
