"""Layouts: the virtual space of an mkey as segments of buffers, and moving bytes through it.

mlx5dv_wr_post(3): a list layout is its entries strung together; an interleaved layout takes `count` bytes of each
entry in turn, `repeat` times over, and `skip` bytes of the entry are left out after each.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from mkeyspec.reference.buffer import Buffer, Octets, octets

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Segment(Generic[Key]):
    """`length` bytes of the buffer `key`, from `start`."""

    key: Key
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Strip(Generic[Key]):
    """An entry of an interleaved layout: from `start` of the buffer `key`, `count` bytes a repeat, `skip` left out."""

    key: Key
    start: int
    count: int
    skip: int = 0


def interleaved(repeat: int, strips: Sequence[Strip[Key]]) -> list[Segment[Key]]:
    """The segments of an interleaved layout in the order of its virtual space."""
    return [
        Segment(strip.key, strip.start + turn * (strip.count + strip.skip), strip.count)
        for turn in range(repeat)
        for strip in strips
    ]


def length(segments: Iterable[Segment[Key]]) -> int:
    return sum(segment.length for segment in segments)


def window(segments: Iterable[Segment[Key]], start: int, size: int) -> list[Segment[Key]]:
    """The segments under `size` bytes from offset `start` of the virtual space. ValueError beyond its end."""
    if start < 0 or size < 0:
        raise ValueError(f"no window [{start}..{start + size}]")
    found: list[Segment[Key]] = []
    at, left = 0, size
    for segment in segments:
        if not left:
            break
        skipped = max(start - at, 0)
        at += segment.length
        if skipped >= segment.length:
            continue
        taken = min(segment.length - skipped, left)
        found.append(Segment(segment.key, segment.start + skipped, taken))
        left -= taken
    if left or (size and start > at):
        raise ValueError(f"[{start}..{start + size}] is not within {at} bytes")
    return found


def gather(segments: Sequence[Segment[Key]], buffers: Mapping[Key, Octets]) -> Octets:
    """The bytes of the segments, strung together. ValueError if one leaves its buffer."""
    gathered = np.empty(length(segments), np.uint8)
    at = 0
    for segment in segments:
        gathered[at : at + segment.length] = _place(segment, buffers)
        at += segment.length
    return gathered


def scatter(segments: Sequence[Segment[Key]], buffers: Mapping[Key, Octets], data: Buffer) -> None:
    """`data` into the segments in order. ValueError unless it is as long as they are, and each within its buffer.

    Nothing is written if it is refused.
    """
    flat = octets(data)
    if flat.size != length(segments):
        raise ValueError(f"{flat.size} bytes for a layout of {length(segments)}")
    places = [_place(segment, buffers) for segment in segments]
    at = 0
    for place in places:
        place[:] = flat[at : at + place.size]
        at += place.size


def _place(segment: Segment[Key], buffers: Mapping[Key, Octets]) -> Octets:
    buffer = buffers[segment.key]
    end = segment.start + segment.length
    if segment.start < 0 or end > buffer.size:
        raise ValueError(f"[{segment.start}..{end}] is not within the {buffer.size} bytes of {segment.key}")
    return buffer[segment.start : end]
