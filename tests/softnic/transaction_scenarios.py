"""Transaction signatures: one field after all the data of a key, as storage programs use them for data digests.

BSF words 16 to 31 (bsf_size 1): a format selector and a PSV for each domain, and in the first word the bits init and
check/generate. `python transaction_scenarios.py NAME` under the preload.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable

from raw_qp import (
    BSF,
    FREE,
    LEN,
    PROTECTION,
    QP_OPERATION,
    SIGERR,
    Completion,
    RawQP,
    SignatureError,
    crc32c,
    klm,
    mkc,
    padded,
)
from uverbs import Device

WIRE_GEN, WIRE_INIT, MEM_GEN, MEM_INIT = 1 << 28, 1 << 29, 1 << 24, 1 << 25
CRC32, CRC32C, CRC64 = 0x20, 0x40, 0x50
TEXT = bytes(n * 7 + n // 256 & 0xFF for n in range(8192))
GUARD = 1 << 13


def bsf(
    size: int,
    bits: int,
    wire: int = 0,
    memory: int = 0,
    *,
    basic: bytes = bytes(2),
    mask: int = 0xFF,
    epilogue: int = 0,
    format_size: int = 1,
) -> bytes:
    return struct.pack(">BB2sIIIIIII32x", format_size << 6, mask, basic, size, 0, 0, bits, epilogue, wire, memory)


def psv(nic: RawQP, pdn: int | None = None) -> int:
    command = struct.pack(">HHHHB3s4x", 0x600, 0, 0, 0, 1 << 4, (nic.pdn if pdn is None else pdn).to_bytes(3, "big"))
    return int.from_bytes(nic.device.devx(command, 32)[1][0x11:0x14], "big")


def signed(nic: RawQP, entries: list[bytes], length: int, format_: bytes) -> int:
    """A key as published programs make and configure it: bsf_en at creation, then len, free and the error count."""
    key: int = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4, tag=0x42))
    nic.umr(key, LEN | FREE | SIGERR, padded(entries), format_, length=length, flags_pd=1 << 26)
    assert nic.finish() == 0
    return key


def field(data: bytes, register: int = 0xFFFFFFFF) -> bytes:
    return struct.pack("<I", crc32c(data, register))


def wire() -> None:
    """Generated after the data on the wire; a length of no special size, from two pieces of memory, both seeds."""
    for zero in (False, True):
        nic = RawQP()
        nic.write(TEXT)
        number = psv(nic)
        selector = (CRC32C | zero) << 24 | number
        format_ = bsf(1003, WIRE_INIT | WIRE_GEN, selector)
        key = signed(nic, [nic.sge(100, 1000), nic.sge(0, 3)], 1003, format_)
        data = TEXT[100:1100] + TEXT[:3]
        for _ in range(2):  # init: each message begins again
            assert nic.through(key, 1007) == data + field(data, 0 if zero else 0xFFFFFFFF)
        assert nic.through(key, 1003) == data


def published_values() -> None:
    """512 bytes of 0x01: the values of block signatures, which hardware has shown."""
    for selector, expected in ((CRC32 | 1, "15d286f7"), (CRC32, "f4832c45")):
        nic = RawQP()
        nic.write(b"\x01" * 512)
        key = signed(nic, [nic.sge(0, 512)], 512, bsf(512, WIRE_INIT | WIRE_GEN, selector << 24 | psv(nic)))
        assert nic.through(key, 516) == b"\x01" * 512 + bytes.fromhex(expected)
    nic = RawQP()
    nic.write(b"\xa5" * 512)
    key = signed(nic, [nic.sge(0, 512)], 512, bsf(512, WIRE_INIT | WIRE_GEN, (CRC64 | 1) << 24 | psv(nic)))
    assert nic.through(key, 520) == b"\xa5" * 512 + bytes.fromhex("8c8adb450cce85aa")


def continued() -> None:
    """One signature over three keys: the first begins it, the last writes it; also read alone, after the data."""
    for alone in (False, True):
        nic = RawQP()
        nic.write(TEXT)
        selector = CRC32C << 24 | psv(nic)
        keys = [
            signed(nic, [nic.sge(1000 * n, 1000)], 1000, bsf(1000, bits, selector))
            for n, bits in enumerate((WIRE_INIT, 0, WIRE_GEN))
        ]
        assert nic.through(keys[0], 1000) == TEXT[:1000]
        assert nic.through(keys[1], 1000) == TEXT[1000:2000]
        if alone:
            assert nic.through(keys[2], 1000) == TEXT[2000:3000]
            assert nic.through(keys[2], 4, 1000) == field(TEXT[:3000])
        else:
            assert nic.through(keys[2], 1004) == TEXT[2000:3000] + field(TEXT[:3000])


def set_psv() -> None:
    """Without init the value of SET_PSV is where the sum begins: 32 bits in the upper half."""
    nic = RawQP()
    nic.write(TEXT)
    number = psv(nic)
    key = signed(nic, [nic.sge(0, 1000)], 1000, bsf(1000, WIRE_GEN, CRC32C << 24 | number))
    for register in (0xFFFFFFFF, 0, 0x12345678):
        nic.post(0x20, struct.pack(">IHHQ", number, 0, 0, register << 32))
        assert nic.finish() == 0
        assert nic.through(key, 1004) == TEXT[:1000] + field(TEXT[:1000], register)


def checked_on_the_wire() -> None:
    """The field is taken off and compared; a wrong one is reported once, and the data is written all the same."""
    nic = RawQP()
    key = signed(nic, [nic.sge(0x8000, 1000)], 1000, bsf(1000, WIRE_INIT | WIRE_GEN, CRC32C << 24 | psv(nic)))
    good, bad = TEXT[:1000] + field(TEXT[:1000]), TEXT[1000:2000] + b"\1\2\3\4"
    nic.write(good + bad)
    nic.rdma_write(nic.sge(0, 1004), key, 0)
    assert nic.finish() == 0
    assert nic.read(1008, 0x8000) == TEXT[:1000] + bytes(8)
    nic.rdma_write(nic.sge(1004, 1004), key, 0)
    first, second = nic.poll(), nic.poll()
    error, done = (first, second) if isinstance(first, SignatureError) else (second, first)
    assert isinstance(done, Completion)
    assert done.syndrome == 0
    assert isinstance(error, SignatureError)
    assert (error.kind, error.domain, error.syndrome, error.key) == (1, 0, GUARD, key)
    assert error.offset == 1003
    assert error.actual >> 32 == 0x01020304
    assert error.expected >> 32 == int.from_bytes(field(TEXT[1000:2000]), "big")
    assert nic.read(1000, 0x8000) == TEXT[1000:2000]
    nic.rdma_write(nic.sge(1004, 1004), key, 0)
    assert nic.finish() == 0
    assert nic.silent()


def masked() -> None:
    """check_mask: what it leaves out is not compared, bit 7 is the first byte of the field."""
    for mask, told in ((0x00, False), (0x70, False), (0x80, True)):
        nic = RawQP()
        format_ = bsf(1000, WIRE_INIT | WIRE_GEN, CRC32C << 24 | psv(nic), mask=mask)
        key = signed(nic, [nic.sge(0x8000, 1000)], 1000, format_)
        wrong = bytearray(field(TEXT[:1000]))
        wrong[0] ^= 1
        nic.write(TEXT[:1000] + wrong)
        nic.rdma_write(nic.sge(0, 1004), key, 0)
        done = [nic.poll() for _ in range(1 + told)]
        assert any(isinstance(one, SignatureError) for one in done) is told
        assert nic.silent()


def memory() -> None:
    """The memory domain: the field is written after the data in memory, and checked when it is read from there."""
    nic = RawQP()
    format_ = bsf(1000, MEM_INIT | MEM_GEN, 0, CRC32C << 24 | psv(nic))
    key = signed(nic, [nic.sge(0x8000, 1004)], 1004, format_)
    nic.write(TEXT)
    nic.rdma_write(nic.sge(0, 1000), key, 0)
    assert nic.finish() == 0
    assert nic.read(1008, 0x8000) == TEXT[:1000] + field(TEXT[:1000]) + bytes(4)
    assert nic.through(key, 1000) == TEXT[:1000]
    assert nic.silent()
    nic.write(b"\xff", 0x8000)
    nic.rdma_read(nic.sge(0x20000, 1000), key, 0)
    done = [nic.poll(), nic.poll()]
    errors = [one for one in done if isinstance(one, SignatureError)]
    assert [(one.kind, one.domain, one.offset) for one in errors] == [(1, 1, 1003)]
    assert nic.read(1000, 0x20000) == b"\xff" + TEXT[1:1000]


def both() -> None:
    """A field in memory and another on the wire: the one is checked and taken off, the other made."""
    nic = RawQP()
    one, two = psv(nic), psv(nic)
    bits = WIRE_INIT | WIRE_GEN | MEM_INIT | MEM_GEN
    key = signed(nic, [nic.sge(0, 1004)], 1004, bsf(1000, bits, (CRC32C | 1) << 24 | one, CRC32C << 24 | two))
    nic.write(TEXT[:1000] + field(TEXT[:1000]))
    assert nic.through(key, 1004) == TEXT[:1000] + field(TEXT[:1000], 0)
    assert nic.silent()
    nic.write(TEXT[2000:3000] + field(TEXT[2000:3000], 0), 0x8000)
    nic.rdma_write(nic.sge(0x8000, 1004), key, 0)
    assert nic.finish() == 0
    assert nic.read(1004) == TEXT[2000:3000] + field(TEXT[2000:3000])
    assert nic.silent()


def local() -> None:
    """The key as the list of a write, in two pieces of data and one of the field."""
    nic = RawQP()
    nic.write(TEXT)
    key = signed(nic, [nic.sge(0, 1000)], 1000, bsf(1000, WIRE_INIT | WIRE_GEN, CRC32C << 24 | psv(nic)))
    nic.rdma_write(klm(600, key, 0) + klm(400, key, 600) + klm(4, key, 1000), nic.lkey, nic.start + 0x8000)
    assert nic.finish() == 0
    assert nic.read(1004, 0x8000) == TEXT[:1000] + field(TEXT[:1000])


def outside() -> None:
    """Half a field, or bytes after it, are out of the key's range."""
    for start, length in ((0, 1002), (0, 1005), (1001, 3), (1000, 3), (1004, 1)):
        nic = RawQP()
        key = signed(nic, [nic.sge(0, 1000)], 1000, bsf(1000, WIRE_INIT | WIRE_GEN, CRC32C << 24 | psv(nic)))
        nic.rdma_write(klm(length, key, start), nic.lkey, nic.start + 0x8000)
        assert nic.finish() == PROTECTION, (start, length)


