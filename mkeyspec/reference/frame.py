"""Framing: a field after every block, and taking them apart again."""

from __future__ import annotations

import numpy as np

from mkeyspec.reference.buffer import Buffer, Octets, octets


def frame(data: Buffer, block: int, fields: Octets, *, partial: bool = False) -> Octets:
    """`data` with row k of `fields`, (n, size), after its block k; flat.

    ValueError unless there are exactly n blocks. With `partial`, up to a block of data may follow; it comes after
    the last field and has none of its own.
    """
    flat = octets(data)
    count, size = fields.shape
    rest = flat.size - count * block
    if block <= 0 or rest < 0 or rest >= (block if partial else 1):
        raise ValueError(f"{count} fields for {flat.size} bytes in blocks of {block}")
    stream = np.empty(flat.size + count * size, np.uint8)
    whole = flat.size - rest
    rows = stream[: whole + count * size].reshape(count, block + size)
    rows[:, :block] = flat[:whole].reshape(count, block)
    rows[:, block:] = fields
    stream[stream.size - rest :] = flat[whole:]
    return stream


def split(stream: Buffer, block: int, size: int, *, partial: bool = False) -> tuple[Octets, Octets]:
    """The data of a framed stream, flat, and its fields, (n, size).

    ValueError unless the stream is whole frames; with `partial`, less than a block may follow, which is data.
    """
    flat = octets(stream)
    if block <= 0 or size < 0:
        raise ValueError(f"no frames of {block} + {size} bytes")
    count, rest = divmod(flat.size, block + size)
    if rest >= (block if partial else 1):
        raise ValueError(f"{flat.size} bytes are not a whole number of blocks of {block} + {size}")
    whole = flat.size - rest
    rows = flat[:whole].reshape(count, block + size)
    data = np.empty(count * block + rest, np.uint8)
    data[: count * block].reshape(count, block)[:] = rows[:, :block]
    data[count * block :] = flat[whole:]
    return data, np.ascontiguousarray(rows[:, block:])
