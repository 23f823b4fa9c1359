"""The words of a file: the grammar's terminals, in one regular expression.

The terminals are Lark's, from `grammar/mks.lark`, in the order in which Lark's own basic lexer tries them (a test
compares the two); scanning a whole file in one loop and keeping only offsets is what makes it several times as fast.
The last terminal takes any character, so the lexer never fails: an unknown character becomes a token, and the filter
reports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark.lexer import PatternStr, TerminalDef

from mkeyspec.diagnostics.limits import TOKENS
from mkeyspec.files import resource

STARTS = ("file", "line", "apart")
"""Start rules of the grammar: a file, one line of it, and the terminals which no rule accepts."""

PREPOSITIONS = frozenset({"by", "into", "to", "from", "on", "as", "is"})
"""Reserved as well; one terminal, PREP."""

TEXT = resource.text("grammar", "mks.lark")
"""The grammar."""


class Token:
    """One word: its terminal, its text, and where it is: characters [start_pos, end_pos)."""

    __slots__ = ("end_pos", "start_pos", "type", "value")

    def __init__(self, type: str, value: str, start_pos: int, end_pos: int) -> None:
        self.type = type
        self.value = value
        self.start_pos = start_pos
        self.end_pos = end_pos

    def __repr__(self) -> str:
        return f"Token({self.type!r}, {self.value!r}, {self.start_pos}, {self.end_pos})"


class Words:
    """The compiled terminals. `scan` is a pure function of the text."""

    def __init__(self, defined: Iterable[TerminalDef]) -> None:
        terminals = sorted(
            (t for t in defined if t.name != "END"),
            key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
        )
        words = {t.pattern.value: t.name for t in terminals if isinstance(t.pattern, PatternStr)}
        self.reserved = {text: name for text, name in words.items() if text.isidentifier()}
        """Reserved words and their terminals; the prepositions are one terminal, PREP."""
        parts = [f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals if t.name not in self.reserved.values()]
        self._pattern = re.compile("|".join(parts))

    def scan(self, text: str) -> tuple[list[Token], list[tuple[int, int]]]:
        """All tokens of `text`, new lines among them, and the places of its comments; at most one past the limit."""
        tokens: list[Token] = []
        comments: list[tuple[int, int]] = []
        append = tokens.append
        reserved = self.reserved.get
        most = TOKENS.most
        for match in self._pattern.finditer(text):
            kind = match.lastgroup or "BADSIGN"
            if kind == "BLANK":
                continue
            start, end = match.span()
            if kind == "COMMENT":
                comments.append((start, end))
                continue
            value = match.group()
            if kind == "NAME":
                kind = reserved(value, kind)
            append(Token(kind, value, start, end))
            if len(tokens) > most:
                break
        return tokens, comments
