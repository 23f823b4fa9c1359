"""What differs between runs, and the exit code of `mkeyspec compare`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.report.compare import compare
from mkeyspec.report.comparison_text import json_of, markdown_of, text_of
from mkeyspec.report.reader import Run, Unusable
from mkeyspec.report.record import DeviceInfo, Result
from tests.plugin.project import CASES, Project
from tests.report.results import ABOUT, BEGIN, FILE, failed, row, run_of

LATER = replace(BEGIN, run="20261123-000000-model-0000", git_commit="beef00")


def runs(folder: Path, before: list[Result], now: list[Result], **values: Any) -> list[Run]:
    return [run_of(folder / "a", *before), run_of(folder / "b", *now, begin=values.pop("begin", LATER), **values)]


def id_of(n: object) -> str:
    return f"{FILE}::c[n={n}]"


BLOCKED = row(0, "blocked", code="MKS2008")
KINDS: list[tuple[Result | None, Result | None, str | None, bool]] = [
    (row(0), row(0), None, False),
    (row(0), failed(0), "REGRESSED", True),
    (row(0), BLOCKED, "REGRESSED", True),
    (row(0), row(0, "lost", code="MKS2012"), "REGRESSED", True),
    (row(0), row(0, "unseen", code="MKS2301"), "REGRESSED", True),
    (row(0, "known"), row(0, "error", code="MKS0202"), "REGRESSED", True),
    (row(0), None, "LOST", True),
    (failed(0), None, "LOST", True),
    (row(0), row(0, "skipped"), "LOST", True),
    (failed(0), row(0, "skipped"), "LOST", True),
    (row(0, "skipped"), None, "CHANGED", False),
    (row(0, "skipped"), row(0, "skipped"), None, False),
    (row(0, "skipped"), row(0), "CHANGED", False),
    (row(0, "skipped"), failed(0), "REGRESSED", True),
    (failed(0), row(0), "FIXED", False),
    (failed(0), row(0, "known"), "FIXED", False),
    (failed(0), BLOCKED, "STILL WRONG", False),
    (row(0, "known"), row(0), "CHANGED", False),
    (row(0), row(0, "known"), "REGRESSED", True),
    (row(0, "skipped"), row(0, "known"), "CHANGED", False),
    (row(0, "known"), row(0, "known"), None, False),
    (None, row(0), "NEW", False),
    (None, row(0, "skipped"), "NEW", False),
    (None, failed(0), "NEW FAILURE", True),
]  # fmt: skip


@pytest.mark.parametrize(("before", "now", "kind", "bad"), KINDS)
def test_kinds(tmp_path: Path, before: Result | None, now: Result | None, kind: str | None, bad: bool) -> None:
    pair = ([row(9)] if one is None else [row(9), one] for one in (before, now))
    found = compare(runs(tmp_path, *pair))
    assert [(one.id, one.kind) for one in found.changes] == ([] if kind is None else [(id_of(0), kind)])
    assert found.bad == bad
    assert found.same == (2 if kind is None else 1)


def test_flaky_is_what_differs_where_nothing_else_does(tmp_path: Path) -> None:
    def kinds(*three: Run) -> dict[str, str]:
        return {one.id: one.kind for one in compare(three).changes}

    good, bad = run_of(tmp_path / "a", row(1)), run_of(tmp_path / "b", failed(1))
    again = run_of(tmp_path / "c", row(1))
    assert kinds(good, bad) == {id_of(1): "FLAKY"}
    assert compare([good, bad]).bad
    assert kinds(good, bad, again) == {id_of(1): "FLAKY"}
    assert not compare([good, bad, again]).bad
    for begin in (LATER, replace(BEGIN, git_changed=True), replace(BEGIN, git_commit=""), replace(BEGIN, kernel="6.1")):
        other = run_of(tmp_path / "d", failed(1), begin=replace(begin, run="other"))
        assert kinds(good, other) == {id_of(1): "REGRESSED"}
    firmware = (DeviceInfo("mlx5_0 (ConnectX-7)", "28.44"), *ABOUT[1:])
    assert kinds(good, run_of(tmp_path / "e", failed(1), about=firmware)) == {id_of(1): "REGRESSED"}


def test_a_row_that_passed_at_its_second_try_is_flaky(tmp_path: Path) -> None:
    found = compare(runs(tmp_path, [row(1)], [failed(1, rerun=True), row(1)]))
    assert [one.kind for one in found.changes] == ["FLAKY"]
    assert not found.bad


def test_of_three_runs_the_last_result_counts(tmp_path: Path) -> None:
    three = [
        run_of(tmp_path / "a", row(1), failed(2)),
        run_of(tmp_path / "b", failed(1), begin=replace(LATER, git_commit="2")),
        run_of(tmp_path / "c", row(1), row(2), begin=replace(LATER, git_commit="3")),
    ]
    assert {one.id: one.kind for one in compare(three).changes} == {id_of(1): "FIXED", id_of(2): "FIXED"}


def test_values_durations_and_capabilities(tmp_path: Path) -> None:
    about = (DeviceInfo("mlx5_0 (ConnectX-7)", "28.44", offers=["memcpy"], values={"max_sge": 40}), *ABOUT[1:])
    before = [row(1, records={"granted": "4", "gone": "1"}, seconds=0.2), row(2, seconds=0.001), row(3, seconds=1.0)]
    now = [row(1, records={"granted": "8"}, seconds=0.41), row(2, seconds=0.04), row(3, seconds=1.9)]
    found = compare(runs(tmp_path, before, now, about=about))
    assert found.records == [(id_of(1), "granted", "4", "8"), (id_of(1), "gone", "1", "")]
    assert found.durations == [(id_of(1), 0.2, 0.41)]  # by twice; 0.04 s is nothing, 1.9 is less than twice
    assert found.capabilities == [("crypto", "yes", ""), ("max_sge", "30", "40"), ("memcpy", "", "yes")]
    assert ("firmware", "28.43.1014", "28.44") in found.provenance
    assert ("version:rdma-core", "44.0", "") in found.provenance
    assert not found.bad


def test_one_defect_is_one_line(tmp_path: Path) -> None:
    before = [row(n) for n in range(40)]
    now = [failed(n, f"{n + 1} of 4096 bytes differ, first wire[{n}]") for n in range(39)] + [
        failed(39, "no completion")
    ]
    text = text_of(compare(runs(tmp_path, before, now)))
    lines = [line for line in text.splitlines() if "passed → failed" in line]
    assert len(lines) == 2
    assert lines[0].split() == [
        "39", id_of(0), "and", "38", "more", "(passed", "→", "failed)", "CRC-02:", "MKS2101", "N", "of", "N", "bytes",
        "differ,", "first", "wire[N]",
    ]  # fmt: skip
    assert text.splitlines()[-1] == "mkeyspec: 40 REGRESSED, 0 the same"


def test_forms(tmp_path: Path) -> None:
    hostile = failed(1, "<script>alert(1)</script> | `a` \x1b[31m # *b*")
    found = compare(runs(tmp_path, [row(1), row(2)], [hostile, row(3)]))
    data = json.loads(json_of(found))
    assert data["bad"] is True
    assert {one["id"]: one["kind"] for one in data["changes"]} == {
        id_of(1): "REGRESSED", id_of(2): "LOST", id_of(3): "NEW",
    }  # fmt: skip
    assert data["changes"][0]["now"]["code"] == "MKS2101"
    for text in (text_of(found), markdown_of(found)):
        assert "\x1b" not in text
        assert "REGRESSED" in text
    assert "<script>" not in markdown_of(found)
    assert "\\<script\\>" in markdown_of(found)


def test_runs_that_do_not_belong_together(tmp_path: Path) -> None:
    other = Result("cases/other.mks::d", "passed")
    with pytest.raises(Unusable, match="MKS0932"):
        compare(runs(tmp_path, [row(1)], [other]))


# The command -----------------------------------------------------------------------------------


def test_the_command(tmp_path: Path) -> None:
    project = Project(tmp_path)
    good = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")
    project.put("cases/a.mks", good)
    assert project.mkeyspec("run", "cases", "--results", "good.ndjson").code == 0
    project.put("cases/a.mks", CASES)
    assert project.mkeyspec("run", "cases").code == 1
    done = project.mkeyspec("compare", "good.ndjson")
    assert done.code == 1
    assert "REGRESSED  1" in done.out
    line = (
        "cases/a.mks::fails[n=2]  (passed → failed)  SIG-07: looks like: by the references the device did what the case"
    )
    assert line in done.out
    (newest,) = (path.name for path in (tmp_path / "reports").iterdir() if path.is_dir())
    done = project.mkeyspec("compare", newest, "good.ndjson", "--format", "markdown", "-o", "out.md")
    assert done.code == 0
    assert "### FIXED: 1" in (tmp_path / "out.md").read_text()
    assert project.mkeyspec("compare", newest, "good.ndjson", "--format", "html", "-o", "out.html").code == 0
    page = (tmp_path / "out.html").read_text()
    assert "1 FIXED" in page
    assert "Content-Security-Policy" in page
    for arguments, code in (
        (["good.ndjson", "good.ndjson"], "MKS0932"),
        (["nowhere"], "MKS0903"),
        (["cases/a.mks"], "MKS0930"),
        (["good.ndjson", "-o", "cases"], "MKS0902"),
    ):
        done = project.mkeyspec("compare", *arguments)
        assert done.code == 2
        assert done.err.startswith(f"mkeyspec: error[{code}]: ")
        assert done.err.count("\n") == 1


def test_nothing_judged_is_no_success(tmp_path: Path) -> None:
    project = Project(tmp_path)
    run_of(tmp_path / "a", row(1, "skipped"))
    run_of(tmp_path / "b", row(1, "skipped"), begin=LATER)
    assert project.mkeyspec("compare", "a", "b").code == 3
