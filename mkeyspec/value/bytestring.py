"""Byte strings as expressions: how the bytes come about, their length, and on demand the bytes.

Constructing a node (`value.node`) checks and computes nothing. Authors' values are made by the functions here,
which refuse nonsense with a ValueError and fold what is trivial, so that reprs stay short.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Domain, Signature, T10Dif

__all__ = [
    "EMPTY",
    "ByteString",
    "Counter",
    "Field",
    "Fill",
    "Flip",
    "Framed",
    "Join",
    "Literal",
    "Merge",
    "Patch",
    "Random",
    "Repeat",
    "Slice",
    "Strip",
    "XtsDecrypt",
    "XtsEncrypt",
    "counter",
    "field",
    "fill",
    "flip",
    "framed",
    "join",
    "merge",
    "patch",
    "random",
    "repeat",
    "slice_of",
    "strip",
    "xts_decrypt",
    "xts_encrypt",
]

EMPTY = Literal(b"")


def counter(length: int) -> ByteString:
    return Counter(_size(length))


def fill(byte: int, length: int) -> ByteString:
    if not 0 <= byte <= 255:
        raise ValueError(f"{byte:#x} is no byte")
    return Fill(byte, _size(length))


def random(length: int, seed: int) -> ByteString:
    if seed < 0:
        raise ValueError(f"a seed is not negative: {seed}")
    return Random(_size(length), seed)


def slice_of(of: ByteString, start: int, length: int) -> ByteString:
    """Bytes `start` to `start + length` of `of`."""
    _inside(of, start, _size(length))
    if length == of.length:
        return of
    if not length:
        return EMPTY
    if isinstance(of, Slice):
        return Slice(of.of, of.start + start, length)
    if isinstance(of, Fill):
        return Fill(of.byte, length)
    if isinstance(of, Literal):
        return Literal(of.value[start : start + length])
    if isinstance(of, Join):
        return _slice_of_join(of, start, start + length)
    return Slice(of, start, length)


def _slice_of_join(of: Join, start: int, end: int) -> ByteString:
    pieces: list[ByteString] = []
    at = 0
    for part in of.parts:
        low, high = max(start, at), min(end, at + part.length)
        if low < high:
            pieces.append(slice_of(part, low - at, high - low))
        at += part.length
        if at >= end:
            break
    return join(pieces)


def join(parts: Sequence[ByteString]) -> ByteString:
    """`parts` strung together: joins are flattened, neighbouring literals and fills melted."""
    flat: list[ByteString] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Join) else (part,):
            last = flat[-1] if flat else None
            if not piece.length:
                continue
            if isinstance(piece, Literal) and isinstance(last, Literal):
                flat[-1] = Literal(last.value + piece.value)
            elif isinstance(piece, Fill) and isinstance(last, Fill) and piece.byte == last.byte:
                flat[-1] = Fill(piece.byte, last.length + piece.length)
            elif (
                isinstance(piece, Slice)
                and isinstance(last, Slice)
                and piece.start == last.start + last.length
                and piece.of == last.of
            ):
                flat[-1] = slice_of(piece.of, last.start, last.length + piece.length)
            else:
                flat.append(piece)
    if len(flat) > 1:
        return Join(tuple(flat))
    return flat[0] if flat else EMPTY


def repeat(of: ByteString, times: int) -> ByteString:
    if times < 0:
        raise ValueError(f"nothing can be repeated {times} times")
    if not times or not of.length:
        return EMPTY
    if times == 1:
        return of
    if isinstance(of, Fill):
        return Fill(of.byte, of.length * times)
    if isinstance(of, Repeat):
        return Repeat(of.of, of.times * times)
    return Repeat(of, times)


def framed(of: ByteString, domain: Domain | None, app_tags: tuple[int, ...] = ()) -> ByteString:
    """`of` with the domain's field behind every block; of no domain, `of` itself."""
    if domain is None:
        if app_tags:
            raise ValueError("application tags belong to t10dif, and there is no signature")
        return of
    domain.framed_length(of.length)
    if app_tags:
        blocks = of.length // domain.block
        if not isinstance(domain.signature, T10Dif):
            raise ValueError(f"{domain.signature.kind} has no application tag")
        if len(app_tags) != blocks:
            raise ValueError(f"{len(app_tags)} application tags for {blocks} blocks")
        for tag in app_tags:
            if not 0 <= tag <= 0xFFFF:
                raise ValueError(f"an application tag has 16 bits: {tag:#x}")
    return Framed(of, domain, tuple(app_tags)) if of.length else EMPTY


def strip(stream: ByteString, domain: Domain | None) -> ByteString:
    """`stream` without the fields of `domain`; of no domain, the stream itself."""
    if domain is None:
        return stream
    domain.stripped_length(stream.length)
    if isinstance(stream, Framed) and (stream.domain.block, stream.domain.frame) == (domain.block, domain.frame):
        return stream.of
    return Strip(stream, domain) if stream.length else EMPTY


def field(signature: Signature, block: ByteString, index: int = 0) -> ByteString:
    if index < 0:
        raise ValueError(f"there is no block {index}")
    if not block.length:
        raise ValueError("no field belongs to a block of no bytes")
    return Field(signature, block, index)


def flip(of: ByteString, at: int | Range, bit: int = 0) -> ByteString:
    """Bit `bit` of byte `at` inverted; of a range, of its first byte."""
    start = at.start if isinstance(at, Range) else at
    _inside(of, start, 1)
    if not 0 <= bit <= 7:
        raise ValueError(f"a byte has the bits 0 to 7, not {bit}")
    return Flip(of, start, bit)


def patch(of: ByteString, at: int | Range, new: ByteString) -> ByteString:
    """`new` in place of the bytes from `at`; a range must be as long as `new`."""
    start = at
    if isinstance(at, Range):
        start = at.start
        if at.length != new.length:
            raise ValueError(f"{new.length} bytes in place of {at.length}")
    assert isinstance(start, int)
    _inside(of, start, new.length)
    if not new.length:
        return of
    return new if new.length == of.length else Patch(of, start, new)


def merge(a: ByteString, b: ByteString, positions: Sequence[int]) -> ByteString:
    """`a`, with the bytes at `positions` taken from `b`."""
    if a.length != b.length:
        raise ValueError(f"{a.length} bytes merged with {b.length}")
    for position in positions:
        _inside(a, position, 1)
    return Merge(a, b, tuple(positions)) if positions else a


def xts_encrypt(of: ByteString, key: ByteString, tweak: int = 0, unit: int = 512) -> ByteString:
    """`of` enciphered by AES-XTS; `key` is the data key and the tweak key, 32 or 64 bytes."""
    _xts(of, key, unit)
    return XtsEncrypt(of, key, tweak, unit) if of.length else EMPTY


def xts_decrypt(of: ByteString, key: ByteString, tweak: int = 0, unit: int = 512) -> ByteString:
    """`of` deciphered, the inverse of `xts_encrypt`."""
    _xts(of, key, unit)
    return XtsDecrypt(of, key, tweak, unit) if of.length else EMPTY


def _xts(of: ByteString, key: ByteString, unit: int) -> None:
    from mkeyspec.reference.xts import check_key, check_lengths

    check_key(key.data)
    check_lengths(of.length, unit)


def _size(length: int) -> int:
    if length < 0:
        raise ValueError(f"a length is not negative: {length}")
    return length


def _inside(of: ByteString, start: int, length: int) -> None:
    if start < 0 or start + length > of.length:
        place = f"byte {start}" if length == 1 else f"[{start}..{start + length}]"
        raise ValueError(f"{place} is not within {of.length} bytes")
