"""Errors, refusals and events that come from elsewhere than from what the case speaks of: another request, another key,
another QP, another time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.protocol import AsyncEvent, Refused, SignatureError
from mkeyspec.plan import (
    Accepted,
    Await,
    Check,
    Memory,
    Mkey,
    Options,
    Post,
    Qp,
    Receive,
    Recv,
    Rejected,
    Resume,
    Send,
    Transmit,
    Write,
)
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.value.bytestring import Counter
from mkeyspec.value.layout import Part
from tests.run.fixtures import (
    SIGNALED,
    SIGNATURE,
    at,
    changed,
    codes,
    failures,
    generating,
    plain,
    rig,
    run,
    transmit,
    wire,
)

# Receives of the short forms -------------------------------------------------------------------


@pytest.mark.parametrize("by", ["send", "send_imm", "write_imm"])
@pytest.mark.parametrize("side", ["owner", "peer"])
def test_a_refused_receive_is_no_refusal_of_the_request(by: str, side: str) -> None:
    """`rejected at complete` speaks of ibv_wr_complete, and nothing is wrong with the receive (docs/language.md)."""
    tested, device = rig()
    either = (Accepted(), Rejected("complete"))
    imm = 7 if by != "send" else None
    step: Any = Transmit(at(9), Part("k", 0, 64), by, imm, claim=either)
    if side == "owner":
        into = "recv" if imm is None else "peer_write_imm"
        step = Receive(at(9), Counter(64), Part("k", 0, 64), into, imm, claim=either)
    assert run(tested, *plain(), step).status == "pass"
    post_recv = device.device.post_recv
    device.device.post_recv = lambda qp, *rest: 22 if qp.side != side else post_recv(qp, *rest)
    assert run(tested, *plain(), step).status == "pass", "of the other end, which posts none"
    device.device.post_recv = lambda qp, *rest: 22 if qp.side == side else post_recv(qp, *rest)
    [failure] = failures(tested, *plain(), step)
    assert (failure.code, failure.at) == ("MKS2001", at(9))
    assert "the receive" in failure.message


# The request that names the mkey ---------------------------------------------------------------


def moved(device: Any, statuses: dict[tuple[str, str], str | None]) -> None:
    """Errors have these statuses by (side, queue); None: there is no completion."""
    poll = device.device.poll

    def told(qp: Any) -> list[Any]:
        found = []
        for one in poll(qp):
            status = one.status if one.status == "success" else statuses[qp.side, one.queue]
            if status is not None:
                found.append(replace(one, status=status))
        return found

    device.device.poll = told


@pytest.mark.parametrize("reason", ["local_protection", None])
@pytest.mark.parametrize("far", ["wr_flush_err", None])
def test_the_receive_that_names_the_mkey_fails_itself(reason: str | None, far: str | None) -> None:
    claim = (Rejected("completion", reason),)
    step = Receive(at(5), Counter(65), Part("k", 0, 65), "recv", claim=claim)
    tested, device = rig()
    assert run(tested, *plain(), step).status == "pass"
    moved(device, {("owner", "recv"): far, ("peer", "send"): "loc_prot_err"})
    assert codes(tested, *plain(), step) == ["MKS2005"]


@pytest.mark.parametrize("reason", ["local_protection", None])
def test_the_send_that_names_the_mkey_fails_itself(reason: str | None) -> None:
    tested, device = rig()
    poll = device.device.poll
    step = Transmit(at(5), Part("k", 0, 65), "send", claim=(Rejected("completion", reason),))
    assert run(tested, *plain(), step).status == "pass"

    def told(qp: Any) -> list[Any]:
        found = [replace(one, status="wr_flush_err") if one.status != "success" else one for one in poll(qp)]
        if qp.side == "peer":
            return [replace(one, status="loc_prot_err") for one in found]
        return found

    device.device.poll = told
    assert codes(tested, *plain(), step) != []


def test_the_other_end_may_see_another_error() -> None:
    step = Receive(at(5), Counter(65), Part("k", 0, 65), "recv", claim=(Rejected("completion", "local_protection"),))
    for far in ("rem_op_err", "rem_inv_req_err"):
        tested, device = rig()
        moved(device, {("owner", "recv"): "loc_prot_err", ("peer", "send"): far})
        assert run(tested, *plain(), step).status == "pass"
    tested, device = rig()
    moved(device, {("owner", "recv"): "loc_prot_err", ("peer", "send"): "wr_flush_err"})
    assert codes(tested, *plain(), step) == ["MKS2005"], "nothing before it has failed there"


# Other keys with a signature -------------------------------------------------------------------


def mistaken(device: Any, which: int) -> None:
    """The `which`-th key that is created has an error that no request caused."""
    keys: list[Any] = []
    mkey, check = device.device.mkey, device.device.mkey_check

    def made(*args: Any, **options: Any) -> Any:
        keys.append(mkey(*args, **options))
        return keys[-1]

    device.device.mkey = made
    device.device.mkey_check = lambda one: (
        SignatureError(1, 2, 3, 4) if one.handle == keys[which].handle else check(one)
    )


@pytest.mark.parametrize("peer", [False, True])
def test_a_key_that_no_request_named_has_no_error(peer: bool) -> None:
    tested, device = rig()
    steps = (Mkey(at(8), "other", SIGNATURE, 4, peer=peer), *generating())
    assert run(tested, *steps).status == "pass"
    mistaken(device, 0)
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2202", at(8))


def test_a_key_that_is_ok_has_no_error_later() -> None:
    tested, device = rig()
    steps = (*generating(), Check(at(8), "k", ("ok",)))
    assert run(tested, *steps).status == "pass"
    answers = [None, SignatureError(1, 2, 3, 4)]
    device.device.mkey_check = lambda one: answers.pop(0)
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2202", at(3))


def test_the_question_about_a_key_that_no_request_named_is_answered() -> None:
    """Asked about a key with a signature, mlx5dv_mkey_check() succeeds (XCHK-01) …"""
    tested, device = rig()

    def refused(one: object) -> None:
        raise Refused("mlx5dv_mkey_check", 22)

    device.device.mkey_check = refused
    assert codes(tested, Mkey(at(3), "k", SIGNATURE, 4)) == ["MKS2202"]
    claimed = Check(at(4), "k", ("ok",), claim=(Rejected("mkey_check", "EINVAL"),))
    assert run(tested, Mkey(at(3), "k", SIGNATURE, 4), claimed).status == "pass", "… unless the case says otherwise"


# SQ_DRAINED ------------------------------------------------------------------------------------

DRAINED = (Qp(at(2), "q", (("sig_pipelining", True),)), *plain(), Await(at(9), "sq_drained", "q"))


def draining(when: str, *, qp: bool = True) -> Any:
    """A rig whose device drains the pair's send queue when it is made, with its first section, or with a SEND."""
    tested, device = rig()
    pair, post = device.device.qp_pair, device.device.post
    made: list[Any] = []
    told: list[str] = []

    def event() -> None:
        if made and not told:
            told.append(when)
            device.stuck_events.append(AsyncEvent("sq_drained", made[-1].owner if qp else None))

    def qp_pair(attributes: Any) -> Any:
        found = pair(attributes)
        if attributes.sig_pipelining:
            made.append(found)
            if when == "made":
                event()
        return found

    def posted(qp: Any, requests: Any, **options: Any) -> Any:
        if when == "configured" or (when == "posted" and type(requests[0]).__name__ == "Send"):
            event()
        return post(qp, requests, **options)

    device.device.qp_pair, device.device.post = qp_pair, posted
    return tested


