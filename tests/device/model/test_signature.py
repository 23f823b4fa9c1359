"""Signatures through the model: published values, errors as devices reported them, mlx5dv_wr_set_mkey_sig_block(3)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mkeyspec.abi.constants import MkeyError
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Configure, Send, SetAccess, Sge, SignatureError
from tests.device.model.fixtures import (
    FIELD,
    INDIRECT,
    ONES,
    RX,
    TX,
    Bench,
    counter,
    crc,
    domain,
    layout,
    signature,
    t10,
    turns,
)
from tests.oracle import bitwise

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

A5 = b"\xa5" * 512
GUARD, REF, APP = int(MkeyError.BAD_GUARD), int(MkeyError.BAD_REFTAG), int(MkeyError.BAD_APPTAG)
PROBE = tomllib.loads((Path(__file__).parents[2] / "reference" / "probe.toml").read_text())


def probe_rows() -> list[object]:
    rows: list[object] = []
    for block in PROBE["block"]:
        data = b"".join(
            bytes([piece["byte"]]) * piece["count"] if "byte" in piece else bytes(i & 255 for i in range(piece["up"]))
            for piece in block["input"]
        )
        for i, kind in enumerate(PROBE["columns"]):
            for seed in ("zeros", "ones"):
                rows.append(
                    pytest.param(
                        kind, seed, data, bytes.fromhex(block[seed][i]), id=f"{kind}-{seed}-{len(data)}-{data[1]}"
                    )
                )
    return rows


def fields(kind: str, seed: int, data: bytes, block: int) -> list[bytes]:
    if kind in ("t10", "csum"):
        return [
            bitwise.dif(kind, data[i : i + block], seed, 0x5678, 0xF0DEBC9A, True, i // block)
            for i in range(0, len(data), block)
        ]
    return [bitwise.stored(kind, data[i : i + block], seed) for i in range(0, len(data), block)]


def framed(kind: str, seed: int, data: bytes, block: int = 512) -> bytes:
    return bitwise.frame(data, block, fields(kind, seed, data, block))


def flipped(data: bytes, at: int, bit: int = 0) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return bytes(changed)


@pytest.mark.parametrize(("kind", "seed", "data", "stored"), probe_rows())
def test_the_published_field_stands_after_the_block(kind: str, seed: str, data: bytes, stored: bytes) -> None:
    bench = Bench()
    tags = b"" if len(stored) > 2 else b"\x56\x78\xf0\xde\xbc\x9a"
    mem = bench.memory(data)
    dom = domain(kind, ONES[kind] if seed == "ones" else 0, len(data))
    mkey = bench.over(mem, sig=signature(wire=dom))
    assert bench.transmit(mkey.lkey, len(data) + len(stored + tags)) == ("success", data + stored + tags)
    assert bench.check(mkey) is None


CELLS = [
    ("crc32", 0, 512),
    ("crc32c", ONES["crc32c"], 520),
    ("crc64_xp10", 0, 4048),
    ("t10", 0xFFFF, 4096),
    ("csum", 0, 4160),
]


@pytest.mark.parametrize(("kind", "seed", "block"), CELLS)
@pytest.mark.parametrize("by", TX + RX)
@pytest.mark.parametrize("sides", ["mem", "wire", "both"])
def test_generate_strip_and_pass_in_both_directions(kind: str, seed: int, block: int, by: str, sides: str) -> None:
    bench = Bench()
    data = counter(2 * block)
    signed = framed(kind, seed, data, block)
    dom = domain(kind, seed, block)
    inside, outside = (signed if sides != "wire" else data), (signed if sides != "mem" else data)
    sig = signature(dom if sides != "wire" else None, dom if sides != "mem" else None)
    mem = bench.memory(inside if by in TX else len(inside), misaligned=3)
    mkey = bench.over(mem, sig=sig)
    if by in TX:
        assert bench.transmit(mkey.lkey, len(outside), by) == ("success", outside)
    else:
        assert bench.receive(mkey.lkey, outside, by) == "success"
        assert bench.bytes_of(mem) == inside
    assert bench.check(mkey) is None


@pytest.mark.parametrize(("kind", "seed", "block"), CELLS)
@pytest.mark.parametrize("by", TX + RX)
def test_a_bad_block_is_reported_and_the_data_goes_through(kind: str, seed: int, block: int, by: str) -> None:
    """Only the input domain is checked; the offset is the block's last byte (hardware, Errors 1, 3, 5)."""
    bench = Bench()
    data = counter(3 * block)
    signed = flipped(framed(kind, seed, data, block), block + FIELD[kind])
    got = signed[block + FIELD[kind] : 2 * block + FIELD[kind]]
    dom = domain(kind, seed, block)
    mem = bench.memory(signed if by in TX else len(data))
    mkey = bench.over(mem, sig=signature(mem=dom) if by in TX else signature(wire=dom))
    if by in TX:
        status, wire = bench.transmit(mkey.lkey, len(data), by)
        assert wire == data[:block] + got + data[2 * block :]
    else:
        status = bench.receive(mkey.lkey, signed, by)
        assert bench.bytes_of(mem) == data[:block] + got + data[2 * block :]
    assert status == "success"
    error = bench.check(mkey)
    assert error is not None
    guard = 2 if kind in ("t10", "csum") else FIELD[kind]
    field = bitwise.stored(kind, data[block : 2 * block], seed)
    computed = bitwise.stored(kind, got, seed)
    assert error == SignatureError(
        GUARD,
        int.from_bytes(field[:guard], "big"),
        int.from_bytes(computed[:guard], "big"),
        2 * (block + FIELD[kind]) - 1,
    )
    assert bench.check(mkey) is None


