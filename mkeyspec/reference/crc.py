"""Cyclic redundancy checks of every block of a buffer, as the bytes that are stored after the block.

Parameters are named after the Rocksoft model (R. Williams, "A painless guide to CRC error detection
algorithms", 1993), with the seed kept apart, since a signature chooses it, and with the order in which the
value is stored. That the mlx5 types are these is shown in the vectors of tests/reference/; mind that mlx5's
CRC32 is not zlib's: it is not reflected, and is stored big endian.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat, starmap
from typing import Literal

import numpy as np
import numpy.typing as npt

from mkeyspec.reference import polynomial
from mkeyspec.reference.buffer import Buffer, Octets, octets

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CrcParameters:
    """A CRC of `width` bits (a multiple of 8, up to 64). `poly`: without its leading term, highest power first."""

    width: int
    poly: int
    refin: bool
    refout: bool
    xorout: int
    order: Literal["big", "little"]

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1

    @property
    def size(self) -> int:
        """Bytes of the stored value."""
        return self.width // 8


CRC32 = CrcParameters(32, 0x04C11DB7, False, False, 0xFFFFFFFF, "big")
"""MLX5DV_SIG_CRC_TYPE_CRC32, the CRC of Fibre Channel's FC-PH. Seed ones: CRC-32/BZIP2."""
CRC32C = CrcParameters(32, 0x1EDC6F41, True, True, 0xFFFFFFFF, "little")
"""MLX5DV_SIG_CRC_TYPE_CRC32C, Castagnoli's. Seed ones: CRC-32/ISCSI (RFC 3720)."""
CRC64_XP10 = CrcParameters(64, 0xAD93D23594C93659, True, True, 0xFFFFFFFFFFFFFFFF, "little")
"""MLX5DV_SIG_CRC_TYPE_CRC64_XP10. Seed ones: CRC-64/NVME."""
T10 = CrcParameters(16, 0x8BB7, False, False, 0, "big")
"""The guard of T10-DIF. Seed zeros: CRC-16/T10-DIF."""


def crc_values(parameters: CrcParameters, data: Buffer, block: int, seed: int, skip: int = 0) -> Words:
    """The CRC of every block of `data`, (n,) of uint64. `seed` is the register's initial value, masked to the width.

    `skip` bytes after every block are left out. ValueError unless `data` is whole blocks (with what is skipped).
    """
    count = _count(_length(data), block, skip)
    library = _library(parameters.width, parameters.poly, parameters.refin, parameters.refout)
    if library is not None:
        values = np.fromiter(_computed(library, parameters, data, block, seed, skip), np.uint64, count)
        values ^= np.uint64(library.xorout ^ parameters.xorout)
        return values
    raw = polynomial.registers(
        parameters.width,
        parameters.poly,
        parameters.refin,
        parameters.refout,
        seed & parameters.mask,
        octets(data).reshape(count, block + skip)[:, :block],
    )
    raw ^= np.uint64(parameters.xorout)
    return raw


def crc_blocks(parameters: CrcParameters, data: Buffer, block: int, seed: int, skip: int = 0) -> Octets:
    """As `crc_values`, laid down in the parameters' order: (n, width / 8) of uint8, as in memory and on the wire."""
    library = _library(parameters.width, parameters.poly, parameters.refin, parameters.refout)
    if library is None or library.xorout != parameters.xorout:
        return stored(parameters, crc_values(parameters, data, block, seed, skip))
    count, size = _count(_length(data), block, skip), parameters.width >> 3
    laid = bytearray(count * size)
    number = f"{'>' if parameters.order == 'big' else '<'}{count}{_STRUCT[size]}"
    struct.pack_into(number, laid, 0, *_computed(library, parameters, data, block, seed, skip))
    fields: Octets = np.frombuffer(laid, np.uint8).reshape(count, size)
    return fields


_STRUCT = {2: "H", 4: "I", 8: "Q"}
"""struct's codes of the widths that libraries know."""


def stored(parameters: CrcParameters, values: Words) -> Octets:
    """Values as the bytes that are stored: (n,) of uint64 to (n, width / 8) of uint8."""
    size = parameters.size
    laid: Octets
    if parameters.order == "big":
        laid = values.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - size :]
    else:
        laid = values.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size]
    return np.ascontiguousarray(laid)


def _length(data: Buffer) -> int:
    return data.nbytes if isinstance(data, (memoryview, np.ndarray)) else len(data)


def _count(length: int, block: int, skip: int) -> int:
    if block <= 0 or skip < 0:
        raise ValueError(f"no blocks of {block} bytes, {skip} between them")
    count, rest = divmod(length, block + skip)
    if rest:
        after = f" + {skip}" if skip else ""
        raise ValueError(f"{length} bytes are not a whole number of blocks of {block}{after}")
    return count


_VIEW = 2048
"""From this block size on, a slice of a memoryview is cheaper than the copy that struct makes."""


def _computed(
    library: _Library, parameters: CrcParameters, data: Buffer, block: int, seed: int, skip: int
) -> Iterable[int]:
    """What the library returns for every block; the loop over the blocks is all in C."""
    # A library continues from the value it would have returned so far: its own inversion undone gives the register.
    register = seed & parameters.mask
    if parameters.refout and register not in (0, parameters.mask):
        register = polynomial.reflect(register, parameters.width)
    so_far = register ^ library.xorout
    flat = data if isinstance(data, bytes) else octets(data).data
    if len(flat) == block:
        return (library.function(flat, so_far),)
    if block < _VIEW:
        pieces = struct.iter_unpack(f"{block}s{skip}x", flat)
        if not so_far:  # where every library begins: one argument is a third faster than two
            return starmap(library.function, pieces)
        return map(library.function, chain.from_iterable(pieces), repeat(so_far))
    view = memoryview(flat)
    return map(library.function, (view[at : at + block] for at in range(0, len(view), block + skip)), repeat(so_far))


@dataclass(frozen=True, slots=True)
class _Library:
    """A function of (data, value so far = 0), and what it xors the register with before it returns it."""

    function: Callable[..., int]
    xorout: int


@cache
def _library(width: int, poly: int, refin: bool, refout: bool) -> _Library | None:
    """The fast implementation of these parameters, if there is one. Imported when it is first wanted."""
    key = (width, poly, refin, refout)
    if key == (16, 0x8BB7, False, False):
        from fastcrc import crc16

        return _Library(crc16.t10_dif, 0)
    if key == (32, 0x04C11DB7, False, False):
        from fastcrc import crc32

        return _Library(crc32.bzip2, 0xFFFFFFFF)
    if key == (32, 0x1EDC6F41, True, True):
        from fastcrc import crc32

        return _Library(crc32.iscsi, 0xFFFFFFFF)
    if key == (64, 0xAD93D23594C93659, True, True):
        from awscrt import checksums

        return _Library(checksums.crc64nvme, 0xFFFFFFFFFFFFFFFF)
    return None
