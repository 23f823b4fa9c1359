"""Formats the text of a file.

    formatted(text) == formatted(formatted(text))

Words, comments, and where statements end are the same before and after: that is looked at each time, and a text for
which it does not hold is not given out.
"""

from __future__ import annotations

from mkeyspec.formatter.layout import place_words
from mkeyspec.formatter.words import Line, arranged, lines_of
from mkeyspec.syntax.parser import words_of

BETWEEN_CASES = 2

ROUNDS = 10
"""Times that a text is formatted at most. Two are enough for nearly every text."""


class Changed(Exception):
    """The formatted text would not say the same: a mistake of the formatter."""


def formatted(text: str) -> str:
    """The text of a file that can be parsed, as all files are written. Raises Changed."""
    end = "\r\n" if "\r\n" in text else "\n"
    before, after = text, _once(text)
    for _ in range(ROUNDS):
        # A column that moved can part words from their partners.
        if after == before:
            break
        before, after = after, _once(after)
    if _said(text) != _said(after):
        raise Changed
    return after if end == "\n" else after.replace("\n", end)


def _once(text: str) -> str:
    lines = lines_of(text)
    placed = place_words(lines)
    rows: list[str] = []
    for line, blank in zip(lines, _blank_lines(lines), strict=True):
        rows += [""] * blank
        row = ""
        for word in line.words:
            row += " " * (placed[word.place] - len(row)) + word.text
        rows.append(row)
    return "".join(row + "\n" for row in rows)


def _blank_lines(lines: list[Line]) -> list[int]:
    """The empty lines before each line."""
    blanks: list[int] = []
    in_case = False
    before: Line | None = None
    for at, line in enumerate(lines):
        header = _case_below(lines, at)
        if before is None:
            blank = 0
        elif header and in_case and not (before.is_comment and before.first.column == 0 and line.blank == 0):
            blank = BETWEEN_CASES
        elif header:
            blank = min(max(line.blank, 0 if before.is_comment else 1), BETWEEN_CASES)
        elif before.words[-1].kind == "LBRACE" or line.first.kind == "RBRACE":
            blank = 0
        else:
            blank = min(line.blank, 1)
        blanks.append(blank)
        in_case = in_case or line.first.kind == "CASE"
        before = line
    return blanks


def _case_below(lines: list[Line], at: int) -> bool:
    """Whether the line is a `case`, or the first of the comments right above one."""
    if lines[at].first.kind == "CASE":
        return True
    while lines[at].is_comment and lines[at].first.column == 0 and at + 1 < len(lines):
        at += 1
        if lines[at].blank:
            return False
    return lines[at].first.kind == "CASE"


def _said(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The words and the ends of statements; the comments."""
    tokens, comments = words_of(text)
    words = [(token.type, "" if token.type == "END" else token.value) for token in arranged(text, tokens)]
    return words, [text[start:end].rstrip() for start, end in comments]
