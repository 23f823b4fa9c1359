"""Arithmetic of polynomials over GF(2), for CRCs that no library knows.

A CRC register after data D from register 0 is D(x) * x^width mod P. So registers of neighbouring pieces
combine: R(A || B) = R(A) * x^(8 |B|) + R(B). All blocks are folded at once, halves at a time, which takes
log2(block) steps of numpy, whatever the polynomial. Multiplying by a constant is linear, hence done by tables
of the constant times each byte.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mkeyspec.reference.buffer import Octets

Words = npt.NDArray[np.uint64]


def reflect(value: int, width: int) -> int:
    """The lower `width` bits of `value` in the opposite order."""
    return int(f"{value & (1 << width) - 1:0{width}b}"[::-1], 2)


def registers(width: int, poly: int, refin: bool, refout: bool, seed: int, rows: Octets) -> Words:
    """The register after each row of `rows`, (n, block) to (n,): started at `seed`, reflected if `refout`.

    ValueError for a width that is not 8, 16 … 64.
    """
    if width not in range(8, 65, 8):
        raise ValueError(f"a CRC of {width} bits is not stored in whole bytes")
    count, block = rows.shape
    data = _REFLECTED[rows] if refin else rows
    # Leading zeros leave register 0 as it is, so that a row may be filled up in front to a power of two.
    full = 1 << max(block - 1, 0).bit_length()
    value: Words = np.zeros((count, full), np.uint64)
    value[:, full - block :] = _times(width, poly, width)[0][data]
    span = 1
    while value.shape[1] > 1:
        value = _product(value[:, 0::2], _times(width, poly, 8 * span)) ^ value[:, 1::2]
        span *= 2
    result: Words = value[:, 0] ^ np.uint64(_shifted(width, poly, seed, 8 * block))
    return _reflected(result, width) if refout else result


def _reflected(values: Words, width: int) -> Words:
    """The lower `width` bits of each value in the opposite order."""
    # Bits turned within each byte, and the bytes read from the other end.
    octets: Octets = _REFLECTED[values.astype("<u8").view(np.uint8)]
    shifted: Words = octets.view(">u8").astype(np.uint64) >> np.uint64(64 - width)
    return shifted


_REFLECTED: Octets = np.array([reflect(byte, 8) for byte in range(256)], np.uint8)


def _product(value: Words, tables: Words) -> Words:
    """`value` times the constant of `tables`, byte by byte of the value."""
    total: Words = tables[0][value & np.uint64(255)]
    for position in range(1, len(tables)):
        total ^= tables[position][(value >> np.uint64(8 * position)) & np.uint64(255)]
    return total


@lru_cache(maxsize=128)
def _times(width: int, poly: int, exponent: int) -> Words:
    """Tables of b * x^(8 i) * x^exponent mod P for every byte b at position i of a register: (width / 8, 256)."""
    tables = np.zeros((width // 8, 256), np.uint64)
    term = _shifted(width, poly, 1, exponent)
    for bit in range(width):
        position, place = divmod(bit, 8)
        tables[position][(np.arange(256) >> place & 1).astype(bool)] ^= np.uint64(term)
        term = _multiplied(width, poly, term, 2)
    return tables


def _shifted(width: int, poly: int, value: int, exponent: int) -> int:
    """`value` * x^exponent mod P, by repeated squaring."""
    power, square = 1, _multiplied(width, poly, 2, 1) if width > 1 else 0
    while exponent:
        if exponent & 1:
            power = _multiplied(width, poly, power, square)
        square = _multiplied(width, poly, square, square)
        exponent >>= 1
    return _multiplied(width, poly, value, power)


def _multiplied(width: int, poly: int, a: int, b: int) -> int:
    """a * b mod P."""
    top, mask, total = 1 << width - 1, (1 << width) - 1, 0
    while b:
        if b & 1:
            total ^= a
        b >>= 1
        a = (a << 1 & mask) ^ (poly if a & top else 0)
    return total
