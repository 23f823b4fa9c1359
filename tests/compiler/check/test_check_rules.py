"""Every rule of the man pages: the least step that breaks it, and the nearest legal one."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from mkeyspec import plan
from mkeyspec.compiler.check import RULES
from mkeyspec.value.bytestring import Fill
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Int, Live, LiveOp
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.compiler.check.check_steps import (
    CRC,
    CRC_C,
    CRYPTO,
    DIF,
    SIG,
    abort,
    access,
    at,
    configuration,
    configure,
    crypto,
    listed,
    look,
    memory,
    mkey,
    names,
    part,
    post,
    qp,
    receive,
    sges,
    signature,
    strided,
    transmit,
)

INDIRECT = 1
WRITE_2, WRITE_3 = (plan.Write(at(), (part("m", 0, 1),) * n, part("w", 0, n)) for n in (2, 3))
NO_ROOM = qp(max_send_sge=1, max_inline_data=0)
"""max_send_sge 1 and no inline data: 4 SGEs or 3 interleaved entries, the page's default WQE."""


def on(step: plan.Post, name: str = "q") -> plan.Post:
    return plan.Post(step.at, step.requests, name)


class Trial(NamedTuple):
    """`setup` happens, then `broken` breaks just `rule`, and `legal` breaks nothing."""

    rule: str
    setup: tuple[plan.Step, ...]
    broken: plan.Step
    legal: plan.Step


def crc(init: int, kind: int = 0, **but: int) -> Domain:
    return Domain(Crc(kind, init, tuple(but.items())), 512)


def dif(start: int = 0, **but: int) -> Domain:
    return Domain(T10Dif(0, start, 0, 0, 1, tuple(but.items())), 512)


def with_domain(domain: Domain) -> plan.Post:
    return configure(signature(domain))


def woven(repeat: int, count: int, skip: int) -> plan.Post:
    return configure(plan.SetLayout(Interleaved(repeat, (Chunk(part(), count, skip),))))


def but(domain: Domain, **members: int) -> Domain:
    return Domain(domain.signature, domain.block, tuple(members.items()))


def dek(**more: Any) -> plan.Dek:
    return plan.Dek(at(), "d", Fill(1, 32), **more)


M, K = memory(), mkey()
PLAIN = (M, K, configure(access(0), listed()))
OPEN = (M, K, configure(access(0xF), listed()))
SIGNED = (M, K, configure(access(0xF), listed(part(length=1024)), signature(mem=CRC)))
READY = ("state_ready",)
LOGIN, OBJECT = plan.Login(at()), plan.Login(at(), "o")
KEYTAG = b"\7" * 8
SECRET = (M, mkey(flags=CRYPTO), plan.Dek(at(), "d", Fill(1, 32), Fill(7, 8)))
PEER = memory("w", peer=True)
WRITE = plan.Write(at(), (part("k"),), part("w"))
RECV_M, RECV_K = (plan.Recv(at(), (part(name),)) for name in "mk")
SEND_W, SEND_NOTHING = (post(plan.Send(at(), parts), peer=True) for parts in ((part("w"),), ()))
INLINE = plan.Options(signaled=True, inline=True)

FAR_K = mkey(peer=True)
MR_LIST = plan.MrList(at(), "k", List(()), 1)
MR_INTERLEAVED = plan.MrInterleaved(at(), "k", Interleaved(1, ()), 1)
INVALIDATE_P = post(plan.Invalidate(at(), "p", "wr_post"))
SEND_INV_P, SEND_INV_K = (post(plan.Send(at(), (), None, name)) for name in "pk")
FAR_INV = (
    mkey(flags=17, peer=True),
    PEER,
    post(configuration(access(0), listed(part("w"))), peer=True),
    plan.Recv(at(), (part("w"),), peer=True),
)
STREAM_0, STREAM_3, STREAM_4 = (
    plan.Send(at(), (part(),), options=plan.Options(dct="t", stream=number)) for number in (0, 3, 4)
)
DRAINED = plan.Await(at(), "sq_drained", "p")
NESTED: tuple[plan.Step, ...] = (
    M,
    *(mkey(f"k{number}") for number in range(9)),
    configure(access(0xF), listed(), name="k0"),
    *(configure(access(0xF), listed(part(f"k{number}")), name=f"k{number + 1}") for number in range(8)),
)
PIPELINES = (qp("q"), qp("p", sig_pipelining=True))
RETAGGED = (M, mkey(flags=9), configure(access(0xF), listed()), plan.Retag(at(), "k", 9))
NO_STREAM = plan.Send(at(), (part(),), options=plan.Options(dct="t"))