DIF = t10(0xFFFF, 0x5678, 0xF0DEBC9A)
TUPLE = bytes.fromhex("ec7d5678f0debc9a")
HARDWARE = [
    ("data", DIF, b"\x5a" + A5[1:] + TUPLE, SignatureError(GUARD, 0xEC7D, 0x9916, 519)),
    ("app", DIF, A5 + bytes.fromhex("ec7da978f0debc9a"), SignatureError(APP, 0xA978, 0x5678, 519)),
    ("ref", DIF, A5 + bytes.fromhex("ec7d56780fdebc9a"), SignatureError(REF, 0x0FDEBC9A, 0xF0DEBC9A, 519)),
    ("crc32", crc("crc32"), A5 + bytes.fromhex("969aca21"), SignatureError(GUARD, 0x969ACA21, 0x699ACA21, 515)),
    (
        "crc32 data",
        crc("crc32"),
        b"\x5a" + A5[1:] + bytes.fromhex("699aca21"),
        SignatureError(GUARD, 0x699ACA21, 0xE33CB35A, 515),
    ),
]
"""Error reports that tests of the API's author assert of it (ibverbs-tests dv_sig_api_devel, sig.cc 828 to 918)."""


@pytest.mark.parametrize(("dom", "stream", "expected"), [row[1:] for row in HARDWARE], ids=[row[0] for row in HARDWARE])
def test_errors_as_hardware_reported_them(dom: object, stream: bytes, expected: SignatureError) -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(stream), sig=signature(mem=dom))  # type: ignore[arg-type]
    assert bench.transmit(mkey.lkey, 512) == ("success", stream[:512])
    assert bench.check(mkey) == expected


def test_parts_of_the_app_tag_are_copied_generated_and_checked_as_on_hardware() -> None:
    """sig.cc 320-331: check GUARD|REF and copy GUARD|REF|0x20 make 0x56 of the wire and 0x78 of memory 0x5678."""
    bench = Bench()
    mem = bench.memory(520)
    mkey = bench.over(mem, sig=signature(t10(0xFFFF, 0x0078, 1), t10(0xFFFF, 0, 1), check=0xCF, copy=0xEF))
    assert bench.receive(mkey.lkey, A5 + bytes.fromhex("ec7d560000000001")) == "success"
    assert bench.bytes_of(mem) == A5 + bytes.fromhex("ec7d567800000001")
    assert bench.check(mkey) is None


MASKED = [("t10", t10(0xFFFF, 0x5678, 0xF0DEBC9A), TUPLE), ("crc32", crc("crc32"), bytes.fromhex("699aca21")),
          ("crc64", crc("crc64_xp10"), bytes.fromhex("8c8adb450cce85aa"))]  # fmt: skip