def on_q(*steps: Any) -> tuple[Any, ...]:
    return tuple(changed(step, qp="q") if hasattr(step, "qp") else step for step in steps)


def test_an_event_before_anything_is_posted_is_not_awaited() -> None:
    steps = on_q(*DRAINED[:-1], transmit(), wire(Counter(64)), DRAINED[-1])
    assert run(draining("posted"), *steps).status == "pass"
    assert codes(draining("made"), *steps) == ["MKS2006"]


def test_nothing_goes_out_of_a_queue_that_is_drained() -> None:
    """A drained queue takes requests and carries none out until it is resumed (IBTA, SQD), so that an event which
    comes before a request that succeeds was none of this queue's."""
    steps = on_q(*DRAINED[:-1], transmit(), wire(Counter(64)), DRAINED[-1])
    [failure] = failures(draining("configured"), *steps)
    assert (failure.code, failure.at) == ("MKS2005", at(5))
    assert "sq_drained" in failure.message
    resumed = on_q(*DRAINED[:-1], DRAINED[-1], Resume(at(10)), transmit(), wire(Counter(64)))
    tested = draining("configured")
    tested.device.device.resume = lambda qp: 0
    assert run(tested, *resumed).status == "pass"


def test_an_event_of_a_qp_names_it() -> None:
    steps = on_q(*DRAINED[:-1], transmit(), wire(Counter(64)), DRAINED[-1])
    assert codes(draining("posted", qp=False), *steps) == ["MKS2006"]


# QPs that the case has nothing to do with ---------------------------------------------------------

OTHER = Qp(at(2), "other", (("max_send_wr", 32),))


def dying(name: str, side: str) -> tuple[Any, Any]:
    """A device on which a failure of the default pair takes a QP of another pair with it."""
    tested, device = rig()
    pair, post = device.device.qp_pair, device.device.post
    made: list[Any] = []

    def qp_pair(attributes: Any) -> Any:
        made.append(pair(attributes))
        return made[-1]

    def posted(qp: Any, requests: Any, **options: Any) -> Any:
        errno = post(qp, requests, **options)
        if made and qp.handle == made[-1].owner.handle and getattr(requests[0], "sges", ()):
            others = [one for one in made if one.owner.handle != qp.handle] or [device.device.default_pair]
            device.device._queues[getattr(others[0], side).handle].fail()
        return errno

    device.device.qp_pair, device.device.post = qp_pair, posted
    return tested, device


