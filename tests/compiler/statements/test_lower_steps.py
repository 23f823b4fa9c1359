"""Every verb to its step: the plans are written by hand from the language's reference."""

from __future__ import annotations

import pytest

from mkeyspec.plan import (
    Accepted,
    At,
    Await,
    Cancel,
    Check,
    CompareSwap,
    Comparison,
    Completes,
    Configure,
    Dct,
    Dek,
    Destroy,
    DestroyDek,
    Entry,
    FetchAdd,
    Invalidate,
    Known,
    Lacks,
    Login,
    LoginState,
    Logout,
    Memcpy,
    Memory,
    Mkey,
    MrInterleaved,
    MrList,
    Options,
    Pd,
    Poll,
    Post,
    Qp,
    Query,
    RawWqe,
    Read,
    Receive,
    Record,
    Recv,
    Rejected,
    Resume,
    Retag,
    Send,
    SetAccess,
    SetCrypto,
    SetLayout,
    SetSignature,
    Store,
    StraySetter,
    Transmit,
    Write,
    options_of,
)
from mkeyspec.value.bytestring import Counter, Fill, Framed, Literal, Random
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Live, LiveBytes, LiveJoin, LiveOp
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.compiler.statements.lower_text import AT, errors, rows, steps

SIGNALED = Options(signaled=True)
WORD32 = 0xFFFFFFFF
CRC32 = Domain(Crc(0, WORD32), 512)
ONE = """
memory m = counter(512)
mkey k { block_signature }
"""
DEK_D = "dek d { key fill(7, 32) }\n"
WRAPPED = "dek d { key fill(7, 32); wrapped; damaged 9 }"
OF_OBJECT = "dek d { key fill(7, 32); login o }"
PLAIN = ONE + "configure k { access remote_read | remote_write | local_write; layout list(m) }\n"


def last(body: str) -> object:
    return steps(body)[-1]


# Declarations --------------------------------------------------------------------------------


def test_places_are_lines_and_columns_of_the_statement() -> None:
    memory, mkey = steps("memory m[16]\n  mkey k")
    assert (memory.at, mkey.at) == (At(4, 5), At(5, 7))


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("memory m[512]", Memory(AT, "m", 512)),
        ("memory m = counter(512)", Memory(AT, "m", 512, Counter(512))),
        ("memory m[512] = counter(512)", Memory(AT, "m", 512, Counter(512))),
        ("peer memory m[1], misaligned 3", Memory(AT, "m", 1, None, True, 3)),
        ("pd p\nmemory m[8], pd p, rights local_write | remote_read", Memory(AT, "m", 8, None, False, 0, "p", 1 | 4)),
        ("peer pd p", Pd(AT, "p", True)),
        ("mkey k { entries 3 }", Mkey(AT, "k", 1, 3)),
        ("mkey k", Mkey(AT, "k", 1, 4)),
        ("mkey k { block_signature; crypto\n update_tag; remote_invalidate }", Mkey(AT, "k", 0b11111, 4)),
        ("pd p\npeer mkey k { pd p; entries 1 }", Mkey(AT, "k", 1, 1, True, "p")),
        (
            "mkey k, but create_flags 1 << 5 { entries 4 } rejected at create",
            Mkey(AT, "k", 1, 4, but=(("create_flags", 32),), claim=(Rejected("create", None, "create_flags"),)),
        ),
        ("qp q", Qp(AT, "q")),
        (
            "qp q { max_send_sge 1; max_inline_data 0; sq_sig_all; type rc; send_ops [mr_list] }",
            Qp(
                AT,
                "q",
                (("max_send_sge", 1), ("max_inline_data", 0), ("sq_sig_all", True), ("type", "rc"), ("send_ops", 2)),
            ),
        ),
        ("dek d { key fill(7, 32); keytag fill(1, 8) }", Dek(AT, "d", Fill(7, 32), Fill(1, 8))),
        ("dek d { key fill(7, 32); opaque fill(1, 8) }", Dek(AT, "d", Fill(7, 32), opaque=Fill(1, 8))),
        ("pd p\ndek d { key fill(7, 32); pd p }", Dek(AT, "d", Fill(7, 32), pd="p")),
        (
            "dek d, but key_size 5 { key fill(7, 32) } rejected at create",
            Dek(AT, "d", Fill(7, 32), None, (Rejected("create", rule="dek_key_size"),), but=(("key_size", 5),)),
        ),
        ("dct t { key 0x1122 }", Dct(AT, "t", 0x1122)),
    ],
)
def test_declarations(text: str, step: object) -> None:
    assert last(text) == step


