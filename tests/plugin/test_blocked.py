"""A device that is not healthy any more: the rows after it are errors that name the culprit, and never a success."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.plugin.project import Project

CASES = """\
mks 1
suite "five rows"

case copies
    verifies LAY-05
    for n in 1, 2, 3, 4, 5
    memory m = counter(n * 64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(n * 64)
"""
DEPARTS = """\
mks 1
suite "known"

case departs
    verifies LST-01
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == fill(1, 1) ++ m[1..]     known X-DIFF-22 any
"""
LIST = """\
[[shows]]
ids = { X-DIFF-22 = "the first byte is wrong" }
"""
RELEASE_FAILS = """\
from mkeyspec.device.model.device import Model

release, calls = Model.release, 0

def failing(self, *, healthy):
    global calls
    calls += 1
    if calls >= {call}:
        raise OSError(16, "Device or resource busy")
    release(self, healthy=healthy)

Model.release = failing
"""
CANARY_FAILS = """\
from mkeyspec.run import health_check as probe

probe.symptom = lambda device, deadline: "the canary transfer did not complete"
"""
WEDGED = """\
from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import Completion
from mkeyspec.run import health_check as probe

release, close, symptom = Model.release, Model.close, probe.symptom
calls, sick = 0, set()

def failing(self, *, healthy):
    global calls
    calls += 1
    if calls == {call}:
        sick.add(id(self))
    if id(self) in sick:
        raise OSError(16, "Device or resource busy")
    release(self, healthy=healthy)

def closing(self):
    assert not getattr(self, "closed", False), "closed twice"
    self.closed = True
    if {stuck}:
        raise OSError(16, "Device or resource busy")
    close(self)

Model.release, Model.close = failing, closing
"""
"""A device that is unhealthy until it is opened again; `stuck`: it can't even be closed."""
SINCE = r"MKS2008: blocked: the device is not healthy since cases/a\.mks::copies\[n=2\] \(.*busy.*\)"


def verdicts(report: Path) -> dict[str, set[str]]:
    """Of a JUnit report: the children of each test case."""
    found: dict[str, set[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} - {"properties"}
        found.setdefault(case.attrib["name"], set()).update(kinds)
    return found


@pytest.fixture
def broken(project: Project) -> Project:
    """The second of five rows can't give its objects back."""
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", RELEASE_FAILS.format(call=2))
    return project


def test_the_rows_after_the_culprit_are_errors(broken: Project) -> None:
    done = broken.pytest("--junitxml=r.xml")
    assert done.code == 1
    assert done.counts["blocked"] == 3
    assert "skipped" not in done.counts
    assert re.search(SINCE, done.out)
    found = verdicts(broken.path / "r.xml")
    assert [found[f"copies[n={n}]"] for n in (1, 3, 4, 5)] == [set(), {"error"}, {"error"}, {"error"}]
    assert found["copies[n=2]"] & {"error", "failure"}


@pytest.mark.parametrize("workers", [(), ("-n", "1"), ("-n", "2")])
def test_a_device_that_is_healthy_when_it_is_opened_anew_goes_on(project: Project, workers: tuple[str, ...]) -> None:
    """It takes its rows as before; the culprit stays an error, and the report says that the device is another one."""
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", WEDGED.format(call=2, stuck=False))
    done = project.mkeyspec("run", "cases", "--junit", "r.xml", *workers)
    assert done.code == 1
    failed = 2 if workers == ("-n", "2") else 1  # each process counts its own calls
    line = done.out.rstrip().split("\n")[-1]
    assert f"{5 - failed} passed, {failed} failed ({failed} MKS2205), 0 skipped" in line
    assert "blocked" not in line
    told = len(re.findall(r"the device was opened again after cases/a\.mks::copies\[n=\d\] \(.*busy.*\)", done.out))
    assert 1 <= told <= failed  # not after a worker's last row
    names = [one.attrib["name"] for one in ElementTree.parse(project.path / "r.xml").iter("property")]
    assert sum(name.startswith("reopened:cases/a.mks::copies[n=") for name in names) == told


CHANGED = """
capabilities = Model.capabilities

def fewer(self):
    found = capabilities(self)
    return replace(found, offers=found.offers - {"atomic", "memcpy"}) if calls > 2 else found

Model.capabilities = fewer
"""


def test_a_device_that_is_another_one_when_it_is_opened_anew_skips_nothing(project: Project) -> None:
    project.put("cases/a.mks", CASES.replace("    verifies", "    needs atomic\n    verifies"))
    wedged = WEDGED.format(call=2, stuck=False)
    project.put("conftest.py", f"from dataclasses import replace\n{wedged}{CHANGED}")
    done = project.mkeyspec("run", "cases")
    assert done.code == 1
    assert "1 passed, 1 failed (1 MKS2205), 3 blocked" in done.out.rstrip().split("\n")[-1]
    assert "opened again, it is another device: it lacks atomic, memcpy" in done.out


def test_a_device_that_cant_be_closed_is_not_opened_anew(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", WEDGED.format(call=2, stuck=True))
    assert project.pytest().counts["blocked"] == 3


OLD = """\
def test_has_the_device_that_is_open(device, rig):
    assert not getattr(device, "closed", False)
    assert device is rig.device
    rig.finish()
"""


def test_a_test_of_ones_own_gets_the_device_that_is_open(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    project.put("tests/test_own.py", OLD)
    project.put("conftest.py", WEDGED.format(call=2, stuck=False))
    assert project.pytest("cases", "tests").counts == {"passed": 5, "failed": 1}


def test_the_culprit_is_not_run_again(project: Project) -> None:
    """By a plugin that runs a failed test again: what it did to the device is its verdict."""
    project.put("cases/a.mks", CASES)
    again = """
import pytest
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""
    project.put("conftest.py", WEDGED.format(call=2, stuck=False) + again)
    done = project.mkeyspec("run", "cases")
    assert "4 passed, 1 failed" in done.out.rstrip().split("\n")[-1]


def test_the_last_line_counts_them(broken: Project) -> None:
    done = broken.mkeyspec("run", "cases")
    assert done.code == 1
    line = done.out.rstrip().split("\n")[-1]
    assert re.search(r"1 passed, 1 failed \(1 MKS\d{4}\), 3 blocked \(3 since cases/a\.mks::copies\[n=2\]\)", line)
    assert " 0 skipped" in line


def test_a_worker_of_xdist_loses_none_in_silence(broken: Project) -> None:
    done = broken.mkeyspec("run", "cases", "-n", "1")
    assert done.code == 1
    assert "3 blocked" in done.out.rstrip().split("\n")[-1]


def test_the_last_row_is_looked_after_as_well(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", RELEASE_FAILS.format(call=5))
    done = project.mkeyspec("run", "cases")
    assert done.code == 1
    assert "4 passed, 1 failed (1 MKS" in done.out.rstrip().split("\n")[-1]
    assert "busy" in done.out


@pytest.mark.parametrize("name", ["cases/a.mks", "cases/z.mks"])
def test_a_known_culprit_whose_canary_fails(project: Project, name: str) -> None:
    """Whether it is the last one or not."""
    project.put(name, DEPARTS)
    project.put("cases/m.mks", CASES)
    project.put("list.toml", LIST)
    project.put("conftest.py", CANARY_FAILS)
    done = project.pytest("--expectations=list.toml", "--junitxml=r.xml")
    assert done.code == 1
    assert done.counts["failed"] == 1
    assert done.counts.get("blocked", 0) == (5 if name == "cases/a.mks" else 0)
    assert "error[MKS2206]: the device is not healthy after this case: the canary transfer did not complete" in done.out
    assert "failure" in verdicts(project.path / "r.xml")["departs"]


OWN = """\
from mkeyspec.plan import At, Memory

def test_breaks(rig):
    rig.step(Memory(At(2, 1), "m", 64))
    assert 1 == 2
"""


def test_what_a_test_leaves_by_an_exception_is_looked_after(project: Project) -> None:
    project.put("tests/test_own.py", OWN)
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", CANARY_FAILS)
    done = project.pytest("tests", "cases")
    assert done.counts == {"failed": 1, "error": 1, "blocked": 5}
    assert "error[MKS2206]: the device is not healthy after this case" in done.out


def test_blocked_rows_run_again_with_last_failed(broken: Project) -> None:
    broken.pytest()
    broken.put("conftest.py", "")
    assert broken.pytest("--lf").counts == {"passed": 4}
