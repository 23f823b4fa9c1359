"""`mkeyspec run -n N` when a process of it ends or hangs: a code, an exit code, and no other row is lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mkeyspec.report.place import streams_in
from tests.plugin.project import CASES, MANY, ROOT, Project, last_line, last_run

# A worker ends -------------------------------------------------------------------------------

DIES = """\
import os, pytest
@pytest.hookimpl(trylast=True)
def pytest_runtest_{when}(item):
    if {which}:
        os.kill(os.getpid(), 9)
"""


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
    done = project.mkeyspec("run", "cases", "-n", "2", "--quarantine=off")
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
    done = project.mkeyspec("run", "cases", "-n", "2", "--quarantine=off")
    assert "0 passed, 0 failed, 10 lost (10 MKS2012), 0 skipped, 49 not run on" in last_line(done)


HOLDS = """\
import os, time, pytest
@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item):
    if item.name == 'passes[n=7]':
        child = os.fork()
        if not child:
            time.sleep(600)
            os._exit(0)
        print(child, file=open("pids", "w"))
        {then}
"""


@pytest.mark.parametrize(("then", "lost"), [("pass", 0), ("os._exit(0)", 1)])
def test_a_process_that_a_row_has_left_behind_does_not_hold_the_run(project: Project, then: str, lost: int) -> None:
    """It has a copy of the pipe that says that a worker has ended."""
    project.put("cases/a.mks", MANY)
    project.put("conftest.py", HOLDS.format(then=then))
    with (project.path / "out").open("w") as out:  # no pipe: of that it would have a copy too
        environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{project.path}"}
        command = [sys.executable, "-m", "mkeyspec", "run", "-pconftest", "cases", "-n", "2"]
        try:
            code = subprocess.run(command, cwd=project.path, env=environment, stdout=out, timeout=60).returncode
        finally:
            os.kill(int((project.path / "pids").read_text()), signal.SIGKILL)
    assert code == lost
    assert f"{59 - lost} passed, 0 failed" in (project.path / "out").read_text().splitlines()[-1]


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
def under_way(
    project: Project, more: str = "", rows: int = 400, key: signal.Handlers = signal.SIG_DFL
) -> Iterator[subprocess.Popen[str]]:
    """A run of slow rows in two processes, of which some have ended. `more`: of its conftest.py."""
    project.put("cases/a.mks", CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, rows)))}"))
    project.put("conftest.py", SLOW + more)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{project.path}"
    command = [sys.executable, "-m", "mkeyspec", "run", "-pconftest", "cases", "-n", "2"]
    process = subprocess.Popen(
        command,
        cwd=project.path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, key),
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


def becomes(true: Callable[[], bool]) -> bool:
    """Whether that is so within a minute."""
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


def all_gone(project: Project) -> bool:
    return becomes(lambda: not running(project))


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


PATIENCE = "\nfrom mkeyspec.plugin import workers\nworkers._PATIENCE = {}\n"


def test_a_key_lets_the_rows_under_way_end(project: Project) -> None:
    """As long as they take: on a busy machine that may be more than the patience of a run."""
    with under_way(project, PATIENCE.format(600)) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert all_gone(project)
    assert process.returncode == 130, out
    assert ", interrupted on model" in out.splitlines()[-1]
    run = last_run(project)
    assert run.end is not None
    assert run.in_flight == []
    assert {one.verdict for one in run.results.values()} == {"passed"}
    cases = list(ElementTree.parse(project.path / "reports" / "junit.xml").iter("testcase"))
    assert len(cases) == len(run.results) + 1  # of the rows that were not run, MKS2012


HANGS = """
stop = workers.Workers._stop
def stopped(self):
    stop(self)
    open("stopped", "w").close()
workers.Workers._stop = stopped
def pytest_runtest_call(item):
    if os.path.exists("hang"):
        time.sleep(600)