def test_entries_default_to_what_the_largest_layout_needs() -> None:
    body = """
    memory m = counter(64)
    mkey a
    mkey b
    mkey c
    configure a { layout list([m[i +: 1] for i in 0..5]) }
    configure b { layout interleaved(2, [m count 1] * 4) }
    configure c { layout list(m) }
    configure c { layout interleaved(2, [m count 1] * 3) }
    """
    entries = {step.name: step.entries for step in steps(body) if isinstance(step, Mkey)}
    assert entries == {"a": 8, "b": 8, "c": 4}  # 5, 4 + the strided header, 3 + the strided header: rounded up


# Configuration -------------------------------------------------------------------------------


def configuration(text: str) -> Configure:
    step = last(ONE + text)
    assert isinstance(step, Post)
    (request,) = step.requests
    assert isinstance(request, Configure)
    return request


def test_a_request_that_stands_alone_is_a_section_with_one_signaled_request() -> None:
    configure = Configure(AT, "k", (SetAccess(4),), False, SIGNALED)
    assert last(ONE + "configure k { access remote_read }") == Post(AT, (configure,))
    assert last(ONE + "qp q\nconfigure k on q as c, fence, id 41 completes { driver1, id 41 }") == Post(
        AT,
        (Configure(AT, "k", (), False, Options(True, True, False, 41)),),
        "q",
        label="c",
        claim=(Completes((Entry("driver1", (("id", 41),)),)),),
    )


def test_setters_are_called_as_written() -> None:
    found = configuration("configure k, reset_signature { layout list(m[0 +: 8]); access 0 }")
    assert found.setters == (SetLayout(List((Part("m", 0, 8),))), SetAccess(0))
    assert found.reset_signature


@pytest.mark.parametrize(
    ("calls", "order"),
    [
        ("[layout, access]", [SetLayout, SetAccess]),
        ("[access, layout]", [SetAccess, SetLayout]),
        ("[layout]", [SetLayout]),
        ("[]", []),
    ],
)
def test_calls_say_which_setters_are_called(calls: str, order: list[type]) -> None:
    found = configuration(f"configure k, calls {calls} {{ access 0; layout list(m) }}")
    assert [type(setter) for setter in found.setters] == order


def test_calls_may_repeat() -> None:
    body = ONE + "configure k, calls [access, access] { access 0 }\n    rejected at complete"
    step = last(body)
    assert isinstance(step, Post)
    assert step.requests[0] == Configure(AT, "k", (SetAccess(0), SetAccess(0)), False, SIGNALED)
    assert step.claim == (Rejected("complete", None, "setter_called_twice"),)


@pytest.mark.parametrize("side", ["mem", "wire"])
def test_setters_inside_if(side: str) -> None:
    body = (
        ONE
        + f"""
    let side = "{side}"
    configure k {{
        if side == "mem" {{ signature {{ mem crc32(ones) every 512 }} }} else {{ access 0 }}
    }}
    """
    )
    step = last(body)
    assert isinstance(step, Post)
    request = step.requests[0]
    assert isinstance(request, Configure)
    assert request.setters == ((SetSignature(CRC32, None, 0xF0) if side == "mem" else SetAccess(0)),)