@pytest.mark.parametrize(("dom", "field"), [row[1:] for row in MASKED], ids=[row[0] for row in MASKED])
def test_a_mask_bit_checks_its_byte_and_no_other(dom: object, field: bytes) -> None:
    """MSK-04 to MSK-06: bit 7 is the field's first byte; bits without a byte are ignored (MSK-03)."""
    for bad in range(len(field)):
        for bit in range(8):
            bench = Bench()
            mem = bench.memory(A5 + flipped(field, bad))
            mkey = bench.over(mem, sig=signature(mem=dom, check=0x80 >> bit))  # type: ignore[arg-type]
            bench.transmit(mkey.lkey, 512)
            error = bench.check(mkey)
            assert (error is not None) == (bad == bit)
            if error is not None and len(field) == 8 and field == TUPLE:
                assert error.type == (GUARD if bad < 2 else APP if bad < 4 else REF)


@pytest.mark.parametrize("mask", [0, 0x0F])
def test_no_relevant_bit_checks_nothing(mask: int) -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(A5 + b"junk"), sig=signature(mem=crc("crc32"), check=mask))
    bench.transmit(mkey.lkey, 512)
    assert bench.check(mkey) is None


APP_ESCAPE, APP_REF_ESCAPE = 2, 4
ESCAPES = [
    # flags, tuple, error: sig.cc 598-651 and the near misses of DIF-14 and DIF-15
    (APP_ESCAPE, "0000ffff00000000", None),
    (APP_ESCAPE, "0000fffe00000000", GUARD),
    (0, "0000ffff00000000", GUARD),
    (APP_REF_ESCAPE, "0000ffffffffffff", None),
    (APP_REF_ESCAPE, "0000ffff0000000f", GUARD),
    (APP_REF_ESCAPE, "0000fff0ffffffff", GUARD),
    (APP_ESCAPE | APP_REF_ESCAPE, "0000ffff0000000f", GUARD),
]


@pytest.mark.parametrize(("flags", "field", "error"), ESCAPES)
def test_escapes(flags: int, field: str, error: int | None) -> None:
    bench = Bench()
    mem = bench.memory(A5 + bytes.fromhex(field))
    mkey = bench.over(mem, sig=signature(mem=t10(0, 0xFFF0, 0xF, flags)))
    bench.transmit(mkey.lkey, 512)
    found = bench.check(mkey)
    assert (found.type if found else None) == error


def test_ref_tags_grow_wrap_and_start_anew_with_each_message() -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(A5 * 2), sig=signature(wire=t10(0, 1, 0xFFFFFFFF, 1)))
    expected = A5 + bytes.fromhex("9ec60001ffffffff") + A5 + bytes.fromhex("9ec6000100000000")
    for _ in range(2):
        assert bench.transmit(mkey.lkey, 1040) == ("success", expected)
    # From the second block on: the first block of a message carries ref_tag (DIF-03).
    assert bench.transmit(mkey.lkey, 520, start=520) == ("success", expected[:520])


def test_ref_tags_without_remap_stay() -> None:
    """DIF-13."""
    bench = Bench()
    mkey = bench.over(bench.memory(A5 * 3), sig=signature(wire=t10(0, 1, 7)))
    assert bench.transmit(mkey.lkey, 1560)[1] == (A5 + bytes.fromhex("9ec6000100000007")) * 3


def test_uses_from_a_block_on_and_from_inside_one() -> None:
    """Offsets count wire bytes (HW-12); from inside a block is refused here (X-OPEN-02)."""
    data = counter(1024)
    for mem, wire, start, sent in (
        (crc("crc32"), None, 512, data[512:]),
        (None, crc("crc32"), 516, framed("crc32", 0, data)[516:]),
        (crc("crc32"), crc("crc32"), 516, framed("crc32", 0, data)[516:]),
    ):
        bench = Bench()
        mkey = bench.over(bench.memory(framed("crc32", 0, data) if mem else data), sig=signature(mem, wire))
        assert bench.transmit(mkey.lkey, len(sent), start=start) == ("success", sent)
        assert bench.check(mkey) is None
        assert bench.transmit(mkey.lkey, 8, start=start + 4) == ("loc_prot_err", b"\xee" * 8)


def test_ref_tags_go_on_over_the_sges_of_a_message() -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(A5 * 2), sig=signature(wire=t10(0, 1, 7, 1)))
    wire = bench.memory(1040, peer=True)
    bench.device.post_recv(bench.pair.peer, 1, (Sge(wire.addr, 1040, wire.lkey),))
    bench.post(Send(1, 2, (Sge(0, 520, mkey.lkey), Sge(520, 520, mkey.lkey))))
    assert bench.bytes_of(wire)[-4:] == b"\0\0\0\x08"


