"""The references' judge: signatures and layouts one bit, one byte at a time.

No tables, no library, no numpy; parameters written out a second time, from the published catalogues. Slow, and meant
to be read: `crc` follows the definition of the Rocksoft model, `internet_checksum` that of RFC 1071.
"""

from __future__ import annotations

from collections.abc import Sequence

CRC = {
    # kind: (width, polynomial, reflected, final inversion, byte order of the stored value)
    "t10": (16, 0x8BB7, False, 0x0000, "big"),
    "crc32": (32, 0x04C11DB7, False, 0xFFFFFFFF, "big"),
    "crc32c": (32, 0x1EDC6F41, True, 0xFFFFFFFF, "little"),
    "crc64_xp10": (64, 0xAD93D23594C93659, True, 0xFFFFFFFFFFFFFFFF, "little"),
}


def bits_reversed(value: int, width: int) -> int:
    result = 0
    for i in range(width):
        if value >> i & 1:
            result |= 1 << width - 1 - i
    return result


def crc(data: bytes, width: int, poly: int, init: int, refin: bool, refout: bool, xorout: int) -> int:
    """A long division: the register shifts left, and the polynomial is taken off whenever a one falls out."""
    register = init
    for byte in data:
        for i in range(8):
            bit = byte >> i & 1 if refin else byte >> 7 - i & 1
            out = register >> width - 1 & 1
            register = register << 1 & (1 << width) - 1
            if out != bit:
                register ^= poly
    if refout:
        register = bits_reversed(register, width)
    return register ^ xorout


def crc_value(kind: str, data: bytes, seed: int) -> int:
    width, poly, reflected, inversion, _ = CRC[kind]
    return crc(data, width, poly, seed & (1 << width) - 1, reflected, reflected, inversion)


def internet_checksum(data: bytes, start: int = 0) -> int:
    """The complement of the sum in ones' complement of big-endian words; an odd byte is a word's upper half."""
    total = start
    for i in range(0, len(data), 2):
        word = data[i] << 8 | (data[i + 1] if i + 1 < len(data) else 0)
        total += word
        if total > 0xFFFF:
            total -= 0xFFFF
    return total ^ 0xFFFF


def stored(kind: str, data: bytes, seed: int) -> bytes:
    """A CRC or guard as it comes after `data`."""
    if kind == "csum":
        return internet_checksum(data, seed).to_bytes(2, "big")
    width, *_, order = CRC[kind]
    value = crc_value(kind, data, seed)
    octets = [value >> 8 * i & 0xFF for i in range(width // 8)]
    return bytes(octets if order == "little" else reversed(octets))


def dif(kind: str, data: bytes, bg: int, app_tag: int, ref_tag: int, remap: bool, index: int) -> bytes:
    """The tuple of block `index`; kind is t10 or csum."""
    tag = (ref_tag + (index if remap else 0)) % (1 << 32)
    return stored(kind, data, bg) + app_tag.to_bytes(2, "big") + tag.to_bytes(4, "big")


def frame(data: bytes, block: int, fields: Sequence[bytes]) -> bytes:
    stream = []
    for i, byte in enumerate(data):
        stream.append(byte)
        if (i + 1) % block == 0:
            stream.extend(fields[i // block])
    return bytes(stream)


def strip(stream: bytes, block: int, size: int) -> bytes:
    return bytes(byte for i, byte in enumerate(stream) if i % (block + size) < block)


def interleaved(repeat: int, entries: Sequence[tuple[bytes, int, int, int]]) -> bytes:
    """The virtual space of an interleaved layout; entries are (buffer, start, count, skip)."""
    places = [start for _, start, _, _ in entries]
    out = []
    for _ in range(repeat):
        for number, (buffer, _, count, skip) in enumerate(entries):
            for _ in range(count):
                out.append(buffer[places[number]])
                places[number] += 1
            places[number] += skip
    return bytes(out)
