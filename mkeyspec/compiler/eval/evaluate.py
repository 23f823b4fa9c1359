"""Evaluates expressions in a scope.

`evaluate` returns buffers, mkeys and the wire as references (`Handle`, `Part`, `WireRef`). The caller converts them
to bytes or a part with `coercion.py`. A mistake raises `diagnostic.Fault`; no other exception leaves this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mkeyspec import plan
from mkeyspec.compiler.eval.access import attribute, but, index
from mkeyspec.compiler.eval.coercion import (
    as_bool,
    as_int,
    as_list,
    as_live_int,
    as_part,
    fault,
    raise_if_hidden,
    wrong,
)
from mkeyspec.compiler.eval.errno_names import known_errno
from mkeyspec.compiler.eval.functions.table import coerce, invoke
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.operators import compare, contains, operate, range_of, unary
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.value_size import within
from mkeyspec.compiler.eval.values import Errno, Function, Parameter, Poison, UserFunction, Value
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.limits import CALL_DEPTH, INT_BITS, LIST_ITEMS
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean, unknown_name
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import Literal
from mkeyspec.value.layout import Chunk

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")


CALL_STEPS = 8
"""Steps of evaluation that calling a function of the author's own takes, besides what is in it."""


class Condition(NamedTuple):
    """`left operator right` of an `expect`, `record` or `needs`: the left side is what is observed, and stays a tree.

    `operator`: == != < <= > >=; `in` and `not in` have become == and !=, and `right` is the tuple of alternatives.
    `right` is evaluated but not coerced; `right_span` is its place.
    """

    left: ast.Expr
    operator: str
    right: Value
    right_span: Span


def evaluate(expr: ast.Expr, scope: Scope) -> Value:
    """The value of `expr`; raises `Fault`."""
    kind = type(expr)
    if scope.memo is not None and kind in _COMPOUND:
        return scope.memo.value(expr, scope, _EVALUATORS[kind])
    return _EVALUATORS[kind](expr, scope)


def decide(expr: ast.Expr, scope: Scope, what: str) -> bool:
    """Whether a condition (of `if`, `where`, `when`) holds in this row; its value is recorded."""
    return scope.budget.outcomes.decided(expr, as_bool(evaluate(expr, scope), scope, expr.span, what))


def condition(expr: ast.Expr, scope: Scope) -> Condition:
    """Split a comparison for an observer; raises `Fault` MKS0302 where `expr` is none."""
    if not isinstance(expr, ast.Binary) or expr.operator not in COMPARISONS:
        match expr:
            case ast.Binary(operator="and" | "or"):
                help = "an `expect` is one comparison; `in [a, b]` is one of several values"
            case _:
                help = "expect wire == counter(512)"
        raise fault("MKS0302", "a comparison is wanted here", expr.span, help=help)
    right = evaluate(expr.right, scope)
    operator = expr.operator
    if operator in ("in", "not in"):
        right = as_list(right, scope, expr.right.span, "`in`")
        operator = "==" if operator == "in" else "!="
    return Condition(expr.left, operator, right, expr.right.span)


# Names and literals --------------------------------------------------------------------------


def _int(expr: ast.Int, scope: Scope) -> Value:
    if expr.value.bit_length() > INT_BITS.most:
        raise fault(INT_BITS.code, INT_BITS.broken(expr.value.bit_length()), expr.span)
    return expr.value


def _ref(expr: ast.Ref, scope: Scope) -> Value:
    name = expr.name
    at: Scope | None = scope
    while at is not None:
        names = at.names
        if name in names:
            value = names[name]
            if type(value) is Poison:
                raise Fault(value.diagnostic)
            return value
        at = at.around
    raise unknown_name(name, expr.span, scope.all_names())


def _errno(expr: ast.Errno, scope: Scope) -> Value:
    return Errno(known_errno(expr.name, expr.span))


def _text(expr: ast.Text, scope: Scope) -> Value:
    return expr.value


def _bytes(expr: ast.Bytes, scope: Scope) -> Value:
    if expr.mask is None:
        return Literal(expr.value)
    return plan.masked(expr.value, expr.mask)


# Lists ---------------------------------------------------------------------------------------


def _tuple(expr: ast.Tuple, scope: Scope) -> Value:
    return within(tuple([evaluate(item, scope) for item in expr.items]), scope.budget, expr.span)


def _list(expr: ast.List, scope: Scope) -> Value:
    return within(tuple([_item(item, scope) for item in expr.items]), scope.budget, expr.span)


def _item(argument: ast.Argument, scope: Scope) -> Value:
    """One item of a list, or argument of a function: `a`, or `a count 512 skip 4`."""
    if argument.keyword is not None:
        raise fault("MKS0303", f"a list has no item called `{argument.keyword.text}`", argument.keyword.span)
    value = evaluate(argument.value, scope)
    return _chunk(argument, value, scope) if argument.pairs else value


