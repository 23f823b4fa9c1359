"""How large a value is when it is written out, with every part as often as it stands in it.

Values share their parts, so a few dozen lines can make one that no machine can write down: each `let b = [a, a]`
doubles it. What is large or deep is refused when it is made, which keeps every later walk over a value short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.scope import Budget
from mkeyspec.diagnostics.limits import VALUE_DEPTH, VALUE_PARTS
from mkeyspec.diagnostics.source import Span
from mkeyspec.value import bytestring as b
from mkeyspec.value import live

Kind = TypeVar("Kind")

_INSIDE: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    tuple: lambda value: value,
    b.Slice: lambda value: (value.of,),
    b.Join: lambda value: value.parts,
    b.Repeat: lambda value: (value.of,),
    b.Framed: lambda value: (value.of,),
    b.Strip: lambda value: (value.stream,),
    b.Field: lambda value: (value.block,),
    b.Flip: lambda value: (value.of,),
    b.Patch: lambda value: (value.of, value.new),
    b.Merge: lambda value: (value.a, value.b),
    b.XtsEncrypt: lambda value: (value.of, value.key),
    b.XtsDecrypt: lambda value: (value.of, value.key),
    live.LiveOp: lambda value: value.args,
    live.LiveBytes: lambda value: (value.value,),
    live.LiveJoin: lambda value: value.parts,
    plan.Sequence: lambda value: value.items,
}
"""What values consist of that consist of others."""

_REMEMBERED = 16
"""Parts from which on a value's size is remembered; that of a smaller one is counted again."""


def within(value: Kind, budget: Budget, span: Span) -> Kind:
    """`value`; raises `Fault` at `span` where it has too many parts or is nested too deep."""
    if type(value) in _INSIDE:
        parts, depth = _measure(value, budget)
        if parts > VALUE_PARTS.most:
            raise fault(VALUE_PARTS.code, f"this value is too large: {VALUE_PARTS.broken()}", span)
        if depth > VALUE_DEPTH.most:
            raise fault(VALUE_DEPTH.code, f"this value is too deep: {VALUE_DEPTH.broken()}", span)
    return value


def _measure(value: Any, budget: Budget) -> tuple[int, int]:
    """Parts and depth. Whatever a value is made of has been measured before, so this does not go deep."""
    inside = _INSIDE.get(type(value))
    if inside is None:
        return 1, 0
    known = budget.measured.get(id(value))
    if known is not None:
        return known[1], known[2]
    parts, depth = 1, 0
    for part in inside(value):
        if type(part) in _INSIDE:
            more, deep = _measure(part, budget)
            parts += more
            depth = max(depth, deep)
        else:
            parts += 1
    depth += 1
    if parts > _REMEMBERED:
        budget.measured[id(value)] = (value, parts, depth)
    return parts, depth
