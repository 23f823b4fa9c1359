"""UMRs as bytes, the way raw users write them: `python umr_scenarios.py NAME` under the preload.

Each function is one scenario, judged by its own assertions; test_umr.py runs each in a process of its own.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable

from raw_qp import (
    BSF,
    FREE,
    INLINE,
    KSM,
    LEN,
    LR,
    OFFSET,
    PAGE_SIZE,
    PD,
    PROTECTION,
    QP_OPERATION,
    RINVAL,
    RR,
    RawQP,
    crc32c,
    klm,
    mkc,
    padded,
)
from uverbs import refusal

USE = LEN | FREE
TEXT = bytes(range(256)) * 16
UNKNOWN = tuple(n for n in range(64) if n not in (0, 1, 6, 7, 8, 9, 12, 13, 14, 17, 18, 19, 20, 21, 23, 25, 29, 47))


def pointer() -> None:
    """Not inline: the pointer's first word is reserved, klm_octowords says how much is read."""
    nic = RawQP()
    nic.write(TEXT)
    nic.write(padded([nic.sge(100, 7), nic.sge(0, 9)]), 0x8000)
    for word in (0, 64, 4, 0xFFFFFFFF):
        key = nic.mkey(mkc(nic.pdn))
        after = klm(word, nic.lkey, nic.start + 0x8000) + bytes(48)
        nic.umr(key, USE, flags=0, length=16, octowords=4, after=after)
        assert nic.finish() == 0, word
        assert nic.through(key, 16) == TEXT[100:107] + TEXT[:9]


def pointer_to_a_long_list() -> None:
    """Seven hundred entries, more than any WQE holds; and a BSF after the list."""
    nic = RawQP()
    nic.write(TEXT)
    entries = [nic.sge(4 * n % 4096, 1) for n in range(700)]
    nic.write(padded(entries), 0x8000)
    key = nic.mkey(mkc(nic.pdn, room=704))
    nic.umr(key, USE, flags=0, length=700, octowords=700, after=klm(0, nic.lkey, nic.start + 0x8000))
    assert nic.finish() == 0
    assert nic.through(key, 700) == bytes(TEXT[4 * n % 4096] for n in range(700))
    signed = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
    nic.write(padded([nic.sge(0, 512)]) + crc32c_wire(), 0x8000)
    control = struct.pack(">B3xHHQ32x", 0, 4, 4, USE)
    context = struct.pack(">24xQ32x", 512)
    nic.post(0x25, control + context + klm(0, nic.lkey, nic.start + 0x8000), imm=signed)
    assert nic.finish() == 0
    assert nic.through(signed, 516) == TEXT[:512] + struct.pack("<I", crc32c(TEXT[:512]))


def pointer_refused() -> None:
    """No pointer, a key of nobody, memory outside of it: the QP says so and the key stays as it was."""
    for after, syndrome in ((b"", QP_OPERATION), (klm(0, 0xABCD00, 0), PROTECTION)):
        nic = RawQP()
        key = nic.mkey(mkc(nic.pdn))
        nic.umr(key, USE, flags=0, length=16, octowords=4, after=after)
        assert nic.finish() == syndrome
    nic = RawQP()
    key = nic.mkey(mkc(nic.pdn))
    nic.umr(key, USE, flags=0, length=16, octowords=4, after=klm(64, nic.lkey, nic.start + nic.size - 63))
    assert nic.finish() == PROTECTION


def crc32c_wire() -> bytes:
    """A BSF: CRC32C of blocks of 512 bytes, initial value all ones, in the wire domain; none in memory."""
    return struct.pack(">BBBBIII48x", 0x80, 0xF0, 1, 0, 0xFFFFFFFF, 0x42 << 24 | 1, 0)


def signature_of_nothing() -> None:
    """A signature with no type in either domain is not supported; it must not pass for a key without one."""
    for nothing in (struct.pack(">BBBBI56x", 0x80, 0xFF, 1, 0, 0xFFFFFFFF), bytes(64)):
        nic = RawQP()
        nic.write(TEXT)
        key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
        nic.umr(key, USE, padded([nic.sge(0, 512)]), nothing, length=512)
        assert nic.finish() == QP_OPERATION


def bsf_from_creation() -> None:
    """mkc.bsf_en is in force without a UMR that says so, and until one says otherwise."""
    nic = RawQP()
    nic.write(TEXT)
    field = struct.pack("<I", crc32c(TEXT[:512]))
    key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
    nic.umr(key, USE, padded([nic.sge(0, 512)]), crc32c_wire(), length=512)
    assert nic.finish() == 0
    assert nic.through(key, 516) == TEXT[:512] + field
    nic.umr(key, BSF)
    assert nic.finish() == 0
    assert nic.through(key, 512) == TEXT[:512]
    nic.umr(key, BSF, flags_pd=1 << 30)
    assert nic.finish() == 0
    assert nic.through(key, 516) == TEXT[:512] + field
    # Without bsf_en the same BSF waits for the mask bit.
    key = nic.mkey(mkc(nic.pdn, bsf_room=4))
    nic.umr(key, USE, padded([nic.sge(0, 512)]), crc32c_wire(), length=512)
    assert nic.finish() == 0
    assert nic.through(key, 512) == TEXT[:512]
    nic.umr(key, BSF, flags_pd=1 << 30)
    assert nic.finish() == 0
    assert nic.through(key, 516) == TEXT[:512] + field


