"""Why a byte is what it is: the way from a byte string's outermost node to where the byte comes from.

Each step is a short text, outermost first. Nodes that leave a byte alone (a patch elsewhere, a flip of
another byte) say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mkeyspec.abi.constants import BgType
from mkeyspec.value.node import (
    ByteString,
    Counter,
    Field,
    Fill,
    Flip,
    Framed,
    Join,
    Literal,
    Merge,
    Patch,
    Random,
    Repeat,
    Slice,
    Strip,
    XtsDecrypt,
    XtsEncrypt,
)
from mkeyspec.value.signature import Crc, Signature, T10Dif

Steps = tuple[str, ...]


def explanation(value: ByteString, i: int) -> Steps:
    """Why byte `i` of `value` is what it is. IndexError beyond the end."""
    if not 0 <= i < value.length:
        raise IndexError(f"byte {i} of {value.length}")
    return _EXPLANATION[type(value)](value, i)


def field_steps(signature: Signature, i: int, over: str, block: int, app_tag: int | None = None) -> Steps:
    """Why byte `i` of a field is what it is: what it is part of, then the formula `over` its data.

    `block` is the block's number; `app_tag` takes the place of the signature's.
    """
    if isinstance(signature, Crc):
        order = "big" if signature.kind == "crc32" else "little"
        return (
            f"{signature.kind.upper()} field, byte {i} ({order} endian)",
            f"{signature.describe()} over {over}",
        )
    if i < 2:
        return (f"guard, byte {i} (big endian)", f"{_guard_text(signature)} over {over}")
    if i < 4:
        tag = signature.app_tag & 0xFFFF if app_tag is None else app_tag
        return (f"application tag, byte {i - 2} (big endian)", f"app_tag {tag:#06x}")
    first = signature.ref_tag & 0xFFFFFFFF
    text = f"ref_tag {first:#010x}"
    return (f"reference tag, byte {i - 4} (big endian)", f"{text} + block {block}" if signature.remap else text)


def _guard_text(signature: T10Dif) -> str:
    start = {0: "zeros", 0xFFFF: "ones"}.get(signature.bg & 0xFFFF, f"{signature.bg & 0xFFFF:#06x}")
    name = "Internet checksum" if signature.bg_type == BgType.CSUM else "T10 CRC"
    return f"{name} from bg {start}"


def _framed(value: Framed, i: int) -> Steps:
    domain = value.domain
    block, place = divmod(i, domain.frame)
    start = block * domain.block
    if place < domain.block:
        return (f"block {block}, byte {place}", *explanation(value.of, start + place))
    tag = value.app_tags[block] if value.app_tags else None
    over = f"data[{start}..{start + domain.block}]"
    what, why = field_steps(domain.signature, place - domain.block, over, block, tag)
    return (f"block {block}, {what}", why)


def _strip(value: Strip, i: int) -> Steps:
    block, place = divmod(i, value.domain.block)
    at = block * value.domain.frame + place
    return (f"block {block}, byte {place}, of the stream byte {at}", *explanation(value.stream, at))


def _field(value: Field, i: int) -> Steps:
    return field_steps(value.signature, i, f"{value.block.length} bytes", value.index)


def _join(value: Join, i: int) -> Steps:
    at = 0
    for number, part in enumerate(value.parts, 1):
        if i < at + part.length:
            return (f"part {number} of {len(value.parts)}, byte {i - at}", *explanation(part, i - at))
        at += part.length
    raise AssertionError(i)


def _slice(value: Slice, i: int) -> Steps:
    at = value.start + i
    return (f"byte {at} of {value.of.length}", *explanation(value.of, at))


def _repeat(value: Repeat, i: int) -> Steps:
    turn, at = divmod(i, value.of.length)
    return (f"copy {turn + 1} of {value.times}, byte {at}", *explanation(value.of, at))


def _flip(value: Flip, i: int) -> Steps:
    below = explanation(value.of, i)
    return (f"bit {value.bit} flipped by the case", *below) if i == value.at else below


def _patch(value: Patch, i: int) -> Steps:
    if value.at <= i < value.at + value.new.length:
        return (f"patched, byte {i - value.at} of {value.new.length}", *explanation(value.new, i - value.at))
    return explanation(value.of, i)


def _merge(value: Merge, i: int) -> Steps:
    if i in value.positions:
        return ("merged from the second", *explanation(value.b, i))
    return ("merged from the first", *explanation(value.a, i))


def _xts(value: XtsEncrypt | XtsDecrypt, i: int) -> Steps:
    word = "enciphered" if isinstance(value, XtsEncrypt) else "deciphered"
    unit, place = divmod(i, value.unit)
    tweak = value.tweak + unit & (1 << 128) - 1
    return (f"data unit {unit}, byte {place}", f"AES-XTS {word}, tweak {tweak:#x}", *explanation(value.of, i))


_EXPLANATION: dict[type[ByteString], Callable[[Any, int], Steps]] = {
    Literal: lambda value, i: (f"literal, byte {i} of {value.length}",),
    Counter: lambda value, i: (f"counter({value.length}), byte {i}",),
    Fill: lambda value, i: (f"fill({value.byte:#04x}, {value.length})",),
    Random: lambda value, i: (f"random({value.length}, seed={value.seed}), byte {i}",),
    Slice: _slice,
    Join: _join,
    Repeat: _repeat,
    Framed: _framed,
    Strip: _strip,
    Field: _field,
    Flip: _flip,
    Patch: _patch,
    Merge: _merge,
    XtsEncrypt: _xts,
    XtsDecrypt: _xts,
}
