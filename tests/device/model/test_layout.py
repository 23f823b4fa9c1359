"""Layouts through the model: the man page's examples, an independent walk of every byte, bounds, mkeys of mkeys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.device.model import key
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    Interleaved,
    MrInterleaved,
    MrList,
    QpAttributes,
    SetAccess,
    SetInterleaved,
    SetList,
    Setter,
    Sge,
)
from tests.device.model.fixtures import INDIRECT, RX, TX, Bench, counter, layout, statuses, turns
from tests.oracle import bitwise


@pytest.mark.parametrize("by", ["peer_write", "recv", "read"])
def test_the_list_example(by: str) -> None:
    """LST-06: 64 bytes of mr1, then 4096 of mr2; one byte more is refused and moves nothing."""
    bench = Bench()
    one, two = bench.memory(200, misaligned=1), bench.memory(5000)
    mkey = bench.mkey(INDIRECT)
    sges = SetList((Sge(one.addr, 64, one.lkey), Sge(two.addr, 4096, two.lkey)))
    assert bench.configure(mkey, SetAccess(7), sges) == 0
    assert bench.receive(mkey.lkey, counter(4161), by) != "success"
    assert bench.bytes_of(one) + bench.bytes_of(two) == b"\xee" * 5200
    bench.device.reconnect(bench.pair)
    assert bench.receive(mkey.lkey, counter(4160), by) == "success"
    assert bench.bytes_of(one) == counter(64) + b"\xee" * 136
    assert bench.bytes_of(two) == counter(4096, 64) + b"\xee" * 904


def test_the_interleaved_example() -> None:
    """INT-11: mr1+0 (512), mr2+0 (8), mr1+516 (512), mr2+8 (8); mr1[512..515] is left alone."""
    bench = Bench()
    one, two = bench.memory(1040), bench.memory(32)
    mkey = bench.mkey(INDIRECT)
    assert bench.configure(mkey, SetAccess(6), turns(2, (one, 0, 512, 4), (two, 0, 8, 0))) == 0
    data = counter(1040)
    assert bench.receive(mkey.lkey, data, "peer_write") == "success"
    assert bench.bytes_of(one) == data[:512] + b"\xee" * 4 + data[520:1032] + b"\xee" * 12
    assert bench.bytes_of(two) == data[512:520] + data[1032:] + b"\xee" * 16
    assert bench.receive(mkey.lkey, counter(1041), "peer_write") == "rem_access_err"


entry = st.tuples(st.integers(0, 40), st.integers(0, 30), st.integers(0, 30))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.lists(entry, min_size=1, max_size=4), st.data())
def test_interleaved_agrees_with_a_walk_of_single_bytes(
    repeat: int, entries: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    bench = Bench()
    contents = [bytes(np.random.default_rng(i).integers(0, 256, 700, np.uint8)) for i in range(len(entries))]
    memories = [bench.memory(content) for content in contents]
    mkey = bench.mkey(INDIRECT)
    given_entries = [(m, at, count, skip) for m, (at, count, skip) in zip(memories, entries, strict=True)]
    assert bench.configure(mkey, SetAccess(15), turns(repeat, *given_entries)) == 0
    space = bitwise.interleaved(
        repeat, [(c, at, count, skip) for c, (at, count, skip) in zip(contents, entries, strict=True)]
    )
    start = data.draw(st.integers(0, len(space)))
    length = data.draw(st.integers(0, len(space) - start))
    assert bench.transmit(mkey.lkey, length, "peer_read", start) == ("success", space[start : start + length])
    assert bench.transmit(mkey.lkey, len(space) - start + 1, "peer_read", start)[0] == "rem_access_err"


@pytest.mark.parametrize("by", TX + RX)
@pytest.mark.parametrize(("start", "length"), [(0, 1), (59, 10), (60, 4), (63, 1), (1, 99), (0, 100), (99, 1)])
def test_ranges_inside_a_list(by: str, start: int, length: int) -> None:
    """LAY-05, LST-01: odd pieces at odd addresses; what is outside the range stays."""
    bench = Bench()
    data = counter(100)
    pieces = [data[:60], data[60:63], data[63:64], data[64:]]
    memories = [bench.memory(piece, misaligned=i) for i, piece in enumerate(pieces)]
    mkey = bench.over(*memories)
    if by in TX:
        assert bench.transmit(mkey.lkey, length, by, start) == ("success", data[start : start + length])
    else:
        assert bench.receive(mkey.lkey, b"\x5c" * length, by, start) == "success"
        data = data[:start] + b"\x5c" * length + data[start + length :]
    assert b"".join(map(bench.bytes_of, memories)) == data


@pytest.mark.parametrize("by", TX + RX)
@pytest.mark.parametrize(("start", "length"), [(0, 101), (100, 1), (101, 1), (1 << 40, 1), (50, 51)])
def test_beyond_the_end_moves_nothing(by: str, start: int, length: int) -> None:
    bench = Bench()
    mem = bench.memory(counter(100))
    mkey = bench.over(mem)
    if by in TX:
        status, wire = bench.transmit(mkey.lkey, length, by, start)
        assert wire == b"\xee" * length
    else:
        status = bench.receive(mkey.lkey, b"\x5c" * length, by, start)
        assert bench.bytes_of(mem) == counter(100)
    expected = {"recv": "rem_op_err", "peer_read": "rem_access_err", "peer_write": "rem_access_err"}
    assert status == expected.get(by, "loc_prot_err")


def test_turns_that_do_not_fit_their_memory() -> None:
    """CFG-25 over many turns at once: beyond the memory's end, and without the right to write it."""
    bench = Bench()
    wide, closed = bench.memory(counter(64)), bench.memory(counter(64), access=0)
    for memory, repeat, by in ((wide, 9, "send"), (wide, 9, "read"), (closed, 8, "read")):
        mkey = bench.mkey()
        assert bench.configure(mkey, SetAccess(15), turns(repeat, (memory, 0, 4, 4))) == 0
        whole = repeat * 4
        status = bench.transmit(mkey.lkey, whole)[0] if by == "send" else bench.receive(mkey.lkey, bytes(whole), by)
        assert status == "loc_prot_err"
        bench.device.reconnect(bench.pair)
    assert bench.bytes_of(wide) + bench.bytes_of(closed) == counter(64) * 2


