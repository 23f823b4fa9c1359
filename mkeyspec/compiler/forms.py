"""How a statement is written: the help of an error that says where reading stopped, and not what to write.

The parser knows what may follow, but not the verbs and fields. Here an error without help gets the form of the
statement that it is in, and one that takes a word for a modifier or a field is corrected where no verb has such a one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.statements.registry import CASE, PLACES
from mkeyspec.compiler.statements.shape import Place, Shape
from mkeyspec.diagnostics.diagnostic import Diagnostic
from mkeyspec.diagnostics.source import Span

WORDS = {
    "let": "let n = 512, or let f(x) = x + 1",
    "for": "for n in 1, 2, or for n in 0..4; a `where` has a line of its own",
    "where": "where n != 2 and op == send, or where n in [1, 2]",
    "if": "if n == 2 { … } else { … }",
    "expect": "expect wire == counter(512)",
    "case": "case some_name",
    "verifies": "verifies CFG-07, LST-01",
    "needs": "needs memcpy, device.max_wr_memcpy_length >= 1M",
    "allow": "allow MKS0602",
    "suite": 'suite "title"',
    "use": 'use "common.mks"',
    "rejected": "rejected at complete with EINVAL when n == 1",
    "accepted": "accepted, or accepted or rejected at complete",
    "known": "known X-DIFF-08 rejected at complete with EINVAL",
    "completes": "completes { rdma_write, id 5 }, or completes in any order { … }",
}
"""The forms of the reserved words."""

MODIFIERS = frozenset(word for place in PLACES.values() for shape in place.shapes.values() for word in shape.modifiers)
_STATEMENT = re.compile(r"(?:peer\s+)?([a-z]\w*)")
_AFTER_COMMA = re.compile(r",\s*([a-z]\w*)(?:\([^()]*\))?\s*$")
_CLAUSE = re.compile(r"\b(rejected|accepted|completes|known)\b")
_CONTINUED = re.compile(
    r"\n\s*(?:rejected|accepted|completes|known|when|or|and|else|but|in|every|by|to|from|into|on|as|is)\b"
)
_WORD_BEFORE = re.compile(r"[a-z]\w*$")
_COMMENT_OR_TEXT = re.compile(r'"[^"]*"|#.*')


def with_form(error: Diagnostic) -> Diagnostic:
    """`error`, with the form of its statement if it has no help of its own."""
    if error.code not in ("MKS0100", "MKS0107", "MKS0108", "MKS0109") or (error.code == "MKS0100" and error.help):
        return error
    source = error.span.source
    if not source.text:
        return error
    word = source.text[error.span.start : error.span.end]
    around, shape, form = _statement(error)
    if shape is not None and shape.lines is not None and word in shape.lines.shapes:
        message = f"`{word}` is a line of `{shape.name} {{ }}`, between its braces"
        return replace(error, code="MKS0211", message=message, help=shape.example, fix=())
    if error.code == "MKS0107" and word in MODIFIERS | {"but"}:
        return error
    if error.code == "MKS0109" and around in PLACES and _fields_near(error) & PLACES[around].shapes.keys():
        return error
    if error.code == "MKS0108":
        return _not_a_modifier(error, form)
    if error.code != "MKS0100":
        error = replace(error, code="MKS0100", message=f"expected the end of the statement, found `{word}`", fix=())
    form = _in_brackets(error) or form
    return replace(error, help=f"it is written so: {form}" if form else "")


def _in_brackets(error: Diagnostic) -> str:
    """The form of the part or of the call in whose brackets the error is."""
    opened: list[int] = []
    _, before = _around(error)
    for at, sign in enumerate(before):
        if sign in "([":
            opened.append(at)
        elif sign in ")]" and opened:
            opened.pop()
    if not opened or before.strip().startswith("memory"):
        return ""
    word = _WORD_BEFORE.search(before[: opened[-1]])
    if word is None:
        return ""
    if before[opened[-1]] == "[":
        return f"{word[0]}[16 +: 8], eight bytes from byte 16; or {word[0]}[16..24]"
    function = FUNCTIONS.get(word[0])
    return "" if function is None else str(function)


def _not_a_modifier(error: Diagnostic, form: str) -> Diagnostic:
    """`receive a, b into k`: what is after the first comma is not a modifier, so nothing came too late."""
    source = error.span.source
    begin = source.start_of(source.location(error.span.start).line)
    found = _AFTER_COMMA.search(source.text[begin : error.span.start])
    if found is None or found[1] in MODIFIERS | {"but"}:
        return error
    span = Span(source, begin + found.start(1), begin + found.end(1))
    return replace(
        error, code="MKS0100", message=f"`{found[1]}` is not a modifier", span=span, help=f"it is written so: {form}"
    )


def _fields_near(error: Diagnostic) -> set[str]:
    """The word at the error, and the one before it: `block_signature entries 4` is wrong from `entries` on."""
    text = error.span.source.text
    before = text[: error.span.start].split()[-1:]
    return {*before, *text[error.span.start :].split(None, 1)[:1]}


def statement_at(error: Diagnostic) -> tuple[Place | None, Shape | None, str]:
    """The place of the statement that `error` is in, its shape, and what is before the error."""
    around, before = _around(error)
    place = PLACES.get(around, CASE if around in ("case", "if", "else") else None)
    first = _STATEMENT.match(before.strip())
    shape = None if first is None or place is None else place.shapes.get(first[1])
    return place, shape, before.strip()[first.end() :] + " " if shape is not None and first is not None else before


def _statement(error: Diagnostic) -> tuple[str, Shape | None, str]:
    """The word before the braces around the error, the shape of the statement that it is in, and its form."""
    around, before = _around(error)
    words = _CLAUSE.findall(before)
    first = _STATEMENT.match(before.strip())
    word = "" if first is None else first[1]
    shapes = PLACES[around].shapes if around in PLACES else CASE.shapes
    shape = shapes.get(word)
    if words and word not in ("let", "for", "case"):
        return around, shape, WORDS[words[-1]]
    return around, shape, WORDS.get(word) or ("" if shape is None else shape.example)


def _around(error: Diagnostic) -> tuple[str, str]:
    """The word before the braces around the error, and the text of its statement before it."""
    source = error.span.source
    text = source.text[: error.span.start]
    text = text[max(text.rfind("\ncase "), 0) :]
    text = _COMMENT_OR_TEXT.sub(lambda found: " " * len(found[0]), text)
    around, begin = _innermost(text)
    return around, text[begin:]


def _innermost(before: str) -> tuple[str, int]:
    """The word that opened the innermost brace, and where the statement in it begins."""
    open_braces: list[tuple[str, int]] = []
    begin = nested = 0
    for at, sign in enumerate(before):
        if sign in "([":
            nested += 1
        elif sign in ")]":
            nested -= 1
        elif sign == "{":
            first = _STATEMENT.match(before[begin:at].strip())
            open_braces.append(("" if first is None else first[1], begin))
            begin = at + 1
        elif sign == "}" and open_braces:
            begin = open_braces.pop()[1]
        elif sign == ";" or (sign == "\n" and nested <= 0 and not _CONTINUED.match(before, at)):
            begin = at + 1
    return (open_braces[-1][0] if open_braces else "case"), begin
