"""The size of a value when it is written out, with every part as often as it occurs.

Values share their parts, so a few dozen lines can make one that is too large for any machine: each `let b = [a, a]`
doubles it. What is large or deep is refused when it is made, which keeps every later walk over a value short.
"""

from __future__ import annotations

from typing import Any, TypeVar

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.scope import Budget
from mkeyspec.diagnostics.limits import VALUE_DEPTH, VALUE_PARTS
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.expression import Expression

Kind = TypeVar("Kind")

_ATOMS = frozenset({int, bool, str, type(None)})
"""Kinds of values that are made of nothing; most values are of them."""

_REMEMBERED = 16
"""Parts from which on a value's size is remembered; that of a smaller one is counted again."""


def within(value: Kind, budget: Budget, span: Span) -> Kind:
    """`value`; raises `Fault` at `span` where it has too many parts or is nested too deep."""
    if type(value) not in _ATOMS and _inside(value):
        parts, depth = _measure(value, budget)
        if parts > VALUE_PARTS.most:
            raise fault(VALUE_PARTS.code, f"this value is too large: {VALUE_PARTS.broken()}", span)
        if depth > VALUE_DEPTH.most:
            raise fault(VALUE_DEPTH.code, f"this value is too deep: {VALUE_DEPTH.broken()}", span)
    return value


def _inside(value: object) -> tuple[object, ...]:
    """The values that a value is made of."""
    if isinstance(value, tuple):
        return value
    return value.inside() if isinstance(value, (Expression, plan.Sequence)) else ()


def _measure(value: Any, budget: Budget) -> tuple[int, int]:
    """Parts and depth of a value that is made of others, which have been measured before: this does not go deep."""
    known = budget.measured.get(id(value))
    if known is not None:
        return known[1], known[2]
    parts, depth = 1, 0
    for part in _inside(value):
        if type(part) not in _ATOMS and _inside(part):
            more, deep = _measure(part, budget)
            parts += more
            depth = max(depth, deep)
        else:
            parts += 1
    depth += 1
    if parts > _REMEMBERED:
        budget.measured[id(value)] = (value, parts, depth)
    return parts, depth
