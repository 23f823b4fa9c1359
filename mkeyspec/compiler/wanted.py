"""Which words can stand at a place: an unknown word is compared with these, before all others of the language."""

from __future__ import annotations

import re
from dataclasses import replace

from mkeyspec.compiler.eval.builtins import WORDS
from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.forms import statement_at
from mkeyspec.compiler.statements.check_shapes import BEGINNINGS
from mkeyspec.compiler.statements.registry import PLACES
from mkeyspec.compiler.statements.shape import Slot
from mkeyspec.diagnostics.diagnostic import Diagnostic
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.syntax.parser import reserved_words

_KINDS = {
    "a completion status": "status",
    "access flags": "access",
    "an event": "event",
    "an order": "order",
    "a list of setters": "setter",
    "a list of operations": "qp_op",
}
"""What slots say that they take, and the kind of word that this is."""

_ALL = frozenset(
    [*WORDS, *FUNCTIONS]
    + [word for place in PLACES.values() for shape in place.shapes.values() for word in (shape.name, *shape.modifiers)]
)
_UNKNOWN = re.compile(r"nothing is called `(\w+)`")
_IN_LOWER_CASE = re.compile(r"`(\w+)`")
_WRITTEN = re.compile(r"write `(\w+)`")
_STEP = re.compile(r"\b(by|into|to|from|on|is)\b|,\s*([a-z]\w*)\b")
_AFTER_COMMA = re.compile(r",\s*$")
_MEMBER = re.compile(r"\.(status|errno)\s*(?:==|!=|in)\s*\[?[\w\s,]*$")
_REASON = re.compile(r"\brejected at \w+ with\s+$")
_MOST = 8
"""Words that are listed; of more, the page of words is named."""


def with_wanted(error: Diagnostic) -> Diagnostic:
    """`error`, an unknown word, with the words that can stand in its place."""
    name = _UNKNOWN.fullmatch(error.message)
    if error.code == "MKS0202" and name is not None and not error.fix:
        words = _wanted(error)
        guess = did_you_mean(name[1], words) or _one_of(words)
        return replace(error, help=guess) if guess else error
    if error.code == "MKS0103" and (lower := _IN_LOWER_CASE.fullmatch(error.help)) is not None:
        words = _wanted(error)
        if not words or lower[1] in {*words, *BEGINNINGS, *reserved_words()}:
            return error
        first = statement_at(error)[1] is None  # a verb or a field, which is not declared
        own = "" if first else f"{error.help}, if it is a name of yours; else "
        return replace(error, help=did_you_mean(lower[1], words) or own + _one_of(words))
    written = _WRITTEN.fullmatch(error.help)
    if error.code == "MKS0201" and written is not None:
        words = _wanted(error)
        if written[1] in (words or _ALL):
            return error
        guess = (
            did_you_mean(written[1], words) or (did_you_mean(written[1], _ALL) if not words else "") or _one_of(words)
        )
        return replace(error, help=guess or "docs/functions.md has the words")
    return error


def _one_of(words: tuple[str, ...]) -> str:
    if not words:
        return ""
    return f"it is one of {', '.join(words[:_MOST])}{'…' if len(words) > _MOST else ''}"


def _wanted(error: Diagnostic) -> tuple[str, ...]:
    """The words that can stand where `error` is; none if that is not known, or if other values can, too."""
    place, shape, before = statement_at(error)
    if shape is None and not before.strip():
        return () if place is None else tuple(place.shapes)
    member = _MEMBER.search(before)
    if member is not None:
        return _of_kind("status") if member[1] == "status" else ()
    if _REASON.search(before):
        return _of_kind("status")
    if shape is None:
        return ()
    if _AFTER_COMMA.search(before):
        return tuple(shape.modifiers)
    slot = shape.operand if "=" not in before else shape.value
    for step in _STEP.finditer(before):
        if step[1] is not None:
            slot = shape.phrases.get(step[1])
        elif step[2] in shape.modifiers:
            slot = shape.modifiers[step[2]]
    return _of_slot(slot)


def _of_slot(slot: Slot | None) -> tuple[str, ...]:
    if slot is None:
        return ()
    if slot.what in _KINDS:
        return _of_kind(_KINDS[slot.what])
    listed = [word for word in re.findall(r"\w+", slot.what) if word in WORDS]
    return tuple(listed) if len(listed) > 1 else ()


def _of_kind(kind: str) -> tuple[str, ...]:
    return tuple(name for name, word in WORDS.items() if getattr(word, "kind", "") == kind)
