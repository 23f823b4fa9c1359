"""Parts of buffers and mkeys as work requests take them: whose they are, and how long.

A buffer without a range means all of it. An mkey without a range means all of its layout, in the bytes
that a work request counts: those on the wire.
"""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec.compiler.eval.buffer_contents import BufferContents
from mkeyspec.compiler.eval.coercion import as_live_int, as_part, fault, wrong
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Reference, Value, is_handle, is_list, is_wire
from mkeyspec.compiler.eval.wire_length import Uneven, wire_of_memory
from mkeyspec.diagnostics.source import Span
from mkeyspec.plan import Content, Overrides, Wire
from mkeyspec.syntax import ast
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Domains

OVERRIDES = ("lkey", "rkey", "addr", "length", "tag")
"""What `but` may set wrong of a part in a work request; `tag` is the lowest byte of either key."""


class Operand(NamedTuple):
    """A part, where it is in the text, and whether its length was written (`whole`: it was not)."""

    part: Part
    span: Span
    whole: bool


def place(expr: ast.Expr, scope: Scope, ledger: BufferContents, what: str) -> Operand:
    """The buffer, mkey or part of one that `expr` names; `but` after it goes along."""
    inner, overrides = without_but(expr, scope)
    value = evaluate(inner, scope)
    return _place_of(value, overrides, inner.span, scope, ledger, what)


def places(expr: ast.Expr, scope: Scope, ledger: BufferContents, what: str) -> tuple[Operand, ...]:
    """The same of one reference, or of each in a list of them."""
    inner, overrides = without_but(expr, scope)
    value = evaluate(inner, scope)
    if is_list(value) and not overrides:
        return tuple(_place_of(item, (), inner.span, scope, ledger, what) for item in value)
    return (_place_of(value, overrides, inner.span, scope, ledger, what),)


def _place_of(
    value: Value, overrides: Overrides, span: Span, scope: Scope, ledger: BufferContents, what: str
) -> Operand:
    whole = is_handle(value)
    if is_handle(value, "mkey"):
        part = Part(value.name, 0, whole_length(value.name, ledger, span))
    else:
        part = as_part(value, scope, span, what)
    if overrides:
        part = Part(part.name, part.start, part.length, part.but + overrides)
    return Operand(part, span, whole)


def mkey_place(
    expr: ast.Expr, scope: Scope, ledger: BufferContents, verb: str, help: str
) -> tuple[str, Int, Int | None, Overrides]:
    """Name, offset, length (None: not written) and overrides of the mkey that `transmit` or `receive` goes through."""
    inner, overrides = without_but(expr, scope)
    value = evaluate(inner, scope)
    if is_handle(value, "mkey"):
        return value.name, 0, None, overrides
    if not isinstance(value, Part) or ledger.mkeys.mkey(value.name) is None:
        wrong(value, scope, inner.span, f"`{verb}`", "an mkey or a part of one", help)
    return value.name, value.start, value.length, value.but + overrides


def without_but(expr: ast.Expr, scope: Scope) -> tuple[ast.Expr, Overrides]:
    """`k but tag 0` as `k` and its overrides: a whole mkey must be seen as such before anything is added to it."""
    overrides: Overrides = ()
    while isinstance(expr, ast.But):
        if expr.member.text not in OVERRIDES:
            raise fault(
                "MKS0205",
                f"a key or a part of a buffer has no `{expr.member.text}` to set wrong",
                expr.member.span,
                help="it has " + ", ".join(OVERRIDES),
            )
        name, span = expr.member.text, expr.override.span
        value = fitting(as_live_int(evaluate(expr.override, scope), scope, span, f"`but {name}`"), name, span)
        overrides = ((expr.member.text, value), *overrides)
        expr = expr.value
    return expr, overrides


def whole_length(mkey: str, ledger: BufferContents, span: Span) -> int:
    """Wire bytes of all of an mkey."""
    key = ledger.mkey(mkey)
    if key.layout is None:
        raise fault(
            "MKS0308",
            f"`{mkey}` has no layout here, so nothing says how long it is",
            span,
            help=f"configure it, or say which part: {mkey}[0 +: 512]",
        )
    length = key.layout.length
    if length is None:
        raise fault("MKS0309", f"the layout of `{mkey}` depends on the device", span, help=f"{mkey}[0 +: 512]")
    try:
        return wire_of_memory(length, key.domains)
    except Uneven as uneven:
        raise fault(
            "MKS0312",
            f"how much is all of `{mkey}`? Its layout's {uneven.message}",
            span,
            help=_whole_blocks(mkey, length, key.domains, uneven),
            page="mlx5dv_wr_set_mkey_sig_block(3) Description",
        ) from None


def _whole_blocks(mkey: str, length: int, domains: Domains, uneven: Uneven) -> str:
    """How the layout gets whole blocks, or the request takes those that are there."""
    mem, wire = domains
    signature = uneven.domain
    if mem is not None and signature == mem and length % mem.block == 0:
        advice = "in memory each block is followed by its field: memory m = framed(bytes, domain)"
    elif mem is None and length % signature.frame == 0:
        called = signature.describe()
        advice = f"if the fields are in memory already, they are of the memory's domain: signature {{ mem {called} }}"
    else:
        sizes = [count * uneven.unit for count in (uneven.blocks, uneven.blocks + 1) if count]
        if mem is not None and signature != mem:
            sizes = [size // mem.block * mem.frame for size in sizes if size % mem.block == 0]
        advice = f"a layout of whole blocks: {' or '.join(map(str, sizes))} bytes" if sizes else ""
    lines = [advice] if advice else []
    if uneven.blocks:
        size = signature.block if wire is None else signature.frame if signature == wire else 0
        if size:
            lines.append(f"or the part with whole blocks, in bytes on the wire: {mkey}[0 +: {uneven.blocks * size}]")
    return "\n".join(lines)


def observed_place(ledger: BufferContents, place: Reference, span: Span, name: str) -> Content | Wire:
    """The bytes of a place as a plan observes them."""
    if is_wire(place):
        _, start, length = ledger.wire_segment(place, span)
        return Wire(length, start, place.label)
    return Content(tuple(Part(*segment) for segment in ledger.segments(place, span)), name)
