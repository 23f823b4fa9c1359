"""A few drawn texts and places over all features, the same in each run, and what longer runs have found."""

from __future__ import annotations

import random

import pytest

from mkeyspec.language_server import hover
from mkeyspec.language_server.document import Document
from tests.language_server import fuzz

SESSIONS = 12


def test_drawn_texts() -> None:
    texts = fuzz.texts()
    assert len(texts) > 200
    chance = random.Random(20261123)
    looked: list[int] = []
    for _ in range(SESSIONS):
        path, text = chance.choice(texts)
        fuzz.session(path, text, chance, lambda document, offset: looked.append(offset))
    assert len(looked) >= SESSIONS


def test_the_corpus() -> None:
    """Texts that editors send and files seldom are: half a surrogate, other ends of lines, brackets that never end."""
    corpus = list(fuzz.of_the_corpus())
    assert len(corpus) >= 20
    for name, document, offset in corpus:
        try:
            fuzz.look(document, offset)
        except Exception as error:
            raise AssertionError(name) from error


def test_what_raises_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(document: Document, offset: int) -> hover.Hover:
        return hover.Hover(0, len(document.text.value) + 1, "beyond the end")

    monkeypatch.setattr(fuzz, "hover", broken)
    path, text = fuzz.texts()[0]
    with pytest.raises(AssertionError):
        fuzz.session(path, text, random.Random(1), lambda document, offset: None)
