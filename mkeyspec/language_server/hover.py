"""What is shown for the word under the pointer: what it means, its value, the rule that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.registry import CASE
from mkeyspec.diagnostics.codes import CODES, explanation
from mkeyspec.diagnostics.source import Span
from mkeyspec.language_server.context import context_at
from mkeyspec.language_server.declared import Declaration, declarations_before, in_lines, of_library
from mkeyspec.language_server.document import Document, Piece
from mkeyspec.language_server.explained import about_function, about_id, about_reserved, about_shape, about_word, code
from mkeyspec.language_server.names import Occurrence, nodes
from mkeyspec.language_server.used_files import about_use, use_at
from mkeyspec.language_server.values import asking_for, said, value_in_case, value_in_file
from mkeyspec.syntax import ast
from mkeyspec.syntax.lexer import Token


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown for [start, end) of the text."""

    start: int
    end: int
    text: str


def hover(document: Document, offset: int) -> Hover | None:
    """What there is to say of the word at an offset."""
    piece = document.piece_at(offset)
    if piece is None:
        return None
    one = occurrence_at(piece, offset)
    if one is not None:
        text = _of_name(document, piece, one, offset)
        if text:
            return Hover(piece.start + one.start, piece.start + one.end, text)
    token = token_at(document, offset)
    if token is None:
        return None
    text = _of_word(document, piece, token)
    return Hover(token.start_pos, token.end_pos, text) if text else None


def occurrence_at(piece: Piece, offset: int) -> Occurrence | None:
    """The name at an offset, or right before it."""
    at = offset - piece.start
    touching = [one for one in piece.occurrences if one.start <= at <= one.end]
    return max(touching, key=lambda one: one.start, default=None)


def token_at(document: Document, offset: int) -> Token | None:
    """The word at an offset; None in a comment or between words."""
    tokens, _ = document.words
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if tokens[middle].end_pos <= offset:
            low = middle + 1
        else:
            high = middle
    if low < len(tokens) and tokens[low].start_pos <= offset and tokens[low].type != "NEWLINE":
        return tokens[low]
    return None


def _of_name(document: Document, piece: Piece, one: Occurrence, offset: int) -> str:
    match one.level:
        case "requirement":
            return about_id(one.name, document.place.requirements)
        case "case name":
            return _of_case(document, one.name)
        case "setup name":
            return _of_setup(piece, one.name)
        case "language":
            function = FUNCTIONS.get(one.name)
            about = about_function(function) if function is not None else about_word(one.name)
            value = _value(document, piece, offset) if function is None and one.name == "wire" else ""
            called = _value_of_call(document, piece, one) if function is not None else ""
            return "\n\n".join(part for part in (about, value or called) if part)
        case "local":
            return code(one.name) + "\n\na parameter, or a name of a comprehension"
        case _:
            declared = _declaration(document, piece, one, offset)
            about = code(declared.line) if declared is not None else code(one.name)
            value = _value(document, piece, offset, one)
            return f"{about}\n\n{value}" if value else about


def _of_case(document: Document, name: str) -> str:
    for _, case in document.cases():
        if case.name.text == name:
            title = "" if case.title is None else f"\n\n{case.title.value}"
            told = document.told.get(name)
            rows = "" if told is None else f"\n\n{told.rows:,} row{'' if told.rows == 1 else 's'}"
            return f"{code(f'case {name}')}{title}{rows}"
    return ""


def _of_setup(piece: Piece, name: str) -> str:
    file = piece.reading.file
    for setup in file.setups if file is not None else ():
        if setup.name.text == name:
            return code(setup.span.source.text[setup.span.start : setup.span.end])
    return ""


def _declaration(document: Document, piece: Piece, one: Occurrence, offset: int) -> Declaration | None:
    for declared in (*declarations_before(document, offset + 1), *_in_setups(piece), *of_library(piece)):
        if declared.name == one.name:
            return declared
    return None


def _in_setups(piece: Piece) -> Iterator[Declaration]:
    file = piece.reading.file
    for setup in file.setups if file is not None else ():
        yield from in_lines(setup.lines)


