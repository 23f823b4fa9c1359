"""A text as an editor sees it: places are a line and a column in UTF-16 code units, both from 0.

The language server protocol ends lines at `\\n`, `\\r\\n` and `\\r`, unlike `str.splitlines`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")


class Position(NamedTuple):
    line: int
    column: int


class Text:
    """An immutable text. Every place that a client may name is taken: one beyond a line or the text is its end, one
    inside a character its beginning."""

    __slots__ = ("_starts", "value")

    def __init__(self, value: str) -> None:
        self.value = value
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(value))]

    @property
    def lines(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """Line `number` without its end; "" if there is none."""
        if not 0 <= number < len(self._starts):
            return ""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.value)
        return self.value[self._starts[number] : end].rstrip("\r\n")

    def start_of(self, number: int) -> int:
        """The offset of the first character of line `number`; the end of the text if there is none."""
        return self._starts[max(number, 0)] if number < len(self._starts) else len(self.value)

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def position(self, offset: int) -> Position:
        offset = min(max(offset, 0), len(self.value))
        number = self.line_of(offset)
        before = self.value[self._starts[number] : offset]
        return Position(number, len(before) if before.isascii() else sum(map(_units, before)))

    def offset(self, line: int, column: int) -> int:
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.value)
        content = self.line(line)
        start = self._starts[line]
        if column <= 0:
            return start
        if content.isascii():
            return start + min(column, len(content))
        for at, character in enumerate(content):
            column -= _units(character)
            if column < 0:
                return start + at
        return start + len(content)

    def changed(self, start: Position, end: Position, text: str) -> Text:
        """This text with `text` in place of what is between two places."""
        begin, until = self.offset(*start), self.offset(*end)
        return Text(joined_halves(self.value[:begin] + text + self.value[max(begin, until) :]))

    def compiled(self) -> str:
        """The text that the compiler reads, of the same length: a byte order mark is a blank, half a surrogate pair is
        U+FFFD."""
        value = " " + self.value[1:] if self.value.startswith("\ufeff") else self.value
        return value if value.isascii() else _HALF.sub("\ufffd", value)

    @property
    def is_whole(self) -> bool:
        """Whether it has no half of a surrogate pair: one can't be written to a file."""
        return self.value.isascii() or _HALF.search(self.value) is None


def joined_halves(text: str) -> str:
    """`text` in which two halves of a surrogate pair that came one after the other are one character."""
    if text.isascii():
        return text
    return _HALVES.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def _units(character: str) -> int:
    return 2 if character > "\uffff" else 1
