"""A queue pair driven by hand over uverbs: WQEs as bytes, CQEs as bytes. No pyverbs, no libmlx5.

Layouts are those of the published headers (mlx5dv.h, mlx5_ifc.h); nothing here comes from the software NIC. Runs under
the preload, in a process of its own.
"""

from __future__ import annotations

import ctypes
import struct
import time
from dataclasses import dataclass

from uverbs import Device, handle, out, value

ALL = 0x0F
ENTRIES, BLOCKS, BLOCK = 256, 256, 64
RESET, INIT, RTR, RTS, SQD, SQE, ERR = range(7)
LKEY_ERROR, QP_OPERATION, PROTECTION, FLUSHED, BIND, REMOTE_ACCESS = 1, 2, 4, 5, 6, 0x13
# mkey_mask of a UMR
LEN, PAGE_SIZE, START, PD, RINVAL, SIGERR, BSF, TAG, QPN = (1 << n for n in (0, 1, 6, 7, 8, 9, 12, 13, 14))
LR, LW, RR, RW, ATOMIC, FREE = (1 << n for n in (17, 18, 19, 20, 21, 29))
INLINE, CHECK_FREE, OFFSET = 0x80, 0x20, 0x10


def klm(length: int, key: int, address: int) -> bytes:
    return struct.pack(">IIQ", length, key, address)


def crc32c(data: bytes, register: int = 0xFFFFFFFF) -> int:
    """RFC 3720, 12.1, bit by bit; its check value is tested in test_umr.py."""
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def padded(entries: list[bytes]) -> bytes:
    """A list of 16-byte entries, filled up with zeros to a multiple of 64 bytes."""
    data = b"".join(entries)
    return data + bytes(-len(data) % 64)


# Rings that the device still looks at must not be unmapped: the next QP's would come to lie there.
_ALIVE: list[object] = []


@dataclass(frozen=True)
class Completion:
    opcode: int
    syndrome: int
    byte_count: int
    wqe_counter: int
    raw: bytes


@dataclass(frozen=True)
class SignatureError:
    """A signature error CQE: words 16 to 47."""

    kind: int
    domain: int
    syndrome: int
    key: int
    offset: int
    expected: int
    actual: int


