"""Sections as calls of pyverbs: order, what lives how long, and the lock that is always given back."""

from __future__ import annotations

import types
from typing import Any

import pytest

from mkeyspec.device.protocol import (
    Configure,
    CryptoAttr,
    Dek,
    Interleaved,
    LocalInv,
    Mkey,
    MrInterleaved,
    MrList,
    NoSuchCall,
    Qp,
    QpAttributes,
    RawWqe,
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
    WorkRequest,
    Write,
)
from mkeyspec.device.verbs.queue import End
from mkeyspec.device.verbs.requests import SectionCalls, post_recv, post_send, refused
from tests.device.verbs.fake import Fake, PyverbsRDMAError

MKEY = Mkey(1, "owner", 0x100, 0x100, 4)
CRC, DIF = SigBlockDomain(1, SigCrc(0, 1), 0), SigBlockDomain(0, SigT10dif(0, 0, 0, 0, 0), 0)
SIGNATURE = SetSignature(SigBlockAttr(CRC, DIF, check_mask=255))


@pytest.fixture
def fake() -> Fake:
    return Fake()


def end_of(fake: Fake, **attributes: Any) -> End:
    made = QpAttributes(**attributes)
    qp = fake.namespace.Mlx5QP()
    fake.calls.clear()
    return End(Qp(1, "owner", 2, 64), made, qp, None, None)


def section(fake: Fake, *requests: WorkRequest, end: End | None = None) -> SectionCalls:
    made = SectionCalls(fake.namespace, end or end_of(fake), lambda mkey: "mkey", lambda dek: "dek")
    for request in requests:
        made.build(request)
    return made


def test_nothing_is_called_before_everything_is_made(fake: Fake) -> None:
    made = section(fake, Configure(1, 10, MKEY, 2, (SetAccess(7), SetList((Sge(1, 2, 3),)))), Send(2, 2, ()))
    assert not [name for name in fake.said() if name.startswith("wr_")]
    assert made.post(abort=False) == 0
    assert [name for name in fake.said() if name.startswith("wr_")] == [
        "wr_start", "wr_mkey_configure", "wr_set_mkey_access_flags", "wr_set_mkey_layout_list", "wr_send",
        "wr_set_sge_list", "wr_complete",
    ]  # fmt: skip


def test_the_number_of_setters_is_the_callers(fake: Fake) -> None:
    """A wrong one is how a negative case is made."""
    end = end_of(fake)
    for announced in (0, 1, 255):
        section(fake, Configure(1, 10, MKEY, announced, (SetAccess(7),)), end=end).post(abort=False)
    assert [call[1][1] for call in fake.calls if call[0] == "wr_mkey_configure"] == [0, 1, 255]
    with pytest.raises(NoSuchCall, match="num_setters 0x100"):
        section(fake, Configure(1, 10, MKEY, 256, ()))


def test_what_pyverbs_holds_by_pointer_lives_until_the_section_is_over(fake: Fake) -> None:
    made = section(fake, Configure(1, 10, MKEY, 1, (SIGNATURE,)))
    count = len(fake.watched)
    assert count == 6  # two parameters, two domains, the attributes, the configuration's
    seen: list[int] = []
    qp = made.end.handle
    qp.wr_complete = lambda: seen.append(fake.alive())
    made.post(abort=False)
    assert seen == [count]
    assert fake.alive() == 0


@pytest.mark.parametrize("error", [OverflowError("too large"), TypeError("what"), KeyboardInterrupt()])
def test_any_exception_between_start_and_complete_aborts(fake: Fake, error: Exception) -> None:
    made = section(fake, Configure(1, 10, MKEY, 1, (SetAccess(7),)), Send(2, 2, ()))
    fake.raises["wr_set_mkey_access_flags"] = error
    with pytest.raises(type(error)):
        made.post(abort=False)
    assert fake.said("wr_start", "wr_abort", "wr_complete", "wr_send") == ["wr_start", "wr_abort"]
    assert made.end.spent


def test_a_refusal_is_an_errno_and_spends_the_queue(fake: Fake) -> None:
    made = section(fake, Send(2, 2, ()))
    fake.refuse["wr_complete"] = 12
    assert made.post(abort=False) == 12
    assert fake.said("wr_abort") == []  # libmlx5 has rolled back and unlocked
    assert made.end.spent


def test_an_errno_keeps_its_sign(fake: Fake) -> None:
    """ibv_wr_post(3): "the value of errno"; -EINVAL is none, and the rig says so."""
    fake.refuse["wr_complete"] = -22
    assert section(fake, Send(2, 2, ())).post(abort=False) == -22


def test_an_abort_never_completes(fake: Fake) -> None:
    made = section(fake, Send(2, 2, ()))
    assert made.post(abort=True) == 0
    assert fake.said("wr_start", "wr_abort", "wr_complete") == ["wr_start", "wr_abort"]
    assert made.end.spent


def _signed(domain: SigBlockDomain) -> SetSignature:
    return SetSignature(SigBlockAttr(domain, None))


