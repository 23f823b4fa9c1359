"""Whatever numbers a work request holds, the model answers: no exception but its own, no loop, no stray byte."""

from __future__ import annotations

from contextlib import suppress
from errno import EFAULT
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.abi.constants import WC_OPCODE, WC_STATUS
from mkeyspec.device.protocol import (
    CompareSwap,
    Configure,
    CryptoAttr,
    DcAddress,
    Dek,
    FetchAdd,
    Interleaved,
    LocalInv,
    Memcpy,
    Memory,
    Mkey,
    MrInterleaved,
    MrList,
    Qp,
    QpAttributes,
    RawWqe,
    Read,
    Refused,
    Send,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    Side,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    StraySetter,
    Unsupported,
    WorkRequest,
    Write,
)
from tests.device.model.fixtures import Bench, crc, layout, signature

EDGES = [0, 1, 2, 3, 4, 7, 8, 15, 16, 255, 256, 511, 512, 516, 520, 1032, 4096, 65535, 65536, 2**31, 2**32 - 1, 2**32,
         2**63, 2**64 - 1, 2**64, -1]  # fmt: skip
LENGTH = 2080
KINDS = (1, 3, 3 | 8 | 16, 5, 7)
"""Create flags of each side's mkeys."""
ATTRIBUTES = (
    QpAttributes(send_ops=0x1F),
    QpAttributes(send_ops=0x1F, sig_pipelining=True),
    QpAttributes(type="uc", send_ops=8),
    QpAttributes(type="dci", send_ops=0x1F, streams=3),
    QpAttributes(type="dci", send_ops=0x1F),
)
SIDES: tuple[Side, Side] = ("owner", "peer")


def word(value: int, size: int) -> bytes:
    return (value % (1 << 8 * size)).to_bytes(size, "big")