def _chunk(argument: ast.Argument, value: Value, scope: Scope) -> Chunk:
    numbers: dict[str, Any] = {}
    for pair in argument.pairs:
        name = pair.name.text
        if name not in ("count", "skip"):
            raise fault(
                "MKS0303", f"a part takes `count` and `skip`, not `{name}`", pair.name.span, help="a count 512 skip 4"
            )
        if name in numbers:
            raise fault("MKS0303", f"`{name}` is given twice", pair.name.span)
        span = pair.value.span
        numbers[name] = fitting(as_live_int(evaluate(pair.value, scope), scope, span, f"`{name}`"), name, span)
    if "count" not in numbers:
        raise fault("MKS0303", "a part with `skip` needs a `count` too", argument.span, help="a count 512 skip 4")
    part = as_part(value, scope, argument.value.span, "`count`")
    return Chunk(part, numbers["count"], numbers.get("skip", 0))


def _comprehension(expr: ast.Comprehension, scope: Scope) -> Value:
    items = as_list(evaluate(expr.over, scope), scope, expr.over.span, "`for … in`")
    scope.budget.spend(len(items), expr.span)
    if len(items) > LIST_ITEMS.most:
        raise fault(LIST_ITEMS.code, LIST_ITEMS.broken(len(items)), expr.span)
    inner = scope.inner()
    inner.memo = None  # the whole list is kept, not what is evaluated for each item
    name = expr.name.text
    inner.places[name] = expr.name.span
    found: list[Value] = []
    for item in items:
        inner.names[name] = item
        found.append(_item(expr.item, inner))
    return within(tuple(found), scope.budget, expr.span)


# Calls ---------------------------------------------------------------------------------------


def _call(expr: ast.Call, scope: Scope) -> Value:
    function = evaluate(expr.function, scope)
    match function:
        case Function(name="pick"):
            return _pick(function, expr, scope)
        case Function():
            found = invoke(function, _arguments(function, expr, scope), scope, expr.span)
            return within(found, scope.budget, expr.span)
        case UserFunction():
            return _user_call(function, expr, scope)
        case plan.Any(None):
            return _any(expr, scope)
        case _:
            raise_if_hidden(function, scope, expr.function.span, "a function")
            return wrong(function, scope, expr.function.span, "a call", "a function")


def _any(expr: ast.Call, scope: Scope) -> Value:
    if len(expr.arguments) != 1 or expr.arguments[0].keyword or expr.arguments[0].pairs:
        raise fault("MKS0303", "`any` takes a number of bytes, or nothing", expr.span, help="any(4)")
    argument = expr.arguments[0].value
    length = as_int(evaluate(argument, scope), scope, argument.span, "`any`")
    if length < 0:
        raise fault("MKS0306", f"a length is not negative: {length}", argument.span)
    return plan.Any(length)


def _pick(function: Function, expr: ast.Call, scope: Scope) -> Value:
    """Only the branch that is taken is evaluated, so the other may have no value."""
    by_name = _matched(function, expr)
    condition = by_name["condition"][0].value
    chosen = as_bool(evaluate(condition, scope), scope, condition.span, "`condition` of `pick`")
    return _item_value(by_name["a" if chosen else "b"][0], scope)


def _item_value(argument: ast.Argument, scope: Scope) -> Value:
    value = evaluate(argument.value, scope)
    return _chunk(argument, value, scope) if argument.pairs else value


def _arguments(function: Function, expr: ast.Call, scope: Scope) -> list[Value]:
    """The arguments by position, coerced; None where one is left out."""
    parameters = function.parameters
    given = expr.arguments
    if len(given) == 1 and len(parameters) == 1 and not (given[0].keyword or given[0].pairs or parameters[0].several):
        argument = given[0].value
        return [coerce(function, parameters[0], evaluate(argument, scope), scope, argument.span)]
    by_name = _matched(function, expr)
    values: list[Value] = []
    for parameter in parameters:
        arguments = by_name.get(parameter.name, ())
        if parameter.several:
            values.append(tuple([_coerced(function, parameter, argument, scope) for argument in arguments]))
        elif arguments:
            values.append(_coerced(function, parameter, arguments[0], scope))
        else:
            values.append(None)
    return values


def _coerced(function: Function, parameter: Parameter, argument: ast.Argument, scope: Scope) -> Value:
    return coerce(function, parameter, _item_value(argument, scope), scope, argument.value.span)


