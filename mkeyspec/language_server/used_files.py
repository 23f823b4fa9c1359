"""The files that a document uses: where they are, and what they bring in."""

from __future__ import annotations

from pathlib import Path

from mkeyspec.files import installed
from mkeyspec.files.suite_root import real
from mkeyspec.language_server.document import Document, Piece
from mkeyspec.syntax import ast


def use_at(piece: Piece, start: int) -> ast.Text | None:
    """The `use` whose text begins at an offset."""
    file = piece.reading.file
    return next((use for use in file.uses if use.span.start == start), None) if file is not None else None


def place_of(document: Document, use: ast.Text) -> Path | None:
    """The file that it means; None if there is none."""
    if use.value.startswith(installed.PREFIX):
        found = installed.file_of(use.value)
        return None if found is None else found[0]
    target = document.place.path.parent / use.value
    try:
        return target if target.is_file() else None
    except (OSError, ValueError):
        return None


def about_use(document: Document, piece: Piece, use: ast.Text) -> str:
    """Where it is, and the names that it declares; "" if there is no such file."""
    place = place_of(document, use)
    if place is None:
        return ""
    names = [one.name.text for one in piece.reading.library if one.name.span.source.path == real(place)]
    brought = ", ".join(f"`{name}`" for name in names)
    return f"`{place}`" + (f"\n\ndeclares {brought}" if brought else "")
