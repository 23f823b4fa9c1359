"""The statement that a failure quotes, and the values of its names."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mkeyspec.plan import At
from mkeyspec.run.diagnosis import render
from mkeyspec.run.source_text import SourceText
from mkeyspec.run.verdict import CaseInfo, Failure, Verdict

SOURCE = """mks 1
case other
    let d = crc32(zeros) every 512
case c
    let d = t10dif(bg=bg) every size  # not { this
    let size = "512 {"
    memory m[8]
    post {
        configure k {
            layout list(m)  # a }
            signature { wire d }
        }
        write k
    }
    expect wire == framed(counter(n * 2), d)
    # a ( in a comment
    check k is bad_guard, block 1,
          found hex"00",  # the first
          computed crc(
          m)
    configure k {
"""

QUOTED: dict[str, tuple[At, list[str]]] = {
    "one line": (At(15, 5), ["15 |     expect wire == framed(counter(n * 2), d)", "   |     ^^^^"]),
    "the whole block, the culprit marked": (
        At(13, 9),
        [" 8 |     post {", " 9 |         configure k {", "10 |             layout list(m)  # a }",
         "11 |             signature { wire d }", "12 |         }", "13 |         write k", "   |         ^^^^^^^",
         "14 |     }"],
    ),
    "a statement of several lines": (At(8, 5), [" 8 |     post {", "   |     ^^^^", " 9 |         configure k {"]),
    "a statement that goes on behind a comma and in brackets": (
        At(17, 5),
        ["17 |     check k is bad_guard, block 1,", "   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
         "18 |           found hex\"00\",  # the first", "19 |           computed crc(", "20 |           m)"],
    ),
    "a block that does not end": (At(21, 5), ["21 |     configure k {", "   |     ^^^^^^^^^^^"]),
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTED)
def test_what_is_quoted(tmp_path: Path, name: str) -> None:
    at, expected = QUOTED[name]
    quoted = [line[2:] for line in source(tmp_path).quoted(at)]
    assert quoted[0] == "   |"
    for line, wanted in zip(quoted[1:], expected, strict=False):
        assert line == wanted if not set(wanted) <= set(" |^") else line.startswith(wanted)
    if name not in ("a statement of several lines", "a block that does not end"):
        assert len(quoted) == len(expected) + 1


def source(tmp_path: Path, text: str = SOURCE) -> SourceText:
    path = tmp_path / "a.mks"
    path.write_text(text, encoding="utf-8")
    return SourceText(path)


def test_a_long_statement_is_cut(tmp_path: Path) -> None:
    text = "\n".join(["mks 1", "post {", *(f"    write k{n}" for n in range(60)), "}", "expect a == b"])
    numbers = [
        line.split("|")[0].strip() or line.split("|")[1].strip()[:1]
        for line in source(tmp_path, text).quoted(At(30, 5))
    ]
    assert numbers == ["", "2", "…", "27", "28", "29", "30", "^", "31", "32", "33", "…", "63"]


@dataclass
class Known:
    """What is known of the values at a statement."""

    names: dict[str, tuple[str, bool]] = field(default_factory=dict)
    lets: dict[str, str] = field(default_factory=dict)
    expressions: dict[str, str] = field(default_factory=dict)


LONG = "x" * 80

VALUES: dict[str, tuple[At, str, Known | None, list[str]]] = {
    "of the row, and of each let": (
        At(15, 5), "a::c[n=2,bg=bg]", None, ['n = 2; bg = bg; d = t10dif(bg=bg) every size; size = "512 {"'],
    ),
    "a row's value in brackets": (
        At(15, 5), "a::c[n=f(1,2),x=1]", None, ['n = f(1,2); d = t10dif(bg=bg) every size; size = "512 {"'],
    ),
    "none": (At(7, 5), "a::c[n=2]", None, []),
    "without the line": (At(99, 5), "a::c[n=2]", None, []),
    "what is known, too: of a value that is told whole, not what it is made of": (
        At(15, 5), "a::c[n=0x10,bg=two]",
        Known({"n": ("16 (0x10)", True), "bg": ("2", True), "d": ("t10dif(bg=2)", True)}, {}, {"n * 2": "32 (0x20)"}),
        ["n = 0x10; d = t10dif(bg=bg) every size = t10dif(bg=2); n * 2 = 32 (0x20)"],
    ),
    "of a value that is not told whole, what it is made of": (
        At(15, 5), "a::c", Known({"d": ("9 bytes", False), "size": ("512", True)}, {"d": "size  # x", "size": "512"}),
        ["d = size  # x = 9 bytes; size = 512"],
    ),
    "a long text is cut, and has a line of its own": (
        At(15, 5), "a::c[n=1]", Known({"d": ("1", True)}, {"d": LONG}, {LONG: "2"}),
        ["n = 1; d = " + "x" * 71 + "… = 1", "x" * 71 + "… = 2"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_of_names(tmp_path: Path, name: str) -> None:
    """Those of this case, not of the one before it."""
    at, id, known, expected = VALUES[name]
    assert list(source(tmp_path).values(at, At(4, 1), id, known)) == expected


def test_a_failure_says_what_the_case_is_about_and_how_to_explain_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.mks"
    path.write_text(SOURCE, encoding="utf-8")
    case = CaseInfo("a.mks::c[n=2]", "a.mks", path=path, at=At(4, 1), title="what it is about")
    verdict = Verdict("fail", [Failure("MKS2101", At(15, 5), "m", (("bytes", "1"),))])
    lines = [line.strip() for line in render(case, verdict, lambda id: None).splitlines()]
    assert 'with      n = 2; d = t10dif(bg=bg) every size; size = "512 {"' in lines
    assert "about     what it is about" in lines
    assert lines[-2:] == ["explain   mkeyspec explain MKS2101", "mkeyspec explain a.mks:15"]


LOOKS = ("looks like:", "the guard starts from zeros")


@pytest.mark.parametrize(
    ("verifies", "causes", "told"),
    [
        ((), ("guard.seed_zeros",), "breaks    DIF-06: what DIF-06 says"),
        (("DIF-06",), ("guard.seed_zeros", "bytes.zero"), "breaks    DIF-06, quoted below"),
        ((), ("guard.seed_zeros", "app.zero"), "bytes     1"),
        ((), (), "bytes     1"),
    ],
)
def test_the_rule_that_is_broken(verifies: tuple[str, ...], causes: tuple[str, ...], told: str) -> None:
    """After what it looks like, if all that it looks like breaks one rule."""
    details = (LOOKS, ("", "(all of it)"), ("bytes", "1"))
    failure = Failure("MKS2101", At(1, 1), "m", details, looks_like=tuple((one, "s") for one in causes))
    case = CaseInfo("a.mks::c", "a.mks", verifies)
    text = render(case, Verdict("fail", [failure]), lambda id: f"what {id} says")
    lines = [line.strip() for line in text.splitlines()]
    assert lines[lines.index("(all of it)") + 1] == told


@pytest.mark.parametrize("line", [-1, 0, SOURCE.count("\n") + 2])
def test_a_line_that_the_file_does_not_have(line: int, tmp_path: Path) -> None:
    path = tmp_path / "case.mks"
    path.write_text(SOURCE)
    text = SourceText(path)
    assert text.first_line(At(line, 1)) == ""
    assert text.quoted(At(line, 1)) == []


def test_the_first_and_the_last_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "case.mks"
    path.write_text(SOURCE)
    assert SourceText(path).first_line(At(1, 1)) == "mks 1"
    assert SourceText(path).first_line(At(SOURCE.count("\n"), 5)) == "configure k"
