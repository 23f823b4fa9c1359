"""Uverbs commands with something wrong in them, as many as one likes."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import struct
from collections.abc import Callable
from contextlib import suppress

from uverbs import Attr, Device, Refused, handle, out, u32, u64, value

NUMBERS = (
    0,
    1,
    2,
    3,
    15,
    63,
    64,
    255,
    4096,
    1 << 15,
    (1 << 24) - 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 63,
    (1 << 64) - 1,
)


class Mutant(Device):
    """A device whose commands are changed a little before they are given; what it is refused, it shrugs off."""

    def __init__(self, choice: random.Random) -> None:
        self.choice, self.refused, self.done, self.sane = choice, 0, 0, True
        super().__init__()
        self.sane = False

    def _changed(self, attr: Attr) -> Attr:
        choice, number = self.choice, self.choice.choice(NUMBERS)
        kind = choice.randrange(5)
        if kind == 0:
            return Attr(
                attr.number,
                attr.length,
                number if attr.size else choice.choice([number, attr.data + 1, *range(8)]) & (1 << 64) - 1,
            )
        if kind == 1:
            return Attr(
                attr.number,
                choice.choice([0, 1, 4, 8, 9, 24, 40, 65535, attr.length + 1]) & 0xFFFF,
                attr.data,
                attr.size,
            )
        if kind == 2:
            return Attr(
                choice.choice([attr.number ^ 1, attr.number + 1, 0x1000, 0xFFFF]), attr.length, attr.data, attr.size
            )
        if attr.size:
            size = choice.choice([1, 2, 4, 8])
            at = choice.randrange(max(1, attr.size - size + 1))
            ctypes.memmove(attr.data + at, number.to_bytes(8, "little")[:size], min(size, attr.size))
        return attr

    def command(self, kind: int, method: int, *attrs: Attr) -> dict[int, bytes | int]:
        some = list(attrs)
        for _ in range(0 if self.sane else self.choice.choice([0, 0, 1, 1, 2])):
            at = self.choice.randrange(len(some))
            if self.choice.randrange(8):
                some[at] = self._changed(some[at])
            else:
                some[at] = Attr(0xEEE, 0, 0)
        try:
            back = super().command(kind, method, *some)
        except Refused as refused:
            if refused.errno == errno.ENOTTY:  # libibverbs would give up ioctl altogether
                raise RuntimeError(f"ENOTTY to {kind:#x}:{method:#x}") from refused
            self.refused += 1
            back = {}
        else:
            self.done += 1
        result: dict[int, bytes | int] = {}
        for attr in attrs:
            got = back.get(attr.number)
            if attr.size:
                result[attr.number] = got if isinstance(got, bytes) and len(got) == attr.size else bytes(attr.size)
            else:
                result[attr.number] = got if isinstance(got, int) else 0
        return result


class Session:
    """One device and what it answered so far: numbers for later commands to name, right or wrong."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.device = Mutant(choice)
        self.start = self.device.memory(1 << 16)
        self.known = {name: [1, 2, 3] for name in ("pd", "pdn", "cq", "qp", "qpn", "mr", "other")}
        self.pipes = [self.device.channel(), self.device.async_fd()]

    def pick(self, name: str) -> int:
        return self.choice.choice(self.known[name]) & 0xFFFFFF

    def make_pd(self) -> None:
        pd, pdn = self.device.pd()
        self.known["pd"].append(pd)
        self.known["pdn"].append(pdn)

    def make_mr(self) -> None:
        self.known["mr"].append(self.device.mr(self.pick("pd"), self.start, 4096)[0])

    def change_mr(self) -> None:
        request = (0, self.pick("mr"), self.choice.randrange(8), self.start, 4096, self.start, self.pick("pd"), 15)
        self.device.write(0xB, struct.pack("<QIIQQQII", *request), 8)

    def make_mw(self) -> None:
        request = struct.pack("<QIB3x", 0, self.pick("pd"), self.choice.choice([1, 2]))
        self.known["mr"].append(struct.unpack_from("<I", self.device.write(0xE, request, 8)[0])[0])

    def make_cq(self) -> None:
        pipe = self.choice.choice([*self.pipes, None])
        self.known["cq"].append(self.device.cq(63, 64, pipe, buf=self.start, db=self.start + 8192))

    def make_qp(self) -> None:
        kind = self.choice.choice([2, 3, 4])
        qp, qpn = self.device.qp(self.pick("pd"), self.pick("cq"), kind, buf=self.start, db=self.start + 8192)
        self.known["qp"].append(qp)
        self.known["qpn"].append(qpn)

    def change_qp(self) -> None:
        fields = (self.pick("qp"), self.choice.choice([1, 39, 0x1FFFF]), self.choice.randrange(8))
        self.device.write(0x1A, struct.pack("<64xII24xB15x", *fields))
        self.device.write(0x8000001A, struct.pack("<64xII24xB23x", *fields), 8, 16)

    def ask_qp(self) -> None:
        self.device.write(0x19, struct.pack("<QII", 0, self.pick("qp"), 0xFFFF), 128)

    def make_ah(self) -> None:
        fields = (self.pick("pd"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
        self.device.write(
            5,
            struct.pack(
                "<16xI4x16xIBBBBHBBBBBx",
                *fields,
            ),
            4,
            16,
        )

    def make_mkey(self) -> None:
        self.known["other"].append(self.device.mkey(self.pick("pdn")))

    def make_translated(self) -> None:
        """An mkey with a translation in its command, or over a umem, whose context has a few bits turned."""
        choice, entries = self.choice, bytes(16 * self.choice.choice([0, 1, 4, 100]))
        mailbox = bytearray(272) + entries
        struct.pack_into(">H", mailbox, 0, 0x200)
        mode, room = choice.choice([1, 2, 3]), choice.choice([0, 4, 100, 1 << 16])
        struct.pack_into(
            ">BBBBI4xIQQI16xIII",
            mailbox,
            0x10,
            choice.choice([0, 0x40]),
            0,
            0xFC | mode,
            0,
            0xFFFFFF00,
            self.pick("pdn"),
            choice.choice(NUMBERS),
            choice.choice(NUMBERS),
            choice.choice([0, 4, 8]),
            room,
            12,
            0,
        )
        struct.pack_into(">IIQ", mailbox, 0x60, len(entries) // 16, choice.randrange(4), choice.choice(NUMBERS))
        for _ in range(choice.choice([0, 0, 1, 3])):
            mailbox[choice.randrange(0x10, 0x70)] ^= 1 << choice.randrange(8)
        self.known["other"].append(self.device.devx(bytes(mailbox))[0])

    def make_umem(self) -> None:
        start = self.device.memory(8192)
        back = self.device.command(
            0x1002, 0x1000, handle(0x1000), u64(0x1001, start), u64(0x1002, 8192), u32(0x1003, 7), out(0x1004, 4)
        )
        number = back[0x1000]
        assert isinstance(number, int)
        self.known["other"].append(number)

    def resize_cq(self) -> None:
        entries = self.choice.choice([1, 15, 63, 255])
        request, driver = struct.pack("<QII", 0, self.pick("cq"), entries), struct.pack("<QHHI", 0, 64, 0, 0)
        ring = self.device.memory((entries + 1) * 64)
        driver = struct.pack("<Q", ring) + driver[8:]
        self.device.command(0, 0, u64(2, 19), value(0, request), out(1, 8), value(0x1000, driver))
        moderation = struct.pack("<IIHHI", self.pick("cq"), 1, 1, self.choice.choice([1, 0xFFFF]), 0)
        self.device.command(0, 0, u64(2, 0x80000039), value(0, moderation))

    def make_devx(self) -> None:
        dek = bytes([*[0] * 11, 3, 0, *self.pick("pdn").to_bytes(3, "big")])
        mailboxes = (
            struct.pack(">HHHHII", 0xA00, 0, 0, 0xC, 0, 0) + dek + bytes(240),
            struct.pack(">HHHHII", 0xA00, 0, 0, 0x1F, 0, 0) + bytes(256),
            struct.pack(">HHHHII", 0xA00, 0, 0, 0x3A, 0, 0) + bytes(64),
            struct.pack(">HHHHII", 0x600, 0, 0, 0, 1 << 28 | self.pick("pdn"), 0),
        )
        self.known["other"].append(self.device.devx(self.choice.choice(mailboxes), 32)[0])

    def make_uar(self) -> None:
        number, offset = self.device.uar()
        self.known["other"].append(number)
        with suppress(Refused):
            self.device.map(offset)

    def devx_qp(self) -> None:
        qp, qpn = handle(0x1000, self.pick("qp")), self.pick("qpn")
        ask = struct.pack(">HHHHII", 0x50B, 0, 0, 0, qpn, 0)
        opcode = self.choice.choice([0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50A, 0x50E])
        change = bytearray(struct.pack(">HHHHII", opcode, 0, 0, 0, qpn, 0).ljust(464, b"\0"))
        for _ in range(self.choice.choice([0, 4, 40])):
            change[self.choice.randrange(16, 464)] ^= 1 << self.choice.randrange(8)
        self.device.command(0x1001, 0x1003, qp, value(0x1001, ask), out(0x1002, 272))
        self.device.command(0x1001, 0x1002, qp, value(0x1001, bytes(change)), out(0x1002, 16))

    def devx_ask(self) -> None:
        ask = struct.pack(">HHHHII", 0xA02, 0, 0, self.choice.choice([0xC, 0x1F, 0x3A]), 1, 0)
        self.device.command(0x1001, 0x1003, handle(0x1000, self.pick("other")), value(0x1001, ask), out(0x1002, 272))
        mkey = struct.pack(">HHHHII", 0x201, 0, 0, 0, self.choice.randrange(0x40), 0)
        self.device.command(0x1001, 0x1003, handle(0x1000, self.pick("other")), value(0x1001, mkey), out(0x1002, 512))
        for opcode in (0x101, 0x10A, 0x750, 0x754, 0x760, 0x762, 0x842):
            asked = struct.pack(">HHHHQ", opcode, 0, 0, 0, self.choice.choice(NUMBERS))
            self.device.command(0x1000, 0x1000, value(0x1000, asked), out(0x1001, 528))
        page = struct.pack(">HHHHQ", 0x100, 0, 0, self.choice.choice([1, 5, 7, 0x35, 0xFF]), 0)
        self.device.command(0x1000, 0x1000, value(0x1000, page), out(0x1001, 4112))

    def ask_port(self) -> None:
        self.device.command(0, 2, u64(0, 1), out(1, 48))
        self.device.command(0, 6, u64(0, 1), u64(1, self.choice.randrange(9)), u32(2, 0), out(3, 32))
        self.device.command(0, 5, u64(0, 32), u32(1, 0), out(2, 256), out(3, 8))
        self.device.write(0x80000001, bytes(8), 304, 104)

    def destroy(self) -> None:
        device = self.device
        ends: list[Callable[[], object]] = [
            lambda: device.destroy_mr(self.pick("mr")),
            lambda: device.destroy_cq(self.pick("cq")),
            lambda: device.destroy_qp(self.pick("qp")),
            lambda: device.destroy_pd(self.pick("pd")),
            lambda: device.command(8, 0, handle(0, self.pick("mr"))),
            lambda: device.command(5, 1, handle(0, self.pick("other")), out(1, 4)),
            lambda: device.command(6, 0, handle(0, self.pick("other"))),
            lambda: device.command(0x1001, 0x1001, handle(0x1000, self.pick("other"))),
            lambda: device.command(0x1002, 0x1001, handle(0x1000, self.pick("other"))),
            lambda: device.command(0x1008, 0x1001, handle(0x1000, self.pick("other"))),
        ]
        self.choice.choice(ends)()

    def steps(self) -> list[Callable[[], None]]:
        return [
            self.make_pd, self.make_mr, self.change_mr, self.make_mw, self.make_cq, self.make_qp, self.change_qp,
            self.ask_qp, self.make_ah, self.make_mkey, self.make_translated, self.make_umem, self.resize_cq,
            self.make_devx, self.make_uar, self.devx_qp, self.devx_ask,
            self.ask_port, self.destroy, self.destroy,
        ]  # fmt: skip


def fuzz() -> None:
    """Good commands with something changed, in any order: an errno or success, never a crash or a hang.

    MKEYSPEC_FUZZ_SEED and MKEYSPEC_FUZZ_ROUNDS make other ones and more of them.
    """
    choice = random.Random(int(os.environ.get("MKEYSPEC_FUZZ_SEED", "1")))
    refused = done = 0
    for _ in range(int(os.environ.get("MKEYSPEC_FUZZ_ROUNDS", "40"))):
        session = Session(choice)
        for _ in range(150):
            choice.choice(session.steps())()
        refused, done = refused + session.device.refused, done + session.device.done
        session.device.close()
    print(f"{done} done, {refused} refused")
    assert min(done, refused) > (done + refused) // 10, "nearly all or nearly none of it was wrong: nothing was learned"
