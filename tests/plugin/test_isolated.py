"""`isolated` in the text of a case reaches the device, and gives its rows processes of their own."""

from __future__ import annotations

import pytest

from tests.plugin.project import Project, last_line, last_run

CASES = """\
mks 1

case alone
    isolated
    verifies CRC-02
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m

case shares
    verifies CRC-02
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""

WATCH = """\
from mkeyspec.device.model.device import Model

made = Model.qp_pair


def qp_pair(self, attributes):
    with open("pairs.txt", "a") as file:
        file.write(f"{attributes.private}\\n")
    return made(self, attributes)


Model.qp_pair = qp_pair
"""


def test_isolated_reaches_the_device(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", WATCH)
    done = project.pytest()
    assert done.counts == {"passed": 2}, done.out
    assert (project.path / "pairs.txt").read_text().split() == ["True", "False"]


# Processes -----------------------------------------------------------------------------------

ROWS = """\
mks 1

case alone
    isolated
    verifies CRC-02
    for n in 1, 2, 3
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m

case shares
    verifies CRC-02
    for n in 1, 2, 3
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == pick(n == 2, fill(0, 64), counter(64))
"""
"""One of six fails."""
PIDS = """\
import os, pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    with open("pids.txt", "a") as file:
        file.write(f"{item.name} {os.getpid()}\\n")
    if item.name == "alone[n=2]":
        os.kill(os.getpid(), 11)
"""
LOST = "4 passed, 1 failed (1 MKS2101), 1 lost (1 MKS2012), 0 skipped on"


def run(project: Project, *arguments: str) -> tuple[str, list[tuple[str, str]]]:
    """The last line, and each row with its process, in the order of their beginnings."""
    project.put("cases/a.mks", ROWS)
    project.put("conftest.py", PIDS)
    (project.path / "pids.txt").unlink(missing_ok=True)
    done = project.mkeyspec("run", "cases", *arguments)
    assert done.code == 1
    lines = (project.path / "pids.txt").read_text().splitlines()
    return last_line(done), [(row, pid) for row, _, pid in (line.partition(" ") for line in lines)]


@pytest.mark.parametrize("how", [("--device=soft",), ("--isolate",), ("--isolate", "-n", "2")], ids=" ".join)
def test_a_crash_costs_an_isolated_row_alone(project: Project, how: tuple[str, ...]) -> None:
    """They come last, each in a process of its own. On a device under a driver nobody has to ask for it."""
    line, rows = run(project, *how)
    assert LOST in line
    assert [row for row, _ in rows[-3:]] == [f"alone[n={n}]" for n in (1, 2, 3)]
    processes = 2 if "-n" in how else 1
    assert len({pid for _, pid in rows[:3]}) == processes
    assert len({pid for _, pid in rows}) == processes + 3
    assert last_run(project).results["cases/a.mks::alone[n=2]"].code == "MKS2012"


def test_without_an_isolated_row_the_run_is_one_process(project: Project) -> None:
    line, rows = run(project, "--isolate", "-k", "shares")
    assert "2 passed, 1 failed (1 MKS2101), 0 skipped on" in line
    assert len({pid for _, pid in rows}) == 1
    assert {one.worker for one in last_run(project).results.values()} == {""}


def test_the_first_failure_ends_it(project: Project) -> None:
    line, rows = run(project, "--isolate", "-x")
    assert "1 passed, 1 failed (1 MKS2101), 0 skipped, 4 not run on" in line
    assert [row for row, _ in rows] == ["shares[n=1]", "shares[n=2]"]


def test_isolated_rows_are_blocked_in_a_quarantine(project: Project) -> None:
    line, rows = run(project, "--isolate", "--quarantine=1")
    assert "3 passed, 1 failed (1 MKS2101), 1 blocked (1 since cases/a.mks::alone[n=2]), 1 lost (1 MKS2012)" in line
    assert rows[-1][0] == "alone[n=2]"
