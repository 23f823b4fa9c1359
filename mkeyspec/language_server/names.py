"""The names in a piece: where each is, and where it is declared. From what `resolve` has found (`Meanings`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.language_server.reading import Reading
from mkeyspec.syntax import ast

Level = Literal["language", "file", "used", "setup", "case", "local", "case name", "setup name", "requirement"]
"""Where a name is declared: nowhere (a word of the language), in this file, in a file that it uses, in a setup, in the
case, in an expression; or what it names."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Where a name is declared: [start, end), from the beginning of the piece, of the head if `in_head`, or in the file
    of `source`."""

    start: int
    end: int
    in_head: bool = False
    source: Source | None = None

    @property
    def path(self) -> Path | None:
        return None if self.source is None else self.source.path


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at [start, end), from the beginning of the piece. `declared`: None of a word of the language."""

    start: int
    end: int
    name: str
    level: Level
    declared: Declared | None = None
    declares: bool = False


def occurrences_of(reading: Reading, start: int, end: int) -> Iterator[Occurrence]:
    """The names in the piece [start, end) of what was read, each place once."""
    file = reading.file
    if file is None:
        return
    setups = [setup.span for setup in file.setups]
    seen: set[int] = set()

    def declared(span: Span) -> tuple[Level, Declared]:
        if span.source is not reading.source:
            return "used", Declared(span.start, span.end, source=span.source)
        if any(setup.holds(span) for setup in setups):
            return "setup", Declared(span.start, span.end, in_head=True)
        if span.start < reading.head:
            return "file", Declared(span.start, span.end, in_head=True)
        return "case", Declared(span.start - start, span.end - start)

    def made(span: Span, place: Span | None, declares: bool) -> Iterator[Occurrence]:
        if span.source is not reading.source or not start <= span.start < end or span.start in seen:
            return
        seen.add(span.start)
        text = span.source.text[span.start : span.end]
        if place is None:
            yield Occurrence(span.start - start, span.end - start, text, "language")
            return
        level, where = declared(place)
        yield Occurrence(span.start - start, span.end - start, text, level, where, declares)

    for span, earlier in reading.declarations:
        yield from made(span, span if earlier is None else earlier, True)
    for one in _heads(file, reading, start, end):
        if one.start + start not in seen:
            seen.add(one.start + start)
            yield one
    for span, place in _locals(file, reading):
        if span.source is reading.source and start <= span.start < end and span.start not in seen:
            seen.add(span.start)
            where = Declared(place.start - start, place.end - start)
            text = span.source.text[span.start : span.end]
            yield Occurrence(span.start - start, span.end - start, text, "local", where, span == place)
    for span, used in reading.uses:
        yield from made(span, used, False)


def _heads(file: ast.File, reading: Reading, start: int, end: int) -> Iterator[Occurrence]:
    """Names of cases, setups and requirements."""
    for setup in file.setups:
        if start <= setup.name.span.start < end:
            place = Declared(setup.name.span.start, setup.name.span.end, in_head=True)
            yield Occurrence(place.start - start, place.end - start, setup.name.text, "setup name", place, True)
    for case in reading.of(start, end):
        span = case.name.span
        if not span.source.text[span.start : span.end].startswith("case"):  # else one that can't be read
            place = Declared(span.start - start, span.end - start)
            yield Occurrence(place.start, place.end, case.name.text, "case name", place, True)
        for used in case.setups:
            name = used.setup.name
            at = used.span.source.text.find(name.text, used.span.start + len("setup"), used.span.end)
            if at >= 0:
                where = Declared(name.span.start, name.span.end, in_head=True)
                yield Occurrence(at - start, at + len(name.text) - start, name.text, "setup name", where)
        for id in case.verifies:
            yield Occurrence(id.span.start - start, id.span.end - start, id.text, "requirement")
        for node in nodes(case.body):
            if isinstance(node, ast.Known) and start <= node.requirement.span.start < end:
                span = node.requirement.span
                yield Occurrence(span.start - start, span.end - start, node.requirement.text, "requirement")


def _locals(file: ast.File, reading: Reading) -> Iterator[tuple[Span, Span]]:
    """Parameters of functions and names of comprehensions: each place, and where it is declared."""
    for let in file.lets:
        yield from _in(let, {})
    for setup in file.setups:
        yield from _in(setup.lines, {})
    for case in file.cases:
        yield from _in(case.body, {})


def _in(node: Any, known: Mapping[str, Span]) -> Iterator[tuple[Span, Span]]:
    match node:
        case ast.Let(parameters=parameters, value=value) if parameters:
            for name in parameters:
                yield name.span, name.span
            yield from _in(value, {**known, **{name.text: name.span for name in parameters}})
        case ast.Comprehension(item=item, name=name, over=over):
            yield name.span, name.span
            yield from _in(over, known)
            yield from _in(item, {**known, name.text: name.span})
        case ast.Ref(span=span, name=text):
            if text in known:
                yield span, known[text]
        case _:
            for part in parts(node):
                yield from _in(part, known)


def parts(node: Any) -> Iterator[Any]:
    """What is directly inside a node of the tree."""
    if isinstance(node, tuple) and not isinstance(node, Span):
        yield from node
    elif is_dataclass(node):
        for one in fields(node):
            value = getattr(node, one.name)
            if isinstance(value, tuple) and not isinstance(value, Span):
                yield from value
            elif is_dataclass(value):
                yield value


def nodes(node: Any) -> Iterator[Any]:
    """All nodes inside, the outer ones first."""
    for part in parts(node):
        if is_dataclass(part):
            yield part
        yield from nodes(part)
