"""Where in the language an offset is: the place whose lines may be there, the statement so far, the call around it.

The words before the offset go through the compiler's own lexer and filter of line ends; so a statement that is not
complete has a context as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mkeyspec.compiler.statements.claims import COMPLETES
from mkeyspec.compiler.statements.registry import BODIES, CASE
from mkeyspec.compiler.statements.shape import Place, Shape
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.language_server.document import Document
from mkeyspec.syntax.lexer import Token
from mkeyspec.syntax.parser import words_of
from mkeyspec.syntax.setups import SETUP
from mkeyspec.syntax.terminators import TooMuch, arrange

_OPENERS = frozenset({"LPAR", "LSQB"})
_CLOSERS = frozenset({"RPAR", "RSQB"})
_QUOTES = frozenset({"STRING", "BADSTRING", "HEX", "ASCII", "BADQUOTE"})


@dataclass(frozen=True, slots=True)
class Call:
    """The innermost open call: its function, the number of commas, and the name before `=` of the argument."""

    function: str
    argument: int
    keyword: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """`place`: None in the head. `words`: of the statement before the offset, without the one being written, which is
    the text from `start` on; `quoted`: the text of a quotation that the offset is in, from there. `depth`: open round
    and square brackets in the statement."""

    place: Place | None
    words: tuple[Token, ...]
    start: int
    quoted: str | None = None
    call: Call | None = None
    depth: int = 0

    @property
    def is_body(self) -> bool:
        """Whether statements are carried out here."""
        return self.place in BODIES

    @property
    def verb(self) -> str:
        for word in self.words[:2]:
            if word.type != "PEER":
                return word.value
        return ""

    @property
    def shape(self) -> Shape | None:
        return None if self.place is None else self.place.shapes.get(self.verb)

    @property
    def last(self) -> str:
        """The kind of the last word; "" at the beginning of a statement."""
        return self.words[-1].type if self.words else ""


@dataclass(slots=True)
class _Level:
    """Inside of a brace: the place of its lines, and the statement that is begun."""

    place: Place | None
    words: list[Token] = field(default_factory=list)


def context_at(document: Document, offset: int) -> Context | None:
    """The context at an offset; None inside of a comment, or where nothing can be known."""
    piece = document.piece_at(offset)
    if piece is None:
        return None
    base = piece.start
    text = document.compiled_text[base:offset]
    tokens, comments = words_of(text)
    if comments and comments[-1][1] == len(text):
        return None
    quoted = None
    start = offset
    last = tokens[-1] if tokens else None
    if last is not None and last.end_pos == len(text) and last.type in _QUOTES and not _is_closed(last):
        quoted, start = last.value.partition('"')[2], base + last.start_pos + last.value.index('"') + 1
        tokens.pop()
    elif last is not None and last.end_pos == len(text) and (last.value[:1].isalnum() or last.value[:1] == "_"):
        start = base + last.start_pos
        tokens.pop()
        # `CRC-0` is three words until it is an id.
        while tokens and tokens[-1].end_pos == start - base and tokens[-1].value[:1].isupper():
            start = base + tokens.pop().start_pos
    try:
        here = Token("NAME", "here", len(text), len(text))  # so that the filter knows whether the statement goes on
        arranged = arrange(Source("", text), [*tokens, here], Diagnostics()).tokens
    except TooMuch:
        return None
    in_case = piece is not document.head
    levels = [_Level(CASE if in_case else None)]
    for token in arranged:
        if token is here:
            break
        _take(levels, token)
    words = levels[-1].words
    if words and words[0].type == "CASE":
        return Context(None, tuple(words), start, quoted)
    call, depth = _call_of(words)
    return Context(levels[-1].place, tuple(words), start, quoted, call, depth)


def _is_closed(quote: Token) -> bool:
    return quote.type in ("STRING", "HEX", "ASCII")


def _take(levels: list[_Level], token: Token) -> None:
    level = levels[-1]
    if token.type == "END":
        level.words.clear()
    elif token.type == "LBRACE":
        levels.append(_Level(_place_of(level)))
    elif token.type == "RBRACE":
        if len(levels) > 1:
            levels.pop()
        levels[-1].words.append(token)
    else:
        level.words.append(token)


def _place_of(level: _Level) -> Place | None:
    """The place of the lines in a brace that follows the words of a statement."""
    kinds = [word.type for word in level.words]
    if not kinds:
        return level.place
    if "COMPLETES" in kinds:
        return COMPLETES
    first = level.words[1 if kinds[0] == "PEER" and len(kinds) > 1 else 0]
    if first.value == SETUP and level.place is None:
        return CASE
    shape = None if level.place is None else level.place.shapes.get(first.value)
    return shape.lines if shape is not None and shape.lines is not None else level.place


def _call_of(words: list[Token]) -> tuple[Call | None, int]:
    open_: list[tuple[str, int]] = []
    for at, word in enumerate(words):
        if word.type in _OPENERS:
            called = word.type == "LPAR" and at > 0 and words[at - 1].type == "NAME"
            open_.append((words[at - 1].value if called else "", at))
        elif word.type in _CLOSERS and open_:
            open_.pop()
    depth = len(open_)
    while open_ and not open_[-1][0]:
        open_.pop()
    if not open_:
        return None, depth
    function, begin = open_[-1]
    argument = nested = 0
    keyword = ""
    for at in range(begin + 1, len(words)):
        kind = words[at].type
        nested += (kind in _OPENERS) - (kind in _CLOSERS)
        if nested == 0 and kind == "COMMA":
            argument, keyword = argument + 1, ""
        elif nested == 0 and kind == "EQ" and words[at - 1].type == "NAME":
            keyword = words[at - 1].value
    return Call(function, argument, keyword), depth