@pytest.mark.parametrize(
    ("lines", "setter"),
    [
        ("mem crc32(ones) every 512", SetSignature(CRC32, None, 0xF0)),
        ("wire crc32c(zeros) every 520", SetSignature(None, Domain(Crc(1, 0), 520), 0xF0)),
        ("wire crc64_xp10(zeros) every 512", SetSignature(None, Domain(Crc(2, 0), 512), 0xFF)),
        (
            "mem crc32(ones) every 512; wire t10dif(app_tag=1) every 512",
            SetSignature(CRC32, Domain(T10Dif(app_tag=1), 512), 0xFF),
        ),
        ("mem none; wire none", SetSignature(None, None, 0)),
        ("mem crc32(ones) every 512; check_mask 0", SetSignature(CRC32, None, 0)),
        (
            "mem crc32(ones) every 512; wire crc32(ones) every 512; copy_mask 0x30",
            SetSignature(CRC32, CRC32, 0xF0, 0x30),
        ),
    ],
)
def test_check_mask_defaults_to_the_bytes_of_the_configured_domains(lines: str, setter: SetSignature) -> None:
    assert configuration(f"configure k {{ signature {{ {lines} }} }}").setters == (setter,)


def test_overrides_of_setters_and_of_the_builder() -> None:
    body = (
        ONE
        + """
    configure k, but comp_mask 1 { signature { mem crc32(ones) every 512 } }
        rejected at complete
    """
    )
    step = last(body)
    assert isinstance(step, Post)
    assert step.requests[0].options == Options(signaled=True, but=(("comp_mask", 1),))
    body = (
        ONE
        + """
    configure k { signature, but flags 2 { mem crc32(ones) every 512 } }
        rejected at complete
    """
    )
    step = last(body)
    assert isinstance(step, Post)
    assert step.requests[0].setters == (SetSignature(CRC32, None, 0xF0, None, (("flags", 2),)),)  # type: ignore[union-attr]


def test_crypto() -> None:
    body = """
    dek d { key fill(7, 32) }
    mkey k { crypto }
    configure k { crypto { dek d; tweak 0xff; data_unit 4096; encrypt_on_tx no; order signature_before_crypto_on_tx
                           keytag fill(1, 8) } }
    """
    step = last(body)
    assert isinstance(step, Post)
    assert step.requests[0].setters == (SetCrypto("d", 0xFF, 4096, False, 1, bytes([1] * 8)),)  # type: ignore[union-attr]


# Sections ------------------------------------------------------------------------------------


def requests(body: str) -> tuple[object, ...]:
    step = last(body)
    assert isinstance(step, Post)
    return step.requests


def test_sections() -> None:
    body = (
        PLAIN
        + """
    peer memory w[512]
    qp q
    peer recv w on q
    post on q as l, nowait {
        configure k { access 0 }
        send m
        send m[0 +: 8], fence, signaled, solicited, id 5, inline
    }
    """
    )
    with pytest.raises(AssertionError, match="MKS0511"):
        steps(body)  # two sends, one receive
    body = body.replace("send m\n", "\n")
    post = last(body)
    assert post == Post(
        AT,
        (
            Configure(AT, "k", (SetAccess(0),)),
            Send(AT, (Part("m", 0, 8),), options=Options(True, True, True, 5, inline=True)),
        ),
        "q",
        wait=False,
        label="l",
    )


def test_an_aborted_section_needs_no_receive() -> None:
    post = last(PLAIN + "abort { configure k { access 0 }\n send m, signaled }")
    assert isinstance(post, Post)
    assert post.abort
    assert len(post.requests) == 2


