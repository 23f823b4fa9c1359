"""Each hypothesis on an expression is named for the bytes that it means, computed apart from the references."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import XTS

from mkeyspec.abi.constants import BgType, CrcType, T10difFlag
from mkeyspec.lookslike.plain import Scene
from mkeyspec.lookslike.search import Finding, Looked, bytes_look_like
from mkeyspec.value.bytestring import ByteString, Literal, Slice, counter, framed, join, random, strip, xts_encrypt
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.lookslike.bitwise import blocks, checksum, counting, crc, crc32, crc32c, t10, turned

ONES = (1 << 64) - 1
DATA = counting(3 * 512)
C32 = framed(counter(3 * 512), Domain(Crc(CrcType.CRC32, ONES), 512))
C32C = framed(counter(3 * 512), Domain(Crc(CrcType.CRC32C, ONES), 512))
C64 = framed(counter(3 * 512), Domain(Crc(CrcType.CRC64_XP10, ONES), 512))
DIF = framed(counter(3 * 512), Domain(T10Dif(BgType.CRC, 0, 0x1234, 0x00FF00FE, T10difFlag.REF_REMAP), 512))
FIXED = framed(counter(3 * 512), Domain(T10Dif(BgType.CRC, 0, 0x1234, 0x01020304), 512))
SUM = framed(counter(3 * 512), Domain(T10Dif(BgType.CSUM, 0, 0x1234, 0x01020304, T10difFlag.REF_REMAP), 512))
KEY = bytes(range(64))
XTS512 = xts_encrypt(counter(1536), Literal(KEY), 0x0102FF, 512)


def look(expected: ByteString, got: bytes, before: bytes | None = None) -> Finding:
    want = np.frombuffer(expected.data, np.uint8)
    assert len(got) == len(want)
    scene = Scene(
        want,
        np.frombuffer(got, np.uint8),
        np.ones(len(want), bool),
        None if before is None else np.frombuffer(before, np.uint8),
    )
    return bytes_look_like(Looked(scene, ((0, expected),)))


def each(field: Callable[[int, bytes], bytes]) -> bytes:
    """Blocks of 512 with the field of (number, block)."""
    return b"".join(block + field(k, block) for k, block in enumerate(blocks(DATA, 512)))


def dif(k: int, block: bytes, *, guard: bytes | None = None, app: int = 0x1234, ref: int | None = None) -> bytes:
    number = (0x00FF00FE + k if ref is None else ref) & 0xFFFFFFFF
    return (t10(block) if guard is None else guard) + app.to_bytes(2, "big") + number.to_bytes(4, "big")


def low64(data: bytes, poly: int = 0xAD93D23594C93659, xorout: int = ONES) -> bytes:
    return crc(data, 64, poly, ONES, xorout, refin=True, refout=True).to_bytes(8, "little")


def xts(data: bytes, tweak: int, key: bytes = KEY, order: str = "little") -> bytes:
    context = Cipher(AES(key), XTS(tweak.to_bytes(16, order))).encryptor()  # type: ignore[arg-type]
    return context.update(data) + context.finalize()


def units(tweak: Callable[[int], bytes]) -> bytes:
    out = []
    for k, unit in enumerate(blocks(DATA, 512)):
        context = Cipher(AES(KEY), XTS(tweak(k))).encryptor()
        out.append(context.update(unit) + context.finalize())
    return b"".join(out)


@dataclass(frozen=True)
class Row:
    name: str
    expected: ByteString
    got: bytes


ROWS = (
    Row("crc.inversion", C32C, each(lambda k, block: crc32c(block, xorout=0))),
    Row("crc.inversion", C32, each(lambda k, block: crc32(block, xorout=0))),
    Row("crc.inversion", C64, each(lambda k, block: low64(block, xorout=0))),
    Row("crc.seed_zeros", C32C, each(lambda k, block: crc32c(block, seed=0))),
    Row("crc.byte_order", C32, each(lambda k, block: crc32(block)[::-1])),
    Row("crc.type_crc32c", C32, each(lambda k, block: crc32c(block))),
    Row("crc.type_crc32", C32C, each(lambda k, block: crc32(block))),
    Row("crc.type_zlib", C32, each(lambda k, block: zlib.crc32(block).to_bytes(4, "little"))),
    Row("crc.type_zlib_big", C32, each(lambda k, block: zlib.crc32(block).to_bytes(4, "big"))),
    Row("crc.type_ecma", C64, each(lambda k, block: low64(block, 0x42F0E1EBA9EA3693))),
    Row("crc.seed_not_restarted", C32C, each(lambda k, block: crc32c(DATA[: 512 * (k + 1)]))),
    Row("crc.seed_not_restarted", C32, each(lambda k, block: crc32(DATA[: 512 * (k + 1)]))),
    Row("crc.reflection_in", C32, each(lambda k, block: crc(
        block, 32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, refin=True, refout=False).to_bytes(4, "big"))),
    Row("field.short", C32C, each(lambda k, block: crc32c(block[:-1]))),
    Row("field.late_start", C32, each(lambda k, block: crc32(block[1:]))),
    Row("field.late", C32C, each(lambda k, block: crc32c(DATA[512 * (k - 1) : 512 * k]) if k else bytes(4))),
    Row("field.first", C32C, each(lambda k, block: crc32c(DATA[:512]))),
    Row("field.zero", C32C, each(lambda k, block: bytes(4))),
    Row("frame.in_front", C32C, b"".join(crc32c(block) + block for block in blocks(DATA, 512))),
    Row("frame.at_the_end", C32C, DATA + b"".join(crc32c(block) for block in blocks(DATA, 512))),
    Row("guard.checksum", DIF, each(lambda k, block: dif(k, block, guard=checksum(block)))),
    Row("guard.crc", SUM, each(lambda k, block: dif(k, block, ref=0x01020304 + k))),
    Row("guard.inversion", SUM, each(
        lambda k, block: dif(k, block, guard=checksum(block, xorout=0), ref=0x01020304 + k))),
    Row("guard.byte_order", DIF, each(lambda k, block: dif(k, block, guard=t10(block)[::-1]))),
    Row("guard.seed_ones", DIF, each(lambda k, block: dif(k, block, guard=t10(block, 0xFFFF)))),
    Row("ref.not_incremented", DIF, each(lambda k, block: dif(k, block, ref=0x00FF00FE))),
    Row("ref.incremented", FIXED, each(lambda k, block: dif(k, block, ref=0x01020304 + k))),
    Row("ref.one_more", DIF, each(lambda k, block: dif(k, block, ref=0x00FF00FF + k))),
    Row("ref.byte_order", DIF, each(
        lambda k, block: dif(k, block)[:4] + (0x00FF00FE + k).to_bytes(4, "little"))),
    Row("ref.8_bits", DIF, each(lambda k, block: dif(k, block, ref=0x00FF0000 + (0xFE + k) % 256))),
    Row("ref.late", DIF, each(lambda k, block: dif(k, block, ref=0x00FF00FE + max(k - 1, 0)))),
    Row("app.zero", DIF, each(lambda k, block: dif(k, block, app=0))),
    Row("app.byte_order", DIF, each(lambda k, block: dif(k, block, app=0x3412))),
    Row("app.incremented", DIF, each(lambda k, block: dif(k, block, app=0x1234 + k))),
    Row("tags.order", DIF, each(lambda k, block: dif(k, block)[:2] + dif(k, block)[4:] + dif(k, block)[2:4])),
    Row("crypto.none", XTS512, DATA),
    Row("crypto.tweak_not_incremented", XTS512, units(lambda k: (0x0102FF).to_bytes(16, "little"))),
    Row("crypto.tweak_8_bits", XTS512, units(lambda k: (0x010200 + (0xFF + k) % 256).to_bytes(16, "little"))),
    Row("crypto.tweak_stored_big_endian", XTS512, units(lambda k: (0x0102FF + k).to_bytes(16, "big"))),
    Row("crypto.one_unit", XTS512, xts(DATA, 0x0102FF)),
    Row("crypto.keys_swapped", XTS512, b"".join(
        xts(unit, 0x0102FF + k, KEY[32:] + KEY[:32]) for k, unit in enumerate(blocks(DATA, 512)))),
    Row("crypto.first_unit_only", XTS512, xts(DATA[:512], 0x0102FF) + DATA[512:]),
    Row("crypto.tweak_zero", XTS512, units(lambda k: k.to_bytes(16, "little"))),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_near_miss_is_named(row: Row) -> None:
    found = look(row.expected, row.got)
    assert row.name in found.names, found.lines()


def test_one_alone_says_so() -> None:
    found = look(C32C, each(lambda k, block: crc32c(block, xorout=0)))
    assert found.lines() == (
        "the final inversion of the CRC is missing (reproduces all 3 blocks, and nothing else does)",
    )


def test_fields_in_one_block_alone_are_not_the_cause() -> None:
    """A near miss must reproduce every block, not one."""
    got = each(lambda k, block: crc32c(block, xorout=0 if k == 1 else 0xFFFFFFFF))
    found = look(C32C, got)
    assert found.causes == ()
    assert found.lines()[0].startswith("none of ")


def test_a_part_of_a_framed_stream() -> None:
    """The rules act inside slices, joins and what is stripped."""
    expected = join([Slice(C32C, 500, 40), counter(8)])
    got = each(lambda k, block: crc32c(block, xorout=0))[500:540] + counting(8)
    assert "crc.inversion" in look(expected, got).names


def test_fields_that_stay_in_the_stream() -> None:
    stream = join([C32C, counter(0)])
    expected = strip(Slice(join([stream, counter(516)]), 0, 3 * 516), Domain(Crc(CrcType.CRC32C, ONES), 512))
    assert expected.data == DATA
    assert "frame.not_stripped" in look(expected, C32C.data[: len(DATA)]).names


def test_turned_is_its_own_inverse() -> None:
    assert turned(turned(0x04C11DB7, 32), 32) == 0x04C11DB7


def test_what_is_not_a_near_miss() -> None:
    found = look(C32C, random(len(C32C), 7).data)
    assert found.names == ()