TRIALS = (
    Trial("no_layout", (M, K, configure(access(1))), transmit(64), transmit(0)),
    Trial("no_layout", (M, K), transmit(64), transmit(0)),
    Trial("layout_too_short", SIGNED, receive(1024), receive(512)),
    Trial(
        "layout_too_short",
        (M, K, configure(access(0xF), listed(part(length=1024)), signature(wire=DIF))),
        transmit(3 * 520),
        transmit(2 * 520),
    ),
    Trial("beyond_layout", OPEN, transmit(2, 511), transmit(1, 511)),
    Trial("beyond_layout", OPEN, receive(513), receive(512)),
    Trial("beyond_layout", OPEN, transmit(1, 512), transmit(0, 512)),
    Trial("access_right", (M, K, configure(access(4), listed())), receive(), transmit(by="peer_read")),
    Trial("access_right", (M, K, configure(access(2), listed())), transmit(by="peer_read"), receive(by="peer_write")),
    Trial("access_right", (M, K, configure(access(1), listed())), receive(by="peer_write_imm"), receive(by="read")),
    Trial("access_right", (M, K, configure(listed())), receive(), transmit()),
    Trial("access_right", (memory(access=4), K, configure(access(0xF), listed())), receive(), transmit()),
    Trial("access_right", (*OPEN, memory("w", access=1, peer=True)), post(WRITE), post(plan.Send(at(), (part("k"),)))),
    Trial("crc_seed", (K,), with_domain(crc(1)), with_domain(crc(0xFFFFFFFF))),
    Trial("crc_seed", (K,), with_domain(crc(0xFFFF)), with_domain(crc(0xFFFFFFFFFFFFFFFF))),
    Trial("crc_seed", (K,), with_domain(crc(0xFFFFFFFF, 2)), with_domain(crc(0xFFFFFFFFFFFFFFFF, 2))),
    Trial("crc_seed", (K,), with_domain(crc(0, seed=5)), with_domain(crc(5, seed=0))),
    Trial("dif_bg", (K,), with_domain(dif(0xFF)), with_domain(dif(0xFFFF))),
    Trial("list_room", (M, K, NO_ROOM), on(configure(sges(5))), on(configure(sges(4)))),
    Trial("list_room", (M, mkey(entries=64)), configure(sges(37)), configure(sges(36))),
    Trial(
        "list_room",
        (M, mkey(entries=64)),
        configure(sges(33), signature(mem=CRC)),
        configure(sges(32), signature(mem=CRC)),
    ),
    Trial("list_room", (M, K, NO_ROOM), on(configure(sges(1), signature(mem=CRC))), on(configure(signature(mem=CRC)))),
    Trial(
        "list_room",
        (M, mkey(entries=16), qp(max_send_sge=1, max_inline_data=124)),
        on(configure(sges(5), signature(mem=CRC))),
        on(configure(sges(4), signature(mem=CRC))),
    ),
    Trial(
        "list_room",
        (M, mkey(entries=16), qp(max_send_sge=1, max_inline_data=188)),
        on(configure(sges(9), signature(mem=CRC))),
        on(configure(sges(8), signature(mem=CRC))),
    ),
    Trial(
        "list_room",
        (M, K, NO_ROOM),
        on(post(plan.MrList(at(), "k", List(tuple(part("m", i, 1) for i in range(5))), 1))),
        on(post(plan.MrList(at(), "k", List(tuple(part("m", i, 1) for i in range(4))), 1))),
    ),
    Trial(
        "list_room",
        (mkey(flags=7), NO_ROOM),
        on(configure(signature(mem=CRC), crypto())),
        on(configure(signature(mem=CRC))),
    ),
    Trial("interleaved_room", (M, K, NO_ROOM), on(configure(strided(4))), on(configure(strided(3)))),
    Trial("strided_entry", (M, mkey(entries=3)), configure(strided(3)), configure(strided(2))),
    Trial("mkey_entries", (M, mkey(entries=3)), configure(sges(4)), configure(sges(3))),
    Trial("mkey_entries", (M, mkey(entries=3)), configure(strided(4)), configure(strided(2))),
    Trial("setter_called_twice", (K,), configure(access(1), access(1)), configure(access(1))),
    Trial(
        "setter_called_twice",
        (K,),
        configure(signature(mem=CRC), signature(wire=CRC)),
        configure(signature(mem=CRC), access(1)),
    ),
    Trial("two_layouts", (M, K), configure(listed(), strided(1)), configure(strided(1))),
    Trial(
        "setter_outside",
        (K,),
        post(configuration(access(1)), plan.StraySetter(at(), signature(mem=CRC))),
        post(configuration(access(1), signature(mem=CRC))),
    ),
    Trial(
        "setter_outside",
        (M, K, PEER),
        post(
            configuration(access(1), num_setters=2),
            plan.Write(at(), (part(),), part("w")),
            plan.StraySetter(at(), signature(mem=CRC)),
        ),
        post(configuration(access(1), signature(mem=CRC)), plan.Write(at(), (part(),), part("w"))),
    ),
    Trial("too_few_setters", (K,), configure(access(1), num_setters=2), configure(access(1), num_setters=1)),
    Trial("too_many_setters", (K,), configure(access(1), num_setters=0), configure(num_setters=0)),
    Trial("inline_missing", (K,), configure(access(1), inline=0), configure(access(1), inline=1)),
    Trial(
        "inline_missing",
        (M, K),
        post(plan.MrList(at(), "k", List((part(),)), 1, plan.Options(but=(("inline", 0),)))),
        post(plan.MrList(at(), "k", List((part(),)), 1)),
    ),
    Trial("conf_comp_mask", (K,), configure(comp_mask=1 << 63), configure(comp_mask=0)),
    Trial("conf_flags", (K,), configure(conf_flags=2), configure(conf_flags=1)),
    Trial("access_bits", (K,), configure(access(1 << 30)), configure(access(1 << 20))),
    Trial(
        "access_bits",
        (M, K),
        post(plan.MrList(at(), "k", List((part(),)), 1 << 15)),
        post(plan.MrList(at(), "k", List((part(),)), 15)),
    ),
    Trial("sig_flags", (K,), configure(signature(mem=CRC, flags=2)), configure(signature(mem=CRC, flags=0))),
    Trial(
        "sig_comp_mask", (K,), configure(signature(mem=CRC, comp_mask=1)), configure(signature(mem=CRC, comp_mask=0))
    ),
    Trial("domain_comp_mask", (K,), with_domain(but(CRC, comp_mask=1)), with_domain(but(CRC, comp_mask=0))),
    Trial("sig_type", (K,), with_domain(but(CRC, sig_type=2)), with_domain(but(CRC, sig_type=1))),
    Trial("block_size", (K,), with_domain(but(CRC, block_size=5)), with_domain(but(CRC, block_size=4))),
    Trial("block_size", (K,), with_domain(Domain(CRC.signature, 500)), with_domain(Domain(CRC.signature, 520))),
    Trial("crc_type", (K,), with_domain(crc(0, type=3)), with_domain(crc(0, type=2))),
    Trial("dif_bg_type", (K,), with_domain(dif(bg_type=2)), with_domain(dif(bg_type=1))),
    Trial("dif_flags", (K,), with_domain(dif(flags=8)), with_domain(dif(flags=7))),
    Trial("mkey_without_signature", (mkey(flags=INDIRECT),), with_domain(CRC), configure(access(0))),
    Trial("copy_mask_structure", (K,), configure(signature(CRC, DIF, 0xF0)), configure(signature(CRC, CRC, 0xF0))),
    Trial("copy_mask_structure", (K,), configure(signature(CRC, CRC_C, 0xF0)), configure(signature(CRC, CRC_C))),
    Trial("copy_mask_structure", (K,), configure(signature(CRC, None, 0xFF)), configure(signature(CRC, None))),
    Trial("copy_mask_structure", (K,), configure(signature(None, DIF, 0)), configure(signature(DIF, dif(), 0))),
    Trial(
        "copy_mask_structure",
        (K,),
        configure(signature(CRC, Domain(CRC.signature, 4096), 0xF0)),
        configure(signature(CRC, crc(0), 0xF0)),
    ),
    Trial(
        "copy_mask_structure",
        (K,),
        configure(signature(CRC, DIF, flags=1)),
        configure(signature(CRC, DIF, 0xF0, flags=0)),
    ),
    Trial("mkey_without_crypto", (K,), configure(crypto()), configure()),
    Trial("crypto_comp_mask", SECRET, configure(crypto(but=(("comp_mask", 1),))), configure(crypto())),
    Trial(
        "crypto_standard",
        SECRET,
        configure(crypto(but=(("crypto_standard", 1),))),
        configure(crypto(but=(("crypto_standard", 0),))),
    ),
    Trial("crypto_order", SECRET, configure(crypto(but=(("signature_crypto_order", 2),))), configure(crypto(order=1))),
    Trial(
        "crypto_data_unit",
        SECRET,
        configure(crypto(but=(("data_unit_size", 5),))),
        configure(crypto(but=(("data_unit_size", 4),))),
    ),
    Trial("crypto_data_unit", SECRET, configure(crypto(data_unit=1024)), configure(crypto(data_unit=4096))),
    Trial(
        "crypto_order_domains",
        (M, mkey(flags=7)),
        configure(crypto(order=0), signature(CRC, CRC)),
        configure(crypto(order=1), signature(CRC, CRC)),
    ),
    Trial(
        "crypto_order_domains",
        (M, mkey(flags=7), configure(crypto(order=1, encrypt_on_tx=False))),
        configure(signature(CRC, CRC)),
        configure(signature(CRC)),
    ),
    Trial("crypto_missing", (*SECRET, configure(access(0xF), listed())), transmit(), configure(crypto())),
    Trial(
        "crypto_keytag",
        (*SECRET, configure(access(0xF), listed(), crypto(keytag=bytes(8)))),
        transmit(),
        configure(crypto(keytag=KEYTAG)),
    ),
    Trial(
        "crypto_keytag",  # one that is not said is zeros
        (*SECRET, configure(access(0xF), listed(), crypto())),
        transmit(),
        configure(crypto(keytag=KEYTAG)),
    ),
    Trial(
        "crypto_job",
        (*SECRET, configure(access(0xF), listed(part(length=4096)), crypto(data_unit=512, keytag=KEYTAG))),
        transmit(47),
        transmit(128),
    ),
    Trial(
        "crypto_job",
        (*SECRET, configure(access(0xF), listed(part(length=4096)), crypto(data_unit=520, keytag=KEYTAG))),
        transmit(512),
        transmit(496),
    ),
    Trial("create_flags", (), mkey(but=(("create_flags", 1 << 5),)), mkey(but=(("create_flags", 0x1F),))),
    Trial("create_flags", (), mkey(flags=0), mkey(flags=1)),
    Trial("foreign_pd", (memory(pd="p"), K, configure(listed())), transmit(), configure(listed())),
    Trial("foreign_pd", (memory(pd="p"), mkey(pd="p"), configure(listed())), transmit(), configure(listed())),
    Trial("bad_lkey", PLAIN, transmit(lkey=Live("m", "lkey")), transmit(lkey=Live("k", "lkey"))),
    Trial(
        "bad_lkey",
        (M, memory("b"), K, configure(listed(part(), part("b", lkey=Live("m", "lkey"))))),
        transmit(1024),
        transmit(512),
    ),
    Trial("invalidated_key", (*PLAIN, post(plan.Invalidate(at(), "k", "post_send"))), transmit(), configure(access(0))),
    Trial(
        "check_without_signature",
        (mkey("j", INDIRECT), K),
        plan.Check(at(), "j", ("ok",)),
        plan.Check(at(), "k", ("ok",)),
    ),
    Trial(
        "cancel_state",
        (K, qp("q"), qp("p", sig_pipelining=True), DRAINED),
        plan.Cancel(at(), 2, "q"),
        plan.Cancel(at(), 2, "p"),
    ),
    Trial(
        "remote_invalidate_flag",
        (
            M,
            mkey("j", peer=True),
            mkey("i", 17, peer=True),
            post(configuration(access(0), name="j"), configuration(access(0), name="i"), peer=True),
        ),
        post(plan.Send(at(), (part(),), None, "j")),
        post(plan.Send(at(), (part(),), None, "i")),
    ),
    Trial("destroyed", (M, K, mkey("j"), plan.Destroy(at(), "k")), configure(listed()), plan.Destroy(at(), "j")),
    Trial("destroyed_key", (*PLAIN, mkey("j"), plan.Destroy(at(), "k")), transmit(), plan.Destroy(at(), "j")),
    Trial(
        "inline_source",
        (*PLAIN, PEER),
        post(plan.Write(at(), (part("k"),), part("w"), None, INLINE)),
        post(plan.Write(at(), (part(),), part("w"), None, INLINE)),
    ),
    Trial(
        "inline_room",
        (memory(length=600), memory("w", peer=True, length=600)),
        post(plan.Write(at(), (part(length=513),), part("w", length=513), None, INLINE)),
        post(plan.Write(at(), (part(),), part("w"), None, INLINE)),
    ),
    Trial("update_tag_flag", (K, mkey("u", 9)), plan.Retag(at(), "k", 1), plan.Retag(at(), "u", 1)),
    Trial("qp_operations", (), qp(type="ud", send_ops=12), qp(type="ud", send_ops=8)),
    Trial("qp_operations", (), qp(send_ops=32), qp(send_ops=31)),
    Trial(
        "qp_operation_missing",
        (K, qp(send_ops=2)),
        on(configure(access(0))),
        on(post(plan.MrList(at(), "k", List((part(),)), 1))),
    ),
    Trial(
        "qp_type_operation",
        (M, qp(type="ud", send_ops=8)),
        on(post(plan.Send(at(), (part(length=4097),)))),
        on(post(plan.Send(at(), (part(length=4096),)))),
    ),
    Trial(
        "qp_type_operation",
        (M, qp(type="xrc_send", send_ops=8)),
        plan.Recv(at(), (part(),), "q"),
        on(post(plan.RawWqe(at(), Fill(0, 16)))),
    ),
    Trial("too_many_sges", (M, PEER, qp(max_send_sge=2)), on(post(WRITE_3)), on(post(WRITE_2))),
    Trial("too_many_sges", (M,), plan.Recv(at(), (part("m", 0, 1),) * 5), plan.Recv(at(), (part("m", 0, 1),) * 4)),
    Trial(
        "atomic_boundary",
        (M, PEER),
        post(plan.FetchAdd(at(), part("m", 0, 8), part("w", 4, 8), 1)),
        post(plan.FetchAdd(at(), part("m", 0, 8), part("w", 8, 8), 1)),
    ),
    Trial(
        "atomic_boundary",
        (M, PEER),
        post(plan.CompareSwap(at(), part("m", 0, 8), part("w", 1, 8), 1, 2)),
        post(plan.CompareSwap(at(), part("m", 1, 8), part("w", 8, 8), 1, 2)),
    ),
    Trial(
        "own_layout",
        (M, K),
        configure(listed(part("m", 0, 8), part("k", 0, 8))),
        configure(listed(part("m", 0, 8), part("m", 0, 8))),
    ),
    Trial("qp_operation_missing", (), post(plan.RawWqe(at(), Fill(0, 16))), configure(access(0), name="m")),
    Trial("dek_key_size", (), dek(but=(("key_size", 2),)), dek(but=(("key_size", 0),))),
    Trial("dek_size", (), dek(but=(("key_size", 1),)), dek(but=(("key_size", 0),))),
    Trial("dek_size", (LOGIN,), plan.Dek(at(), "d", Fill(1, 31), wrapped=True), dek(wrapped=True)),
    Trial("dek_purpose", (), dek(but=(("key_purpose", 1),)), dek(but=(("key_purpose", 0),))),
    Trial("dek_comp_mask", (), dek(but=(("comp_mask", 3),)), dek(but=(("comp_mask", 1),))),
    Trial("dek_login", (), dek(but=(("comp_mask", 0),)), dek()),
    Trial("dek_login", (), dek(wrapped=True), dek(wrapped=True, login="o")),
    Trial("dek_login", (LOGIN, plan.Logout(at())), dek(wrapped=True), dek()),
    Trial("dek_wrapped", (LOGIN,), dek(wrapped=True, damaged=3), dek(wrapped=True)),
    Trial("dek_wrapped", (LOGIN,), dek(wrapped=True, but=(("key_size", 1),)), dek(wrapped=True)),
    Trial("dek_wrapped", (LOGIN,), dek(but=(("comp_mask", 0),)), dek()),
    Trial(
        "dek_key_size", (LOGIN,), dek(wrapped=True, but=(("key_size", 2),)), dek(wrapped=True, but=(("key_size", 0),))
    ),
    Trial(
        "dek_query_login",
        (LOGIN, dek(wrapped=True), plan.Dek(at(), "e", Fill(1, 32)), plan.Logout(at())),
        plan.Query(at(), "d", READY),
        plan.Query(at(), "e", READY),
    ),
    Trial("login_twice", (LOGIN,), LOGIN, plan.Logout(at())),
    Trial("logout_without_login", (), plan.Logout(at()), LOGIN),
    Trial("logout_without_login", (LOGIN, plan.Logout(at())), plan.Logout(at()), LOGIN),
    Trial("login_comp_mask", (), plan.Login(at(), but=(("comp_mask", 1),)), plan.Login(at(), but=(("comp_mask", 0),))),
    Trial("login_credential", (), plan.Login(at(), credential=Fill(1, 40)), LOGIN),
    Trial("login_credential", (), plan.Login(at(), "o", damaged=3), OBJECT),
    Trial("login_credential", (), plan.Login(at(), but=(("import_kek_id", 1),)), LOGIN),
    Trial("login_objects", (OBJECT,), plan.Login(at(), "p"), plan.Logout(at(), "o")),
    Trial(
        "dek_in_use",
        (*SECRET, plan.Dek(at(), "e", Fill(2, 32)), configure(access(0xF), listed(), crypto())),
        plan.DestroyDek(at(), "d"),
        plan.DestroyDek(at(), "e"),
    ),
    Trial(
        "destroyed_dek",
        (*SECRET, configure(access(0xF), listed(), crypto(keytag=b"\7" * 8)), plan.DestroyDek(at(), "d")),
        transmit(),
        plan.DestroyDek(at(), "e"),
    ),
    Trial(
        "destroyed", (*SECRET, plan.DestroyDek(at(), "d")), plan.Query(at(), "d", READY), plan.Query(at(), "e", READY)
    ),
    Trial(
        "dek_pd",
        (M, mkey(flags=CRYPTO), plan.Pd(at(), "p"), plan.Dek(at(), "d", Fill(1, 32), pd="p")),
        configure(crypto()),
        configure(),
    ),
    Trial("dek_size", (), plan.Dek(at(), "d", Fill(0, 48)), plan.Dek(at(), "d", Fill(0, 64))),
    Trial(
        "keytag_size", (), plan.Dek(at(), "d", Fill(0, 64), Fill(7, 9)), plan.Dek(at(), "d", Fill(0, 64), Fill(7, 8))
    ),
    Trial("keytag_size", SECRET, configure(crypto(keytag=b"7" * 9)), configure(crypto(keytag=b"7" * 8))),
    Trial("streams_of_no_dci", (), qp(streams=4), qp(type="dci", send_ops=0, streams=4)),
    Trial("streams_of_no_dci", (), qp(type="ud", send_ops=0, streams=4), qp(type="ud", send_ops=0)),
    Trial(
        "aborted_post_send",
        (K,),
        abort(plan.Invalidate(at(), "k", "post_send")),
        abort(plan.Invalidate(at(), "k", "wr_post")),
    ),
    Trial(
        "aborted_post_send",
        (K,),
        abort(plan.Invalidate(at(), "k", "post_send")),
        post(plan.Invalidate(at(), "k", "post_send")),
    ),
    Trial(
        "dct_on_other_qp",
        (M, PEER, plan.Recv(at(), (part("w", 0, 8),), peer=True)),
        post(plan.Send(at(), (part("m", 0, 8),), options=plan.Options(dct="t"))),
        post(plan.Send(at(), (part("m", 0, 8),))),
    ),
    Trial(
        "solicited_message",
        (M, PEER),
        post(plan.Write(at(), (part("m", 0, 8),), part("w", 0, 8), options=plan.Options(solicited=True))),
        post(plan.Write(at(), (part("m", 0, 8),), part("w", 0, 8))),
    ),
    Trial(
        "solicited_message",
        OPEN,
        plan.Transmit(at(), part("k", length=64), "write", options=plan.Options(solicited=True)),
        plan.Transmit(at(), part("k", length=64), "send", options=plan.Options(solicited=True)),
    ),
    Trial(
        "raw_short",
        (qp(send_ops=8),),
        on(post(plan.RawWqe(at(), Fill(0, 15)))),
        on(post(plan.RawWqe(at(), Fill(0, 16)))),
    ),
    Trial(
        "scatter_to_cqe",
        (*OPEN, qp(scatter_to_cqe=True)),
        plan.Receive(at(), Fill(0, 64), part("k", length=64), "recv", None, "q"),
        plan.Receive(at(), Fill(0, 65), part("k", length=65), "recv", None, "q"),
    ),
    Trial(
        "dc_address",
        (M, qp(type="dci")),
        on(post(plan.Send(at(), (part(),)))),
        on(post(plan.Send(at(), (part(),), options=plan.Options(dct="t")))),
    ),
    Trial("cancel_state", PIPELINES, plan.Cancel(at(), 2, "p"), mkey()),
    Trial("cancel_state", (*PIPELINES, mkey(flags=9)), plan.Resume(at(), "p"), plan.Await(at(), "comm_est", "p")),
    Trial("cancel_state", (*PIPELINES, K, DRAINED), plan.Resume(at(), "q"), plan.Resume(at(), "p")),
    Trial("cancel_state", (*PIPELINES, K), plan.Resume(at(), "p"), DRAINED),
    Trial("nested_too_deep", NESTED, *(plan.Transmit(at(), part(name), "send") for name in ("k8", "k7"))),
    Trial(
        "invalidated_key",
        (M, mkey("i", 17, peer=True)),
        post(plan.Send(at(), (part(),), None, "i")),
        post(plan.Send(at(), (part(),))),
    ),
    Trial("memory_rights", (), memory(access=2), memory(access=3)),
    Trial("memory_rights", (), memory("w", access=12, peer=True), memory("w", access=4, peer=True)),
    Trial("update_tag", RETAGGED, transmit(), transmit(tag=0)),
    Trial("update_tag", RETAGGED, transmit(by="peer_read"), transmit(by="peer_read", tag=0)),
    Trial("update_tag", (*RETAGGED, configure(access(0xF))), transmit(tag=0), transmit(tag=9)),
    Trial("update_tag", (*RETAGGED, configure(access(0xF)), plan.Retag(at(), "k", 8)), receive(), configure(access(1))),
    Trial("dc_stream", (M, qp(type="dci", streams=4)), on(post(STREAM_4)), on(post(STREAM_3))),
    Trial("dc_stream", (M, qp(type="dci")), on(post(STREAM_0)), on(post(NO_STREAM))),
    Trial("wrong_side", (*OPEN, PEER), post(plan.Write(at(), (part("w"),), part("w"))), post(WRITE)),
    Trial(
        "beyond_memory",
        (M, PEER),
        post(plan.Write(at(), (part("m", 8000, 193),), part("w", 0, 193))),
        post(plan.Write(at(), (part("m", 8000, 192),), part("w", 0, 192))),
    ),
    Trial(
        "beyond_memory",
        (M, PEER),
        post(plan.Read(at(), (part("m", 0, 8192), part("m", 0, 1)), part("w", 0, 8193))),
        post(plan.Read(at(), (part("m", 0, 8191), part("m", 0, 1)), part("w", 0, 8192))),
    ),
    Trial(
        "receive_room",
        (M, PEER, plan.Recv(at(), (part("w", 0, 8), part("w", 8, 8)), peer=True)),
        post(plan.Send(at(), (part("m", 0, 16), part("m", 0, 1)))),
        post(plan.Send(at(), (part("m", 0, 16),))),
    ),
    Trial("access_right", (M, K, configure(access(2), listed()), PEER, RECV_K), SEND_W, SEND_NOTHING),
    Trial("access_right", (memory(access=2), PEER, RECV_M), SEND_W, SEND_NOTHING),
    Trial("foreign_pd", (memory(pd="p"), PEER, RECV_M), SEND_W, SEND_NOTHING),
    Trial("foreign_pd", (memory(pd="p"), mkey(pd="p"), *OPEN[2:], PEER, RECV_K), SEND_W, SEND_NOTHING),
    Trial("bad_lkey", (*OPEN, PEER, plan.Recv(at(), (part("k", lkey=0),))), SEND_W, SEND_NOTHING),
    Trial(
        "invalidated_key", (*OPEN, PEER, RECV_K, post(plan.Invalidate(at(), "k", "post_send"))), SEND_W, SEND_NOTHING
    ),
    Trial("destroyed_key", (*OPEN, PEER, RECV_K, plan.Destroy(at(), "k")), SEND_W, SEND_NOTHING),
    Trial("no_layout", (K, PEER, RECV_K), SEND_W, SEND_NOTHING),
    Trial("wrong_side", (PEER, plan.Recv(at(), (part("w"),))), SEND_W, SEND_NOTHING),
    Trial("wrong_side", (PEER, FAR_K), configure(access(1)), post(configuration(access(1)), peer=True)),
    Trial("wrong_side", (M, K), post(configuration(access(1)), peer=True), configure(access(1))),
    Trial("wrong_side", (M, FAR_K), post(MR_LIST), post(MR_LIST, peer=True)),
    Trial("wrong_side", (M, FAR_K), post(MR_INTERLEAVED), post(MR_INTERLEAVED, peer=True)),
    Trial("wrong_side", (*OPEN, mkey("p", peer=True)), INVALIDATE_P, post(plan.Invalidate(at(), "k", "wr_post"))),
    Trial("wrong_side", (M, mkey("p"), *FAR_INV), SEND_INV_P, SEND_INV_K),
    Trial("beyond_buffer", (M, K), configure(listed(part("m", 8191, 2))), configure(listed(part("m", 8191, 1)))),
    Trial("beyond_buffer", (M, K), woven(4, 2048, 1), woven(4, 2047, 1)),
    Trial("unknown_state", (*PLAIN, abort(configuration(access(1)))), transmit(), configure(access(0))),
    Trial(
        "not_created",
        (mkey(claim=(plan.Rejected("create"),)), mkey("j")),
        configure(access(0)),
        configure(access(0), name="j"),
    ),
)


