"""Whatever numbers a work request holds, the model answers: no exception but its own, no loop, no stray byte."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.constants import WC_OPCODE, WC_STATUS
from mkeyspec.device.protocol import (
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
    Write,
)
from tests.device.bench import Bench, crc, layout, signature

EDGES = [0, 1, 2, 3, 4, 7, 8, 15, 16, 255, 256, 511, 512, 516, 520, 1032, 4096, 65535, 65536, 2**31, 2**32 - 1, 2**32,
         2**63, 2**64 - 1, 2**64, -1]  # fmt: skip
LENGTH = 2080
SIDES: tuple[Side, Side] = ("owner", "peer")


class World:
    """What random requests may name: keys, addresses and mkeys of both sides, and numbers that are none of them."""

    def __init__(self) -> None:
        self.bench = bench = Bench()
        self.memories: list[Memory] = []
        self.mkeys: list[Mkey] = []
        for side in SIDES:
            memory = bench.memory(LENGTH, peer=side == "peer")
            self.memories.append(memory)
            qp = bench.pair.peer if side == "peer" else bench.pair.owner
            for flags in (1, 3, 3 | 8 | 16):
                mkey = bench.device.mkey(side, create_flags=flags, max_entries=8)
                self.mkeys.append(mkey)
                given_: tuple[Setter, ...] = (
                    SetAccess(15),
                    layout(memory),
                    *([signature(wire=crc("crc32"))] if flags > 3 else []),
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
        memory, mkeys = self.memories[at], self.mkeys[3 * at : 3 * at + 3]
        offset, length = st.sampled_from([0, 0, 0, 1, 512, 516]), st.sampled_from([1, 8, 512, 516, 520, 1032, 1040])
        region = st.tuples(offset.map(lambda o: memory.addr + o), length, st.just(memory.lkey))
        indirect = st.tuples(offset, length, st.sampled_from([mkey.lkey for mkey in mkeys]))
        wild = st.tuples(self.addr, st.one_of(length, self.number), self.key)
        return st.one_of(region, indirect, indirect, region, indirect, wild)

    def sges(self, side: str, size: int = 3) -> st.SearchStrategy[tuple[Sge, ...]]:
        return st.lists(self.places(side).map(lambda p: Sge(*p)), min_size=1, max_size=size).map(tuple)

    def setters(self, side: str) -> st.SearchStrategy[tuple[Any, ...]]:
        n = self.number
        mask = st.one_of(st.integers(0, 255), n)
        strip = st.builds(
            lambda p, count, skip: Interleaved(p[0], count, skip, p[2]), self.places(side),
            st.one_of(st.integers(0, 600), n), st.one_of(st.integers(0, 16), n),
        )  # fmt: skip
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
        )  # fmt: skip
        flags = st.one_of(st.just(0), st.just(0), st.just(1), n)
        setter = st.one_of(
            st.one_of(st.just(15), st.integers(0, 15), n).map(SetAccess), self.sges(side, 4).map(SetList),
            st.builds(SetInterleaved, st.one_of(st.integers(0, 5), n), strips),
            st.builds(SetSignature, st.builds(SigBlockAttr, domain, domain, flags, mask, mask)),
        )  # fmt: skip
        return st.lists(setter, max_size=3, unique_by=type).map(tuple)

    def requests(self, side: str) -> st.SearchStrategy[Any]:
        n, sges, setters = self.number, self.sges(side), self.setters(side)
        far = self.places("owner" if side == "peer" else "peer")
        mkey = st.one_of(
            st.sampled_from(self.mkeys[3:6] if side == "peer" else self.mkeys[:3]), st.sampled_from(self.mkeys)
        )
        flags = st.one_of(st.just(10), st.just(10), st.just(10), n)
        imm = st.one_of(st.none(), n)
        crypto = SetCrypto(CryptoAttr(0, True, 0, 0, bytes(16), Dek(1)))
        good = st.builds(lambda f, k, s, c: Configure(1, f, k, len(s), s, c), flags, mkey, setters, st.integers(0, 1))
        write = st.builds(lambda f, s, p, i: Write(1, f, s, p[0], p[2], i), flags, sges, far, imm)
        read = st.builds(lambda f, s, p: Read(1, f, s, p[0], p[2]), flags, sges, far)
        send = st.builds(Send, n, flags, sges, imm, st.one_of(st.none(), st.none(), self.key))
        rest = st.one_of(
            st.builds(Configure, n, flags, mkey, n, setters, n, n), st.builds(LocalInv, n, flags, self.key),
            st.builds(MrList, n, flags, mkey, n, sges), st.builds(MrInterleaved, n, flags, mkey, n, n, st.just(())),
            st.builds(lambda p, q, a: FetchAdd(1, 2, Sge(*p), q[0], q[2], a), self.places(side), far, n),
            setters.filter(bool).map(lambda s: StraySetter(s[0])),
            st.just(Memcpy(1, 2, 3, 4, 5, 6, 7)), st.just(RawWqe(1, 2, b"")), st.just(StraySetter(crypto)),
            st.just(Send(1, 2, (), dc=DcAddress(1, 2))),
        )  # fmt: skip
        return st.one_of(good, good, write, read, send, send, write, read, rest)


@settings(max_examples=100, deadline=20_000)
@given(st.data())
def test_random_work_requests(data: st.DataObject) -> None:
    world = World()
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
                bench.device.post(qp, sections, abort=data.draw(rarely))
            bench.poll()
            for done in bench.owner + bench.peer:
                assert done.status in WC_STATUS
                assert (done.opcode in WC_OPCODE.values()) == (done.status == "success")
        for mkey in world.mkeys:
            with suppress(Refused):
                error = bench.check(mkey)
                assert error is None or error.type in (1, 2, 3)
    for guard in world.guards:
        assert bench.bytes_of(guard) == b"\xee" * 64
