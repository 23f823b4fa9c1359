"""The source of a statement as a failure quotes it: all of its lines, those of the block that it is in, and the values
of its names. Read as text after a case has failed; nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mkeyspec.plan import At

_WIDEST = 160
_MOST_LINES = 12
"""Lines of a statement that are quoted whole; of a longer one the first, those around the culprit, and the last."""
_AROUND = 3
_MOST_BACK = 200
"""Lines before a statement in which its block begins."""
_LETS = 4

_NAME = re.compile(r"[a-zA-Z_]\w*")
_LET = re.compile(r"\s*let\s+(\w+)\s*=\s*(.+)")
_BLOCK = re.compile(r"\s*(post|configure)\b")
_ROW_VALUE = re.compile(r",(?=[a-zA-Z_]\w*=)")


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

    def values(self, at: At, case: At, id: str) -> Iterator[str]:
        """The values of the names of the statement: of the row, and the text of each `let` of the case."""
        if not 0 < at.line <= len(self.lines):
            return
        first, last = self._block(at.line)
        names = list(dict.fromkeys(name for n in range(first, last + 1) for name in _names(self.lines[n - 1])))
        row = dict(_row_values(id))
        lets: dict[str, str] = {}
        for line in self.lines[case.line : at.line]:
            found = _LET.match(line)
            if found is not None:
                lets[found[1]] = _without_comment(found[2])[:_WIDEST]
        told = 0
        texts = []
        for name in names:  # grows while it is read: what a `let` is made of has values, too
            if name in lets and name not in row and told < _LETS:
                told += 1
                texts.append(f"{name} = {printable(lets[name])}")
                names += [one for one in dict.fromkeys(_names(lets[name])) if one not in names]
        yield from (f"{name} = {printable(row[name])}" for name in names if name in row)
        yield from texts

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
            if depth <= 0 and number >= line:
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
    """How many more braces are opened than closed."""
    text = _without_comment(line)
    return text.count("{") - text.count("}")


def _names(line: str) -> list[str]:
    return _NAME.findall(re.sub(r'"[^"]*"', "", _without_comment(line)))


def _row_values(id: str) -> Iterator[tuple[str, str]]:
    """The `for` values in the id of a row."""
    for one in _ROW_VALUE.split(id.partition("::")[2].partition("[")[2].removesuffix("]")):
        name, equals, value = one.partition("=")
        if equals:
            yield name, value


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


def lines_of(sequence: Sequence[str], most: int = 6) -> str:
    """Values in one line, the first ones if there are many."""
    more = len(sequence) - most
    return "; ".join(sequence[:most]) + (f" and {more} more" if more > 0 else "")
