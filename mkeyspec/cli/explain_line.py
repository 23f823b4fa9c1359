"""`mkeyspec explain FILE:LINE`: what the words of a line ask for, with values in the first row that comes there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.cli.explain_page import meanings_of
from mkeyspec.cli.session import Failure
from mkeyspec.cli.sources import be_a_source
from mkeyspec.files.project import SUFFIX

if TYPE_CHECKING:
    from mkeyspec.language_server.document import Document

_PLACE = re.compile(rf"(?P<path>.+{re.escape(SUFFIX)}):(?P<line>[0-9]{{1,9}})(?::[0-9]+)?", re.DOTALL)


def place_in(what: str) -> tuple[Path, int] | None:
    """The file and the line of `FILE:LINE`, or of `FILE:LINE:COLUMN` as a failure names it; None of anything else."""
    found = _PLACE.fullmatch(what)
    return None if found is None else (Path(found["path"]), int(found["line"]))


def about_a_word(word: str) -> str | None:
    """What a word of the language or a term of the glossary means; None of any other word."""
    from mkeyspec.language_server.explained import about_any

    told = about_any(word) if re.fullmatch(r"[a-z][a-z0-9_]*", word) is not None else ""
    texts = [told, *meanings_of(word)]
    return f"{word}\n{_plain(chr(10).join(texts))}\n" if any(texts) else None


def words_of_the_language() -> list[str]:
    from mkeyspec.editors.words import classes

    return sorted(word for words in classes().values() for word in words)


def about_line(path: Path, number: int) -> str:
    """The text to print. Raises Failure."""
    from mkeyspec.language_server.document import opened
    from mkeyspec.language_server.hover import hover
    from mkeyspec.language_server.place import place_of

    be_a_source(path, SUFFIX)
    if not path.is_file():
        raise Failure("MKS0903", f"no such file: {path}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Failure("MKS0903", f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Failure("MKS0907", f"{path} is not UTF-8, see `mkeyspec check {path}`") from None
    document = opened(path.absolute().as_uri(), 0, text, place_of(path.absolute()))
    if document.too_large:
        raise Failure("MKS0907", f"{path} is too large, see `mkeyspec check {path}`")
    lines = document.compiled_text.split("\n")
    if not 1 <= number <= len(lines):
        raise Failure("MKS0907", f"{path} has {len(lines)} lines, and no line {number}")
    start = sum(len(line) + 1 for line in lines[: number - 1])
    end = start + len(lines[number - 1])
    found: dict[str, str] = {}
    for token in document.words[0]:
        if start <= token.start_pos < end:
            told = hover(document, token.start_pos)
            if told is not None:
                found.setdefault(_plain(told.text), document.text.value[told.start : told.end])
    opens = None if found else _opened_by(document, start, end)
    if opens is not None:
        return f"{path}:{number} ends what line {opens} begins\n\n{about_line(path, opens)}"
    if not found:
        raise Failure(
            "MKS0907", f"{path}:{number} has nothing to explain: it is empty, a comment, or not of the language"
        )
    head = f"{path}:{number}\n{number:>5} | {lines[number - 1].rstrip()}\n"
    return "\n".join([head, *(f"{word}\n{text}\n" for text, word in found.items()), *_verified(document, start)])


def _opened_by(document: Document, start: int, end: int) -> int | None:
    """The line of the `{` of the last `}` between two offsets."""
    open_: list[int] = []
    for token in document.words[0]:
        if token.start_pos >= end:
            break
        if token.value == "{":
            open_.append(token.start_pos)
        elif token.value == "}" and open_:
            begins = open_.pop()
            if token.start_pos >= start:
                last = document.compiled_text.count("\n", 0, begins) + 1
                return last if begins < start else None
    return None


def _verified(document: Document, start: int) -> list[str]:
    """What the case of a line verifies."""
    case = next((case for piece, case in document.cases() if piece.start <= start < piece.end), None)
    ids = [] if case is None else [id.text for id in case.verifies]
    known = document.place.requirements
    titles = [f"  {id}  {known[id].title}" for id in ids if id in known]
    return [f"its case verifies:\n{chr(10).join(titles)}\n"] if titles else []


def _plain(markdown: str) -> str:
    """Markdown for a terminal: indented, without fences, stars and empty lines."""
    lines = [line for line in markdown.splitlines() if line and not line.startswith("```")]
    return "\n".join("    " + line.replace("**", "") for line in lines)
