"""Data work requests: rights, statuses, receives, invalidation, ordering, errors of a QP."""

from __future__ import annotations

import errno
from dataclasses import replace
from itertools import pairwise

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    CompareSwap,
    Configure,
    FetchAdd,
    LocalInv,
    Memory,
    Qp,
    QpAttributes,
    Read,
    Refused,
    Send,
    SetAccess,
    SetList,
    Sge,
    Write,
)
from tests.device.model.fixtures import (
    CONFIGURES,
    EVERYTHING,
    INDIRECT,
    RX,
    SIGNALED,
    SIGNED,
    TX,
    Bench,
    counter,
    crc,
    layout,
    signature,
    statuses,
)

LW, RW, RR, RA = 1, 2, 4, 8
NEEDED = {"send": 0, "write": 0, "recv": LW, "read": LW, "peer_read": RR, "peer_write": RW}
REFUSED = {"recv": "rem_op_err", "read": "loc_prot_err", "peer_read": "rem_access_err", "peer_write": "rem_access_err"}


def use(bench: Bench, key: int, by: str, length: int = 8) -> str:
    return bench.transmit(key, length, by)[0] if by in TX else bench.receive(key, b"\x5c" * length, by)


@pytest.mark.parametrize("by", TX + RX)
@pytest.mark.parametrize("access", range(16))
def test_rights(by: str, access: int) -> None:
    """ACC-01, ACC-04, ACC-06: the mkey's own right decides; refused, nothing is written."""
    bench = Bench()
    mem = bench.memory(counter(8))
    mkey = bench.over(mem, flags=INDIRECT, access=access)
    granted = access & NEEDED[by] == NEEDED[by]
    assert use(bench, mkey.lkey, by) == ("success" if granted else REFUSED[by])
    assert bench.bytes_of(mem) == (b"\x5c" * 8 if granted and by in RX else counter(8))


@pytest.mark.parametrize("by", TX + RX)
def test_rights_of_the_memory_of_an_mkey(by: str) -> None:
    """3.1: through an mkey, reading needs no access flag of the memory; writing needs LOCAL_WRITE, also by a peer."""
    for access, ok in ((0, by in TX), (LW, True), (RR, by in TX)):
        bench = Bench()
        mkey = bench.over(bench.memory(counter(8), access=access))
        assert (use(bench, mkey.lkey, by) == "success") == ok


def test_rights_are_replaced_and_kept() -> None:
    """ACC-02, ACC-07, CFG-09: read, then write: only write remains; a layout alone keeps it."""
    bench = Bench()
    mem = bench.memory(counter(8))
    mkey = bench.over(mem, access=RR)
    assert bench.configure(mkey, SetAccess(RW)) == 0
    assert use(bench, mkey.rkey, "peer_write") == "success"
    assert bench.configure(mkey, layout(mem)) == 0
    assert use(bench, mkey.rkey, "peer_write") == "success"
    assert use(bench, mkey.rkey, "peer_read") == "rem_access_err"


def test_an_mkey_that_never_saw_a_setter() -> None:
    """CFG-14, LAY-02, ACC-07, X-OPEN-23."""
    bench = Bench()
    mem = bench.memory(counter(8))
    mkey = bench.mkey()

    def outcome(by: str) -> str:
        status = use(bench, mkey.lkey, by)
        bench.device.reconnect(bench.pair)
        return status

    assert outcome("send") == "loc_prot_err"
    assert bench.configure(mkey, SetAccess(15)) == 0
    assert outcome("send") == "loc_prot_err"
    other = mkey = bench.mkey()
    assert bench.configure(other, layout(mem)) == 0
    assert [outcome(by) for by in ("send", "recv", "peer_write")] == ["success", "rem_op_err", "rem_access_err"]


@pytest.mark.parametrize("by", TX + RX)
def test_keys_that_are_not_valid(by: str) -> None:
    """CFG-25, INT-10: found out by the data work request, not by the configuration."""
    bench = Bench()
    mem, other = bench.memory(counter(8)), bench.memory(counter(8))
    for sge in (Sge(mem.addr, 8, mem.lkey + 1), Sge(mem.addr, 8, other.lkey), Sge(mem.addr + 1, 8, mem.lkey)):
        mkey = bench.mkey()
        assert bench.configure(mkey, SetAccess(15), SetList((sge,))) == 0
        assert use(bench, mkey.lkey, by) not in ("success", "retry_exc_err")
        bench.device.reconnect(bench.pair)
    assert bench.bytes_of(mem) + bench.bytes_of(other) == counter(8) * 2


