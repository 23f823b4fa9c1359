"""The source of a statement as a failure quotes it: all of its lines, those of the block that it is in, and the values
of its names. Read as text after a case has failed; nothing is evaluated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from mkeyspec.plan import At

_WIDEST = 160
_MOST_LINES = 12
"""Lines of a statement that are quoted whole; of a longer one the first, those around the culprit, and the last."""
_AROUND = 3
_MOST_BACK = 200
"""Lines before a statement in which its block begins."""
_LETS = 4
"""Names of `let`s that are told."""
_WIDTH = 100
"""Columns of a line of values."""
_LONGEST = 72
"""Characters of an expression that has a value."""

_NAME = re.compile(r"[a-zA-Z_]\w*")
_LET = re.compile(r"\s*let\s+(\w+)\s*=\s*(.+)")
_BLOCK = re.compile(r"\s*(post|configure)\b")
_QUOTED = re.compile(r'"[^"]*"')
_ROW_VALUE = re.compile(r",(?=[a-zA-Z_]\w*=)")


class KnownValues(Protocol):
    """What is known of the values at a statement of a row."""

    @property
    def names(self) -> Mapping[str, tuple[str, bool]]:
        """The value of a name, and whether that is all of it: of a long byte string only the length is told."""
        ...

    @property
    def lets(self) -> Mapping[str, str]:
        """What the `let` of a name is."""
        ...

    @property
    def expressions(self) -> Mapping[str, str]:
        """The values of expressions of the statement."""
        ...


class SourceText:
    """The lines of a file; none if it can't be read."""

    def __init__(self, path: Path | None) -> None:
        self.lines = _lines_of(path)

    def first_line(self, at: At) -> str:
        """The first line of the statement at `at`; "" if the file has no such line."""
        if not 0 < at.line <= len(self.lines):
            return ""
        return statement(printable(self.lines[at.line - 1]), at.column)

    def quoted(self, at: At) -> list[str]:
        """The statement, in the block that it is in, with carets under its first line; [] without the file."""
        if not 0 < at.line <= len(self.lines):
            return []
        shown = printable(self.lines[at.line - 1])
        width = len(statement(shown, at.column))
        first, last = self._block(at.line)
        margin = " " * len(str(last))
        text = [f"  {margin} |"]
        before = first - 1
        for number in _shown(first, at.line, last):
            if number > before + 1:
                text.append(f"  {margin} | …")
            before = number
            text.append(f"  {number:>{len(margin)}} | {printable(self.lines[number - 1]).rstrip()}".rstrip())
            if number == at.line:
                text.append(f"  {margin} | {' ' * (at.column - 1)}{'^' * max(1, width)}")
        return text

    def values(self, at: At, case: At, id: str, known: KnownValues | None = None) -> Iterator[str]:
        """The values of the names of the statement, in lines: of the row, of each `let` of the case with its text, and
        of the expressions of the statement. `known`: those that are evaluated."""
        if not 0 < at.line <= len(self.lines):
            return
        first, last = self._block(at.line)
        names = list(dict.fromkeys(name for n in range(first, last + 1) for name in _names(self.lines[n - 1])))
        row = dict(_row_values(id))
        values = {} if known is None else known.names
        lets = {**self._lets(case, at), **({} if known is None else known.lets)}
        told: list[str] = []
        for name in names:  # grows while it is read: what a `let` is made of has values, too
            if name in lets and name not in row and len(told) < _LETS:
                value, whole = values.get(name, ("", False))
                told.append(_equal(name, _cut(lets[name]), value))
                if not whole:
                    names += [one for one in dict.fromkeys(_names(lets[name])) if one not in names]
        of_row = [_equal(name, row[name], values.get(name, ("", False))[0]) for name in names if name in row]
        expressions = {} if known is None else known.expressions
        yield from _packed([*of_row, *told, *(_equal(_cut(text), value) for text, value in expressions.items())])

    def _lets(self, case: At, at: At) -> dict[str, str]:
        """The text of each `let` before a statement, as far as its first line shows it."""
        found = (_LET.match(line) for line in self.lines[case.line : at.line])
        return {let[1]: _without_comment(let[2]) for let in found if let is not None}

    def _block(self, line: int) -> tuple[int, int]:
        """The first and the last line of the statement that begins in `line`, or of the `post` or `configure` that it
        is in."""
        first, depth = line, 0
        for number in range(line - 1, max(0, line - _MOST_BACK), -1):
            depth += _braces(self.lines[number - 1])
            if depth > 0:
                if _BLOCK.match(self.lines[number - 1]) is None:
                    break
                first, depth = number, 0
        depth = 0
        for number in range(first, len(self.lines) + 1):
            depth += _braces(self.lines[number - 1])
            if depth <= 0 and number >= line and not _without_comment(self.lines[number - 1]).endswith(","):
                return first, number
        return first, line


def _shown(first: int, culprit: int, last: int) -> list[int]:
    if last - first < _MOST_LINES:
        return list(range(first, last + 1))
    near = range(max(first, culprit - _AROUND), min(last, culprit + _AROUND) + 1)
    return sorted({first, *near, last})


def _lines_of(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _braces(line: str) -> int:
    """How many more brackets of any kind are opened than closed."""
    text = _QUOTED.sub("", _without_comment(line))
    return sum(text.count(one) for one in "{([") - sum(text.count(one) for one in "})]")


def _names(line: str) -> list[str]:
    return _NAME.findall(_QUOTED.sub("", _without_comment(line)))


def _row_values(id: str) -> Iterator[tuple[str, str]]:
    """The `for` values in the id of a row."""
    for one in _ROW_VALUE.split(id.partition("::")[2].partition("[")[2].removesuffix("]")):
        name, equals, value = one.partition("=")
        if equals:
            yield name, value


def _equal(name: str, *texts: str) -> str:
    """`size = 512`, or `n = size / 8 = 64`: a text is left out that says the same as the one before it."""
    told = name
    before = ""
    for text in texts:
        if text and not _same(before, text):
            told += f" = {printable(text)}"
            before = text
    return told


def _same(text: str, value: str) -> bool:
    """Whether a text shows that value: `0x10` and `16 (0x10)`, `t10_b|crc` and `t10_b | crc`."""
    number = value.partition(" (")[0]
    with suppress(ValueError):
        return int(text, 0) == int(number, 0)
    return re.sub(r"[\s_\"]", "", text) == re.sub(r"[\s_\"]", "", value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def printable(line: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in line.replace("\t", " "))[:_WIDEST]


def statement(line: str, column: int) -> str:
    """The text from `column` to the end of the line, without a comment and without an opening brace."""
    return _without_comment(line[column - 1 :]).rstrip().removesuffix("{").rstrip()


def _without_comment(text: str) -> str:
    quoted = False
    for i, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == "#" and not quoted:
            return text[:i].rstrip()
    return text.rstrip()


def _packed(texts: Sequence[str]) -> Iterator[str]:
    """Several in a line, as far as they fit."""
    line = ""
    for text in texts:
        if line and len(line) + len(text) + 2 > _WIDTH:
            yield line
            line = ""
        line = f"{line}; {text}" if line else text
    if line:
        yield line
