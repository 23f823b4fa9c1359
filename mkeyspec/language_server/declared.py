"""What is declared above a place: names with the statement that declares each, and what may be read of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mkeyspec.compiler.eval.access import LIVE_MEMBERS
from mkeyspec.compiler.statements.registry import CASE
from mkeyspec.diagnostics.source import Span
from mkeyspec.language_server.document import Document, Piece
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import DECLARING, label_of, named


@dataclass(frozen=True, slots=True)
class Declaration:
    """`kind`: the word that declares it (`let`, `for`, `memory`, …), "label"; `line`: the first line of its statement;
    `span` of its name, `whole` of its statement; `members`: what may be read of it when the case runs."""

    name: str
    kind: str
    line: str
    span: Span
    whole: Span
    members: tuple[str, ...] = ()
    node: ast.Let | ast.For | ast.Step | ast.Repeat | None = None


def declarations_before(document: Document, offset: int) -> list[Declaration]:
    """Those above an offset, the nearest first: of the case, of its setups, of the file, of the files that it uses."""
    piece = document.piece_at(offset)
    if piece is None:
        return []
    found: list[Declaration] = []
    for case in piece.cases:
        for one in in_lines(case.body):
            place = piece.place(one.span)
            if place is not None and place[0] < offset:
                found.append(one)
    found.reverse()
    return found + of_library(piece)


def of_library(piece: Piece) -> list[Declaration]:
    """The `let`s of the file and of those that it uses."""
    return [of_let(let) for let in reversed(piece.reading.library)]


def of_let(let: ast.Let) -> Declaration:
    return Declaration(let.name.text, "let", first_line(let.span), let.name.span, let.span, node=let)


def in_lines(lines: tuple[ast.Statement, ...]) -> Iterator[Declaration]:
    """Every declaration of the lines of a case, in order."""
    for line in lines:
        match line:
            case ast.Let():
                yield of_let(line)
            case ast.For():
                for name in line.names:
                    yield Declaration(name.text, "for", first_line(line.span), name.span, line.span, node=line)
            case ast.If():
                for block in line.blocks():
                    yield from in_lines(block.lines)
            case ast.Repeat():
                yield from _labels(line.sentence, line)
                yield from in_lines(line.lines)
            case ast.Step():
                verb = line.verb.text
                name_ = named(line.operand)
                if verb in DECLARING and name_ is not None:
                    members = LIVE_MEMBERS.get(verb, ())
                    text = first_line(line.span)
                    yield Declaration(name_.text, verb, text, name_.span, line.span, members, line)
                yield from _labels(line, line)


def _labels(step: ast.Step, node: ast.Step | ast.Repeat) -> Iterator[Declaration]:
    shape = CASE.shapes.get(step.verb.text)
    shows = () if shape is None else shape.shows
    if step.verb.text == "transmit":
        shows = (*shows, "wire")
    for phrase in step.phrases:
        label = label_of(phrase)
        if label is not None:
            text = first_line(step.span)
            yield Declaration(label.text, "label", text, label.span, step.span, tuple(shows), node)


def first_line(span: Span) -> str:
    """The first line of a statement, without its indentation."""
    line = span.source.text[span.start : span.end].partition("\n")[0].strip()
    return line if len(line) <= 100 else line[:99] + "…"
