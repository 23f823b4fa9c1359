"""The outline of a file, and what of it can be folded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mkeyspec.diagnostics.source import Span
from mkeyspec.language_server.declared import Declaration, in_lines
from mkeyspec.language_server.document import Document, Piece
from mkeyspec.language_server.names import nodes
from mkeyspec.syntax import ast


@dataclass(frozen=True, slots=True)
class Symbol:
    """`start`, `end`: of the whole; `name_start`, `name_end`: of its name, inside."""

    name: str
    kind: str
    detail: str
    start: int
    end: int
    name_start: int
    name_end: int
    inside: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines from 0, the first of which stays visible."""

    first: int
    last: int
    kind: Literal["region", "comment"] = "region"


def symbols(document: Document) -> list[Symbol]:
    """`let`s and setups of the file, then its cases, each with what it declares."""
    found: list[Symbol] = []
    head = document.head
    file = head.reading.file if head is not None else None
    if head is not None and file is not None:
        for let in file.lets:
            kind = "value" if let.parameters is None else "function"
            found += _symbol(head, let.name, let.span, kind, "let")
        for setup in file.setups:
            inside = tuple(_inside(head, setup.lines))
            found += _symbol(head, setup.name, setup.span, "setup", "setup", inside)
    for piece, case in document.cases():
        if case.name.span.end - case.name.span.start != len(case.name.text):
            continue  # a case whose line can't be read
        detail = "" if case.title is None else case.title.value
        found += _symbol(piece, case.name, case.span, "case", detail, tuple(_inside(piece, case.body)))
    return sorted(found, key=lambda one: one.start)


def _inside(piece: Piece, lines: tuple[ast.Statement, ...]) -> Iterator[Symbol]:
    for one in in_lines(lines):
        yield from _declared(piece, one)


def _declared(piece: Piece, one: Declaration) -> Iterator[Symbol]:
    if one.whole.source is piece.reading.source and (one.whole.start < piece.reading.head) == (piece.start == 0):
        kind = "function" if isinstance(one.node, ast.Let) and one.node.parameters is not None else one.kind
        yield from _symbol(piece, ast.Name(one.span, one.name), one.whole, kind, one.kind)


def _symbol(
    piece: Piece, name: ast.Name, whole: Span, kind: str, detail: str, inside: tuple[Symbol, ...] = ()
) -> Iterator[Symbol]:
    around, place = piece.place(whole), piece.place(name.span)
    if around is not None and place is not None and place[0] < place[1]:
        start, end = min(around[0], place[0]), max(around[1], place[1])
        yield Symbol(name.text, kind, detail, start, end, place[0], place[1], inside)


def folds(document: Document) -> list[Fold]:
    """Cases, what is in braces or in several lines, and comments of several lines."""
    found: dict[tuple[int, int], Fold] = {}
    line_of = document.text.line_of
    for piece in document.pieces:
        file = piece.reading.file
        roots: list[object] = list(piece.cases)
        if piece is document.head and file is not None:
            roots += [*file.lets, *file.setups]
        for root in roots:
            for node in (root, *nodes(root)):
                if isinstance(node, (ast.Case, ast.Setup, ast.Block, ast.List, ast.Step, ast.Let, ast.For)):
                    place = piece.place(node.span)
                    if place is not None:
                        first, last = line_of(place[0]), line_of(max(place[0], place[1] - 1))
                        # The closing brace stays visible.
                        last -= isinstance(node, (ast.Block, ast.Setup, ast.List))
                        if last > first:
                            found[first, last] = Fold(first, last)
    for first, last in _comments(document):
        found[first, last] = Fold(first, last, "comment")
    return sorted(found.values(), key=lambda one: (one.first, -one.last))


def _comments(document: Document) -> Iterator[tuple[int, int]]:
    """Lines of nothing but comments, that follow one another."""
    text = document.text
    _, comments = document.words
    lines = [
        number
        for start, _ in comments
        if not document.compiled_text[text.start_of(number := text.line_of(start)) : start].strip()
    ]
    first = last = -1
    for number in [*lines, -1]:
        if number == last + 1 and first >= 0:
            last = number
            continue
        if last > first >= 0:
            yield first, last
        first = last = number
