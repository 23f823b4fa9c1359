"""Runs that look green and are none: a required capability is absent, rows are lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.report.place import streams_in
from tests.plugin.project import CASES, Done, Project

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")
WITHOUT = 'without = ["memcpy"]\n'
NEEDS = """\
mks 1
suite "needs"

case plain
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m

case copies
    verifies LAY-05
    needs memcpy
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", NEEDS)
    made.put("p.toml", WITHOUT)
    return made


def last_line(done: Done) -> str:
    return done.out.rstrip().split("\n")[-1]


# --require -------------------------------------------------------------------------------------


def test_a_row_that_lacks_what_is_required_fails(project: Project) -> None:
    assert project.mkeyspec("run", "cases", "--device-profile", "p.toml").code == 0
    done = project.mkeyspec("run", "cases", "--device-profile", "p.toml", "--require", "memcpy")
    assert done.code == 1
    assert "1 passed, 1 failed (1 MKS2009)" in last_line(done)
    assert re.search(r"again +mkeyspec run .* --device-profile p.toml --require memcpy\n", done.out), done.out
    assert project.mkeyspec("run", "cases", "--require", "memcpy").code == 0


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "xdist"])
def test_a_run_in_which_no_row_needs_it_is_no_success_either(project: Project, workers: list[str]) -> None:
    arguments = ["cases", "--device-profile=p.toml", "--require=memcpy", "--require=crypto", "-k", "plain", *workers]
    done = project.mkeyspec("run", *arguments)
    assert done.code == 1
    assert "1 passed, 1 failed (1 MKS2009)" in last_line(done)
    assert "error[MKS2009]: the device lacks memcpy, which --require names; no row that was run needs it" in done.out
    said = project.mkeyspec("report", "text").out
    assert "1 passed, 1 error" in said
    assert "MKS2009" in said
    assert project.pytest(*arguments).code == 1


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "xdist"])
def test_a_row_that_fails_for_one_of_them_does_not_hide_another(project: Project, workers: list[str]) -> None:
    project.put("p.toml", 'without = ["memcpy", "qp.dci"]\n')
    required = ["--device-profile=p.toml", "--require=memcpy", "--require=qp.dci"]
    done = project.mkeyspec("run", "cases", *required, *workers)
    assert done.code == 1
    assert "1 passed, 2 failed (2 MKS2009)" in last_line(done)
    assert "error[MKS2009]: the device lacks qp.dci, which --require names; no row that was run needs it" in done.out
    project.put("cases/a.mks", NEEDS.replace("needs memcpy", "needs memcpy, qp.dci"))
    assert "1 passed, 1 failed (1 MKS2009)" in last_line(project.mkeyspec("run", "cases", *required, *workers))


def test_a_capability_that_no_device_has(project: Project) -> None:
    done = project.mkeyspec("run", "cases", "--require", "memcopy")
    assert done.code == 2
    assert "error[MKS0904]: --require: `require`: no device offers" in done.out + done.err
    assert "did you mean `memcpy`?" in done.out + done.err


# LOST ------------------------------------------------------------------------------------------


def test_rows_that_another_recording_had_are_not_lost(project: Project) -> None:
    """The bundle is written again under its name, by a run of fewer rows."""
    project.put("cases/a.mks", GOOD)
    for chosen, wanted in ("", "3 passed"), ("[n=1]", "1 passed"):
        assert project.mkeyspec("run", f"cases/a.mks::passes{chosen}", "--bundle", "a.bundle").code == 0
        done = project.mkeyspec("judge", "a.bundle")
        assert wanted in done.out
        assert "LOST" not in done.out
        assert done.code == 0


def test_rows_of_the_same_recording_are_lost(project: Project) -> None:
    project.put("cases/a.mks", GOOD)
    assert project.mkeyspec("run", "cases", "--bundle", "a.bundle").code == 0
    assert project.mkeyspec("judge", "a.bundle").code == 0
    (*_, stream) = streams_in(project.path / "reports")
    *lines, end = stream.read_text().splitlines(keepends=True)
    more = [line.replace("n=1", "n=9") for line in lines if "passes[n=1]" in line]
    stream.write_text("".join([*lines, *more, end]))
    done = project.mkeyspec("judge", "a.bundle")
    assert done.code == 1
    assert "LOST: 1 row" in done.out