def test_a_stray_setter() -> None:
    body = (
        PLAIN
        + """
    qp fresh
    post on fresh { access local_write }
        rejected at complete
    """
    )
    assert requests(body) == (StraySetter(AT, SetAccess(1)),)


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("write m to w", Write(AT, (Part("m", 0, 512),), Part("w", 0, 512), None, SIGNALED)),
        ("write m[4 +: 8] to w", Write(AT, (Part("m", 4, 8),), Part("w", 0, 8), None, SIGNALED)),
        (
            "write [m[0 +: 8], m[16 +: 8]] to w[1 +: 16]",
            Write(AT, (Part("m", 0, 8), Part("m", 16, 8)), Part("w", 1, 16), None, SIGNALED),
        ),
        ("write k to w", Write(AT, (Part("k", 0, 512),), Part("w", 0, 512), None, SIGNALED)),
        ("peer write w to k", Write(AT, (Part("w", 0, 512),), Part("k", 0, 512), None, SIGNALED)),
        ("read m from w[0 +: 100]", Read(AT, (Part("m", 0, 100),), Part("w", 0, 100), SIGNALED)),
        ("peer read w from k[12 +: 100]", Read(AT, (Part("w", 0, 100),), Part("k", 12, 100), SIGNALED)),
        ("fetch_add m[0 +: 8] from w, add 7", FetchAdd(AT, Part("m", 0, 8), Part("w", 0, 8), 7, SIGNALED)),
        (
            "compare_swap m from w[8 +: 8], compare 7, swap 1 << 63",
            CompareSwap(AT, Part("m", 0, 8), Part("w", 8, 8), 7, 1 << 63, SIGNALED),
        ),
        ("invalidate k by post_send", Invalidate(AT, "k", "post_send", SIGNALED)),
        ("invalidate k", Invalidate(AT, "k", "wr_post", SIGNALED)),
        ("peer recv w\nsend m", Send(AT, (Part("m", 0, 512),), None, None, SIGNALED)),
        ("peer recv w\nsend_imm m, imm 0xff", Send(AT, (Part("m", 0, 512),), 0xFF, None, SIGNALED)),
        ("recv m\npeer send_inv w, key k2", Send(AT, (Part("w", 0, 512),), None, "k2", SIGNALED)),
        ("peer recv\nwrite m to w, imm 1", Write(AT, (Part("m", 0, 512),), Part("w", 0, 512), 1, SIGNALED)),
        ("mr_list k from [m[0 +: 8]], access 4", MrList(AT, "k", List((Part("m", 0, 8),)), 4, SIGNALED)),
        (
            "mr_interleaved k from interleaved(2, m count 8 skip 4), access local_write",
            MrInterleaved(AT, "k", Interleaved(2, (Chunk(Part("m", 0, 512), 8, 4),)), 1, SIGNALED),
        ),
        (
            "qp q { send_ops [memcpy] }\nmemory z[1024]\nmemcpy m to z on q",
            Memcpy(AT, Part("m", 0, 512), Part("z", 0, 512), SIGNALED),
        ),
        (
            "qp q { send_ops [raw] }\nraw be64(q.qpn) ++ be64(q.qpn) on q",
            RawWqe(AT, LiveJoin((LiveBytes("be64", Live("q", "qpn")),) * 2), SIGNALED),
        ),
    ],
)
def test_requests(text: str, request_: object) -> None:
    body = PLAIN + "mkey k2 { remote_invalidate }\nconfigure k2 { layout list(m) }\npeer memory w[512]\n" + text
    assert requests(body) == (request_,)


def test_dc() -> None:
    body = """
    memory m = counter(64)
    peer memory far[64]
    dct t { key 1 }
    qp q { type dci; streams 4 }
    write m to far on q, dct t, stream 3
    """
    assert requests(body)[0].options == Options(signaled=True, dct="t", stream=3)  # type: ignore[attr-defined]


# Short forms ---------------------------------------------------------------------------------


def signed(lines: str, data: str) -> str:
    return f"""
    memory m = {data}
    mkey k {{ block_signature }}
    configure k {{ access remote_read | remote_write | local_write; layout list(m); signature {{ {lines} }} }}
    """


