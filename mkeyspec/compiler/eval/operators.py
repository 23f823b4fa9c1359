"""The operators: arithmetic, bits, `++`, `every`, comparisons, ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional, Union

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_ENUM
from mkeyspec.compiler.eval.coercion import (
    as_bytes,
    as_int,
    as_list,
    as_live_bytes,
    as_live_int,
    as_part,
    fault,
    raise_if_hidden,
    wrong,
)
from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.functions.table import check_size
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    FLAG_KINDS,
    LIVE_INT,
    Flags,
    Function,
    Handle,
    Value,
    Word,
    is_flags,
    is_known_bytes,
    is_list,
    is_live,
    is_live_bytes,
    is_number,
    is_reference,
    is_signature,
    is_wire,
)
from mkeyspec.diagnostics.diagnostic import Edit
from mkeyspec.diagnostics.limits import INT_BITS, LIST_ITEMS
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString, join, repeat
from mkeyspec.value.layout import Chunk, Part, Repeated
from mkeyspec.value.live import OPERATORS, Int, LiveBytes, LiveContent, LiveJoin, LiveOp, is_known, live_join, width
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

BYTES_A_STEP = 64
"""Bytes that are made and compared in about the time of one step of evaluation."""

Evaluate = Callable[[ast.Expr, Scope], Value]


def operate(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> Value:
    """`left operator right` for everything but comparisons, `and`, `or`."""
    operator = expr.operator
    if type(left) is int and type(right) is int and operator not in ("++", "every"):
        return arithmetic(operator, left, right, expr)
    if operator == "++":
        return _join(expr, left, right, scope)
    if operator == "every":
        return _every(expr, left, right, scope)
    if operator == "*" and not isinstance(left, (int, *LIVE_INT)):
        return _repeat(expr, left, right, scope)
    if operator in ("|", "&", "^") and (is_flags(left) or is_flags(right)):
        return _flag_operation(expr, left, right, scope)
    if is_flags(left) or is_flags(right):
        wrong_side = left if is_flags(left) else right
        raise fault(
            "MKS0302",
            f"`{operator}` is of numbers, and {describe(wrong_side)} is a set of bits",
            expr.span,
            help="flags are joined by `|`; `flags & flag != 0` asks for one",
            fix=_in_place_of(expr, "|") if operator == "+" else (),
        )
    if operator == "+":
        _refuse_sum_of_bytes(expr, left, right)
    what = f"`{operator}`"
    a = as_live_int(left, scope, expr.left.span, what)
    b = as_live_int(right, scope, expr.right.span, what)
    if is_known(a) and is_known(b):
        return arithmetic(operator, a, b, expr)
    return _live(operator, a, b, expr)


def _refuse_sum_of_bytes(expr: ast.Binary, left: Value, right: Value) -> None:
    """MKS0302 for `m + m`: bytes, patterns and lists are joined by `++`."""
    if not (_can_be_joined(left) and _can_be_joined(right)):
        return
    raise fault(
        "MKS0302",
        f"`+` is of numbers, and {describe(left)} is joined to {describe(right)}",
        expr.span,
        help="write `++` in place of `+`",
        fix=_in_place_of(expr, "++"),
    )


def _can_be_joined(value: Value) -> bool:
    match value:
        case plan.Any() | plan.Unchanged() | plan.Sequence():
            return True
        case _:
            return is_known_bytes(value) or is_reference(value) or is_list(value)


def _in_place_of(expr: ast.Binary, right_one: str) -> tuple[Edit, ...]:
    """The correction that writes another operator."""
    source = expr.span.source
    at = source.text.index(expr.operator, expr.left.span.end)
    return (Edit(Span(source, at, at + len(expr.operator)), right_one),)


def _live(operator: str, a: Int, b: Int, expr: ast.Expr) -> LiveOp:
    """Arithmetic of live values; errors that do not depend on the device are reported here."""
    if is_known(b):
        _defined(operator, b, expr)
    found = LiveOp(operator, (a, b))
    bits = width(found)
    if bits is not None and bits > INT_BITS.most:
        raise fault(INT_BITS.code, INT_BITS.broken(bits), expr.span)
    return found


def _defined(operator: str, b: int, expr: ast.Expr) -> None:
    if operator in ("/", "%") and b == 0:
        raise fault("MKS0304", "division by zero", expr.span)
    if operator in ("<<", ">>") and b < 0:
        raise fault("MKS0304", f"shifted by a negative number: {b}", expr.span)


def arithmetic(operator: str, a: int, b: int, expr: ast.Expr) -> int:
    """An int operator; `/` is whole-number division, rounded down."""
    _defined(operator, b, expr)
    if operator == "<<" and a and a.bit_length() + b > INT_BITS.most:
        raise fault(INT_BITS.code, INT_BITS.broken(a.bit_length() + b), expr.span)
    result = OPERATORS[operator, 2](a, b)
    if result.bit_length() > INT_BITS.most:
        raise fault(INT_BITS.code, INT_BITS.broken(result.bit_length()), expr.span)
    return result


def unary(expr: ast.Unary, operand: Value, scope: Scope) -> Value:
    """`-x`, `~x`, `not x`."""
    operator = expr.operator
    if operator == "not":
        if isinstance(operand, bool):
            return not operand
        wrong(operand, scope, expr.operand.span, "`not`", "yes or no")
    number = as_live_int(operand, scope, expr.operand.span, f"`{operator}`")
    if is_known(number):
        return OPERATORS[operator, 1](number)
    return LiveOp(operator, (number,))


# Flags ---------------------------------------------------------------------------------------


def _flag_operation(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> Value:
    """`a | b` of one kind is a flag set; `flags & right`, `flags ^ right` and anything with an int are ints."""
    a, b = _flags(left), _flags(right)
    if a is not None and b is not None:
        if a.kind != b.kind:
            raise fault(
                "MKS0302",
                f"`{expr.operator}` of flags of two kinds: {describe(left)} and {describe(right)}",
                expr.span,
            )
        if expr.operator == "|":
            names = a.names + tuple(name for name in b.names if name not in a.names)
            return Flags(a.kind, a.value | b.value, names)
    flags, number = (a, right) if a is not None else (b, left)
    if expr.operator == "|" and flags is not None and is_number(number):
        return Flags(flags.kind, flags.value | number, (*flags.names, hex(number)))
    what = f"`{expr.operator}`"
    x = as_live_int(left, scope, expr.left.span, what)
    y = as_live_int(right, scope, expr.right.span, what)
    if is_known(x) and is_known(y):
        return arithmetic(expr.operator, x, y, expr)
    return _live(expr.operator, x, y, expr)


def _flags(value: Value) -> Optional[Flags]:
    match value:
        case Flags():
            return value
        case Word(kind, name, int() as number) if kind in FLAG_KINDS:
            return Flags(kind, number, (name,))
        case _:
            return None


# Bytes and lists -----------------------------------------------------------------------------


def _join(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> Value:
    """Bytes, live bytes, patterns of known length, or lists."""
    if is_list(left) and is_list(right):
        return _few(left + right, expr, scope)
    pieces = (_piece(left, expr.left, scope), _piece(right, expr.right, scope))
    known = [piece for piece in pieces if is_known_bytes(piece)]
    if len(known) == len(pieces):
        return check_size(join(known), expr.span)
    data = tuple(piece for piece in pieces if is_known_bytes(piece) or is_live_bytes(piece))
    return live_join(data) if len(data) == len(pieces) else _sequence(pieces, expr)


_Piece = Union[ByteString, LiveBytes, LiveContent, LiveJoin, plan.Any, plan.Masked, plan.Sequence]


def _piece(value: Value, expr: ast.Expr, scope: Scope) -> _Piece:
    match value:
        case plan.Any(None):
            raise fault("MKS0302", "`any` beside `++` needs its length", expr.span, help="any(4)")
        case plan.Any() | plan.Masked() | plan.Sequence():
            return value
        case _:
            return as_live_bytes(value, scope, expr.span, "`++`")


def _sequence(pieces: tuple[_Piece, ...], expr: ast.Expr) -> plan.Sequence:
    items: list[Union[ByteString, plan.Any, plan.Masked]] = []
    for piece in pieces:
        if is_live_bytes(piece):
            raise fault("MKS0309", "live bytes and a pattern cannot be in one pattern", expr.span)
        for item in piece.items if isinstance(piece, plan.Sequence) else (piece,):
            last = items[-1] if items else None
            if is_known_bytes(item) and is_known_bytes(last):
                items[-1] = join([last, item])
            else:
                items.append(item)
    return plan.Sequence(tuple(items))


def _repeat(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> Value:
    """`bytes * n`, `[a] * n`; of a list of one part, n may be live."""
    times = as_live_int(right, scope, expr.right.span, "`*`")
    if is_list(left):
        if is_known(times):
            if times < 0:
                raise fault("MKS0306", f"nothing can be repeated {times} times", expr.right.span)
            if len(left) * times > LIST_ITEMS.most:
                raise fault(LIST_ITEMS.code, LIST_ITEMS.broken(len(left) * times), expr.span)
            scope.budget.spend(len(left) * times, expr.span)
            return left * times
        if len(left) != 1:
            raise fault("MKS0309", "only a list of one part can be repeated a live number of times", expr.span)
        entry = left[0]
        repeated = entry if isinstance(entry, Chunk) else as_part(entry, scope, expr.left.span, "a live repetition")
        return (Repeated(repeated, times),)
    if not is_known(times):
        wrong(right, scope, expr.right.span, "`*`", "an int")
    if isinstance(left, plan.Any) and left.length is not None and times >= 0:
        return plan.Any(left.length * times)
    if not _is_bytes(left):
        raise_if_hidden(left, scope, expr.left.span, "a number, bytes or a list")
        wrong(left, scope, expr.left.span, "`*`", "a number, bytes or a list")
    data = as_bytes(left, scope, expr.left.span, "`*`")
    if times < 0:
        raise fault("MKS0306", f"nothing can be repeated {times} times", expr.right.span)
    return check_size(repeat(data, times), expr.span)


def _few(items: tuple[Value, ...], expr: ast.Expr, scope: Scope) -> Value:
    scope.budget.spend(len(items), expr.span)
    if len(items) > LIST_ITEMS.most:
        raise fault(LIST_ITEMS.code, LIST_ITEMS.broken(len(items)), expr.span)
    return items


def _called(value: Value) -> str:
    """A domain of the function that was written without its arguments."""
    match value:
        case Function(name=name) if name.startswith("t10dif"):
            return f"{name}() every 512"
        case Function(name=name) if name.startswith("crc"):
            return f"{name}(ones) every 512"
        case _:
            return "crc32(ones) every 512"


def _every(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> Value:
    """`SIGNATURE every N`: a domain."""
    if left is None:
        raise fault("MKS0302", "`none` has no blocks", expr.span, help="`none` is a domain by itself")
    if isinstance(left, Domain):
        raise fault("MKS0302", "this is a domain already", expr.left.span, help="its block size is its `.block`")
    if not is_signature(left):
        wrong(left, scope, expr.left.span, "`every`", "a signature", _called(left))
    block = as_int(right, scope, expr.right.span, "`every`")
    if block not in BLOCK_ENUM:
        sizes = ", ".join(str(size) for size in BLOCK_ENUM)
        raise fault(
            "MKS0331",
            f"no block size {block}: there are {sizes}",
            expr.right.span,
            help="for a member `block_size` outside its enum: … every 512 but block_size 5",
            page="sig_block(3) block_size, SIG-22",
        )
    return Domain(left, block)


# Comparisons ---------------------------------------------------------------------------------

_ORDERS: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}


def compare(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> bool:
    """`== != < <= > >=` at expansion; bytes are compared by content, buffers by what they should hold."""
    operator = expr.operator
    if operator in _ORDERS:
        a = as_int(left, scope, expr.left.span, f"`{operator}`")
        return _ORDERS[operator](a, as_int(right, scope, expr.right.span, f"`{operator}`"))
    return equal(expr, left, right, scope) == (operator == "==")


def equal(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> bool:
    """Are they the same? MKS0302 for two values that never could be."""
    for value, side in ((left, expr.left), (right, expr.right)):
        if is_live(value) or is_live_bytes(value):
            wrong(value, scope, side.span, f"`{expr.operator}`", "a value")
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        scope.budget.outcomes.compared(expr, left, right)
        return left == right
    if _is_bytes(left) or _is_bytes(right):
        if is_wire(left) or is_wire(right) or not (_is_bytes(left) and _is_bytes(right)):
            _mismatch(expr, left, right, scope)
        a = as_bytes(left, scope, expr.left.span)
        b = as_bytes(right, scope, expr.right.span)
        scope.budget.spend(a.length // BYTES_A_STEP, expr.span)
        return a == b or (a.length == b.length and a.data == b.data)
    if is_flags(left) or is_flags(right):
        what = f"`{expr.operator}`"
        if isinstance(left, (Flags, Word)) and isinstance(right, (Flags, Word)) and left.kind != right.kind:
            _mismatch(expr, left, right, scope)
        return as_int(left, scope, expr.left.span, what) == as_int(right, scope, expr.right.span, what)
    if _sort(left) != _sort(right):
        _mismatch(expr, left, right, scope)
    return left == right


def _is_bytes(value: Value) -> bool:
    return is_known_bytes(value) or is_reference(value)


def _sort(value: Value) -> str:
    """The sort of a value: two values of different sorts are never equal."""
    match value:
        case bool():
            return "truth"
        case int():
            return "int"
        case Crc() | T10Dif():
            return "signature"
        case _:
            return type(value).__name__


def _mismatch(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> None:
    raise_if_hidden(left, scope, expr.left.span, describe(right))
    raise_if_hidden(right, scope, expr.right.span, describe(left))
    help = ""
    if is_wire(left) or is_wire(right):
        help = "what is on the wire is known when the case runs: expect wire == …"
    raise fault("MKS0302", f"{describe(left)} compared with {describe(right)}", expr.span, help=help)


def contains(expr: ast.Binary, left: Value, right: Value, scope: Scope) -> bool:
    """`x in list`, `n in range`."""
    if isinstance(right, Range):
        number = as_int(left, scope, expr.left.span, "`in` a range")
        return right.start <= number < right.end
    items = as_list(right, scope, expr.right.span, "`in`")
    return any(_sort(item) == _sort(left) and equal(expr, left, item, scope) for item in items)


# Ranges --------------------------------------------------------------------------------------


def range_of(expr: ast.Range, scope: Scope, evaluate: Evaluate) -> Range:
    """`a..b` or `a +: n` as a value."""
    start = as_int(evaluate(expr.start, scope), scope, expr.start.span, "a range")
    if expr.length is not None:
        length = as_int(evaluate(expr.length, scope), scope, expr.length.span, "a range")
    elif expr.end is not None:
        length = as_int(evaluate(expr.end, scope), scope, expr.end.span, "a range") - start
    else:
        raise fault("MKS0305", "a range needs its end here", expr.span, help="only inside [ ] may it be left out")
    if start >= 0 > length and expr.length is None:
        end = start + length
        help = f"`..` excludes its end: {end}..{start + 1} is {end} to {start}" if end >= 0 else ""
        raise fault("MKS0305", f"the range {start}..{end} ends before it begins", expr.span, help=help)
    if start < 0 or length < 0:
        raise fault("MKS0305", f"a range from {start} of length {length}", expr.span)
    return Range(start, length)


__all__ = ["Handle", "Part", "arithmetic", "compare", "contains", "equal", "operate", "range_of", "unary"]
