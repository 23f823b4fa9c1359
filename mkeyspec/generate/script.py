"""The text of one case, as it grows: its `let`s, its statements, and what it has to say for itself."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable

from mkeyspec.generate.values import Value

_WIDTH = 116
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
_LET = re.compile(r"let ([a-z0-9_]+) = ")
Mark = tuple[int, dict[str, None], dict[str, None], Counter[str], dict[str, str]]


class Script:
    """Statements in order. `drawn`: what the case has of each feature, for its comment and the tests."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        """Statements, not indented; lines in one of them are parted by a newline."""
        self.drawn: dict[str, None] = {}
        self.requirements: dict[str, None] = {}
        self.notes: list[str] = []
        self._names: Counter[str] = Counter()
        self._lets: dict[str, str] = {}

    def name_of(self, stem: str) -> str:
        """A new name: data, data2, data3…"""
        self._names[stem] += 1
        return stem if self._names[stem] == 1 else f"{stem}{self._names[stem]}"

    def line(self, text: str) -> None:
        """A statement; a long one goes on in the next line after a comma or an operator."""
        self.lines.append(text)

    def let(self, stem: str, value: Value) -> Value:
        """The value by a name; the one that it has, if it has one."""
        return Value(self.let_text(stem, value.text), value.data)

    def let_text(self, stem: str, text: str) -> str:
        """As `let`, of anything."""
        if text not in self._lets:
            self._lets[text] = self.name_of(stem)
            self.line(f"let {self._lets[text]} = {text}")
        return self._lets[text]

    def mark(self) -> Mark:
        """Where the text is now, to come back to (`back`)."""
        return len(self.lines), dict(self.drawn), dict(self.requirements), Counter(self._names), dict(self._lets)

    def back(self, mark: Mark) -> None:
        """What was written since then was not meant."""
        length, self.drawn, self.requirements, self._names, self._lets = mark
        del self.lines[length:]

    def draws(self, feature: str, *requirements: str) -> None:
        """The case has this, and so verifies these."""
        self.drawn[feature] = None
        for one in requirements:
            self.requirements[one] = None

    def note(self, text: str) -> None:
        """A line of the comment at the head of the case."""
        self.notes.append(text)

    def told(self, data: bytes, candidates: Iterable[Value]) -> Value | None:
        """The first candidate that is `data`."""
        return next((one for one in candidates if one.data == data), None)

    def text(self, title: str) -> str:
        """The whole case."""
        head = [f"case {self.name}", f'    "{title}"']
        for note in self.notes:
            head += textwrap.wrap(note, 112, initial_indent="    # ", subsequent_indent="    # ")
        head += wrapped(f"verifies {', '.join(sorted(self.requirements)) or 'CFG-15'}", 4)
        body = [line for statement in _used(self.lines) for line in wrapped(statement, 4)]
        return "\n".join(head + body) + "\n"


def _used(statements: list[str]) -> list[str]:
    """Without the `let`s that no statement names: what the case does not need is not for its reader."""
    kept: list[str] = []
    words: set[str] = set()
    for statement in reversed(statements):
        match = _LET.match(statement)
        if match is not None and match[1] not in words:
            continue
        words.update(_WORD.findall(statement[match.end() :] if match is not None else statement))
        kept.append(statement)
    return kept[::-1]


def wrapped(text: str, indent: int) -> list[str]:
    """One statement in lines of up to 120 characters where it can be broken: after a comma or an operator."""
    lines: list[str] = []
    for given in text.split("\n"):
        rest, pad = given, " " * indent
        while len(pad) + len(rest) > _WIDTH + 4:
            at = max(rest.rfind(mark, 0, _WIDTH - len(pad)) + len(mark) for mark in (", ", " ++ "))
            if at < 24:
                break
            lines.append(pad + rest[:at].rstrip())
            rest, pad = rest[at:], " " * (indent + 4)
        lines.append(pad + rest)
    return lines