def _matched(function: Function, expr: ast.Call) -> dict[str, list[ast.Argument]]:
    """Which argument goes to which parameter; MKS0303 if they do not match."""
    parameters = function.parameters
    positional = [p for p in parameters if not p.keyword_only]
    found: dict[str, list[ast.Argument]] = {}
    at = 0
    for argument in expr.arguments:
        if argument.keyword is not None:
            parameter = next((p for p in parameters if p.name == argument.keyword.text and not p.several), None)
            if parameter is None:
                raise fault(
                    "MKS0303",
                    f"`{function.name}` has no parameter `{argument.keyword.text}`",
                    argument.keyword.span,
                    help=did_you_mean(argument.keyword.text, [p.name for p in parameters]) or str(function),
                )
            if parameter.name in found:
                raise fault("MKS0303", f"`{parameter.name}` is given twice", argument.keyword.span, help=str(function))
        elif at == len(positional):
            raise fault("MKS0303", _too_many(function, positional), argument.span, help=str(function))
        else:
            parameter = positional[at]
            if parameter.several:
                found.setdefault(parameter.name, []).append(argument)
                continue
            if parameter.name in found:
                raise fault("MKS0303", f"`{parameter.name}` is given twice", argument.span, help=str(function))
            at += 1
        found[parameter.name] = [argument]
    for parameter in parameters:
        if parameter.name not in found and parameter.default is None and not parameter.several:
            how = f"`{parameter.name}=…`" if parameter.keyword_only else _thing(parameter)
            raise fault("MKS0303", f"`{function.name}` takes {how}", expr.span, help=str(function))
    return found


def _thing(parameter: Parameter) -> str:
    if parameter.name == parameter.kind:
        return ("an " if parameter.name[0] in "aeiou" else "a ") + parameter.name
    return f"`{parameter.name}`"


def _too_many(function: Function, positional: list[Parameter]) -> str:
    count = len(positional)
    if not count:
        return f"`{function.name}` takes its arguments by name"
    return f"`{function.name}` takes {count} argument{'s' if count > 1 else ''}" + (
        ", the others by name" if count < len(function.parameters) else ""
    )


def _user_call(function: UserFunction, expr: ast.Call, scope: Scope) -> Value:
    given = expr.arguments
    names = function.parameters
    signature = f"{function.name}({', '.join(names)})"
    if len(given) != len(names):
        plural = "" if len(names) == 1 else "s"
        raise fault("MKS0303", f"`{function.name}` takes {len(names)} argument{plural}", expr.span, help=signature)
    inner = Scope(function.scope, scope.ledger)
    inner.memo = None
    inner.depth = scope.depth + 1
    if inner.depth > CALL_DEPTH.most:
        raise fault(CALL_DEPTH.code, CALL_DEPTH.broken(), expr.span)
    inner.budget = scope.budget
    inner.budget.spend(CALL_STEPS, expr.span)
    for name, argument in zip(names, given, strict=True):
        if argument.keyword is not None:
            raise fault(
                "MKS0303", f"`{function.name}` takes its arguments by position", argument.keyword.span, help=signature
            )
        inner.names[name] = _item_value(argument, scope)
        inner.places[name] = argument.span
    return evaluate(function.body, inner)


# Operators -----------------------------------------------------------------------------------


def _attribute(expr: ast.Attribute, scope: Scope) -> Value:
    return attribute(evaluate(expr.of, scope), expr, scope)


def _index(expr: ast.Index, scope: Scope) -> Value:
    return index(evaluate(expr.of, scope), expr, scope, evaluate)


def _but(expr: ast.But, scope: Scope) -> Value:
    return but(evaluate(expr.value, scope), expr, evaluate(expr.override, scope), scope)


def _range(expr: ast.Range, scope: Scope) -> Value:
    return range_of(expr, scope, evaluate)


def _unary(expr: ast.Unary, scope: Scope) -> Value:
    return within(unary(expr, evaluate(expr.operand, scope), scope), scope.budget, expr.span)


def _binary(expr: ast.Binary, scope: Scope) -> Value:
    operator = expr.operator
    left = evaluate(expr.left, scope)
    if operator == "and":
        return as_bool(left, scope, expr.left.span, "`and`") and as_bool(
            evaluate(expr.right, scope), scope, expr.right.span, "`and`"
        )
    if operator == "or":
        return as_bool(left, scope, expr.left.span, "`or`") or as_bool(
            evaluate(expr.right, scope), scope, expr.right.span, "`or`"
        )
    right = evaluate(expr.right, scope)
    if operator in COMPARISONS:
        if operator == "in":
            return contains(expr, left, right, scope)
        if operator == "not in":
            return not contains(expr, left, right, scope)
        return compare(expr, left, right, scope)
    return within(operate(expr, left, right, scope), scope.budget, expr.span)


_EVALUATORS: dict[type, Callable[[Any, Scope], Value]] = {
    ast.Int: _int,
    ast.Ref: _ref,
    ast.Errno: _errno,
    ast.Text: _text,
    ast.Bytes: _bytes,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Comprehension: _comprehension,
    ast.Call: _call,
    ast.Index: _index,
    ast.Attribute: _attribute,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Range: _range,
    ast.But: _but,
}

_COMPOUND = frozenset(_EVALUATORS) - {ast.Int, ast.Ref, ast.Errno, ast.Text, ast.Bytes}
"""Expressions that take longer to evaluate than to be found."""