def test_a_new_layout_replaces_the_old_whole() -> None:
    """LAY-04, LST-02, INT-02: kind, bytes and length."""
    bench = Bench()
    a, b = bench.memory(counter(64)), bench.memory(counter(64, 100))
    mkey = bench.over(a)
    plans: list[tuple[Setter, bytes]] = [
        (turns(2, (b, 0, 3, 5)), counter(3, 100) + counter(3, 108)), (layout(b), counter(64, 100)),
        (SetList((Sge(a.addr + 9, 5, a.lkey),)), counter(5, 9)),
    ]  # fmt: skip
    for setter, space in plans:
        assert bench.configure(mkey, setter) == 0
        assert bench.transmit(mkey.lkey, len(space), "peer_read") == ("success", space)
        assert bench.transmit(mkey.lkey, len(space) + 1, "peer_read")[0] == "rem_access_err"
        bench.device.reconnect(bench.pair)


def test_data_is_read_when_it_is_sent() -> None:
    """CFG-13: the configuration is inline, the data is referenced."""
    bench = Bench()
    mem = bench.memory(b"old.")
    mkey = bench.over(mem)
    bench.device.write(mem, 0, b"new.")
    assert bench.transmit(mkey.lkey, 4) == ("success", b"new.")


def test_list_and_interleaved_by_the_calls_of_wr_post() -> None:
    """WRP-07, WRP-08, WRP-16."""
    bench = Bench()
    mem = bench.memory(counter(64))
    mkey = bench.mkey(INDIRECT)
    assert bench.post(MrList(11, 10, mkey, 15, layout(mem).sges)) == 0
    assert [(c.opcode, c.wr_id, c.status) for c in bench.owner] == [("driver1", 11, "success")]
    assert bench.transmit(mkey.lkey, 64) == ("success", counter(64))
    assert bench.post(MrInterleaved(12, 10, mkey, 15, 2, (Interleaved(mem.addr, 2, 6, mem.lkey),))) == 0
    assert bench.transmit(mkey.lkey, 4) == ("success", counter(2) + counter(2, 8))


