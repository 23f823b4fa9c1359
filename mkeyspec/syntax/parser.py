"""Parses text to a tree.

    source ──lexer──▶ words ──newline──▶ words and ENDs ──Lark (LALR), build──▶ lines ──file──▶ tree.File

A file is parsed line by line (a "line" is a statement with its block), and a line word by word
(`InteractiveParser.feed_token`): each good one is built, each bad one reported, and inside a bad one with a block, so
is every line of the block. So one run reports every statement that is wrong, and one statement is reported once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import local
from typing import Any

from lark import Lark, UnexpectedToken
from lark.common import LexerConf
from lark.lexer import Lexer

from mkeyspec.diagnostics import limits
from mkeyspec.diagnostics.diagnostic import Diagnostics, TooManyErrors
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax import ast, syntax_errors
from mkeyspec.syntax.ast import Name
from mkeyspec.syntax.builder import Build, CaseLine
from mkeyspec.syntax.file import EDITION, gather
from mkeyspec.syntax.lexer import PREPOSITIONS, STARTS, TEXT, Token, Words
from mkeyspec.syntax.terminators import TooMuch, arrange


class _NoLexer(Lexer):
    """Lark's lexer is not used (`Words` is), and making one takes longer than all else: it looks for collisions of
    terminals where interegular is installed, as a test does with `strict`."""

    def __init__(self, _: LexerConf) -> None:
        pass

    def lex(self, lexer_state: object, parser_state: object) -> Iterator[Any]:
        raise NotImplementedError


class _Parser:
    """The compiled grammar; made once per thread that parses (a tenth of a second)."""

    def __init__(self) -> None:
        self.build = Build()
        self.lark = Lark(
            TEXT,
            start=list(STARTS),
            parser="lalr",
            lexer=_NoLexer,
            keep_all_tokens=True,
            maybe_placeholders=False,
            transformer=self.build,
        )
        self.words = Words(self.lark.terminals)

    def run(self, tokens: list[Token], start: str) -> Any:
        """The value of the rule `start`; raises `_Stuck`."""
        # Our tokens have the members of Lark's that its parser reads, and are several times as fast to make.
        parser: Any = self.lark.parse_interactive(start=start)
        feed = parser.feed_token
        for at, token in enumerate(tokens):
            try:
                feed(token)
            except UnexpectedToken:
                raise _Stuck(at, frozenset(parser.accepts())) from None
        try:
            return parser.feed_eof()
        except UnexpectedToken:
            raise _Stuck(len(tokens), frozenset(parser.accepts())) from None


class _Stuck(Exception):
    """The words before `at` can begin the rule, and none of `accepted` follows them."""

    def __init__(self, at: int, accepted: frozenset[str]) -> None:
        super().__init__(at)
        self.at = at
        self.accepted = accepted


class _OfThread(local):
    """The parser of a thread: it carries the source and the diagnostics of its file, so no two threads share one."""

    def __init__(self) -> None:
        self.parser: _Parser | None = None


_OF_THREAD = _OfThread()


def _parser() -> _Parser:
    if _OF_THREAD.parser is None:
        _OF_THREAD.parser = _Parser()
    return _OF_THREAD.parser


def reserved_words() -> frozenset[str]:
    """The words that cannot be names."""
    return frozenset(_parser().words.reserved) | PREPOSITIONS


def words_of(text: str) -> tuple[list[Token], list[tuple[int, int]]]:
    """All words of `text`, ends of lines among them, and the places of its comments."""
    return _parser().words.scan(text)


def parse(source: Source, diagnostics: Diagnostics, broken: bool = False) -> ast.File | None:
    """The tree of `source`; None where nothing of it is usable (a limit, an edition this release does not know).

    Cases in which something was wrong are not in the tree; after an error before the first case, none is. `broken`:
    they are, with the lines that can be read; for an editor, which looks at files that are being written.
    """
    return _parse(_parser(), source, diagnostics, broken)


def _parse(parser: _Parser, source: Source, diagnostics: Diagnostics, broken: bool) -> ast.File | None:
    tokens, comments = parser.words.scan(source.text)
    if not _within(source, tokens, diagnostics) or not _edition(source, tokens, diagnostics):
        return None
    before = len(diagnostics.found)
    try:
        arranged = arrange(source, tokens, diagnostics)
        if len(arranged.tokens) > limits.STATEMENT_TOKENS.most:
            _short_statements(source, arranged.tokens, diagnostics)
        parser.build.source = source
        parser.build.diagnostics = diagnostics
        reading = _Lines(parser, source, frozenset(arranged.joins), diagnostics, before + limits.ERRORS.most)
        lines = reading.lines(arranged.tokens)
        places = [Span(source, start, end) for start, end in comments]
        file = gather(source, lines, tuple(places), diagnostics)
    except (TooMuch, TooManyErrors):
        return None
    wrong = [d.span.start for d in diagnostics.found[before:] if d.severity == "error" and d.span.source is source]
    return _usable(file, wrong) if wrong and not broken else file


def _within(source: Source, tokens: list[Token], diagnostics: Diagnostics) -> bool:
    if len(tokens) <= limits.TOKENS.most:
        return True
    last = tokens[limits.TOKENS.most]
    message = f"this file is too long: {limits.TOKENS.broken()}"
    diagnostics.error(limits.TOKENS.code, message, Span(source, last.start_pos, last.end_pos), help="divide it")
    return False


def _short_statements(source: Source, tokens: list[Token], diagnostics: Diagnostics) -> None:
    """Raises `TooMuch` where a statement is so long that finding what is wrong with it would take seconds."""
    begin = depth = 0
    for at, token in enumerate(tokens):
        kind = token.type
        if kind == "LBRACE":
            depth += 1
        elif kind == "RBRACE":
            depth -= 1
        elif kind == "END" and depth == 0:
            if at - begin > limits.STATEMENT_TOKENS.most:
                message = f"this statement is too long: {limits.STATEMENT_TOKENS.broken()}"
                span = Span(source, tokens[begin].start_pos, tokens[begin].end_pos)
                diagnostics.error(limits.STATEMENT_TOKENS.code, message, span, help="divide it, or use a comprehension")
                raise TooMuch
            begin = at + 1


def _edition(source: Source, tokens: list[Token], diagnostics: Diagnostics) -> bool:
    """Whether the file is of an edition that can be read; a file without that line is taken for one."""
    words = [t for t in tokens[:8] if t.type != "NEWLINE"]
    if len(words) < 2 or words[0].value != "mks" or words[1].type not in ("INT", "BADINT"):
        return True
    if words[1].value == str(EDITION):
        return True
    asked = words[1].value
    newer = asked.isdecimal() and int(asked[:9]) > EDITION
    diagnostics.error(
        "MKS0114",
        f"edition {asked} of the language is unknown here",
        Span(source, words[1].start_pos, words[1].end_pos),
        help=f"this release reads edition {EDITION}" + ("; a later one may read this file" if newer else ""),
    )
    return False


def _usable(file: ast.File, wrong: list[int]) -> ast.File:
    """`file` without the cases in which there is an error; without any if one comes before the first."""
    starts = [case.span.start for case in file.cases]
    if not starts or min(wrong) < starts[0]:
        cases: tuple[ast.Case, ...] = ()
    else:
        ends = [*starts[1:], len(file.source.text) + 1]
        cases = tuple(
            case
            for case, start, end in zip(file.cases, starts, ends, strict=True)
            if not any(start <= place < end for place in wrong)
        )
    return replace(file, cases=cases)


# Lines ---------------------------------------------------------------------------------------


class _Lines:
    """Parsing line by line. `most`: the number of findings after which, at a bad line, the rest is not read."""

    def __init__(
        self, parser: _Parser, source: Source, joins: frozenset[int], diagnostics: Diagnostics, most: int
    ) -> None:
        self.parser = parser
        self.source = source
        self.joins = joins
        self.diagnostics = diagnostics
        self.most = most

    def lines(self, tokens: list[Token]) -> list[Any]:
        """The lines that can be built; the others are reported."""
        lines: list[Any] = []
        begin = depth = 0
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "LBRACE":
                depth += 1
            elif kind == "RBRACE":
                depth -= 1
            elif kind == "END" and depth == 0:
                words = tokens[begin:at]
                begin = at + 1
                try:
                    lines.append(self.parser.run(words, "line"))
                    continue
                except _Stuck:
                    line = self.mended(words)
                if line is not None:
                    lines.append(line)
                elif words and words[0].type == "CASE":
                    lines.append(self.nameless(words[0], token))
                if len(self.diagnostics.found) >= self.most:
                    self.diagnostics.end(Span(self.source, token.start_pos, token.end_pos))
                    break
        return lines

    def nameless(self, first: Token, end: Token) -> CaseLine:
        """Stands for a `case` line that can't be read, so that the lines after it are of a case."""
        span = Span(self.source, first.start_pos, end.start_pos)
        return CaseLine(span, Name(span, f"line at {first.start_pos}"), None)

    def mended(self, tokens: list[Token]) -> Any | None:
        """A bad line. Bad lines of its block are reported, and taken out until the rest is good."""
        spent = 0
        enough = 10_000 + 4 * len(tokens)
        while tokens and spent < enough and len(self.diagnostics.found) < self.most:
            try:
                return self.parser.run(tokens, "line")
            except _Stuck as stuck:
                bad = stuck.at
                spent += bad
                begin, end = _innermost(tokens, bad)
                around = _verb_around(tokens, begin)
                syntax_errors.report(
                    self.source, tokens[begin:end], bad - begin, stuck.accepted, self.joins, self.diagnostics, around
                )
                if begin == 0:
                    return None
                tokens = _without(tokens, begin, end)
        return None


