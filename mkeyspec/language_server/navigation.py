"""Where a name is declared, and where it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mkeyspec.files import resource
from mkeyspec.language_server.document import Document, Piece
from mkeyspec.language_server.hover import occurrence_at, token_at
from mkeyspec.language_server.names import Occurrence
from mkeyspec.language_server.used_files import place_of, use_at


@dataclass(frozen=True, slots=True)
class Target:
    """[start, end) of this document; or of the file at `path`, whose text is `text`."""

    start: int
    end: int
    path: Path | None = None
    text: str = ""


def definition(document: Document, offset: int) -> list[Target]:
    """Where the name at an offset is declared; the file of a `use`; the entry of a requirement in its ledger."""
    piece = document.piece_at(offset)
    if piece is None:
        return []
    one = occurrence_at(piece, offset)
    if one is None:
        return _used_file(document, piece, offset)
    if one.level == "requirement":
        return _in_ledger(one.name)
    declared = one.declared
    if declared is None:
        return []
    if declared.source is not None:
        return [Target(declared.start, declared.end, declared.path, declared.source.text)] if declared.path else []
    base = 0 if declared.in_head else piece.start
    return [Target(base + declared.start, base + declared.end)]


def _used_file(document: Document, piece: Piece, offset: int) -> list[Target]:
    token = token_at(document, offset)
    use = use_at(piece, token.start_pos) if token is not None and token.type == "STRING" else None
    target = None if use is None else place_of(document, use)
    return [] if target is None else [Target(0, 0, target)]


def _in_ledger(id: str) -> list[Target]:
    for path in sorted(resource.directory("requirements").glob("*.toml")):
        text = path.read_text("utf-8")
        at = text.find(f"\n[{id}]")
        if at >= 0:
            return [Target(at + 2, at + 2 + len(id), path, text)]
    return []


def references(document: Document, offset: int) -> list[tuple[int, int]]:
    """All places of the name at an offset in this document, its declaration among them, in order."""
    piece = document.piece_at(offset)
    one = None if piece is None else occurrence_at(piece, offset)
    if piece is None or one is None:
        return []
    return sorted((where.start + one.start, where.start + one.end) for where, one in same(document, piece, one))


def same(document: Document, piece: Piece, one: Occurrence) -> Iterator[tuple[Piece, Occurrence]]:
    """The occurrences that mean the same as one of `piece`."""
    for where in document.pieces:
        for other in where.occurrences:
            if other.name == one.name and _alike(piece, one, where, other):
                yield where, other


def _alike(piece: Piece, one: Occurrence, where: Piece, other: Occurrence) -> bool:
    if one.level != other.level:
        return False
    if one.level == "case":
        return where is piece  # an `if` declares a name in both branches, and a `repeat` in each turn
    if one.level == "local":
        return where is piece and one.declared == other.declared
    if one.level == "used":
        return one.declared is not None and other.declared is not None and one.declared.path == other.declared.path
    return True
