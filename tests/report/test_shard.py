"""Parts of a run: together they are the run, and one report is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from mkeyspec.report.reader import read
from tests.plugin.project import BROKEN, CASES, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    made.put("cases/b.mks", BROKEN)
    return made


@pytest.mark.parametrize("more", [[], ["-k", "passes or fails"]], ids=["all", "selected"])
def test_parts_are_the_whole(project: Project, more: list[str]) -> None:
    project.pytest("cases", "--results=all", *more)
    whole = read(project.path / "all").results
    parts = []
    for number in (1, 2, 3):
        project.pytest("cases", f"--results=part{number}", f"--shard={number}/3", *more)
        parts.append(read(project.path / f"part{number}").results)
    assert sorted(id for part in parts for id in part) == sorted(whole)
    assert all(abs(len(part) - len(whole) / 3) < 1 for part in parts)
    assert {id: one.verdict for part in parts for id, one in part.items()} == {
        id: one.verdict for id, one in whole.items()
    }


def test_one_report_of_all_parts(project: Project) -> None:
    for number in (1, 2):
        project.mkeyspec("run", "cases/a.mks", "--results", f"part{number}", "--shard", f"{number}/2")
    root = etree.fromstring(project.mkeyspec("report", "junit", "part1", "part2").out.encode())
    assert (root.get("tests"), root.get("failures")) == ("7", "1")


@pytest.mark.parametrize("value", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", "¹/2"])
def test_no_part(project: Project, value: str) -> None:
    done = project.mkeyspec("run", "cases", f"--shard={value}")
    assert done.code == 2
    assert f"error[MKS0905]: --shard {value}: say K/N" in done.out + done.err
