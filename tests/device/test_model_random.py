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
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    StraySetter,
    Unsupported,
    Write,
)
from tests.device.bench import Bench

EDGES = [0, 1, 2, 3, 4, 7, 8, 15, 16, 255, 256, 511, 512, 516, 520, 1032, 4096, 65535, 65536, 2**31, 2**32 - 1, 2**32,
         2**63, 2**64 - 1, 2**64, -1]  # fmt: skip
LENGTH = 2080


class World:
    """What random requests may name: keys, addresses and mkeys of both sides, and numbers that are none of them."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.memories: list[Memory] = []
        self.mkeys: list[Mkey] = []
        device = self.bench.device
        for peer in (False, True):
            self.memories.append(self.bench.memory(LENGTH, peer=peer))
            for flags in (1, 3, 3 | 8 | 16):
                self.mkeys.append(device.mkey("peer" if peer else "owner", create_flags=flags, max_entries=8))
        self.guards = [self.bench.memory(64, peer=peer, access=0) for peer in (False, True)]
        self.mkeys.append(Mkey(12345, "owner", 77, 78, 4))
        keys = [m.lkey for m in self.memories] + [m.lkey for m in self.mkeys]
        addresses = [m.addr for m in self.memories]
        self.number = st.one_of(st.sampled_from(EDGES), st.integers(-(2**65), 2**65))
        self.small = st.one_of(st.sampled_from(EDGES[:18]), self.number)
        self.key = st.one_of(st.sampled_from(keys), st.sampled_from(keys), self.number)
        self.addr = st.one_of(st.sampled_from([*addresses, 0, 0, 512, 516, 520]), self.number)

    def requests(self) -> st.SearchStrategy[Any]:
        n, s = self.number, self.small
        mask = st.one_of(st.integers(0, 255), n)
        sge = st.builds(Sge, self.addr, s, self.key)
        sges = st.lists(sge, max_size=4).map(tuple)
        strips = st.lists(st.builds(Interleaved, self.addr, s, s, self.key), max_size=4).map(tuple)
        seed = st.one_of(st.sampled_from([0, 0xFFFF, 2**32 - 1, 2**64 - 1]), n)
        enum = st.one_of(st.integers(0, 4), n)
        crc = st.builds(SigBlockDomain, st.just(1), st.builds(SigCrc, st.integers(0, 2), seed), enum)
        dif = st.builds(SigT10dif, st.integers(0, 1), seed, s, n, st.integers(0, 7))
        wild_dif = st.builds(SigT10dif, enum, n, n, n, n)
        wild = st.builds(SigBlockDomain, enum, st.one_of(dif, st.builds(SigCrc, enum, seed), wild_dif), enum, s)
        domain = st.one_of(st.none(), crc, st.builds(SigBlockDomain, st.just(0), dif, enum), wild)
        setter = st.one_of(
            st.builds(SetAccess, st.one_of(st.just(15), n)), st.builds(SetList, sges),
            st.builds(SetInterleaved, s, strips),
            st.builds(SetSignature, st.builds(SigBlockAttr, domain, domain, st.sampled_from([0, 0, 1]), mask, mask)),
            st.builds(SetSignature, st.builds(SigBlockAttr, domain, domain, n, mask, mask, n)),
        )  # fmt: skip
        mkey = st.sampled_from(self.mkeys)
        flags = st.one_of(st.sampled_from([0, 2, 8, 10]), n)
        setters = st.lists(setter, max_size=3).map(tuple)
        good = setters.flatmap(
            lambda given_: st.builds(Configure, n, st.just(10), mkey, st.just(len(given_)), st.just(given_))
        )
        crypto = SetCrypto(CryptoAttr(0, True, 0, 0, bytes(16), Dek(1)))
        return st.one_of(
            good, good, st.builds(Configure, n, flags, mkey, s, setters, n, n), st.builds(StraySetter, setter),
            st.builds(MrList, n, flags, mkey, n, sges), st.builds(MrInterleaved, n, flags, mkey, n, s, strips),
            st.builds(Send, n, flags, sges, st.none() | n, st.none() | self.key),
            st.builds(Write, n, flags, sges, self.addr, self.key, st.none() | n),
            st.builds(Read, n, flags, sges, self.addr, self.key), st.builds(LocalInv, n, flags, self.key),
            st.builds(FetchAdd, n, flags, sge, self.addr, self.key, n), st.builds(RawWqe, n, n, st.just(b"")),
            st.builds(Memcpy, n, n, n, n, n, n, n),
            st.builds(Send, n, n, sges, st.none(), st.none(), st.just(DcAddress(1, 2))),
            st.builds(StraySetter, st.just(crypto)),
        )  # fmt: skip


@settings(max_examples=150, deadline=5000)
@given(st.data())
def test_random_work_requests(data: st.DataObject) -> None:
    world = World()
    bench = world.bench
    requests = world.requests()
    sges = st.lists(st.builds(Sge, world.addr, world.small, world.key), max_size=4)
    for _ in range(data.draw(st.integers(1, 5))):
        for qp in (bench.pair.owner, bench.pair.peer):
            bench.device.post_recv(qp, 1, data.draw(sges))
            with suppress(Unsupported):
                bench.device.post(
                    qp, data.draw(st.lists(requests, max_size=4)), abort=data.draw(st.integers(0, 9)) == 0
                )
            if data.draw(st.booleans()):
                bench.device.reconnect(bench.pair)
        bench.poll()
        for done in bench.owner + bench.peer:
            assert done.status in WC_STATUS
            assert (done.opcode in WC_OPCODE.values()) == (done.status == "success")
        for mkey in world.mkeys:
            try:
                error = bench.check(mkey)
            except Refused:
                continue
            assert error is None or error.type in (1, 2, 3)
    for guard in world.guards:
        assert bench.bytes_of(guard) == b"\xee" * 64