"""


@pytest.mark.parametrize("keys", [1, 2])
def test_rows_that_do_not_end_are_left_in_flight(project: Project, keys: int) -> None:
    """After the patience, or after a second key."""
    with under_way(project, PATIENCE.format(0.1 if keys == 1 else 600) + HANGS) as process:
        project.put("hang", "")
        os.killpg(process.pid, signal.SIGINT)
        if keys == 2:
            assert becomes((project.path / "stopped").exists)
            os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert all_gone(project)
    assert process.returncode == 130, out
    assert ", interrupted on model" in out.splitlines()[-1]
    run = last_run(project)
    assert run.end is not None
    assert len(run.results) >= 10
    assert len(run.in_flight) <= 2


def test_a_key_is_not_for_a_run_in_the_background(project: Project) -> None:
    with under_way(project, rows=60, key=signal.SIG_IGN) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert " 1 failed" in out.splitlines()[-1]
    assert "not run" not in out.splitlines()[-1]
    assert process.returncode == 1, out


def test_sigterm_leaves_a_report(project: Project) -> None:
    with under_way(project) as process:
        os.kill(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
        assert all_gone(project)
    assert process.returncode == 1, out
    lost = re.search(r"(\d) lost \(\1 MKS2012\)", out.splitlines()[-1])
    assert lost is not None
    assert 1 <= int(lost[1]) <= 2
    assert last_run(project).end is not None


# A device that is another one ----------------------------------------------------------------

LESS = """\
import os, time
from dataclasses import replace
from mkeyspec.device.model.device import Model
capabilities, info = Model.capabilities, Model.info
def other():
    found = os.environ.get("PYTEST_XDIST_WORKER") == "gw1"
    time.sleep(0.5 * found)
    return found
def fewer(self):
    found = capabilities(self)
    return replace(found, offers=found.offers - {"block_signature"}) if other() else found
def older(self):
    found = info(self)
    return replace(found, firmware="1.9") if other() else found
"""


@pytest.mark.parametrize(
    ("patch", "told"),
    [("Model.capabilities = fewer", "it lacks block_signature"), ("Model.info = older", "firmware 1.9, not none")],
)
def test_a_worker_whose_device_is_another_one_takes_no_rows(project: Project, patch: str, told: str) -> None:
    """It would skip rows at once, and so take more and more of them."""
    signed = MANY.replace("mkey k\n", "mkey k { block_signature }\n", 1)
    project.put("cases/a.mks", signed)
    project.put("conftest.py", LESS + patch + "\n")
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == 1, done.out
    assert "error[MKS2014]: the device of worker gw1 is not that of gw0: " + told in done.out
    found = Counter((one.worker, one.verdict) for one in last_run(project).results.values() if one.worker)
    assert found == {("gw0", "passed"): 59}
    assert "59 passed, 1 failed (1 MKS2014), 0 skipped" in last_line(done)


def test_with_xdist_the_run_fails(project: Project) -> None:
    project.put("cases/a.mks", MANY.replace("mkey k\n", "mkey k { block_signature }\n", 1))
    project.put("conftest.py", LESS + "Model.capabilities = fewer\n")
    done = project.pytest("cases", "-n", "2")
    assert done.code == 1, done.out
    assert "error[MKS2014]: the device of worker gw1 is not that of gw0: it lacks block_signature" in done.out.replace(
        "worker gw0 is not that of gw1: it offers", "worker gw1 is not that of gw0: it lacks"
    )


AGAIN = """\
import os, signal
from dataclasses import replace
from mkeyspec.device.model.device import Model
from mkeyspec.plugin import worker
become, capabilities, other = worker.become_worker, Model.capabilities, False
def pytest_runtest_call(item):
    if item.name == "passes[n=5]":
        open("died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
def again(config, given):
    global other
    other = os.path.exists("died")
    become(config, given)
def fewer(self):
    found = capabilities(self)
    return replace(found, offers=found.offers - {"block_signature"}) if other else found
worker.become_worker, Model.capabilities = again, fewer
"""


def test_a_device_that_is_another_one_after_a_crash(project: Project) -> None:
    """The rows before the crash are those of the device that it was."""
    project.put("cases/a.mks", MANY.replace("mkey k\n", "mkey k { block_signature }\n", 1))
    project.put("conftest.py", AGAIN)
    done = project.mkeyspec("run", "cases", "-n", "1")
    said = "error[MKS2014]: the device of worker gw0, when it is started again, is not the one before: it lacks block_"
    assert done.code == 1
    assert said in done.out
    assert "4 passed, 1 failed (1 MKS2014), 1 lost (1 MKS2012), 0 skipped, 54 not run" in last_line(done)
