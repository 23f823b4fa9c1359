"""Byte strings as expressions: how the bytes are made, their length, and on demand the bytes.

Constructing a node (`node`, and the `*_bytes` modules) checks and computes nothing. Authors' values are made by
functions, here and beside the nodes. They raise ValueError for invalid arguments and fold trivial nodes, so reprs
stay short.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from mkeyspec.value.changed_bytes import Flip, Merge, Patch, Xor, check_inside, flip, merge, patch, xor
from mkeyspec.value.encrypted_bytes import XtsDecrypt, XtsEncrypt, xts_decrypt, xts_encrypt
from mkeyspec.value.node import EMPTY, ByteString, Counter, Fill, Join, Literal, Random, Repeat, Slice
from mkeyspec.value.signed_bytes import Field, Framed, Strip, field, framed, strip

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
    "Xor",
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
    "xor",
    "xts_decrypt",
    "xts_encrypt",
]


def counter(length: int) -> ByteString:
    return Counter(_size(length))


def fill(byte: int, length: int) -> ByteString:
    if not 0 <= byte <= 255:
        raise ValueError(f"{byte:#x} is not a byte")
    return Fill(byte, _size(length))


def random(length: int, seed: int) -> ByteString:
    if seed < 0:
        raise ValueError(f"a seed is not negative: {seed}")
    return Random(_size(length), seed)


def slice_of(of: ByteString, start: int, length: int) -> ByteString:
    """Bytes `start` to `start + length` of `of`."""
    check_inside(of, start, _size(length))
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
    """Not empty. The parts of a join are folded with their neighbours already, and so are these."""
    starts = of.starts()
    first, last = bisect_right(starts, start) - 1, bisect_left(starts, end)
    pieces = list(of.parts[first:last])
    at = starts[last - 1]
    pieces[-1] = slice_of(pieces[-1], 0, min(end - at, pieces[-1].length))
    skipped = start - starts[first]
    pieces[0] = slice_of(pieces[0], skipped, pieces[0].length - skipped)
    return Join(tuple(pieces)) if len(pieces) > 1 else pieces[0]


def join(parts: Sequence[ByteString]) -> ByteString:
    """`parts` concatenated: joins are flattened, adjacent literals and fills are joined."""
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


def _size(length: int) -> int:
    if length < 0:
        raise ValueError(f"a length is not negative: {length}")
    return length