class World:
    """What random requests may name: keys, addresses and mkeys of both sides, and numbers that are none of them."""

    def __init__(self, attributes: QpAttributes) -> None:
        self.bench = bench = Bench()
        configurers = bench.pair
        bench.pair = bench.device.qp_pair(attributes)
        self.dci = attributes.type == "dci"
        self.deks = [bench.device.dek(bytes(range(32))), bench.device.dek(bytes(range(64)), b"a keytag")]
        self.dcts = [bench.device.dct(key) for key in (0, 7)]
        self.memories: list[Memory] = []
        self.mkeys: list[Mkey] = []
        for side in SIDES:
            memory = bench.memory(LENGTH, peer=side == "peer")
            self.memories.append(memory)
            qp = configurers.peer if side == "peer" else configurers.owner
            for flags in KINDS:
                mkey = bench.device.mkey(side, create_flags=flags, max_entries=8)
                self.mkeys.append(mkey)
                given_: tuple[Setter, ...] = (
                    SetAccess(15),
                    layout(memory),
                    *([signature(wire=crc("crc32"))] if flags > 7 else []),
                    *([SetCrypto(CryptoAttr(0, True, 1, 0, bytes(16), self.deks[0]))] if flags & 4 else []),
                )
                assert bench.device.post(qp, [Configure(1, 8, mkey, len(given_), given_)]) == 0
        self.guards = [bench.memory(64, peer=side == "peer", access=0) for side in SIDES]
        self.mkeys.append(Mkey(12345, "owner", 77, 78, 4))
        self.number = st.one_of(st.sampled_from(EDGES), st.integers(-(2**65), 2**65))
        keys = [m.lkey for m in self.memories] + [m.lkey for m in self.mkeys]
        addresses = [m.addr for m in self.memories]
        self.key = st.one_of(st.sampled_from(keys), self.number)
        self.addr = st.one_of(st.sampled_from([*addresses, 0, 0, 512, 516, 520]), self.number)

    def places(self, side: str) -> st.SearchStrategy[tuple[int, int, int]]:
        """(addr, length, key): mostly of this side and in bounds."""
        at = SIDES.index(side)
        memory, mkeys = self.memories[at], self.keys_of(side)
        offset, length = st.sampled_from([0, 0, 0, 1, 512, 516]), st.sampled_from([1, 8, 512, 516, 520, 1032, 1040])
        region = st.tuples(offset.map(lambda o: memory.addr + o), length, st.just(memory.lkey))
        indirect = st.tuples(offset, length, st.sampled_from([mkey.lkey for mkey in mkeys]))
        wild = st.tuples(self.addr, st.one_of(length, self.number), self.key)
        return st.one_of(region, indirect, indirect, region, indirect, wild)

    def keys_of(self, side: str) -> list[Mkey]:
        at = SIDES.index(side) * len(KINDS)
        return self.mkeys[at : at + len(KINDS)]

    def crypto(self) -> st.SearchStrategy[SetCrypto]:
        n = self.number
        dek = st.one_of(st.sampled_from(self.deks), st.builds(Dek, n))
        tweak, keytag = st.one_of(st.just(bytes(16)), st.binary(max_size=20)), st.sampled_from([bytes(8), b"a keytag"])
        enum, order = st.one_of(st.integers(0, 4), n), st.one_of(st.integers(0, 1), n)
        zero = st.one_of(st.just(0), st.just(0), st.just(0), n)
        attr = st.builds(CryptoAttr, zero, st.booleans(), order, enum, tweak, dek, keytag, zero)
        return attr.map(SetCrypto)

    def dc(self) -> st.SearchStrategy[DcAddress | None]:
        number = st.one_of(st.sampled_from(self.dcts), self.number)
        stream = st.one_of(st.none(), st.integers(0, 3), self.number)
        address = st.builds(DcAddress, number, st.one_of(st.sampled_from([0, 7]), self.number), stream)
        return st.one_of(address, address, st.none()) if self.dci else st.one_of(*[st.none()] * 5, address)

    def wqe(self, side: str) -> st.SearchStrategy[bytes]:
        """Mostly well-formed: an opcode's segments over valid places; else cut, turned, or made of anything."""
        qp = self.bench.pair.owner if side == "owner" else self.bench.pair.peer
        far = self.places("owner" if side == "peer" else "peer")

        def pointer(place: tuple[int, int, int]) -> bytes:
            return word(place[1], 4) + word(place[2], 4) + word(place[0], 8)

        def inline(data: bytes) -> bytes:
            return (word(1 << 31 | len(data), 4) + data).ljust((len(data) + 19) // 16 * 16, b"\0")

        def whole(
            opcode: int, ce: int, address: bytes, there: tuple[int, int, int], segments: list[bytes], cut: int
        ) -> bytes:
            body = address + word(there[0], 8) + word(there[2], 4) + bytes(4) if opcode in (8, 9, 16, 18) else address
            body += b"".join(segments)
            control = word(opcode, 4) + word(qp.number << 8 | 1 + len(body) // 16, 4) + bytes(3) + word(ce, 1)
            return (control + bytes(4) + body)[: None if cut > 200 else cut]

        address = st.one_of(
            st.just(b""), st.sampled_from(self.dcts).map(lambda n: bytes(8) + word(n | 1 << 31, 4) + bytes(36))
        )
        segment = st.one_of(
            self.places(side).map(pointer), st.binary(max_size=40).map(inline), st.binary(min_size=16, max_size=16)
        )
        opcode = st.one_of(st.sampled_from([0, 1, 8, 9, 10, 11, 16, 18, 37]), st.integers(0, 255))
        made = st.builds(
            whole,
            opcode,
            st.sampled_from([0, 4, 8, 12]),
            address,
            far,
            st.lists(segment, max_size=3),
            st.integers(0, 400),
        )
        return st.one_of(made, made, made, st.binary(max_size=80))

    def sges(self, side: str, size: int = 3) -> st.SearchStrategy[tuple[Sge, ...]]:
        return st.lists(self.places(side).map(lambda p: Sge(*p)), min_size=1, max_size=size).map(tuple)

    def setters(self, side: str) -> st.SearchStrategy[tuple[Any, ...]]:
        n = self.number
        mask = st.one_of(st.integers(0, 255), n)
        strip = st.builds(
            lambda p, count, skip: Interleaved(p[0], count, skip, p[2]),
            self.places(side),
            st.one_of(st.integers(0, 600), n),
            st.one_of(st.integers(0, 16), n),
        )
        strips = st.lists(strip, max_size=4).map(tuple)
        enum = st.one_of(st.integers(0, 4), n)
        block = st.one_of(st.sampled_from([0, 0, 1, 3]), n)
        seed = st.one_of(st.sampled_from([0, 0xFFFF, 2**32 - 1, 2**64 - 1]), n)
        good_crc = st.builds(SigCrc, st.integers(0, 2), st.sampled_from([0, 2**64 - 1]))
        dif = st.builds(SigT10dif, st.integers(0, 1), st.sampled_from([0, 0xFFFF]), mask, n, st.integers(0, 7))
        wild_dif = st.builds(SigT10dif, enum, n, n, n, n)
        wild_crc = st.builds(SigCrc, enum, seed)
        domain = st.one_of(
            st.none(),
            st.builds(SigBlockDomain, st.just(1), good_crc, block),
            st.builds(SigBlockDomain, st.just(0), dif, block),
            st.builds(SigBlockDomain, enum, st.one_of(dif, wild_dif, wild_crc), enum, st.one_of(st.just(0), n)),
        )
        flags = st.one_of(st.just(0), st.just(0), st.just(1), n)
        setter = st.one_of(
            self.crypto(),
            self.sges(side, 4).map(SetList),
            st.one_of(st.just(15), st.integers(0, 15), n).map(SetAccess),
            st.builds(SetInterleaved, st.one_of(st.integers(0, 5), n), strips),
            st.builds(SetSignature, st.builds(SigBlockAttr, domain, domain, flags, mask, mask)),
        )
        return st.lists(setter, max_size=3, unique_by=type).map(tuple)

    def requests(self, side: str) -> st.SearchStrategy[Any]:
        n, sges, setters = self.number, self.sges(side), self.setters(side)
        far = self.places("owner" if side == "peer" else "peer")
        mkey = st.one_of(st.sampled_from(self.keys_of(side)), st.sampled_from(self.mkeys))
        flags = st.one_of(st.just(10), st.just(10), st.just(10), n)
        imm = st.one_of(st.none(), n)
        dc = self.dc()
        copy = st.builds(
            lambda f, p, q, length: Memcpy(1, f, q[2], q[0], p[2], p[0], length),
            flags,
            self.places(side),
            self.places(side),
            st.one_of(st.sampled_from([1, 16, 512, 516]), n),
        )
        raw = st.builds(RawWqe, n, flags, self.wqe(side))
        good = st.builds(lambda f, k, s, c: Configure(1, f, k, len(s), s, c), flags, mkey, setters, st.integers(0, 1))
        write = st.builds(lambda f, s, p, i, d: Write(1, f, s, p[0], p[2], i, d), flags, sges, far, imm, dc)
        read = st.builds(lambda f, s, p, d: Read(1, f, s, p[0], p[2], d), flags, sges, far, dc)
        send = st.builds(Send, n, flags, sges, imm, st.one_of(st.none(), st.none(), self.key), dc)
        rest = st.one_of(
            st.builds(Configure, n, flags, mkey, n, setters, n, n),
            st.builds(LocalInv, n, flags, self.key),
            st.builds(MrList, n, flags, mkey, n, sges),
            st.builds(MrInterleaved, n, flags, mkey, n, n, st.just(())),
            st.builds(lambda p, q, a, d: FetchAdd(1, 2, Sge(*p), q[0], q[2], a, d), self.places(side), far, n, dc),
            st.builds(
                lambda p, q, a, b, d: CompareSwap(1, 2, Sge(*p), q[0], q[2], a, b, d), self.places(side), far, n, n, dc
            ),
            setters.filter(bool).map(lambda s: StraySetter(s[0])),
            self.crypto().map(StraySetter),
        )
        return st.one_of(good, good, write, read, send, send, write, read, copy, raw, rest)


def post(bench: Bench, qp: Qp, sections: list[WorkRequest], *, abort: bool) -> None:
    try:
        bench.device.post(qp, sections, abort=abort)
    except Refused as refusal:
        if (refusal.call, refusal.errno) != ("ibv_wr_set_inline_data", EFAULT):  # of an address where nothing is
            raise


@settings(max_examples=120, deadline=20_000)
@given(st.data())
def test_random_work_requests(data: st.DataObject) -> None:
    world = World(data.draw(st.sampled_from(ATTRIBUTES)))
    bench = world.bench
    rarely = st.sampled_from([False] * 7 + [True])
    for _ in range(data.draw(st.integers(1, 3))):
        for side, qp, other in (
            ("owner", bench.pair.owner, bench.pair.peer),
            ("peer", bench.pair.peer, bench.pair.owner),
        ):
            if not data.draw(rarely):
                bench.device.reconnect(bench.pair)
            bench.device.post_recv(other, 1, data.draw(world.sges("peer" if side == "owner" else "owner")))
            sections = data.draw(st.lists(world.requests(side), min_size=2, max_size=4))
            with suppress(Unsupported):
                post(bench, qp, sections, abort=data.draw(rarely))
            bench.poll()
            if data.draw(rarely):
                assert -22 <= bench.device.cancel(qp, 1) <= 12
            assert bench.device.resume(qp) in (0, 22)
            assert {event.kind for event in bench.device.events()} <= {"sq_drained"}
            bench.owner += bench.device.poll(bench.pair.owner)
            for done in bench.owner + bench.peer:
                assert done.status in WC_STATUS
                assert (done.opcode in WC_OPCODE.values()) == (done.status == "success")
        for mkey in world.mkeys:
            with suppress(Refused):
                error = bench.check(mkey)
                assert error is None or error.type in (1, 2, 3)
    for guard in world.guards:
        assert bench.bytes_of(guard) == b"\xee" * 64
