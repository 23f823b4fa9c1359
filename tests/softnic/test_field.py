"""The field after a block: generated, checked under masks and escapes, copied.

Values by the bitwise judge and from the hardware's published error reports; the BSFs are laid out here by hand.
"""

from __future__ import annotations

import ctypes as c
import struct

import pytest

from tests.oracle import bitwise
from tests.softnic import pure

SELECTOR = {512: 1, 520: 2, 4096: 3, 4160: 4, 4048: 6}
BFS = {"crc32": 0x22, "crc32c": 0x42, "crc64_xp10": 0x52}
REF, APP, GUARD = 1 << 11, 1 << 12, 1 << 13
INC, APP_ESCAPE, APP_REF_ESCAPE = 0x40, 1, 2
SIZE = {"crc32": 4, "crc32c": 4, "crc64_xp10": 8, "t10": 8, "csum": 8}


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    pure.library()


def memory(kind: str, block: int = 512, ones: bool = False, app: int = 0, ref: int = 0, flags: int = 0) -> pure.Domain:
    """The memory domain of a BSF that has no other."""
    head = struct.pack(">BBBBII", 2 << 6, 0xFF, 0, SELECTOR[block], 0xFFFFFFFF, 0)
    if kind in BFS:
        part = head + struct.pack(">I", (BFS[kind] | (not ones)) << 24 | 7) + bytes(48)
    else:
        sort = {"t10": 1, "csum": 2}[kind]
        inline = struct.pack(">HHIBB3xBH", 0xC000, app, ref, sort, 0x80 | (8 if ones else 0), flags, 0xFFFF)
        part = head + struct.pack(">I", 7) + bytes(32) + inline
    decoded = pure.bsf(part)
    assert decoded is not None
    domain = decoded[0].domain[1]
    assert (domain.block, domain.field, domain.psv, domain.ones) == (block, SIZE[kind], 7, ones)
    assert decoded[0].domain[0].kind == 0
    return domain  # type: ignore[no-any-return]


def summed(domain: pure.Domain, data: bytes) -> pure.FieldSum:
    done = pure.FieldSum()
    pure.library().field_start(done, domain)
    for at in range(0, len(data), 100):
        pure.library().field_update(done, data[at : at + 100], len(data[at : at + 100]))
    return done


def generated(domain: pure.Domain, data: bytes, index: int = 0) -> bytes:
    field = c.create_string_buffer(8)
    pure.library().field_generate(summed(domain, data), domain, index, field)
    return field.raw[: domain.field]


def checked(domain: pure.Domain, data: bytes, field: bytes, mask: int = 0xFF, index: int = 0) -> tuple[int, int, int]:
    """(syndrome, expected, actual)"""
    expected, actual = c.c_uint64(), c.c_uint64()
    syndrome = pure.library().field_check(summed(domain, data), domain, index, mask, field, expected, actual)
    return syndrome, expected.value, actual.value


@pytest.mark.parametrize("block", sorted(SELECTOR))
@pytest.mark.parametrize("ones", [False, True], ids=["zeros", "ones"])
@pytest.mark.parametrize("kind", sorted(SIZE))
def test_generated(kind: str, ones: bool, block: int) -> None:
    data = bytes((3 * i + (i >> 8)) & 255 for i in range(block))
    if kind in BFS:
        domain = memory(kind, block, ones)
        expected = bitwise.stored(kind, data, (1 << 8 * SIZE[kind]) - 1 if ones else 0)
    else:
        domain = memory(kind, block, ones, app=0x5678, ref=0xFFFFFFFE, flags=INC)
        expected = bitwise.dif(kind, data, 0xFFFF if ones else 0, 0x5678, 0xFFFFFFFE, True, 3)
    assert generated(domain, data, 3) == expected
    assert checked(domain, data, expected, index=3) == (0, 0, 0)


A5 = b"\xa5" * 512
BAD = b"\x5a" + A5[1:]


def test_reports_of_t10dif_as_hardware_made_them() -> None:
    """signatures 1.6: actual is what was in the field, expected what was computed or configured."""
    domain = memory("t10", ones=True, app=0x5678, ref=0xF0DEBC9A)
    good = bytes.fromhex("ec7d5678f0debc9a")
    assert generated(domain, A5) == good
    assert checked(domain, BAD, good) == (GUARD, 0x99165678F0DEBC9A, 0xEC7D5678F0DEBC9A)
    assert checked(domain, A5, bytes.fromhex("ec7da978f0debc9a")) == (APP, 0xEC7D5678F0DEBC9A, 0xEC7DA978F0DEBC9A)
    assert checked(domain, A5, bytes.fromhex("ec7d56780fdebc9a")) == (REF, 0xEC7D5678F0DEBC9A, 0xEC7D56780FDEBC9A)


def test_report_of_crc32_as_hardware_made_it() -> None:
    domain = memory("crc32")
    assert checked(domain, A5, bytes.fromhex("969aca21")) == (GUARD, 0x699ACA21 << 32, 0x969ACA21 << 32)
    assert checked(domain, BAD, bytes.fromhex("699aca21")) == (GUARD, 0xE33CB35A << 32, 0x699ACA21 << 32)


def test_the_worst_part_is_told() -> None:
    """mlx5dv_mkey_check: guard before app tag before ref tag; under a mask only what it selects."""
    domain = memory("t10", app=1, ref=2)
    wrong = bytes(b ^ 0xFF for b in generated(domain, A5))
    assert [checked(domain, A5, wrong, mask)[0] for mask in (0xFF, 0x3F, 0x0F, 0x80, 0x10, 0x01, 0)] == [
        GUARD, APP, REF, GUARD, APP, REF, 0
    ]  # fmt: skip


@pytest.mark.parametrize("kind", sorted(SIZE))
def test_mask_bits_are_bytes_in_memory_order(kind: str) -> None:
    domain = memory(kind)
    good = generated(domain, A5)
    for i in range(len(good)):
        wrong = bytes(b ^ (i == j) for j, b in enumerate(good))
        assert [bit for bit in range(8) if checked(domain, A5, wrong, 1 << bit)[0]] == [7 - i]


ESCAPED = (
    # flags, app tag, ref tag, passes whatever the guard and the tags are
    (APP_ESCAPE, 0xFFFF, 0, True),
    (APP_ESCAPE, 0xFFFE, 0xFFFFFFFF, False),
    (APP_REF_ESCAPE, 0xFFFF, 0xFFFFFFFF, True),
    (APP_REF_ESCAPE, 0xFFFF, 0xFFFFFFFE, False),
    (APP_REF_ESCAPE, 0xFFFE, 0xFFFFFFFF, False),
    (0, 0xFFFF, 0xFFFFFFFF, False),
    (INC, 0xFFFF, 0xFFFFFFFF, False),
)


@pytest.mark.parametrize(("flags", "app", "ref", "passes"), ESCAPED)
def test_escapes(flags: int, app: int, ref: int, passes: bool) -> None:
    domain = memory("t10", app=0xFFF0, ref=0xF, flags=flags)
    assert (checked(domain, A5, struct.pack(">HHI", 0, app, ref))[0] == 0) is passes


def test_copied_bytes() -> None:
    to = c.create_string_buffer(b"abcdefgh", 8)
    pure.library().field_copy(0b10110001, 8, b"ABCDEFGH", to)
    assert to.raw == b"AbCDefgH"
    to = c.create_string_buffer(b"abcdefgh", 8)
    pure.library().field_copy(0xFF, 4, b"ABCDEFGH", to)
    assert to.raw == b"ABCDefgh"
