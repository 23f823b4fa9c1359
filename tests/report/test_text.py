"""Results as text, and as annotations of GitHub and GitLab."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mkeyspec.report.annotations import github_of, gitlab_of
from mkeyspec.report.causes import causes_of
from mkeyspec.report.reader import Run, read
from mkeyspec.report.record import Result, Start
from mkeyspec.report.rows import results_of
from mkeyspec.report.text import text_of
from mkeyspec.report.writer import Writer
from tests.plugin.project import CASES, Project
from tests.report.results import BEGIN, FILE, failed, row, run_of


def test_text(tmp_path: Path) -> None:
    results = [
        *(failed(n, f"{n} bytes differ") for n in range(1, 4)),
        row(4),
        row(5, "skipped", message="needs crypto"),
    ]
    text = text_of([run_of(tmp_path / "r", *results)])
    lines = text.splitlines()
    assert lines[0] == f"{BEGIN.run}, mlx5_0 (ConnectX-7), firmware 28.43.1014, rdma-core 44.0, commit c0ffee"
    assert lines[1] == "    1 passed, 3 failed, 1 skipped in 1.5 s"
    assert "    3  CRC-02: MKS2101 N bytes differ; only with n ≤ 3" in lines
    assert f"       {FILE}::c[n=1] and 2 more" in lines
    assert f"       {FILE}:9:5: error[MKS2101]: 1 bytes differ" in lines
    assert "    1  needs crypto" in lines


def test_a_killed_run_names_the_row_in_flight(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "r")
    writer.write(BEGIN, row(1), Start(f"{FILE}::c[n=2]"))
    writer.close()
    text = text_of([read(tmp_path / "r")])
    assert "did not end by itself" in text
    assert f"{FILE}::c[n=2]" in text
    assert "1 passed, 1 lost" in text


def test_nothing_reaches_the_terminal_but_text(tmp_path: Path) -> None:
    text = text_of([run_of(tmp_path / "r", failed(1, "\x1b]0;title\x07\u202e"))])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert "\\x1b]0;title\\x07" in text


def test_github(tmp_path: Path) -> None:
    text = github_of([run_of(tmp_path / "r", failed(1, "50% wrong\n::error::x"), row(2))])
    assert text.count("\n") == 1
    assert text.startswith(f"::error file={FILE},line=9,title={FILE}%3A%3Ac[n=1] failed::MKS2101 50%25 wrong%0A")
    many = github_of([run_of(tmp_path / "r", *(failed(n) for n in range(30)))])
    assert many.count("\n") == 10
    assert many.splitlines()[-1] == "::error title=mkeyspec::21 more went wrong"
    assert github_of([run_of(tmp_path / "r", row(1))]) == ""


@pytest.mark.parametrize("form", [github_of, gitlab_of])
def test_nothing_of_a_device_reaches_a_log_but_text(tmp_path: Path, form: Callable[[list[Run]], str]) -> None:
    """Neither a terminal's controls nor a workflow command, wherever they stand."""
    wrong = failed(1, "\x1b[31mred\r\n::stop-commands::x\n\u202e%0A::add-mask::x\x85::x")
    wrong = replace(wrong, id=wrong.id.replace("n=1", "n=\x1b]0;x\x07,a::b%\r\n::x"))
    text = form([run_of(tmp_path / "r", wrong)])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    if form is github_of:
        (line,) = text.splitlines()
        assert line.startswith("::error file=")
        assert "%0A::stop-commands::x%0A" in line
        assert "%250A::add-mask" in line


def test_gitlab(tmp_path: Path) -> None:
    lost = Result(f"{FILE}::c[n=2]", "lost", code="MKS2012")
    issues = json.loads(gitlab_of([run_of(tmp_path / "r", failed(1), lost, row(3))]))
    assert [one["location"] for one in issues] == [
        {"path": FILE, "lines": {"begin": 9}},
        {"path": FILE, "lines": {"begin": 3}},
    ]
    assert [one["severity"] for one in issues] == ["major", "critical"]
    assert len({one["fingerprint"] for one in issues}) == 2
    assert issues[0]["description"] == f"{FILE}::c[n=1]: MKS2101 4 bytes differ"
    assert gitlab_of([run_of(tmp_path / "r", row(1))]) == "[]\n"


def test_the_commands(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    done = project.mkeyspec("report", "text")
    assert done.code == 2
    assert done.err.startswith("mkeyspec: error[MKS0903]: there are no results below reports; ")
    project.mkeyspec("run", "cases")
    assert "5 passed, 1 failed, 1 skipped" in project.mkeyspec("report", "text").out
    assert project.mkeyspec("report", "github").out.startswith("::error file=cases/a.mks,line=20,")
    assert len(json.loads(project.mkeyspec("report", "gitlab").out)) == 1
    assert project.mkeyspec("report").code == 2


def test_rows_that_look_alike_are_one_cause(tmp_path: Path) -> None:
    """The near miss and the requirement are the cause; the number of bytes and the place are not."""
    run = run_of(
        tmp_path / "results.ndjson",
        failed(1, "4 bytes differ, first wire[512]", looks_like=["crc.inversion"]),
        failed(2, "12 of 1548 bytes in memory differ", looks_like=["crc.inversion"]),
        failed(3, "4 bytes differ, first wire[512]"),
    )
    causes = [(cause.title, len(cause.results)) for cause in causes_of((run, one) for one in results_of(run))]
    assert causes == [("CRC-02: looks like: crc.inversion", 2), ("CRC-02: MKS2101 N bytes differ, first wire[N]", 1)]
