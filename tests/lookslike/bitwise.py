"""CRCs one bit at a time, checksums one word at a time: slow, and written apart from `mkeyspec.reference`."""

from __future__ import annotations

from collections.abc import Sequence


def turned(value: int, width: int) -> int:
    return sum(((value >> i) & 1) << (width - 1 - i) for i in range(width))


def crc(
    data: bytes,
    width: int,
    poly: int,
    seed: int,
    xorout: int,
    *,
    refin: bool,
    refout: bool,
) -> int:
    register, top, mask = seed, 1 << (width - 1), (1 << width) - 1
    for byte in data:
        register ^= (turned(byte, 8) if refin else byte) << (width - 8)
        for _ in range(8):
            register = ((register << 1) ^ poly if register & top else register << 1) & mask
    return (turned(register, width) if refout else register) ^ xorout


def crc32c(data: bytes, seed: int = 0xFFFFFFFF, xorout: int = 0xFFFFFFFF) -> bytes:
    return crc(data, 32, 0x1EDC6F41, seed, xorout, refin=True, refout=True).to_bytes(4, "little")


def crc32(data: bytes, seed: int = 0xFFFFFFFF, xorout: int = 0xFFFFFFFF) -> bytes:
    return crc(data, 32, 0x04C11DB7, seed, xorout, refin=False, refout=False).to_bytes(4, "big")


def t10(data: bytes, seed: int = 0) -> bytes:
    return crc(data, 16, 0x8BB7, seed, 0, refin=False, refout=False).to_bytes(2, "big")


def checksum(data: bytes, seed: int = 0, xorout: int = 0xFFFF) -> bytes:
    total = seed + sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ xorout).to_bytes(2, "big")


def blocks(data: bytes, size: int) -> Sequence[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def counting(length: int) -> bytes:
    """The bytes of `counter(length)` (docs/functions.md)."""
    return bytes((i + (i >> 8)) & 255 for i in range(length))