# Copied or generated ------------------------------------------------------------------------------


def both_ways(mem: object, wire: object, field: str, check: int = 0, copy: int | None = None) -> str:
    """The field that leaves for one that is in memory."""
    bench = Bench()
    stored = bytes.fromhex(field)
    mkey = bench.over(bench.memory(A5 + stored), sig=signature(mem, wire, check, copy))  # type: ignore[arg-type]
    status, sent = bench.transmit(mkey.lkey, 512 + (4 if wire in CRC4 else 8))
    assert (status, sent[:512]) == ("success", A5)
    return sent[512:].hex()


CRC4 = (crc("crc32"), crc("crc32c"), crc("crc32", 0xFFFFFFFF))
SAME = t10(0xFFFF, 0x1234, 0x55667788)
BOGUS = "aabbccddeeff0011"
COPIES = [
    ("same type: copied", SAME, SAME, BOGUS, None, BOGUS),
    ("same CRC: copied", crc("crc32"), crc("crc32"), "aabbccdd", None, "aabbccdd"),
    ("same CRC, other seed: generated", crc("crc32"), crc("crc32", 0xFFFFFFFF), "aabbccdd", None, "88cb6093"),
    ("other CRC: generated", crc("crc32"), crc("crc32c"), "aabbccdd", None, "4207e6b4"),
    ("other seed: guard generated", t10(0, 0x1234, 0x55667788), SAME, BOGUS, None, "ec7d" + BOGUS[4:]),
    ("other guard: guard generated", t10(0xFFFF, 0x1234, 0x55667788, bg_type=1), SAME, BOGUS, None, "ec7d" + BOGUS[4:]),
    ("other app tag: generated", t10(0xFFFF, 0x1235, 0x55667788), SAME, BOGUS, None, "aabb1234eeff0011"),
    ("other ref tag: generated", t10(0xFFFF, 0x1234, 0x55667789), SAME, BOGUS, None, "aabbccdd55667788"),
    ("copy_mask 0: all generated", SAME, SAME, BOGUS, 0, "ec7d123455667788"),
    ("copy_mask of a byte", SAME, SAME, BOGUS, 0x20, "ec7dcc3455667788"),
    ("copy_mask over different tags", t10(0, 1, 2), SAME, BOGUS, 0xFF, BOGUS),
    ("copy_mask beyond the field", crc("crc32"), crc("crc32"), "aabbccdd", 0x0F, "699aca21"),
]


@pytest.mark.parametrize(
    ("mem", "wire", "field", "copy", "sent"), [row[1:] for row in COPIES], ids=[row[0] for row in COPIES]
)
def test_copied_or_generated(mem: object, wire: object, field: str, copy: int | None, sent: str) -> None:
    assert both_ways(mem, wire, field, 0, copy) == sent


def test_other_block_sizes_are_framed_anew() -> None:
    bench = Bench()
    data = counter(4096)
    mkey = bench.over(bench.memory(framed("crc32", 0, data)), sig=signature(crc("crc32"), domain("t10", 0, 4096)))
    assert bench.transmit(mkey.lkey, 4104) == ("success", framed("t10", 0, data, 4096))


def test_unknown_app_tags_are_carried_through() -> None:
    """MSK-19: unchecked and copied; the guard is still validated."""
    bench = Bench()
    mem = bench.memory(A5 + bytes.fromhex("9ec6beef00000001"))
    mkey = bench.over(mem, sig=signature(t10(0, 0, 1), t10(0, 0, 1), 0xCF, 0xFF))
    assert bench.transmit(mkey.lkey, 520)[1][512:].hex() == "9ec6beef00000001"
    assert bench.check(mkey) is None


