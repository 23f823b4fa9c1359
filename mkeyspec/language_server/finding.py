"""A diagnostic as a document keeps it: with places from the beginning of its piece, so that it moves with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mkeyspec.diagnostics.diagnostic import Diagnostic, Note, edits_of
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.language_server.text import Position, Text


@dataclass(frozen=True, slots=True)
class Related:
    """What a note says, and where: in this document, or, if `path` is there, in another file."""

    message: str
    start: int = 0
    end: int = 0
    path: Path | None = None
    range: tuple[Position, Position] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """`start`, `end`: its place; `edits`: the correction, as places and texts."""

    code: str
    message: str
    severity: str
    start: int
    end: int
    related: tuple[Related, ...] = ()
    edits: tuple[tuple[int, int, str], ...] = ()

    def moved(self, by: int) -> Finding:
        if not by:
            return self
        related = tuple(
            one if one.path else replace(one, start=one.start + by, end=one.end + by) for one in self.related
        )
        edits = tuple((start + by, end + by, text) for start, end, text in self.edits)
        return replace(self, start=self.start + by, end=self.end + by, related=related, edits=edits)


def findings_of(found: Iterable[Diagnostic], source: Source, start: int, end: int, first: bool) -> list[Finding]:
    """Those whose place is in the piece [start, end) of `source`; places are from its beginning. `first`: it is the
    first piece, which has those without a place in this file as well."""
    result = []
    for one in found:
        here = one.span.source is source or (one.span.source.text == source.text and bool(source.text))
        if here and not (start <= one.span.start < end or one.span.start == end == len(source.text)):
            continue
        if here:
            result.append(_finding(one, source, start, one.span.start - start, one.span.end - start))
        elif first:
            result.append(_from_elsewhere(one, source, start))
    return result


def _finding(one: Diagnostic, source: Source, base: int, start: int, end: int) -> Finding:
    message = one.message + (f" ({one.label})" if one.label else "")
    if one.help:
        message += f"\nhelp: {one.help}"
    message += "".join(f"\nnote: {note.message}" for note in one.notes if note.span is None)
    if one.page:
        message += f"\npage: {one.page}"
    related = tuple(_related(note, source, base) for note in one.notes if note.span is not None)
    edits = edits_of(one)
    if any(edit.span.source.text != source.text for edit in edits):
        edits = ()
    moved = tuple((edit.span.start - base, edit.span.end - base, edit.text) for edit in edits)
    return Finding(one.code, message, one.severity, start, max(start, end), related, moved)


def _from_elsewhere(one: Diagnostic, source: Source, base: int) -> Finding:
    """Of a file that this one uses, or of the file as a whole: reported at the beginning."""
    found = _finding(replace(one, fix=()), source, base, 0, _first_line(source))
    other = one.span.source
    if not other.text or other.path is None:
        return replace(found, edits=())
    line, column = other.location(one.span.start)
    message = f"in {other.name}:{line}:{column}: {found.message}"
    related = (_related(Note("here", one.span), source, base), *found.related)
    return replace(found, message=message, related=related, edits=())


def _first_line(source: Source) -> int:
    return len(source.line(1)) if source.text else 0


def _related(note: Note, source: Source, base: int) -> Related:
    assert note.span is not None
    span: Span = note.span
    if span.source.text == source.text or span.source.path is None:
        return Related(note.message, span.start - base, span.end - base)
    text = Text(span.source.text)
    return Related(note.message, path=span.source.path, range=(text.position(span.start), text.position(span.end)))


def split(found: Sequence[Diagnostic], source: Source, places: Sequence[tuple[int, int]]) -> list[tuple[Finding, ...]]:
    """The findings of a whole file by its pieces."""
    return [tuple(findings_of(found, source, start, end, at == 0)) for at, (start, end) in enumerate(places)]
