"""What the driver refuses when a section is completed, one broken rule a row, and what becomes of the rest of it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    Configure,
    Memory,
    Mkey,
    MrList,
    QpAttributes,
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
    Unsupported,
    WorkRequest,
)
from tests.device.model.fixtures import (
    CONFIGURES,
    INDIRECT,
    SIGNED,
    Bench,
    crc,
    layout,
    signature,
    statuses,
    t10,
    turns,
)

CRC32, DIF = crc("crc32"), t10()
SMALL = QpAttributes(max_inline_data=0, max_send_sge=1)
Rule = Callable[[Mkey, Memory], tuple[WorkRequest, ...]]


def configure(*setters: Setter, **members: Any) -> Rule:
    def requests(mkey: Mkey, mem: Memory) -> tuple[WorkRequest, ...]:
        request = Configure(1, CONFIGURES, mkey, len(setters), setters)
        return (replace(request, **members),)

    return requests


def attr(**members: object) -> SetSignature:
    return SetSignature(replace(SigBlockAttr(CRC32, None), **members))  # type: ignore[arg-type]


def dom(**members: object) -> SetSignature:
    return SetSignature(SigBlockAttr(None, replace(CRC32, **members)))  # type: ignore[arg-type]


def dif(**members: int) -> SetSignature:
    sig = replace(SigT10dif(0, 0, 0, 0, 0), **members)
    return SetSignature(SigBlockAttr(SigBlockDomain(0, sig, 0), CRC32))


def sges(count: int) -> SetList:
    return SetList((Sge(0, 8, 0),) * count)


def with_memory(setters: Callable[[Memory], tuple[Setter, ...]]) -> Rule:
    return lambda mkey, mem: configure(*setters(mem))(mkey, mem)


def plain_mkey(mkey: Mkey) -> Mkey:
    """The other mkey of the test below, created before with INDIRECT alone."""
    return replace(mkey, handle=mkey.handle - 1)


ACCESS = SetAccess(15)
NOTSUP, INVAL, NOMEM = errno.EOPNOTSUPP, errno.EINVAL, errno.ENOMEM
BROKEN: dict[str, tuple[int, Rule]] = {
    "CFG-12 inline_missing": (NOTSUP, configure(ACCESS, flags=2)),
    "CFG-22 conf_comp_mask": (NOTSUP, configure(ACCESS, comp_mask=1)),
    "CFG-22 conf_comp_mask high": (NOTSUP, configure(ACCESS, comp_mask=1 << 63)),
    "CFG-23 conf_flags": (NOTSUP, configure(ACCESS, conf_flags=2)),
    "MKY-06 update_tag_flag": (NOTSUP, lambda k, m: configure(ACCESS)(replace(k, lkey=k.lkey | 5), m)),
    "CFG-04 too_many_setters": (INVAL, configure(ACCESS, sges(1), num_setters=1)),
    "CFG-06 setter after none announced": (INVAL, configure(ACCESS, num_setters=0)),
    "CFG-04 too_few_setters": (INVAL, configure(ACCESS, num_setters=2)),
    "CFG-07 access twice": (INVAL, configure(ACCESS, ACCESS)),
    "CFG-07 list twice": (INVAL, configure(sges(1), sges(1))),
    "CFG-07 empty list twice": (INVAL, configure(sges(0), sges(0))),
    "CFG-07 signature twice": (INVAL, configure(signature(CRC32), signature(CRC32))),
    "LAY-03 two_layouts": (INVAL, with_memory(lambda m: (sges(1), turns(1, (m, 0, 8, 0))))),
    "LAY-03 two_layouts, other order": (INVAL, with_memory(lambda m: (turns(1, (m, 0, 8, 0)), sges(1)))),
    "CFG-07 interleaved twice": (INVAL, with_memory(lambda m: (turns(1, (m, 0, 8, 0)),) * 2)),
    "CFG-03 setter_outside": (INVAL, lambda k, m: (StraySetter(ACCESS),)),
    "SIG-25 setter after the last": (INVAL, lambda k, m: (*configure(ACCESS)(k, m), StraySetter(sges(1)))),
    "ACC-05 access_bits": (INVAL, configure(SetAccess(1 << 30))),
    "LST-05 mkey_entries": (NOMEM, configure(sges(9))),
    "INT-05 strided_entry": (NOMEM, with_memory(lambda m: (turns(1, *[(m, 0, 8, 0)] * 8),))),
    "SIG-24 mkey_without_signature": (INVAL, lambda k, m: configure(signature(CRC32))(plain_mkey(k), m)),
    "SIG-17 sig_flags": (INVAL, configure(attr(flags=2))),
    "SIG-18 sig_comp_mask": (INVAL, configure(attr(comp_mask=1))),
    "SIG-19 domain_comp_mask": (INVAL, configure(dom(comp_mask=1))),
    "SIG-20 sig_type": (INVAL, configure(dom(sig_type=2))),
    "SIG-21 union of the other type": (INVAL, configure(dom(sig_type=0))),
    "SIG-22 block_size": (INVAL, configure(dom(block_size=5))),
    "SIG-22 block_size negative": (INVAL, configure(dom(block_size=-1))),
    "SIG-14 both domains none": (INVAL, configure(attr(mem=None))),
    "CRC-01 crc_type": (INVAL, configure(dom(sig=SigCrc(3, 0)))),
    "CRC-07 crc_seed": (INVAL, configure(dom(sig=SigCrc(0, 1)))),
    "CRC-07 crc_seed of another width": (INVAL, configure(dom(sig=SigCrc(2, 0xFFFFFFFF)))),
    "DIF-07 dif_bg": (INVAL, configure(dif(bg=1))),
    "DIF-08 dif_bg_type": (INVAL, configure(dif(bg_type=2))),
    "DIF-11 dif_flags": (INVAL, configure(dif(flags=8))),
    "MSK-17 copy_mask, other type": (INVAL, configure(signature(CRC32, DIF, copy=0xFF))),
    "MSK-17 copy_mask, other CRC": (INVAL, configure(signature(CRC32, crc("crc32c"), copy=0xFF))),
    "MSK-17 copy_mask, other block": (INVAL, configure(signature(CRC32, crc("crc32", block=520), copy=0xFF))),
    "MSK-17 copy_mask, no mem": (INVAL, configure(signature(None, CRC32, copy=0xFF))),
    "MSK-17 copy_mask, no wire (X-DIFF-12)": (INVAL, configure(signature(CRC32, None, copy=0xFF))),
    "X-LIM-03 mkey_length": (INVAL, configure(SetList((Sge(0, 0xFFFFFFFF, 0),) * 2), signature(CRC32))),
    "WRP-12 mr_list without inline": (NOTSUP, lambda k, m: (MrList(1, 2, k, 15, ()),)),
    "ledger 2.1 more SGEs than the QP takes": (INVAL, lambda k, m: (Send(1, 2, (Sge(m.addr, 1, m.lkey),) * 5),)),
}  # fmt: skip


@pytest.mark.parametrize(("number", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_fails_the_section(number: int, rule: Rule) -> None:
    """SIG-23, CFG-04: nothing of the section is executed, before or after; the QP stays in order."""
    bench = Bench()
    mem, wire = bench.memory(b"payload."), bench.memory(8, peer=True)
    bench.mkey(INDIRECT)
    mkey = bench.mkey()
    send = Send(9, 2, (Sge(mem.addr, 8, mem.lkey),))
    bench.device.post_recv(bench.pair.peer, 1, (Sge(wire.addr, 8, wire.lkey),))
    assert bench.post(send, *rule(mkey, mem), send) == number
    assert bench.owner + bench.peer == []
    assert bench.bytes_of(wire) == b"\xee" * 8
    assert bench.post(send) == 0
    assert bench.bytes_of(wire) == b"payload."


ROOM = [
    # max_inline_data asked, granted, list entries, interleaved entries, list entries beside a signature (X-LIM-01)
    (0, 60, 4, 3, 0), (60, 60, 4, 3, 0), (61, 124, 8, 7, 4), (124, 124, 8, 7, 4), (188, 188, 12, 11, 8),
    (512, 572, 36, 35, 32), (828, 828, 52, 51, 48),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "granted", "entries", "interleaved", "beside"), ROOM)
def test_room_for_layouts(asked: int, granted: int, entries: int, interleaved: int, beside: int) -> None:
    """LST-03, LST-04, INT-03, INT-04, SIG-02."""
    bench = Bench(qp=replace(SMALL, max_inline_data=asked))
    assert bench.pair.owner.max_inline_data == granted
    mem = bench.memory(8)
    mkey = bench.mkey(SIGNED, 64)
    assert bench.configure(mkey, sges(entries)) == 0
    assert bench.configure(mkey, sges(entries + 1)) == NOMEM
    assert bench.configure(mkey, turns(1, *[(mem, 0, 8, 0)] * interleaved)) == 0
    assert bench.configure(mkey, turns(1, *[(mem, 0, 8, 0)] * (interleaved + 1))) == NOMEM
    if beside:
        assert bench.configure(mkey, sges(beside), signature(CRC32)) == 0
    assert bench.configure(mkey, sges(beside + 1), signature(CRC32)) == NOMEM
    assert bench.configure(mkey, signature(CRC32)) == 0


def test_more_inline_data_than_a_wqe_holds() -> None:
    with pytest.raises(Refused) as refused:
        Bench(qp=QpAttributes(max_inline_data=829))
    assert refused.value.errno == errno.EINVAL


@pytest.mark.parametrize("setters", [(), (0,), (1,), (2,), (0, 1), (1, 2), (2, 0), (0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_any_setters_in_any_order(setters: tuple[int, ...]) -> None:
    """CFG-03, CFG-05, CFG-06, CFG-18: one work request, one completion DRIVER1."""
    bench = Bench()
    every = (ACCESS, layout(bench.memory(8)), signature(CRC32, DIF))
    assert bench.configure(bench.mkey(), *(every[i] for i in setters)) == 0
    assert [(c.opcode, c.status, c.wr_id) for c in bench.owner] == [("driver1", "success", 7)]


def test_a_setter_may_follow_by_itself_while_the_configuration_is_open() -> None:
    bench = Bench()
    mem = bench.memory(b"payload.")
    mkey = bench.mkey()
    opened = Configure(1, CONFIGURES, mkey, 2, (ACCESS,))
    assert bench.post(opened, StraySetter(layout(mem))) == 0
    assert bench.transmit(mkey.lkey, 8) == ("success", b"payload.")
    between = Send(9, 2, (Sge(mem.addr, 8, mem.lkey),))
    assert bench.post(opened, between, StraySetter(layout(mem))) == INVAL


@pytest.mark.parametrize(("seed", "same"), [(0xFFFFFFFFFFFFFFFF, "88cb6093"), (0xDEADBEEF00000000, "699aca21")])
def test_bits_of_the_seed_beyond_the_crc_are_ignored(seed: int, same: str) -> None:
    """CRC-06, by the page; rdma-core refuses it (X-DIFF-08)."""
    bench = Bench()
    mkey = bench.over(bench.memory(b"\xa5" * 512), sig=signature(wire=crc("crc32", seed)))
    assert bench.transmit(mkey.lkey, 516)[1][512:].hex() == same


def test_of_several_faults_the_last_builders_is_told() -> None:
    bench = Bench()
    mkey = bench.mkey()
    twice = Configure(1, CONFIGURES, mkey, 2, (ACCESS, ACCESS))
    assert bench.post(twice, Configure(1, 2, mkey, 0, ())) == NOTSUP
    assert bench.post(Configure(1, 2, mkey, 0, ()), twice) == NOTSUP


def test_after_a_failure_a_full_configuration_works() -> None:
    """SIG-26."""
    bench = Bench()
    mem = bench.memory(b"\xa5" * 512)
    mkey = bench.over(mem)
    assert bench.configure(mkey, ACCESS, ACCESS) == INVAL
    assert bench.transmit(mkey.lkey, 1)[0] == "loc_prot_err"
    bench.device.reconnect(bench.pair)
    assert bench.configure(mkey, ACCESS, layout(mem), signature(wire=CRC32)) == 0
    assert bench.transmit(mkey.lkey, 516)[1][512:].hex() == "699aca21"
    kept = Bench(Profile(failed_configuration="kept"))
    mkey = kept.over(kept.memory(b"payload."))
    assert kept.configure(mkey, ACCESS, ACCESS) == INVAL
    assert kept.transmit(mkey.lkey, 8) == ("success", b"payload.")


def configured(bench: Bench, setter: SetSignature) -> int:
    return bench.configure(bench.mkey(), setter)


def test_points_that_a_profile_moves() -> None:
    dropped = Bench(Profile(few_setters="dropped"))
    assert dropped.post(Configure(1, CONFIGURES, dropped.mkey(), 2, (ACCESS,))) == 0
    assert dropped.owner == []
    late = Bench(Profile(strided_entry="completion"))
    setter = turns(1, *[(late.memory(8), 0, 8, 0)] * 8)
    assert late.configure(late.mkey(), setter) == 0
    assert statuses(late.owner) == ["loc_qp_op_err"]
    mixed = replace(CRC32, block_size=3)
    assert configured(Bench(), signature(CRC32, mixed)) == 0
    assert configured(Bench(Profile(mixed_block_sizes=False)), signature(CRC32, mixed)) == INVAL
    assert configured(Bench(Profile(mixed_block_sizes=False)), signature(CRC32, CRC32)) == 0
    other = Bench(Profile(errno=(("access_bits", "EOPNOTSUPP"),)))
    assert other.configure(other.mkey(), SetAccess(1 << 30)) == NOTSUP


def test_the_send_queue_fills() -> None:
    """ledger 2.1, X-LIM-05: ENOMEM, until a later completion is polled."""
    bench = Bench(qp=QpAttributes(max_send_wr=2))
    mem = bench.memory(8)
    mkey = bench.mkey()
    assert bench.configure(mkey, signature(CRC32, DIF)) == NOMEM
    assert bench.configure(mkey, signature(CRC32)) == 0
    write = Send(1, 0, ())
    bench.device.post_recv(bench.pair.peer, 1, ())
    assert bench.post(write) == 0
    bench.device.post_recv(bench.pair.peer, 1, ())
    assert bench.post(replace(write, flags=2)) == 0
    assert bench.post(replace(write, sges=(Sge(mem.addr, 8, mem.lkey),)), write, write) == NOMEM


CREATION = [
    ("rc", 0x7, 0), ("rc", 0x20, NOTSUP), ("uc", 0, 0), ("uc", 0x4, NOTSUP), ("ud", 0x2, NOTSUP), ("ud", 0, 0),
    ("xrc_send", 0x1, NOTSUP), ("raw_packet", 0x4, NOTSUP), ("dci", 0x1F, 0), ("dci", 0x20, NOTSUP),
    ("uc", 0x10, NOTSUP), ("rc", 0x1F, 0), ("uc", 0x8, 0), ("ud", 0x8, 0), ("nonsense", 0, NOTSUP),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "ops", "number"), CREATION)
def test_operations_of_a_qp_type(type_: str, ops: int, number: int) -> None:
    """CFG-01, WRP-03, WRP-06, WRP-19, WRP-27, WRP-33."""
    attributes = QpAttributes(type=type_, send_ops=ops)
    if not number:
        Bench(qp=attributes)
        return
    with pytest.raises(Refused) as refused:
        Bench(qp=attributes)
    assert refused.value.errno == number


@pytest.mark.parametrize("flags", [0, 1 << 5, -1])
def test_create_flags(flags: int) -> None:
    """MKY-03."""
    with pytest.raises(Refused) as refused:
        Bench().mkey(flags)
    assert refused.value.errno == NOTSUP


def test_entries_are_granted_never_below_the_request() -> None:
    """MKY-09, X-LIM-07; rounding never leaves the member's 16 bits (X-BUG-06)."""
    bench = Bench()
    granted = [bench.mkey(INDIRECT, n).max_entries for n in (1, 4, 5, 64, 65532, 65533, 65535)]
    assert granted == [4, 4, 8, 64, 65532, 65535, 65535]
    with pytest.raises(Refused):
        bench.mkey(INDIRECT, 65536)


def test_check_of_an_mkey_without_signature() -> None:
    bench = Bench()
    with pytest.raises(Refused) as refused:
        bench.check(bench.mkey(INDIRECT))
    assert refused.value.errno == INVAL


@pytest.mark.parametrize("kind", ["ud", "xrc_send", "raw_packet"])
def test_what_the_model_does_not_do(kind: str) -> None:
    bench = Bench(qp=QpAttributes(type=kind, send_ops=8))
    for request in (Send(1, 2, ()), RawWqe(1, 2, bytes(16))):
        with pytest.raises(Unsupported, match=f"{kind}: the model moves no data"):
            bench.post(request)


def test_a_type_of_qp_that_the_device_lacks() -> None:
    with pytest.raises(Refused) as refused:
        Bench(Profile(without=("qp.uc",)), QpAttributes(type="uc", send_ops=0))
    assert refused.value.errno == NOTSUP
