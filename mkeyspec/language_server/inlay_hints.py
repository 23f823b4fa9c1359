"""What is shown between the words: the rows of a case, and the lengths that are not written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mkeyspec.language_server.declared import in_lines
from mkeyspec.language_server.document import Document
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import index_of


@dataclass(frozen=True, slots=True)
class Hint:
    """`text` is shown after the word that ends at `at`."""

    at: int
    text: str
    about: str


def inlay_hints(document: Document, start: int, end: int) -> list[Hint]:
    """The hints in [start, end), by the last compilation of the cases as they are."""
    found: list[Hint] = []
    names = Counter(case.name.text for _, case in document.cases())
    for piece, case in document.cases():
        told = document.told.get(case.name.text) if names[case.name.text] == 1 else None
        if told is None or piece.whole is None or piece.end < start or piece.start > end:
            continue
        place = piece.place(case.name.span)
        if place is None:
            continue
        if told.rows != 1:
            found.append(Hint(place[1], f"{told.rows:,} rows", "so many rows this case is run in"))
        line = document.text.line_of(place[0])
        lengths = {(line + one.line, one.name): one.size for one in told.lengths}
        for one in in_lines(case.body):
            where = piece.place(one.span)
            if one.kind != "memory" or where is None or not isinstance(one.node, ast.Step):
                continue
            size = lengths.get((document.text.line_of(where[0]), one.name))
            written = index_of(one.node.operand)
            if size is not None and not isinstance(written, ast.Int):
                at = where[1]
                if written is not None:
                    at = (piece.place(written.span) or where)[1] + 1
                found.append(Hint(at, f"{size:,} bytes", f"the length of `{one.name}` in all rows"))
    return [one for one in found if start <= one.at <= end]