@pytest.mark.parametrize(
    ("lines", "data", "length"),
    [
        ("mem none; wire none", "counter(512)", 512),
        ("mem crc32(ones) every 512", "framed(counter(1024), crc32(ones) every 512)", 1024),
        ("wire crc32(ones) every 512", "counter(1024)", 1032),
        ("wire t10dif() every 4096", "counter(8192)", 8208),
        (
            "mem crc32(ones) every 512; wire t10dif() every 4096",
            "framed(counter(4096), crc32(ones) every 512)",
            4104,
        ),
    ],
)
def test_a_transmit_counts_wire_bytes(lines: str, data: str, length: int) -> None:
    step = last(signed(lines, data) + "transmit k by send")
    assert step == Transmit(AT, Part("k", 0, length), "send", options=SIGNALED)


def test_transmit() -> None:
    assert last(PLAIN + "qp q\ntransmit k[8 +: 16] by write_imm on q as t, imm 7") == Transmit(
        AT, Part("k", 8, 16), "write_imm", 7, "q", "t", SIGNALED
    )
    assert last(PLAIN + "transmit k but tag 3 by send\n    rejected at completion") == Transmit(
        AT,
        Part("k", 0, 512, (("tag", 3),)),
        "send",
        options=SIGNALED,
        claim=(Rejected("completion", "local_protection", "update_tag"),),
    )


def test_a_live_offset_stays_live() -> None:
    step = last(PLAIN + "transmit k[m.addr +: 2] by send\n    rejected at completion with local_protection")
    assert isinstance(step, Transmit)
    assert step.part == Part("k", Live("m", "addr"), 2)


def test_receive() -> None:
    assert last(PLAIN + "receive counter(512) into k by peer_write") == Receive(
        AT, Counter(512), Part("k", 0, 512), "peer_write", options=SIGNALED
    )
    assert last(PLAIN + "receive random(8, seed=1) into k[4 +: 8] by recv as r, id 3") == Receive(
        AT, Random(8, 1), Part("k", 4, 8), "recv", None, None, "r", Options(signaled=True, id=3)
    )


def test_a_buffer_that_is_received_is_its_bytes() -> None:
    step = last(PLAIN + "receive m into k by recv")
    assert isinstance(step, Receive)
    assert step.data == Counter(512)


# Others --------------------------------------------------------------------------------------


