"""The needs that a case writes down. What its steps need besides, they say themselves (`plan.Step.needs`).

The names are those of `device.protocol.Capabilities.offers`.
"""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.constants import CAPABILITIES
from mkeyspec.lang import tree
from mkeyspec.lang.coercion import as_int, fault
from mkeyspec.lang.evaluate import evaluate
from mkeyspec.lang.scope import Scope
from mkeyspec.lang.spelling import did_you_mean
from mkeyspec.value.live import Live

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def written_need(expr: tree.Expr, scope: Scope) -> plan.Need:
    """One need of a case's `needs` line: a capability's name, or a comparison of a device's number."""
    if isinstance(expr, tree.Text):
        return _capability(expr.value, expr)
    if isinstance(expr, tree.Binary) and expr.operator in _MIRRORED:
        left, right, operator = expr.left, expr.right, expr.operator
        if not isinstance(left, tree.Attribute):
            left, right, operator = right, left, _MIRRORED[operator]
        live = evaluate(left, scope)
        if isinstance(live, Live) and live.subject == "device":
            return plan.Comparison(live, operator, as_int(evaluate(right, scope), scope, right.span, "`needs`"))
        raise fault(
            "MKS0302",
            "`needs` compares a number of the device",
            expr.span,
            help="needs device.max_wr_memcpy_length >= 4096",
        )
    name = _dotted(expr)
    if name is None:
        raise fault("MKS0302", "`needs` takes names of what a device offers", expr.span, help="needs memcpy, qp.dci")
    if name not in CAPABILITIES and "." not in name:
        value = evaluate(expr, scope)
        if isinstance(value, str):
            return _capability(value, expr)
    return _capability(name, expr)


def _capability(name: str, expr: tree.Expr) -> str:
    """A name that no device knows would skip the case for ever, unseen."""
    if name not in CAPABILITIES:
        help = did_you_mean(name, sorted(CAPABILITIES)) or "mkeyspec explain MKS0222 shows them"
        raise fault("MKS0222", f"no device offers `{name}`", expr.span, help=help)
    return name


def _dotted(expr: tree.Expr) -> str | None:
    if isinstance(expr, tree.Ref):
        return expr.name
    if isinstance(expr, tree.Attribute):
        left = _dotted(expr.of)
        return None if left is None else f"{left}.{expr.name.text}"
    return None
