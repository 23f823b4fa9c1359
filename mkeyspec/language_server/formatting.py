"""Formats a document as `mkeyspec fmt` formats its file."""

from __future__ import annotations

from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.formatter.format import Changed, formatted
from mkeyspec.language_server.document import Document
from mkeyspec.syntax.parser import parse


def formatting(document: Document) -> list[tuple[int, int, str]]:
    """The edits, none if the text can't be parsed or is as it should be. Only the lines that differ are in them."""
    text = document.text.value
    if document.too_large or not document.text.is_whole or text.startswith("\ufeff"):
        return []
    diagnostics = Diagnostics()
    if parse(Source("", text), diagnostics) is None or diagnostics.errors:
        return []
    try:
        after = formatted(text)
    except Changed:
        return []
    return _difference(text, after)


def _difference(before: str, after: str) -> list[tuple[int, int, str]]:
    """One edit: what is left when the lines that both begin and end with are taken away."""
    if before == after:
        return []
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = sum(map(len, old[:same]))
    end = len(before) - sum(map(len, old[len(old) - tail :]))
    return [(start, end, "".join(new[same : len(new) - tail]))]