STOPPED = "qp q { sig_pipelining }\nconfigure k { layout list(m) }\ntransmit k by send on q\nawait sq_drained on q\n"


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            "peer memory w[8]\nqp q\npeer recv w on q as r, id 9",
            Recv(AT, (Part("w", 0, 8),), "q", True, "r", Options(id=9)),
        ),
        ('store m[8 +: 4] = hex"01020304"', Store(AT, Part("m", 8, 4), Literal(bytes([1, 2, 3, 4])))),
        ("store m[0 +: 4] = be32(k.rkey)", Store(AT, Part("m", 0, 4), LiveBytes("be32", Live("k", "rkey")))),
        ("await comm_est", Await(AT, "comm_est")),
        (STOPPED, Await(AT, "sq_drained", "q")),
        (
            "qp q\npoll q completes { send, id 1; error, status wr_flush_err }",
            Poll(
                AT,
                "q",
                claim=(Completes((Entry("send", (("id", 1),)), Entry("error", (("status", "wr_flush_err"),)))),),
            ),
        ),
        (f"{STOPPED}resume q", Resume(AT, "q")),
        (f"{STOPPED}cancel 2 on q as c", Cancel(AT, 2, "q", "c")),
        ("mkey u { update_tag }\nretag u to 7", Retag(AT, "u", 7)),
        ("mkey u\ndestroy u as d", Destroy(AT, "u", "d")),
        (DEK_D + "destroy d as gone", DestroyDek(AT, "d", "gone")),
        ("login as l", Login(AT, label="l")),
        (
            "login, but import_kek_id 5 { credential fill(1, 40); damaged 3 }",
            Login(AT, None, Fill(1, 40), 3, (("import_kek_id", 5),)),
        ),
        ("login_object o { damaged 0 }", Login(AT, "o", damaged=0)),
        ("login\nlogout as l", Logout(AT, None, "l")),
        ("login_object o\ndestroy o as l", Logout(AT, "o", "l")),
        ("login_state is state_valid as s", LoginState(AT, ("state_valid",), None, "s")),
        (
            "login_object o\nquery o is [state_valid, state_invalid]",
            LoginState(AT, ("state_valid", "state_invalid"), "o"),
        ),
        ("login\n" + WRAPPED, Dek(AT, "d", Fill(7, 32), wrapped=True, damaged=9)),
        ("login_object o\n" + OF_OBJECT, Dek(AT, "d", Fill(7, 32), wrapped=True, login="o")),
        ("dek d { key fill(7, 32); plaintext }", Dek(AT, "d", Fill(7, 32), wrapped=False)),
        (DEK_D + "query d is state_ready as q", Query(AT, "d", ("state_ready",), None, "q")),
        (
            DEK_D + "query d is [state_ready, state_error], opaque fill(1, 8) rejected at query with EINVAL",
            Query(AT, "d", ("state_ready", "state_error"), Fill(1, 8), None, (Rejected("query", "EINVAL"),)),
        ),
        (
            "mkey u\ndestroy u rejected at destroy with EBUSY",
            Destroy(AT, "u", None, (Rejected("destroy", "EBUSY"),)),
        ),
        ("record room = k.max_entries", Record(AT, "room", Live("k", "max_entries"))),
        ("let n = k.max_entries * 2\nrecord room = n", Record(AT, "room", LiveOp("*", (Live("k", "max_entries"), 2)))),
        (
            "expect k.max_entries >= 1\nrecord ok = k.max_entries == 1",
            Record(AT, "ok", Live("k", "max_entries"), "==", 1),
        ),
    ],
)
def test_other_verbs(text: str, step: object) -> None:
    assert last(ONE + text) == step


def test_check_knows_the_input_domain() -> None:
    body = signed("mem crc32(ones) every 512", "flip(framed(counter(1024), crc32(ones) every 512), 512)")
    assert last(body + "transmit k by send\ncheck k is bad_guard, block 0") == Check(
        AT, "k", ("bad_guard",), 0, domain=CRC32
    )
    body = signed("wire t10dif() every 512", "counter(512)")
    received = body + "receive flip(framed(counter(512), t10dif() every 512), 513) into k by recv\n"
    assert last(received + "check k is [bad_guard, bad_apptag]") == Check(
        AT, "k", ("bad_guard", "bad_apptag"), domain=Domain(T10Dif(), 512)
    )
    assert last(PLAIN + "check k is ok as c accepted or rejected at mkey_check") == Check(
        AT, "k", ("ok",), claim=(Accepted(), Rejected("mkey_check")), label="c"
    )


# Claims, needs, rows -------------------------------------------------------------------------


def test_claims_hold_when_they_say() -> None:
    body = """
    for n in 1, 5
    memory m = counter(8)
    qp q { max_send_sge 1; max_inline_data 0 }
    mkey k
    configure k on q { layout list([m] * n) }
        rejected at complete when n > 4
    """
    fine, refused = (row.steps[-1] for row in rows(body))
    assert isinstance(fine, Post)
    assert isinstance(refused, Post)
    assert (fine.claim, refused.claim) == ((), (Rejected("complete", None, "list_room"),))


def test_known_departures() -> None:
    body = (
        ONE
        + """
    configure k { layout list(m); signature { wire crc32(0xffffffffffffffff) every 512 } }
        known X-DIFF-08 rejected at complete with EINVAL
    transmit k by send known X-DIFF-07 rejected at completion
    """
    )
    *_, configure, transmit = steps(body)
    assert isinstance(configure, Post)
    assert isinstance(transmit, Transmit)
    assert configure.known == Known("X-DIFF-08", Rejected("complete", "EINVAL"))
    assert transmit.known == Known("X-DIFF-07", Rejected("completion"))