@pytest.mark.parametrize("by", TX + RX)
def test_protection_domains(by: str) -> None:
    """MKY-11: an mkey of another domain than its QP, and entries of another domain than their mkey."""
    bench = Bench()
    device = bench.device
    foreign = device.pd("owner")
    stray = device.memory("owner", 8, access=EVERYTHING, pd=foreign)
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), layout(stray)) == 0
    assert use(bench, mkey.lkey, by) not in ("success", "retry_exc_err")
    device.reconnect(bench.pair)
    apart = device.mkey("owner", create_flags=1, max_entries=4, pd=foreign)
    assert bench.configure(apart, SetAccess(15), layout(stray)) == 0
    assert statuses(bench.owner) == ["loc_qp_op_err"]
    bench.pair = device.qp_pair(QpAttributes(pd=foreign))
    assert bench.configure(apart, SetAccess(15), layout(stray)) == 0
    assert use(bench, apart.lkey, by) == "success"


def test_completions_of_each_operation() -> None:
    """CFG-14: opcodes, byte counts, immediates; unsignaled ones tell nothing.

    A requester's byte count is of what came back: libmlx5 sets it for READ and atomics alone.
    """
    bench = Bench()
    wire, mem = bench.memory(8, peer=True), bench.memory(counter(8))
    there = (Sge(wire.addr, 8, wire.lkey),)
    here = (Sge(mem.addr, 8, mem.lkey),)

    def seen(request: object, receive: bool = False, peer: bool = False) -> list[tuple[object, ...]]:
        if receive:
            assert bench.device.post_recv(bench.pair.peer, 70, there) == 0
        assert bench.post(request, peer=peer) == 0
        return [(c.queue, c.wr_id, c.status, c.opcode, c.byte_len, c.imm) for c in bench.owner + bench.peer]

    ok = "success"
    assert seen(Send(1, SIGNALED, here), True) == [("send", 1, ok, "send", 0, None), ("recv", 70, ok, "recv", 8, None)]
    assert seen(Send(1, 0, here, imm=0x12345678), True) == [("recv", 70, ok, "recv", 8, 0x12345678)]
    assert seen(Send(1, SIGNALED | 4 | 1, ()), True)[1][4] == 0
    assert seen(Write(2, SIGNALED, here, wire.addr, wire.rkey)) == [("send", 2, ok, "rdma_write", 0, None)]
    assert seen(Write(2, 0, here, wire.addr, wire.rkey, imm=7), True) == [("recv", 70, ok, "recv_rdma_with_imm", 8, 7)]
    assert seen(Read(3, SIGNALED, here, wire.addr, wire.rkey)) == [("send", 3, ok, "rdma_read", 8, None)]
    assert seen(Write(4, SIGNALED, (), 0, 0)) == [("send", 4, ok, "rdma_write", 0, None)], "the rig's quiesce"


def test_a_receive_into_a_signature_mkey_counts_wire_bytes_or_memory() -> None:
    for profile, count in ((Profile(), 1024), (Profile(recv_byte_len="memory"), 1032)):
        bench = Bench(profile)
        mkey = bench.over(bench.memory(1032), sig=signature(mem=crc("crc32")))
        assert bench.receive(mkey.lkey, counter(1024)) == "success"
        assert [c.byte_len for c in bench.owner] == [count]


def test_receives_are_scattered_over_their_sges() -> None:
    bench = Bench()
    a, b = bench.memory(5), bench.memory(9)
    bench.device.post_recv(bench.pair.owner, 1, (Sge(a.addr, 5, a.lkey), Sge(0, 0, 0), Sge(b.addr, 9, b.lkey)))
    source = bench.memory(counter(12), peer=True)
    bench.post(Send(1, 2, (Sge(source.addr, 12, source.lkey),)), peer=True)
    assert bench.bytes_of(a) + bench.bytes_of(b) == counter(12) + b"\xee" * 2


def test_no_receive() -> None:
    bench = Bench()
    mem = bench.memory(8)
    sge = (Sge(mem.addr, 8, mem.lkey),)
    assert bench.post(Send(1, 0, sge), Send(2, 0, sge), Write(3, 0, (), 0, 0)) == 0
    assert [(c.wr_id, c.status) for c in bench.owner] == [
        (1, "rnr_retry_exc_err"),
        (2, "wr_flush_err"),
        (3, "wr_flush_err"),
    ]
    assert bench.peer == []


