"""DEVX commands as mailboxes: mkeys with their translation, QP moves, queries. `python devx_scenarios.py NAME`.

Layouts are those of the published mlx5_ifc.h headers.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable

from raw_qp import (
    KSM,
    MTT,
    PA,
    RawQP,
    klm,
    mkc,
    padded,
)
from uverbs import Device, handle, out, refusal, u32, u64, value

TEXT = bytes(n * 5 + n // 256 & 0xFF for n in range(8192))
OK, BAD_OP, BAD_PARAM, BAD_RES, BUSY, BAD_QP_STATE, BAD_LENGTH = 0, 2, 3, 5, 6, 0x10, 0x50
GUID = bytes.fromhex("0c42a10300010001")


def status(device: Device, kind: int, method: int, *attrs: object) -> int:
    """The firmware's status of a command that failed with EREMOTEIO: the last attribute is the output."""
    assert refusal(device.command, kind, method, *attrs) == "EREMOTEIO"
    last = attrs[-1]
    return ctypes.string_at(last.data, 1)[0]  # type: ignore[attr-defined]


def create_status(nic: RawQP, command: bytes) -> int:
    return status(nic.device, 0x1001, 0x1000, handle(0x1000), value(0x1001, command), out(0x1002, 16))


def create(context: bytes, entries: bytes = b"", count: int | None = None) -> bytes:
    command = bytearray(272) + entries
    struct.pack_into(">H", command, 0, 0x200)
    command[0x10:0x50] = context
    struct.pack_into(">I", command, 0x60, len(entries) // 16 if count is None else count)
    return bytes(command)


# ---- mkeys ----------------------------------------------------------------------------------------------------------


def list_in_command() -> None:
    """KLM entries that come along with CREATE_MKEY: the key is usable at once, and a UMR may change it."""
    nic = RawQP()
    nic.write(TEXT)
    entries = [nic.sge(100, 7), nic.sge(0, 9), nic.sge(5000, 1000)]
    key = nic.mkey(mkc(nic.pdn, free=False, length=1016, tag=0x42, start=0x7000), padded(entries), octowords=4)
    assert key & 0xFF == 0x42
    assert nic.through(key, 1016, 0x7000) == TEXT[100:107] + TEXT[:9] + TEXT[5000:6000]
    nic.umr(key, 1, length=16)
    assert nic.finish() == 0
    assert nic.through(key, 16, 0x7000) == TEXT[100:107] + TEXT[:9]
    # A list longer than a page of mailbox.
    many = [nic.sge(n % 8192, 1) for n in range(2000)]
    key = nic.mkey(mkc(nic.pdn, free=False, length=2000, room=2000), b"".join(many))
    assert nic.through(key, 2000) == bytes(TEXT[n % 8192] for n in range(2000))


def fixed_size_in_command() -> None:
    """KSM: entries of one size, their byte count not looked at. start_addr is where the first entry begins (UCX)."""
    nic = RawQP()
    nic.write(TEXT)
    entries = [klm(1 + n, nic.lkey, nic.start + at) for n, at in enumerate((4096, 0, 2048))]
    key = nic.mkey(
        mkc(nic.pdn, mode=KSM, free=False, length=3072, log_size=10, room=3, start=0x10040, umr=False),
        b"".join(entries),
    )
    assert nic.through(key, 3072, 0x10040) == TEXT[4096:5120] + TEXT[:1024] + TEXT[2048:3072]
    assert nic.through(key, 100, 0x10040 + 1000) == TEXT[5096:5120] + TEXT[:76]
    # An atomic through it, as UCX's offset keys are for.
    nic.write(struct.pack("<Q", 41), 4096)
    nic.post(0x12, struct.pack(">QI4xQQ", 0x10040, key, 1, 0) + nic.sge(0x20000, 8))
    assert nic.finish() == 0
    assert nic.read(8, 4096) == struct.pack("<Q", 42)


def register(nic: RawQP, at: int, length: int, access: int = 7) -> tuple[int, int]:
    """A DEVX umem: handle and number."""
    back = nic.device.command(
        0x1002,
        0x1000,
        handle(0x1000),
        u64(0x1001, nic.start + at),
        u64(0x1002, length),
        u32(0x1003, access),
        out(0x1004, 4),
    )
    number, answer = back[0x1000], back[0x1004]
    assert isinstance(number, int)
    assert isinstance(answer, bytes)
    return number, struct.unpack("<I", answer)[0]


def memory_in_command() -> None:
    """MTT: registered memory (DEVX umem) from an offset on; it stays while a key maps it."""
    nic = RawQP()
    nic.write(TEXT)
    umem, number = register(nic, 0, 8192)
    context = mkc(nic.pdn, mode=MTT, free=False, length=4096, room=2, start=0x5000, log_size=12)
    key = nic.mkey(context, umem=number, umem_offset=1024)
    assert nic.through(key, 4096, 0x5000) == TEXT[1024:5120]
    assert isinstance(nic.through(key, 4097, 0x5000), int)
    nic = RawQP(device=nic.device)
    assert refusal(nic.device.command, 0x1002, 0x1001, handle(0x1000, umem)) == "EBUSY"
    for wrong in (
        {"umem": number + 1},
        {"umem": number, "umem_offset": 8192},
        {"umem": number, "umem_offset": 1 << 63},
    ):
        assert refusal(nic.mkey, context, **wrong) == "EREMOTEIO"
    only_read = register(nic, 0, 4096, 0)[1]
    assert refusal(nic.mkey, context, umem=only_read) == "EREMOTEIO"
    other = RawQP()
    assert refusal(other.mkey, mkc(other.pdn, mode=MTT, free=False, length=1), umem=number) == "EREMOTEIO"
    for at, length, access, name in (
        (0, 0, 7, "EINVAL"), (0, 1 << 63, 7, "EFAULT"), (1 << 50, 4096, 7, "EFAULT"), (0, 4096, 8, "EINVAL"),
        (0, 4096, 2, "EINVAL"),
    ):  # fmt: skip
        assert refusal(register, nic, at, length, access) == name, (at, length, access)


def destroyed_umem() -> None:
    """Key first, then its memory."""
    nic = RawQP()
    umem, number = register(nic, 0, 4096)
    nic.mkey(mkc(nic.pdn, mode=MTT, free=False, length=4096), umem=number)
    nic.destroy(nic.made)
    nic.device.command(0x1002, 0x1001, handle(0x1000, umem))
    assert refusal(nic.device.command, 0x1002, 0x1001, handle(0x1000, umem)) == "ENOENT"


def mkeys_refused() -> None:
    """Modes that need what a program has not, lists longer than the key, a mailbox that ends before its list."""
    nic = RawQP()
    one = nic.sge(0, 64)
    assert create_status(nic, create(mkc(nic.pdn, mode=PA, free=False))) == BAD_PARAM
    assert create_status(nic, create(mkc(nic.pdn, mode=MTT, free=False))) == BAD_PARAM
    for mode in (4, 5, 6, 7):
        assert create_status(nic, create(mkc(nic.pdn, mode=mode, free=False))) == BAD_PARAM
    assert create_status(nic, create(mkc(nic.pdn, mode=KSM, log_size=0), one)) == BAD_PARAM
    assert create_status(nic, create(mkc(nic.pdn, room=1), one * 2)) == BAD_PARAM
    assert create_status(nic, create(mkc(nic.pdn, room=100), one, count=2)) == BAD_LENGTH
    assert create_status(nic, create(mkc(nic.pdn, room=100), b"", count=100)) == BAD_LENGTH
    assert create_status(nic, create(mkc(nic.pdn, room=1 << 31), b"", count=1 << 31)) in (BAD_PARAM, BAD_LENGTH)
    assert create_status(nic, create(mkc(0xFFFFFF))) == BAD_PARAM


def query() -> None:
    """QUERY_MKEY gives back what was created and what UMRs made of it, and the first two entries."""
    nic = RawQP()
    entries = padded([nic.sge(0, 64), nic.sge(64, 32)])
    context = mkc(nic.pdn, free=False, length=96, tag=9, start=0x1000, rinval=True, bsf=True, bsf_room=4, access=0x1D)
    key = nic.mkey(context, entries, octowords=4)
    number = nic.made
    ask = struct.pack(">HHHHI4x", 0x201, 0, 0, 0, key >> 8)
    answer = nic.devx_query(number, ask, 0x130)
    assert answer[:8] == bytes(8)
    assert answer[0x10:0x50] == context
    assert answer[0x110:0x130] == entries[:32]
    nic.umr(key, 1 | 1 << 18 | 1 << 8 | 1 << 12, access=0x08, length=64)
    assert nic.finish() == 0
    changed = mkc(nic.pdn, free=False, length=64, tag=9, start=0x1000, bsf_room=4, access=0x1F)
    assert nic.devx_query(number, ask, 0x130)[0x10:0x50] == changed
    wrong = struct.pack(">HHHHI4x", 0x201, 0, 0, 0, (key >> 8) + 1)
    assert refusal(nic.devx_query, number, wrong, 0x130) == "EINVAL"
    assert refusal(nic.devx_query, nic.qp, ask, 0x130) == "EINVAL"
    assert refusal(nic.devx_query, nic.mr, ask, 0x130) == "EINVAL"
    ksm = mkc(nic.pdn, mode=KSM, free=False, length=4096, log_size=12, room=1, qpn=nic.qpn)
    key = nic.mkey(ksm, nic.sge(0, 5))
    ask = struct.pack(">HHHHI4x", 0x201, 0, 0, 0, key >> 8)
    assert nic.devx_query(nic.made, ask, 0x50)[0x10:0x50] == ksm


# ---- QPs ------------------------------------------------------------------------------------------------------------


def bits(buffer: bytearray, base: int, at: int, width: int, number: int) -> None:
    """`number` as the PRM writes it: `width` bits from bit `at` of byte `base` on."""
    for n in range(width):
        bit = at + width - 1 - n
        mask = 0x80 >> bit % 8
        byte = base + bit // 8
        buffer[byte] = buffer[byte] & ~mask | (mask if number >> n & 1 else 0)


def taken(buffer: bytes, base: int, at: int, width: int) -> int:
    return int.from_bytes(buffer[base:], "big") >> ((len(buffer) - base) * 8 - at - width) & ((1 << width) - 1)


CONTEXT = {
    "mtu": (0x40, 3), "remote_qpn": (0xA8, 24), "rlid": (0xC0 + 0x30, 16), "ack_timeout": (0xC0 + 0x40, 5),
    "port": (0xC0 + 0x128, 8), "log_sra_max": (0x388, 3), "retry_count": (0x38D, 3), "rnr_retry": (0x390, 3),
    "next_send_psn": (0x3C8, 24), "log_rra_max": (0x488, 3), "rre": (0x490, 1), "rwe": (0x491, 1), "rae": (0x492, 1),
    "min_rnr_nak": (0x4A3, 5), "next_rcv_psn": (0x4A8, 24), "state": (0, 4), "st": (8, 8), "q_key": (0x540, 32),
    "pd": (0x28, 24), "counter": (0x5A0, 16),
}  # fmt: skip


def move(qpn: int, opcode: int, optional: int = 0, **context: int) -> bytes:
    command = bytearray(464)
    struct.pack_into(">HHHHII", command, 0, opcode, 0, 0, 0, qpn, 0)
    struct.pack_into(">I", command, 0x10, optional)
    for name, number in context.items():
        bits(command, 0x18, *CONTEXT[name], number)
    return bytes(command)


INIT_CONTEXT = {"port": 1, "rre": 1, "rwe": 1, "rae": 1}
RTS_CONTEXT = {"ack_timeout": 14, "retry_count": 7, "rnr_retry": 6, "log_sra_max": 2, "next_send_psn": 7}


def rtr_context(qpn: int) -> dict[str, int]:
    return {
        "port": 1, "rlid": 1, "mtu": 3, "remote_qpn": qpn, "min_rnr_nak": 12, "log_rra_max": 3, "next_rcv_psn": 7
    }  # fmt: skip


def asked(nic: RawQP) -> dict[str, int]:
    answer = nic.devx_query(nic.qp, struct.pack(">HHHHI4x", 0x50B, 0, 0, 0, nic.qpn), 272)
    return {name: taken(answer, 0x18, *place) for name, place in CONTEXT.items()}


def qp_moves() -> None:
    """RESET to RTS in the firmware's words, data through it, to ERR and back to RESET."""
    nic = RawQP(move=False)
    for opcode, context in (
        (0x502, INIT_CONTEXT),
        (0x503, rtr_context(nic.qpn)),
        (0x504, RTS_CONTEXT),
    ):
        nic.devx_modify(nic.qp, move(nic.qpn, opcode, **context))
    seen = asked(nic)
    expected = INIT_CONTEXT | rtr_context(nic.qpn) | RTS_CONTEXT | {"state": 3, "st": 0, "pd": nic.pdn, "counter": 0}
    assert {name: seen[name] for name in expected} == expected
    nic.write(TEXT)
    nic.rdma_write(nic.sge(0, 100), nic.lkey, nic.start + 0x8000)
    assert nic.finish() == 0
    assert nic.read(100, 0x8000) == TEXT[:100]
    assert asked(nic)["counter"] == 1
    # Rights may change later, if the mask of optional parameters names them.
    nic.devx_modify(nic.qp, move(nic.qpn, 0x505, 1 << 1 | 1 << 2 | 1 << 3, rre=1))
    assert (asked(nic)["rre"], asked(nic)["rwe"], asked(nic)["rae"]) == (1, 0, 0)
    nic.devx_modify(nic.qp, move(nic.qpn, 0x507))
    assert asked(nic)["state"] == 6
    nic.devx_modify(nic.qp, move(nic.qpn, 0x50A))
    assert asked(nic)["state"] == 0
    nic.devx_modify(nic.qp, move(nic.qpn, 0x502, **INIT_CONTEXT))
    assert asked(nic)["state"] == 1


def move_status(nic: RawQP, command: bytes) -> int:
    return status(nic.device, 0x1001, 0x1002, handle(0x1000, nic.qp), value(0x1001, command), out(0x1002, 16))


def qp_moves_refused() -> None:
    """From another state, with optional parameters that the move lacks, of another QP, of a key, by no such command."""
    nic = RawQP(move=False)
    for opcode in (0x503, 0x504, 0x505, 0x506, 0x50E):
        assert move_status(nic, move(nic.qpn, opcode)) == BAD_QP_STATE, opcode
    assert move_status(nic, move(nic.qpn, 0x502, 1 << 31, **INIT_CONTEXT)) == BAD_PARAM
    assert move_status(nic, move(nic.qpn, 0x502, **INIT_CONTEXT | {"port": 2})) == BAD_PARAM
    nic.devx_modify(nic.qp, move(nic.qpn, 0x502, **INIT_CONTEXT))
    assert move_status(nic, move(nic.qpn, 0x502, **INIT_CONTEXT)) == BAD_QP_STATE
    assert move_status(nic, move(nic.qpn, 0x503, **rtr_context(nic.qpn) | {"mtu": 7})) == BAD_PARAM
    assert refusal(nic.devx_modify, nic.qp, move(nic.qpn + 1, 0x507)) == "EINVAL"
    assert refusal(nic.devx_modify, nic.qp, move(nic.qpn, 0x50C)) == "EOPNOTSUPP"
    nic.mkey(mkc(nic.pdn))
    assert refusal(nic.devx_modify, nic.made, move(nic.qpn, 0x507)) == "EOPNOTSUPP"
    assert asked(nic)["state"] == 1


def unreliable_moves() -> None:
    """UC and UD need less than RC."""
    for kind, service in ((3, 1), (4, 2)):
        nic = RawQP(move=False, kind=kind)
        nic.devx_modify(nic.qp, move(nic.qpn, 0x502, port=1, q_key=0x1234))
        nic.devx_modify(nic.qp, move(nic.qpn, 0x503, port=1, rlid=1, mtu=3, remote_qpn=nic.qpn))
        nic.devx_modify(nic.qp, move(nic.qpn, 0x504))
        seen = asked(nic)
        assert (seen["state"], seen["st"]) == (3, service)
        assert kind != 4 or seen["q_key"] == 0x1234


# ---- queries --------------------------------------------------------------------------------------------------------


def ask(nic: RawQP, opcode: int, op_mod: int = 0, rest: bytes = bytes(8), reply: int = 528) -> bytes:
    answer: bytes = nic.other(struct.pack(">HHHH", opcode, 0, 0, op_mod) + rest, reply)
    return answer


def vports() -> None:
    """The port, as InfiniBand and as Ethernet drivers ask for it."""
    nic = RawQP(move=False)
    own = bytes([0, 1]) + bytes(6)
    context = ask(nic, 0x762, rest=own)[16:]
    assert context[0x28:0x40] == GUID * 3
    assert struct.unpack_from(">H", context, 0x5C)[0] == 1  # lid
    assert context[0x22:0x24] == bytes([0x50, 0x44])  # link up; port and vport active
    context = ask(nic, 0x754, reply=272)[16:]
    assert context[0x28:0x40] == GUID * 3
    assert context[3] & 1 == 0  # no RoCE
    assert ask(nic, 0x750, reply=16)[15] == 0x11  # up
    assert ask(nic, 0x10A, reply=112)[10:12] == b"\0\1"
    assert ask(nic, 0x101, reply=272)[0x29:0x2C] == b"\0\2\xc9"
    assert ask(nic, 0x842, reply=16) == bytes(16)
    assert ask(nic, 0x80D, reply=16) == bytes(16)
    for wrong in (bytes([0x80, 1]) + bytes(6), bytes([0, 1, 0, 1]) + bytes(4), bytes([0, 2]) + bytes(6)):
        assert refusal(ask, nic, 0x762, rest=wrong) == "EREMOTEIO"
    assert refusal(ask, nic, 0x760) == "EREMOTEIO"


def vports_of_roce() -> None:
    nic = RawQP(move=False)
    assert refusal(ask, nic, 0x762, rest=bytes([0, 1]) + bytes(6)) == "EREMOTEIO"
    assert ask(nic, 0x754, reply=272)[16 + 3] & 1 == 1
    first = ask(nic, 0x760, rest=bytes(8), reply=48)[16:]
    second = ask(nic, 0x760, rest=b"\0\3" + bytes(6), reply=48)[16:]
    assert first[:2] == b"\xfe\x80"
    assert first[0x1B] == 0
    assert second[:16] == bytes(10) + b"\xff\xff" + bytes([192, 0, 2, 1])
    assert second[0x1B] == 2
    assert ask(nic, 0x760, rest=b"\0\7" + bytes(6), reply=48) == bytes(48)
    assert refusal(ask, nic, 0x760, rest=b"\0\x08" + bytes(6)) == "EREMOTEIO"


def capability_pages() -> None:
    """Pages which a device of the time has are answered, by what is there; an unknown one is refused."""
    nic = RawQP(move=False)
    known = {1, 2, 4, 5, 6, 7, 8, 9, 0xA, 0xC, 0xD, 0xF, 0x11, 0x13, 0x14, 0x1F, 0x20, 0x21, 0x26}
    for kind in range(0x80):
        for current in (0, 1):
            if kind not in known | {0, 3, 0x1A}:
                assert refusal(ask, nic, 0x100, kind << 1 | current, reply=4112) == "EREMOTEIO"
                continue
            page = ask(nic, 0x100, kind << 1 | current, reply=4112)
            assert page[:16] == bytes(16)
            assert any(page) is (kind in (0, 3, 0x1A)), kind
    assert refusal(ask, nic, 0x100, 0xFFFF) == "EREMOTEIO"


# ---- what libmlx5 gets beside DEVX ----------------------------------------------------------------------------------


def null_key(nic: RawQP) -> int:
    """The key that GET_CONTEXT names: what is written is dropped, what is read is zeros (ibv_alloc_null_mr)."""
    back = nic.device.command(0, 4, out(0, 4), out(1, 8), out(0x1000, 72))[0x1000]
    assert isinstance(back, bytes)
    return int(struct.unpack_from("<I", back, 68)[0])


def null_region() -> None:
    """In a list of a work request, in an mkey, of any length and address; not for others, and of no PD."""
    nic = RawQP()
    nic.write(TEXT)
    null = null_key(nic)
    assert null != 0x100  # MLX5_INVALID_LKEY: no such key
    nic.write(b"\x55" * 300, 0x8000)
    nic.rdma_write(nic.sge(0, 100) + klm(100, null, 0) + nic.sge(100, 100), nic.lkey, nic.start + 0x8000)
    assert nic.finish() == 0
    assert nic.read(300, 0x8000) == TEXT[:100] + bytes(100) + TEXT[100:200]
    nic.rdma_read(nic.sge(0x9000, 10) + klm(100_000, null, 1 << 50) + nic.sge(0x9100, 10), nic.lkey, nic.start)
    assert nic.finish() == 0
    assert nic.read(10, 0x9000) == TEXT[:10]
    assert nic.read(10, 0x9100) == ctypes.string_at(nic.start + 100_010, 10)
    key = nic.configured(nic.mkey(mkc(nic.pdn)), [nic.sge(0, 8), klm(8, null, 0), nic.sge(8, 8)], 24)
    assert nic.through(key, 24) == TEXT[:8] + bytes(8) + TEXT[8:16]
    nic.rdma_write(nic.sge(0, 8), null, 0)
    assert nic.finish() != 0


def resize(nic: RawQP, entries: int, buf: int, size: int = 64) -> int:
    """RESIZE_CQ: the number of entries that there are now, less one."""
    request = struct.pack("<QII", 0, nic.cq, entries)
    driver = struct.pack("<QHHI", buf, size, 0, 0)
    back = nic.device.command(0, 0, u64(2, 19), value(0, request), out(1, 8), value(0x1000, driver))[1]
    assert isinstance(back, bytes)
    return int(struct.unpack_from("<I", back)[0])


def resized_cq() -> None:
    """The last CQE of the old ring says so (opcode 5), what comes later is in the new one, an index further."""
    nic = RawQP()
    for _ in range(4):
        nic.post(0, b"")
    assert [nic.finish() for _ in range(4)] == [0] * 4
    ring = nic.device.memory(512 * 64)
    ctypes.memset(ring, 0xFF, 512 * 64)
    assert resize(nic, 511, ring) == 511
    old = [ctypes.string_at(nic.ring + n * 64 + 63, 1)[0] >> 4 for n in range(5)]
    assert old == [0, 0, 0, 0, 5], (old, nic.consumed)
    nic.post(0, b"")
    # Five entries went before: four NOPs and the last one of the old ring.
    for _ in range(1000):
        if ctypes.string_at(ring + 5 * 64 + 63, 1)[0] >> 4 == 0:
            break
        nic.rest()
    assert ctypes.string_at(ring + 5 * 64 + 63, 1)[0] == 0
    assert ctypes.string_at(ring + 4 * 64, 64) == b"\xff" * 64
    for entries, buf, size, name in (
        (0, ring, 64, "EINVAL"), (1 << 22, ring, 64, "EINVAL"), (255, ring, 128, "EINVAL"), (255, 8, 64, "EFAULT"),
    ):  # fmt: skip
        assert refusal(resize, nic, entries, buf, size) == name


def full_cq() -> None:
    """A new ring that is too small for what was not consumed is refused, as is a resize of a ring without room."""
    nic = RawQP()
    for _ in range(20):
        nic.post(0, b"")
    for _ in range(1000):
        if ctypes.string_at(nic.ring + 19 * 64 + 63, 1)[0] >> 4 == 0:
            break
        nic.rest()
    ring = nic.device.memory(4096)
    assert refusal(resize, nic, 15, ring) == "EINVAL"
    assert resize(nic, 31, ring) == 31


def moderated_cq() -> None:
    """ibv_modify_cq: moderation within what QUERY_DEVICE tells; nothing else."""
    nic = RawQP()

    def modify(mask: int, count: int, period: int, cq: int | None = None) -> None:
        request = struct.pack("<IIHHI", nic.cq if cq is None else cq, mask, count, period, 0)
        nic.device.command(0, 0, u64(2, 0x80000000 | 57), value(0, request))

    modify(1, 16, 100)
    modify(1, 0, 0)
    assert refusal(modify, 2, 1, 1) == "EOPNOTSUPP"
    assert refusal(modify, 1, 1, 0x1000) == "EINVAL"
    assert refusal(modify, 1, 1, 1, nic.qp) == "ENOENT"
    nic.post(0, b"")
    assert nic.finish() == 0


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        list_in_command, fixed_size_in_command, memory_in_command, destroyed_umem, mkeys_refused, query, qp_moves,
        qp_moves_refused, unreliable_moves, vports, vports_of_roce, capability_pages, null_region,
        resized_cq, full_cq, moderated_cq,
    )
}  # fmt: skip

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
