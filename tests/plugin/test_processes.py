"""`mkeyspec run -n N`: the same verdicts and reports as in one process, whatever happens to the others."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mkeyspec.report.place import streams_in
from mkeyspec.report.reader import Run, read
from tests.plugin.project import BROKEN, CASES, ROOT, Done, Project

MIXED = """\
mks 1
suite "of each verdict"

case keeps_to_the_page
    verifies LST-01
    for n in 1, 2
    memory m = counter(64 * n)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m                            known X-DIFF-22 any

case departs
    verifies LST-01
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == fill(1, 1) ++ m[1..]         known X-DIFF-22 any

case should_hold
    verifies LAY-05
    level recommended
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == flip(m, 9)
"""
LIST = '[[shows]]\nids = { X-DIFF-22 = "the first byte is wrong" }\n'


def waiver(rows: str, outcome: str) -> str:
    words = f'rows = "{rows}"\noutcome = "{outcome}"\nowner = "Ada"\nreason = "it is slow"\nexpires = 2999-01-01\n'
    return f"[[waiver]]\n{words}"


WAIVERS = waiver("cases/w.mks::fails", "fails") + waiver("cases/w.mks::passes", "fails")
WAIVERS += waiver("cases/w.mks::setup_module", "skip")


@pytest.fixture
def mixed(project: Project) -> Project:
    """Rows of each verdict but lost and blocked, and a file that is broken."""
    project.put("cases/a.mks", CASES)
    project.put("cases/b.mks", BROKEN)
    project.put("cases/m.mks", MIXED)
    project.put("cases/w.mks", CASES)
    project.put("list.toml", LIST)
    project.put("waivers.toml", WAIVERS)
    return project


OPTIONS = ("cases", "--expectations=list.toml", "--waivers=waivers.toml")


def last_line(done: Done) -> str:
    """Without the time, and the reasons of a kind in any order."""
    line = re.sub(r" in [\d.]+ s;", ";", done.out.rstrip().split("\n")[-1])
    return re.sub(r"\(1 [^()]*\)", lambda found: f"({'; '.join(sorted(found[0][1:-1].split('; ')))})", line)


def last_run(project: Project) -> Run:
    return read(max(streams_in(project.path / "reports"), key=lambda path: path.stat().st_mtime_ns))


def told(run: Run) -> dict[str, tuple[Any, ...]]:
    found = {}
    for id, one in run.results.items():
        found[id] = (one.verdict, one.code, one.message, one.text, one.line, one.known, one.records, one.waiver)
    return found


def junit(project: Project) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of each test case its children and properties, without those of the time; the counts of each suite."""
    root = ElementTree.parse(project.path / "reports" / "junit.xml").getroot()
    cases = {}
    for case in root.iter("testcase"):
        kinds = sorted(
            (child.tag, child.get("message"), re.sub(r"\n\[\[PROPERTY\|worker=gw\d+\]\]", "", child.text or ""))
            for child in case
            if child.tag != "properties"
        )
        values = sorted((one.get("name"), one.get("value")) for one in case.iter("property"))
        cases[f"{case.get('classname')} {case.get('name')}"] = (kinds, values)
    counts = ("tests", "failures", "errors", "skipped")
    return cases, {str(suite.get("name")): [suite.get(one) for one in counts] for suite in root.iter("testsuite")}


def summary(done: Done) -> list[str]:
    """What pytest's summary says, in any order."""
    lines = done.out.split("short test summary info", 1)[1].splitlines()[1:-1]
    return sorted(re.sub(r" in [\d.]+s?", "", line).strip("= ") for line in lines if "report:" not in line)