def test_a_message_longer_than_its_receive() -> None:
    bench = Bench()
    mem, small = bench.memory(8), bench.memory(7, peer=True)
    for _ in range(2):
        bench.device.post_recv(bench.pair.peer, 5, (Sge(small.addr, 7, small.lkey),))
    bench.post(Send(1, 0, (Sge(mem.addr, 8, mem.lkey),)))
    assert statuses(bench.owner) == ["rem_inv_req_err"]
    assert statuses(bench.peer) == ["loc_len_err", "wr_flush_err"]
    assert bench.bytes_of(small) == b"\xee" * 7


def test_a_qp_in_error_flushes_until_it_is_reconnected() -> None:
    bench = Bench()
    mem, wire = bench.memory(8), bench.memory(8, peer=True)
    good = Write(2, 0, (Sge(mem.addr, 8, mem.lkey),), wire.addr, wire.rkey)
    for qp, wr_id in ((bench.pair.owner, 8), (bench.pair.peer, 7)):
        assert bench.device.post_recv(qp, wr_id, ()) == 0
    assert bench.post(good, replace(good, rkey=0, wr_id=3), good) == 0
    assert [(c.queue, c.wr_id, c.status) for c in bench.owner] == [
        ("send", 3, "rem_access_err"), ("recv", 8, "wr_flush_err"), ("send", 2, "wr_flush_err")
    ]  # fmt: skip
    assert [(c.wr_id, c.status) for c in bench.peer] == [(7, "wr_flush_err")], "the responder is in error too"
    assert bench.post(good) == 0
    assert statuses(bench.owner) == ["wr_flush_err"]
    assert bench.device.post_recv(bench.pair.owner, 9, ()) == 0
    bench.poll()
    assert statuses(bench.owner) == ["wr_flush_err"]
    assert bench.device.reconnect(bench.pair) == bench.pair
    assert bench.post(replace(good, flags=2)) == 0
    assert statuses(bench.owner) == ["success"]


def test_the_other_end_of_a_qp_in_error_gets_no_answer() -> None:
    bench = Bench()
    mem = bench.memory(8)
    bench.post(Write(1, 0, (Sge(mem.addr, 8, 0),), 0, 0))
    assert statuses(bench.owner) == ["loc_prot_err"]
    bench.post(Write(1, 0, (), 0, 0), peer=True)
    assert statuses(bench.peer) == ["retry_exc_err"]


def test_configured_and_used_in_one_section() -> None:
    """CFG-15, CFG-16, CFG-17: no wait, no completion that was not asked for."""
    bench = Bench()
    mem, wire = bench.memory(b"\xa5" * 512), bench.memory(516, peer=True)
    mkey, second = bench.mkey(), bench.mkey()
    flags = CONFIGURES & ~SIGNALED
    setters = (SetAccess(15), layout(mem), signature(wire=crc("crc32")))
    outer = (SetAccess(15), SetList((Sge(0, 4, mkey.lkey),)))
    bench.device.post_recv(bench.pair.peer, 1, (Sge(wire.addr, 516, wire.lkey),))
    assert (
        bench.post(
            Configure(1, flags, mkey, 3, setters),
            Configure(2, flags, second, 2, outer),
            Send(3, SIGNALED, (Sge(0, 516, mkey.lkey),)),
            Write(4, 0, (Sge(0, 4, second.lkey),), wire.addr, wire.rkey),
        )
        == 0
    )
    assert [(c.wr_id, c.opcode) for c in bench.owner] == [(3, "send")]
    assert bench.bytes_of(wire) == b"\xa5" * 512 + bytes.fromhex("699aca21")


def test_sq_sig_all() -> None:
    bench = Bench(qp=QpAttributes(sq_sig_all=True))
    flags = CONFIGURES & ~SIGNALED
    configure = Configure(5, flags, bench.mkey(), 1, (signature(crc("crc32"), crc("crc32")),))
    assert bench.post(configure, Write(6, 0, (), 0, 0)) == 0
    assert [(c.wr_id, c.opcode) for c in bench.owner] == [(5, "driver1"), (6, "rdma_write")], "one each (X-BUG-04)"