LOSES = """\
import pytest
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "n=3" not in item.name]
"""


def test_rows_that_the_last_run_had(project: Project) -> None:
    project.put("cases/a.mks", GOOD)
    project.put("conftest.py", "")
    assert project.mkeyspec("run", "cases").code == 0
    project.put("conftest.py", LOSES)
    done = project.mkeyspec("run", "cases")
    assert done.code == 1
    (first, _) = streams_in(project.path / "reports")
    what = f"LOST: 1 row that {first.parent.name} had with the same arguments, as cases/a.mks::passes[n=3]"
    assert f"mkeyspec: {what}" in done.out
    compared = project.mkeyspec("compare", first.parent.name)
    assert compared.code == 1
    assert "LOST  1" in compared.out


FAILS_WHILE_BAD = """\
from pathlib import Path
from mkeyspec.device.model.device import Model

class D(Model):
    def poll(self, qp):
        if Path("bad").exists(): raise OSError("no answer")
        return super().poll(qp)

def open(argument, profile): return D(profile)
"""


@pytest.mark.parametrize(("options", "loses_first"), [(["-x"], False), ([], True)], ids=["cut", "failed"])
def test_rows_that_an_earlier_run_had(project: Project, options: list[str], loses_first: bool) -> None:
    """The run between ended at a failure, or failed and so did not say what it had lost."""
    project.put("acme_nic.py", FAILS_WHILE_BAD)
    entry_points = "[mkeyspec.devices]\nacme = acme_nic:open\n"
    project.put("acme_nic-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme_nic\nVersion: 1.0\n")
    project.put("acme_nic-1.0.dist-info/entry_points.txt", entry_points)
    project.put("cases/a.mks", GOOD)
    project.put("conftest.py", "")
    run = ("run", "cases", "--device=acme:", "--quarantine=off")
    assert project.mkeyspec(*run).code == 0
    if loses_first:
        project.put("conftest.py", LOSES)
    bad = project.put("bad", "")
    assert project.mkeyspec(*run, *options).code == 1
    bad.unlink()
    project.put("conftest.py", LOSES)
    done = project.mkeyspec(*run)
    assert done.code == 1
    first = streams_in(project.path / "reports")[0].parent.name
    assert f"mkeyspec: LOST: 1 row that {first} had with the same arguments" in done.out
    assert project.mkeyspec(*run).code == 0  # it was told


def test_rows_that_move_to_another_shard_are_not_lost(project: Project) -> None:
    project.put("cases/b.mks", GOOD)
    assert project.mkeyspec("run", "cases", "--shard=1/2").code == 0
    project.put("cases/a.mks", GOOD)
    done = project.mkeyspec("run", "cases", "--shard=1/2")
    assert done.code == 0, done.out


@pytest.mark.parametrize("option", ["--lf", "--sw"])
def test_rows_that_pytest_chooses_by_earlier_runs_are_not_lost(project: Project, option: str) -> None:
    project.put("cases/a.mks", GOOD)
    project.put("conftest.py", "")
    assert project.mkeyspec("run", "cases", option).code == 0
    project.put("conftest.py", LOSES)
    assert project.mkeyspec("run", "cases", option).code == 0


def test_what_is_not_lost(project: Project) -> None:
    project.put("cases/a.mks", GOOD)
    project.put("cases/b.mks", GOOD)
    assert project.mkeyspec("run", "cases").code == 0
    assert project.mkeyspec("run", "cases", "-k", "passes").code == 0  # other arguments
    (project.path / "cases" / "b.mks").unlink()
    assert project.mkeyspec("run", "cases").code == 0  # a file that is gone
    project.put("cases/a.mks", GOOD.replace("for n in 1, 2, 3", "for n in 1, 2"))
    assert project.mkeyspec("run", "cases").code == 0  # a file that has changed
    assert "LOST" not in project.mkeyspec("run", "cases").out
