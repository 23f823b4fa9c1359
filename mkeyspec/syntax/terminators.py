"""The filter between the lexer and the parser: it finds the ends of statements.

A statement ends at a new line or `;`. It continues inside `( )` and `[ ]`, after a comma, an operator or a
preposition, and before a line that starts with a connective (`rejected`, `known`, `when`, `or`, a preposition, an
operator other than `-` …). The output has one END after each statement and none at the edges of a block.

Brackets are matched here, before the parser: an open one would take the rest of the file. A word which can only start
a statement closes the open brackets, and each is reported. The limits on nesting are checked here too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from mkeyspec.diagnostics import limits
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax.lexer import Token
from mkeyspec.syntax.token_errors import recover

_VALUE_OPERATORS = frozenset(
    ["PIPE", "CARET", "AMP", "SHIFT", "CONCAT", "PLUS", "MINUS", "MUL", "TILDE", "EVERY", "DOT"]
)
_OPERATORS = _VALUE_OPERATORS | {"DOTDOT", "PLUSCOLON", "BUT", "CMP", "EQ", "IN", "NOT", "AND", "OR"}
GOES_ON_AFTER = _OPERATORS | {"COMMA", "PREP", "WHEN"}
GOES_ON_BEFORE = (_OPERATORS - {"MINUS", "TILDE", "NOT"}) | frozenset(
    ["PREP", "REJECTED", "ACCEPTED", "COMPLETES", "KNOWN", "WHEN", "ELSE"]
)
_STARTS_STATEMENT = frozenset(["ALLOW", "CASE", "LET", "EXPECT", "VERIFIES", "NEEDS", "WHERE", "FOR", "IF", "PEER"])
_CLOSER = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}
_PLAIN = frozenset(["NAME", "INT", "STRING"])


@dataclass(slots=True)
class Arranged:
    """The parser's tokens. `joins`: starts of the tokens before which a line end did not end the statement."""

    tokens: list[Token] = field(default_factory=list)
    joins: list[int] = field(default_factory=list)


class TooMuch(Exception):
    """A limit on nesting is broken; it has been reported, and the file is not parsed."""


