"""Mutants of C, by the text: one operator, number, condition or statement changed. Drawn by a seed.

universalmutator does this by rules of the same kind; it rewrites comments too, needs two compiled packages, and half of
what it makes of these sources does not compile.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from tests.mutants.mutant import ROOT, Mutant

CHANGES = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "^=": "|=",
}  # fmt: skip
"""A binary operator has blanks around it: clang-format puts them there."""

_HIDDEN = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | ^\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_OPERATOR = re.compile(r"(?<= )(==|!=|<<|>>|<=|>=|&&|\|\||[-+|&^]=|[-+*/%&|^<>])(?= )")
_NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)(?=[uUlL]*\b)")
_CONDITION = re.compile(r"\b(?:if|while) \(")
_STATEMENT = re.compile(
    r"""^[ \t]+
    (?!(?:return|break|goto|continue|case|else|if|for|while|do|struct|const|static|extern|sizeof|_Static_assert)\b)
    ( \*?[\w.>\[\]\-]+[ ](?:[-+|&^]|<<|>>)?=[ ][^;{}\n]+ | \w+\([^;{}\n]*\) | \*?[\w.>\[\]\-]+(?:\+\+|--) );$""",
    re.MULTILINE | re.VERBOSE,
)
"""An assignment, a call or a step on one line; a declaration has two words before its sign and is none."""
_HEAD = re.compile(r"^[A-Za-z][^\n;=]*?\b(?![A-Z_]+\()(\w+)\(", re.MULTILINE)


class CSource:
    """A file of softnic/ as it is, with all that may be changed in it."""

    def __init__(self, module: str, text: str | None = None) -> None:
        self.module = module
        self.text = (ROOT / module).read_text("utf-8") if text is None else text
        # As long as the text, without what is no code.
        self.seen = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", "~", found[0]), self.text)

    def changes(self) -> Iterator[tuple[int, int, str, str]]:
        """Start, end, the new text, and the name of the change."""
        for found in _OPERATOR.finditer(self.seen):
            yield found.start(), found.end(), CHANGES[found[0]], "operator"
        for found in _NUMBER.finditer(self.seen):
            yield found.start(), found.end(), f"({found[0]} + 1)", "number"
        for found in _CONDITION.finditer(self.seen):
            end = self._closed(found.end())
            yield found.end(), end, f"!({self.text[found.end() : end]})", "condition"
        for found in _STATEMENT.finditer(self.seen):
            if self._complete(found.start()):
                yield found.start(1), found.end(1), "", "statement"

    def _closed(self, start: int) -> int:
        depth = 1
        for place in range(start, len(self.seen)):
            depth += {"(": 1, ")": -1}.get(self.seen[place], 0)
            if not depth:
                return place
        raise ValueError(f"{self.module} has a parenthesis that is not closed")

    def _complete(self, start: int) -> bool:
        """Whether the line before ends a statement, so that this one begins one."""
        before = self.seen[:start].rstrip("~ \n\t")
        return before.endswith((";", "{", "}", ")", ":", "else"))

    def mutant(self, start: int, end: int, becomes: str, name: str) -> Mutant:
        code = self.text[:start] + becomes + self.text[end:]
        line = self.text.count("\n", 0, start)
        first = self.text.rfind("\n", 0, start) + 1
        was = self.text[first : self._end(self.text, end)]
        now = code[first : self._end(code, start + len(becomes))]
        return Mutant(self.module, name, line + 1, start - first, self._inside(start), _plain(was), _plain(now), code)

    def _end(self, text: str, place: int) -> int:
        end = text.find("\n", place)
        return len(text) if end < 0 else end

    def _inside(self, place: int) -> str:
        """The function: the last line before that begins at its first column with a name and has a parenthesis."""
        heads = _HEAD.findall(self.seen[:place])
        return heads[-1] if heads else ""

    def drawn(self, chance: random.Random) -> Iterator[Mutant]:
        changes = sorted(self.changes())
        chance.shuffle(changes)
        for change in changes:
            yield self.mutant(*change)

    def all(self) -> Iterator[Mutant]:
        return (self.mutant(*change) for change in sorted(self.changes()))


def _plain(lines: str) -> str:
    return "\n".join(line.strip() for line in lines.splitlines())
