"""The verbs device itself, on the software NIC: run by test_soft.py in a process that was started on it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace

import numpy as np
import pytest

from mkeyspec.abi.constants import Access, MkeyFlag, QpOps
from mkeyspec.device.protocol import (
    AsyncEvent,
    CompareSwap,
    Completion,
    Configure,
    DcAddress,
    FetchAdd,
    LocalInv,
    Memcpy,
    Mkey,
    NoSuchCall,
    Qp,
    QpAttributes,
    QpPair,
    RawWqe,
    Refused,
    Send,
    SetAccess,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    StraySetter,
    Unavailable,
    Write,
)
from mkeyspec.device.verbs import native
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.native import Raw
from mkeyspec.device.verbs.opening import open_device
from mkeyspec.run import health_check

SIGNALED, INLINE, FENCE = 2, 8, 1
ALL = int(Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC)
CRC = SigBlockDomain(1, SigCrc(0, 0xFFFFFFFF), 0)


@pytest.fixture(scope="module")
def opened() -> Iterator[Verbs]:
    device = open_device("mlx5_0", shared=True)
    yield device
    device.close()


@pytest.fixture
def nic(opened: Verbs) -> Iterator[Verbs]:
    yield opened
    opened.release(healthy=False)


def wait(nic: Verbs, qp: Qp, count: int, seconds: float = 2.0) -> list[Completion]:
    end = monotonic() + seconds
    found: list[Completion] = []
    while len(found) < count and monotonic() < end:
        found += nic.poll(qp)
        sleep(1e-4)
    return found


def configured(nic: Verbs, pair: QpPair, length: int = 512, *, sign: bool = False, flags: int = 1) -> Mkey:
    """An mkey over a fresh memory of the owner, its configuration awaited."""
    memory = nic.memory("owner", length, access=ALL)
    nic.write(memory, 0, np.arange(length, dtype=np.uint8))
    mkey = nic.mkey("owner", create_flags=flags | (int(MkeyFlag.BLOCK_SIGNATURE) if sign else 0), max_entries=4)
    setters: list[Setter] = [SetAccess(ALL), SetList((Sge(memory.addr, length, memory.lkey),))]
    if sign:
        setters.append(SetSignature(SigBlockAttr(CRC, None, check_mask=0xFF)))
    assert nic.post(pair.owner, [Configure(1, SIGNALED | INLINE, mkey, len(setters), tuple(setters))]) == 0
    [done] = wait(nic, pair.owner, 1)
    assert (done.status, done.opcode, done.wr_id) == ("success", "driver1", 1)
    return mkey


def _crc32_bzip2(data: bytes) -> int:
    """Bit by bit; check value of the catalogue of CRCs: 0xfc891918."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc ^ 0xFFFFFFFF


def test_a_signature_comes_out_of_a_real_send(nic: Verbs) -> None:
    assert _crc32_bzip2(b"123456789") == 0xFC891918
    pair = nic.qp_pair(QpAttributes())
    data = nic.memory("owner", 512, access=ALL)
    nic.write(data, 0, bytes(range(256)) * 2)
    mkey = nic.mkey("owner", create_flags=int(MkeyFlag.BLOCK_SIGNATURE), max_entries=4)
    setters = (SetAccess(ALL), SetList((Sge(data.addr, 512, data.lkey),)), SetSignature(SigBlockAttr(None, CRC)))
    assert nic.post(pair.owner, [Configure(1, SIGNALED | INLINE, mkey, 3, setters)]) == 0
    wait(nic, pair.owner, 1)
    wire = nic.memory("peer", 516, access=ALL)
    assert nic.post_recv(pair.peer, 5, [Sge(wire.addr, 516, wire.lkey)]) == 0
    assert nic.post(pair.owner, [Send(2, SIGNALED, (Sge(0, 516, mkey.lkey),))]) == 0
    [received] = wait(nic, pair.peer, 1)
    assert (received.opcode, received.byte_len) == ("recv", 516)
    assert int.from_bytes(nic.read(wire, 512, 4).tobytes(), "big") == _crc32_bzip2(bytes(range(256)) * 2)