def test_the_verdicts_and_reports_are_those_of_one_process(mixed: Project) -> None:
    alone = mixed.mkeyspec("run", *OPTIONS, "-rA")
    wanted, report = told(last_run(mixed)), junit(mixed)
    assert {one[0] for one in wanted.values()} == {"passed", "failed", "error", "known", "unseen", "skipped"}
    for number in (1, 2, 3, 40):
        done = mixed.mkeyspec("run", *OPTIONS, "-rA", "-n", str(number))
        assert (done.code, last_line(done)) == (alone.code, last_line(alone)), number
        run = last_run(mixed)
        assert told(run) == wanted, number
        assert junit(mixed) == report, number
        assert summary(done) == summary(alone), number
        assert run.end is not None
        assert (run.selected, run.in_flight) == (19, [])
        assert {one.worker for one in run.results.values()} - {""} == {f"gw{k}" for k in range(min(number, 19))}


@pytest.mark.parametrize(
    "more", [["--require=crypto"], ["-k", "lacks"], ["-k", "nothing_of_this_name"], ["--tag=gone"]]
)
def test_what_only_the_whole_can_tell(mixed: Project, more: list[str]) -> None:
    """A capability that is required, rows that are all skipped, no row at all, a tag that no case has."""
    (mixed.path / "cases" / "b.mks").unlink()
    alone = mixed.mkeyspec("run", "cases/a.mks", *more)
    done = mixed.mkeyspec("run", "cases/a.mks", *more, "-n", "2")
    assert (done.code, last_line(done)) == (alone.code, last_line(alone))


def test_a_worker_begins_with_the_rows_of_its_shard(project: Project) -> None:
    """In their order, whatever they take."""
    project.put("cases/a.mks", CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 40)))}"))
    project.mkeyspec("run", "cases", "-k", "passes", "-n", "2")
    of_two: dict[str, list[str]] = {"gw0": [], "gw1": []}
    for id, one in last_run(project).results.items():
        of_two[one.worker].append(id)
    for part, rows in enumerate(of_two.values(), 1):
        project.mkeyspec("run", "cases", "-k", "passes", "--shard", f"{part}/2")
        shard = list(last_run(project).results)
        assert len(rows) >= 4
        assert rows[:4] == shard[:4]


# A worker ends -------------------------------------------------------------------------------

DIES = """\
import os, pytest
@pytest.hookimpl(trylast=True)
def pytest_runtest_{when}(item):
    if {which}:
        os.kill(os.getpid(), 9)
"""
MANY = CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 60)))}").split("case fails")[0]


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_the_rows_after_a_crash_run_in_another_process(project: Project, when: str) -> None:
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", DIES.format(when=when, which="item.name in ('passes[n=1]', 'passes[n=30]')"))
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == 1
    assert "57 passed, 0 failed, 2 lost (2 MKS2012), 0 skipped on" in last_line(done)
    run = last_run(project)
    assert {id for id, one in run.results.items() if one.verdict == "lost"} == {
        "cases/a.mks::passes[n=1]",
        "cases/a.mks::passes[n=30]",
    }
    assert run.in_flight == []
    lines = [json.loads(line) for line in run.path.read_bytes().splitlines()]
    assert Counter(line["id"] for line in lines if line["kind"] == "result").most_common(1)[0][1] == 1


def test_a_device_that_ends_each_process_is_given_up(project: Project) -> None:
    """Four times for each of the two; each row is counted."""
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", DIES.format(when="call", which="True"))
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == 1
    assert "0 passed, 0 failed, 10 lost (10 MKS2012), 0 skipped, 49 not run on" in last_line(done)


def test_a_process_that_ends_in_no_row(project: Project) -> None:
    """In front of its first one, or behind its last one."""
    project.put("cases/a.mks", MANY)
    where = "import os\ndef pytest_{}: os.environ.get('PYTEST_XDIST_WORKER') and os._exit(0)\n"
    project.put("conftest.py", where.format("sessionfinish()"))
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == 1
    assert "59 passed, 0 failed, 1 lost (1 MKS2012), 0 skipped on" in last_line(done)
    project.put("conftest.py", where.format("runtest_protocol()").replace("protocol()", "protocol(item)"))
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert "0 passed, 0 failed, 10 lost (10 MKS2012), 0 skipped, 49 not run on" in last_line(done)


