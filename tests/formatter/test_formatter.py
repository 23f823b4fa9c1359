"""Formatted text: as the samples say, again the same, with the same words; of all files that are here, and of mangled
ones."""

from __future__ import annotations

import random
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.emit.header import Header
from mkeyspec.emit.writer import write as emit
from mkeyspec.formatter.format import Changed, formatted
from mkeyspec.syntax.parser import parse, words_of
from tests.shipped import some

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def samples() -> list[tuple[str, str, str]]:
    found = []
    text = (HERE / "samples.md").read_text("utf-8").replace("·", " ").replace("→", "\t")
    for part in text.split("\n## ")[1:]:
        name, before, _, after = part.split("```\n")[:4]
        found.append((name.strip(), before, after))
    return found


@pytest.mark.parametrize(("before", "after"), [pytest.param(b, a, id=name) for name, b, a in samples()])
def test_samples(before: str, after: str) -> None:
    assert formatted(before) == after
    assert formatted(after) == after


def parsed() -> list[Path]:
    """The files of this repository that can be parsed."""
    found = []
    for path in sorted(path for folder in ("cases", "examples", "tests") for path in (ROOT / folder).rglob("*.mks")):
        try:
            text = path.read_text("utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        diagnostics = Diagnostics()
        if parse(Source(path.name, text), diagnostics) is not None and not diagnostics.errors:
            found.append(path)
    return found


def said(text: str) -> list[tuple[str, str]]:
    """The words of a text, by a second look at it: without the ends of lines, comments among them."""
    tokens, comments = words_of(text)
    parts = [(token.start_pos, token.type, token.value) for token in tokens if token.type != "NEWLINE"]
    parts += [(start, "COMMENT", text[start:end].rstrip()) for start, end in comments]
    return [(kind, value) for _, kind, value in sorted(parts)]


def test_the_cases_are_formatted() -> None:
    wrong = [
        path.name for path in (ROOT / "cases").rglob("*.mks") if (text := path.read_text("utf-8")) != formatted(text)
    ]
    assert not wrong, "mkeyspec fmt cases"


def meant(path: Path, text: str) -> object:
    """The tree of a text without its places: what is compiled."""
    file = parse(Source(path.name, text), Diagnostics())
    assert file is not None, path
    return bare(file)


def bare(node: Any) -> object:
    if isinstance(node, Span | Source):
        return None
    if is_dataclass(node):
        return (type(node).__name__, *(bare(getattr(node, one.name)) for one in fields(node) if one.name != "comments"))
    return [bare(one) for one in node] if isinstance(node, tuple | list) else node


def test_all_files_again_and_mangled() -> None:
    """Blanks are added and taken away anywhere; no word gets lost, no meaning changes, and a second time changes
    nothing. `python -m tests.formatter.plans` compares what compiling gives, of every file."""
    files = parsed()
    assert len(files) > 150
    chance = random.Random(20261123)
    for path in some(files, 3):
        text = path.read_text("utf-8")
        for one in (text, mangled(text, chance)):
            if len(one) > 60_000:
                continue
            after = formatted(one)
            assert formatted(after) == after, path
            assert said(after) == said(one), path
            assert meant(path, after) == meant(path, one), path
            assert all(line == line.rstrip() for line in after.split("\n")), path


def mangled(text: str, chance: random.Random, lines: bool = True) -> str:
    """`text` with other blanks; and other empty lines and indents, if `lines`."""
    tokens, comments = words_of(text)
    parts = sorted([(token.start_pos, token.end_pos) for token in tokens if token.type != "NEWLINE"] + comments)
    out, last = [], 0
    for start, end in parts:
        blanks = text[last:start]
        if "\n" in blanks and lines:
            head, _, tail = blanks.rpartition("\n")
            blanks = head + "\n" * chance.choice([1, 1, 2]) + " " * max(0, len(tail) + chance.choice([0, 0, -1, 2, 5]))
        elif blanks and "\n" not in blanks:
            blanks = chance.choice([blanks, blanks, " ", "  ", "    ", "\t"])
        out.append(blanks + text[start:end])
        last = end
    return "".join(out) + text[last:]


@pytest.mark.parametrize(
    "name", ["examples/signature", "signature/crc", "crypto/deks", "configure/setters", "layout/list"]
)
def test_compiled_they_are_the_same(name: str) -> None:
    """The module of a mangled file that was formatted is that of the file: its steps, lines, rows."""
    path = ROOT / "cases" / f"{name}.mks"
    text = path.read_text("utf-8")
    again = formatted(mangled(text, random.Random(7), lines=False))
    assert modules(path, again) == modules(path, text)


def modules(path: Path, text: str) -> str:
    compiled = compile_file(path, root=ROOT, instead=text.encode())
    assert compiled.suite is not None
    return re.sub(
        r"sha256 [0-9a-f]+|(?<=At\(\d{3}), \d+|(?<=At\(\d{2}), \d+",
        "",
        emit(compiled.suite, Header(path.name, (), "", "", "")),
    )


def test_another_meaning_is_seen() -> None:
    path = Path("a.mks")
    assert meant(path, "mks 1\ncase a\n    memory m[4]\n    let x = 1\n") == meant(
        path, "mks 1\ncase a\nmemory m[ 4 ]; let x=1"
    )
    assert meant(path, "mks 1\ncase a\n    let x = 1\n") != meant(path, "mks 1\ncase a\n    let x = 2\n")


def test_line_ends_and_the_mark() -> None:
    assert formatted("mks  1\r\ncase a\r\n  mkey k") == "mks 1\r\n\r\ncase a\r\n    mkey k\r\n"
    assert formatted("") == ""
    assert formatted("\n\n") == ""


def test_a_mistake_of_the_formatter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mkeyspec.formatter.layout.gap", lambda *_: 0)
    with pytest.raises(Changed):
        formatted("case a\n    mkey k\n")