def test_too_few_setters_post_nothing_and_leave_the_queue_usable(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    mkey = nic.mkey("owner", create_flags=1, max_entries=4)
    errno = nic.post(pair.owner, [Configure(1, SIGNALED | INLINE, mkey, 2, (SetAccess(ALL),))])
    assert errno in (0, 22)
    assert wait(nic, pair.owner, 1, 0.05) == []
    pair = nic.reconnect(pair)
    configured(nic, pair)


def test_a_number_too_large_is_said_before_the_section_starts(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    mkey = configured(nic, pair)
    signature = SetSignature(SigBlockAttr(SigBlockDomain(0, SigT10dif(0, 65536, 0, 0, 0), 0), None))
    with pytest.raises(NoSuchCall, match="bg"):
        nic.post(pair.owner, [Configure(2, SIGNALED | INLINE, mkey, 1, (signature,))])
    configured(nic, pair)  # the lock is free


def test_an_aborted_section_moves_nothing_and_spends_the_pair(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    mkey = nic.mkey("owner", create_flags=1, max_entries=4)
    assert nic.post(pair.owner, [Configure(1, SIGNALED | INLINE, mkey, 1, (SetAccess(ALL),))], abort=True) == 0
    assert wait(nic, pair.owner, 1, 0.05) == []
    nic.release(healthy=True)
    again = nic.qp_pair(QpAttributes())
    assert again.owner.number != pair.owner.number or again.owner.handle != pair.owner.handle


def test_a_clean_pair_and_its_memory_are_handed_out_again(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    memory = nic.memory("owner", 640, access=ALL)
    configured(nic, pair)
    nic.release(healthy=True)
    assert nic.qp_pair(QpAttributes()) == pair
    assert nic.memory("owner", 640, access=ALL).lkey == memory.lkey
    nic.release(healthy=False)
    assert nic.qp_pair(QpAttributes()) != pair


def test_a_receive_that_came_back_leaves_the_pair_clean(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    assert nic.post_recv(pair.peer, 1, []) == 0
    assert nic.post(pair.owner, [Send(2, SIGNALED, ())]) == 0
    assert len(wait(nic, pair.peer, 1)) == len(wait(nic, pair.owner, 1)) == 1
    nic.release(healthy=True)
    assert nic.qp_pair(QpAttributes()) == pair


def test_a_receive_left_waiting_spends_the_pair(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    memory = nic.memory("peer", 64, access=ALL)
    assert nic.post_recv(pair.peer, 1, [Sge(memory.addr, 64, memory.lkey)]) == 0
    nic.release(healthy=True)
    assert nic.qp_pair(QpAttributes()) != pair


def test_a_queue_that_an_error_may_have_stopped_is_not_handed_out_again(nic: Verbs) -> None:
    attributes = QpAttributes(sig_pipelining=True)
    pair = nic.qp_pair(attributes)
    nic.release(healthy=True)
    assert nic.qp_pair(attributes) != pair


def test_a_stray_setter_is_refused(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    assert nic.post(pair.owner, [StraySetter(SetAccess(ALL))]) == 22


def test_an_operation_the_queue_was_not_made_for_is_not_called(nic: Verbs) -> None:
    """libmlx5 would call through a null pointer."""
    plain = nic.qp_pair(QpAttributes(send_ops=0))
    mkey = nic.mkey("owner", create_flags=1, max_entries=4)
    for request in (Configure(1, INLINE, mkey, 0, ()), Memcpy(1, 0, 0, 0, 0, 0, 1), RawWqe(1, 0, bytes(16))):
        with pytest.raises(NoSuchCall, match="null pointer"):
            nic.post(plain.owner, [request])
    with pytest.raises(NoSuchCall, match="null pointer"):
        nic.post(nic.qp_pair(QpAttributes()).owner, [Memcpy(1, 0, 0, 0, 0, 0, 1)])


def test_a_tag_can_be_set(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    mkey = nic.mkey("owner", create_flags=int(MkeyFlag.INDIRECT | MkeyFlag.UPDATE_TAG), max_entries=4)
    tagged = nic.retag(mkey, 0x5A)
    assert (tagged.lkey, tagged.rkey) == (mkey.lkey | 0x5A, mkey.rkey | 0x5A)
    memory = nic.memory("owner", 64, access=ALL)
    setters = (SetAccess(ALL), SetList((Sge(memory.addr, 64, memory.lkey),)))
    assert nic.post(pair.owner, [Configure(1, SIGNALED | INLINE, tagged, 2, setters)]) == 0
    assert [done.status for done in wait(nic, pair.owner, 1)] == ["success"]
    target = nic.memory("peer", 64, access=ALL)
    assert nic.post(pair.owner, [Write(2, SIGNALED, (Sge(0, 64, tagged.lkey),), target.addr, target.rkey)]) == 0
    assert [done.status for done in wait(nic, pair.owner, 1)] == ["success"]
    assert nic.post(pair.owner, [Write(3, SIGNALED, (Sge(0, 64, mkey.lkey | 1),), target.addr, target.rkey)]) == 0
    assert [done.status for done in wait(nic, pair.owner, 1)] == ["loc_prot_err"]


def test_a_signature_error_is_polled_although_the_queue_seems_empty(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    mkeys = [configured(nic, pair, 516, sign=True) for _ in range(3)]
    target = nic.memory("peer", 512, access=ALL)
    for mkey in mkeys:
        assert nic.post(pair.owner, [Write(9, 0, (Sge(0, 512, mkey.lkey),), target.addr, target.rkey)]) == 0
    sleep(0.05)
    assert nic.poll(pair.owner) == []
    errors = [nic.mkey_check(mkey) for mkey in mkeys]
    assert [error.type if error else None for error in errors] == [1, 1, 1]
    assert nic.mkey_check(mkeys[0]) is None


def test_events_carry_their_queue(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes(sig_pipelining=True))
    mkey = configured(nic, pair, 516, sign=True)
    target = nic.memory("peer", 512, access=ALL)
    note = Write(3, SIGNALED | FENCE, (), target.addr, target.rkey)
    assert nic.post(pair.owner, [Write(2, SIGNALED, (Sge(0, 512, mkey.lkey),), target.addr, target.rkey), note]) == 0
    end = monotonic() + 2
    events: list[AsyncEvent] = []
    while not events and monotonic() < end:
        events = nic.events()
    assert [(event.kind, event.qp) for event in events] == [("sq_drained", pair.owner)]
    assert [done.wr_id for done in wait(nic, pair.owner, 1)] == [2]
    assert nic.cancel(pair.owner, 77) == 0
    assert nic.cancel(pair.owner, 3) == 1
    assert nic.resume(pair.owner) == 0
    assert [(done.wr_id, done.opcode) for done in wait(nic, pair.owner, 1)] == [(3, "rdma_write")]


def test_cancel_in_rts_is_refused(nic: Verbs) -> None:
    for pipelining in (True, False):
        pair = nic.qp_pair(QpAttributes(sig_pipelining=pipelining))
        assert nic.cancel(pair.owner, 1) < 0


@pytest.mark.parametrize("by_post_send", [False, True])
def test_local_invalidate(nic: Verbs, by_post_send: bool) -> None:
    pair = nic.qp_pair(QpAttributes())
    mkey = configured(nic, pair)
    target = nic.memory("peer", 8, access=ALL)
    use = Write(3, SIGNALED, (Sge(0, 8, mkey.lkey),), target.addr, target.rkey)
    assert nic.post(pair.owner, [use, LocalInv(2, SIGNALED, mkey.rkey, by_post_send), use]) == 0
    statuses = [(done.wr_id, done.opcode, done.status) for done in wait(nic, pair.owner, 3)]
    assert statuses == [(3, "rdma_write", "success"), (2, "local_inv", "success"), (3, "", "loc_prot_err")]


def test_immediates_and_invalidates_in_host_order(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    memory = nic.memory("peer", 8, access=ALL)
    flags = int(MkeyFlag.INDIRECT | MkeyFlag.REMOTE_INVALIDATE)
    mkey = nic.mkey("peer", create_flags=flags, max_entries=4)
    setters = (SetAccess(ALL), SetList((Sge(memory.addr, 8, memory.lkey),)))
    assert nic.post(pair.peer, [Configure(1, SIGNALED | INLINE, mkey, 2, setters)]) == 0
    wait(nic, pair.peer, 1)
    for _ in range(2):
        assert nic.post_recv(pair.peer, 7, []) == 0
    assert nic.post(pair.owner, [Send(1, 0, (), imm=0x01020304), Send(2, 0, (), invalidate_rkey=mkey.rkey)]) == 0
    first, second = wait(nic, pair.peer, 2)
    assert (first.imm, first.invalidated_rkey) == (0x01020304, None)
    assert (second.imm, second.invalidated_rkey) == (None, mkey.rkey)


def test_atomics_memcpy_and_raw_requests(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes(send_ops=int(QpOps.MEMCPY | QpOps.RAW_WQE)))
    counter, old = nic.memory("peer", 8, access=ALL), nic.memory("owner", 8, access=ALL)
    nic.write(counter, 0, (41).to_bytes(8, "little"))
    add = FetchAdd(1, SIGNALED, Sge(old.addr, 8, old.lkey), counter.addr, counter.rkey, 1)
    control = bytes(4) + (pair.owner.number << 8 | 1).to_bytes(4, "big") + bytes.fromhex("0000000800000000")
    nop = RawWqe(3, SIGNALED, control)
    copy = Memcpy(2, SIGNALED, old.lkey, old.addr, old.lkey, old.addr, 8)
    swap = CompareSwap(4, SIGNALED, Sge(old.addr, 8, old.lkey), counter.addr, counter.rkey, 42, 0x1122334455667788)
    for request, opcode in ((add, "fetch_add"), (swap, "comp_swap"), (copy, "driver3"), (nop, "driver2")):
        assert nic.post(pair.owner, [request]) == 0
        assert [(done.status, done.opcode) for done in wait(nic, pair.owner, 1)] == [("success", opcode)]
    assert int.from_bytes(nic.read(counter, 0, 8).tobytes(), "little") == 0x1122334455667788
    assert nic.read(old, 0, 1)[0] == 42


@pytest.mark.parametrize("stream", [None, 1])
def test_dc(nic: Verbs, stream: int | None) -> None:
    number = nic.dct(0x1122)
    pair = nic.qp_pair(QpAttributes(type="dci", send_ops=0, streams=4 if stream is not None else 0))
    source, target = nic.memory("owner", 32, access=ALL), nic.memory("peer", 32, access=ALL)
    nic.write(source, 0, bytes(range(32)))
    to = DcAddress(number, 0x1122, stream)
    assert nic.post_recv(pair.peer, 8, [Sge(target.addr, 32, target.lkey)]) == 0
    assert nic.post(pair.owner, [Send(1, SIGNALED, (Sge(source.addr, 32, source.lkey),), dc=to)]) == 0
    assert [done.status for done in wait(nic, pair.owner, 1)] == ["success"]
    assert [(done.wr_id, done.byte_len) for done in wait(nic, pair.peer, 1)] == [(8, 32)]
    assert nic.read(target, 0, 32).tobytes() == bytes(range(32))
    nic.release(healthy=True)


def test_an_event_of_a_target_is_the_responders(nic: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A DCT is a QP that no case names; what it receives, and what befalls it, is the responder's."""
    number = nic.dct(0x1122)
    pair = nic.qp_pair(QpAttributes(type="dci", send_ops=0))
    monkeypatch.setattr(
        nic.owner._native, "events", lambda: [Raw("qp_access_err", number), Raw("comm_est", number + 1000)]
    )
    assert nic.events() == [AsyncEvent("qp_access_err", pair.peer), AsyncEvent("comm_est", None)]


def test_ud_and_uc(nic: Verbs) -> None:
    for kind, header in (("uc", 0), ("ud", 40)):
        pair = nic.qp_pair(QpAttributes(type=kind, send_ops=0))
        source, target = nic.memory("owner", 16, access=ALL), nic.memory("peer", 64, access=ALL)
        nic.write(source, 0, bytes(range(16)))
        assert nic.post_recv(pair.peer, 8, [Sge(target.addr, 64, target.lkey)]) == 0
        assert nic.post(pair.owner, [Send(1, SIGNALED, (Sge(source.addr, 16, source.lkey),))]) == 0
        assert [done.byte_len for done in wait(nic, pair.peer, 1)] == [16 + header]
        assert nic.read(target, header, 16).tobytes() == bytes(range(16))


def test_memories_are_apart_and_exact(nic: Verbs) -> None:
    """Two of them never share a key, and a byte past the end belongs to nobody."""
    pair = nic.qp_pair(QpAttributes())
    memories = [nic.memory("owner", 100, access=ALL, misaligned=i) for i in range(8)]
    assert len({memory.lkey for memory in memories}) == 8
    assert [memory.addr % 64 for memory in memories] == list(range(8))
    target = nic.memory("peer", 200, access=ALL)
    one = memories[0]
    assert nic.post(pair.owner, [Write(1, SIGNALED, (Sge(one.addr, 101, one.lkey),), target.addr, target.rkey)]) == 0
    assert [done.status for done in wait(nic, pair.owner, 1)] == ["loc_prot_err"]


def test_what_is_refused_is_refused_with_its_errno(nic: Verbs) -> None:
    with pytest.raises(Refused) as refused:
        nic.mkey("owner", create_flags=0, max_entries=4)
    assert (refused.value.call, refused.value.errno) == ("mlx5dv_create_mkey", 95)
    with pytest.raises(Refused):
        nic.qp_pair(QpAttributes(max_inline_data=100_000))
    with pytest.raises(Refused):
        nic.qp_pair(QpAttributes(type="uc"))
    with pytest.raises(Refused):
        nic.mkey_check(nic.mkey("owner", create_flags=1, max_entries=4))


def test_objects_of_another_case_are_not_found(nic: Verbs) -> None:
    pair, mkey = nic.qp_pair(QpAttributes()), nic.mkey("owner", create_flags=1, max_entries=4)
    nic.release(healthy=False)
    assert nic.post(pair.owner, []) == 22
    assert nic.poll(pair.owner) == []
    with pytest.raises(NoSuchCall):
        nic.mkey_check(mkey)


def test_children_leave_the_device_alone(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    configured(nic, pair)
    pid = os.fork()
    if pid == 0:
        nic.close()
        gc.collect()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    configured(nic, pair)
    assert health_check.symptom(nic, 2.0) == ""


def test_a_thousand_cases_leak_nothing(nic: Verbs) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def once() -> None:
        configured(nic, nic.qp_pair(QpAttributes()), sign=True, length=516)
        nic.release(healthy=True)

    once()
    before = descriptors()
    for _ in range(300):
        once()
    assert descriptors() == before


def test_close_twice_and_then_open_again() -> None:
    for _ in range(3):
        device = open_device("mlx5_0", shared=True)
        assert health_check.symptom(device, 2.0) == ""
        device.close()
        device.close()


def test_without_the_pointer_of_the_context_it_does_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "context_pointer", lambda context: None)
    with pytest.raises(Unavailable, match="MKS0960"):
        open_device("mlx5_0", shared=True)


def test_a_query_that_fails_is_not_a_device_that_offers_nothing(nic: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nic.owner._native, "_mlx5", SimpleNamespace(mlx5dv_query_device=lambda *arguments: 95))
    with pytest.raises(Unavailable, match=r"MKS0960.*(EOPNOTSUPP|ENOTSUP)"):
        nic.owner._native.offload()