@pytest.mark.parametrize("trial", TRIALS, ids=[f"{t.rule}-{n}" for n, t in enumerate(TRIALS)])
def test_breaks_just_this_rule(trial: Trial) -> None:
    assert names(*trial.setup, trial.broken) == [trial.rule]


@pytest.mark.parametrize("trial", TRIALS, ids=[f"{t.rule}-{n}" for n, t in enumerate(TRIALS)])
def test_the_nearest_legal_step_breaks_none(trial: Trial) -> None:
    assert names(*trial.setup, trial.legal) == []


UNDECIDED = {"memcpy_length", "dek_import"}
"""Rules that only the device can decide: tested below."""


def test_every_rule_has_a_trial() -> None:
    assert {trial.rule for trial in TRIALS} | UNDECIDED == set(RULES)


def test_both_domains_are_looked_at() -> None:
    for rule, domain in (("crc_seed", crc(7)), ("block_size", but(DIF, block_size=9)), ("dif_bg", dif(1))):
        assert names(K, configure(signature(wire=domain))) == [rule]
        assert names(K, configure(signature(mem=domain))) == [rule]


def test_overrides_are_marked_as_forced() -> None:
    forced = configure(access(1), num_setters=3)
    assert [b.by_but for b in look(K, forced)] == [True]
    assert [b.by_but for b in look(K, configure(access(1 << 30)))] == [False]
    assert [b.by_but for b in look(K, with_domain(but(CRC, block_size=5)))] == [True]


