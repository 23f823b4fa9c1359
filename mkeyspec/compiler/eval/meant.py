"""What to write in place of a value of another type: the help of "takes bytes, not an int" and its kin."""

from __future__ import annotations

import re

from mkeyspec.compiler.eval.values import Function, UserFunction, Value, is_reference
from mkeyspec.diagnostics.source import Span

_HEX = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{2} ?)+")
"""A text that is nothing but digits of bytes."""


def bytes_for(value: Value, span: Span) -> str:
    """How the bytes are written that are probably meant by a text, a number or a list at `span`; "" for the rest."""
    written = span.source.text[span.start : span.end]
    match value:
        case str() if _HEX.fullmatch(value):
            return f'write `hex"{value.removeprefix("0x")}"`'
        case str():
            return f'write `ascii"{value}"`' if value.isascii() and value.isprintable() else 'hex"…" are bytes'
        case bool():
            return ""
        case int() if written.startswith("0x"):
            digits = written[2:].replace("_", "")
            return f'write `hex"{"0" * (len(digits) % 2)}{digits}"`'
        case int() if 0 <= value < 256:
            return f'hex"{value:02x}" is a byte of this value, counter({value}) and fill(0, {value}) are {value} bytes'
        case int():
            return f"counter({value}) and fill(0, {value}) are {value} bytes, be32({value}) is a number in four"
        case tuple() if value and all(type(item) is int and 0 <= item < 256 for item in value[:64]):
            shown = "".join(f"{item:02x}" for item in value[:8] if type(item) is int)
            dots = "…" if len(value) > 8 else ""
            return f'bytes are hex"{shown}{dots}"; fill(0, {len(value)}) are {len(value)} bytes'
        case _:
            return ""


def number_for(value: Value, written: str) -> str:
    """How a number is taken of a function or of a buffer that is `written` so."""
    match value:
        case Function() | UserFunction():
            return f"call it: {written}(…)"
        case _ if is_reference(value) and written.isidentifier():
            return f"length({written}) is its length, be32_at({written}, 0) a number in it when the case runs"
        case _:
            return ""


def without_quotes(value: Value) -> str:
    """The help for a text where a word of the language is wanted."""
    match value:
        case str():
            return f"words of the language have no quotes: {value}"
        case _:
            return ""
