"""`mkeyspec run -n N`: the same verdicts and reports as in one process, whatever happens to the others."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest

from mkeyspec.report.reader import Run
from tests.plugin.project import BROKEN, CASES, MANY, Done, Project, last_line, last_run

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


def test_with_s_what_a_test_prints_is_printed(project: Project) -> None:
    """With -s, and to a pipe: what Python has not written yet when a process ends."""
    project.put("tests/test_own.py", "def test_prints(): print('printed by a test')\n")
    done = project.mkeyspec("run", "tests", "-n", "2", "-s")
    assert done.out.count("printed by a test") == 1


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_session_that_is_stopped_at_its_first_row_was_interrupted(project: Project, processes: str) -> None:
    """Also with a number that is pytest's for an internal error."""
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", "import pytest\ndef pytest_runtest_setup(item): pytest.exit('out of it', 3)\n")
    done = project.mkeyspec("run", "cases", "-n", processes)
    assert done.code == 130, done.out + done.err
    assert "59 not run, interrupted on" in last_line(done)


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
