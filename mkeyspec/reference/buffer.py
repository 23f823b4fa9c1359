"""Bytes in, numpy out: what every reference does with the buffers it is given."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

Octets = npt.NDArray[np.uint8]
Buffer = bytes | bytearray | memoryview | Octets


def octets(data: Buffer) -> Octets:
    """`data` as a flat contiguous array of bytes, without a copy where it is one already.

    A strided view is copied: some of the CRC libraries compute over the wrong bytes of one (or refuse it).
    """
    if isinstance(data, np.ndarray):
        if data.dtype != np.uint8:
            raise TypeError(f"bytes are expected, not {data.dtype}")
        return np.ascontiguousarray(data).reshape(-1)
    if isinstance(data, memoryview) and not data.contiguous:
        data = data.tobytes()
    return cast(Octets, np.frombuffer(data, np.uint8))


def block_count(length: int, block: int) -> int:
    """How many blocks of `block` bytes `length` bytes are. ValueError unless they are whole."""
    if block <= 0:
        raise ValueError(f"a block has at least one byte, not {block}")
    count, rest = divmod(length, block)
    if rest:
        raise ValueError(f"{length} bytes are not a whole number of blocks of {block}")
    return count
