"""Numbers, flags and names as C writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntFlag
from typing import Union

from mkeyspec.abi.constants import WC_OPCODE, Access, MkeyFlag, QpOps, SendFlag
from mkeyspec.repro.symbol import Leaf, Symbol, Term
from mkeyspec.run.buffer import GUARD
from mkeyspec.value.live import ENCODINGS

_PREFIXES: Mapping[type[IntFlag], str] = {
    Access: "IBV_ACCESS_",
    SendFlag: "IBV_SEND_",
    MkeyFlag: "MLX5DV_MKEY_INIT_ATTR_FLAGS_",
    QpOps: "MLX5DV_QP_EX_WITH_",
}
_DEVICE = {
    "max_wr_memcpy_length": "dv_attr.max_wr_memcpy_length",
    "max_qp_wr": "(uint64_t)device_attr.max_qp_wr",
    "max_sge": "(uint64_t)device_attr.max_sge",
    "active_mtu": "128u << port_attr.active_mtu",
    "max_msg_sz": "port_attr.max_msg_sz",
    "max_log_num_concurent": "dv_attr.dci_streams_caps.max_log_num_concurent",
    "max_log_num_errored": "dv_attr.dci_streams_caps.max_log_num_errored",
    "crypto_engines": "dv_attr.crypto_caps.crypto_engines",
    "log_max_num_deks": "dv_attr.crypto_caps.log_max_num_deks",
}
_WC = {"driver1": "MLX5DV_WC_UMR", "driver2": "MLX5DV_WC_RAW_WQE", "driver3": "MLX5DV_WC_MEMCPY"}
_NARROW = {
    32: (".byte_len", "imm_data", "key", "qp_num", "max_msg_sz", "active_mtu", "max_qp_wr", "max_sge"),
    16: ("_entries",),
    8: ("crypto_caps", "dci_streams_caps"),
}
"""Bits of what is not a uint64_t, by what is in its expression."""
_UNNAMED = {int(Access.FLUSH_GLOBAL), int(Access.FLUSH_PERSISTENT)}
"""Flags that rdma-core 44 has no name for."""


class TooWide(Exception):
    """A number that is not of 64 bits, or that a shift by all bits computes: C has no way to write it."""


def opcode(name: str) -> str:
    """enum ibv_wc_opcode."""
    return _WC.get(name) or (f"IBV_WC_{name.upper()}" if name in WC_OPCODE.values() else "-1")


def flags(value: int, of: type[IntFlag]) -> str:
    """`IBV_SEND_SIGNALED | IBV_SEND_INLINE`; bits without a name as a number."""
    if isinstance(value, Symbol):
        return number(value)
    names, rest = [], value
    for flag in of:
        if value & flag == flag and not (of is Access and int(flag) in _UNNAMED):
            names.append(f"{_PREFIXES[of]}{flag.name}")
            rest &= ~int(flag)
    return " | ".join(names + ([number(rest)] if rest or not names else []))


def number(value: int) -> str:
    """A number, or what computes it. TooWide if C can't say it."""
    _must_fit(value)
    if isinstance(value, Symbol):
        return _term(value.term)
    return str(value) if -1 << 31 < value < 1 << 16 else hex(value)


def _must_fit(value: int) -> None:
    """64 bits, with a sign or without one: a wider number would be another one in C, or none."""
    if not -1 << 63 <= int(value) < 1 << 64:
        raise TooWide(f"the number {int(value):#x}, which is not of 64 bits")


def operand(text: str, operator: str, other: str) -> str:
    """One side of a comparison. A constant that the type of the other side can't have, or a 0 that no number is
    below, is a warning of C (-Wtype-limits): `wide` hides that it is constant."""
    value, bits = _constant(text), 64
    if value is None or _constant(other) is not None:
        return f"(uint64_t)({text})"
    for narrow, names in _NARROW.items():
        if any(name in other for name in names):
            bits = narrow
    least, most = operator != "==" and operator != "!=" and value == 0, value >= (1 << bits) - 1 or value < 0
    return f"wide({text})" if least or (most and "errno" not in other) else f"(uint64_t)({text})"


def _constant(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def device_number(name: str) -> str:
    """A number that the device tells of itself."""
    return _DEVICE[name]


def _term(term: Union[Leaf, Term]) -> str:
    match term:
        case Term("+", (Symbol() as first, int() as second)) if not isinstance(second, Symbol) and _is_addr(first):
            assert isinstance(first.term, Leaf)
            return f"at(&{first.term.of}, {second - GUARD})"
        case Term(operator, (one,)):
            return f"{operator}{_inner(one)}"
        case Term(">>", (one, int() as other)) if not isinstance(other, Symbol) and other >= 64:
            return f"{_inner(one)} & 0"  # C defines no shift by all bits of a number
        case Term("<<", (_, int() as other)) if other >= 64:
            raise TooWide(f"a left shift by {int(other)}: C defines none by all 64 bits or more")
        case Term(operator, (one, other)):
            return f"{_inner(one)} {operator} {_inner(other)}"
        case Leaf():
            return _LEAVES[term.kind](term)
        case _:
            raise AssertionError(term)


def _inner(value: int) -> str:
    _must_fit(value)
    if isinstance(value, Symbol):
        simple = isinstance(value.term, Leaf) or _term(value.term).startswith("at(")
        text = f"(uint64_t){_term(value.term)}" if isinstance(value.term, Leaf) else _term(value.term)
        return text if simple else f"({text})"
    return f"~0x{~value:x}ull" if value < 0 else f"{number(value)}"


def _is_addr(value: Symbol) -> bool:
    return isinstance(value.term, Leaf) and (value.term.kind, value.term.member) == ("buffer", "addr")


def _buffer(leaf: Leaf) -> str:
    return f"at(&{leaf.of}, -{GUARD})" if leaf.member == "addr" else f"{leaf.of}.mr->{leaf.member}"


def _mkey(leaf: Leaf) -> str:
    member, _, then = leaf.member.partition("~")
    if member == "max_entries":
        return f"{leaf.of}_entries"
    return f"{leaf.of}@{member}@{then}@"  # the writer knows how often the tag was changed meanwhile


def _pair(leaf: Leaf) -> str:
    if leaf.member == "inline":
        return f"{leaf.of}.owner.inline_room"
    return f"{leaf.of}.{leaf.member.partition('.')[0]}.qp->qp_num"


def _wc(leaf: Leaf) -> str:
    return f"wc_{leaf.of}.byte_len" if leaf.member == "byte_len" else f"be32toh(wc_{leaf.of}.imm_data)"


def _number_in(leaf: Leaf) -> str:
    encoding, _, start = leaf.member.partition("@")
    big = "true" if encoding.startswith("be") else "false"
    where = f"{leaf.of}.bytes" if leaf.kind == "number" else f"taken@{leaf.of}@"
    return f"number_in({where} + {start}, {ENCODINGS[encoding]}, {big})"


_LEAVES: Mapping[str, Callable[[Leaf], str]] = {
    "buffer": _buffer,
    "mkey": _mkey,
    "pair": _pair,
    "dct": lambda leaf: f"{leaf.of}->qp_num",
    "device": lambda leaf: device_number(leaf.of),
    "wc": _wc,
    "variable": lambda leaf: leaf.of,
    "number": _number_in,
    "snapshot": _number_in,
}