# Invalidation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_post_send", [True, False])
@pytest.mark.parametrize("by", TX + RX)
def test_local_invalidate(by: str, by_post_send: bool) -> None:
    """CFG-10, CFG-11, WRP-17: unusable, and configured again."""
    bench = Bench()
    mem = bench.memory(counter(8))
    mkey = bench.over(mem, sig=signature(wire=crc("crc32")))
    assert bench.post(LocalInv(4, SIGNALED, mkey.rkey, by_post_send)) == 0
    assert [(c.opcode, c.status) for c in bench.owner] == [("local_inv", "success")]
    assert use(bench, mkey.lkey, by) not in ("success", "retry_exc_err")
    assert bench.bytes_of(mem) == counter(8)
    bench.device.reconnect(bench.pair)
    assert bench.configure(mkey, SetAccess(15), layout(mem), reset=True) == 0
    assert use(bench, mkey.lkey, by) == "success"


def test_what_local_invalidate_forgets() -> None:
    """CFG-10 undoes the configuration; what a driver leaves is the profile's (X-OPEN-09)."""
    for profile, status in ((Profile(), "loc_prot_err"), (Profile(invalidate_clears=False), "success")):
        bench = Bench(profile)
        mkey = bench.over(bench.memory(counter(8)))
        bench.post(LocalInv(4, 0, mkey.rkey))
        assert bench.configure(mkey, SetAccess(15)) == 0
        assert bench.transmit(mkey.lkey, 8)[0] == status
        bench.device.reconnect(bench.pair)
        bench.post(LocalInv(4, 0, mkey.rkey))
        assert bench.transmit(mkey.lkey, 8)[0] == "loc_prot_err"


def test_local_invalidate_from_another_protection_domain() -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(counter(8)))
    usual = bench.pair
    bench.pair = bench.device.qp_pair(QpAttributes(pd=bench.device.pd("owner")))
    bench.post(LocalInv(4, 0, mkey.rkey))
    assert statuses(bench.owner) == ["loc_prot_err"]
    bench.pair = usual
    assert bench.transmit(mkey.lkey, 8) == ("success", counter(8))


def test_local_invalidate_of_memory_and_of_nothing() -> None:
    bench = Bench()
    for key in (bench.memory(8).rkey, 0, 0xFFFFFFFF):
        bench.post(LocalInv(4, 0, key))
        assert statuses(bench.owner) == ["loc_prot_err"]
        bench.device.reconnect(bench.pair)


def invalidating_send(bench: Bench, rkey: int) -> Memory:
    mem, source = bench.memory(8), bench.memory(counter(8), peer=True)
    assert bench.device.post_recv(bench.pair.owner, 5, (Sge(mem.addr, 8, mem.lkey),)) == 0
    bench.post(Send(6, SIGNALED, (Sge(source.addr, 8, source.lkey),), invalidate_rkey=rkey), peer=True)
    return mem


def test_remote_invalidate() -> None:
    """MKY-08: the receive tells the key, and the mkey is free."""
    bench = Bench()
    mkey = bench.over(bench.memory(counter(8)), flags=INDIRECT | 16)
    mem = invalidating_send(bench, mkey.rkey)
    assert statuses(bench.peer) == ["success"]
    assert [(c.status, c.invalidated_rkey) for c in bench.owner] == [("success", mkey.rkey)]
    assert bench.bytes_of(mem) == counter(8)
    assert bench.transmit(mkey.lkey, 8)[0] == "loc_prot_err"


@pytest.mark.parametrize("which", ["no flag", "memory", "nothing"])
def test_remote_invalidate_that_is_refused(which: str) -> None:
    """MKY-08, X-OPEN-27: an error at both ends, nothing delivered, nothing invalidated."""
    bench = Bench()
    after = bench.memory(counter(8))
    mkey = bench.over(after, flags=INDIRECT)
    key = {"no flag": mkey.rkey, "memory": after.rkey, "nothing": 0}[which]
    mem = invalidating_send(bench, key)
    assert (statuses(bench.peer), statuses(bench.owner)) == (["rem_inv_req_err"], ["loc_prot_err"])
    assert bench.bytes_of(mem) == b"\xee" * 8
    bench.device.reconnect(bench.pair)
    assert bench.transmit(mkey.lkey, 8) == ("success", counter(8))