SICK = """\
import os
from mkeyspec.device.model.device import Model
release = Model.release
def failing(self, *, healthy):
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        raise OSError(16, "Device or resource busy")
    release(self, healthy=healthy)
Model.release = Model.close = failing
Model.close = lambda self: failing(self, healthy=True)
"""


def test_a_process_whose_device_is_not_healthy_takes_no_rows_of_others(project: Project) -> None:
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", SICK)
    done = project.mkeyspec("run", "cases", "-n", "2")
    found = Counter((one.worker, one.verdict) for one in last_run(project).results.values() if one.worker)
    assert done.code == 1
    assert found["gw1", "passed"] == sum(number for (worker, _), number in found.items() if worker == "gw1")
    assert found["gw1", "passed"] >= 29
    assert 1 <= found["gw0", "blocked"] <= 29


# The parent ends -----------------------------------------------------------------------------

SLOW = """\
import os, time
def pytest_runtest_setup(item):
    with open("pids", "a") as file:
        print(os.getpid(), file=file)
    time.sleep(0.02)
def pytest_runtest_teardown(item):
    time.sleep(0.02)
"""


@contextmanager
def under_way(project: Project, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A run of slow rows in two processes, of which some have ended."""
    project.put("cases/a.mks", CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 400)))}"))
    project.put("conftest.py", SLOW)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{project.path}"
    command = [sys.executable, "-m", "mkeyspec", "run", "-pconftest", "cases", "-n", "2", *arguments]
    process = subprocess.Popen(
        command, cwd=project.path, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and process.poll() is None:
            streams = streams_in(project.path / "reports")
            if streams and streams[0].read_bytes().count(b'"verdict"') >= 10:
                break
            time.sleep(0.01)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def running(project: Project) -> list[int]:
    pids = {int(line) for line in (project.path / "pids").read_text().split()}
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def all_gone(project: Project) -> bool:
    end = time.monotonic() + 10
    while running(project) and time.monotonic() < end:
        time.sleep(0.05)
    return not running(project)


def test_kill_9_leaves_no_process_and_loses_the_rows_in_flight(project: Project) -> None:
    with under_way(project) as process:
        assert len(running(project)) == 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
        assert all_gone(project)
    run = last_run(project)
    assert len(run.results) >= 10
    assert run.end is None
    assert len(run.in_flight) <= 2


def test_a_key_lets_the_rows_under_way_end(project: Project) -> None:
    with under_way(project) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        assert all_gone(project)
    assert process.returncode == 130, out
    assert ", interrupted on model" in out.splitlines()[-1]
    run = last_run(project)
    assert run.end is not None
    assert run.in_flight == []
    assert {one.verdict for one in run.results.values()} == {"passed"}
    assert len(list(ElementTree.parse(project.path / "reports" / "junit.xml").iter("testcase"))) == len(run.results)


def test_sigterm_leaves_a_report(project: Project) -> None:
    with under_way(project) as process:
        os.kill(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
        assert all_gone(project)
    assert process.returncode == 1, out
    lost = re.search(r"(\d) lost \(\1 MKS2012\)", out.splitlines()[-1])
    assert lost is not None
    assert 1 <= int(lost[1]) <= 2
    assert last_run(project).end is not None


# What goes from one process to the other ------------------------------------------------------

OWN = """\
import os, warnings, pytest

class Strange:
    def __reduce__(self): raise TypeError("not to be sent")
    def __repr__(self): return "something strange"

def test_prints(record_property):
    record_property("own", Strange())
    print("printed by a test")
    os.write(1, b"written by a test")
    assert 1 == 2

def test_warns():
    class Own(UserWarning): pass
    warnings.warn("beware", Own)
    warnings.warn("take care", DeprecationWarning)

def test_skips():
    pytest.skip("no reason")

def test_has_a_worker(worker_id):
    assert worker_id == os.environ["PYTEST_XDIST_WORKER"]
"""


def test_reports_of_ordinary_tests_come_whole(project: Project) -> None:
    project.put("tests/test_own.py", OWN)
    done = project.mkeyspec("run", "tests", "-n", "2", "-rs", "--junit=r.xml", "--durations=2", "-vv")
    assert done.code == 1, done.out + done.err
    for text in ("printed by a test", "UserWarning: beware", "take care", "no reason", "slowest 2"):
        assert text in done.out, text
    assert "2 passed, 1 failed (1 another error), 1 skipped (1 no reason) on" in last_line(done)
    alone = project.mkeyspec("run", "tests", "-k", "prints")
    assert done.out.count("written by a test") == alone.out.count("written by a test")


STOPS = """\
import pytest
def pytest_runtest_setup(item):
    if item.name == "passes[n=2]":
        {}
"""


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("item.session.shouldstop = 'enough'", "!!! Interrupted: enough !!!"),
        ("pytest.exit('out of it', 3)", "_pytest.outcomes.Exit: out of it"),
        ("raise KeyboardInterrupt('a key')", "KeyboardInterrupt: a key"),
    ],
)
def test_a_row_that_stops_the_session_stops_all(project: Project, how: str, told: str) -> None:
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", STOPS.format(how))
    alone = project.mkeyspec("run", "cases")
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == alone.code != 0, done.out + done.err
    assert told in alone.out
    assert told in done.out
    assert re.search(r"\d+ not run(, interrupted)? on", last_line(done))


def test_an_error_of_a_plugin_is_an_internal_one(project: Project) -> None:
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", "def pytest_runtest_protocol(item): raise ZeroDivisionError('of a plugin')\n")
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == 4
    assert "ZeroDivisionError: of a plugin" in done.out + done.err


# Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-n", "two"], "-n two: say how many processes, as 2, or auto for one on each CPU"),
        (["-n", "-1"], "-n -1: say how many"),
        (["-n", "2", "--pdb"], "-n: a debugger needs the terminal for itself; leave -n out"),
    ],
)
def test_what_can_not_be_is_one_line(mixed: Project, arguments: list[str], text: str) -> None:
    done = mixed.mkeyspec("run", "cases/a.mks", *arguments)
    lines = [line for line in (done.out + done.err).split("\n") if line.strip()]
    assert done.code == 2
    assert len(lines) == 1, lines
    assert f"error[MKS0905]: {text}" in lines[0]


@pytest.mark.parametrize("arguments", [["-n", "2"], ["-n", "auto"], ["-n", "0"], []])
def test_it_needs_no_xdist(mixed: Project, arguments: list[str]) -> None:
    mixed.put("sitecustomize.py", "import sys\nsys.modules['xdist'] = None\n")
    done = mixed.mkeyspec("run", "cases/a.mks", *arguments)
    assert done.code == 1, done.out + done.err
    assert "5 passed, 1 failed (1 MKS2101), 1 skipped" in last_line(done)
    done = mixed.mkeyspec("run", "cases/a.mks", "-n", "2", "--dist=load")
    assert done.code == 2
    assert "error[MKS0905]: --dist=load is an option of pytest-xdist, which is not installed here" in done.err


def test_options_of_xdist_leave_it_to_xdist(mixed: Project) -> None:
    done = mixed.mkeyspec("run", "cases/a.mks", "-n", "2", "--dist=loadfile")
    assert "5 passed, 1 failed (1 MKS2101), 1 skipped" in last_line(done)
    assert "2 workers [7 items]" in done.out


def test_rows_are_compiled_once(project: Project) -> None:
    for number in range(6):
        project.put(f"cases/a{number}.mks", CASES)
    project.put(
        "conftest.py",
        "import os\nfrom mkeyspec.store import Store\nwrite = Store.compile\n"
        "def compiled(self, path):\n"
        "    print(f'compiled {path.name}', file=open('compiled', 'a'))\n"
        "    return write(self, path)\n"
        "Store.compile = compiled\n",
    )
    done = project.mkeyspec("run", "cases", "-n", "2", "-k", "passes")
    assert done.code == 0, done.out
    assert max(Counter((project.path / "compiled").read_text().split("\n")[:-1]).values()) == 1
