"""Drift against pages of our own: the ledger keeps no sentence, and finds each in any rendering of a page."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mkeyspec.cli import main
from mkeyspec.requirements.drift import drift, mark, sentences, words
from mkeyspec.requirements.ledger import Requirement, requirements

MARKDOWN = """\
# NAME
weigh - Weighs a *parcel*

A parcel is weighed **once**, by **weigh_parcel**(3), and never
again. The scales know no parcel heavier than `MAX_WEIGHT` (64 kg).
"""
TEXT = """\
WEIGH(3)              A manual                WEIGH(3)

NAME
       weigh - Weighs a parcel

       A parcel is weighed once, by weigh_parcel(3), and never again.  The scales know no par\u2010
       cel heavier than MAX_WEIGHT (64 kg).
"""
NEWER = MARKDOWN.replace("64 kg", "72 kg")
SENTENCES = (
    "A parcel is weighed once, by weigh_parcel(3), and never again.",
    "The scales know no parcel heavier than MAX_WEIGHT (64 kg).",
)


def entry(id: str, *said: str) -> Requirement:
    return Requirement(
        id,
        "t",
        "s.",
        "weigh(3)",
        "NAME",
        "must",
        ("return value",),
        "p",
        "",
        "",
        "",
        "strict",
        "",
        "",
        tuple(map(mark, said)),
    )


LEDGER = [entry("ONE-01", SENTENCES[0]), entry("TWO-02", *SENTENCES), entry("NONE-03")]


@pytest.mark.parametrize("page", [MARKDOWN, TEXT], ids=["markdown", "text"])
def test_the_same_page_in_any_rendering_has_not_drifted(page: str) -> None:
    assert drift(page, LEDGER) == []


def test_a_changed_sentence_is_named_by_its_entry_alone() -> None:
    found = drift(NEWER, LEDGER)
    assert [(one.requirement.id, one.lost, one.sentences) for one in found] == [("TWO-02", 1, 2)]


def test_an_empty_page_has_lost_everything_that_is_anchored() -> None:
    assert [one.requirement.id for one in drift("", LEDGER)] == ["ONE-01", "TWO-02"]


def test_order_of_words_counts_and_punctuation_does_not() -> None:
    assert mark("One, two; THREE!") == mark("one two\n three")
    assert mark("one two three") != mark("two one three")
    assert mark("a b").startswith("2:")


def test_words() -> None:
    assert words("A `b_c`(3),\n**D**-e") == ["a", "b_c", "3", "d", "e"]


def test_a_paragraph_is_a_sentence() -> None:
    assert sentences("one\ntwo\n\n \nthree\n\n--\n") == ["one\ntwo", "three"]


# The command -----------------------------------------------------------------------------------


def test_mark_prints_one_mark_a_paragraph(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\n".join(SENTENCES)))
    assert main(["requirements", "mark"]) == 0
    assert capsys.readouterr().out.split() == [mark(one) for one in SENTENCES]


def test_mark_of_nothing_is_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(" \n"))
    assert main(["requirements", "mark"]) == 3
    assert capsys.readouterr().out == ""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one case for one entry, which is where the command runs."""
    (tmp_path / "mkeyspec.toml").write_text("")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.mks").write_text(
        "mks 1\n\ncase destroy\n    verifies MKY-09\n    mkey k { entries 4 }\n    expect k.max_entries >= 4\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_drift_names_the_entries_and_the_cases_to_read_again(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = suite / "mlx5dv_create_mkey.txt"
    page.write_text("Nothing that the ledger knows.")
    assert main(["requirements", "drift", str(page)]) == 1
    said = capsys.readouterr()
    anchored = [one for one in requirements().values() if one.page == "mlx5dv_create_mkey(3)"]
    for one in anchored:
        assert f"{one.id}: {len(one.sentences)} of {len(one.sentences)} sentences" in said.out
        assert one.statement in said.out
    assert said.out.count("read again: cases/a.mks::destroy") == 1
    assert f"{len(anchored)} of {len(anchored)} entries drifted" in said.err


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("mlx5dv_create_mkey.txt", None, "can't read the page"),
        ("mlx5dv_create_mkey.3.md", b"\xff\xfe\x00", "can't read the page"),
        ("mkey.txt", b"a page", "name the file after its page, one of mlx5dv_create_mkey"),
    ],
    ids=["missing", "not UTF-8", "wrong name"],
)
def test_bad_pages_are_one_line(
    name: str, content: bytes | None, reason: str, suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (suite / name).write_bytes(content)
    assert main(["requirements", "drift", name]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert reason in said.err
    assert "MKS0907" in said.err
