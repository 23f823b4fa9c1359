"""A profile with `stronger`: the whole suite, each `covering` with a larger strength, in modules of its own."""

from __future__ import annotations

import re
from itertools import combinations, product
from pathlib import Path

import pytest

from tests.plugin.project import Project

CASES = """\
mks 1

case covers
    verifies CRC-02, LAY-05
    covering 2
    for a in 0, 1, 2
    for b in 0, 1, 2
    for c in 0, 1, 2
    for op in send, write
    memory m = counter(a + b + c + 1)
    mkey k
    configure k { layout list(m) }
    transmit k by op
    expect wire == m

case has_no_more
    verifies LAY-05
    covering 2
    for a in 1, 2
    for b in 3, 4
    memory m = counter(a + b)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m

case is_plain
    verifies LAY-05
    for a in 1, 2
    memory m = counter(a)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""
VALUES = (("a=0", "a=1", "a=2"), ("b=0", "b=1", "b=2"), ("c=0", "c=1", "c=2"), ("op=send", "op=write"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    made.put("cases/deep.toml", "stronger = 1\n")
    return made


def ids(out: str) -> list[str]:
    return [line for line in out.splitlines() if "::" in line]


def strength_of(found: list[str]) -> int:
    """The largest strength whose tuples all are in rows of the case `covers`."""
    rows = [tuple(one[1].split(",")) for line in found if (one := re.fullmatch(r"cases/a.mks::covers\[(.*)\]", line))]
    complete = [
        strength
        for strength in range(1, 5)
        if {one for row in rows for one in combinations(row, strength)}
        == {one for row in product(*VALUES) for one in combinations(row, strength)}
    ]
    return max(complete, default=0)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_stronger_profile(project: Project, workers: list[str]) -> None:
    plain = ids(project.pytest("--collect-only", "-q").out)
    assert strength_of(plain) == 2
    modules = {path: path.read_text() for path in (project.path / "generated").rglob("test_*.py")}
    deep = ids(project.pytest("--case-profile=deep", "--collect-only", "-q").out)
    assert strength_of(deep) == 3
    assert len(deep) > len(plain)
    others = [line for line in plain if "::covers" not in line]
    assert [line for line in deep if "::covers" not in line] == others
    assert len(others) == 4 + 2
    assert project.pytest("--case-profile=deep", *workers).counts == {"passed": len(deep)}
    assert {path: path.read_text() for path in (project.path / "generated").rglob("test_*.py")} == modules
    # The modules of the profile are beside the others, and no second copy of the suite.
    assert project.pytest(".", *workers).counts == {"passed": len(plain)}


def test_as_strong_as_there_are_fors(project: Project) -> None:
    project.put("cases/deep.toml", "stronger = 5\n")
    deep = ids(project.pytest("--case-profile=deep", "--collect-only", "-q").out)
    assert strength_of(deep) == 4
    assert len(deep) == 3 * 3 * 3 * 2 + 4 + 2


def test_run(project: Project) -> None:
    done = project.mkeyspec("run", "cases", "--profile", "deep", "-q")
    assert done.code == 0
    assert re.search(r"mkeyspec: (\d+) passed, 0 failed", done.out + done.err)


@pytest.mark.parametrize(
    "text",
    [
        "stronger = 0",
        "stronger = 6",
        "stronger = true",
        'stronger = "1"',
        "stronger = -1",
        'stronger = 1\nitems = ["a"]',
        "",
    ],
)
def test_a_profile_that_says_nothing(project: Project, text: str) -> None:
    project.put("cases/deep.toml", text)
    done = project.mkeyspec("run", "cases", "--profile", "deep")
    assert done.code == 2
    assert "MKS0904" in done.out + done.err
    assert "Traceback" not in done.out + done.err


def test_a_campaign_takes_items(project: Project) -> None:
    done = project.mkeyspec("sabotage", "--profile", "deep", "cases")
    assert done.code == 2
    assert "MKS0904" in done.out + done.err
