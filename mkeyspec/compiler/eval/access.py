"""Suffixes of a value: `.member`, `[index]`, `but member override`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Optional, Union

from typing_extensions import assert_never

from mkeyspec.abi.constants import ALWAYS_TOLD, DEVICE_NUMBERS
from mkeyspec.compiler.eval.coercion import (
    as_int,
    as_live_int,
    as_part,
    fault,
    length_of,
    measure,
    raise_if_hidden,
    wrong,
)
from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.operators import range_of
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    BUFFER_KINDS,
    Handle,
    Int,
    PartThen,
    Value,
    WireRef,
    Word,
    is_buffer,
    moment_of,
)
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString, slice_of
from mkeyspec.value.layout import Interleaved, List, Part
from mkeyspec.value.live import Live, LiveBytes, LiveContent, LiveJoin, LiveOp, is_known
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

Evaluate = Callable[[ast.Expr, Scope], Value]

LIVE_MEMBERS: dict[str, tuple[str, ...]] = {
    "memory": ("addr", "lkey", "rkey"),
    "mkey": ("max_entries", "lkey", "rkey"),
    "qp": ("qpn", "max_inline_data"),
    "dct": ("number",),
    "device": DEVICE_NUMBERS,
}
"""Kind of object -> what may be read of it when the case runs. Of a label its verb says it (`Verb.shows`)."""

BUT_MEMBERS: dict[str, tuple[str, ...]] = {
    "a domain": ("sig_type", "block_size", "comp_mask"),
    "a CRC": ("type", "seed"),
    "a T10-DIF": ("bg_type", "bg", "app_tag", "ref_tag", "flags"),
    "a part": ("lkey", "rkey", "addr", "length"),
}
"""What `but` may set wrong: members of the pages' structs."""


# .member -------------------------------------------------------------------------------------


def attribute(value: Value, expr: ast.Attribute, scope: Scope) -> Value:
    """`d.block`, `r.start`, `k.max_entries`, `t.wire`."""
    name = expr.name.text
    members: tuple[str, ...] = ()
    match value:
        case Handle():
            return _of_handle(value, name, expr, scope)
        case Domain():
            members = ("block", "signature")
            if name in members:
                return value.block if name == "block" else value.signature
        case Range():
            members = ("start", "length", "end")
            if name in members:
                return {"start": value.start, "length": value.length, "end": value.end}[name]
        case ByteString() | tuple() | Part() | WireRef() | List() | Interleaved():
            members = ("length",)
            if name == "length":
                return measure(value, scope, expr.of.span)
        case LiveBytes() | LiveContent() | LiveJoin() if name == "length":
            return value.length
        case None if name == "block":
            raise fault("MKS0205", "`none` has no block size", expr.span, help="keep it away with: where m != none")
        case _:
            pass  # it has no member
    raise no_member(value, expr.of.span, expr.name, members, scope)


def _of_handle(handle: Handle, name: str, expr: ast.Attribute, scope: Scope) -> Value:
    if handle.kind == "label" and name == "wire":
        return WireRef(handle.name)
    if handle.kind in BUFFER_KINDS and name == "length":
        return measure(handle, scope, expr.of.span)
    members = handle.shows if handle.kind == "label" else LIVE_MEMBERS.get(handle.kind, ())
    if name in members:
        if handle.kind == "device" and name not in ALWAYS_TOLD:
            scope.budget.device_numbers = True
        return Live(handle.name, name)
    more = ("wire",) if handle.step == "transmit" else ("length",) if handle.kind in BUFFER_KINDS else ()
    raise no_member(handle, expr.of.span, expr.name, members + more, scope)


def no_member(value: Value, span: Span, name: ast.Name, members: tuple[str, ...], scope: Scope) -> Exception:
    """MKS0205: there is no such member; did-you-mean, or the list of those that are."""
    raise_if_hidden(value, scope, span, f"something with a `{name.text}`")
    guess = did_you_mean(name.text, members)
    help = guess or (f"it has {', '.join(f'`{member}`' for member in members)}" if members else "")
    what = describe(value)
    verb = "have" if what.endswith(("bytes", "flags")) else "has"
    return fault("MKS0205", f"{what} {verb} no `{name.text}`", name.span, help=help)


# [index] -------------------------------------------------------------------------------------


def index(value: Value, expr: ast.Index, scope: Scope, evaluate: Evaluate) -> Value:
    """A part of bytes, of a buffer or mkey, of the wire; an item or a part of a list.

    A single int takes one byte, or one item. The end of `a[x..]` is the value's own. Parts of an mkey are not
    compared with its length: cases test accesses beyond it (LAY-05).
    """
    match value:
        case tuple():
            return _of_list(value, expr, scope, evaluate)
        case ByteString():
            start, length = _bounds(expr.index, scope, evaluate, value.length)
            _inside(start, length, value.length, expr)
            return slice_of(value, _known(start, scope, expr), _known(length, scope, expr))
        case WireRef():
            return _of_wire(value, expr, scope, evaluate)
        case _ if is_buffer(value):
            return _of_buffer(value, expr, scope, evaluate)
        case _:
            raise_if_hidden(value, scope, expr.of.span, "bytes, a buffer or a list")
    return wrong(value, scope, expr.of.span, "[ ]", "bytes, a buffer or a list")


def _of_list(value: tuple[Value, ...], expr: ast.Index, scope: Scope, evaluate: Evaluate) -> Value:
    start, length = _bounds(expr.index, scope, evaluate, len(value))
    first, count = _known(start, scope, expr), _known(length, scope, expr)
    if first < 0 or first + count > len(value):
        raise fault("MKS0305", f"item {first} of a list of {len(value)}", expr.index.span, help="items count from 0")
    if _is_range(expr.index, scope, evaluate):
        return value[first : first + count]
    return value[first]


