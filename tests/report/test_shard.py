"""Parts of a run: together they are the run, and one report is made of them."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest
from lxml import etree

from mkeyspec.plugin.shards import parts
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


# --balance -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "number", "wanted"),
    [
        ({}, 2, ["ace", "bd"]),
        ({"gone": 9.0}, 2, ["ace", "bd"]),
        ({"a": 1, "b": 1, "c": 1, "d": 1, "e": 4}, 2, ["e", "abcd"]),
        ({"a": 7, "b": 5, "c": 4, "d": 3, "e": 2}, 2, ["ad", "bce"]),  # 10 and 11
        ({"a": 6, "b": 2}, 3, ["a", "ce", "bd"]),  # the others are of 4 seconds: 6, 8, 6
        ({"a": 0, "b": 0, "c": 0}, 2, ["ace", "bd"]),
        ({"a": 1}, 7, ["a", "b", "c", "d", "e", "", ""]),
    ],
)
def test_the_longest_row_goes_to_the_part_that_has_the_least(
    seconds: dict[str, float], number: int, wanted: list[str]
) -> None:
    """Worked out by hand."""
    ids = "abcde"
    assert ["".join(ids[place] for place in part) for part in parts(ids, number, seconds)] == wanted


@pytest.mark.parametrize("seed", range(20))
def test_parts_of_any_rows(seed: int) -> None:
    """All rows once, in their order; no part takes longer than an equal share and the longest row together."""
    drawn = random.Random(seed)
    ids = [f"row {number}" for number in range(drawn.randrange(1, 300))]
    seconds = {id: drawn.expovariate(10) for id in ids}
    number = drawn.randrange(1, 9)
    found = parts(ids, number, seconds)
    assert sorted(place for part in found for place in part) == list(range(len(ids)))
    assert all(part == sorted(part) for part in found)
    longest = max(sum(seconds[ids[place]] for place in part) for part in found)
    assert longest <= sum(seconds.values()) / number + max(seconds.values())
    assert parts(ids, number, dict(reversed(seconds.items()))) == found


def took(stream: Path, longest: str) -> None:
    """Let one row of these results have taken a second, the others a hundredth."""
    lines = [json.loads(line) for line in stream.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "result":
            line["seconds"] = 1.0 if longest in line["id"] else 0.01
    stream.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_parts_by_the_durations_of_an_earlier_run(project: Project) -> None:
    """Which came in two parts itself; the row that took a second is alone."""
    (project.path / "cases" / "b.mks").unlink()
    for number in (1, 2):
        project.mkeyspec("run", "cases", "--results", f"part{number}", "--shard", f"{number}/2")
        took(project.path / f"part{number}", "passes[n=2]")
    given = ["cases", "--results=found", "--balance=part1", "--balance=part2"]
    for run in (partial(project.mkeyspec, "run"), project.pytest):
        for processes in ([], ["-n", "2"]):
            found = []
            for number in (1, 2):
                run(*given, f"--shard={number}/2", *processes)
                found.append(set(read(project.path / "found").results))
            assert found[0] == {"cases/a.mks::passes[n=2]"}
            assert len(found[1]) == 6


def test_rows_that_move_to_another_part_are_not_lost(project: Project) -> None:
    project.put("cases/a.mks", CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)"))
    (project.path / "cases" / "b.mks").unlink()
    project.mkeyspec("run", "cases", "--results=before")
    for longest in ("passes[n=1]", "passes[n=2]"):
        took(project.path / "before", longest)
        done = project.mkeyspec("run", "cases", "--shard=1/2", "--balance=before")
        assert (done.code, "1 passed" in done.out) == (0, True), done.out


@pytest.mark.parametrize("form", ["junit", "text"])
def test_parts_of_two_splits_are_not_the_whole(project: Project, form: str) -> None:
    """Each part passes, and a row is in neither."""
    (project.path / "cases" / "b.mks").unlink()
    parts = []
    for number, longest in ((1, "passes[n=1]"), (2, "passes[n=2]")):
        project.mkeyspec("run", "cases", f"--results=before{number}")
        took(project.path / f"before{number}", longest)
        given = [f"--results=part{number}", f"--shard={number}/2", f"--balance=before{number}"]
        project.mkeyspec("run", "cases", *given)
        parts.append(read(project.path / f"part{number}").results.keys())
    assert len(parts[0] | parts[1]) < 7
    done = project.mkeyspec("report", form, "part1", "part2")
    assert done.code == 1
    assert "error[MKS0934]: part1 is part 1/2 of a run, and there is no part 2/2 of it; part2 is of another" in done.err
    assert done.out


def test_a_part_that_is_missing(project: Project) -> None:
    for number in (1, 3):
        project.mkeyspec("run", "cases/a.mks", f"--results=part{number}", f"--shard={number}/3")
    done = project.mkeyspec("report", "text", "part1", "part3")
    assert (done.code, done.err) == (
        1,
        "error[MKS0934]: part1 is part 1/3 of a run, and there is no part 2/3 of it\n",
    )
    assert project.mkeyspec("report", "text", "part1").code == 0, "one part alone is looked at"


def test_a_part_that_is_there_twice(project: Project) -> None:
    for name, shard in (("part1", "1/2"), ("part2", "2/2"), ("again1", "1/2")):
        project.mkeyspec("run", "cases/a.mks", f"--results={name}", f"--shard={shard}")
    (project.path / "copy").write_bytes((project.path / "part1").read_bytes())
    for names, wrong in (
        (("part1", "part2"), ""),
        (("part1", "part1"), "part1 is named twice: its rows are counted twice"),
        (("part1", "part2", "copy"), "part1 is named twice, also as copy: its rows are counted twice"),
        (("part1", "part2", "again1"), "part1 and again1 are both part 1/2 of a run: its rows are counted twice"),
    ):
        done = project.mkeyspec("report", "text", *names)
        assert (done.code, done.err) == ((1, f"error[MKS0934]: {wrong}\n") if wrong else (0, ""))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--balance=gone", "--shard=1/2"], "error[MKS0903]: no such file: gone"),
        (["--balance=pyproject.toml", "--shard=1/2"], "error[MKS0930]: pyproject.toml: it is not a stream of results"),
        (["--balance=pyproject.toml"], "error[MKS0905]: --balance: it says how --shard K/N splits the rows"),
    ],
)
def test_no_durations(project: Project, arguments: list[str], text: str) -> None:
    done = project.mkeyspec("run", "cases/a.mks", *arguments)
    assert done.code == 2
    assert text in done.out + done.err
    assert "Traceback" not in done.out + done.err