def _value(document: Document, piece: Piece, offset: int, one: Occurrence | None = None) -> str:
    """The value of the name at an offset; of a declaration, after its statement."""
    at = offset - piece.start + piece.origin
    if one is None or not one.declares:
        for node in _around(piece, at):
            if isinstance(node, ast.Ref):
                return _value_of(document, piece, node)
        return ""
    span = Span(piece.reading.source, piece.origin + one.start, piece.origin + one.end)

    def ask(scope: Scope) -> str:
        try:
            return said(scope.find(one.name), scope, span)
        except KeyError:
            return ""

    if piece is document.head and one.level == "file":
        return value_in_file(piece.reading.library, ask)
    for case in piece.cases:
        if case.holds(span):
            return value_in_case(case, piece.reading.library, _end_of_statement(case, at), ask)
    return ""


def _end_of_statement(case: ast.Case, at: int) -> int:
    """Directly after the statement that declares the name at `at`: what it has made is known there."""
    steps = [node.span for node in nodes(case.body) if isinstance(node, ast.Step)]
    return max((span.end for span in steps if span.start <= at < span.end), default=at) + 1


def _value_of_call(document: Document, piece: Piece, one: Occurrence) -> str:
    """The value of the call of a function whose name is there."""
    at = piece.origin + one.start
    for node in _around(piece, at):
        if isinstance(node, ast.Call) and node.function.span.start == at:
            return _value_of(document, piece, node)
    return ""


def _value_of(document: Document, piece: Piece, expr: ast.Expr) -> str:
    if piece is document.head:
        return value_in_file(piece.reading.library, asking_for(expr))
    for case in piece.cases:
        if case.holds(expr.span):
            return value_in_case(case, piece.reading.library, expr.span.end, asking_for(expr))
    return ""


def _around(piece: Piece, at: int) -> list[ast.Expr]:
    """The expressions that hold a place of the piece's source, the innermost first."""
    file = piece.reading.file
    roots = [*piece.cases, *(file.lets if file is not None and at < piece.reading.head else ())]
    kinds = (ast.Ref, ast.Call, ast.Index, ast.Attribute, ast.Binary, ast.Unary)
    found = [
        node
        for root in roots
        for node in nodes(root)
        if isinstance(node, kinds) and node.span.source is piece.reading.source
        and node.span.start <= at <= node.span.end
    ]  # fmt: skip
    return sorted(found, key=lambda node: node.span.end - node.span.start)


def _of_word(document: Document, piece: Piece, token: Token) -> str:
    """A word that is not a name of the author's: of the structure, a verb, a field, a modifier, a code."""
    if token.type == "CODE" or (token.value in CODES and token.type == "REQ"):
        page = explanation(token.value)
        return page or ""
    if token.type == "REQ":
        return about_id(token.value, document.place.requirements)
    if token.type == "INT" and token.value.isalnum():
        return ""
    use = use_at(piece, token.start_pos) if token.type == "STRING" else None
    if use is not None:
        return about_use(document, piece, use)
    context = context_at(document, token.start_pos)
    if context is None or token.type in ("STRING", "HEX", "ASCII", "COMMENT"):
        return ""
    if context.place is not None and (not context.words or context.last == "PEER"):
        shape = context.place.shapes.get(token.value)
        if shape is not None:
            return about_shape(shape)
    shape = context.shape
    if shape is not None and token.value in shape.modifiers:
        slot = shape.modifiers[token.value]
        return f"`{token.value}`{'' if slot is None else ' ' + slot.what}\n\na modifier of `{shape.name}`"
    if shape is not None and token.value in shape.phrases:
        return f"`{token.value}` {shape.phrases[token.value].what}\n\nin `{shape.example}`"
    if token.type not in ("NAME",) or token.value not in CASE.shapes:
        return about_reserved(token.value) or (about_word(token.value) if token.type == "NAME" else "")
    return about_shape(CASE.shapes[token.value])
