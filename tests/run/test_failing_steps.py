"""MKS2001 to MKS2006: each is seen failing, and the claim that covers it is seen passing."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.abi.constants import Access, MkeyFlag
from mkeyspec.device.protocol import AsyncEvent
from mkeyspec.plan import (
    Accepted,
    Await,
    Completes,
    Configure,
    Entry,
    Expect,
    Invalidate,
    Memory,
    Mkey,
    Options,
    Outcome,
    Poll,
    Post,
    Qp,
    Read,
    Receive,
    Recv,
    Rejected,
    Send,
    SetAccess,
    SetLayout,
    Setter,
    Step,
    StraySetter,
    Transmit,
    Wire,
    Wr,
    Write,
)
from mkeyspec.value.bytestring import Counter, Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import Live
from tests.run.faulty_device import change, double
from tests.run.fixtures import (
    ALL,
    INDIRECT,
    SIGNALED,
    at,
    changed,
    codes,
    content,
    failures,
    plain,
    rig,
    run,
    transmit,
    wire,
)

TWICE: tuple[Setter, ...] = (SetAccess(ALL), SetAccess(ALL))
BEYOND = Transmit(at(5), Part("k", 60, 64), "send")


def configure(*claim: Outcome, setters: tuple[Setter, ...] = TWICE) -> Post:
    request = Configure(at(8), "k", setters, False, SIGNALED)
    return Post(at(8), (request,), claim=claim)


# MKS2001, 2002, 2003 -------------------------------------------------------------------------


def test_an_unclaimed_rejection() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *plain(), configure())
    assert failure.code == "MKS2001"
    assert failure.at == at(8)
    assert "rejected at complete with EINVAL" in failure.message


@pytest.mark.parametrize(
    "claim",
    [
        (Rejected("complete", "EINVAL"),),
        (Rejected("complete", rule="setter_called_twice"),),
        (Rejected("complete"),),
        (Accepted(), Rejected("complete", "EINVAL")),
    ],
)
def test_a_claimed_rejection_passes_and_the_pair_is_kept(claim: tuple[Rejected, ...]) -> None:
    tested, device = rig()
    again = plain()[2]
    assert run(tested, *plain(), configure(*claim), again, transmit(), wire(Counter(64))).status == "pass"
    assert len(device.named("reconnect")) == 0


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ((Rejected("complete", "ENOMEM"),), "MKS2003"),
        ((Rejected("completion", "loc_prot_err"),), "MKS2003"),
        ((Rejected("create", "EINVAL"),), "MKS2003"),
        ((Completes((Entry("driver1"),)),), "MKS2003"),
        ((Accepted(),), "MKS2001"),
    ],
)
def test_rejected_otherwise(claim: tuple[Rejected, ...], code: str) -> None:
    tested, _ = rig()
    assert codes(tested, *plain(), configure(*claim)) == [code]


def test_another_errno_than_the_rule_earns() -> None:
    tested, device = rig()
    device.errno = 12
    [failure] = failures(tested, *plain()[:2], configure(Rejected("complete", rule="setter_called_twice")))
    assert failure.code == "MKS2003"
    assert ("got", "rejected at complete with ENOMEM") in failure.details


def test_accepted_against_the_claim() -> None:
    tested, _ = rig()
    fine = (SetAccess(ALL),)
    assert codes(tested, *plain(), configure(Rejected("complete", "EINVAL"), setters=fine)) == ["MKS2002"]
    tested, _ = rig()
    claimed = changed(transmit(), claim=(Rejected("completion", "local_protection"),))
    assert codes(tested, *plain(), claimed) == ["MKS2002"]


def test_rejections_at_create() -> None:
    tested, _ = rig()
    odd = Mkey(at(2), "k", 1 << 5, 4)
    assert codes(tested, odd) == ["MKS2001"]
    assert run(tested, changed(odd, claim=(Rejected("create", rule="create_flags"),))).status == "pass"
    assert codes(tested, Mkey(at(2), "k", INDIRECT, 4, claim=(Rejected("create"),))) == ["MKS2002"]


def test_an_mkey_that_was_not_created_cannot_be_read() -> None:
    tested, _ = rig()
    odd = Mkey(at(2), "k", 1 << 5, 4, claim=(Rejected("create"),))
    assert codes(tested, odd, Expect(at(3), Live("k", "max_entries"), "==", 4)) == ["MKS2105"]


# Completions ---------------------------------------------------------------------------------


def test_a_rejection_at_completion_is_claimed_by_class_or_status() -> None:
    for reason in ("local_protection", "loc_prot_err", None):
        tested, device = rig()
        claimed = changed(BEYOND, claim=(Rejected("completion", reason),))
        assert run(tested, *plain(), claimed, transmit(line=6), wire(Counter(64), line=7)).status == "pass"
        assert len(device.named("reconnect")) == 1


@pytest.mark.parametrize("by", ["recv", "read", "peer_write", "peer_write_imm"])
def test_a_rejection_is_judged_on_the_request_that_names_the_mkey(by: str) -> None:
    tested, _ = rig()
    imm = 7 if by.endswith("imm") else None
    reason = "remote_access" if by.startswith("peer") else "local_protection"
    step = Receive(at(5), Counter(65), Part("k", 0, 65), by, imm)
    assert run(tested, *plain(), changed(step, claim=(Rejected("completion", reason),))).status == "pass"
    assert codes(tested, *plain(), changed(step, claim=(Rejected("completion", "retry_exc_err"),))) == ["MKS2003"]
    assert codes(tested, *plain(), step) == ["MKS2005"]


def test_a_remote_refusal_without_the_right() -> None:
    tested, _ = rig()
    setters = (SetAccess(int(Access.LOCAL_WRITE)), SetLayout(List((Part("m", 0, 64),))))
    read = changed(transmit(by="peer_read"), claim=(Rejected("completion", "remote_access"),))
    assert run(tested, *plain()[:2], configure(setters=setters), read).status == "pass"


def test_no_completion_by_the_deadline() -> None:
    tested, device = rig()
    device.silent = True
    [failure] = failures(tested, *plain())
    assert failure.code == "MKS2004"
    assert ("got", "nothing, within 0.02 s") in failure.details


@pytest.mark.parametrize(
    ("twist", "member"),
    [
        (change(status="rem_op_err"), "rem_op_err"),
        (change(opcode="rdma_read"), "opcode"),
    ],
)
def test_a_completion_that_is_not_what_was_owed(twist: object, member: str) -> None:
    tested, device = rig()
    device.twist = twist
    [failure] = failures(tested, *plain())
    assert failure.code == "MKS2005"
    assert member in failure.message


@pytest.mark.parametrize(("member", "value"), [("byte_len", 63), ("imm", 0x4321)])
def test_a_receive_that_is_not_what_was_owed(member: str, value: int) -> None:
    tested, device = rig()
    device.twist = lambda found: [changed(one, **{member: value}) if one.queue == "recv" else one for one in found]
    [failure] = failures(tested, *plain(), changed(transmit(by="send_imm"), imm=0x1234))
    assert failure.code == "MKS2005"
    assert member in failure.message


def test_an_exact_list_of_completions() -> None:
    def listed(*entries: Entry) -> tuple[Step, ...]:
        request = Configure(at(8), "k", (SetAccess(ALL),), False, Options(signaled=True, id=41))
        return (*plain(), Post(at(8), (request,), claim=(Completes(entries),)))

    tested, device = rig()
    good = Entry("driver1", (("id", 41),))
    assert run(tested, *listed(good)).status == "pass"
    for wrong in (
        (Entry("send"),),
        (Entry("driver1", (("id", 42),)),),
        (Entry("driver1", (("status", "loc_prot_err"),)),),
        (good, good),
    ):
        assert codes(tested, *listed(*wrong)) == ["MKS2005"]
    device.twist = double
    [failure] = failures(tested, *plain()[:2], *listed(good)[3:])
    assert failure.code == "MKS2005"
    assert ("expected", "completion 2: completion none") in failure.details
    assert ("arrived", "driver1 (send queue, id 41), driver1 (send queue, id 41)") in failure.details


def test_an_id_has_one_form_in_a_message() -> None:
    tested, _ = rig()
    configure = Configure(at(4), "k", (SetLayout(List((Part("m", 0, 64),))),), False, Options(signaled=True, id=41))
    other = Entry("driver1", (("id", 42),))
    [failure] = failures(tested, *plain()[:2], Post(at(8), (configure,), claim=(Completes((other,)),)))
    assert failure.details == (
        ("expected", "completion 1: id 42"),
        ("got", "completion 1: id 41"),
        ("arrived", "driver1 (send queue, id 41)"),
    )


def section(*requests: Wr, **options: Any) -> Post:
    return Post(at(9), requests, **options)


WRITE = Write(at(9), (Part("m", 0, 64),), Part("w", 0, 64), None, SIGNALED)
BAD_WRITE = Write(at(10), (Part("k", 1, 64),), Part("w", 0, 64), None, SIGNALED)
W = Memory(at(3), "w", 64, Counter(64), peer=True)


def test_what_follows_a_failed_request_must_be_flushed() -> None:
    tested, device = rig()
    claim = (Rejected("completion", "local_protection"),)
    post = section(WRITE, BAD_WRITE, WRITE, claim=claim)
    assert run(tested, *plain(), W, post).status == "pass"
    device.twist = lambda found: [
        changed(one, status="success", opcode="rdma_write") if one.status == "wr_flush_err" else one for one in found
    ]
    [failure] = failures(tested, *plain(), W, post)
    assert failure.code == "MKS2005"
    assert ("expected", "wr_flush_err") in failure.details


def test_a_message_that_arrives_though_its_request_failed() -> None:
    tested, device = rig()
    device.twist = lambda found: [changed(one, status="loc_prot_err") if one.opcode == "send" else one for one in found]
    claimed = changed(transmit(), claim=(Rejected("completion", "local_protection"),))
    [failure] = failures(tested, *plain(), claimed)
    assert failure.code == "MKS2005"
    assert "the other end received" in failure.message


def test_an_unsignaled_request_may_be_claimed_to_fail() -> None:
    tested, _ = rig()
    quiet = changed(BAD_WRITE, options=Options())
    assert run(tested, *plain(), W, section(quiet, claim=(Rejected("completion"),))).status == "pass"
    assert codes(tested, *plain(), W, section(changed(WRITE, options=Options()), claim=(Rejected("completion"),))) == [
        "MKS2002"
    ]


def test_sends_are_paired_with_posted_receives() -> None:
    tested, device = rig()
    r = Memory(at(3), "r", 64, Counter(64), peer=True)
    recv = Recv(at(4), (Part("r", 0, 64),), None, True, "note")
    send = section(Send(at(9), (Part("m", 0, 32),), 0x11223344, None, SIGNALED))
    expects = (
        Expect(at(10), Live("note", "byte_len"), "==", 32),
        Expect(at(10), Live("note", "imm"), "==", 0x11223344),
        Expect(at(10), Live("note", "status"), "==", "success"),
    )
    assert run(tested, *plain(), r, recv, send, *expects).status == "pass"
    device.twist = lambda found: [one for one in found if one.queue != "recv"]
    assert codes(tested, *plain(), r, recv, send) == ["MKS2004"]


def test_posted_and_not_waited_for_then_polled() -> None:
    tested, _ = rig()
    nowait = section(WRITE, WRITE, wait=False)
    exact = Poll(at(11), claim=(Completes((Entry("rdma_write"), Entry("rdma_write"))),))
    assert run(tested, *plain(), W, nowait, exact).status == "pass"
    assert run(tested, *plain(), W, nowait, Poll(at(11))).status == "pass"
    assert run(tested, *plain(), W, nowait).status == "pass", "waited for and judged at the end"
    short = Poll(at(11), claim=(Completes((Entry("rdma_write"),) * 3),))
    assert codes(tested, *plain(), W, nowait, short) == ["MKS2005"]
    assert codes(tested, *plain(), W, section(WRITE, BAD_WRITE, wait=False), Poll(at(11))) == ["MKS2005"]


def test_a_claim_is_of_its_own_section_and_not_of_one_that_failed_before() -> None:
    """The second write is flushed, whatever it is itself: its claim must not take the failure of the first."""
    tested, _ = rig()
    claim = (Rejected("completion", "local_protection"),)
    steps = (*plain(), W, section(BAD_WRITE, wait=False), section(WRITE, claim=claim))
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2005", at(10))
    assert "before `write` completed with loc_prot_err" in failure.message


def test_an_aborted_section_has_no_completion() -> None:
    tested, device = rig()
    assert run(tested, *plain(), W, section(WRITE, abort=True)).status == "pass"
    abort = section(changed(WRITE, options=Options(signaled=True, id=5)), abort=True)
    seen: list[object] = []

    def watch(found: list[Any]) -> list[Any]:
        seen.extend(found)
        return found

    device.twist = watch
    run(tested, *plain(), W, section(changed(WRITE, options=Options(signaled=True, id=5))))
    late = [one for one in seen if getattr(one, "wr_id", 0) == 5]
    device.twist = None
    poll = device.poll
    device.poll = lambda qp: [*poll(qp), *late]
    assert codes(tested, *plain()[:2], W, abort) == ["MKS2201"]


def test_a_stray_setter_is_refused_with_the_section() -> None:
    tested, _ = rig()
    request = Configure(at(8), "k", (SetAccess(ALL),), False, SIGNALED)
    post = section(request, StraySetter(at(9), SetAccess(ALL)), claim=(Rejected("complete", rule="setter_outside"),))
    assert run(tested, *plain(), post).status == "pass"


def test_an_event_that_does_not_come_and_one_that_does() -> None:
    tested, device = rig()
    assert codes(tested, *plain(), Await(at(6), "sq_drained")) == ["MKS2006"]
    device.stuck_events.append(AsyncEvent("sq_drained", device.device.default_pair.owner))
    assert run(tested, *plain(), Await(at(6), "sq_drained")).status == "pass"


def test_labels_show_errnos_and_counts() -> None:
    tested, _ = rig()
    refused = changed(configure(Accepted(), Rejected("complete")), label="c")
    verdict = run(
        tested,
        *plain(),
        refused,
        Expect(at(9), Live("c", "errno"), "==", "EINVAL"),
        plain()[2],
        Transmit(at(11), Part("k", 0, 64), "send", label="t"),
        Expect(at(12), Live("t", "errno"), "==", 0),
        Expect(at(12), Live("t", "byte_len"), "==", 64),
        Expect(at(12), Wire(64, 0, "t"), "==", Counter(64)),
    )
    assert verdict.status == "pass"


def test_own_pairs_have_own_queues_and_signal_all() -> None:
    tested, device = rig()
    pair = Qp(at(2), "q", (("sq_sig_all", True), ("max_inline_data", 256)))
    request = Configure(at(8), "k", (SetAccess(ALL), SetLayout(List((Part("m", 0, 64),)))), False, Options())
    post = Post(at(8), (request,), "q", claim=(Completes((Entry("driver1"),)),))
    room = Expect(at(9), Live("q", "max_inline_data"), ">=", 256)
    assert run(tested, *plain()[:2], pair, post, room).status == "pass"
    assert device.named("qp_pair")[0][0].max_inline_data == 256


def test_invalidated_keys_and_explicit_reads() -> None:
    tested, _ = rig()
    invalidate = section(Invalidate(at(9), "k", "wr_post", SIGNALED))
    mkey = Mkey(at(3), "k", int(MkeyFlag.INDIRECT | MkeyFlag.REMOTE_INVALIDATE), 4)
    gone = changed(transmit(), claim=(Rejected("completion", "local_protection"),))
    assert run(tested, plain()[0], mkey, plain()[2], invalidate, gone).status == "pass"
    read = section(Read(at(9), (Part("m", 0, 64),), Part("w", 0, 64), SIGNALED))
    w = changed(W, data=Literal(b"\7" * 64))
    assert run(tested, *plain(), w, read, content("m", Literal(b"\7" * 64), line=10)).status == "pass"
