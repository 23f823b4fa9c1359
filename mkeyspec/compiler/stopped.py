"""Why the parser stopped, where only one who knows the verbs can say it.

The grammar takes any word for a verb, so it stops after the word that is wrong: at an `else` after `switch n { … }`,
at the `by` in `transmit k { by send }`. The functions here look at the statement from its first word.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from mkeyspec.compiler.statements.check_shapes import BEGINNINGS
from mkeyspec.compiler.statements.registry import CASE, PLACES
from mkeyspec.compiler.statements.shape import Shape
from mkeyspec.diagnostics.diagnostic import Diagnostic, Edit
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.syntax.walk import DECLARING

_GENERAL = frozenset(["MKS0100", "MKS0102", "MKS0105", "MKS0107", "MKS0108", "MKS0109"])
_WORD = re.compile(r"[a-z]\w*")
_DOTTED = re.compile(r"((?:[a-z]\w*(?:\.|->|::))+)([a-z]\w*)")
_WORD_OR_BLOCK = re.compile(r"[ \t]+[a-z{]")
_NEXT_WORD = re.compile(r"[ \t]+([a-z]\w*)")

_CLAIMS = ("rejected", "accepted", "completes")
_CONNECTING = ("by", "to", "from", "into", "on", "as", "is", "when", "with", "at", "but", "known", *_CLAIMS)
_CALLED_OTHERWISE = {"if": "when", "unless": "when not", "via": "by", "using": "by", "onto": "to", "equals": "is"}


def why(error: Diagnostic) -> Diagnostic | None:
    """The error to report instead of `error`, if the parser found it and a word before it is the cause."""
    if error.code not in _GENERAL or error.begins is None or not error.span.source.text:
        return None
    for cause in _CAUSES:
        better = cause(error, error.begins)
        if better is not None:
            return better
    return None


def elsewhere(error: Diagnostic) -> bool:
    """Whether the statement begins on another line than `error`."""
    source = error.span.source
    return error.begins is not None and "\n" in source.text[error.begins.start : error.span.start]


def _first_word(error: Diagnostic, begins: Span) -> tuple[str, Span] | None:
    source = error.span.source
    found = _WORD.match(source.text, begins.start)
    return None if found is None else (found[0], Span(source, *found.span()))


def _shapes(error: Diagnostic) -> dict[str, Shape] | None:
    """What may be written where the statement is; None where that is not known."""
    if error.around is None:
        return dict(CASE.shapes)
    found = _WORD.match(error.span.source.text, error.around.start)
    word = "" if found is None else found[0]
    if word in PLACES:
        return dict(PLACES[word].shapes)
    if word in ("post", "abort"):
        return dict(PLACES["section"].shapes)
    return dict(CASE.shapes) if word in ("if", "else", "repeat") else None


def _strange_beginning(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`switch n { … } else { … }`, `with check k is ok`: the first word is none that a statement begins with."""
    first, shapes = _first_word(error, begins), _shapes(error)
    if first is None or shapes is None:
        return None
    word, span = first
    known = [*shapes, *BEGINNINGS] if error.around is None else [*shapes, "let", "if", "expect", "peer"]
    if word in known or span.start == error.span.start or _is_assignment(error.span.source, span):
        return None
    code = "MKS0210" if error.around is None else "MKS0212"
    message = f"no statement begins with `{word}`"
    behind = _NEXT_WORD.match(error.span.source.text, span.end)
    if behind is not None and behind[1] in known:
        rest = Span(error.span.source, span.start, behind.start(1))
        return Diagnostic(code, message, span, help=f"leave `{word}` out", fix=(Edit(rest, ""),))
    help = did_you_mean(word, known)
    if not help:
        help = "it begins with one of " + ", ".join(dict.fromkeys(known if error.around else _OFTEN))
    return Diagnostic(code, message, span, help=help)


_OFTEN = ("memory", "mkey", "configure", "transmit", "receive", "expect", "check", "post", "let", "if")


def _is_assignment(source: Source, word: Span) -> bool:
    return source.text[word.end : word.end + 40].lstrip(" \t")[:1] in ("=", ".", "[", "(")


