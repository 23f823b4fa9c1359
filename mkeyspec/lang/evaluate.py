"""What an expression means in a scope. (Being written: the signatures stand.)"""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec.lang import tree
from mkeyspec.lang.meaning import Value
from mkeyspec.lang.scope import Scope


class Condition(NamedTuple):
    """`left operator right` of an `expect`, `record` or `needs`: the left side is what is observed, and stays a tree.

    `operator`: == != < <= > >=; `in` and `not in` become == and != of a `plan.OneOf`.
    """

    left: tree.Expr
    operator: str
    right: Value
    right_span: tree.Span


def evaluate(expr: tree.Expr, scope: Scope) -> Value:
    """The value of `expr`; buffers, mkeys and `wire` come back as references. Raises `diagnostic.Fault`."""
    raise NotImplementedError


def condition(expr: tree.Expr, scope: Scope) -> Condition:
    """Split a comparison; the right side is evaluated. Raises `Fault` MKS0302 if `expr` is no comparison."""
    raise NotImplementedError