def switched_off() -> None:
    """Without bsf_en the data passes as it is."""
    nic = RawQP()
    nic.write(TEXT)
    key = signed(nic, [nic.sge(0, 1000)], 1000, bsf(1000, WIRE_INIT | WIRE_GEN, CRC32C << 24 | psv(nic)))
    nic.umr(key, BSF)
    assert nic.finish() == 0
    nic.rdma_write(klm(1004, key, 0), nic.lkey, nic.start + 0x8000)
    assert nic.finish() == PROTECTION


def refused() -> None:
    """What is not done is refused with the UMR, and never passes unsigned."""
    device = Device()
    for name in (
        "prologue", "epilogue", "selector", "repeat", "bits", "no selector", "no size", "block", "no psv",
        "foreign psv",
    ):  # fmt: skip
        nic = RawQP(device=device)
        number, bits, size, epilogue = psv(nic), WIRE_INIT | WIRE_GEN, 1000, 0
        selector = CRC32C << 24
        if name == "prologue":
            bits |= 8
        elif name == "epilogue":
            epilogue = 8
        elif name == "selector":
            selector = 0x60 << 24
        elif name == "repeat":
            selector |= 2 << 24
        elif name == "bits":
            bits |= 1 << 30
        elif name == "no selector":
            selector = 0
        elif name == "no size":
            size = 0xFFFFFFFF
        elif name == "no psv":
            number = 0xABCDEF
        elif name == "foreign psv":
            number = psv(nic, nic.device.pd()[1])
        format_ = bytearray(bsf(size, bits, selector | number, epilogue=epilogue))
        if name == "block":
            format_[2] = 1
            format_[8] = CRC32C
        key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
        nic.umr(key, LEN | FREE, padded([nic.sge(0, 1000)]), bytes(format_), length=1000)
        assert nic.finish() == QP_OPERATION, name


def without_crc32c() -> None:
    """A device that has no CRC32C has none here either."""
    nic = RawQP()
    key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
    format_ = bsf(1000, WIRE_INIT | WIRE_GEN, CRC32C << 24 | psv(nic))
    nic.umr(key, LEN | FREE, padded([nic.sge(0, 1000)]), format_, length=1000)
    assert nic.finish() == QP_OPERATION


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        wire, published_values, continued, set_psv, checked_on_the_wire, masked, memory, both, local, outside,
        switched_off, refused, without_crc32c,
    )
}  # fmt: skip

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