def test_tags() -> None:
    """MKY-06: the new key holds from the next configuration on, the old one is not a key any more."""
    bench = Bench()
    mem = bench.memory(counter(8))
    mkey = bench.over(mem, flags=INDIRECT | 8)
    tagged = bench.device.retag(mkey, 0x1A5)
    assert (tagged.lkey ^ mkey.lkey, tagged.lkey & 255, tagged.rkey) == (0xA5, 0xA5, tagged.lkey)
    assert bench.configure(tagged, layout(mem)) == 0
    assert bench.transmit(tagged.lkey, 8) == ("success", counter(8))
    assert bench.transmit(mkey.lkey, 8)[0] == "loc_prot_err"
    without = bench.mkey()
    assert bench.device.retag(without, 1).lkey == without.lkey | 1, "no call is made that could refuse it"


# The rest -----------------------------------------------------------------------------------------


def test_fetch_add() -> None:
    bench = Bench()
    cell = bench.memory((41).to_bytes(8, "little") + b"rest")
    for access, status in ((RA, "success"), (LW | RW | RR, "rem_access_err")):
        mkey = bench.over(cell, access=access)
        old = bench.memory(8, peer=True)
        add = FetchAdd(1, SIGNALED, Sge(old.addr, 8, old.lkey), 0, mkey.rkey, 1)
        bench.post(add, peer=True)
        assert statuses(bench.peer) == [status]
    assert bench.bytes_of(cell) == (42).to_bytes(8, "little") + b"rest"
    bench.device.reconnect(bench.pair)
    bench.post(replace(add, remote_addr=4), peer=True)
    assert statuses(bench.peer) == ["rem_inv_req_err"]
    bench.device.reconnect(bench.pair)
    wraps = bench.memory(b"\xff" * 8)
    bench.post(replace(add, remote_addr=wraps.addr, rkey=wraps.rkey, add=2), peer=True)
    assert (bench.bytes_of(wraps), bench.bytes_of(old)) == ((1).to_bytes(8, "little"), b"\xff" * 8)


def test_compare_swap() -> None:
    """IBTA 9.4.5, ibv_wr_post(3): the answer is what was there; only an equal value is swapped."""
    bench = Bench()
    there, new = 0x0123456789ABCDEF, 0xFEDCBA9876543210
    for compare, left in ((there, new), (there ^ 1, there), (there ^ 1 << 63, there), (new, there)):
        cell = bench.memory(there.to_bytes(8, "little") + b"rest")
        mkey = bench.over(cell, access=RA)
        old = bench.memory(8, peer=True)
        swap = CompareSwap(1, SIGNALED, Sge(old.addr, 8, old.lkey), 0, mkey.rkey, compare, new)
        bench.post(swap, peer=True)
        assert statuses(bench.peer) == ["success"]
        assert bench.bytes_of(old) == there.to_bytes(8, "little")
        assert bench.bytes_of(cell) == left.to_bytes(8, "little") + b"rest"
    refused = bench.over(cell, access=LW | RW | RR)
    bench.post(replace(swap, rkey=refused.rkey), peer=True)
    assert statuses(bench.peer) == ["rem_access_err"]
    bench.device.reconnect(bench.pair)
    bench.post(replace(swap, remote_addr=4), peer=True)
    assert statuses(bench.peer) == ["rem_inv_req_err"]


def owner_and_peer(bench: Bench) -> list[str]:
    """Whether each end still sends: a signaled write of nothing."""
    found = []
    for peer in (False, True):
        bench.post(Write(9, SIGNALED, (), 0, 0), peer=peer)
        found += statuses(bench.peer if peer else bench.owner)
    return found


