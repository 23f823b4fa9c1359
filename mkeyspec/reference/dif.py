"""T10-DIF: the tuple of guard, application tag and reference tag after every block.

Sizes and order: T10 SBC-3, protection information; mlx5dv_wr_set_mkey_sig_block(3), struct mlx5dv_sig_t10dif.
All three are stored big endian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mkeyspec.reference.buffer import Buffer, Octets, block_count, octets
from mkeyspec.reference.crc import T10, CrcParameters, crc_blocks

SIZE = 8
"""Bytes of a tuple: guard 2, application tag 2, reference tag 4."""


@dataclass(frozen=True, slots=True)
class SumParameters:
    """The Internet checksum (RFC 1071) as a guard: a sum in ones' complement of big-endian 16-bit words.

    `seed_mask`: which bits of `bg` the sum starts from. The pages do not say what bg ones means to it; it tells
    only where a block is all zeros. 0xFFFF: a start value; 0: bg has no effect.
    """

    xorout: int = 0xFFFF
    order: Literal["big", "little"] = "big"
    seed_mask: int = 0xFFFF


CSUM = SumParameters()
"""MLX5DV_SIG_T10DIF_CSUM: the sum is inverted, as the Linux kernel stores it for an IP guard."""

Guard = CrcParameters | SumParameters


def sum_blocks(parameters: SumParameters, data: Buffer, block: int, seed: int) -> Octets:
    """The checksum of every block, (n, 2) of uint8 as stored. A block of odd size is filled up with a zero byte."""
    flat = octets(data)
    rows: Octets = flat.reshape(block_count(flat.size, block), block)
    if block % 2:
        rows = np.pad(rows, ((0, 0), (0, 1)))
    # The sum does not depend on the byte order of its words, but for the order of its own bytes (RFC 1071, 2 B):
    # words are read little endian, and the result of that is already laid down big endian.
    words = rows.view("<u2")
    # 32 bits hold the sum of 65537 words; adding in 32 bits is twice as fast.
    totals = np.einsum("ij->i", words, dtype=np.dtype("u4" if block < 1 << 17 else "u8")).astype(np.uint64)
    start = seed & parameters.seed_mask & 0xFFFF
    totals += np.uint64(start >> 8 | (start & 0xFF) << 8)
    while totals.size and int(totals.max()) > 0xFFFF:
        totals = (totals & np.uint64(0xFFFF)) + (totals >> np.uint64(16))
    inversion = parameters.xorout >> 8 | (parameters.xorout & 0xFF) << 8
    laid = (totals.astype("<u2") ^ np.uint16(inversion)).astype("<u2").view(np.uint8).reshape(-1, 2)
    return laid if parameters.order == "big" else np.ascontiguousarray(laid[:, ::-1])


def guard_blocks(parameters: Guard, data: Buffer, block: int, bg: int) -> Octets:
    """The guard of every block, (n, 2) of uint8 as stored; `bg` is what it starts from."""
    if isinstance(parameters, SumParameters):
        return sum_blocks(parameters, data, block, bg)
    return crc_blocks(parameters, data, block, bg)


def ref_tags(first: int, count: int, step: int = 0, index: int = 0) -> npt.NDArray[np.uint32]:
    """The reference tags of `count` blocks from block `index` on: first + step * i, modulo 2^32.

    With REF_REMAP the step is 1, without it 0.
    """
    numbers = np.arange(count, dtype=np.uint64) + np.uint64(index & 0xFFFFFFFF)
    total = np.uint64(first & 0xFFFFFFFF) + np.uint64(step & 0xFFFFFFFF) * numbers
    wrapped: npt.NDArray[np.uint32] = (total & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return wrapped


def tuples(
    guards: Octets,
    app_tags: int | Sequence[int] | npt.NDArray[np.uint16],
    ref_tags: int | Sequence[int] | npt.NDArray[np.uint32],
) -> Octets:
    """Tuples as stored: guards (n, 2) of uint8, tags one for all or one a block; gives (n, 8) of uint8."""
    fields = np.empty((len(guards), SIZE), np.uint8)
    fields[:, 0:2] = guards
    fields[:, 2:4].view(">u2")[:, 0] = np.asarray(app_tags, np.uint16)
    fields[:, 4:8].view(">u4")[:, 0] = np.asarray(ref_tags, np.uint32)
    return fields


def dif_blocks(
    data: Buffer,
    block: int,
    *,
    guard: Guard = T10,
    bg: int = 0,
    app_tags: int | Sequence[int] | npt.NDArray[np.uint16] = 0,
    ref_tag: int = 0,
    step: int = 0,
    index: int = 0,
) -> Octets:
    """The tuples of every block of `data`, (n, 8) of uint8 as stored."""
    guards = guard_blocks(guard, data, block, bg)
    return tuples(guards, app_tags, ref_tags(ref_tag, len(guards), step, index))
