"""The site of the documentation. `.ci/run` builds it strictly: MkDocs checks links and anchors there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from docs import make_grammar
from mkeyspec.syntax.parser import reserved_words

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def navigation() -> list[str]:
    """The pages of `nav:`."""
    return re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2], re.MULTILINE)


def test_each_page_is_in_the_navigation_once() -> None:
    pages = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert sorted(navigation()) == pages


# The grammar ---------------------------------------------------------------------------------


def test_the_diagrams_are_fresh() -> None:
    assert make_grammar.main(["--check"]) == 0, "python docs/make_grammar.py"


def test_a_stale_diagram_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DOCS, tmp_path / "docs")
    monkeypatch.setattr(make_grammar, "HERE", tmp_path / "docs")
    monkeypatch.setattr(make_grammar, "PICTURES", tmp_path / "docs/images/grammar")
    (tmp_path / "docs/images/grammar/no_rule.svg").write_text("", "utf-8")
    (tmp_path / "docs/images/grammar/let.svg").write_text("", "utf-8")
    assert make_grammar.main(["--check"]) == 1
    assert make_grammar.main([]) == 0
    assert make_grammar.main(["--check"]) == 0
    assert not (tmp_path / "docs/images/grammar/no_rule.svg").exists()


def test_each_reserved_word_is_drawn() -> None:
    drawn = "".join(path.read_text("utf-8") for path in sorted((DOCS / "images/grammar").glob("*.svg")))
    words = {*re.findall(r">([a-z]+)</text>", drawn)}
    prepositions = {"by", "into", "to", "from", "on", "as", "is"}  # one box, PREP
    assert reserved_words() - prepositions - {"allow"} <= words


@pytest.mark.parametrize(
    ("alternatives", "texts"),
    [
        ([("NAME",), ("r", "COMMA", "NAME")], ["NAME", ","]),  # one or more: a loop back over the comma
        ([("NAME",), ("r", "LPAR", "RPAR")], ["NAME", "(", ")"]),  # what begins, then what may follow
        ([("NAME", "other"), ()], ["NAME", "other"]),
    ],
)
def test_a_diagram(alternatives: list[tuple[str, ...]], texts: list[str]) -> None:
    words = {"NAME": "/[a-z]+/", "COMMA": '","', "LPAR": '"("', "RPAR": '")"'}
    svg = make_grammar.drawing("r", alternatives, words)
    assert re.findall(r">([^<>\n]+)</text>", svg) == texts
