"""The values of a case's variables in a row, as its steps use them; a generated module uses the names again."""

from __future__ import annotations

from typing import Any

from mkeyspec import plan
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Errno, Flags, Function, Handle, UserFunction, Value, Word
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Interleaved, List
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

_PLANNED = (int, str, ByteString, Crc, T10Dif, Domain, Range, List, Interleaved)
"""Kinds of values that the steps of a plan have too."""


def planned(value: Value, text: str) -> Any:
    """A value of the language as the steps of a plan have it; its text where they have no such thing."""
    match value:
        case None:
            return value
        case Flags(value=number) | Word(value=int() as number):
            return number
        case Word() | Errno() | Handle() | Function() | UserFunction():
            return value.name
        case tuple():
            return tuple([planned(item, text) for item in value])
        case _:
            return value if isinstance(value, _PLANNED) else text


def lets(scope: Scope, library: Scope) -> list[plan.Binding]:
    """The values that the `let`s of a row give names to; `library` is the scope around the case."""
    found: list[plan.Binding] = []
    at: Scope | None = scope
    while at is not None and at is not library:
        found += [plan.Binding(name, value) for name, value in at.names.items() if isinstance(value, _PLANNED)]
        at = at.around
    return found