LIVE = Live("k", "max_entries")


@pytest.mark.parametrize(
    ("rules", "steps"),
    [
        (["memcpy_length"], (M, memory("n"), qp(send_ops=16), on(post(plan.Memcpy(at(), part(), part("n")))))),
        (["beyond_layout"], (*PLAIN, transmit(2, Live("m", "addr")))),
        (["beyond_layout"], (*PLAIN, transmit(length=LIVE))),
        (["access_bits"], (K, configure(access(LIVE)))),
        (["access_right"], (M, K, configure(access(LIVE), listed()), receive())),
        (["conf_flags"], (K, configure(conf_flags=LIVE))),
        (["mkey_entries", "strided_entry"], (M, mkey(entries=Live("j", "max_entries")), configure(strided(2)))),
        (["crc_seed"], (K, with_domain(Domain(Crc(0, 0, (("seed", LIVE),)), 512)))),
        (["create_flags"], (mkey(but=(("create_flags", LIVE),)),)),
        (["update_tag"], (*PLAIN, transmit(tag=LIVE))),
        (["qp_operations"], (qp(type="dci", send_ops=4),)),
        (["dek_import"], (dek(wrapped=False),)),
        (["dek_import"], (LOGIN, dek(wrapped=True, but=(("comp_mask", 1),)))),
        (["login_objects"], (LOGIN, OBJECT)),
        (["login_objects"], (OBJECT, LOGIN)),
    ],
)
def test_what_a_live_value_decides_may_be_broken(rules: list[str], steps: tuple[plan.Step, ...]) -> None:
    assert names(*steps) == []
    assert names(*steps, certain=False) == rules


