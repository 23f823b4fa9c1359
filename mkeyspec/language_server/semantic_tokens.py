"""The kinds of the words of a file, for colours: what a name means is known, and not guessed from its form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.statements.registry import PLACES
from mkeyspec.language_server.declared import in_lines, of_library
from mkeyspec.language_server.document import Document, Piece
from mkeyspec.language_server.names import Occurrence
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import reserved_words
from mkeyspec.syntax.walk import DECLARING

TYPES = (
    "comment", "string", "number", "keyword", "operator", "function", "variable", "parameter", "property", "enumMember",
    "class", "method", "label", "type",
)  # fmt: skip
"""The kinds, in the order of the legend: names of the protocol, so that themes know them."""

MODIFIERS = ("declaration", "readonly", "defaultLibrary")

_SIMPLE = {"STRING": "string", "HEX": "string", "ASCII": "string", "INT": "number", "REQ": "class", "CODE": "class",
           "ERRNO": "enumMember"}  # fmt: skip
_OBJECTS = frozenset(DECLARING)
_VERBS = frozenset(word for place in PLACES.values() for word in place.shapes)
_LEVELS = {"case name": "class", "setup name": "class", "requirement": "class", "local": "parameter"}


@dataclass(frozen=True, slots=True)
class Coloured:
    """[start, end) of the text, in one line."""

    start: int
    end: int
    type: str
    modifiers: tuple[str, ...] = ()


def semantic_tokens(document: Document) -> list[Coloured]:
    """All words that have a colour, in order."""
    names: dict[int, Coloured] = {}
    for piece in document.pieces:
        kinds = _kinds(piece)
        for one in piece.occurrences:
            start = piece.start + one.start
            names[start] = Coloured(start, piece.start + one.end, _type(one, kinds), _modifiers(one))
    tokens, comments = document.words
    found = [Coloured(start, end, "comment") for start, end in comments]
    reserved = reserved_words()
    before = ""
    for token in tokens:
        name = names.get(token.start_pos)
        if name is not None and name.end == token.end_pos:
            found.append(name)
        elif token.value in reserved:
            found.append(Coloured(token.start_pos, token.end_pos, "keyword"))
        elif token.type == "NAME":
            kind = "method" if token.value in _VERBS and before != "DOT" else "property"
            found.append(Coloured(token.start_pos, token.end_pos, kind))
        elif token.type in _SIMPLE:
            found.append(Coloured(token.start_pos, token.end_pos, _SIMPLE[token.type]))
        before = token.type
    return sorted(found, key=lambda one: one.start)


def _kinds(piece: Piece) -> dict[str, str]:
    """What declares each name that the piece sees."""
    found = {one.name: _kind(one.kind, one.node) for one in reversed(of_library(piece))}
    for case in piece.cases:
        found |= {one.name: _kind(one.kind, one.node) for one in in_lines(case.body)}
    return found


def _kind(word: str, node: object) -> str:
    return "function" if isinstance(node, ast.Let) and node.parameters is not None else word


def _type(one: Occurrence, kinds: dict[str, str]) -> str:
    if one.level in _LEVELS:
        return _LEVELS[one.level]
    if one.level == "language":
        return "function" if one.name in FUNCTIONS else "enumMember"
    kind = kinds.get(one.name, "")
    if kind == "function":
        return "function"
    return "label" if kind == "label" else "type" if kind in _OBJECTS else "variable"


def _modifiers(one: Occurrence) -> tuple[str, ...]:
    return ("declaration",) * one.declares + ("defaultLibrary",) * (one.level == "language")


def in_lines_of(document: Document, found: list[Coloured]) -> Iterator[tuple[int, int, int, str, tuple[str, ...]]]:
    """As the protocol counts them: line, column and length in UTF-16 code units, kind, modifiers."""
    for one in found:
        line, column = document.text.position(one.start)
        _, end = document.text.position(one.end)
        if end > column:
            yield line, column, end - column, one.type, one.modifiers
