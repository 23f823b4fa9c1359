"""`mkeyspec explain FILE:LINE`: the words of a line, their values, and what the case verifies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.cli.explain_line import about_a_word
from mkeyspec.editors.words import classes, keywords
from mkeyspec.language_server.keywords import INSIDE, KEYWORDS
from tests.plugin.project import Project

CASES = """\
mks 1
suite "a"
let size = 512

case first  # a comment
    verifies SIG-07, CRC-08
    for crc in crc32, crc32c
    let d = crc(ones) every size
    memory src = framed(counter(1024), d)
    mkey k { block_signature }

    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(1024)
"""

LINES: list[tuple[int, list[str]]] = [
    (3, ["let size = 512"]),
    (6, ["SIG-07", "CRC-08", "mlx5dv_wr_set_mkey_sig_block(3)"]),
    (9, ["memory src = framed(counter(1024), d)", "1,032 bytes", "counter("]),
    (12, ["mlx5dv_wr_mkey_configure(3)", "src[0 +: 1032]", "lines: `mem`, `wire`, `check_mask`, `copy_mask`"]),
    (13, ["claims: `rejected at complete`", "send_imm", "its case verifies:\n  SIG-07  "]),
    (14, ["the wire, 1,024 bytes"]),
]


@pytest.fixture
def suite(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    return project


@pytest.mark.parametrize(("line", "told"), LINES, ids=[CASES.splitlines()[line - 1].strip() for line, _ in LINES])
def test_each_word_of_a_line_is_told(suite: Project, line: int, told: list[str]) -> None:
    done = suite.mkeyspec("explain", f"cases/a.mks:{line}")
    assert done.code == 0, done.err
    assert done.out.startswith(f"cases/a.mks:{line}\n{line:>5} | {CASES.splitlines()[line - 1]}\n")
    for text in told:
        assert text in done.out, done.out
    assert "```" not in done.out


def test_a_place_as_a_failure_names_it(suite: Project) -> None:
    assert suite.mkeyspec("explain", "cases/a.mks:13:5").out == suite.mkeyspec("explain", "cases/a.mks:13").out


def test_the_end_of_a_block_is_told_as_its_beginning(suite: Project) -> None:
    text = CASES.replace(
        "configure k { layout list(src); signature { mem d } }",
        "configure k {\n        layout list(src)\n        signature {\n            mem d\n        }\n    }",
    )
    suite.put("cases/a.mks", text)
    done = suite.mkeyspec("explain", "cases/a.mks:17")
    assert done.code == 0, done.err
    assert done.out.startswith("cases/a.mks:17 ends what line 12 begins\n\ncases/a.mks:12\n")
    assert "mlx5dv_wr_mkey_configure(3)" in done.out
    inner = suite.mkeyspec("explain", "cases/a.mks:16")
    assert inner.out.startswith("cases/a.mks:16 ends what line 14 begins\n\ncases/a.mks:14\n")


def test_an_object_is_told_without_the_words_of_the_program(suite: Project) -> None:
    suite.put("cases/b.mks", "mks 1\ncase b\n    verifies LAY-05\n    dek e { key fill(0, 32) }\n")
    done = suite.mkeyspec("explain", "cases/b.mks:4")
    assert "the dek `e`\n" in done.out
    assert "Handle" not in done.out


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("t10dif", "The 8-byte T10-DIF tuple"),
        ("framed", "`data` with the domain's field after every block"),
        ("peer_read", "how data leaves (`transmit … by`)"),
        ("layout", "mlx5dv_wr_mkey_configure(3)"),
        ("fence", "a modifier of `compare_swap`"),
        ("rejected", "rejected at complete with EINVAL when n == 1"),
    ],
)
def test_a_word_of_the_language(suite: Project, word: str, told: str) -> None:
    done = suite.mkeyspec("explain", word)
    assert done.code == 0, done.err
    assert done.out.startswith(f"{word}\n    ")
    assert told in done.out
    assert "```" not in done.out


def test_a_line_that_is_being_written(suite: Project) -> None:
    """What can be told is told, whatever the rest of the file is like."""
    suite.put("cases/a.mks", CASES.replace("transmit k by send", "transmit k by nothing {"))
    done = suite.mkeyspec("explain", "cases/a.mks:12")
    assert done.code == 0, done.err
    assert "mlx5dv_wr_mkey_configure(3)" in done.out


@pytest.mark.parametrize(
    ("what", "code", "told"),
    [
        ("cases/a.mks:11", "MKS0907", "cases/a.mks:11 has nothing to explain"),
        ("cases/a.mks:0", "MKS0907", "cases/a.mks has 15 lines, and no line 0"),
        ("cases/a.mks:99", "MKS0907", "cases/a.mks has 15 lines, and no line 99"),
        ("cases/b.mks:1", "MKS0903", "no such file: cases/b.mks"),
        ("cases/a.mks", "MKS0907", "nothing is called 'cases/a.mks'"),
        ("cases/latin.mks:1", "MKS0907", "cases/latin.mks is not UTF-8"),
        ("cases/large.mks:1", "MKS0907", "cases/large.mks is too large"),
        ("cases:1", "MKS0907", "nothing is called 'cases:1'"),
    ],
)
def test_a_line_that_is_none(suite: Project, what: str, code: str, told: str) -> None:
    Path(suite.path / "cases/latin.mks").write_bytes(b"mks 1\n# \xe9\n")
    Path(suite.path / "cases/large.mks").write_bytes(b"#" * (20 << 20))
    done = suite.mkeyspec("explain", what)
    assert done.code == 2, done.out
    assert f"error[{code}]: {told}" in done.err, done.err
    assert "Traceback" not in done.err


ALL_WORDS = sorted(word for words in classes().values() for word in words)


@pytest.mark.parametrize("word", ALL_WORDS)
def test_every_word_of_the_language_is_told(word: str) -> None:
    told = about_a_word(word)
    assert told is not None
    assert told.startswith(f"{word}\n")
    assert len(told.splitlines()) > 1


def test_every_keyword_has_a_form_that_shows_it_and_a_meaning() -> None:
    """The words of the grammar and of the heads, and no others."""
    assert KEYWORDS.keys() == keywords()
    for word, (form, meaning) in {**KEYWORDS, **INSIDE}.items():
        assert re.search(rf"\b{word}\b", form), word
        assert meaning


@pytest.mark.parametrize("word", INSIDE)
def test_words_of_one_place_are_told(word: str) -> None:
    assert INSIDE[word][1] in str(about_a_word(word))


def test_a_word_that_is_nearly_one_of_the_language(suite: Project) -> None:
    done = suite.mkeyspec("explain", "evry")
    assert done.code == 2
    assert "nothing is called 'evry'; did you mean `every`?" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["offset"], ["a modifier of `check`", "last byte", "X-DIFF-32"]),
        (["block"], ["a modifier of `check`", "counted from 0"]),
        (["bg"], ["`t10dif`: zeros, ones, or an int"]),
        (["seed"], ["an argument of `crc32`", "an argument of `random`"]),
        (["profile"], ["what it does where the pages leave a point open"]),
        (["domain"], ["a signature and a block size", "an argument of `framed`"]),
        (["near miss"], ["`looks like`"]),
        (["interleaved"], ["`interleaved(4, data count 512, fields count 8 skip 56)`"]),
        (["memory"], ["background bytes (a pattern), not zeros"]),
    ],
)
def test_a_modifier_an_argument_and_a_term_have_their_meaning(
    tmp_path: Path, words: list[str], told: list[str]
) -> None:
    done = Project(tmp_path).mkeyspec("explain", *words)
    assert done.code == 0, done.err
    for text in told:
        assert text in done.out, done.out


def test_a_domain_is_told_in_the_words_of_the_language(suite: Project) -> None:
    done = suite.mkeyspec("explain", "cases/a.mks:12")
    assert "a domain: `crc32(ones) every 512`" in done.out, done.out