@pytest.mark.parametrize(
    ("live", "rules"),
    [
        (Live("k", "max_entries"), ["mkey_entries"]),
        (LiveOp("/", (LiveOp("+", (Live("q", "max_inline_data"), 4)), 16)), ["list_room"]),
        (Live("device", "max_wr_memcpy_length"), ["list_room", "mkey_entries"]),
    ],
)
def test_what_a_live_count_is_counted_from(live: Int, rules: list[str]) -> None:
    step = configure(plan.SetLayout(List((Repeated(part(length=1), live),))))
    assert names(M, K, step, certain=False) == rules


def test_entries_left_to_lowering_are_enough() -> None:
    """An mkey without `entries` gets what its largest layout needs."""
    assert look(M, mkey(entries=Live("k", "max_entries")), configure(sges(30))) == []


def test_a_tail_of_a_block_is_left_open() -> None:
    """X-OPEN-03: half a frame."""
    assert names(*SIGNED, receive(1000)) == []
    assert names(*SIGNED, receive(1030), certain=False) == ["layout_too_short"]


def test_status_class_follows_the_direction() -> None:
    assert look(*OPEN, transmit(513))[0].reason == "local_protection"
    assert look(*OPEN, transmit(513, by="peer_read"))[0].reason == "remote_access"
    assert look(*OPEN, receive(513, by="peer_write"))[0].reason == "remote_access"


