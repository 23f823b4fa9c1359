"""A document: a text, its pieces, the diagnostics of each, and the results of compiling it so far. Immutable.

A change makes another document. The pieces that it does not touch keep what was read of them, and what the last
compilation said of them; so both are right at each keystroke, but for the piece that is being written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from mkeyspec.diagnostics.limits import FILE_BYTES
from mkeyspec.diagnostics.source import Span
from mkeyspec.language_server.finding import Finding, findings_of
from mkeyspec.language_server.names import Occurrence, occurrences_of
from mkeyspec.language_server.place import Place
from mkeyspec.language_server.reading import OF_THE_WHOLE_FILE, Reading, pieces_of, read
from mkeyspec.language_server.text import Position, Text
from mkeyspec.language_server.whole import Told, Whole
from mkeyspec.syntax import ast
from mkeyspec.syntax.lexer import Token
from mkeyspec.syntax.parser import words_of


@dataclass(frozen=True)
class Piece:
    """The head of a file, or a case. `start`, `end`: in the text of the document; `origin`: in that of `reading`.

    `quick`: what reading found, `whole`: what compiling found, None if the piece has changed since; their places are
    from the beginning of the piece. `told`: the other diagnostics of compiling the same text.
    """

    start: int
    end: int
    origin: int
    reading: Reading
    quick: tuple[Finding, ...]
    whole: tuple[Finding, ...] | None = None
    stale: bool = False
    """Whether the head has changed since it was read."""

    @cached_property
    def cases(self) -> list[ast.Case]:
        return self.reading.of(self.origin, self.origin + self.end - self.start)

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """The names in it; their places are from the beginning of the piece."""
        return tuple(occurrences_of(self.reading, self.origin, self.origin + self.end - self.start))

    def place(self, span: Span) -> tuple[int, int] | None:
        """Where a span of its tree is in the document; None if it is in another file or piece."""
        if span.source is not self.reading.source:
            return None
        if span.start < self.reading.head:
            return span.start, span.end
        if not self.origin <= span.start <= self.origin + self.end - self.start:
            return None
        move = self.start - self.origin
        return span.start + move, min(span.end, self.origin + self.end - self.start) + move


@dataclass(frozen=True)
class Document:
    """`version` as the client counts; `told`: the rows and lengths of cases, by the last compilation."""

    uri: str
    version: int
    text: Text
    place: Place
    pieces: tuple[Piece, ...] = ()
    told: Mapping[str, Told] = field(default_factory=dict)

    @property
    def too_large(self) -> bool:
        return len(self.text.value) > FILE_BYTES.most

    @property
    def head(self) -> Piece | None:
        return self.pieces[0] if self.pieces else None

    @property
    def is_read(self) -> bool:
        """Whether each piece was read with the head as it is."""
        return not any(piece.stale for piece in self.pieces)

    @property
    def is_compiled(self) -> bool:
        return all(piece.whole is not None for piece in self.pieces)

    @cached_property
    def compiled_text(self) -> str:
        return self.text.compiled()

    @cached_property
    def words(self) -> tuple[list[Token], list[tuple[int, int]]]:
        """All words of the text, and its comments."""
        return ([], []) if self.too_large else words_of(self.compiled_text)

    def piece_at(self, offset: int) -> Piece | None:
        for piece in reversed(self.pieces):
            if piece.start <= offset:
                return piece
        return None

    def cases(self) -> Iterator[tuple[Piece, ast.Case]]:
        for piece in self.pieces[1:]:
            for case in piece.cases:
                yield piece, case

    def findings(self) -> list[Finding]:
        """What is wrong, with places in the text."""
        found = [one for piece in self.pieces for one in _moved(piece)]
        return sorted(found, key=lambda one: (one.start, one.code))


def _moved(piece: Piece) -> Iterator[Finding]:
    for one in piece.quick if piece.whole is None else piece.whole:
        yield one.moved(piece.start)


def opened(uri: str, version: int, text: str, place: Place) -> Document:
    """A document of which everything is read."""
    return read_again(Document(uri, version, Text(text), place))


def changed(document: Document, version: int, changes: Sequence[tuple[Position, Position, str] | str]) -> Document:
    """The document after changes, in their order: two places and what comes between them, or a whole new text."""
    text = document.text
    for change in changes:
        text = Text(change) if isinstance(change, str) else text.changed(*change)
    return _updated(replace(document, version=version, text=text, pieces=()), document.pieces, document.compiled_text)


def _updated(document: Document, before: Sequence[Piece], old: str) -> Document:
    """Read what has changed; if that is the head, the cases are read later (`read_again`), since that may take long."""
    if document.too_large:
        return document
    text = document.compiled_text
    places = pieces_of(text)
    if not before:
        return read_again(document)
    known: dict[str, list[Piece]] = {}
    for piece in before[1:]:
        known.setdefault(old[piece.start : piece.end], []).append(piece)
    same_head = text[: places[0][1]] == old[: before[0].end]
    kept: dict[int, Piece] = {0: before[0]} if same_head else {}
    for at, (start, end) in enumerate(places[1:], 1):
        if others := known.get(text[start:end]):
            piece = others.pop(0)
            kept[at] = replace(piece, start=start, end=end, stale=piece.stale or not same_head)
    wanted = [at for at in range(len(places)) if at not in kept]
    fresh = _read(document.place, text, places, wanted) if wanted else {}
    return replace(document, pieces=tuple((kept | fresh)[at] for at in range(len(places))))


def read_again(document: Document) -> Document:
    """Read every piece; the results of compiling them stay."""
    if document.too_large:
        return document
    text = document.compiled_text
    places = pieces_of(text)
    pieces = _read(document.place, text, places, range(len(places)))
    kept = [piece.whole for piece in document.pieces] if len(document.pieces) == len(places) else [None] * len(places)
    return replace(document, pieces=tuple(replace(pieces[at], whole=kept[at]) for at in range(len(places))))


def _read(place: Place, text: str, places: Sequence[tuple[int, int]], wanted: Sequence[int]) -> dict[int, Piece]:
    reading = read(place, text, places, wanted)
    found: dict[int, Piece] = {}
    everything = len(wanted) == len(places)
    for at, (origin, end) in zip(sorted(wanted), reading.places, strict=True):
        quick = findings_of(reading.found, reading.source, origin, end, at == 0)
        if not everything:
            quick = [one for one in quick if one.code not in OF_THE_WHOLE_FILE]
        start, until = places[at]
        found[at] = Piece(start, until, origin, reading, tuple(quick))
    return found


def with_whole(document: Document, whole: Whole) -> Document:
    """The document with the results of compiling its text; unchanged, if the text is another one by now."""
    if whole.text != document.compiled_text or document.too_large:
        return document
    pieces = tuple(replace(piece, whole=one) for piece, one in zip(document.pieces, whole.found, strict=True))
    return replace(document, pieces=pieces, told=whole.told)
