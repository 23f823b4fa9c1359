"""A suite's own ledgers: `verifies ACME-12`, what else takes the id, and errors at their lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mkeyspec.files.toml_places import TomlError
from mkeyspec.requirements.own import own_ledger
from tests.plugin.project import Project

LEDGER = """\
page = "ACME NIC specification 2.1"

[ACME-12]
title = "Bytes arrive in order"
statement = "The NIC sends the bytes of a list in the list's order."

[ACME-13]
title = "Nothing yet"
statement = "No case shows this."
"""

CASES = """\
mks 1
suite "own"
case in_order
    verifies ACME-12, LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(64)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("mkeyspec.toml", 'ledgers = ["acme.toml"]\n')
    made.put("acme.toml", LEDGER)
    made.put("cases/a.mks", CASES)
    return made


def errors(tmp_path: Path, *texts: str) -> list[str]:
    names = [f"{number}.toml" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "mkeyspec.toml").write_text(f"ledgers = {names}\n", "utf-8")
    with pytest.raises(TomlError) as caught:
        own_ledger(tmp_path)
    return str(caught.value).replace(f"{os.path.relpath(tmp_path)}/", "").splitlines()


def test_a_case_verifies_an_id_of_its_own(project: Project) -> None:
    assert project.mkeyspec("check").code == 0
    done = project.mkeyspec("run", "-k", "ACME-12")
    assert "1 passed" in done.out
    assert "1 passed" in project.pytest("-n", "1").out


def test_explain_list_and_coverage_know_it(project: Project) -> None:
    done = project.mkeyspec("explain", "acme-12")
    assert "ACME-12: Bytes arrive in order" in done.out
    assert "page: ACME NIC specification 2.1" in done.out
    assert (
        "ACME-12   Bytes arrive in order  (ACME NIC specification 2.1)" in project.mkeyspec("requirements", "list").out
    )
    assert "did you mean `ACME-12`?" in project.mkeyspec("explain", "ACME-21").err
    done = project.mkeyspec("requirements", "coverage", "--own")
    assert "1 of 2 testable entries have their cases" in done.out
    assert done.err == "mkeyspec: ACME-13 lacks a positive case\n"
    assert done.code == 1


def test_a_wrong_id_gets_a_suggestion(project: Project) -> None:
    project.put("cases/a.mks", CASES.replace("ACME-12", "ACME-21"))
    done = project.mkeyspec("check")
    assert "the ledger has no requirement `ACME-21`" in done.out
    assert "did you mean `ACME-12`?" in done.out


def test_a_failure_says_what_the_case_verifies(project: Project) -> None:
    project.put("cases/a.mks", CASES.replace("wire == counter(64)", "wire == fill(1, 64)"))
    assert "ACME-12: The NIC sends the bytes of a list in the list's order." in project.mkeyspec("run").out


def test_a_changed_ledger_makes_modules_stale(project: Project) -> None:
    assert project.mkeyspec("run").code == 0
    project.put("acme.toml", LEDGER.replace("ACME-12", "ACME-14"))
    done = project.pytest()
    assert "the ledger has no requirement `ACME-12`" in done.out


def test_without_its_ledger_the_id_is_unknown(project: Project) -> None:
    project.put("mkeyspec.toml", "")
    assert "the ledger has no requirement `ACME-12`" in project.mkeyspec("check").out


def test_a_broken_ledger_is_told_at_its_line_by_every_command(project: Project) -> None:
    project.put("acme.toml", LEDGER + '[CRC-02]\ntitle = "mine"\nstatement = "mine"\n')
    for command in ("check", "compile", "run", "explain ACME-12", "requirements list"):
        done = project.mkeyspec(*command.split())
        assert done.code == 2, command
        told = "acme.toml:10:1: error[MKS0941]: `CRC-02` is an id of the shipped ledger; give yours another prefix"
        assert told in done.out + done.err, command
        assert "Traceback" not in done.out + done.err
    done = project.pytest()
    assert "acme.toml:10:1: error[MKS0941]" in done.out + done.err


ENTRY = 'title = "t"\nstatement = "s"\n'


def test_two_ledgers_with_one_id(tmp_path: Path) -> None:
    page = 'page = "p"\n'
    assert errors(tmp_path, f"{page}[ACME-1]\n{ENTRY}", f"{page}\n[ACME-1]\n{ENTRY}") == [
        "1.toml:3:1: error[MKS0941]: `ACME-1` is there already, at 0.toml:2:1; give one of them another number"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"[ACME-1]\n{ENTRY}", "0.toml:1:1: error[MKS0941]: a ledger says where its requirements come from"),
        (f'page = "p"\n[acme-1]\n{ENTRY}', "0.toml:2:1: error[MKS0941]: `acme-1` is not an id"),
        (f'page = "p"\n[CRC-99]\n{ENTRY}', "`CRC-99`: ids that begin with CRC- belong to the shipped ledger"),
        (f'page = "p"\n[X-ACME-1]\n{ENTRY}', "belong to the shipped ledger"),
        ('page = "p"\n[ACME-1]\ntitle = "t"\n', "0.toml:2:1: error[MKS0941]: ACME-1 lacks `statement`"),
        (f'page = "p"\n[ACME-1]\n{ENTRY}levl = "must"\n', "0.toml:5:1: error[MKS0941]: unknown key `levl` in ACME-1"),
        (f'page = "p"\n[ACME-1]\n{ENTRY}level = "most"\n', "`level` of ACME-1 is one of must, caller"),
        (f'page = "p"\n[ACME-1]\n{ENTRY}observe = "a"\n', "`observe` of ACME-1 is a list of texts"),
        (f'page = "p"\n[ACME-1]\n{ENTRY}treatment = "untestable"\n', "say why, in `reason`"),
        ('page = "p"\nACME-1 = 2\n', "`ACME-1` is a table"),
        ('page = "p"\n[ACME-1\n', "0.toml:2:8: error[MKS0941]: it is not TOML"),
    ],
)
def test_errors_of_a_ledger(tmp_path: Path, text: str, told: str) -> None:
    (only,) = errors(tmp_path, text)
    assert told in only