@pytest.mark.parametrize(
    "request_",
    [
        Write(1 << 64, 0, (), 0, 0), Write(1, 0, (), 1 << 64, 0), Write(1, 0, (), 0, 1 << 32),
        Write(1, -1, (), 0, 0), Send(1, 0, (Sge(0, 1 << 32, 0),)), Send(1, 0, (), imm=1 << 32),
        Configure(1, 0, MKEY, 1, (SetAccess(1 << 32),)),
        Configure(1, 0, MKEY, 1, (SetInterleaved(1, (Interleaved(0, 1 << 32, 0, 0),)),)),
        Configure(1, 0, MKEY, 1, (SetSignature(SigBlockAttr(CRC, None, check_mask=256)),)),
        Configure(1, 0, MKEY, 1, (_signed(SigBlockDomain(0, SigT10dif(0, 65536, 0, 0, 0), 0)),)),
        Configure(1, 0, MKEY, 1, (_signed(SigBlockDomain(1 << 31, SigCrc(0, 0), 0)),)),
        Configure(1, 0, MKEY, 1, (SetCrypto(CryptoAttr(0, True, 0, 0, bytes(15), Dek(1))),)),
        RawWqe(1, 0, bytes(15)),
    ],
)  # fmt: skip
def test_what_no_caller_could_say_is_told_before_the_start(fake: Fake, request_: WorkRequest) -> None:
    with pytest.raises(NoSuchCall):
        section(fake, request_, end=end_of(fake, send_ops=0x1F))
    assert fake.said("wr_start") == []


def test_every_request_has_its_builder(fake: Fake) -> None:
    sges, parts = (Sge(1, 2, 3), Sge(4, 5, 6)), (Interleaved(1, 2, 3, 4),)
    crypto = SetCrypto(CryptoAttr(0, True, 0, 0, bytes(16), Dek(1)))
    section(
        fake,
        MrList(1, 8, MKEY, 1, sges),
        MrInterleaved(1, 8, MKEY, 1, 3, parts),
        StraySetter(SetAccess(1)),
        Configure(1, 8, MKEY, 1, (crypto,)),
        Send(1, 0, sges, invalidate_rkey=5),
        Send(1, 0, sges, imm=6),
        Write(1, 0, sges, 7, 8, imm=9),
        LocalInv(1, 0, 10),
        RawWqe(1, 0, bytes(16)),
        end=end_of(fake, send_ops=0x1F),
    ).post(abort=False)
    names = [name for name in fake.said() if name.startswith("wr_") and "sge" not in name]
    assert names == [
        "wr_start", "wr_mr_list", "wr_mr_interleaved", "wr_set_mkey_access_flags", "wr_mkey_configure",
        "wr_set_mkey_crypto", "wr_send_inv", "wr_send_imm", "wr_rdma_write_imm", "wr_local_inv", "wr_raw_wqe",
        "wr_complete",
    ]  # fmt: skip


def test_sges_give_back_their_arrays(fake: Fake) -> None:
    """Up to pyverbs 64 they leak unless closed."""
    section(fake, Send(1, 0, (Sge(1, 2, 3), Sge(4, 5, 6)))).post(abort=False)
    assert len(fake.said("SGE")) == len(fake.said("SGE.close")) == 2


def test_a_receive_without_an_sge(fake: Fake) -> None:
    """pyverbs makes none, so it is made with one that is then not counted."""
    end = end_of(fake)
    assert post_recv(fake.namespace, end, 1, []) == 0
    assert [arguments for name, arguments in fake.calls if name == "post_recv"] == [(0,)]
    assert end.receives == 1
    fake.refuse["post_recv"] = 12
    assert post_recv(fake.namespace, end, 1, [Sge(1, 2, 3)]) == 12
    assert end.receives == 1


def test_local_invalidate_by_post_send(fake: Fake) -> None:
    end = end_of(fake)
    assert post_send(fake.namespace, end, LocalInv(5, 2, 0xABCD, True)) == 0
    fake.refuse["post_send"] = 22
    assert post_send(fake.namespace, end, LocalInv(5, 2, 0xABCD, True)) == 22
    assert end.spent


def test_an_error_without_an_errno_is_an_error() -> None:
    assert refused("ibv_reg_mr", PyverbsRDMAError("no number")).errno == 5
    assert refused("ibv_reg_mr", PyverbsRDMAError("x", 12)).errno == 12
    assert refused("ibv_reg_mr", types.SimpleNamespace()).errno == 5


def test_polling_goes_on_after_a_swallowed_entry(fake: Fake) -> None:
    """A signature error's entry: the poll says "empty", and a completion comes after it (X-BUG-13)."""
    cq = fake.namespace.CQ()
    end = End(Qp(1, "owner", 2, 64), QpAttributes(), None, cq, None)
    wc = types.SimpleNamespace(wr_id=4, status=0, opcode=135, vendor_err=0, byte_len=9, wc_flags=0, imm_data=0)
    fake.wcs[:] = [None, None, wc]
    assert end.poll(0) == []
    fake.wcs[:] = [None, None, wc]
    [done] = end.poll(2)
    assert (done.wr_id, done.opcode, done.byte_len) == (4, "driver1", 0)


def test_of_an_error_only_what_is_defined_is_told(fake: Fake) -> None:
    wc = types.SimpleNamespace(wr_id=4, status=99, opcode=1, vendor_err=5, byte_len=9, wc_flags=3, imm_data=1)
    fake.wcs[:] = [wc]
    [done] = End(Qp(1, "owner", 2, 64), QpAttributes(), None, None, fake.namespace.CQ()).poll(0)
    assert (done.status, done.opcode, done.byte_len, done.imm, done.vendor_error) == ("status 99", "", 0, None, 5)