def test_each_flag_takes_yes_and_no() -> None:
    body = """
    for way in yes, no
    memory m = counter(8)
    peer memory w[8]
    mkey k { block_signature way; remote_invalidate no }
    qp q { send_ops [mkey_configure, raw_wqe] }
    configure k on q, reset_signature way { access 0 }
    post on q, nowait way { write m to w, fence way, inline way, signaled yes }
    """
    found = [row.steps[2:] for row in rows(body)]
    assert [steps[0].flags for steps in found] == [3, 1]  # type: ignore[union-attr]
    assert [dict(steps[1].members)["send_ops"] for steps in found] == [12, 12]  # type: ignore[union-attr]
    configured, posted = ([steps[i] for steps in found] for i in (2, 3))
    assert [step.posted()[0].reset_signature for step in configured] == [True, False]  # type: ignore[union-attr]
    assert [step.wait for step in posted] == [False, True]  # type: ignore[union-attr]
    assert [options_of(step.posted()[0]) for step in posted] == [
        Options(True, fence, inline=fence) for fence in (True, False)
    ]


def test_a_departure_of_some_rows() -> None:
    body = """
    for n in 1, 2
    memory m = counter(4)
    mkey k
    configure k { layout list(m) }
        known X-DIFF-01 rejected at complete with EINVAL when n == 2
    transmit k by send
        known X-DIFF-07 rejected at completion when n == 2
    expect wire == m
        known X-DIFF-07 any when n == 2
    """
    first, second = rows(body)
    assert [getattr(step, "known", None) for step in first.steps] == [None] * 5
    departures = [getattr(step, "known", None) for step in second.steps]
    assert [known and known.id for known in departures] == [None, None, "X-DIFF-01", "X-DIFF-07", "X-DIFF-07"]


def datagrams(*sent: str) -> str:
    lines = (f"peer recv w on q\nsend {data} on q" for data in sent)
    return "\n".join(("qp q { type ud; send_ops [] }", "memory m[512]", "peer memory w[512]", *lines))


def atomics(requests: str, claim: str = "") -> str:
    return f"memory m[8]\nmkey k\npost {{\n{requests}\n}} {claim}"


def told(name: str, least: int) -> Comparison:
    return Comparison(Live("device", name), ">=", least)


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("memory m[8]", ()),
        (
            signed("mem crc32c(ones) every 520", "framed(counter(520), crc32c(ones) every 520)"),
            ("block_signature", "signature.crc32c", "block.520"),
        ),
        (
            signed("wire t10dif(bg_type=csum) every 512", "counter(512)"),
            ("block_signature", "signature.t10dif", "signature.csum", "block.512"),
        ),
        ("mkey k { crypto; update_tag; remote_invalidate }", ("crypto", "update_tag", "remote_invalidate")),
        ("qp q { type dci }", ("qp.dci",)),
        ("qp q { type ud; send_ops [raw] }", ("qp.ud", "raw_wqe")),
        ("qp q { type ud; send_ops [mr_list] } rejected at create", ()),
        ("qp q { sig_pipelining; send_ops [memcpy, raw] }", ("pipelining", "memcpy", "raw_wqe")),
        ("qp q { max_send_wr 64; max_recv_wr 8; max_send_sge 4 }", ()),
        ("qp q { max_send_wr 4096; max_recv_wr 128 }", (told("max_qp_wr", 4096),)),
        (
            "qp q { max_recv_wr 128 }\nqp r { max_send_wr 4096; max_recv_sge 8 }",
            (told("max_qp_wr", 128), told("max_qp_wr", 4096), told("max_sge", 8)),
        ),
        ("qp q { max_send_wr 100000 } accepted or rejected at create", ()),
        (
            "qp q { type dci; streams 4; send_ops [] } accepted known X-DIFF-14 rejected at create",
            ("qp.dci", "qp.dci_streams", told("max_log_num_concurent", 2), told("max_log_num_errored", 2)),
        ),
        (
            atomics("configure k { access remote_atomic; layout list(m) }\nconfigure k { access 0 }"),
            ("access.remote_atomic",),
        ),
        (atomics("mr_list k from [m], access remote_atomic\nmr_list k from [m], access 0"), ("access.remote_atomic",)),
        (atomics("configure k { access remote_atomic; access 0 }", "rejected at complete"), ()),
        (datagrams("m[0..256]"), ("qp.ud", "transfer.ud")),
        (datagrams("m[0..256]", "m"), ("qp.ud", "transfer.ud", told("active_mtu", 512))),
    ],
)
def test_needs_follow_from_what_a_row_configures(body: str, needs: tuple[str, ...]) -> None:
    assert rows(body)[0].needs == needs


