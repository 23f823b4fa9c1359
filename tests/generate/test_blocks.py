"""What the machine predicts, against values that others publish: no device, and no case of ours, is asked."""

from __future__ import annotations

import pytest

from mkeyspec.generate.blocks import USUAL, Report, frame_of, moved
from mkeyspec.generate.domain import Domain, Signature
from mkeyspec.generate.machine import Crypto, Key, Layout, Machine, Memory, Open, through

A5 = bytes([0xA5]) * 512
ODD = bytes([0x5A]) + A5[1:]
DIF = Domain("t10dif", 512, True, app=0x5678, ref=0xF0DEBC9A)
CRC = Domain("crc32", 512, False)


@pytest.mark.parametrize(
    ("domain", "block", "field"),
    [
        # Guards that hardware gave, and CRC-16/T10-DIF of the same blocks.
        (Domain("t10dif", 512, False), A5, "9ec6000000000000"),
        (DIF, A5, "ec7d5678f0debc9a"),
        (DIF, ODD, "99165678f0debc9a"),
        # RFC 1071's example sum, inverted.
        (Domain("t10dif", 512, False, csum=True), bytes.fromhex("0001f203f4f5f6f7") + bytes(504), "220d000000000000"),
        # Stored values that a device's own tests publish.
        (CRC, A5, "699aca21"),
        (CRC, ODD, "e33cb35a"),
        # Public programs for ConnectX-6 Dx; NVM Command Set 1.0c; what hardware gave for CRC64_XP10.
        (Domain("crc32c", 512, False), A5, "4207e6b4"),
        (Domain("crc32c", 512, True), b"a" * 512, "1fa6326f"),
        (Domain("crc32c", 4096, True), bytes(4096), "8941f998"),
        (Domain("crc64_xp10", 512, False), A5, "8c8adb450cce85aa"),
    ],
)
def test_fields_that_are_published(domain: Domain, block: bytes, field: str) -> None:
    assert frame_of(domain, block) == block + bytes.fromhex(field)


def test_a_report_that_is_published() -> None:
    """mlx5's own tests: stored 0xec7d against computed 0x9916; stored 0x969aca21 against 0x699aca21."""
    signature = Signature(Domain("t10dif", 512, True), None, 0xFF)
    assert moved(signature, ODD + bytes.fromhex("ec7d000000000000"), tx=True) == (
        ODD,
        Report("bad_guard", 0, bytes.fromhex("ec7d"), bytes.fromhex("9916")),
    )
    _, report = moved(Signature(CRC, None, 0xF0), A5 + bytes.fromhex("969aca21"), tx=True)
    assert report == Report("bad_guard", 0, bytes.fromhex("969aca21"), bytes.fromhex("699aca21"))


def test_the_copy_that_is_published() -> None:
    """Tag 0x5600 on the wire, 0x0078 in memory, 0x20 in the mask: 0x5678 arrives (a public program for ConnectX)."""
    wire, mem = Domain("t10dif", 512, False, app=0x5600, ref=9), Domain("t10dif", 512, False, app=0x0078, ref=9)
    out, report = moved(Signature(mem, wire, 0xCF, 0xEF), frame_of(wire, A5), tx=False)
    assert report is None
    assert out == A5 + bytes.fromhex("9ec6 5678 00000009")


@pytest.mark.parametrize(
    ("app", "ref", "flag", "told"),
    [
        ("ffff", "f0debc9a", "app_escape", False),
        ("fffe", "f0debc9a", "app_escape", True),
        ("ffff", "ffffffff", "app_ref_escape", False),
        ("ffff", "fffffffe", "app_ref_escape", True),
        ("ffff", "ffffffff", "", True),
    ],
)
def test_escapes(app: str, ref: str, flag: str, told: bool) -> None:
    domain = Domain("t10dif", 512, True, app=0x5678, ref=0xF0DEBC9A, flags=(flag,) * bool(flag))
    _, report = moved(Signature(domain, None, 0xC0), A5 + bytes.fromhex("0bad" + app + ref), tx=True)
    assert (report is not None) == told


def test_the_first_bad_block_is_told_with_its_own_tag() -> None:
    domain = Domain("t10dif", 512, False, ref=0x10, flags=("ref_remap",))
    stream = bytearray(frame_of(domain, A5 * 3))
    assert [stream[520 * i + 519] for i in range(3)] == [0x10, 0x11, 0x12]
    stream[520 + 519] ^= 0x80
    stream[1040 + 519] ^= 0x80
    _, report = moved(Signature(domain, None, 0xFF), bytes(stream), tx=True)
    assert report == Report("bad_reftag", 1, bytes.fromhex("00000091"), bytes.fromhex("00000011"))


def test_an_open_point_is_not_drawn() -> None:
    """The tags of an escaped block (X-OPEN-06), and a mask on one byte of a little-endian field (X-OPEN-12)."""
    escaped = Domain("t10dif", 512, True, app=0x5678, flags=("app_escape",))
    with pytest.raises(Open):
        through(Signature(escaped, None, 0xFF), None, A5 + bytes.fromhex("ec7dffff00000000"), tx=True)
    little = Domain("crc32c", 512, True)
    stream = bytearray(frame_of(little, A5))
    stream[512] ^= 1
    with pytest.raises(Open):
        through(Signature(little, None, 0x80), None, bytes(stream), tx=True)
    assert moved(Signature(little, None, 0x80), bytes(stream), tx=True, reading=USUAL)[1] is not None


def test_ciphertext_that_is_published() -> None:
    """IEEE 1619-2007, annex B, vector 1; and the way back."""
    crypto = Crypto("e", bytes(32), 0, 512, True, True)
    sealed = bytes.fromhex("917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e")
    assert through(None, crypto, bytes(32), tx=True) == (sealed, None)
    assert through(None, crypto, sealed, tx=False) == (bytes(32), None)


@pytest.mark.parametrize(("encrypt", "before"), [(True, True), (True, False), (False, True), (False, False)])
def test_received_is_the_inverse_of_sent(encrypt: bool, before: bool) -> None:
    """mlx5dv_wr_set_mkey_crypto(3): a key that sends what it holds gets the same back."""
    far = Domain("t10dif", 512, True)
    signature = Signature(None, far, 0xFF) if encrypt else Signature(far, None, 0xFF)
    crypto = Crypto("e", bytes(range(64)), 3, 520 if encrypt == before else 512, encrypt, before)
    held = A5 * 2 if encrypt else b""
    if not encrypt:
        held = through(signature, crypto, A5 * 2, tx=False)[0]
    out, report = through(signature, crypto, held, tx=True)
    assert report is None
    assert through(signature, crypto, out, tx=False) == (held, None)


def test_a_layout_through_another_key() -> None:
    """The walk of the pages' interleaved example, and a list over it."""
    machine = Machine()
    machine.memories = {
        "a": Memory("a", bytearray(range(200)) + bytearray(56)),
        "b": Memory("b", bytearray(range(100, 164))),
    }
    machine.keys["inner"] = Key("inner", layout=Layout((("a", 0, 8, 4), ("b", 0, 2, 0)), 2, True))
    outer = Layout((("inner", 9, 6, 0), ("a", 100, 1, 0)))
    assert machine.gathered(outer, 0, 7) == bytes([101, 12, 13, 14, 15, 16, 100])
    machine.scatter(outer, 0, b"ABCDEFG")
    assert bytes(machine.memories["a"].data[12:18]) == b"BCDEF\x11"
    assert machine.memories["b"].data[1] == ord("A")
    assert machine.memories["a"].data[100] == ord("G")
