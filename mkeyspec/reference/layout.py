"""Layouts: the virtual space of an mkey as segments of buffers.

mlx5dv_wr_post(3): a list layout is its entries concatenated; an interleaved layout takes `count` bytes of each
entry in turn, `repeat` times over, and `skip` bytes of the entry are left out after each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Segment = tuple[str, int, int]
"""Name of a buffer, first byte, number of bytes."""
Strip = tuple[str, int, int, int]
"""An entry of an interleaved layout: name of a buffer, first byte, bytes a repeat, bytes left out after them."""


def interleaved(repeat: int, strips: Sequence[Strip]) -> list[Segment]:
    """The segments of an interleaved layout in the order of its virtual space."""
    return [
        (name, start + turn * (count + skip), count) for turn in range(repeat) for name, start, count, skip in strips
    ]


def window(segments: Iterable[Segment], start: int, size: int) -> list[Segment]:
    """The segments under `size` bytes from offset `start` of the virtual space. ValueError beyond its end."""
    if start < 0 or size < 0:
        raise ValueError(f"no window [{start}..{start + size}]")
    found: list[Segment] = []
    at, left = 0, size
    for name, first, length in segments:
        if not left:
            break
        skipped = max(start - at, 0)
        at += length
        if skipped >= length:
            continue
        taken = min(length - skipped, left)
        found.append((name, first + skipped, taken))
        left -= taken
    if left or (size and start > at):
        raise ValueError(f"[{start}..{start + size}] is not within {at} bytes")
    return found
