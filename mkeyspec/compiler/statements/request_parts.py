"""What work requests have in common: their options, and the two ends of what they move."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import as_bool, as_int, as_live_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle, is_handle
from mkeyspec.compiler.statements.operands import Operand, place
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.syntax import ast
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, is_known

PLAIN_OPTIONS = plan.Options()
SIGNALED = plan.Options(signaled=True)

DEFAULT_IMM = 0x6D6B6579
"""The immediate of an operation that carries one, where the case gives none: every byte differs."""


def options(row: RowState, sentence: Sentence, scope: Scope, signaled: bool) -> plan.Options:
    """What any request may carry."""
    modifiers = sentence.modifiers
    if not modifiers and not sentence.but:
        return SIGNALED if signaled else PLAIN_OPTIONS
    dct = modifiers.get("dct")
    asked = flag(sentence, scope, "signaled")
    if signaled and not asked and "signaled" in modifiers:
        raise fault(
            "MKS0302",
            "a request that stands alone is signaled, since it is waited for",
            modifiers["signaled"].span,
            help=f"post {{ {sentence.verb.name} … }} is not, unless it says so",
        )
    return plan.Options(
        signaled or asked,
        flag(sentence, scope, "fence"),
        flag(sentence, scope, "solicited"),
        fixed_int(sentence, scope, "id"),
        None if dct is None or dct.value is None else row.handle(dct.value, scope, "dct", "`dct`").name,
        fixed_int(sentence, scope, "stream"),
        row.overrides(sentence, scope),
        flag(sentence, scope, "inline"),
    )


def flag(sentence: Sentence, scope: Scope, name: str) -> bool:
    """Whether a modifier of one word is there, and not switched off: `signaled`, `signaled yes`."""
    modifier = sentence.modifiers.get(name)
    return modifier is not None and is_on(modifier.value, scope, name)


def is_on(value: ast.Expr | None, scope: Scope, name: str) -> bool:
    """What a flag is set to; it is set where nothing follows it."""
    return value is None or as_bool(evaluate(value, scope), scope, value.span, f"`{name}`")


def fixed_int(sentence: Sentence, scope: Scope, name: str) -> int | None:
    """The number after a modifier, known before the case runs."""
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    span = modifier.value.span
    return fitting(as_int(evaluate(modifier.value, scope), scope, span, f"`{name}`"), name, span)


def live_int(sentence: Sentence, scope: Scope, name: str) -> Int | None:
    """The number after a modifier, which may depend on the device."""
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    span = modifier.value.span
    return fitting(as_live_int(evaluate(modifier.value, scope), scope, span, f"`{name}`"), name, span)


def missing(sentence: Sentence, name: str) -> Exception:
    """The fault of a sentence without a part that it must have."""
    return fault(
        "MKS0213",
        f"`{sentence.verb.name}` lacks `{name}`",
        sentence.node.verb.span,
        help=sentence.verb.example,
        page=sentence.verb.page,
    )


def configured_mkey(row: RowState, sentence: Sentence, scope: Scope) -> Handle:
    """The mkey that a request configures."""
    return row.handle(sentence.operand, scope, "mkey", f"`{sentence.verb.name}`")


def local_parts(row: RowState, found: tuple[Operand, ...]) -> tuple[Part, ...]:
    """The parts of the poster's own end, each with its place in the text."""
    for one in found:
        row.origin.put(one.part, one.span)
    return tuple(one.part for one in found)


def remote_part(row: RowState, found: Operand, length: int | None) -> Part:
    """The other end of a request: a buffer named as a whole takes as many bytes as the request has."""
    part = found.part
    row.origin.put(part, found.span)
    if length is None or part.length == length:
        return part
    if found.whole:
        part = Part(part.name, part.start, length, part.but)
        row.origin.put(part, found.span)
        return part
    if is_known(part.length):
        raise fault(
            "MKS0313",
            f"{length} bytes on this end, {part.length} on the other",
            found.span,
            help="both ends of a request have the same length",
        )
    return part


def other_end(row: RowState, sentence: Sentence, scope: Scope, preposition: str, length: int | None) -> Operand:
    """The place after `to` or `from`; an mkey without layout is as long as the request."""
    expr = sentence.phrases[preposition]
    value = evaluate(expr, scope)
    if is_handle(value, "mkey") and length is not None:
        return Operand(Part(value.name, 0, length), expr.span, True)
    return place(expr, scope, row.ledger, f"`{preposition}`")
