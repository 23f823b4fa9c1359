"""`--quarantine N`: a device that does not survive N rows is given no other one, and what ran is kept."""

from __future__ import annotations

import re

import pytest

from tests.plugin.project import Project, last_line, last_run

ROWS = 12
CASES = f"""\
mks 1
suite "rows"

case copies
    verifies LAY-05
    for n in {", ".join(map(str, range(1, ROWS + 1)))}
    memory m = counter(n * 64)
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire == counter(n * 64)
"""
WEDGES = """\
import pytest
from mkeyspec.device.model.device import Model

release, row = Model.release, ""

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    global row
    row = item.name

def failing(self, *, healthy):
    global row
    if row in {rows}:
        self.sick, row = True, ""
    if getattr(self, "sick", False):
        raise OSError(16, "Device or resource busy")
    release(self, healthy=healthy)

Model.release = failing
"""
"""After these rows the device is sick until it is opened again."""
EVEN = {f"copies[n={n}]" for n in range(2, ROWS + 1, 2)}


@pytest.mark.parametrize(
    ("option", "passed", "failed", "blocked"),
    [
        ((), 3, 3, 6),
        (("--quarantine=1",), 1, 1, 10),
        (("--quarantine", "7"), 6, 6, 0),
        (("--quarantine=off",), 6, 6, 0),
    ],
)
def test_a_device_that_wedges_again_and_again_is_given_no_other_row(
    project: Project, option: tuple[str, ...], passed: int, failed: int, blocked: int
) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", WEDGES.format(rows=EVEN))
    done = project.mkeyspec("run", "cases", *option)
    assert done.code == 1
    part = rf", {blocked} blocked \({blocked} since cases/a.mks::copies\[n={2 * failed}\]\)" if blocked else ""
    assert re.search(rf"{passed} passed, {failed} failed \({failed} MKS2205\){part}, 0 skipped", last_line(done))
    lines = [line for line in done.out.splitlines() if "not run: MKS2015: blocked: the device is in quarantine" in line]
    assert len(lines) == (1 if blocked else 0)
    for line in lines:
        assert f"{blocked} not run" in line
        assert f"after {failed} row" in line
        assert "cases/a.mks::copies[n=2] (" in line
    codes = {one.code for one in last_run(project).results.values() if one.verdict == "blocked"}
    assert codes == ({"MKS2015"} if blocked else set())


def test_processes_that_crash_again_and_again_are_not_started_anew(project: Project) -> None:
    """The rows that no process was given are blocked, each once, and the run has all of them."""
    project.put("cases/a.mks", CASES)
    crash = "import os\ndef pytest_runtest_call(item):\n    os.environ.get('PYTEST_XDIST_WORKER') and os._exit(9)\n"
    project.put("conftest.py", crash)
    done = project.mkeyspec("run", "cases", "-n", "2")
    assert done.code == 1
    run = last_run(project)
    found = sorted(one.verdict for one in run.results.values())
    lost = found.count("lost")
    assert lost in (3, 4)  # the other process may be in a row when the third one is lost
    assert found == ["blocked"] * (ROWS - lost) + ["lost"] * lost
    assert "not run on" not in last_line(done)
    assert {one.code for one in run.results.values()} == {"MKS2012", "MKS2015"}
    assert run.in_flight == []


@pytest.mark.parametrize("value", ["0", "two"])
def test_a_number_is_asked_for(project: Project, value: str) -> None:
    project.put("cases/a.mks", CASES)
    done = project.mkeyspec("run", "cases", f"--quarantine={value}")
    assert done.code == 2
    assert f"error[MKS0905]: --quarantine {value}: say a number of rows from 1, or off" in done.err