class _Arranging:
    """The open brackets and the tokens so far."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.result = Arranged()
        self.open: list[tuple[Token, int, int]] = []
        """Each open bracket, the height before it, and the height at which a part inside it starts."""
        self.errors = len(diagnostics.found) + limits.ERRORS.most
        self.height = 0
        """At least the depth of the tree at this point of the expression."""
        self.spoiled = -1
        """Where the last misspelt word is: brackets opened before it may have lost their other half in it."""

    def span(self, token: Token) -> Span:
        return Span(self.source, token.start_pos, token.end_pos)

    def base(self) -> int:
        return self.open[-1][2] if self.open else 0

    def spoiled_line(self, token: Token) -> bool:
        """Whether something is wrong already on the line of `token`."""
        locate = self.source.location
        return self.spoiled >= 0 and locate(self.spoiled).line == locate(token.start_pos).line

    def corrected(self, token: Token) -> Token | None:
        """What stands for a token that no rule accepts; a line of strange signs is reported once."""
        quiet = token.type == "BADSIGN" and self.spoiled_line(token)
        self.spoiled = token.start_pos
        if quiet:
            return None
        if len(self.diagnostics.found) >= self.errors:
            self.diagnostics.end(self.span(token))
            raise TooMuch
        return recover(self.source, token, self.result.tokens, self.diagnostics)

    def end(self, at: Token) -> None:
        """A statement ends at `at`."""
        self.result.tokens.append(Token("END", "\n", at.start_pos, at.end_pos))
        self.height = self.base()

    def push(self, bracket: Token) -> None:
        if len(self.open) >= limits.NESTING.most:
            message = f"nested too deep: {limits.NESTING.broken()}"
            self.diagnostics.error(limits.NESTING.code, message, self.span(bracket), label="one too many")
            raise TooMuch
        if self.height > limits.OPERATORS.most:  # f(1)(1)…, if … {} else if … {} else if …
            self.too_long(bracket)
        inside = len(self.open) + 1 if bracket.type == "LBRACE" else self.height + 1
        self.open.append((bracket, self.height, inside))
        self.height = inside

    def too_long(self, here: Token) -> NoReturn:
        message = f"this expression is too long: {limits.OPERATORS.broken()}"
        self.diagnostics.error(limits.OPERATORS.code, message, self.span(here), label="one too many")
        raise TooMuch

    def pop(self) -> None:
        _, before, _ = self.open.pop()
        self.height = before + 1

    def close(self, here: Token) -> None:
        """The innermost bracket is never closed; it ends before `here`."""
        bracket = self.open[-1][0]
        if bracket.start_pos > self.spoiled:
            where = self.source.location(bracket.start_pos)
            self.diagnostics.error(
                "MKS0104",
                f"`{bracket.value}` at {where.line}:{where.column} is never closed",
                self.span(bracket),
                label="opened here",
            )
        at = self.result.tokens[-1].end_pos if self.result.tokens else here.start_pos
        tokens = self.result.tokens
        if tokens and tokens[-1].type == "END":
            tokens.pop()
        tokens.append(Token(_CLOSER[bracket.type], "", at, at))
        self.pop()

    def close_round(self, here: Token) -> None:
        """Every `(` and `[` above the innermost `{` is never closed."""
        while self.open and self.open[-1][0].type != "LBRACE":
            self.close(here)

    def closer(self, token: Token) -> bool:
        """A closing bracket; whether it closes one."""
        wanted = _OPENER[token.type]
        depth = len(self.open) - 1
        while depth >= 0 and self.open[depth][0].type != wanted:
            if self.open[depth][0].type == "LBRACE":
                depth = -1
            else:
                depth -= 1
        if depth < 0:
            if not self.spoiled_line(token):
                self.diagnostics.error("MKS0104", f"`{token.value}` closes nothing", self.span(token))
                self.spoiled = token.start_pos
            return False
        while len(self.open) - 1 > depth:
            self.close(token)
        self.pop()
        return True


def arrange(source: Source, tokens: list[Token], diagnostics: Diagnostics) -> Arranged:
    """The tokens for the parser; raises `TooMuch`. One pass, no token is looked at twice."""
    state = _Arranging(source, diagnostics)
    out = state.result.tokens
    opened = state.open
    most = limits.OPERATORS.most
    pending: Token | None = None
    previous = "END"
    for token in tokens:
        kind = token.type
        if kind == "NEWLINE":
            if pending is None:
                pending = token
            continue
        if kind == "SEMI":
            state.close_round(token)
            pending = token
            continue
        if kind.startswith("BAD"):
            better = state.corrected(token)
            if better is None:
                continue
            token = better
            kind = token.type
        if pending is not None:
            if kind in _STARTS_STATEMENT and not (kind in ("FOR", "IF") and opened and opened[-1][0].type == "LSQB"):
                state.close_round(token)
                previous = out[-1].type if out else "END"
            inside = bool(opened) and opened[-1][0].type != "LBRACE"
            if not inside and previous not in ("END", "LBRACE") and kind != "RBRACE":
                if (
                    pending.type == "NEWLINE"
                    and kind not in _STARTS_STATEMENT
                    and (previous in GOES_ON_AFTER or kind in GOES_ON_BEFORE)
                ):
                    state.result.joins.append(token.start_pos)
                else:
                    state.end(pending)
            pending = None
        if kind in _PLAIN:
            pass
        elif kind == "COMMA":
            state.height = state.base()
        elif kind in _OPERATORS:
            state.height += 1
            if state.height > most:
                state.too_long(token)
        elif kind in _CLOSER:
            if kind == "LBRACE":
                state.close_round(token)
            state.push(token)
        elif kind in _OPENER:
            if not state.closer(token):
                continue
        elif kind == "CASE" and opened:
            while opened:
                state.close(token)
            state.end(token)
        out.append(token)
        previous = kind
    last = tokens[-1] if tokens else Token("END", "", 0, 0)
    while opened:
        state.close(last)
    if out and out[-1].type != "END":
        state.end(Token("END", "", out[-1].end_pos, out[-1].end_pos))
    return state.result
