"""The ledger of evidence: what was posted, owed and seen is judged once, however a case goes on and ends."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.device.protocol import AsyncEvent, Completion, SignatureError
from mkeyspec.plan import (
    Accepted,
    Check,
    Completes,
    Configure,
    Content,
    Dct,
    Entry,
    Expect,
    Known,
    Memory,
    Mkey,
    OneOf,
    Options,
    Poll,
    Post,
    Qp,
    RawWqe,
    Read,
    Receive,
    Recv,
    Rejected,
    Send,
    SetAccess,
    SetLayout,
    SetSignature,
    Step,
    Transmit,
    Unchanged,
    Wire,
    Wr,
    Write,
)
from mkeyspec.run.departures import Expectations
from mkeyspec.run.evidence import Entry as LedgerEntry
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.value.bytestring import Counter, Flip, Framed, Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import Live
from tests.run.faulty_device import double
from tests.run.fixtures import (
    ALL,
    CRC32,
    SIGNALED,
    SIGNATURE,
    at,
    changed,
    codes,
    configured,
    content,
    failures,
    generating,
    plain,
    rig,
    run,
    transmit,
    wire,
)
from tests.run.test_rig import refusing_raw

LATE = 300e-6
W = Memory(at(3), "w", 64, Counter(64), peer=True)
WRITE = Write(at(9), (Part("m", 0, 64),), Part("w", 0, 64), None, SIGNALED)
BAD = Write(at(10), (Part("k", 1, 64),), Part("w", 0, 64), None, SIGNALED)
REFUSED = Post(at(12), (Configure(at(12), "k", (SetAccess(ALL),) * 2, False, SIGNALED),), claim=(Rejected("complete"),))
ONCE = Completes((Entry("rdma_write"),))


def section(*requests: Wr, line: int = 9, **options: Any) -> Post:
    return Post(at(line), requests, **options)


def unsignaled(request: Write) -> Write:
    made: Write = changed(request, options=changed(request.options, signaled=False))
    return made


def test_an_entry_is_judged_once() -> None:
    entry = LedgerEntry(at(1))
    entry.mark_judged("one")
    with pytest.raises(RuntimeError, match="judged twice, by one and by another"):
        entry.mark_judged("another")


# Exactly these -------------------------------------------------------------------------------


def on_a_dci(*requests: Write) -> tuple[tuple[Step, ...], tuple[Write, ...]]:
    steps = (plain()[0], W, Dct(at(4), "t", 0x1122), Qp(at(5), "q", (("type", "dci"),)))
    return steps, tuple(changed(one, options=changed(one.options, dct="t")) for one in requests)


@pytest.mark.parametrize("seconds", [0.0, LATE])
@pytest.mark.parametrize("kind", ["rc", "uc", "dci", "ud"])
@pytest.mark.parametrize("polled", [False, True])
def test_a_completion_too_many_is_seen_however_late(seconds: float, kind: str, polled: bool) -> None:
    """With completions 300 µs late "exactly these" was believed as soon as so many had come."""
    tested, device = rig(deadline=0.2)
    device.delay(seconds)
    requests: tuple[Wr, ...] = (WRITE, WRITE)
    steps: tuple[Step, ...] = (plain()[0], W, Qp(at(5), "q", (("type", kind),)))
    if kind == "dci":
        steps, requests = on_a_dci(WRITE, WRITE)
    elif kind == "ud":
        # The model has none: what counts is that the rig takes it for one, which has no marker.
        pair = device.device.qp_pair
        device.qp_pair = lambda attributes: pair(changed(attributes, type="rc"))
    if polled:
        steps = (*steps, section(*requests, qp="q", wait=False), Poll(at(11), "q", claim=(ONCE,)))
    else:
        steps = (*steps, section(*requests, qp="q", claim=(ONCE,)))
    assert codes(tested, *steps) == ["MKS2005"]
    twice = Completes(ONCE.entries * 2)
    right = changed(steps[-1], claim=(twice,))
    verdict = run(tested, *steps[:-1], right)
    assert verdict.status == "pass"
    assert bool(verdict.quiet) == (kind not in ("rc", "uc")), (
        "where no message can be sent behind a WRITE the verdict says so"
    )


def test_the_second_completion_of_one_request_is_seen_however_late() -> None:
    tested, device = rig(deadline=0.2)
    device.twist = double
    device.delay(LATE)
    assert codes(tested, plain()[0], W, section(WRITE, claim=(ONCE,))) == ["MKS2005"]


def test_two_queues_may_tell_in_any_order_and_one_queue_may_not() -> None:
    tested, device = rig()
    r = Memory(at(3), "r", 64, Counter(64), peer=True)
    n = Memory(at(3), "n", 64, Counter(64))  # not what the SEND reads: that would be waited for
    ids = [changed(SIGNALED, id=number) for number in (5, 6)]
    steps = (
        *(plain()[0], W, r, n),
        Recv(at(4), (Part("r", 0, 64),), None, True, options=Options(id=4)),
        section(Send(at(8), (Part("m", 0, 64),)), line=8),
        section(
            *(changed(WRITE, to=Part("n", 0, 64), data=(Part("w", 0, 64),), options=one) for one in ids),
            peer=True,
            wait=False,
        ),
    )
    entries = [Entry("recv", (("id", 4),)), *(Entry("rdma_write", (("id", number),)) for number in (5, 6))]
    for order in ((0, 1, 2), (1, 0, 2), (1, 2, 0)):
        poll = Poll(at(11), None, True, claim=(Completes(tuple(entries[i] for i in order)),))
        assert run(tested, *steps, poll, content("r", Counter(64))).status == "pass"
    device.twist = lambda found: found[::-1] if len(found) > 2 else found
    assert codes(tested, *steps, poll, content("r", Counter(64))) == ["MKS2005"]


def test_a_request_that_overtakes_another_is_told_at_once() -> None:
    tested, device = rig(deadline=1)
    device.twist = lambda found: found[::-1]
    [failure] = failures(tested, plain()[0], W, section(WRITE, WRITE))
    assert failure.code == "MKS2005"
    assert "after a later one's" in failure.message


# A claimed rejection -------------------------------------------------------------------------


def test_a_claimed_rejection_forgets_no_failed_request_before_it() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *plain(), W, section(unsignaled(BAD)), REFUSED)
    assert (failure.code, failure.at) == ("MKS2201", at(10))
    assert run(tested, *plain(), W, section(unsignaled(WRITE)), REFUSED).status == "pass"


def test_a_claimed_rejection_forgets_no_completion_before_it() -> None:
    tested, device = rig()
    device.twist = lambda found: double(found) if found[-1].opcode == "driver1" else found
    assert codes(tested, *plain(), REFUSED) == ["MKS2201"]
    device.delay(LATE)
    assert codes(tested, *plain(), REFUSED) == ["MKS2201"]


def test_a_claimed_rejection_forgets_no_request_that_was_not_waited_for() -> None:
    tested, device = rig()
    device.twist = lambda found: [changed(one, opcode="send") if one.opcode == "rdma_write" else one for one in found]
    assert codes(tested, *plain(), W, section(WRITE, wait=False), REFUSED) == ["MKS2005"]
    device.twist = lambda found: [one for one in found if one.opcode != "rdma_write"]
    assert codes(tested, *plain(), W, section(WRITE, wait=False), REFUSED) == ["MKS2004"]


def test_a_refusal_of_the_driver_explains_no_event_of_the_qp() -> None:
    tested, device = rig()
    pair = device.device.default_pair
    device.after_post = lambda qp: device.stuck_events.append(AsyncEvent("qp_fatal", pair.owner))
    assert set(codes(tested, *plain(), REFUSED)) == {"MKS2203"}


def test_a_failure_that_is_claimed_flushes_what_follows_and_nothing_else() -> None:
    tested, device = rig()
    bad = section(BAD, claim=(Rejected("completion", "local_protection"),))
    assert run(tested, *plain(), W, section(WRITE, wait=False), bad).status == "pass"
    device.twist = lambda found: [changed(one, opcode="send") if one.opcode == "rdma_write" else one for one in found]
    assert codes(tested, *plain(), W, section(WRITE, wait=False), bad) == ["MKS2005"]


# Ends before the end -------------------------------------------------------------------------

ID = "X-DIFF-08"
LISTED = Expectations({ID: ("driver.toml", "is too strict")})
DEPARTS = changed(
    configured(List((Part("m", 0, 64),))), claim=(Rejected("complete"),), known=Known(ID, Accepted()), at=at(14)
)


def scribbling(device: Any, index: int) -> None:
    """After the next section a byte of the index-th memory changes."""

    def once(qp: Any) -> None:
        device.after_post = None
        device.flip(index, 64 + 7)

    device.after_post = once


def test_a_known_departure_excuses_nothing_that_came_before() -> None:
    other = Memory(at(3), "other", 64)
    tested, device = rig(expectations=LISTED)
    assert run(tested, *plain(), other, DEPARTS).status == "known"
    scribbling(device, 0)
    assert codes(tested, other, *plain(), DEPARTS) == ["MKS2103"]
    device.twist = lambda found: double(found) if found[-1].opcode == "driver1" else found
    assert codes(tested, *plain(), DEPARTS) == ["MKS2201"] * 2
    device.twist = None
    assert codes(tested, *plain(), W, section(unsignaled(BAD), wait=False), DEPARTS) == ["MKS2005"]
    device.stuck_events.append(AsyncEvent("device_fatal"))
    assert codes(tested, *plain(), DEPARTS) == ["MKS2203"]


def test_a_known_departure_excuses_the_bytes_that_its_statement_may_have_written() -> None:
    tested, device = rig(expectations=LISTED)
    write = section(WRITE, claim=(Rejected("completion"),), known=Known(ID, Accepted()))
    w = changed(W, data=Literal(b"\7" * 64))
    verdict = run(tested, plain()[0], w, write)
    assert verdict.status == "known"
    assert [(one.code, one.at) for one in verdict.consequences] == [("MKS2103", at(9))], "told, and no failure"
    device.after_post = lambda qp: device.flip(1, 3)
    assert codes(tested, plain()[0], w, write) == ["MKS2104"], "a guard is never written by right"


def test_an_end_in_the_middle_hides_nothing_that_came_before() -> None:
    raw = Post(at(20), (RawWqe(at(20), Literal(b"\0\0\0\x0a" + b"\0" * 60), SIGNALED),))
    tested, device = rig()
    device.post = refusing_raw(device)
    assert codes(tested, *plain(), raw) == ["MKS2013"]
    scribbling(device, 0)
    assert codes(tested, Memory(at(1), "other", 64), *plain(), raw) == ["MKS2103", "MKS2013"], "it may write anywhere"
    assert tested.verdict.consequences == [], "told once"
    assert codes(tested, *plain(), W, section(unsignaled(BAD)), raw) == ["MKS2013"]
    assert [one.code for one in tested.verdict.consequences] == ["MKS2201"], "told"


def test_an_end_in_the_middle_and_what_the_statements_after_it_would_have_looked_at() -> None:
    raw = Post(at(20), (RawWqe(at(20), Literal(b"\0\0\0\x0a" + b"\0" * 60), SIGNALED),))
    tested, device = rig()
    device.post = refusing_raw(device)
    w = changed(W, data=Literal(b"\7" * 64))
    steps = (plain()[0], w, section(WRITE), raw, Expect(at(21), Content((Part("w", 0, 64),)), "==", Counter(64)))
    assert codes(tested, *steps) == ["MKS2013"]
    assert [one.code for one in tested.verdict.consequences] == ["MKS2103"], "told, and no failure of its own"
    device.after_post = lambda qp: device.flip(1, 3)
    assert codes(tested, *steps) == ["MKS2013", "MKS2104"], "a guard is never written by right"


def test_what_follows_a_failure_is_told_as_that() -> None:
    tested, device = rig()
    scribbling(device, 0)
    with pytest.raises(CaseFailed) as failed:
        run(tested, Memory(at(1), "other", 64), *plain(), section(BAD, line=9), W)
    assert [failure.code for failure in failed.value.failures] == ["MKS2105"]
    assert [failure.code for failure in tested.verdict.consequences] == ["MKS2103"]
    assert "MKS2103 1 byte of `other` changed" in str(failed.value)


# Signature errors ----------------------------------------------------------------------------

CORRUPT = Flip(Framed(Counter(1024), CRC32), 3, 0)


def checking(data: Any) -> tuple[Step, ...]:
    return (
        Memory(at(2), "m", data.length, data),
        Memory(at(2), "w", 1024, Counter(1024), peer=True),
        Mkey(at(3), "k", SIGNATURE, 4),
        configured(List((Part("m", 0, data.length),)), SetSignature(CRC32, None, 0xF0)),
    )


def test_a_check_while_a_request_is_under_way_does_not_stand_for_the_last_one() -> None:
    """The check came before the transfer was over and found nothing; the error after it was asked for by nobody."""
    tested, device = rig(deadline=0.2)
    ok = Check(at(7), "k", ("ok",))
    write = Write(at(6), (Part("k", 0, 1024),), Part("w", 0, 1024), None, SIGNALED)
    device.delay(LATE)
    check, told = device.mkey_check, SignatureError(1, 2, 3, 4)
    asked: list[int] = []

    def later(mkey: Any) -> Any:
        asked.append(1)
        return check(mkey) if len(asked) == 1 else told

    device.mkey_check = later
    steps = (*checking(Framed(Counter(1024), CRC32)), section(write, line=6, wait=False), ok)
    assert codes(tested, *steps) == ["MKS2202"]
    device.mkey_check = check
    assert run(tested, *steps[:-1], Poll(at(6)), ok).status == "pass"


def test_a_signature_key_that_is_an_entry_of_another_is_checked() -> None:
    """As an entry it is accessed raw, so that even data that is not framed gives no error."""
    inner = (
        Memory(at(2), "m", 64, Counter(64)),
        Mkey(at(3), "inner", SIGNATURE, 4),
        changed(
            configured(List((Part("m", 0, 64),)), SetSignature(CRC32, None, 0xF0)),
            requests=(
                Configure(
                    at(4),
                    "inner",
                    (SetAccess(ALL), SetLayout(List((Part("m", 0, 64),))), SetSignature(CRC32, None, 0xF0)),
                    False,
                    SIGNALED,
                ),
            ),
        ),
        Mkey(at(5), "k", 1, 4),
        configured(List((Part("inner", 0, 64),))),
    )
    tested, device = rig()
    steps = (*inner, Check(at(6), "inner", ("ok",)), transmit(line=7), wire(Counter(64)))
    assert run(tested, *steps).status == "pass"
    check, asked = device.mkey_check, []

    def wrong(mkey: Any) -> Any:
        asked.append(mkey)
        return check(mkey) if len(asked) == 1 else SignatureError(1, 2, 3, 4)

    device.mkey_check = wrong
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2202", at(3))
    assert "only as an entry of `k`" in failure.message


def test_a_key_that_was_armed_and_never_used_has_no_error() -> None:
    tested, device = rig()
    device.record = SignatureError(1, 2, 3, 4)
    assert codes(tested, *checking(Framed(Counter(1024), CRC32))) == ["MKS2202"]


# Around the completions that are named ---------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "value"), [("byte_len", 63), ("imm", 0x4321), ("opcode", "recv_rdma_with_imm"), ("invalidated_rkey", 5)]
)
def test_the_far_end_of_a_listed_section_is_judged(member: str, value: object) -> None:
    tested, device = rig()
    r = Memory(at(3), "r", 64, Counter(64), peer=True)
    send = Send(at(9), (Part("m", 0, 64),), 0x1234, None, SIGNALED)
    steps = (*plain(), r, Recv(at(4), (Part("r", 0, 64),), None, True))
    device.twist = lambda found: [changed(one, **{member: value}) if one.queue == "recv" else one for one in found]
    listed = section(send, claim=(Completes((Entry("send"),)),))
    assert codes(tested, *steps, listed) == ["MKS2005"]
    failing = section(send, BAD, claim=(Rejected("completion", "local_protection"),))
    assert codes(tested, *steps, W, failing) == ["MKS2005"], "before a claimed failure too"
    device.twist = lambda found: [changed(one, status="status 77") if one.queue == "recv" else one for one in found]
    assert codes(tested, *steps, listed) == ["MKS2005"], "a list of successes claims no failure of the other end"
    device.twist = None
    assert run(tested, *steps, listed, content("r", Counter(64))).status == "pass"


def test_what_a_list_does_not_name_is_judged_all_the_same() -> None:
    tested, device = rig()
    read = Read(at(9), (Part("m", 0, 64),), Part("w", 0, 64), SIGNALED)
    listed = section(read, claim=(Completes((Entry("rdma_read"),)),))
    assert run(tested, *plain(), W, listed).status == "pass"
    device.twist = lambda found: [changed(one, byte_len=63) if one.opcode == "rdma_read" else one for one in found]
    assert codes(tested, *plain(), W, listed) == ["MKS2005"]
    named = section(read, claim=(Completes((Entry("rdma_read", (("byte_len", 63),)),)),))
    assert run(tested, *plain(), W, named).status == "pass"
    device.twist = lambda found: [changed(one, imm=7) if one.opcode == "rdma_read" else one for one in found]
    assert codes(tested, *plain(), W, listed) == ["MKS2005"]


def test_a_completion_before_a_claimed_failure_is_judged() -> None:
    tested, device = rig()
    post = section(WRITE, BAD, claim=(Rejected("completion", "local_protection"),))
    assert run(tested, *plain(), W, post).status == "pass"
    device.twist = lambda found: [changed(one, opcode="send") if one.opcode == "rdma_write" else one for one in found]
    assert codes(tested, *plain(), W, post) == ["MKS2005"]


def test_flushed_without_any_error_is_a_failure() -> None:
    tested, device = rig()
    device.twist = lambda found: [
        changed(one, status="wr_flush_err") if one.opcode == "rdma_write" else one for one in found
    ]
    assert codes(tested, plain()[0], W, section(WRITE, wait=False)) == ["MKS2005"]


@pytest.mark.parametrize("streams", [0, 4])
def test_the_late_error_of_an_unsignaled_request_on_a_dci(streams: int) -> None:
    tested, device = rig(deadline=0.2)
    device.delay(LATE)
    steps, requests = on_a_dci(changed(unsignaled(WRITE), options=Options(but=(("rkey", 0x77),))))
    members = (("type", "dci"), *((("streams", streams),) if streams else ()))
    steps = (*steps[:-1], Qp(at(5), "q", members))
    assert codes(tested, *steps, section(*requests, qp="q")) == ["MKS2201"]
    nobody = changed(requests[0], options=changed(requests[0].options, but=(("dctn", 5),)))
    assert codes(tested, *steps, section(nobody, qp="q")) == ["MKS2201"], "nor is there a marker to nobody"


def test_a_completion_nobody_asked_for_is_told_as_that() -> None:
    tested, device = rig()
    device.twist = lambda found: [
        *([changed(found[-1], wr_id=6, opcode="rdma_write")] if found[-1].wr_id == 7 else []),
        *found,
    ]
    quiet = changed(WRITE, options=Options(id=6))
    [failure] = failures(tested, plain()[0], W, section(quiet, changed(WRITE, options=changed(SIGNALED, id=7))))
    assert failure.code == "MKS2201"
    assert "which nobody asked for" in failure.message


def test_a_completion_that_an_earlier_case_left_is_told() -> None:
    tested, device = rig()
    qp_pair, poll = device.qp_pair, device.poll
    left: list[Any] = []

    def pooled(attributes: Any) -> Any:
        pair = qp_pair(attributes)
        left.append(Completion(pair.owner, "send", (1 << 32) + 1, "success", "driver1"))
        return pair

    def polling(qp: Any) -> Any:
        return [*([left.pop()] if left and left[0].qp == qp else []), *poll(qp)]

    device.qp_pair, device.poll = pooled, polling
    assert codes(tested, *plain()) == ["MKS2201"]


# Errors that are listed ----------------------------------------------------------------------


def test_an_error_is_listed_by_its_id() -> None:
    tested, _ = rig()
    bad = changed(BAD, options=changed(SIGNALED, id=6))
    good = changed(WRITE, options=changed(SIGNALED, id=5))
    for entry in (Entry("error", (("id", 6),)), Entry("error"), Entry("error", (("status", "loc_prot_err"),))):
        claim = (Completes((Entry("rdma_write", (("id", 5),)), entry)),)
        assert run(tested, *plain(), W, section(good, bad, claim=claim)).status == "pass"
    for entry in (Entry("error", (("id", 7),)), Entry("error", (("status", "rem_op_err"),)), Entry("rdma_write")):
        claim = (Completes((Entry("rdma_write", (("id", 5),)), entry)),)
        assert codes(tested, *plain(), W, section(good, bad, claim=claim)) == ["MKS2005"]
    claim = (Completes((Entry("error", (("id", 5),)),)),)
    assert codes(tested, *plain(), W, section(good, claim=claim)) == ["MKS2005"], "success is not an error"


def test_an_error_that_a_poll_lists_leaves_the_pair_usable() -> None:
    tested, device = rig()
    pair = device.device.default_pair
    raised: list[AsyncEvent] = []

    def twist(found: list[Completion]) -> list[Completion]:
        if found[-1].status != "success" and not raised:
            raised.append(AsyncEvent("qp_access_err", pair.owner))
            device.stuck_events += raised
        return found

    device.twist = twist
    bad = changed(BAD, options=changed(SIGNALED, id=6))
    poll = Poll(at(11), claim=(Completes((Entry("error", (("id", 6),)), Entry("error", (("id", 7),)))),))
    flushed = changed(WRITE, options=changed(SIGNALED, id=7))
    steps = (*plain(), W, section(bad, flushed, wait=False), poll, transmit(line=12), wire(Counter(64), line=13))
    assert run(tested, *steps).status == "pass"
    assert len(device.named("reconnect")) == 1


def test_a_send_queue_that_was_used_ends_with_one_marker() -> None:
    tested, device = rig()
    run(tested, *generating())
    assert [type(args[1][0]).__name__ for args in device.named("post")] == ["Configure", "Send", "Send"]
    run(tested, *plain())
    assert type(device.named("post")[-1][1][0]).__name__ == "Write", "nothing was received: no message is needed"


# Either way ----------------------------------------------------------------------------------


def either(by: str = "send") -> Step:
    claim = (Accepted(), Rejected("completion"))
    return Transmit(at(9), Part("k", 0, 65), by, claim=claim, label="t")


@pytest.mark.parametrize("by", ["send", "write", "peer_read"])
def test_a_wire_of_which_a_refusal_is_admitted_is_as_it_was_or_as_it_should_be(by: str) -> None:
    tested, _ = rig()
    one_of = Expect(at(10), Wire(65), "==", OneOf((Counter(65), Unchanged())))
    assert run(tested, *plain(), either(by), one_of).status == "pass"
    accepted = changed(either(by), part=Part("k", 0, 64))
    wrong = Expect(at(10), Wire(64), "==", OneOf((Literal(bytes(64)), Unchanged())))
    assert codes(tested, *plain(), accepted, wrong) == ["MKS2101"], "it was accepted"


def test_what_a_refused_step_wrote_all_the_same_is_seen() -> None:
    tested, device = rig()
    receive = Receive(at(9), Counter(65), Part("k", 0, 65), "recv", claim=(Accepted(), Rejected("completion")))
    one_of = Expect(at(10), Content((Part("m", 0, 64),)), "==", OneOf((Counter(64), Unchanged())))
    right = (*plain(64, Literal(bytes(64))), receive)
    assert run(tested, *right).status == run(tested, *right, one_of).status == "pass", "m is as it was"
    scribbling(device, 0)
    assert codes(tested, *right) == ["MKS2103"]
    scribbling(device, 0)
    assert codes(tested, *right, one_of) == ["MKS2103"], "before the receive"
    device.after_post = lambda qp: device.flip(0, 64 + 7) if qp.side == "peer" else None
    assert codes(tested, *right, one_of) == ["MKS2102"], "m is neither as it was nor as it should be"


# What a device may not do, whatever is claimed -------------------------------------------------


def test_a_completion_names_the_qp_that_was_polled() -> None:
    tested, device = rig()
    pair = device.device.default_pair
    device.twist = lambda found: [changed(one, qp=pair.peer) if one.qp == pair.owner else one for one in found]
    assert set(codes(tested, *plain())) == {"MKS2005"}
    assert set(codes(tested, *plain(), W, section(BAD, claim=(Rejected("completion"),)))) == {"MKS2005"}


@pytest.mark.parametrize("wrong", ["lost", "refused", "failed", "opcode", "first"])
def test_a_marker_is_judged_like_any_request(wrong: str) -> None:
    tested, device = rig()
    steps = (plain()[0], W, section(changed(WRITE, options=changed(SIGNALED, id=5)), claim=(ONCE,)))
    assert run(tested, *steps).status == "pass"
    held: list[Any] = []

    def twist(found: list[Any]) -> list[Any]:
        if wrong == "first" and found[0].wr_id == 5 and not held:
            held.extend(found)
            return []
        if wrong == "first":
            return [*found, *held]
        if found[-1].wr_id == 5:
            return found
        told = {"lost": [], "failed": [changed(found[-1], status="rem_op_err")]}
        return told.get(wrong, [changed(found[-1], opcode="send")])

    post = device.post
    if wrong == "refused":
        device.post = lambda qp, requests, abort=False: post(qp, requests, abort=abort) if requests[0].sges else 22
    else:
        device.twist = twist
    assert codes(tested, *steps) != []


def test_a_signature_error_is_told_once() -> None:
    tested, device = rig()
    check = Check(at(7), "k", ("bad_guard",))
    bad = Flip(Framed(Counter(1024), CRC32), 3, 0)
    steps = (*checking(bad), Transmit(at(6), Part("k", 0, 1024), "send"), check)
    assert run(tested, *steps).status == "pass"
    mkey_check = device.mkey_check
    told: list[Any] = []

    def again(mkey: Any) -> Any:
        told.append(mkey_check(mkey) or told[0])
        return told[-1]

    device.mkey_check = again
    assert codes(tested, *steps) == ["MKS2202"]


def test_the_device_grants_what_it_is_asked_for() -> None:
    tested, device = rig()
    mkey, pair = device.mkey, device.qp_pair
    device.mkey = lambda *args, **options: changed(mkey(*args, **options), max_entries=3)
    assert codes(tested, *plain()) == ["MKS2109"]
    looked = Expect(at(8), Live("k", "max_entries"), ">=", 4)
    assert codes(tested, *plain(), looked) == ["MKS2105"], "an expectation that looks at it tells it itself"
    device.mkey = mkey
    device.qp_pair = lambda attributes: changed(
        pair(attributes), peer=changed(pair(attributes).peer, max_inline_data=attributes.max_inline_data - 1)
    )
    assert codes(tested, *plain()) == ["MKS2109"]


@pytest.mark.parametrize(("length", "right"), [(1024, True), (1032, True), (1028, False)])
def test_byte_len_of_a_signature_key_counts_the_wire_or_the_memory(length: int, right: bool) -> None:
    tested, device = rig()
    device.twist = lambda found: [
        changed(one, byte_len=length) if one.queue == "recv" and one.byte_len else one for one in found
    ]
    into = Receive(at(6), Counter(1024), Part("k", 0, 1024), "recv")
    steps = (*checking(Literal(bytes(1032))), into, content("m", Framed(Counter(1024), CRC32)))
    if right:
        assert run(tested, *steps).status == "pass"
    else:
        assert codes(tested, *steps) == ["MKS2005"]


def test_an_event_of_the_port_is_nobodys() -> None:
    tested, device = rig()
    device.stuck_events.append(AsyncEvent("port_active"))
    assert run(tested, *plain()).status == "pass"
