"""The words and comments of a file, line by line, and where its statements begin."""

from __future__ import annotations

from dataclasses import dataclass, field

from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax.lexer import Token
from mkeyspec.syntax.parser import words_of
from mkeyspec.syntax.terminators import arrange

TAB = 8
"""Columns from one stop of the tabulator to the next."""

COMMENT = "COMMENT"


@dataclass(slots=True)
class Word:
    """A word, or a comment. `column`: where it begins in its line; `gap`: the columns of blanks before it."""

    kind: str
    text: str
    place: int
    column: int
    gap: int
    begins: bool = False
    """Whether a statement begins with it."""
    partners: list[Word] = field(default_factory=list)
    """The words of neighbouring lines that the author put in the same column."""


@dataclass(slots=True)
class Line:
    """A line that has words. `blank`: the empty lines before it."""

    words: list[Word]
    blank: int = 0

    @property
    def first(self) -> Word:
        return self.words[0]

    @property
    def is_comment(self) -> bool:
        return self.first.kind == COMMENT


def lines_of(text: str) -> list[Line]:
    """The lines of a file that can be parsed."""
    tokens, comments = words_of(text)
    begins = _beginnings(text, tokens)
    parts = [(token.start_pos, token.end_pos, token.type) for token in tokens if token.type != "NEWLINE"]
    parts += [(start, end, COMMENT) for start, end in comments]
    parts.sort()
    lines: list[Line] = []
    start, blank, following = 0, 0, iter([*parts, (len(text) + 1, 0, "")])
    part = next(following)
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        words: list[Word] = []
        column, before = 0, start
        while part[0] <= end and part[2]:
            place, stop, kind = part
            begin = _column(text[before:place], column)
            words.append(
                Word(kind, text[place:stop].rstrip(), place, begin, begin - column, place in begins and kind != COMMENT)
            )
            column, before = begin + stop - place, stop
            part = next(following)
        if words:
            lines.append(Line(words, blank))
        blank = 0 if words else blank + 1
        start = end + 1
    return lines


def _beginnings(text: str, tokens: list[Token]) -> set[int]:
    """Where statements begin."""
    begins: set[int] = set()
    previous = "END"
    for token in arranged(text, tokens):
        if previous in ("END", "LBRACE") and token.type not in ("END", "RBRACE"):
            begins.add(token.start_pos)
        previous = token.type
    return begins


def arranged(text: str, tokens: list[Token]) -> list[Token]:
    """The words with the ends of statements."""
    return arrange(Source("", text), tokens, Diagnostics()).tokens


def _column(blanks: str, column: int) -> int:
    """The column after `blanks`, which begin at `column`."""
    for sign in blanks:
        column = column + TAB - column % TAB if sign == "\t" else column + (sign == " ")
    return column
