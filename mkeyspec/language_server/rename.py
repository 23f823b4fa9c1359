"""Renames a name of the author's, everywhere it is used. A name that would mean something else is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mkeyspec.compiler.names import LANGUAGE, SEEING
from mkeyspec.files import installed
from mkeyspec.files.suite_root import real
from mkeyspec.language_server.document import Document, Piece, opened
from mkeyspec.language_server.hover import occurrence_at
from mkeyspec.language_server.names import Occurrence
from mkeyspec.language_server.navigation import same
from mkeyspec.language_server.place import Place, place_of
from mkeyspec.syntax.parser import reserved_words

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MOST_FILES = 2_000
"""Files of a suite that are looked at for uses of a name."""

Edit = tuple[int, int, str]


class Refused(Exception):
    """A name can't be changed so; `str()` says why."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """The edits of this document, and of other files: their texts as they were read, and the edits."""

    edits: tuple[Edit, ...]
    others: Mapping[Path, tuple[str, tuple[Edit, ...]]] = field(default_factory=dict)


def renamed_at(document: Document, offset: int) -> tuple[int, int]:
    """The place of the name that can be renamed at an offset. Raises Refused."""
    piece, one = _found(document, offset)
    return piece.start + one.start, piece.start + one.end


def rename(document: Document, offset: int, new: str) -> Renaming:
    """The edits that give the name at an offset another name. Raises Refused; nothing is changed then."""
    piece, one = _found(document, offset)
    if not _NAME.match(new):
        raise Refused(f"`{new}` is not a name: lower case letters, digits and `_`, a letter first")
    if new in reserved_words():
        raise Refused(f"`{new}` is a word of the language and can't be a name")
    if new in SEEING:
        raise Refused(f"expectations read the device by the word `{new}`; another name is needed")
    if new == one.name:
        return Renaming(())
    others: dict[Path, tuple[str, tuple[Edit, ...]]] = {}
    here = document
    if one.level == "used":
        assert one.declared is not None
        path = one.declared.path
        if path is None:
            raise Refused("the file that declares it can't be found")
        source = one.declared.source
        if source is not None and source.name.startswith(installed.PREFIX):
            raise Refused(f"{source.name} declares it, in an installed package: rename it where that is written")
        here = _open(document, path)
        at = one.declared.start
        piece, one = _found(here, at)
    edits = _edits(here, piece, one, new)
    if one.level == "file":
        others |= {path: (other.text.value, found) for path, other, found in _users(here, document, one.name, new)}
    if here is document:
        return Renaming(edits, others)
    mine = next((found for path, (_, found) in others.items() if real(path) == real(document.place.path)), ())
    rest = {path: told for path, told in others.items() if real(path) != real(document.place.path)}
    return Renaming(mine, {**rest, here.place.path: (here.text.value, edits)})


def _found(document: Document, offset: int) -> tuple[Piece, Occurrence]:
    if not document.is_read:
        raise Refused("the file is being read; try again")
    piece = document.piece_at(offset)
    one = None if piece is None else occurrence_at(piece, offset)
    if piece is None or one is None:
        raise Refused("there is no name here that can be changed")
    if one.level == "language":
        raise Refused(f"`{one.name}` is a word of the language")
    if one.level == "requirement":
        raise Refused(f"{one.name} is an id of the ledger")
    return piece, one


def _edits(document: Document, piece: Piece, one: Occurrence, new: str) -> tuple[Edit, ...]:
    """The edits of a document. Raises Refused where `new` means something already."""
    found = sorted((where.start + other.start, where.start + other.end) for where, other in same(document, piece, one))
    touched = {id(where): where for where, _ in same(document, piece, one)}
    _refuse_used(touched.values(), one, new)
    edits = tuple((start, end, new) for start, end in found)
    before, after = _errors(document), _errors(_after(document, edits))
    if any(code not in before or after.count(code) > before.count(code) for code in after):
        raise Refused(f"`{new}` would mean something else somewhere in this file")
    return edits


def _refuse_used(pieces: Iterable[Piece], one: Occurrence, new: str) -> None:
    for piece in pieces:
        for other in piece.occurrences:
            if other.name == new and other.level not in ("case name", "setup name", "requirement"):
                language = "a word of the language that is used here"
                raise Refused(f"`{new}` is {language if other.level == 'language' else 'a name here already'}")
            if other.name == new and other.level == one.level:
                raise Refused(f"`{new}` is the name of another one")
        if one.level == "file" and new in LANGUAGE:
            raise Refused(f"`{new}` is a word of the language; a `let` of a file that hides it is hard to read")


def _errors(document: Document) -> list[str]:
    return [one.code for piece in document.pieces for one in piece.quick]


def _after(document: Document, edits: tuple[Edit, ...]) -> Document:
    text = document.text.value
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return opened(document.uri, document.version, text, document.place)


def _open(document: Document, path: Path) -> Document:
    """Another file of the suite, with the text that the editor has of it."""
    raw = document.place.unsaved.get(real(path))
    try:
        text = (path.read_bytes() if raw is None else raw).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path.name} can't be read: {error}") from None
    unsaved = {**document.place.unsaved, real(document.place.path): document.compiled_text.encode("utf-8")}
    return opened("", 0, text, place_of(path, unsaved))


def _users(
    declaring: Document, current: Document, name: str, new: str
) -> Iterator[tuple[Path, Document, tuple[Edit, ...]]]:
    """The files that use the `let` `name` of `declaring`, with their edits."""
    home = real(declaring.place.path)
    using = _using(declaring.place, home, name)
    if current is not declaring and not any(real(path) == real(current.place.path) for path in using):
        using.append(current.place.path)  # what is on disk does not use it yet
    for path in using:
        here = real(path) == real(current.place.path)
        other = current if here else _open(declaring, path)
        found = []
        pieces: dict[int, Piece] = {}
        sample = None
        for piece in other.pieces:
            for one in piece.occurrences:
                of_it = one.level == "used" and one.name == name and one.declared is not None
                if of_it and one.declared is not None and one.declared.path and real(one.declared.path) == home:
                    found.append((piece.start + one.start, piece.start + one.end, new))
                    pieces[id(piece)] = piece
                    sample = one
        if found and sample is not None:
            _refuse_used(pieces.values(), sample, new)
            yield path, other, tuple(sorted(found))


def _using(place: Place, home: Path, name: str) -> list[Path]:
    """The files of the suite that may use `name` of the file `home`: those that have the word, and a file's name in
    quotes by which they come to it. Most files have neither, and are not parsed."""
    word = re.compile(rb"\b%s\b" % name.encode())
    texts: dict[Path, bytes] = {}
    for path in _files(place.root):
        with suppress(OSError):
            texts[path] = place.unsaved.get(real(path)) or path.read_bytes()
    reached = {home.name}
    found: set[Path] = set()
    while True:
        more = {path for path, text in texts.items() if any(f'{one}"'.encode() in text for one in reached)} - found
        if not more:
            break
        found |= more
        reached |= {path.name for path in more}
    return sorted(path for path in found if word.search(texts[path]) and real(path) != home)


def _files(root: Path) -> Iterator[Path]:
    count = 0
    for path in sorted(root.rglob("*.mks")):
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            continue
        count += 1
        if count > MOST_FILES:
            raise Refused(f"the suite has more than {MOST_FILES} files: rename it by hand")
        yield path
