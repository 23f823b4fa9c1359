"""Tags and levels: which cases they select, and that a failure of a case that is not mandatory fails no run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mkeyspec.diagnostics.codes import CODES
from mkeyspec.plan import At
from mkeyspec.run.verdict import JUDGED, CaseFailed, Failure
from tests.plugin.project import Project

CASE = """
case {name}
    verifies LAY-05
{head}    memory m = counter(64)
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire == {what}
"""


def case(name: str, *head: str, what: str = "counter(64)") -> str:
    return CASE.format(name=name, head="".join(f"    {line}\n" for line in head), what=what)


SUITE = 'mks 1\nsuite "labels"\ntags nightly\n' + "".join(
    (
        case("one"),
        case("two", "tags slow, wraps"),
        case("three", "tags slow", "level recommended"),
        case("four", "level optional"),
    )
)
WRONG = "fill(0, 64)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", SUITE)
    return made


def lines(project: Project, kind: str) -> list[dict[str, object]]:
    stream = max(project.path.glob("reports/*/results.ndjson"), key=lambda path: path.stat().st_mtime_ns)
    return [one for one in map(json.loads, stream.read_text("utf-8").splitlines()) if one["kind"] == kind]


def ran(project: Project, *arguments: str) -> list[str]:
    done = project.mkeyspec("run", *arguments)
    assert done.code == 0, done.out + done.err
    return [str(one["id"]).rpartition("::")[2] for one in lines(project, "result")]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--tag=slow",), ["two", "three"]),
        (("--tag", "wraps"), ["two"]),
        (("--tag=wraps", "--tag=nightly"), ["one", "two", "three", "four"]),
        (("--level=mandatory",), ["one", "two"]),
        (("--level=recommended", "--level=optional"), ["three", "four"]),
        (("--tag=slow", "--level=mandatory"), ["two"]),
        (("--tag=slow", "-k", "three"), ["three"]),
    ],
)
def test_they_select(project: Project, options: tuple[str, ...], names: list[str]) -> None:
    assert ran(project, *options) == names


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_tag_that_no_case_has_is_an_error(project: Project, workers: tuple[str, ...]) -> None:
    done = project.mkeyspec("run", "--tag=slwo", "--tag=wraps", *workers)
    assert done.code == 2
    assert "error[MKS0905]: --tag slwo: no case here has this tag; did you mean `slow`?" in done.out


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
@pytest.mark.parametrize("level", ["recommended", "optional"])
def test_a_failure_below_mandatory_is_told_and_fails_no_run(
    project: Project, level: str, workers: tuple[str, ...]
) -> None:
    project.put("cases/a.mks", "mks 1\n" + case("one") + case("two", f"level {level}", what=WRONG))
    done = project.mkeyspec("run", *workers)
    assert done.code == 0, done.out
    assert f"1 passed, 0 failed, 1 known (1 {level})" in done.out + done.err
    assert f"{level}: " in done.out
    assert "63 of 64 bytes differ, first at wire[1]" in done.out
    (found,) = [one for one in lines(project, "result") if one["verdict"] == "known"]
    assert found["code"] == "MKS2101"
    assert str(found["message"]).startswith(f"{level}: MKS2101 63 of 64 bytes differ")
    assert "expect wire == fill(0, 64)" in str(found["text"])


NOT_ABOUT_THE_DEVICE = {
    # the machine, or what the options ask for
    "MKS2007", "MKS2008", "MKS2009", "MKS2010", "MKS2011", "MKS2012", "MKS2014", "MKS2015", "MKS2016",
    "MKS2107", "MKS2108", "MKS2111",  # the case itself
    "MKS2206", "MKS2207", "MKS2208",  # nothing can be judged from here on
    "MKS2301", "MKS2303",  # a list that is out of date
}  # fmt: skip


def test_what_is_no_verdict_about_the_device_fails_at_each_level() -> None:
    wrong = Failure("MKS2101", At(1, 1), "differs")
    assert CaseFailed("", (wrong,)).is_judged
    assert not CaseFailed("", ()).is_judged
    assert not CaseFailed("", (wrong,), "the canary transfer did not complete").is_judged
    for code in sorted(NOT_ABOUT_THE_DEVICE):
        assert not CaseFailed("", (wrong, Failure(code, At(1, 1), "no answer"))).is_judged
    assert {code for code in CODES if code.startswith("MKS2")} == JUDGED | NOT_ABOUT_THE_DEVICE


OF_THE_CASE = {
    "MKS2107": (
        "memory n[4]", "mkey j { entries 4 }", "store n = be32(8 / (j.max_entries - 4))", "expect n == be32(5)",
    ),
    "MKS2108": (
        "peer memory n[64]", "mkey j { entries 4 }", "write k[0 +: j.max_entries * 15 + 20] to n", "expect n == m",
    ),
}  # fmt: skip


@pytest.mark.parametrize("excuse", ["level", "waiver"])
@pytest.mark.parametrize("code", OF_THE_CASE)
def test_a_fault_of_the_case_is_not_excused(project: Project, excuse: str, code: str) -> None:
    text = case("one", *(["level recommended"] if excuse == "level" else []))
    project.put("cases/a.mks", "mks 1\n" + text + "".join(f"    {line}\n" for line in OF_THE_CASE[code]))
    table = '[[waiver]]\nrows = ["cases/a.mks::one"]\noutcome = "fails"\n'
    project.put("w.toml", table + 'owner = "A"\nreason = "r"\nexpires = 2099-01-01\n')
    done = project.mkeyspec("run", *(["--waivers=w.toml"] if excuse == "waiver" else []))
    assert code in done.out, done.out
    assert done.code == 1, done.out


def test_a_mandatory_failure_still_fails(project: Project) -> None:
    for text in (case("one", what=WRONG), "level optional\n" + case("one", "level mandatory", what=WRONG)):
        project.put("cases/a.mks", "mks 1\n" + text)
        assert project.mkeyspec("run").code == 1


def test_the_stream_the_list_and_the_properties_have_them(project: Project) -> None:
    ran(project)
    cases = {str(one["case"]).rpartition("::")[2]: one for one in lines(project, "case")}
    assert cases["three"]["tags"] == ["nightly", "slow"]
    assert [one.get("level", "mandatory") for one in cases.values()] == [
        "mandatory", "mandatory", "recommended", "optional",
    ]  # fmt: skip
    listed = json.loads(project.mkeyspec("list", "--format", "json").out)
    assert [one["tags"] for one in listed[0]["cases"]][1] == ["nightly", "slow", "wraps"]
    assert [one["level"] for one in listed[0]["cases"]][2:] == ["recommended", "optional"]
    assert "        tags nightly, slow\n        level recommended\n" in project.mkeyspec("list").out


def test_a_profile_and_a_tag_select_what_both_select(project: Project) -> None:
    project.put("cases/quick.toml", 'items = ["cases/a.mks::one", "cases/a.mks::two"]\n')
    assert ran(project, "--profile=quick", "--tag=slow") == ["two"]
    assert ran(project, "--profile=quick", "--level=mandatory") == ["one", "two"]
    project.put("cases/quick.toml", 'items = ["cases/a.mks::one", "cases/a.mks::gone"]\n')
    assert "MKS0922" in project.mkeyspec("run", "--profile=quick", "--tag=nightly").out