def _verb_around(tokens: list[Token], begin: int) -> Token | None:
    """The verb of the statement in whose block the line at `begin` is; None outside of a block."""
    depth = 0
    at = begin - 1
    while at >= 0:
        kind = tokens[at].type
        if kind == "RBRACE":
            depth += 1
        elif kind == "LBRACE":
            if depth == 0:
                start, _ = _innermost(tokens, at)
                peer = tokens[start].type == "PEER"
                return tokens[start + peer] if start + peer < at else None
            depth -= 1
        at -= 1
    return None


def _innermost(tokens: list[Token], bad: int) -> tuple[int, int]:
    """The line of the innermost block in which token `bad` is: [begin, end)."""
    begin = bad
    depth = 0
    while begin > 0:
        kind = tokens[begin - 1].type
        if kind == "RBRACE":
            depth += 1
        elif kind == "LBRACE":
            if depth == 0:
                break
            depth -= 1
        elif kind == "END" and depth == 0:
            break
        begin -= 1
    end = bad
    depth = 0
    while end < len(tokens):
        kind = tokens[end].type
        if kind == "LBRACE":
            depth += 1
        elif kind == "RBRACE":
            if depth == 0:
                break
            depth -= 1
        elif kind == "END" and depth == 0:
            break
        end += 1
    return begin, end


def _without(tokens: list[Token], begin: int, end: int) -> list[Token]:
    """`tokens` without [begin, end) and without one of the ENDs around it."""
    if end < len(tokens) and tokens[end].type == "END":
        end += 1
    elif begin > 0 and tokens[begin - 1].type == "END":
        begin -= 1
    return tokens[:begin] + tokens[end:]