@pytest.mark.parametrize("side", ["owner", "peer"])
def test_a_qp_that_nothing_was_posted_to_is_as_it_was(side: str) -> None:
    steps = (OTHER, *plain(), FAILING)
    assert run(rig()[0], *steps).status == "pass"
    tested, _ = dying("other", side)
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2204", at(2))


def test_the_default_pair_that_the_case_does_not_use_is_as_it_was() -> None:
    steps = (changed(OTHER, name="q"), *on_q(*plain(), FAILING))
    assert run(rig()[0], *steps).status == "pass"
    tested, _ = dying("", "owner")
    [failure] = failures(tested, *steps)
    assert failure.code == "MKS2204"


# After a reset --------------------------------------------------------------------------------


def test_a_receive_that_waits_is_taken_again_after_a_reset() -> None:
    """A receive that no message has used is posted again (docs/language.md, Claims), and nothing is wrong with it."""
    tested, device = rig()
    message = Send(at(9), (Part("w", 0, 4),), options=SIGNALED)
    refused = Post(at(9), (message,), peer=True, claim=(Accepted(), Rejected("complete")))
    receives = [Recv(at(line), (Part("m", 0, 64),)) for line in (7, 8)]
    steps = (*plain(), Memory(at(6), "w", 64, peer=True), *receives, refused)
    device.after_post = lambda _: setattr(device, "errno", 22)  # what is posted after the configuration is refused
    assert run(tested, *steps).status == "pass"
    device.errno = None
    reconnect, post_recv = device.device.reconnect, device.device.post_recv
    again: list[object] = []

    def reset(pair: Any) -> Any:
        again.append(pair)
        return reconnect(pair)

    device.device.reconnect = reset
    device.device.post_recv = lambda *args: 12 if again else post_recv(*args)
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2001", at(8))


# Another case ----------------------------------------------------------------------------------


def test_a_completion_of_an_earlier_case_is_not_taken_for_one_of_this() -> None:
    """A pair that two cases have, one after the other, tells a completion of the first in place of the second's."""
    tested, device = rig()
    poll, old = device.device.poll, list[Any]()

    def first(qp: Any) -> list[Any]:
        found: list[Any] = poll(qp)
        old.extend(one for one in found if one.opcode == "rdma_write" and qp.side == "owner")
        return found

    def second(qp: Any) -> list[Any]:
        return [told.pop() if told and one.opcode == "rdma_write" else one for one in poll(qp)]

    device.device.poll = first
    assert run(tested, *plain(), transmit(by="write"), wire(Counter(64)), id="a.mks::first").status == "pass"
    device.device.poll, told = second, old[:1]
    with pytest.raises(CaseFailed) as failed:
        run(tested, *plain(), transmit(by="write"), wire(Counter(64)), id="a.mks::second")
    assert failed.value.failures[0].code == "MKS2004"
    assert f"id {old[0].wr_id}" in str(failed.value)


# Before a claimed failure, and after it --------------------------------------------------------

FAILING = Transmit(at(12), Part("k", 0, 65), "send", claim=(Rejected("completion", "local_protection"),))


@pytest.mark.parametrize("signaled", [True, False])
def test_what_is_flushed_comes_after_the_failure(signaled: bool) -> None:
    """What was posted before the failing request is not flushed: a queue's completions come in order."""
    tested, device = rig()
    target = Memory(at(8), "w", 64, Counter(64), peer=True)
    write = Write(at(9), (Part("m", 0, 64),), Part("w", 0, 64), None, Options(signaled=signaled))
    fails = Write(at(10), (Part("k", 1, 64),), Part("w", 0, 64), None, SIGNALED)
    steps = (*plain(), target, Post(at(9), (write, fails), claim=FAILING.claim))
    assert run(tested, *steps).status == "pass"
    poll = device.device.poll

    def flushed(qp: Any) -> list[Any]:
        found: list[Any] = poll(qp)
        wrong = [one for one in found if one.status == "loc_prot_err"]
        if wrong and not signaled:
            sections = [args[1] for args in device.named("post") if len(args[1]) == 2]
            first = replace(wrong[0], wr_id=sections[-1][0].wr_id, status="wr_flush_err")
            return [first, *found]
        return [replace(one, status="wr_flush_err") if wrong and one.status == "success" else one for one in found]

    device.device.poll = flushed
    [failure] = failures(tested, *steps)
    assert (failure.code, failure.at) == ("MKS2005", at(9))


def test_a_failure_explains_one_event_of_a_kind() -> None:
    """A QP goes to the error state once; what it raises in later transfers has no cause."""
    tested, device = rig()
    steps = (*plain(), FAILING, transmit(line=13), wire(Counter(64)))
    post, told = device.device.post, list[Any]()

    def posted(qp: Any, requests: Any, **options: Any) -> int:
        if len(told) < most and device.named("reconnect"):
            told.append(device.stuck_events.append(AsyncEvent("qp_fatal", qp)))
        errno: int = post(qp, requests, **options)
        return errno

    device.device.post = posted
    most = 1
    assert run(tested, *steps).status == "pass", "the failure's own, however late"
    device.calls.clear()
    told.clear()
    most = 2
    assert codes(tested, *steps) == ["MKS2203"]