class RawQP:
    """A device, a PD, a CQ, memory under one key, and an RC QP that is its own peer."""

    def __init__(self, size: int = 1 << 18, kind: int = 2, move: bool = True, device: Device | None = None) -> None:
        _ALIVE.append(self)
        self.device = device or Device()
        self.pd, self.pdn = self.device.pd()
        self.ring = self.device.memory(ENTRIES * 64)
        ctypes.memset(self.ring, 0xFF, ENTRIES * 64)
        self.cq_db = self.device.memory(4096)
        self.cq = self.device.cq(ENTRIES - 1, buf=self.ring, db=self.cq_db)
        self.sq = self.device.memory(BLOCKS * BLOCK + 4096)
        self.db = self.device.memory(4096)
        self.qp, self.qpn = self.device.qp(self.pd, self.cq, kind, buf=self.sq, db=self.db, sq=BLOCKS, rq=64, shift=6)
        self.rq, self.sq = self.sq, self.sq + 4096
        self.size = size
        self.start = self.device.memory(size)
        self.mr, self.lkey = self.device.mr(self.pd, self.start, size, ALL)
        self.bell = self.device.map(self.device.uar()[1]) + 0x800
        self.head = self.consumed = 0
        if move:
            self.modify(INIT, 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5, access=ALL)
            self.modify(RTR, 1 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 15 | 1 << 17 | 1 << 20, mtu=3, rnr=12, dest_rd=1)
            self.modify(RTS, 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 13 | 1 << 16, timeout=14, retry=7, rd=1)

    def modify(self, state: int, mask: int, **of: int) -> None:
        path = struct.pack("<16xIHH8B", 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
        fields = struct.pack(
            "<32xIIIIIIIHHBBBBBBBBBBBBBB2x",
            self.qp,
            mask,
            0,
            0,
            0,
            of.get("dest", self.qpn),
            of.get("access", 0),
            0,
            0,
            state,
            of.get("current", 0),
            of.get("mtu", 0),
            0,
            0,
            of.get("rd", 0),
            of.get("dest_rd", 0),
            of.get("rnr", 0),
            1,
            of.get("timeout", 0),
            of.get("retry", 0),
            7,
            0,
            0,
        )
        self.device.write(0x1A, path + fields)

    # ---- memory -----------------------------------------------------------------------------------------------------

    def write(self, data: bytes, at: int = 0) -> None:
        ctypes.memmove(self.start + at, data, len(data))

    def read(self, length: int, at: int = 0) -> bytes:
        return ctypes.string_at(self.start + at, length)

    def sge(self, at: int, length: int) -> bytes:
        return klm(length, self.lkey, self.start + at)

    # ---- work requests ----------------------------------------------------------------------------------------------

    def post(self, opcode: int, body: bytes, imm: int = 0, opmod: int = 0, signaled: bool = True) -> None:
        ctrl = struct.pack(
            ">IIBHBI",
            opmod << 24 | (self.head & 0xFFFF) << 8 | opcode,
            self.qpn << 8 | 1 + len(body) // 16,
            0,
            0,
            8 if signaled else 0,
            imm,
        )
        wqe = ctrl + body
        for at in range(0, len(wqe), BLOCK):
            block = wqe[at : at + BLOCK]
            ctypes.memmove(self.sq + self.head % BLOCKS * BLOCK, block, len(block))
            self.head += 1
        ctypes.memmove(self.db + 4, struct.pack(">I", self.head & 0xFFFF), 4)
        ctypes.memmove(self.bell, ctrl[:8], 8)

    def receive(self, data: bytes) -> None:
        """One receive of a list of data segments, ended as libmlx5 ends it."""
        count = struct.unpack(">I", ctypes.string_at(self.db, 4))[0]
        ctypes.memmove(self.rq + count % 64 * 64, (data + klm(0, 0x100, 0)).ljust(64, b"\0")[:64], 64)
        ctypes.memmove(self.db, struct.pack(">I", count + 1 & 0xFFFF), 4)

    def poll(self, seconds: float = 20.0) -> Completion | SignatureError:
        """The next CQE; none in time is an AssertionError."""
        end = time.monotonic() + seconds
        while True:
            entry = self.ring + self.consumed % ENTRIES * 64
            last = ctypes.string_at(entry + 63, 1)[0]
            if last >> 4 != 15 and last & 1 == self.consumed // ENTRIES & 1:
                raw = ctypes.string_at(entry, 64)
                break
            assert time.monotonic() < end, "no completion"
            time.sleep(0.0002)
        self.consumed += 1
        ctypes.memmove(self.cq_db, struct.pack(">I", self.consumed & 0xFFFFFF), 4)
        if raw[63] >> 4 == 12:
            expected, actual, expected_low, actual_low = struct.unpack_from(">IIII", raw, 16)
            syndrome, kind, domain, key, offset = struct.unpack_from(">HBBIQ", raw, 32)
            return SignatureError(
                kind, domain, syndrome, key, offset, expected << 32 | expected_low, actual << 32 | actual_low
            )
        bad = raw[63] >> 4 in (13, 14)
        count, counter = struct.unpack_from(">I", raw, 44)[0], struct.unpack_from(">H", raw, 60)[0]
        return Completion(raw[63] >> 4, raw[55] if bad else 0, count, counter, raw)

    def finish(self) -> int:
        """The syndrome of the next completion; 0: it went well."""
        done = self.poll()
        assert isinstance(done, Completion), done
        return done.syndrome

    def silent(self) -> bool:
        """Nothing completes before a NOP that is posted now."""
        self.post(0, b"")
        done = self.poll()
        return isinstance(done, Completion) and done.raw[56] == 0

    def rest(self) -> None:
        """A moment for the device."""
        time.sleep(0.001)

    def umr(
        self,
        key: int,
        mask: int = 0,
        entries: bytes = b"",
        bsf: bytes = b"",
        flags: int = INLINE,
        *,
        free: bool = False,
        access: int = 0,
        qpn: int = 0xFFFFFF,
        flags_pd: int = 0,
        start: int = 0,
        length: int = 0,
        offset: int = 0,
        after: bytes | None = None,
        octowords: int | None = None,
        log_page: int = 0,
    ) -> None:
        """Posts a UMR. `after` is what follows the mkey context if it is not the entries and the BSF themselves."""
        low = offset & 0xFFFF if flags & OFFSET else len(bsf) // 16
        control = struct.pack(
            ">B3xHHQI28x", flags, len(entries) // 16 if octowords is None else octowords, low, mask, offset >> 16
        )
        context = struct.pack(
            ">BxBxI4xIQQ24xI4x",
            0x40 if free else 0,
            access,
            qpn << 8 | key & 0xFF,
            flags_pd,
            start,
            length,
            log_page,
        )
        self.post(0x25, control + context + (entries + bsf if after is None else after), imm=key)

    def configured(self, key: int, entries: list[bytes], length: int, **more: int) -> int:
        """A key made usable with a list of entries; the key itself."""
        mask = LEN | FREE | LW | RR | RW | LR | START
        self.umr(key, mask, padded(entries), access=0x7C, length=length, **more)  # type: ignore[arg-type]
        assert self.finish() == 0
        return key

    def rdma_write(self, source: bytes, rkey: int, address: int, signaled: bool = True) -> None:
        self.post(8, struct.pack(">QI4x", address, rkey) + source, signaled=signaled)

    def rdma_read(self, target: bytes, rkey: int, address: int) -> None:
        self.post(0x10, struct.pack(">QI4x", address, rkey) + target)

    def through(self, key: int, length: int, address: int = 0) -> bytes | int:
        """The `length` bytes that a key reads from `address` on, by way of the memory's upper half; or the syndrome."""
        ctypes.memset(self.start + self.size // 2, 0, length)
        self.rdma_read(self.sge(self.size // 2, length), key, address)
        done = self.poll()
        assert isinstance(done, Completion), done
        return done.syndrome or self.read(length, self.size // 2)

    # ---- objects ----------------------------------------------------------------------------------------------------

    def mkey(self, mkc: bytes, entries: bytes = b"", octowords: int | None = None, **of: int) -> int:
        """CREATE_MKEY with a whole mkey context; the key with its tag."""
        command = bytearray(272 + len(entries))
        struct.pack_into(">H", command, 0, 0x200)
        command[0x10:0x50] = mkc
        struct.pack_into(">I", command, 0x60, len(entries) // 16 if octowords is None else octowords)
        if "umem" in of:
            struct.pack_into(">IQ", command, 0x64, of["umem"], of.get("umem_offset", 0))
            command[0x0C] |= 0x40
        command[272:] = entries
        number, answer = self.device.devx(bytes(command))
        self.made = number
        return int.from_bytes(answer[9:12], "big") << 8 | mkc[7]

    def destroy(self, number: int) -> None:
        self.device.command(0x1001, 0x1001, handle(0x1000, number))

    def devx_query(self, number: int, command: bytes, reply: int) -> bytes:
        answer = self.device.command(0x1001, 0x1003, handle(0x1000, number), value(0x1001, command), out(0x1002, reply))
        back = answer[0x1002]
        assert isinstance(back, bytes)
        return back

    def devx_modify(self, number: int, command: bytes, reply: int = 16) -> bytes:
        answer = self.device.command(0x1001, 0x1002, handle(0x1000, number), value(0x1001, command), out(0x1002, reply))
        back = answer[0x1002]
        assert isinstance(back, bytes)
        return back

    def other(self, command: bytes, reply: int) -> bytes:
        back = self.device.command(0x1000, 0x1000, value(0x1000, command), out(0x1001, reply))[0x1001]
        assert isinstance(back, bytes)
        return back


KLM, KSM, MTT, PA = 2, 3, 1, 0


def mkc(
    pdn: int,
    *,
    mode: int = KLM,
    free: bool = True,
    access: int = 0x1F,
    tag: int = 0,
    start: int = 0,
    length: int = 0,
    room: int = 16,
    bsf: bool = False,
    bsf_room: int = 0,
    crypto: bool = False,
    log_size: int = 0,
    umr: bool = True,
    rinval: bool = False,
    qpn: int = 0xFFFFFF,
) -> bytes:
    """An mkey context. `access`: atomic 16, remote write 8, remote read 4, local write 2, local read 1."""
    return struct.pack(
        ">BBBBI4xIQQI16xIII",
        free << 6 | mode >> 2 << 2,
        0,
        umr << 7 | access << 2 | mode & 3,
        0,
        qpn << 8 | tag,
        bsf << 30 | rinval << 24 | pdn,
        start,
        length,
        bsf_room,
        room,
        log_size,
        crypto << 27,
    )
