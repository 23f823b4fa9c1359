"""WQEs and CQEs decoded: dumps of a real driver, elements laid out by hand, and what is cut off or makes no sense."""

from __future__ import annotations

import ctypes as c
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.softnic import pure
from tests.softnic.dump import Dump, dumps

DUMPS = dumps()
HERE = Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    pure.library()


def at(record: Any, path: str) -> Any:
    for step in path.split("."):
        record = record[int(step) if isinstance(record, list) else step]
    return record


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.name)
def test_dump(dump: Dump) -> None:
    record = pure.described(dump.what, dump.bytes)
    assert record["record"] == ("cqe" if dump.what == pure.CQE else "wqe")
    assert {path: at(record, path) for path in dump.expect} == dump.expect
    assert "malformed" not in pure.described_text(dump.what, dump.bytes)


def test_the_trace_reads_like_this() -> None:
    """The form as a whole, kept in a file: what changes it should be meant."""
    text = "".join(f"# {dump.name}\n{pure.described_text(dump.what, dump.bytes)}" for dump in DUMPS)
    assert text == (HERE / "trace.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.name)
def test_text_and_json_tell_the_same(dump: Dump) -> None:
    text = pure.described_text(dump.what, dump.bytes)

    def compare(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for member, inner in value.items():
                compare(member, inner)
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):
            assert f"  {name} {'|'.join(value) or '-'}" in text
        elif isinstance(value, list):
            for one in value:
                compare(name, one)
        elif isinstance(value, bool):
            assert not value or f"  {name}" in text
        else:
            assert f"{name} {value}" in text

    record = pure.described(dump.what, dump.bytes)
    del record["record"]
    compare("", record)


# Laid out by hand ----------------------------------------------------------------------------


def ctrl(opcode: int, units: int, fm_ce_se: int = 8, imm: int = 0, index: int = 0, stream: int = 0) -> bytes:
    return struct.pack(">IIBHBI", index << 8 | opcode, 0x41 << 8 | units, 0, stream, fm_ce_se, imm)


def wqe(opcode: int, body: bytes, **of_ctrl: int) -> bytes:
    return ctrl(opcode, 1 + len(body) // 16, **of_ctrl) + body


def pointer(length: int, key: int, address: int) -> bytes:
    return struct.pack(">IIQ", length, key, address)


def inline(data: bytes) -> bytes:
    raw = struct.pack(">I", 0x80000000 | len(data)) + data
    return raw + bytes(-len(raw) % 16)


u32, u64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
segment = st.tuples(st.integers(0, 2**31 - 1), u32, u64) | st.binary(max_size=60)
NAMES = {0x0A: "SEND", 0x0B: "SEND_IMM", 0x01: "SEND_INVAL", 0x08: "RDMA_WRITE", 0x09: "RDMA_WRITE_IMM"} | {
    0x10: "RDMA_READ",
    0x11: "ATOMIC_CS",
    0x12: "ATOMIC_FA",
}


@settings(deadline=None)
@given(
    st.sampled_from(sorted(NAMES)),
    st.lists(segment, max_size=8),
    u64,
    u32,
    u32,
    u64,
    u64,
    st.booleans(),
    st.integers(0, 255),
    st.integers(0, 65535),
    st.integers(0, 65535),
)
def test_any_transport_wqe(
    opcode: int,
    data: list[Any],
    raddr: int,
    rkey: int,
    imm: int,
    swap: int,
    compare: int,
    datagram: bool,
    fm_ce_se: int,
    index: int,
    stream: int,
) -> None:
    body = struct.pack(">QIBBH", 0x1122334455667788, 0x80000045, 3, 4, 5) + bytes(32) if datagram else b""
    if opcode >= 0x08 and opcode not in (0x0A, 0x0B):
        body += struct.pack(">QI4x", raddr, rkey)
    if opcode in (0x11, 0x12):
        body += struct.pack(">QQ", swap, compare)
    body += b"".join(inline(one) if isinstance(one, bytes) else pointer(*one) for one in data)
    if len(body) > 62 * 16:
        return
    element = wqe(opcode, body, imm=imm, fm_ce_se=fm_ce_se, index=index, stream=stream)
    record = pure.described(pure.DATAGRAM_WQE if datagram else pure.WQE, element + b"after")
    assert (record["opcode"], record["index"], record["qpn"]) == (NAMES[opcode], index, "0x000041")
    assert record["ctrl"]["imm"] == f"0x{imm:08x}"
    assert record["ctrl"]["dci_stream"] == stream
    assert record["signaled"] is (fm_ce_se >> 2 & 3 >= 2)
    assert record["solicited"] is bool(fm_ce_se & 2)
    assert ("datagram" in record) is datagram
    if datagram:
        assert (record["datagram"]["key"], record["datagram"]["rlid"]) == ("0x1122334455667788", 5)
    if "raddr" in record:
        assert record["raddr"] == {"rkey": f"0x{rkey:08x}", "addr": f"0x{raddr:x}"}
    if opcode == 0x11:
        assert record["atomic"] == {"swap": f"0x{swap:016x}", "compare": f"0x{compare:016x}"}
    if opcode == 0x12:
        assert record["atomic"] == {"add": f"0x{swap:016x}"}
    shown = [
        {"length": len(one), "inline": one.hex()}
        if isinstance(one, bytes)
        else {"length": one[0], "lkey": f"0x{one[1]:08x}", "addr": f"0x{one[2]:x}"}
        for one in data
    ]
    assert record.get("data", []) == shown


def umr(translation: bytes, bsf: bytes = b"", flags: int = 0x80, after: bytes | None = None) -> bytes:
    control = struct.pack(">B3xHHQ", flags, len(translation) // 16, len(bsf) // 16, 0x203C2001) + bytes(32)
    context = struct.pack(">BxBxIIIQQ", 0x40, 0x7C, 0xFFFFFF00, 0, 0x44000007, 0x1000, 0x2000) + bytes(32)
    return wqe(0x25, control + context + (translation + bsf if after is None else after), imm=0x300)


def test_umr_that_is_not_inline() -> None:
    """The first word of the pointer is reserved; how much lies there is said by klm_octowords."""
    record = pure.described(pure.WQE, umr(bytes(64), flags=0, after=pointer(0, 7, 0x9000) + bytes(48)))
    assert record["pointer"] == {"mkey": "0x00000007", "addr": "0x9000"}
    assert "data" not in record
    assert record["umr"]["klm_octowords"] == 4
    assert record["mkey_context"]["access"] == [
        "local_read",
        "local_write",
        "remote_read",
        "remote_write",
        "remote_atomic",
    ]
    assert record["mkey_context"]["free"]
    assert record["mkey_context"]["start_addr"] == "0x1000"


def test_transaction_signature() -> None:
    """BSF words 16 to 31, with bsf_size 1: selectors and PSVs, init and check/generate of each domain."""
    words = (0x40FF0000, 1000, 0, 0, 0x21000000, 0, 0x40000007, 0x41000009)
    record = pure.described(pure.WQE, umr(bytes(64), struct.pack(">8I32x", *words)))
    first = {"sig": "CRC32C", "seed": "0xffffffff", "init": True, "check_gen": False, "psv": "0x000007"}
    assert record["transaction_wire"] == first
    second = {"sig": "CRC32C", "seed": "0x00000000", "init": False, "check_gen": True, "psv": "0x000009"}
    assert record["transaction_mem"] == second
    # bsf_size 0: the words are not there.
    without = pure.described(pure.WQE, umr(bytes(64), struct.pack(">8I32x", 0x00FF0000, *words[1:])))
    assert "transaction_wire" not in without


def test_umr_of_a_bind() -> None:
    """Flags of libmlx5's IBV_WR_BIND_MW: the word is a translation offset, and there is no BSF."""
    element = umr(pointer(100, 7, 0x9000) + bytes(48), flags=0xB8)
    record = pure.described(pure.WQE, element[:16] + element[16:22] + b"\0\x05" + element[24:])
    assert record["umr"]["translation_offset"] == 5
    assert (record["umr"]["check_free"], record["umr"]["check_qpn"]) == (True, True)
    assert len(record["klm"]) == 1


MALFORMED = {
    "empty": b"",
    "half a ctrl": ctrl(0x0A, 1)[:8],
    "no units": ctrl(0x0A, 0),
    "longer than what is there": ctrl(0x0A, 2),
    "unknown opcode": wqe(0x7F, b""),
    "raddr missing": wqe(0x08, b""),
    "atomic missing": wqe(0x11, bytes(16)),
    "psv missing": wqe(0x20, b""),
    "memcpy without destination": wqe(0x2F, bytes(32)),
    "memcpy of three segments": wqe(0x2F, bytes(64)),
    "memcpy from inline data": wqe(0x2F, bytes(16) + inline(b"abc") + pointer(1, 2, 3)),
    "inline data after the end": wqe(0x0A, struct.pack(">I", 0x800003FF) + bytes(12)),
    "umr without an mkey context": wqe(0x25, bytes(48)),
    "umr with entries after the end": umr(bytes(64))[:-16].replace(b"\x41\x0c", b"\x41\x0b"),
    "repeat block with too many entries": umr(struct.pack(">IIIHH", 16, 0x400, 3, 0, 4) + bytes(48)),
    "bsf of 16 bytes": umr(bytes(64), bytes(16)),
    "bsf with block selector 5": umr(bytes(64), struct.pack(">BBBBIII", 0x80, 0, 5, 0, 0, 0x22000000, 0) + bytes(48)),
    "bsf with an unknown format": umr(bytes(64), struct.pack(">BBBBIII", 0x80, 0, 1, 0, 0, 0x72000000, 0) + bytes(48)),
    "bsf of T10-DIF without its inline part": umr(bytes(64), struct.pack(">BBBB", 0x80, 0, 1, 0) + bytes(60)),
    "two signature parts": umr(bytes(64), (b"\x80" + bytes(63)) * 2),
    "two crypto parts": umr(bytes(64), (b"\x81" + bytes(63)) * 2),
    "crypto order 4": umr(bytes(64), b"\x81\x04" + bytes(62)),
    "unknown part": umr(bytes(64), b"\x82" + bytes(63)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    assert "malformed" in pure.described_text(pure.WQE, MALFORMED[name])
    assert "malformed" in repr(pure.described(pure.WQE, MALFORMED[name]))


def test_a_cancelled_request_keeps_its_segments() -> None:
    """libmlx5 writes NOP over the opcode and nothing else: what follows is not looked at."""
    assert "data" not in pure.described(pure.WQE, wqe(0x00, bytes(48)))


def test_scatter_list_of_a_receive() -> None:
    segs = (pure.WqeSeg * 8)()
    element = pointer(16, 0x100, 0x1000) + pointer(0, 7, 0) + pointer(32, 8, 0x2000) + pointer(0, 0x100, 0)
    element += pointer(16, 7, 0x1000)
    for length, room, count in ((80, 8, 3), (64, 2, 2), (48, 8, 3), (47, 8, 2), (0, 8, 0)):
        assert pure.library().segs_decode(element, length, segs, room) == count
    assert (segs[2].data, segs[2].length, segs[2].key, segs[2].addr) == (None, 32, 8, 0x2000)


def test_length_of_inline_data_has_ten_bits() -> None:
    record = pure.described(pure.WQE, wqe(0x0A, struct.pack(">I", 0xFFFFFC04) + b"abcd" + bytes(8)))
    assert record["data"] == [{"length": 4, "inline": b"abcd".hex()}]


def test_memcpy_of_zero_is_two_gigabytes() -> None:
    record = pure.described(pure.WQE, wqe(0x2F, bytes(16) + pointer(0, 1, 2) + pointer(5, 1, 2)))
    assert [one["length"] for one in record["data"]] == [1 << 31, 5]


@pytest.mark.parametrize("flag", [0x80, 0x20, 0x10, 0x08])
def test_flags_of_a_umr_one_by_one(flag: int) -> None:
    record = pure.described(pure.WQE, umr(b"", flags=flag))["umr"]
    assert (record["inline"], record["check_free"], record["check_qpn"]) == (flag == 0x80, flag == 0x20, flag == 0x08)
    assert ("translation_offset" in record) is (flag == 0x10)
    assert ("bsf_octowords" in record) is (flag != 0x10)


def test_one_structure_in_both_domains() -> None:
    """sbs: byte 2 is the copy mask, and the wire has the memory's block size; without it there is no copy mask."""
    words = struct.pack(">II", 0x22000011, 0x23000012) + bytes(48)
    decoded = pure.bsf(struct.pack(">BBBBI", 0x90, 0xF0, 0xA5, 3, 0x1234) + words)
    assert decoded is not None
    signature = decoded[0]
    assert (signature.sbs, signature.copy_mask, signature.check_mask, signature.raw_size) == (True, 0xA5, 0xF0, 0x1234)
    assert [(one.block, one.psv, one.ones) for one in signature.domain] == [(4096, 0x11, True), (4096, 0x12, False)]
    decoded = pure.bsf(struct.pack(">BBBBI", 0xA0, 0xF0, 1, 3, 0x1234) + words)
    assert decoded is not None
    assert (decoded[0].sbs, decoded[0].copy_mask) == (False, 0)
    assert [one.block for one in decoded[0].domain] == [512, 4096]


@pytest.mark.parametrize(("seed", "bg"), [(0x88, "0xffff"), (0x80, "0x0000")])
@pytest.mark.parametrize(("sort", "bg_type"), [(1, "CRC"), (2, "CSUM")])
def test_t10dif_described(seed: int, bg: str, sort: int, bg_type: str) -> None:
    inline_part = struct.pack(">HHIBB3xBH", 0x8000, 1, 2, sort, seed, 1, 0xFFFF)
    element = umr(bytes(64), struct.pack(">BBBBIII", 0x80, 0xFF, 0, 2, 0, 0, 9) + bytes(32) + inline_part)
    assert pure.described(pure.WQE, element)["signature_mem"] == {
        "sig": "T10DIF", "block_size": 520, "bg_type": bg_type, "bg": bg, "app_tag": "0x0001", "ref_tag": "0x00000002",
        "flags": ["APP_ESCAPE"], "refresh": False, "repeat": True, "psv": "0x000009",
    }  # fmt: skip


def test_members_of_a_crypto_part() -> None:
    tweak = bytes(range(16))
    part = struct.pack(">BBBBIB7x16sII8s", 0x81, 3, 0, 0, 7, 4, tweak, 0xFF010203, 0, b"keytag!!")
    decoded = pure.bsf(part + bytes(16))
    assert decoded is not None
    signature, crypto = decoded
    assert (signature.present, crypto.present) == (False, True)
    assert (crypto.size, crypto.order, crypto.raw_size, crypto.block) == (2, 3, 7, 4160)
    assert (bytes(crypto.tweak), crypto.dek, bytes(crypto.keytag)) == (tweak, 0x010203, b"keytag!!")


def test_a_short_room_is_not_written_beyond() -> None:
    element = DUMPS[0].bytes
    out = c.create_string_buffer(b"?" * 100, 100)
    whole = len(pure.described_text(pure.WQE, element))
    assert pure.library().describe(pure.WQE, element, len(element), False, out, 40) == whole
    assert out.raw[39:] == b"\0" + b"?" * 60


# Completions ---------------------------------------------------------------------------------


def encoded(**members: Any) -> bytes:
    completion, out = pure.Completion(), c.create_string_buffer(64)
    for name, value in members.items():
        setattr(completion, name, value)
    pure.library().cqe_encode(completion, out)
    return out.raw


BY_NAME = {dump.name: dump.bytes for dump in DUMPS}


def test_encoded_as_the_driver_takes_it() -> None:
    assert encoded(opcode=0, send_opcode=0x25, qpn=0x41) == BY_NAME["completion of a umr"]
    assert encoded(opcode=2, qpn=0x41, src_qpn=0x40, byte_count=16) == BY_NAME["completion of a send, at the receiver"]
    assert (
        encoded(opcode=13, qpn=0x40, send_opcode=0x0A, wqe_counter=3, syndrome=4, vendor_error=0x51)
        == BY_NAME["protection error of a send"]
    )
    error = pure.SignatureError(0x699ACA21 << 32, 0x969ACA21 << 32, 515, 1 << 13, 0, 1, 0x20100)
    assert encoded(opcode=12, signature=error) == BY_NAME["signature error of a CRC32 in memory"]


def test_signature_error_of_64_bits() -> None:
    """The upper half is as transient signature, the lower as ref tag (libmlx5's decoding)."""
    error = pure.SignatureError(0x1122334455667788, 0x99AABBCCDDEEFF00, 0x102030405060708, 1 << 11, 1, 0, 0xABCDEF12)
    out = encoded(opcode=12, owner=True, signature=error)
    assert out[16:32].hex() == "1122334499aabbcc55667788ddeeff00"
    assert out[32:48].hex() == "08000100abcdef120102030405060708"
    assert out[63] == 0xC1


@pytest.mark.parametrize(
    ("opcode", "member", "value", "where"),
    [
        (2, "owner", True, {63: 0x21}),
        (2, "solicited", True, {63: 0x22}),
        (2, "uidx", 0x010203, {33: 1, 34: 2, 35: 3}),
        (3, "imm", 0x01020304, {36: 1, 37: 2, 38: 3, 39: 4}),
        (2, "byte_count", 0x01020304, {44: 1, 45: 2, 46: 3, 47: 4}),
        (2, "timestamp", 0x0102030405060708, dict(zip(range(48, 56), range(1, 9), strict=True))),
        (2, "wqe_counter", 0x0102, {60: 1, 61: 2}),
        (2, "slid", 0x0102, {22: 1, 23: 2}),
        (2, "src_path", 5, {17: 5}),
        (2, "sl", 3, {24: 3}),
        (2, "grh", True, {24: 0x10}),
        (14, "syndrome", 1, {55: 1}),
    ],
)
def test_where_members_stand(opcode: int, member: str, value: Any, where: dict[int, int]) -> None:
    out = encoded(opcode=opcode, **{member: value})
    assert {i: b for i, b in enumerate(out) if b} == {63: opcode << 4} | where
    back = pure.Completion()
    pure.library().cqe_decode(out, back)
    assert (back.opcode, getattr(back, member)) == (opcode, value)