def _is_range(expr: ast.Expr, scope: Scope, evaluate: Evaluate) -> bool:
    return isinstance(expr, ast.Range) or isinstance(evaluate(expr, scope), Range)


def _of_wire(value: WireRef, expr: ast.Index, scope: Scope, evaluate: Evaluate) -> Value:
    total = length_of(value, scope)
    start, length = _bounds(expr.index, scope, evaluate, total)
    _inside(start, length, total, expr)
    return WireRef(value.label, value.start + _known(start, scope, expr), _known(length, scope, expr), value.moment)


def _of_buffer(value: Union[Part, Handle], expr: ast.Index, scope: Scope, evaluate: Evaluate) -> Value:
    first: Int
    total: Optional[Int]
    match value:
        case Part(name, first, total, overrides):
            whole = False
        case Handle(kind, name):
            first, total, overrides = 0, length_of(value, scope), ()
            whole = kind == "mkey"
        case _:
            assert_never(value)
    start, length = _bounds(expr.index, scope, evaluate, total)
    if not whole and is_known(total):
        _inside(start, length, total, expr)
    elif is_known(start) and is_known(length) and (start < 0 or length < 0):
        raise fault("MKS0305", f"a part from {start} of length {length}", expr.index.span)
    moment = moment_of(value)
    start = _plus(first, start)
    if moment is not None:
        return PartThen(name, start, length, (), moment)
    return Part(name, start, length, overrides)


def _bounds(expr: ast.Expr, scope: Scope, evaluate: Evaluate, total: Optional[Int]) -> tuple[Int, Int]:
    """Start and length of what an index takes; both may be live."""
    if isinstance(expr, ast.Range):
        start = as_live_int(evaluate(expr.start, scope), scope, expr.start.span, "[ ]")
        if expr.length is not None:
            return start, as_live_int(evaluate(expr.length, scope), scope, expr.length.span, "`+:`")
        if expr.end is not None:
            end = as_live_int(evaluate(expr.end, scope), scope, expr.end.span, "`..`")
            return start, _minus(end, start)
        if total is None:
            raise fault("MKS0308", "where this ends is not known here", expr.span, help="[x +: n] says how long it is")
        return start, _minus(total, start)
    value = evaluate(expr, scope)
    if isinstance(value, Range):
        return value.start, value.length
    return as_live_int(value, scope, expr.span, "[ ]"), 1


def _inside(start: Int, length: Int, total: Optional[Int], expr: ast.Index) -> None:
    if not (is_known(start) and is_known(length)):
        return
    if length < 0:
        raise fault("MKS0305", f"[{start}..{start + length}] ends before it begins", expr.index.span)
    if start < 0 or (is_known(total) and start + length > total):
        inside = is_known(total) and 0 <= start < total
        help = "[x +: n] is n bytes from x, [x..y] ends before y" if inside else "bytes count from 0"
        if is_known(total) and total > 0 and start < 0:
            help += f", and the last one is [{total - 1}]"
        raise fault("MKS0305", f"[{start}..{start + length}] is not within {total} bytes", expr.index.span, help=help)


def _known(number: Int, scope: Scope, expr: ast.Index) -> int:
    return as_int(number, scope, expr.index.span, "[ ] of bytes or a list")


def _plus(a: Int, b: Int) -> Int:
    if is_known(a) and is_known(b):
        return a + b
    return b if a == 0 else LiveOp("+", (a, b))


def _minus(a: Int, b: Int) -> Int:
    if is_known(a) and is_known(b):
        return a - b
    return a if b == 0 else LiveOp("-", (a, b))


# but -----------------------------------------------------------------------------------------


def but(value: Value, expr: ast.But, override: Value, scope: Scope) -> Value:
    """`value` with one member of its struct set wrong on purpose; its bytes do not change."""
    member = expr.member.text
    kind = _struct(value)
    if kind is not None:
        _check_member(value, expr, kind, scope)
        struct = value if isinstance(value, (Domain, Crc, T10Dif)) else as_part(value, scope, expr.value.span)
        return replace(struct, but=(*struct.but, (member, _override(override, expr, value, scope))))
    return wrong(value, scope, expr.value.span, "`but`", "a signature, a domain or a part of a buffer")


def _struct(value: Value) -> Optional[str]:
    """The kind of struct that a value is written into (`BUT_MEMBERS`)."""
    match value:
        case Domain():
            return "a domain"
        case Crc():
            return "a CRC"
        case T10Dif():
            return "a T10-DIF"
        case _:
            return "a part" if is_buffer(value) else None


def _check_member(value: Value, expr: ast.But, kind: str, scope: Scope) -> None:
    members = BUT_MEMBERS[kind]
    if expr.member.text not in members:
        raise no_member(value, expr.value.span, expr.member, members, scope)


def _override(override: Value, expr: ast.But, value: Value, scope: Scope) -> Int:
    """The number of an override; words that have a number may be used as well."""
    what = f"`but {expr.member.text}`"
    of, bits = "", 64
    match value:
        case T10Dif():
            of, bits = value.kind, 16
        case Crc():
            bits = 8 * value.field_size
        case _:
            pass  # the members of a domain or a part have one meaning
    match override:
        case Word("seed", name):
            return 0 if name == "zeros" else (1 << bits) - 1
        case Word(value=int() as number):
            return number
        case _:
            pass  # a number
    return fitting(as_live_int(override, scope, expr.override.span, what), expr.member.text, expr.override.span, of)


__all__ = ["BUT_MEMBERS", "LIVE_MEMBERS", "attribute", "but", "index", "no_member", "range_of"]