def test_a_section_is_looked_at_request_by_request() -> None:
    """The second configuration's layout is the one the write goes through."""
    section = post(configuration(access(0), listed(part(length=64))), configuration(listed(part(length=1024))), WRITE)
    assert names(M, K, PEER, section) == []
    short = post(configuration(access(0), listed(part(length=64))), WRITE)
    assert names(M, K, PEER, short) == ["beyond_layout"]


def test_the_message_of_a_full_work_request_says_what_is_in_it() -> None:
    both = configure(sges(36), signature(mem=CRC), crypto())
    for step, words in (
        (configure(sges(37)), "37 SGEs do not fit into the work request: 592 bytes, its room is 576"),
        (configure(sges(33), signature(mem=CRC)), "33 SGEs with the signature or crypto block do not fit"),
        (both, "36 SGEs with the signature and crypto blocks do not fit"),
    ):
        (broken,) = look(M, mkey(flags=7, entries=64), step)
        assert broken.message.startswith(words)
    (short,) = look(M, K, NO_ROOM, on(configure(sges(5))))
    assert short.help == "a QP with max_inline_data 76"
    assert names(M, K, qp(max_send_sge=1, max_inline_data=76), on(configure(sges(5)))) == []


def test_the_setter_that_comes_late_is_one_fault() -> None:
    """A send in between: announced 2, called 1 and 1 later. Announced 3: one is missing besides."""
    stray = plan.StraySetter(at(), signature(mem=CRC))
    assert names(K, post(configuration(access(1), num_setters=2), stray)) == ["setter_outside"]
    assert names(K, post(configuration(access(1), num_setters=3), stray)) == ["too_few_setters", "setter_outside"]