def test_needs_of_the_head() -> None:
    (row,) = rows("memory m[8]", "verifies LAY-05\nneeds qp.ud, device.max_wr_memcpy_length >= 4K")
    assert row.needs == ("qp.ud", Comparison(Live("device", "max_wr_memcpy_length"), ">=", 4096))


def test_what_must_be_lacking_is_not_needed() -> None:
    """What `needs not` names, and what a device without it can't have, is taken from the needs of the steps."""
    body = signed("mem crc32c(ones) every 520", "framed(counter(520), crc32c(ones) every 520)")
    (row,) = rows(body, "verifies LAY-05\nneeds not signature.crc32c, memcpy")
    assert row.needs == (Lacks("signature.crc32c"), "memcpy", "block_signature", "block.520")
    (row,) = rows(body, 'verifies LAY-05\nneeds not "block.520", not signature.crc32c')
    assert row.needs == (Lacks("block.520"), Lacks("signature.crc32c"), "block_signature")
    (row,) = rows(body, "verifies LAY-05\nneeds not block_signature")
    assert row.needs == (Lacks("block_signature"),)
    (row,) = rows("qp q { type dci; streams 2 }", "verifies LAY-05\nneeds not qp.dci")
    assert row.needs == (Lacks("qp.dci"),)
    (row,) = rows("qp q { type dci; streams 2 }", "verifies LAY-05\nneeds not qp.dci_streams")
    assert row.needs == (Lacks("qp.dci_streams"), "qp.dci")


def test_a_case_has_a_default_qp_of_its_own() -> None:
    body = """
    memory m = counter(8)
    peer memory w[8]
    mkey k { block_signature }
    qp other
    write m to w
    qp q, default { sig_pipelining }
    configure k { access local_write; layout list(m) }
    peer recv w
    post, nowait { send k, signaled }
    await sq_drained
    resume
    poll
    await sq_drained
    cancel 3
    transmit k by send
    receive counter(8) into k by recv
    write m to w on other
    """
    before, *after, other = (step.queue()[0] for step in steps(body)[4:] if not isinstance(step, Qp))
    assert (before, set(after), other) == (None, {"q"}, "other")
    assert errors("qp q, default\nqp r, default") == ["MKS0217 `q` is the default QP of this case already"]


def test_rows_do_not_see_one_another() -> None:
    body = """
    memory m = counter(8)
    for v in 1, 2
    store m = fill(v, 8)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
    """
    found = [row.steps[-1].expected for row in rows(body)]  # type: ignore[union-attr]
    assert found == [Fill(1, 8), Fill(2, 8)]


def test_live_lists_stay_live() -> None:
    body = """
    memory m = counter(1)
    mkey k { entries 3 }
    configure k { layout list([m] * k.max_entries) }
    """
    request = requests(body)[0]
    assert isinstance(request, Configure)
    assert request.setters == (SetLayout(List((Repeated(Part("m", 0, 1), Live("k", "max_entries")),))),)


def test_framed_bytes_are_kept_as_they_were_said() -> None:
    assert last("let d = crc32(ones) every 512\nmemory m = framed(counter(512), d)") == Memory(
        AT, "m", 516, Framed(Counter(512), CRC32)
    )
