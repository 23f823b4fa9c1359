"""Values in words, for messages: "an int", "the memory `src`", "access flags"."""

from __future__ import annotations

from typing import Union

from mkeyspec import plan
from mkeyspec.compiler.eval.values import Errno, Flags, Function, Handle, UserFunction, Value, WireRef, Word
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
    if value is None:
        return "`none`"
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int):
        return "an int"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Word):
        return f"the word `{value.name}`"
    if isinstance(value, Flags):
        return KIND_NAMES.get(value.kind, f"{value.kind} flags")
    if isinstance(value, Errno):
        return f"the errno {value.name}"
    if isinstance(value, Handle):
        if value.kind == "label" and value.step:
            return f"the label `{value.name}` of {article(value.step).replace(value.step, f'`{value.step}`')}"
        return "the device" if value.kind == "device" else f"the {value.kind} `{value.name}`"
    if isinstance(value, (Function, UserFunction)):
        return f"the function `{value.name}`"
    for classes, text in _DESCRIPTIONS:
        if isinstance(value, classes):
            return text
    return "something else"


_DESCRIPTIONS: tuple[tuple[Union[type, tuple[type, ...]], str], ...] = (
    (ByteString, "bytes"),
    (tuple, "a list"),
    (Range, "a range"),
    ((Crc, T10Dif), "a signature"),
    (Domain, "a domain"),
    ((List, Interleaved), "a layout"),
    (Part, "a part of a buffer"),
    (Chunk, "a part with a count"),
    (Repeated, "a part repeated a live number of times"),
    (WireRef, "the wire"),
    ((Live, LiveOp), "a live value"),
    ((LiveBytes, LiveContent, LiveJoin), "live bytes"),
    ((plan.Any, plan.Unchanged, plan.OneOf, plan.Sequence), "a pattern"),
)
