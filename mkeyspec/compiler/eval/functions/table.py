"""The functions of the language, in one table, and how an argument becomes what a parameter takes.

The table is data: names, parameters with their kinds, results and a line of explanation. Arity,
types and "did you mean" of every call come from it, and so does the reference's chapter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from mkeyspec.compiler.eval import coercion
from mkeyspec.compiler.eval.builtins import WORDS
from mkeyspec.compiler.eval.coercion import fault, wrong
from mkeyspec.compiler.eval.functions.bytes import BYTE_FUNCTIONS
from mkeyspec.compiler.eval.functions.lists import LIST_FUNCTIONS
from mkeyspec.compiler.eval.functions.signatures import SIGNATURE_FUNCTIONS
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    Function,
    Handle,
    Parameter,
    Value,
    is_flags,
    is_known_bytes,
    is_number,
    is_wire,
    is_word,
)
from mkeyspec.diagnostics.limits import BUFFER_BYTES
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Chunk, Part, Repeated
from mkeyspec.value.live import wire_subject
from mkeyspec.value.range import Range

FUNCTIONS: dict[str, Function] = {
    function.name: function for function in (*SIGNATURE_FUNCTIONS, *BYTE_FUNCTIONS, *LIST_FUNCTIONS)
}
"""Every function of the language."""

Coerce = Callable[[Value, Scope, Span, str], Value]


def _value(value: Value, scope: Scope, span: Span, what: str) -> Value:
    return value


def _seed(value: Value, scope: Scope, span: Span, what: str) -> Value:
    if is_word(value, "seed"):
        return value
    if is_number(value):
        if not 0 <= value < 1 << 64:
            raise fault("MKS0306", f"a seed has 64 bits: {value:#x}", span)
        return value
    return wrong(value, scope, span, what, "a seed: zeros, ones or an int")


def _at(value: Value, scope: Scope, span: Span, what: str) -> Value:
    if isinstance(value, Range) or is_number(value):
        return value
    return wrong(value, scope, span, what, "a place: an int or a range")


def _ints(value: Value, scope: Scope, span: Span, what: str) -> Value:
    return tuple(coercion.as_int(item, scope, span, what) for item in coercion.as_list(value, scope, span, what))


def _byte_list(value: Value, scope: Scope, span: Span, what: str) -> Value:
    return tuple(coercion.as_bytes(item, scope, span, what) for item in coercion.as_list(value, scope, span, what))


def _measured(value: Value, scope: Scope, span: Span, what: str) -> Value:
    """The length of anything that has one, as an int."""
    return coercion.measure(value, scope, span, what)


def _flag_set(value: Value, scope: Scope, span: Span, what: str) -> Value:
    if is_flags(value):
        return value
    if is_word(value):
        wrong(value, scope, span, what, "flags: `a | b`")
    return coercion.as_int(value, scope, span, what)


def _reference(value: Value, scope: Scope, span: Span, what: str) -> Value:
    """An entry of a list layout, or a list of them."""
    match value:
        case tuple():
            return tuple(_reference(item, scope, span, what) for item in value)
        case Repeated():
            return value
        case _:
            return coercion.as_part(value, scope, span, what)


def _chunk(value: Value, scope: Scope, span: Span, what: str) -> Value:
    """An entry of an interleaved layout, or a list of them."""
    match value:
        case tuple():
            return tuple(_chunk(item, scope, span, what) for item in value)
        case Chunk() | Repeated():
            return value
        case Part() | Handle():
            return wrong(value, scope, span, what, "a part with a count", "a count 512 skip 4")
        case _:
            return wrong(value, scope, span, what, "a part with a count")


def _memory(value: Value, scope: Scope, span: Span, what: str) -> Value:
    """Bytes at one place, that can be read when the case runs."""
    if is_wire(value):
        _, start, length = scope.ledger.wire_place(value, span)  # only the bytes of the number are looked at
        return Part(wire_subject(value.label), start, length)
    found = coercion.as_part(value, scope, span, what)
    if scope.ledger.is_mkey(found.name) or found.bounds() is None:
        wrong(value, scope, span, what, "a buffer, a part of one or the wire", "name the buffers of its layout")
    return Part(found.name, found.start, found.length)


KINDS: dict[str, tuple[str, Coerce]] = {
    "value": ("anything", _value),
    "int": ("an int", coercion.as_int),
    "live int": ("an int, live or not", coercion.as_live_int),
    "bool": ("yes or no", coercion.as_bool),
    "bytes": ("bytes, or a buffer used as its bytes", coercion.as_bytes),
    "list of bytes": ("a list of bytes", _byte_list),
    "list of int": ("a list of ints", _ints),
    "list": ("a list or range", coercion.as_list),
    "range": ("a range", coercion.as_range),
    "place": ("an int, or a range (its first byte)", _at),
    "seed": ("zeros, ones, or an int whose bits, as many as the signature's seed has, are all 0 or all 1", _seed),
    "signature": ("a signature", coercion.as_signature),
    "domain": ("a signature `every` block size", coercion.as_domain),
    "domain or none": ("a domain, or `none`", coercion.as_domain_or_none),
    "guard": ("crc or csum", lambda v, s, p, w: coercion.as_word(v, s, p, ("bg_type",), w)),
    "flags": ("flag words joined by `|`, or an int", _flag_set),
    "t10dif flags": (
        "ref_remap, app_escape, app_ref_escape, joined by `|`, or an int",
        lambda v, s, p, w: coercion.as_flags(v, s, p, "t10dif_flag", w),
    ),
    "reference": ("a buffer, an mkey, a part of one, or a list of them", _reference),
    "one reference": ("a buffer, an mkey, or a part of one", coercion.as_part),
    "memory": ("a buffer, a part of one, or the wire", _memory),
    "chunk": ("a part with `count n` and perhaps `skip n`, or a list of them", _chunk),
    "measured": ("bytes, a buffer, a list, a range or a layout", _measured),
}
"""Kind of parameter -> (what it takes, how a value becomes it)."""


def coerce(function: Function, parameter: Parameter, value: Value, scope: Scope, span: Span) -> Value:
    """`value` as what `parameter` of `function` takes; `Fault` with the function's signature as help."""
    return KINDS[parameter.kind][1](value, scope, span, f"`{parameter.name}` of `{function.name}`")


def invoke(function: Function, arguments: list[Value], scope: Scope, span: Span) -> Value:
    """Call `function` with coerced arguments; what it refuses becomes a diagnostic at `span`."""
    for argument in arguments:
        if type(argument) is tuple:
            scope.budget.spend(len(argument), span)
    try:
        result = function.call(*arguments)
    except ValueError as error:
        raise fault("MKS0307", str(error), span, help=str(function)) from None
    if is_known_bytes(result):
        return check_size(result, span)
    if type(result) is tuple:
        scope.budget.spend(len(result), span)
    return result


def check_size(value: ByteString, span: Span) -> ByteString:
    """`value`, unless it is longer than any buffer may be."""
    if value.length > BUFFER_BYTES.most:
        raise fault(BUFFER_BYTES.code, BUFFER_BYTES.broken(value.length), span)
    return value


def language() -> Scope:
    """The outermost scope: the language's words and functions."""
    scope = Scope()
    scope.names.update(WORDS)
    scope.names.update(FUNCTIONS)
    return scope


def find(name: str) -> Optional[Function]:
    return FUNCTIONS.get(name)
