"""The position where the parser stopped, and the general message about it."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.diagnostics.diagnostic import Diagnostic, Diagnostics, Edit, Note
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax.lexer import Token

_WORDS = (
    ("REQ", "a requirement id such as `CFG-07`"),
    ("CODE", "the code of a warning such as `MKS0602`"),
    ("RPAR", "`)`"),
    ("RSQB", "`]`"),
    ("COMMA", "`,`"),
    ("COLON", "`:`"),
    ("EQ", "`=`"),
    ("IN", "`in`"),
    ("LBRACE", "`{`"),
    ("FOR", "`for`"),
)
"""The alternatives that are named if no value is allowed, in this order."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the parser stopped: the statement's `tokens`, the index of the `bad` one (their number: at the end),
    and the terminals that the parser would have `accepts`-ed there."""

    source: Source
    tokens: list[Token]
    bad: int
    accepts: frozenset[str]
    joins: frozenset[int]
    diagnostics: Diagnostics
    verb: Token | None = None
    """The verb in whose block the statement is."""

    @property
    def around(self) -> str:
        """The word of that verb."""
        return "" if self.verb is None else self.verb.value

    @property
    def block(self) -> Span | None:
        """Its place."""
        return None if self.verb is None else Span(self.source, self.verb.start_pos, self.verb.end_pos)

    @property
    def token(self) -> Token | None:
        """The token that could not be taken; None at the end of the statement."""
        return self.tokens[self.bad] if self.bad < len(self.tokens) else None

    @property
    def kind(self) -> str:
        token = self.token
        return token.type if token is not None else "END"

    @property
    def value(self) -> str:
        token = self.token
        return token.value if token is not None else ""

    def before(self, back: int = 1) -> Token | None:
        """The token `back` places before the bad one."""
        at = self.bad - back
        return self.tokens[at] if at >= 0 else None

    def before_kind(self, back: int = 1) -> str:
        token = self.before(back)
        return token.type if token is not None else ""

    def following_kind(self) -> str:
        """What follows the bad token on its line."""
        at = self.bad + 1
        if at >= len(self.tokens) or self.tokens[at].start_pos in self.joins:
            return "END"
        return self.tokens[at].type

    @property
    def first(self) -> str:
        """The statement's first terminal."""
        return self.tokens[0].type if self.tokens else "END"

    @property
    def sentence(self) -> bool:
        """Whether the statement is a step."""
        return self.first in ("NAME", "PEER")

    def span(self) -> Span:
        """The bad token, or the place after the last one."""
        token = self.token
        if token is not None:
            return Span(self.source, token.start_pos, token.end_pos)
        end = self.tokens[-1].end_pos if self.tokens else 0
        return Span(self.source, end, end)

    def error(
        self,
        code: str,
        message: str,
        help: str = "",
        span: Span | None = None,
        label: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> None:
        place = self.span() if span is None else span
        begins = Span(self.source, self.tokens[0].start_pos, self.tokens[0].end_pos) if self.tokens else None
        notes = self._joined()
        around = self.block
        self.diagnostics.add(
            Diagnostic(code, message, place, "error", label, notes, help, fix=fix, begins=begins, around=around)
        )

    def _joined(self) -> tuple[Note, ...]:
        """A note if the bad token's line is taken for the continuation of the one before."""
        for at in range(min(self.bad, len(self.tokens) - 1), 0, -1):
            token = self.tokens[at]
            if token.start_pos not in self.joins:
                continue
            last = self.tokens[at - 1]
            here = self.source.location(self.span().start).line
            if self.source.location(token.start_pos).line != here or last.type in ("PREP", "WHEN"):
                return ()
            if token.type in ("PREP", "REJECTED", "ACCEPTED", "COMPLETES", "KNOWN", "WHEN", "ELSE"):
                return ()
            place = Span(self.source, last.end_pos - 1, last.end_pos)
            return (Note(f"the line before ends with `{last.value}`, so the statement goes on here", place),)
        return ()

    def text(self, begin: int, end: int) -> str:
        """The text of tokens [begin, end), in one line."""
        if begin >= end:
            return ""
        text = self.source.text[self.tokens[begin].start_pos : self.tokens[end - 1].end_pos]
        return " ".join(text.split())

    def expected(self) -> str:
        """What is allowed here, in words."""
        accepts = self.accepts
        last = self.before()
        after = f" after `{_short(last.value)}`" if last is not None and last.value.strip() else ""
        if "INT" in accepts:
            return "a value" + after
        if "NAME" in accepts and "CMP" not in accepts and "COMMA" not in accepts:
            return "a name" + after
        if {"END", "$END", "RBRACE"} & accepts:
            return "the end of the statement" + after
        found = [word for kind, word in _WORDS if kind in accepts]
        if "CMP" in accepts:
            found = [word for word in found if word not in ("`in`", "`for`")]
        if not found:
            return "something else" + after
        return (", ".join(found[:-1]) + " or " if len(found) > 1 else "") + found[-1] + after

    def found(self) -> str:
        """What is here."""
        token = self.token
        if token is None or token.type == "END":
            return "the end of the line"
        return f"`{_short(token.value)}`" if token.value else "the end of the line"


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:21] + "…"