def test_the_largest_interleaved_layout() -> None:
    """HW-15 by a list of one QP's room: 51 entries by 16 turns; and 1,000 turns."""
    bench = Bench(qp=QpAttributes(max_inline_data=828))
    data = bytes(np.random.default_rng(1).integers(0, 256, 51 * 16 * 4, np.uint8))
    mem = bench.memory(data)
    mkey = bench.mkey(INDIRECT, 52)
    assert bench.configure(mkey, SetAccess(15), turns(16, *[(mem, 4 * i, 4, 51 * 4 - 4) for i in range(51)])) == 0
    assert bench.transmit(mkey.lkey, len(data)) == ("success", data)
    assert bench.configure(mkey, turns(1000, (mem, 0, 2, 1))) == 0
    space = b"".join(data[3 * i : 3 * i + 2] for i in range(1000))
    assert bench.transmit(mkey.lkey, 2000) == ("success", space)


def test_mkeys_of_mkeys() -> None:
    bench = Bench()
    mem = bench.memory(counter(64))
    inner = bench.over(mem)
    strided = bench.mkey()
    assert bench.configure(strided, SetAccess(15), SetInterleaved(3, (Interleaved(1, 4, 6, inner.lkey),))) == 0
    space = counter(4, 1) + counter(4, 11) + counter(4, 21)
    assert bench.transmit(strided.lkey, 12) == ("success", space)
    top = bench.mkey()
    assert bench.configure(top, SetAccess(15), SetList((Sge(2, 8, strided.lkey), Sge(mem.addr + 40, 2, mem.lkey)))) == 0
    assert bench.transmit(top.lkey, 10) == ("success", space[2:10] + counter(2, 40))
    assert bench.receive(top.lkey, b"\x5c" * 10) == "success"
    assert bench.transmit(strided.lkey, 12)[1] == space[:2] + b"\x5c" * 8 + space[10:]


def test_a_ring_of_mkeys_is_refused() -> None:
    bench = Bench()
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), SetList((Sge(0, 8, mkey.lkey), Sge(0, 8, mkey.lkey)))) == 0
    assert bench.transmit(mkey.lkey, 16)[0] == "loc_prot_err"


def test_empty_layouts_and_entries() -> None:
    """X-OPEN-11: nothing crashes, nothing is written elsewhere."""
    bench = Bench()
    mem = bench.memory(counter(8))
    for setter in (SetList(()), turns(0, (mem, 0, 8, 0)), turns(5, (mem, 0, 0, 0)), SetInterleaved(1, ())):
        mkey = bench.mkey()
        assert bench.configure(mkey, SetAccess(15), setter) == 0
        assert bench.transmit(mkey.lkey, 1)[0] == "loc_prot_err"
        bench.device.reconnect(bench.pair)
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), SetList((Sge(0, 0, 0), Sge(mem.addr, 8, mem.lkey)))) == 0
    assert bench.transmit(mkey.lkey, 8) == ("success", counter(8))


def test_strides_of_sixteen_bits_by_profile() -> None:
    """X-LIM-02: a device that keeps 16 bits of count + skip."""
    bench = Bench(Profile(stride_bits=16))
    mem = bench.memory(counter(16))
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), turns(2, (mem, 0, 4, 65536))) == 0
    assert bench.transmit(mkey.lkey, 8) == ("success", counter(8))


def test_overlapping_reads_are_well_defined() -> None:
    bench = Bench()
    mem = bench.memory(counter(16))
    sges = SetList((Sge(mem.addr, 8, mem.lkey), Sge(mem.addr + 4, 8, mem.lkey), Sge(mem.addr, 8, mem.lkey)))
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), sges) == 0
    assert bench.transmit(mkey.lkey, 24) == ("success", counter(8) + counter(8, 4) + counter(8))
    assert statuses(bench.owner) == ["success"]


def test_a_walk_of_too_many_segments_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns of one byte over an mkey can't be taken at once; the device gives up rather than walk for minutes."""
    bench = Bench()
    inner = bench.over(bench.memory(counter(64)))
    mkey = bench.mkey()
    assert bench.configure(mkey, SetAccess(15), SetInterleaved(32, (Interleaved(0, 1, 1, inner.lkey),))) == 0
    assert bench.transmit(mkey.lkey, 32)[0] == "success"
    monkeypatch.setattr(key, "SEGMENTS", 16)
    assert bench.transmit(mkey.lkey, 16)[0] == "success"
    assert bench.transmit(mkey.lkey, 32)[0] == "loc_prot_err"
