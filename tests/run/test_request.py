"""Work requests of the plan as structs of the pages: addresses, keys, values set wrong on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.abi.constants import SendFlag
from mkeyspec.device import protocol
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import NoSuchCall
from mkeyspec.plan import Options
from mkeyspec.run import declarations
from mkeyspec.run.buffer import GUARD
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.request import RequestBuilder
from mkeyspec.value.bytestring import Counter, Literal
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Live, LiveBytes, LiveOp
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.run.fixtures import INDIRECT, at

INLINE = int(SendFlag.INLINE)
SIGNALED = int(SendFlag.SIGNALED)


@pytest.fixture
def state() -> CaseState:
    made = CaseState(Model(), Profile(), 0.1, "case")
    declarations.memory(made, plan.Memory(at(1), "m", 256, Counter(256)))
    declarations.memory(made, plan.Memory(at(1), "w", 256, None, True))
    declarations.mkey(made, plan.Mkey(at(2), "k", INDIRECT, 4))
    return made


def build(state: CaseState, wr: plan.Wr) -> Any:
    return RequestBuilder(state).request(wr).request


def configure(state: CaseState, setter: plan.Setter) -> Any:
    return build(state, plan.Configure(at(3), "k", (setter,))).setters[0]


def test_parts_of_memories_have_addresses_and_parts_of_mkeys_offsets(state: CaseState) -> None:
    m, k = state.buffers["m"], state.mkeys["k"].handle
    assert m.addr == m.memory.addr + GUARD
    assert m.addr % 64 == 0
    setter = plan.SetLayout(List((Part("m", 3, 5), Part("k", 7, 9))))
    assert configure(state, setter).sges == (
        protocol.Sge(m.addr + 3, 5, m.memory.lkey),
        protocol.Sge(7, 9, k.lkey),
    )


def test_misaligned_is_counted_at_the_first_byte_of_the_buffer(state: CaseState) -> None:
    declarations.memory(state, plan.Memory(at(1), "odd", 16, None, misaligned=3))
    assert state.buffers["odd"].addr % 64 == 3


def test_overrides_of_a_part(state: CaseState) -> None:
    but = (("lkey", Live("w", "lkey")), ("length", 300), ("addr", LiveOp("+", (Live("m", "addr"), 1))))
    w, m = state.buffers["w"], state.buffers["m"]
    setter = plan.SetLayout(List((Part("m", 0, 5, but),)))
    assert configure(state, setter).sges == (protocol.Sge(m.addr + 1, 300, w.memory.lkey),)


def test_live_repetitions(state: CaseState) -> None:
    times = LiveOp("+", (Live("k", "max_entries"), 1))
    setter = plan.SetLayout(List((Repeated(Part("m", 0, 1), times),)))
    assert len(configure(state, setter).sges) == 5


def test_interleaved_layouts(state: CaseState) -> None:
    m = state.buffers["m"]
    layout = Interleaved(2, (Chunk(Part("m", 8, 0), 16, 4), Chunk(Part("m", 1, 0, (("bytes_skip", 9),)), 2)))
    assert configure(state, plan.SetLayout(layout)) == protocol.SetInterleaved(
        2,
        (
            protocol.Interleaved(m.addr + 8, 16, 4, m.memory.lkey),
            protocol.Interleaved(m.addr + 1, 2, 9, m.memory.lkey),
        ),
    )
    wrong = plan.SetLayout(layout, (("repeat_count", 7),))
    assert configure(state, wrong).repeat_count == 7


def test_domains_and_their_overrides(state: CaseState) -> None:
    crc = Crc(1, 0xFFFFFFFF, (("type", 3), ("seed", 5)))
    t10 = T10Dif(1, 0xFFFF, 0x1234, 0x56, 1, (("bg_type", 2), ("flags", 8)))
    attr = configure(
        state,
        plan.SetSignature(
            Domain(crc, 520, (("sig_type", 2), ("comp_mask", 1))),
            Domain(t10, 4160, (("block_size", 5),)),
            0xF0,
            0x0F,
            (("flags", 2),),
        ),
    ).attr
    assert attr == protocol.SigBlockAttr(
        protocol.SigBlockDomain(2, protocol.SigCrc(3, 5), 1, 1),
        protocol.SigBlockDomain(0, protocol.SigT10dif(2, 0xFFFF, 0x1234, 0x56, 8), 5),
        2,
        0xF0,
        0x0F,
    )


def test_the_copy_mask_flag_follows_the_copy_mask(state: CaseState) -> None:
    domain = Domain(Crc(0, 0), 512)
    assert configure(state, plan.SetSignature(domain, None)).attr == protocol.SigBlockAttr(
        protocol.SigBlockDomain(1, protocol.SigCrc(0, 0), 0), None
    )
    assert configure(state, plan.SetSignature(domain, domain, 0, 0)).attr.flags == 1


def test_a_configuration_is_inline_and_counts_its_setters(state: CaseState) -> None:
    setters = (plan.SetAccess(1), plan.SetAccess(2))
    plain = build(state, plan.Configure(at(3), "k", setters, True, Options(signaled=True, fence=True, id=9)))
    assert plain == protocol.Configure(
        9, INLINE | SIGNALED | 1, state.mkeys["k"].handle, 2, (protocol.SetAccess(1), protocol.SetAccess(2)), 1, 0
    )
    but = (("num_setters", 3), ("inline", 0), ("conf_flags", 2), ("comp_mask", 1))
    wrong = build(state, plan.Configure(at(3), "k", setters, False, Options(but=but)))
    assert (wrong.num_setters, wrong.flags, wrong.conf_flags, wrong.comp_mask) == (3, 0, 2, 1)


def test_an_override_that_no_struct_has_is_not_ignored(state: CaseState) -> None:
    with pytest.raises(NoSuchCall, match="colour"):
        build(state, plan.Configure(at(3), "k", (), False, Options(but=(("colour", 1),))))
    with pytest.raises(NoSuchCall, match="colour"):
        configure(state, plan.SetAccess(1, (("colour", 1),)))
    with pytest.raises(NoSuchCall, match="colour"):
        RequestBuilder(state).addresses.sge(Part("m", 0, 1, (("colour", 1),)))


def test_data_requests(state: CaseState) -> None:
    m, w, k = state.buffers["m"], state.buffers["w"], state.mkeys["k"].handle
    here = (Part("m", 0, 16), Part("k", 4, 8))
    sges = (protocol.Sge(m.addr, 16, m.memory.lkey), protocol.Sge(4, 8, k.lkey))
    quiet = Options(id=1)
    assert build(state, plan.Send(at(4), here, 0xFFFFFFFF, None, quiet)) == protocol.Send(1, 0, sges, 0xFFFFFFFF)
    send = build(state, plan.Send(at(4), here, None, "k", quiet))
    assert send.invalidate_rkey == k.rkey
    to = Part("w", 8, 24)
    assert build(state, plan.Write(at(4), here, to, None, quiet)) == protocol.Write(
        1, 0, sges, w.addr + 8, w.memory.rkey
    )
    assert build(state, plan.Read(at(4), here, to, quiet)) == protocol.Read(1, 0, sges, w.addr + 8, w.memory.rkey)
    assert build(state, plan.FetchAdd(at(4), Part("m", 0, 8), Part("k", 0, 8), 5, quiet)) == protocol.FetchAdd(
        1, 0, protocol.Sge(m.addr, 8, m.memory.lkey), 0, k.rkey, 5
    )
    swap = plan.CompareSwap(at(4), Part("m", 0, 8), Part("k", 8, 8), 5, 6, quiet)
    assert build(state, swap) == protocol.CompareSwap(1, 0, protocol.Sge(m.addr, 8, m.memory.lkey), 8, k.rkey, 5, 6)
    assert build(state, plan.Invalidate(at(4), "k", "post_send", quiet)) == protocol.LocalInv(1, 0, k.rkey, True)
    assert build(state, plan.Memcpy(at(4), Part("m", 0, 8), Part("m", 64, 8), quiet)) == protocol.Memcpy(
        1, 0, m.memory.lkey, m.addr + 64, m.memory.lkey, m.addr, 8
    )
    raw = LiveBytes("be32", Live("k", "rkey"))
    assert build(state, plan.RawWqe(at(4), raw, quiet)).wqe == k.rkey.to_bytes(4, "big")
    assert build(state, plan.RawWqe(at(4), Literal(b"ab"), quiet)).wqe == b"ab"


def test_overrides_of_a_data_request(state: CaseState) -> None:
    but = (("lkey", 1), ("length", 2), ("rkey", 3), ("remote_addr", 4))
    write = build(state, plan.Write(at(4), (Part("m", 0, 16),), Part("w", 0, 16), None, Options(but=but)))
    assert (write.sges[0].lkey, write.sges[0].length, write.rkey, write.remote_addr) == (1, 2, 3, 4)


def test_a_tag_is_the_lowest_byte_of_the_mkeys_key(state: CaseState) -> None:
    k = state.mkeys["k"].handle
    tag = (k.lkey & 0xFF) ^ 0x5A
    send = build(state, plan.Send(at(4), (Part("k", 0, 16),), options=Options(but=(("tag", tag),))))
    assert send.sges[0].lkey == k.lkey ^ 0x5A
    write = build(state, plan.Write(at(4), (Part("m", 0, 16),), Part("k", 0, 16), options=Options(but=(("tag", tag),))))
    assert write.rkey == k.rkey ^ 0x5A
    assert write.sges[0].lkey == state.buffers["m"].memory.lkey


def test_mr_builders(state: CaseState) -> None:
    k = state.mkeys["k"].handle
    m = state.buffers["m"]
    listed = plan.MrList(at(4), "k", List((Part("m", 0, 16),)), 7, Options(id=1))
    assert build(state, listed) == protocol.MrList(1, INLINE, k, 7, (protocol.Sge(m.addr, 16, m.memory.lkey),))
    apart = plan.MrInterleaved(at(4), "k", Interleaved(2, (Chunk(Part("m", 0, 0), 3, 4),)), 7, Options(id=1))
    assert build(state, apart) == protocol.MrInterleaved(
        1, INLINE, k, 7, 2, (protocol.Interleaved(m.addr, 3, 4, m.memory.lkey),)
    )


def test_own_numbers_are_told_from_the_users(state: CaseState) -> None:
    ids = {build(state, plan.Send(at(4), (Part("m", 0, 1),))).wr_id for _ in range(5)}
    assert len(ids) == 5
    assert min(ids) > 1 << 32


def test_mkeys_named_by_requests_are_told(state: CaseState) -> None:
    plain = RequestBuilder(state).request(plan.Send(at(4), (Part("m", 0, 1),)))
    assert (plain.names_mkey, plain.mkeys) == (False, [])
    named = RequestBuilder(state).request(plan.Send(at(4), (Part("k", 0, 1),)))
    assert (named.names_mkey, named.mkeys) == (True, [state.mkeys["k"]])