def test_nothing_of_an_aborted_section_completes() -> None:
    bad = plan.Write(at(), (part("k", 4096, 4096),), part("w"))
    assert names(*OPEN, PEER, post(bad)) == ["beyond_layout"]
    assert names(*OPEN, PEER, abort(bad)) == []
    assert names(K, abort(configuration(access(1), access(1)))) == ["setter_called_twice"]


def test_an_entry_behind_the_transfer_is_not_used() -> None:
    layout = listed(part(), part("b", lkey=Live("m", "lkey")))
    steps = (M, memory("b"), K, configure(layout))
    assert names(*steps, transmit(513)) == ["bad_lkey"]
    assert names(*steps, transmit(512)) == []


def test_a_wrong_domain_has_no_structure_to_compare() -> None:
    assert names(K, configure(signature(but(CRC, block_size=5), CRC, 0xF0))) == ["block_size"]


def test_a_size_no_enum_value_says_cannot_be_claimed() -> None:
    (broken,) = look(K, with_domain(Domain(CRC.signature, 500)))
    assert broken.rule.phases == ()


def test_recv_of_an_unknown_mkey() -> None:
    lost = (*OPEN, abort(configuration(access(1))))
    assert names(*lost, plan.Recv(at(), (part("k"),))) == ["unknown_state"]
    assert names(*OPEN, plan.Recv(at(), (Part("k", 0, 99999),))) == []