def bsf_without_room() -> None:
    """A BSF that the key has no room for, or bsf_en of a key without any, is refused."""
    for room, bsf, mask in ((0, crc32c_wire(), USE), (3, crc32c_wire(), USE), (0, b"", BSF)):
        nic = RawQP()
        key = nic.mkey(mkc(nic.pdn, bsf_room=room))
        nic.umr(key, mask, padded([nic.sge(0, 512)]), bsf, length=512, flags_pd=1 << 30)
        assert nic.finish() == QP_OPERATION, room


def crypto_from_creation() -> None:
    """A crypto key as published programs make it: crypto_en and bsf_en at creation, then a UMR of len and free only."""
    nic = RawQP()
    nic.write(bytes(512) + TEXT, 0)
    dek = bytearray(272)
    struct.pack_into(">HHHH", dek, 0, 0xA00, 0, 0, 0x0C)
    dek[0x10 + 0x0B] = 3
    dek[0x1D:0x20] = nic.pdn.to_bytes(3, "big")
    dek[0x50:0x70] = bytes(range(32))
    number = struct.unpack_from(">I", nic.device.devx(bytes(dek))[1], 8)[0]
    key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4, crypto=True))
    bsf = struct.pack(">BBBBIB7x16sI4x8x16x", 0x81, 0, 0, 0, 512, 1, bytes(16), number)
    nic.umr(key, USE, padded([nic.sge(0, 512)]), bsf, length=512)
    assert nic.finish() == 0
    sent = nic.through(key, 512)
    assert isinstance(sent, bytes)
    assert sent != bytes(512)
    nic.write(sent, 4096)
    nic.write(b"\x55" * 512)
    nic.rdma_write(nic.sge(4096, 512), key, 0)
    assert nic.finish() == 0
    assert nic.read(512) == bytes(512)


def offset() -> None:
    """A translation offset writes entries there; what is before them and after them stays."""
    nic = RawQP()
    nic.write(TEXT)
    key = nic.mkey(mkc(nic.pdn))
    whole = [nic.sge(100 * n, 10) for n in range(12)]
    nic.configured(key, whole, 120)
    changed = padded([nic.sge(2000 + 100 * n, 10) for n in range(4)])
    nic.umr(key, 0, changed, flags=INLINE | OFFSET, offset=4)
    assert nic.finish() == 0
    expected = [*range(0, 400, 100), *range(2000, 2400, 100), *range(800, 1200, 100)]
    assert nic.through(key, 120) == b"".join(TEXT[at : at + 10] for at in expected)
    # After the end: more entries; and one not inline.
    nic.umr(key, LEN, changed, flags=INLINE | OFFSET, offset=12, length=160)
    assert nic.finish() == 0
    nic.write(padded([nic.sge(3000, 10)] * 4), 0x8000)
    nic.umr(key, 0, flags=OFFSET, offset=0, octowords=4, after=klm(0, nic.lkey, nic.start + 0x8000))
    assert nic.finish() == 0
    expected = [3000] * 4 + expected[4:] + [*range(2000, 2400, 100)]
    assert nic.through(key, 160) == b"".join(TEXT[at : at + 10] for at in expected)


def offset_in_a_repeat_block() -> None:
    """Entry 0 is the header of a repeat block, the next ones are strided entries; the header can be written alone."""
    nic = RawQP()
    nic.write(TEXT)
    key = nic.mkey(mkc(nic.pdn))

    def strided(at: int, stride: int, count: int) -> bytes:
        return struct.pack(">HHIQ", stride, count, nic.lkey, nic.start + at)

    def header(each: int, times: int, entries: int) -> bytes:
        return struct.pack(">IIIHH", each, 0x400, times, 0, entries)

    table = [header(8, 3, 2), strided(0, 16, 4), strided(1024, 32, 4)]
    nic.umr(key, USE, padded(table), length=24)
    assert nic.finish() == 0
    assert nic.through(key, 24) == b"".join(
        TEXT[16 * n : 16 * n + 4] + TEXT[1024 + 32 * n : 1028 + 32 * n] for n in range(3)
    )
    nic.umr(key, 0, strided(512, 8, 4), flags=INLINE | OFFSET, offset=2)
    assert nic.finish() == 0
    assert nic.through(key, 24) == b"".join(
        TEXT[16 * n : 16 * n + 4] + TEXT[512 + 8 * n : 516 + 8 * n] for n in range(3)
    )
    nic.umr(key, LEN, header(4, 5, 1), flags=INLINE | OFFSET, offset=0, length=20)
    assert nic.finish() == 0
    assert nic.through(key, 20) == b"".join(TEXT[16 * n : 16 * n + 4] for n in range(5))