def _said_twice(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`layout layout list(m)`."""
    first = _first_word(error, begins)
    if first is None:
        return None
    word, span = first
    again = _NEXT_WORD.match(error.span.source.text, span.end)
    if again is None or again[1] != word:
        return None
    source = error.span.source
    gap = Span(source, span.end, again.end(1))
    return Diagnostic(
        "MKS0100",
        f"`{word}` stands here twice",
        Span(source, *again.span(1)),
        help="leave one out",
        fix=(Edit(gap, ""),),
    )


def _braces(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`transmit k { by send }`, `expect { wire == m }`: a verb that takes no braces."""
    source = error.span.source
    if error.around is not None:
        word = _WORD.match(source.text, error.around.start)
        name = "" if word is None else word[0]
        shape = next((place.shapes[name] for place in PLACES.values() if name in place.shapes), None)
        at = source.text.rfind("{", 0, begins.start)
        if shape is None or shape.lines is not None or name in PLACES or at < error.around.start:
            return None
        span = Span(source, at, at + 1)
        return Diagnostic("MKS0216", f"`{name}` takes no braces", span, help=shape.example, page=shape.page)
    if source.text[error.span.start : error.span.end] == "{" and "expected a value" in error.message:
        first = _first_word(error, begins)
        if first is not None and (first[0] in ("expect", "where") or first[0] in CASE.shapes):
            return replace(error, code="MKS0216", message=f"`{first[0]}` takes no braces here", fix=())
    return None


def _parentheses(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`signature(mem d)`: the lines of a statement are in braces."""
    first, shapes = _first_word(error, begins), _shapes(error)
    if first is None or shapes is None:
        return None
    shape = shapes.get(first[0])
    if shape is None or shape.lines is None:
        return None
    source = error.span.source
    opened = re.compile(rf"{first[0]}\s*(?:[a-z]\w*\s*)?(\()").match(source.text, first[1].start)
    if opened is None or opened.end() > error.span.start + 1:
        return None
    span = Span(source, *opened.span(1))
    return Diagnostic(
        "MKS0122", f"the lines of `{shape.name}` are in braces", span, help=shape.example, page=shape.page
    )


def _path(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`cap.max_send_sge 2`: a line's word stands alone."""
    shapes, source = _shapes(error), error.span.source
    found = _DOTTED.match(source.text, begins.start)
    if shapes is None or found is None or found[2] not in shapes:
        return None
    span = Span(source, *found.span(1))
    return Diagnostic("MKS0122", "words stand alone, without a path", span, help=f"{found[2]} …", fix=(Edit(span, ""),))


def _name_first(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`memory [128]b`: the name of what is declared follows the verb."""
    first = _first_word(error, begins)
    if first is None or first[0] not in DECLARING or error.around is not None:
        return None
    source = error.span.source
    at = first[1].end + len(source.text[first[1].end :]) - len(source.text[first[1].end :].lstrip(" \t"))
    sign = source.text[at : at + 1]
    if sign.isalpha() or sign in ("", "\n", ";", "#") or at > error.span.start:
        return None
    shape = CASE.shapes[first[0]]
    span = Span(source, at, at + 1)
    return Diagnostic("MKS0100", f"the name follows `{shape.name}`", span, help=f"it is written so: {shape.example}")


def _operand_first(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`write to w a`: what a verb takes follows it at once."""
    first, shapes = _first_word(error, begins), _shapes(error)
    if first is None or shapes is None or first[0] not in shapes:
        return None
    shape, source = shapes[first[0]], error.span.source
    behind = _NEXT_WORD.match(source.text, first[1].end)
    if behind is None or behind[1] not in shape.phrases or shape.operand is None or not shape.operand.required:
        return None
    span = Span(source, *behind.span(1))
    message = f"`{shape.name}` is followed by {shape.operand.what}; `{behind[1]}` comes after that"
    return Diagnostic("MKS0213", message, span, help=f"it is written so: {shape.example}", page=shape.page)


def _result(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`query d == state_ready`: the result of a call follows `is`."""
    first, shapes = _first_word(error, begins), _shapes(error)
    if error.code != "MKS0105" or first is None or shapes is None:
        return None
    shape = shapes.get(first[0])
    if shape is None or "is" not in shape.phrases:
        return None
    return replace(
        error, code="MKS0122", message=f"the result of `{shape.name}` follows `is`", help="write `is`", fix=()
    )


def _lines_alone(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`crypto dek d, tweak 0`: lines without their braces."""
    first, shapes = _first_word(error, begins), _shapes(error)
    shape = None if first is None or shapes is None else shapes.get(first[0])
    if first is None or shape is None or shape.lines is None:
        return None
    source = error.span.source
    found = re.compile(r"[ \t]+(?:[a-z]\w*[ \t]+)?").match(source.text, first[1].end)
    for at in (first[1].end, 0 if found is None else found.end() - 1):
        behind = _NEXT_WORD.match(source.text, at)
        if behind is not None and behind[1] in shape.lines.shapes and behind.start(1) <= error.span.start:
            span = Span(source, *behind.span(1))
            message = f"the lines of `{shape.name}` are in braces"
            return Diagnostic("MKS0122", message, span, help=shape.example, page=shape.page)
    return None


def _connecting_word(error: Diagnostic, begins: Span) -> Diagnostic | None:
    """`expect wire == m if accepted t`, `write a tto w`: the word before the next part of the statement."""
    source = error.span.source
    word = source.text[error.span.start : error.span.end]
    behind = _WORD_OR_BLOCK.match(source.text, error.span.end)
    ended = "the end of the statement" in error.message or "the end of the line after" in error.message
    if not ended or behind is None or not _WORD.fullmatch(word):
        return None
    meant = _CALLED_OTHERWISE.get(word)
    if meant is None:
        close = did_you_mean(word, _CONNECTING)
        meant = close.split("`")[1] if close and len(word) > 1 else None
    if meant is None or meant == word:
        return None
    return replace(error, message=f"no part of a statement begins with `{word}`", help=f"write `{meant}`", fix=())


_CAUSES: tuple[Callable[[Diagnostic, Span], Diagnostic | None], ...] = (
    _said_twice,
    _path,
    _braces,
    _strange_beginning,
    _result,
    _lines_alone,
    _name_first,
    _operand_first,
    _parentheses,
    _connecting_word,
)
