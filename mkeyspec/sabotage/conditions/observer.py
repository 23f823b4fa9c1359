"""What every observer is, and what requests are as the dimensions call them."""

from __future__ import annotations

from typing import Any

from mkeyspec.device.model.configuration import M32
from mkeyspec.device.model.wqe import RawWork
from mkeyspec.device.protocol import CompareSwap, FetchAdd, Memcpy, Read, Send, Write
from mkeyspec.sabotage.conditions.moment import Moment


class Observer:
    """A part that is watched. What it is mixed with has the methods that it calls by `super()`."""

    moment: Moment


def operation_of(request: Any) -> str | None:
    """As the dimension calls it; None for what moves no data."""
    if isinstance(request, RawWork):
        return operation_of(request.request)
    if isinstance(request, Send):
        return "send_imm" if request.imm is not None else "send" if request.invalidate_rkey is None else "send_inv"
    if isinstance(request, Write):
        return "write" if request.imm is None else "write_imm"
    return {Read: "read", Memcpy: "memcpy", FetchAdd: "fetch_add", CompareSwap: "compare_swap"}.get(request.__class__)


def size_of(request: Any) -> int | None:
    if isinstance(request, RawWork):
        return size_of(request.request)
    if isinstance(request, (Send, Write, Read)):
        return sum(sge.length & M32 for sge in request.sges)
    if isinstance(request, Memcpy):
        return request.length
    return 8 if isinstance(request, (FetchAdd, CompareSwap)) else None