@pytest.mark.parametrize("op", ["read", "fetch_add", "compare_swap"])
@pytest.mark.parametrize(("here", "there"), [(True, True), (True, False), (False, True), (False, False)])
def test_the_other_end_judges_a_read_first(op: str, here: bool, there: bool) -> None:
    """The request goes out before the scatter list is looked at, so that the responder's NAK wins, and the responder
    is in error too; where the local side alone is wrong, only the requester is."""
    bench = Bench()
    mem = bench.memory(8, access=EVERYTHING if here else 0)
    far = bench.memory((41).to_bytes(8, "little"), peer=True, access=EVERYTHING if there else 0)
    sge = Sge(mem.addr, 8, mem.lkey)
    if op == "read":
        bench.post(Read(1, SIGNALED, (sge,), far.addr, far.rkey))
    elif op == "fetch_add":
        bench.post(FetchAdd(1, SIGNALED, sge, far.addr, far.rkey, 1))
    else:
        bench.post(CompareSwap(1, SIGNALED, sge, far.addr, far.rkey, 41, 42))
    expected = "rem_access_err" if not there else "success" if here else "loc_prot_err"
    assert statuses(bench.owner) == [expected]
    brought = (41).to_bytes(8, "little") if here and there else b"\xee" * 8
    assert bench.bytes_of(mem) == brought
    added = op != "read" and there
    assert bench.bytes_of(far) == (41 + added).to_bytes(8, "little")
    owner = "success" if here and there else "wr_flush_err"
    peer = "wr_flush_err" if not there else "success" if here else "retry_exc_err"
    assert owner_and_peer(bench) == [owner, peer]


def test_nobody_answers_a_read_before_its_scatter_list_is_looked_at() -> None:
    bench = Bench()
    mem, far = bench.memory(8, access=0), bench.memory(8, peer=True)
    bench.post(Write(1, SIGNALED, (Sge(0, 8, 0),), 0, 0), peer=True)
    bench.post(Read(1, SIGNALED, (Sge(mem.addr, 8, mem.lkey),), far.addr, far.rkey))
    assert statuses(bench.owner) == ["retry_exc_err"]


def test_an_unreliable_connection_loses_quietly() -> None:
    bench = Bench(qp=QpAttributes(type="uc", send_ops=0))
    mem, wire = bench.memory(counter(8)), bench.memory(8, peer=True)
    here = (Sge(mem.addr, 8, mem.lkey),)
    assert bench.post(Send(1, SIGNALED, here), Write(2, SIGNALED, here, 0, 0)) == 0
    assert statuses(bench.owner) == ["success", "success"]
    assert bench.post(Write(2, SIGNALED, here, wire.addr, wire.rkey)) == 0
    assert bench.bytes_of(wire) == counter(8)
    assert bench.post(Read(1, 0, here, wire.addr, wire.rkey)) == errno.EINVAL


def test_receive_queue_limits() -> None:
    bench = Bench(qp=QpAttributes(max_recv_wr=1, max_recv_sge=1))
    assert bench.device.post_recv(bench.pair.peer, 1, (Sge(0, 0, 0),) * 2) == errno.EINVAL
    assert bench.device.post_recv(bench.pair.peer, 1, ()) == 0
    assert bench.device.post_recv(bench.pair.peer, 1, ()) == errno.ENOMEM
    nobody = Qp(9999, "owner", 1, 0)
    assert (bench.device.post_recv(nobody, 1, ()), bench.device.post(nobody, []), bench.device.poll(nobody)) == (
        errno.EINVAL,
        errno.EINVAL,
        [],
    )


def test_buffers_of_the_host() -> None:
    bench = Bench()
    mem = bench.memory(counter(8), misaligned=5)
    assert mem.addr % 64 == 5
    assert bench.device.read(mem, 3, 2).tobytes() == counter(2, 3)
    for call in (lambda: bench.device.read(mem, 7, 2), lambda: bench.device.write(mem, -1, b"x")):
        with pytest.raises(Refused):
            call()


def test_memories_are_apart() -> None:
    """d.19: no two share a key, none is next to another."""
    bench = Bench()
    memories = [bench.memory(n, peer=bool(n % 2)) for n in range(60, 70)]
    spans = sorted((m.addr, m.addr + m.length) for m in memories)
    assert len({m.lkey for m in memories}) == 10
    assert all(after[0] - before[1] >= 4096 for before, after in pairwise(spans))


def test_release_makes_the_next_case_as_the_first() -> None:
    bench = Bench()
    device = bench.device

    def case() -> tuple[object, ...]:
        pair = device.qp_pair(QpAttributes())
        mem = device.memory("owner", 8, access=EVERYTHING)
        mkey = device.mkey("owner", create_flags=SIGNED, max_entries=4)
        assert device.post(pair.owner, [Configure(1, CONFIGURES, mkey, 2, (SetAccess(15), layout(mem)))]) == 0
        return pair, mem, mkey, device.poll(pair.owner), device.read(mem, 0, 8).tobytes()

    device.release(healthy=True)
    first = case()
    device.release(healthy=False)
    assert case() == first
    device.close()
