"""What comments, docstrings and pages cite is in this repository, or is an id, a man page or a public standard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_docs import anchors

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "mkeyspec", "softnic", "tests", "docs", "benchmarks", ".ci", "requirements", "expectations", "cases", "grammar",
    ".github",
)  # fmt: skip
SUFFIXES = {"", ".py", ".c", ".h", ".s", ".md", ".toml", ".mks", ".lark", ".j2", ".mk", ".sh", ".txt", ".yml"}
FORBIDDEN = {
    "a paper that is not here": r"charter\b|language-syntax|signatures\.md|soft-nic\.md|lab-assumptions|\bhouse\.md",
    "a section of such a paper": r"catalogue [0-9]|\(d\) [0-9]|\bhardware [0-9]+\b|requirement ledger \(3",
    "a page under a short name": r"(?<![\w/])S[0-4](?:[:,. )]|$)",
    "a numbered idea": r"(?<![\w/])G(?:[1-9]|1[01])(?:[:,. )]|$)",
    "`Language reference` instead of docs/language.md#section": r"Language reference",
}
"""Of each pattern: what it is. hardware.md is allowed only as docs/design/hardware.md."""
PAGE = re.compile(r"(?<![\w/])docs/[\w./-]+\.md(?:#[\w-]+)?")
HARDWARE = re.compile(r"(?<![\w-])HW-(\d\d)\b")


def texts() -> list[tuple[str, str]]:
    """(path in the repository, text) of every file that may cite."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml", "Makefile")]
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            hidden = any(part in ("build", "__pycache__", ".cache") for part in path.parts)
            if path.is_file() and path.suffix in SUFFIXES and not hidden and path != Path(__file__):
                found.append(path)
    return [(str(path.relative_to(ROOT)), path.read_text("utf-8", errors="replace")) for path in found]


def cited_wrongly(text: str) -> list[str]:
    """What of `text` cites something that a reader can't look up, with the reason."""
    wrong = [f"{one[0]!r}: {why}" for why, pattern in FORBIDDEN.items() for one in re.finditer(pattern, text, re.M)]
    wrong += [f"{one[0]!r}: say docs/design/hardware.md" for one in re.finditer(r"(?<![/\w(\[])hardware\.md", text)]
    return wrong


def dead(text: str) -> list[str]:
    """Pages of docs/ and ids HW-nn that `text` names and that do not exist."""
    hardware = (ROOT / "docs" / "design" / "hardware.md").read_text("utf-8")
    wrong = [f"HW-{number}" for number in HARDWARE.findall(text) if f"| HW-{number} |" not in hardware]
    for target in PAGE.findall(text):
        name, _, anchor = target.partition("#")
        path = ROOT / name
        if not path.is_file() or (anchor and anchor not in anchors(path)):
            wrong.append(target)
    return wrong


def test_nothing_outside_is_cited() -> None:
    assert {path: wrong for path, text in texts() if (wrong := cited_wrongly(text))} == {}


def test_what_is_cited_exists() -> None:
    assert {path: wrong for path, text in texts() if (wrong := dead(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "by turns (catalogue 3.4)", "charter 7: a claim", "(language-syntax (d), table)", "# published: signatures.md",
        "S0 layout_list: (lkey, addr)", "the rules of S2.", "the closing rule (G8)", "counts wire bytes (hardware 12)",
        "Language reference, claims", "see hardware.md 4", "the requirement ledger (3.3 to 3.5)",
    ],
)  # fmt: skip
def test_an_old_citation_is_seen(text: str) -> None:
    assert cited_wrongly(text)


def test_a_dead_citation_is_seen() -> None:
    assert dead("docs/design/nothing.md, docs/language.md#nowhere, HW-99") == [
        "HW-99",
        "docs/design/nothing.md",
        "docs/language.md#nowhere",
    ]
    assert dead("docs/design/hardware.md, docs/language.md#claims, HW-01") == []
