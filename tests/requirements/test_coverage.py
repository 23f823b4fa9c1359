"""Coverage: halves of an entry, outcomes of the last run, corners of the parameter space; no gap in what is shipped."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mkeyspec import plan
from mkeyspec.cli import main
from mkeyspec.compiler.compile import compile_file
from mkeyspec.requirements.coverage import count_bins, cover, space
from mkeyspec.requirements.coverage_page import coverage_page
from mkeyspec.requirements.ledger import Requirement, requirements
from mkeyspec.requirements.proofs import Proof, Proofs, read
from tests.shipped import compiled, suites

ROOT = Path(__file__).resolve().parents[2]

CASES = """\
mks 1

case goes_out
    verifies LST-01, SIG-01, SIG-08
    memory m = framed(counter(1024), crc32(ones) every 512)
    mkey k { block_signature }
    configure k { layout list(m); signature { mem crc32(ones) every 512 } }
    transmit k by send
    expect wire == counter(1024)

case refused
    verifies LAY-03
    memory m = counter(4)
    mkey k
    configure k { layout list(m); layout list(m) }
        rejected at complete

case reported
    verifies SIG-01
    for bad in 0, 1
    let d = crc32(ones) every 512
    memory m = flip(framed(counter(1024), d), field_at(d, bad))
    mkey k { block_signature }
    configure k { layout list(m); signature { mem d } }
    transmit k by send
    expect wire == counter(1024)
    check k is bad_guard, block bad
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the three cases, which is where the commands run."""
    (tmp_path / "mkeyspec.toml").write_text("")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.mks").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def suite(project: Path) -> plan.Suite:
    found = compile_file(project / "cases" / "a.mks").suite
    assert found is not None
    return found


def halves(suite: plan.Suite, *entries: Requirement) -> dict[str, tuple[int, int, str]]:
    ledger = {one.id: one for one in entries}
    cases = tuple(replace(case, verifies=tuple(one for one in case.verifies if one in ledger)) for case in suite.cases)
    found = cover([replace(suite, cases=cases)], ledger, {})
    return {one.requirement.id: (one.positive, one.negative, one.missing) for one in found}


def test_items_count_for_the_half_that_they_show(suite: plan.Suite) -> None:
    ledger = requirements()
    assert halves(suite, ledger["SIG-01"], ledger["LAY-03"], ledger["SIG-08"]) == {
        "SIG-01": (3, 2, ""),  # one that holds, two that hold and are reported
        "LAY-03": (0, 1, "positive"),
        "SIG-08": (1, 0, ""),  # its negative half is seen by exactness
    }


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"negative_judged": "claim", "negative": "n"}, "negative"),
        ({"negative_judged": "exactness", "negative": "n"}, ""),
        ({"negative_judged": "not", "negative": "n", "negative_reason": "r"}, ""),
        ({}, ""),
        ({"treatment": "untestable", "reason": "r", "negative_judged": "claim", "negative": "n"}, ""),
    ],
    ids=["claim", "exactness", "not", "no negative", "untestable"],
)
def test_what_a_half_wants(suite: plan.Suite, changes: dict[str, str], missing: str) -> None:
    plain = replace(requirements()["LST-01"], negative="", negative_judged="", negative_reason="", treatment="strict")
    assert halves(suite, replace(plain, **changes))["LST-01"] == (1, 0, missing)  # type: ignore[arg-type]  # all text


def test_an_entry_without_a_case_lacks_both(suite: plan.Suite) -> None:
    assert halves(suite, requirements()["WRP-19"])["WRP-19"] == (0, 0, "positive, negative")


def test_claims_that_are_proved_are_supported(
    project: Path, suite: plan.Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {
        ("cases/a.mks::goes_out", "SIG-01", "positive"): Proof("check_never", "", "MKS2106"),
        ("cases/a.mks::reported", "SIG-01", "positive"): Proof("check_never", "bad=0", "MKS2101"),
        ("cases/a.mks::reported", "SIG-01", "negative"): Proof("check_never", "bad=0", "MKS2106"),
        ("cases/a.mks::gone", "SIG-01", "negative"): Proof("check_never", "", "MKS2106"),
    }
    (entry,) = cover([suite], {"SIG-01": requirements()["SIG-01"], **_others()}, {}, Proofs(known))[:1]
    assert (len(entry.cases), entry.supported, entry.supported_positive, entry.supported_negative) == (2, 2, 2, 1)
    (project / "cases" / "claims.json").write_text(Proofs(known).text())
    _, out, _ = run(capsys, "coverage")
    assert "2 cases,   2 supported" in next(line for line in out.splitlines() if line.startswith("SIG-01 "))
    assert out.splitlines()[-1].endswith("3 cases; 2 of 5 claims are supported")
    (project / "cases" / "claims.json").write_text("{")
    code, _, err = run(capsys, "coverage")
    assert code == 2
    assert "holds no proofs" in err


def _others() -> dict[str, Requirement]:
    return {name: one for name, one in requirements().items() if name != "SIG-01"}


def test_corners(suite: plan.Suite) -> None:
    corner = ("crc32 ones", "512", "mem", "tx", "list", "2")
    assert count_bins([suite]) == Counter({corner: 3})
    assert corner in set(space())
    assert len(list(space())) == len(set(space())) == 9 * 5 * 3 * 2 * 2 * 3


# The command -----------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["requirements", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


REPORT = """\
<testsuites><testsuite>
<testcase><properties><property name="case" value="cases/a.mks::goes_out"/></properties></testcase>
<testcase><properties><property name="case" value="cases/a.mks::refused"/></properties><skipped/></testcase>
<testcase><properties><property name="case" value="cases/a.mks::reported[bad=0]"/></properties><failure/></testcase>
<testcase><properties><property name="case" value="cases/a.mks::reported[bad=1]"/></properties></testcase>
</testsuite></testsuites>
"""


def test_entries_that_lost_their_cases_fail_and_are_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "coverage")
    assert code == 1
    assert "mkeyspec: LAY-03 lacks a positive case" in err
    assert "mkeyspec: WRP-19 lacks a positive, negative case" in err
    assert "SIG-01 lacks" not in err
    line = next(line for line in out.splitlines() if line.startswith("SIG-01 "))
    assert "3 positive" in line
    assert "2 negative" in line
    assert "2 cases,   0 supported; not run" in line
    assert "not testable: " in next(line for line in out.splitlines() if line.startswith("MKY-07 "))


def test_outcomes_of_the_last_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "reports").mkdir()
    (project / "reports" / "junit.xml").write_text(REPORT)
    (project / "other.xml").write_text(REPORT.replace("<failure/>", ""))
    _, out, _ = run(capsys, "coverage", "--format", "json")
    entries = {one["id"]: one for one in json.loads(out)["entries"]}
    assert entries["SIG-01"]["outcomes"] == {"passed": 2, "failed": 1}
    assert entries["LAY-03"]["outcomes"] == {"skipped": 1}
    assert entries["SIG-01"]["cases"] == ["cases/a.mks::goes_out", "cases/a.mks::reported"]
    assert entries["WRP-19"]["missing"] == "positive, negative"
    _, out, _ = run(capsys, "coverage", "--report", "other.xml")
    assert "3 passed" in next(line for line in out.splitlines() if line.startswith("SIG-01 "))


def test_bins_are_printed_and_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "coverage", "--bins")
    assert [line.split() for line in out.splitlines() if line.startswith("crc32 ones")] == [
        ["crc32", "ones", "512", "mem", "tx", "list", "2", "3"]
    ]
    assert "mkeyspec: 1 of 1620 corners of the parameter space are visited" in out
    _, out, _ = run(capsys, "coverage", "--bins", "--format", "json")
    assert json.loads(out)["bins"] == [["crc32 ones", "512", "mem", "tx", "list", "2", 3]]


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert len(out.splitlines()) == len(requirements())
    code, out, _ = run(capsys, "list", "--format", "json")
    assert [one["id"] for one in json.loads(out)] == list(requirements())


def test_no_case_is_nothing_to_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "cases" / "a.mks").write_text("mks 1\n\nlet a = 1\n")
    assert run(capsys, "coverage")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("coverage", "--report", "broken.xml"), "can't read the report"),
        (("coverage", "--report", "cases"), "can't read the report"),
        (("coverage", "wrong.mks"), "these files have errors, see `mkeyspec check`: wrong.mks"),
        (("coverage", "nowhere"), "nowhere"),
        ((), "say list, coverage, drift or mark"),
    ],
    ids=["broken report", "a directory", "errors in a file", "no such file", "no verb"],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], reason: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "broken.xml").write_text("<testsuites>")
    (project / "wrong.mks").write_text("mks 1\n\ncase a\n    expect wire ==\n")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert reason in err


# What is shipped -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> list[plan.Suite]:
    return [compiled(path) for path in suites()]


def test_a_case_of_ones_own_is_not_a_shipped_one(tmp_path: Path) -> None:
    """README has its reader save one in cases/; docs/coverage.md is about the others."""
    (tmp_path / "cases").mkdir()
    for name in ("shipped", "mine"):
        (tmp_path / "cases" / f"{name}.mks").write_text("mks 1\n")
    assert [path.stem for path in suites(tmp_path)] == ["mine", "shipped"]
    for words in (["init", "-q"], ["add", "cases/shipped.mks"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    assert [path.stem for path in suites(tmp_path)] == ["shipped"]


def test_no_testable_entry_of_the_ledger_lacks_a_case(shipped: list[plan.Suite]) -> None:
    found = cover(shipped, requirements(), {})
    assert {one.requirement.id: one.missing for one in found if one.missing} == {}


def test_untestable_entries_have_no_case(shipped: list[plan.Suite]) -> None:
    found = cover(shipped, requirements(), {})
    assert [one.requirement.id for one in found if one.requirement.treatment == "untestable" and one.cases] == []


def test_every_case_verifies_something(shipped: list[plan.Suite]) -> None:
    bare = [f"{suite.source}::{case.name}" for suite in shipped for case in suite.cases if not case.verifies]
    assert bare == []


def test_every_corner_of_the_parameter_space_is_visited(shipped: list[plan.Suite]) -> None:
    counted = count_bins(shipped)
    assert [corner for corner in space() if not counted[corner]] == []


def test_the_page_is_fresh(shipped: list[plan.Suite]) -> None:
    """mkeyspec requirements coverage --format markdown > docs/coverage.md"""
    page = coverage_page(cover(shipped, requirements(), {}, read(ROOT)), count_bins(shipped))
    assert (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8") == page
