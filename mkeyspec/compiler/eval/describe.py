"""Values in words, for messages: "an int", "the memory `src`", "access flags"."""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.values import Errno, Flags, Function, Handle, Poison, UserFunction, Value, WireRef, Word
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Live, LiveBytes, LiveContent, LiveJoin, LiveOp
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

KIND_NAMES = {
    "access": "access flags",
    "t10dif_flag": "T10-DIF flags",
    "seed": "a seed",
    "op": "a way to transmit or receive",
    "error": "a kind of signature error",
    "dek_state": "a state of a DEK",
    "login_state": "a state of a login",
    "status": "a completion status",
    "setter": "a setter",
    "bg_type": "a guard type",
    "mask": "a signature mask",
    "qp_op": "send ops",
    "qp_type": "a QP type",
    "event": "an async event",
    "order": "an order of signature and crypto",
    "builder": "a way to invalidate",
    "capability": "a capability",
}
"""Kind of word -> what it is in a message."""


def article(noun: str) -> str:
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def describe(value: Value) -> str:
    """What a value is, in the language's words: "an int", "the memory `src`", "the word `send`"."""
    match value:
        case None:
            return "`none`"
        case bool():
            return "yes or no"
        case int():
            return "an int"
        case str():
            return "text"
        case Word():
            return f"the word `{value.name}`"
        case Flags():
            return KIND_NAMES.get(value.kind, f"{value.kind} flags")
        case Errno():
            return f"the errno {value.name}"
        case Handle():
            return _object(value)
        case Function() | UserFunction():
            return f"the function `{value.name}`"
        case ByteString():
            return "bytes"
        case tuple():
            return "a list"
        case Range():
            return "a range"
        case Crc() | T10Dif():
            return "a signature"
        case Domain():
            return "a domain"
        case List() | Interleaved():
            return "a layout"
        case Part():
            return "a part of a buffer"
        case Chunk():
            return "a part with a count"
        case Repeated():
            return "a part repeated a live number of times"
        case WireRef():
            return "the wire"
        case Live() | LiveOp():
            return "a live value"
        case LiveBytes() | LiveContent() | LiveJoin():
            return "live bytes"
        case plan.Any() | plan.Masked() | plan.Unchanged() | plan.OneOf() | plan.Sequence():
            return "a pattern"
        case Poison():
            return "something else"
        case _:
            assert_never(value)


def _object(value: Handle) -> str:
    if value.kind == "label" and value.step:
        return f"the label `{value.name}` of {article(value.step).replace(value.step, f'`{value.step}`')}"
    return "the device" if value.kind == "device" else f"the {value.kind} `{value.name}`"