def offset_beyond() -> None:
    """Entries after the key's room are refused, also where only the upper 32 bits of the offset say so."""
    for at in (13, 16, 0xFFFF, 1 << 16, 1 << 47, (1 << 48) - 4):
        nic = RawQP()
        key = nic.mkey(mkc(nic.pdn, room=16))
        nic.umr(key, LEN, padded([nic.sge(0, 1)]), flags=INLINE | OFFSET, offset=at)
        assert nic.finish() == QP_OPERATION, at


def masks() -> None:
    """PD, en_rinval and local_read are done; what asks for an order is taken; all else is refused."""
    nic = RawQP()
    nic.write(TEXT)
    key = nic.configured(nic.mkey(mkc(nic.pdn, access=0)), [nic.sge(0, 64)], 64)
    assert nic.through(key, 64) == TEXT[:64]
    # Local read, taken away and given again: the key as the source of a write.
    for access, expected in ((0, PROTECTION), (0x04, 0)):
        nic = RawQP()
        key = nic.configured(nic.mkey(mkc(nic.pdn)), [nic.sge(0, 64)], 64)
        nic.umr(key, LR, access=access)
        assert nic.finish() == 0
        nic.rdma_write(klm(64, key, 0), nic.lkey, nic.start + 4096)
        assert nic.finish() == expected
    # A key that another PD has is not a key of this QP's any more; the old PD is free of it, the new one is not.
    nic = RawQP()
    other, other_pdn = nic.device.pd()
    key = nic.configured(nic.mkey(mkc(nic.pdn)), [nic.sge(0, 64)], 64)
    nic.umr(key, PD, flags_pd=other_pdn)
    assert nic.finish() == 0
    assert isinstance(nic.through(key, 64), int)
    assert refusal(nic.device.destroy_pd, other) == "EBUSY"
    for bad in (0xFFFFFF, 0):
        nic = RawQP()
        key = nic.configured(nic.mkey(mkc(nic.pdn)), [nic.sge(0, 64)], 64)
        nic.umr(key, PD, flags_pd=bad)
        assert nic.finish() == QP_OPERATION
    nic = RawQP()
    nic.write(TEXT)
    key = nic.configured(nic.mkey(mkc(nic.pdn)), [nic.sge(0, 64)], 64)
    nic.umr(key, 1 << 23 | 1 << 25 | 1 << 47)
    assert nic.finish() == 0
    assert nic.through(key, 64) == TEXT[:64]


def unknown_masks() -> None:
    """A bit that no published header names changes nothing: refused, and the key is as it was."""
    for bit in (*UNKNOWN, 1):
        nic = RawQP()
        key = nic.mkey(mkc(nic.pdn))
        nic.umr(key, USE | 1 << bit, padded([nic.sge(0, 64)]), length=64)
        assert nic.finish() == QP_OPERATION, bit
        nic.device.close()


def invalidation() -> None:
    """en_rinval by UMR: only then a SEND_INVAL may invalidate the key."""
    for enabled in (False, True):
        nic = RawQP()
        key = nic.configured(nic.mkey(mkc(nic.pdn)), [nic.sge(0, 64)], 64)
        nic.umr(key, RINVAL, flags_pd=enabled << 24)
        assert nic.finish() == 0
        nic.receive(nic.sge(0x10000, 64))
        nic.post(0x01, nic.sge(0, 64), imm=key)
        assert (min(nic.finish(), nic.finish()) == 0) is enabled
        if enabled:
            assert isinstance(nic.through(key, 64), int)


def fixed_size() -> None:
    """KSM by UMR: entries of one size whose byte count is not looked at; the size itself can be changed."""
    nic = RawQP()
    nic.write(TEXT)
    key = nic.mkey(mkc(nic.pdn, mode=KSM, log_size=6))
    entries = padded([klm(7 * n, nic.lkey, nic.start + 512 * n) for n in range(3)])
    nic.umr(key, USE | LR | RR, entries, length=192, access=0x14)
    assert nic.finish() == 0
    assert nic.through(key, 192) == b"".join(TEXT[512 * n : 512 * n + 64] for n in range(3))
    nic.umr(key, PAGE_SIZE | LEN, length=96, log_page=5)
    assert nic.finish() == 0
    assert nic.through(key, 96) == b"".join(TEXT[512 * n : 512 * n + 32] for n in range(3))


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        pointer, pointer_to_a_long_list, pointer_refused, signature_of_nothing, bsf_from_creation,
        bsf_without_room, crypto_from_creation, offset, offset_in_a_repeat_block, offset_beyond, masks, unknown_masks,
        invalidation, fixed_size,
    )
}  # fmt: skip

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
