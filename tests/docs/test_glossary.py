"""The glossary has every word of the language's statements, each once a table, and nothing that the language lacks."""

from __future__ import annotations

import re
from pathlib import Path

from mkeyspec.compiler.statements.registry import PLACES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"


def words(section: str) -> list[str]:
    """The first column of a section's table."""
    [text] = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S)
    return re.findall(r"^\| `?([\w ]+?)`? \|", text, re.M)[1:]


def test_each_word_stands_once() -> None:
    for section in ("Terms", "Statements", "Fields", "Modifiers"):
        found = words(section)
        assert sorted(set(found)) == sorted(found), section


def test_terms_are_in_order() -> None:
    assert words("Terms") == sorted(words("Terms"), key=str.casefold)


def test_every_statement_is_there() -> None:
    assert set(PLACES["case"].shapes) - set(words("Statements")) == set()
    assert set(words("Statements")) - set(PLACES["case"].shapes) == set()


def test_every_field_is_there() -> None:
    fields = {name for place in PLACES.values() if place.word != "case" for name in place.shapes}
    assert fields - set(words("Statements")) - set(words("Fields")) == set()
    assert set(words("Fields")) <= fields


def test_every_modifier_is_there() -> None:
    modifiers = {name for place in PLACES.values() for verb in place.shapes.values() for name in verb.modifiers}
    assert modifiers - set(words("Modifiers")) == set()
    assert set(words("Modifiers")) - modifiers == set()