# Lengths and layouts ------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "mem_bytes"), [(700, 704), (511, 511), (1024, 1032)])
def test_a_partial_last_block_passes_unsigned(length: int, mem_bytes: int) -> None:
    bench = Bench()
    data = counter(length)
    fields_of = fields("crc32", 0, data[: length // 512 * 512], 512)
    mem = bench.memory(1100)
    mkey = bench.over(mem, sig=signature(mem=crc("crc32")))
    assert bench.receive(mkey.lkey, data) == "success"
    assert bench.bytes_of(mem) == bitwise.frame(data, 512, fields_of) + b"\xee" * (1100 - mem_bytes)
    assert bench.transmit(mkey.lkey, length) == ("success", data)
    assert bench.check(mkey) is None


@pytest.mark.parametrize("length", [516 + 100, 512, 514])
def test_a_wire_that_ends_before_its_field(length: int) -> None:
    bench = Bench()
    data = counter(1024)
    signed = framed("crc32", 0, data)
    mem = bench.memory(data)
    mkey = bench.over(mem, sig=signature(wire=crc("crc32")))
    assert bench.transmit(mkey.lkey, length) == ("success", signed[:length])
    assert bench.receive(mkey.lkey, flipped(signed[:length], length - 1)) == "success"
    assert (bench.check(mkey) is None) == (length != 516 + 512)
    got = bitwise.strip(flipped(signed[:length], length - 1), 512, 4)
    assert bench.bytes_of(mem)[: len(got)] == got


def test_the_signature_is_of_the_virtual_space_whatever_the_layout() -> None:
    """SIG-06, SIG-28: fields in a buffer of their own, and blocks that straddle entries."""
    data = counter(1024)
    bench = Bench()
    blocks, pi = bench.memory(1024), bench.memory(16)
    mkey = bench.mkey()
    setters = (SetAccess(15), turns(2, (blocks, 0, 512, 0), (pi, 0, 8, 0)), signature(mem=domain("t10", 0)))
    assert bench.configure(mkey, *setters) == 0
    assert bench.receive(mkey.lkey, data) == "success"
    assert bench.bytes_of(blocks) == data
    assert bench.bytes_of(pi) == b"".join(fields("t10", 0, data, 512))
    parts = [bench.memory(n) for n in (300, 215, 1, 524)]
    split = bench.over(*parts, sig=signature(mem=domain("t10", 0)))
    assert bench.receive(split.lkey, data, "peer_write") == "success"
    assert b"".join(map(bench.bytes_of, parts)) == framed("t10", 0, data)


def test_only_the_top_mkey_signs() -> None:
    """HW-14: an entry's signature is not applied, one on top of an indirect mkey is."""
    bench = Bench()
    mem = bench.memory(A5)
    inner = bench.over(mem, sig=signature(wire=crc("crc32")))
    assert bench.transmit(inner.lkey, 516)[1] == A5 + bytes.fromhex("699aca21")
    for sig, sent in ((None, A5), (signature(wire=crc("crc32c")), A5 + bytes.fromhex("4207e6b4"))):
        outer = bench.mkey()
        entry = layout(mem).sges[0]
        chosen = type(layout(mem))((Sge(0, entry.length, inner.lkey),))
        assert bench.configure(outer, SetAccess(15), chosen, *([sig] if sig else [])) == 0
        assert bench.transmit(outer.lkey, len(sent)) == ("success", sent)


def test_a_message_of_plain_and_signed_sges() -> None:
    bench = Bench()
    plain = bench.memory(b"header--")
    mkey = bench.over(bench.memory(A5), sig=signature(wire=crc("crc32")))
    wire = bench.memory(524, peer=True)
    header = Sge(plain.addr, 8, plain.lkey)
    for sges, sent in (
        ((header, Sge(0, 516, mkey.lkey)), b"header--" + A5 + bytes.fromhex("699aca21")),
        ((Sge(0, 512, mkey.lkey), header), A5 + b"header--"),
    ):
        bench.device.post_recv(bench.pair.peer, 1, (Sge(wire.addr, 524, wire.lkey),))
        bench.post(Send(1, 2, sges))
        assert bench.bytes_of(wire)[: len(sent)] == sent


# When errors are reported -----------------------------------------------------------------------------


def test_the_passive_side_learns_of_its_error_by_polling() -> None:
    """hardware, Errors 4: no completion there, the poll gives nothing, and then mkey_check tells."""
    bench = Bench()
    mkey = bench.over(bench.memory(512), sig=signature(wire=crc("crc32")))
    from mkeyspec.device.protocol import Write

    source = bench.memory(A5 + b"junk", peer=True)
    write = Write(4, 2, (Sge(source.addr, 516, source.lkey),), 0, mkey.rkey)
    assert bench.device.post(bench.pair.peer, [write]) == 0
    assert [c.status for c in bench.device.poll(bench.pair.peer)] == ["success"]
    assert bench.check(mkey) is None
    assert bench.device.poll(bench.pair.owner) == []
    assert bench.check(mkey) == SignatureError(GUARD, 0x6A756E6B, 0x699ACA21, 515)


def test_one_report_an_arming() -> None:
    """HW-06; XCHK-04: the first bad block, and the first error until it is read."""
    bench = Bench()
    mem = bench.memory(A5 + bytes.fromhex("699aca21") + A5 + b"one." + A5 + b"two.")
    mkey = bench.over(mem, sig=signature(mem=crc("crc32")))
    bench.transmit(mkey.lkey, 1536)
    bench.transmit(mkey.lkey, 1536)
    error = bench.check(mkey)
    assert error is not None
    assert (error.offset, error.actual_value) == (1031, int.from_bytes(b"one.", "big"))
    assert bench.check(mkey) is None
    bench.transmit(mkey.lkey, 1536)
    assert bench.check(mkey) is None, "not armed"
    assert bench.configure(mkey) == 0
    bench.transmit(mkey.lkey, 1536)
    assert bench.check(mkey) == error


def test_several_bad_parts_tell_the_first_by_priority() -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(A5 + bytes(8)), sig=signature(mem=DIF))
    bench.transmit(mkey.lkey, 512)
    error = bench.check(mkey)
    assert error is not None
    assert error.type == GUARD


# Kept, replaced, reset ----------------------------------------------------------------------------


def test_attributes_are_kept_replaced_and_reset() -> None:
    """CFG-20, CFG-21, SIG-04, SIG-27."""
    bench = Bench()
    one, two = bench.memory(A5), bench.memory(b"\x01" * 512)
    mkey = bench.over(one, sig=signature(wire=crc("crc32")))
    assert bench.configure(mkey, layout(two)) == 0
    assert bench.transmit(mkey.lkey, 516)[1][512:].hex() == "15d286f7"
    assert bench.configure(mkey, signature(wire=crc("crc32c"))) == 0
    assert bench.transmit(mkey.lkey, 516)[1][512:].hex() == "8aa33830"
    assert bench.configure(mkey, reset=True) == 0
    assert bench.transmit(mkey.lkey, 512) == ("success", b"\x01" * 512)
    assert bench.configure(mkey, signature(wire=crc("crc32")), reset=True) == 0
    assert bench.transmit(mkey.lkey, 516)[1][512:].hex() == "15d286f7"


def test_reset_leaves_the_fields_as_plain_bytes() -> None:
    """CFG-20: raw memory on the wire, nothing checked."""
    bench = Bench()
    mkey = bench.over(bench.memory(A5 + b"junk"), sig=signature(mem=crc("crc32")))
    assert bench.configure(mkey, reset=True) == 0
    assert bench.transmit(mkey.lkey, 516) == ("success", A5 + b"junk")
    assert bench.check(mkey) is None


def test_an_aborted_mkey_is_unusable_until_reset() -> None:
    bench = Bench()
    mem = bench.memory(A5)
    mkey = bench.mkey()
    opened = Configure(1, 10, mkey, 3, (SetAccess(15), layout(mem), signature(wire=crc("crc32"))))
    assert bench.post(opened, abort=True) == 0
    assert bench.configure(mkey, SetAccess(15), layout(mem)) == 0
    assert bench.transmit(mkey.lkey, 512)[0] == "loc_prot_err"
    bench.device.reconnect(bench.pair)
    assert bench.configure(mkey, SetAccess(15), layout(mem), reset=True) == 0
    assert bench.transmit(mkey.lkey, 512) == ("success", A5)
    assert bench.check(mkey) is None


def test_the_model_without_a_signature_does_not_make_it_up() -> None:
    bench = Bench(Profile(without=("signature.crc32c",)))
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), layout(bench.memory(512)), signature(wire=crc("crc32c"))) == 0
    assert [c.status for c in bench.owner] == ["loc_qp_op_err"]


def test_plain_behaviour_of_a_signature_mkey_without_attributes() -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(A5))
    assert bench.transmit(mkey.lkey, 100, start=3) == ("success", A5[:100])
    assert bench.over(bench.memory(8), flags=INDIRECT).max_entries == 8
