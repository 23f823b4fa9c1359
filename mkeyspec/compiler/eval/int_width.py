"""Checks that a number fits the member of a struct, or the argument of a call.

A number that does not fit would be truncated, so the driver would get another number than the case states.
"""

from __future__ import annotations

from typing import TypeVar

from mkeyspec.abi.constants import member_bits
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.diagnostics.source import Span

Kind = TypeVar("Kind")


def fitting(value: Kind, name: str, span: Span, of: str = "") -> Kind:
    """`value`, unless it is a number that does not fit into `name`, of a record of that kind (`Fault` MKS0317); the
    rig checks live ones."""
    bits = member_bits(name, of)
    if isinstance(value, int) and not 0 <= value < 1 << bits:
        shown = f"{value:#x}" if value > 0 else str(value)
        raise fault("MKS0317", f"`{name}` has {bits} bits, and {shown} does not fit", span)
    return value