def test_a_requests_override_is_of_its_own_key() -> None:
    """`write k to w, but rkey …` changes the key of `w`, not that of `k`."""
    for member, member_of in (("rkey", "w"), ("lkey", "k")):
        options = plan.Options(but=((member, Live("m", "lkey")),))
        (broken,) = look(*OPEN, PEER, post(plan.Write(at(), (part("k"),), part("w"), options=options)))
        assert broken.rule.name == "bad_lkey"
        assert f"`{member_of}`" in broken.message
        assert broken.by_but


def test_a_layouts_override() -> None:
    def found(certain: bool, **but: Int) -> list[str]:
        layout = listed(part("m", 0, 512, **but))
        return names(M, memory("b"), K, configure(access(0), layout), transmit(), certain=certain)

    assert found(True, lkey=Live("b", "lkey")) == ["bad_lkey"]
    assert found(True, lkey=Live("m", "lkey")) == []
    assert found(False, lkey=Live("m", "lkey")) == []
    assert found(True, addr=7) == []
    assert found(False, addr=7) == ["bad_lkey"]


def test_entries_of_live_length_reach_nowhere_certain() -> None:
    layout = listed(part(length=LIVE), part("b", lkey=Live("m", "lkey")))
    assert names(M, memory("b"), K, configure(access(0), layout), transmit()) == ["bad_lkey"]


def test_a_length_written_on_purpose() -> None:
    step = plan.Transmit(at(), part("k"), "send", options=plan.Options(but=(("length", 513),)))
    (broken,) = look(*OPEN, step)
    assert broken.by_but
    step = plan.Transmit(at(), part("k"), "send", options=plan.Options(but=(("addr", 1),)))
    assert [b.by_but for b in look(*OPEN, step)] == [True]
    step = plan.Transmit(at(), part("k"), "peer_read", options=plan.Options(but=(("addr", 1),)))
    assert look(*OPEN, step) == []


def test_the_help_of_a_short_layout_sizes_its_only_buffer() -> None:
    (one,) = look(*SIGNED, receive(1024))
    assert one.help == "memory m[2 * 516]"
    assert "`m` has 1024" in one.message
    two = configure(access(0xF), listed(part(length=512), part("b", length=512)), signature(mem=CRC))
    (several,) = look(M, memory("b"), K, two, receive(1024))
    assert several.help == ""
    assert "the layout of `k` has 1024" in several.message
    strided_one = configure(access(0xF), strided(1), signature(mem=CRC))
    (gaps,) = look(M, K, strided_one, receive(512))
    assert gaps.help == ""
    (tail,) = look(*SIGNED, receive(1030))
    assert tail.help == ""


@pytest.mark.parametrize(
    ("unit", "length", "fits"),
    [
        (512, 496, True),
        (512, 500, False),
        (512, 512, True),
        (512, 1040, True),
        (520, 496, True),
        (520, 504, False),
        (520, 512, False),
    ],
)
def test_jobs_of_a_data_unit(unit: int, length: int, fits: bool) -> None:
    """XCRY-10, with the values of the page."""
    steps = (*SECRET, configure(access(0xF), listed(part(length=4096)), crypto(data_unit=unit, keytag=KEYTAG)))
    assert names(*steps, transmit(length)) == ([] if fits else ["crypto_job"])


@pytest.mark.parametrize(("order", "job"), [(0, 520), (1, 512)])
def test_the_job_is_measured_where_crypto_is_done(order: int, job: int) -> None:
    """After crypto on TX: memory bytes, here with fields. Before it: wire bytes, here without."""
    key = mkey(flags=7)
    setter = crypto(order=order, encrypt_on_tx=bool(order), data_unit=520, keytag=KEYTAG)
    steps = (M, key, SECRET[2], configure(access(0), listed(part(length=520)), signature(mem=DIF), setter))
    assert names(*steps, transmit(512)) == ([] if job == 520 else ["crypto_job"])


def test_a_qp_that_was_not_created() -> None:
    refused = plan.Qp(at(), "q", (("type", "ud"), ("send_ops", 4)), claim=(plan.Rejected("create"),))
    assert names(refused, K, on(configure(access(0)))) == ["not_created"]


def test_an_mkey_that_was_not_created() -> None:
    refused = mkey(claim=(plan.Rejected("create"),))
    assert names(M, refused, transmit(0)) == ["not_created"]
    assert names(M, refused, plan.Recv(at(), (part("k"),))) == ["not_created"]
    assert names(M, refused, plan.Check(at(), "k", ("ok",))) == ["not_created"]
    assert names(M, refused, plan.Retag(at(), "k", 1)) == ["not_created"]
    assert names(M, refused, post(plan.Invalidate(at(), "k", "wr_post"))) == ["not_created"]


def test_an_order_written_on_purpose_is_forced() -> None:
    for member in ("encrypt_on_tx", "signature_crypto_order"):
        setter = crypto(order=1, encrypt_on_tx=True, but=((member, 0),))
        (broken,) = look(M, mkey(flags=7), configure(setter, signature(CRC, CRC)))
        assert broken.rule.name == "crypto_order_domains"
        assert broken.by_but


def test_what_of_an_mkey_is_unknown() -> None:
    lost = (*OPEN, abort(configuration(access(1))))
    (all_of_it,) = look(*lost, transmit())
    assert all_of_it.message.startswith("`k` is in an unknown state after the abort at")
    (one,) = look(*lost, configure(listed()), transmit())
    assert one.message.startswith("signature of `k` is unknown after the abort")
    (two,) = look(*lost, configure(access(0xF), listed()), configure(access(1)), receive())
    assert two.message.startswith("signature of `k` is unknown")
    (three,) = look(*lost, configure(listed()), receive())
    assert three.message.startswith("access and signature of `k` are unknown")


def test_flags_of_signature_are_kept_apart_from_crypto() -> None:
    assert SIG == 3
    assert CRYPTO == 5
