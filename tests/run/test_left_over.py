"""MKS2201 to MKS2204: what nothing named may not be there at the end."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.device.protocol import AsyncEvent, Refused, SignatureError
from mkeyspec.plan import Any as AnyBytes
from mkeyspec.plan import Check, Expect, Memory, Options, Post, Rejected, Transmit, Wire, Write
from mkeyspec.run import likeness
from mkeyspec.run.buffer import GUARD
from mkeyspec.run.rig import Rig
from mkeyspec.value.bytestring import Counter, Flip, Framed
from mkeyspec.value.layout import Part
from tests.run.faulty_device import Crooked, change, double
from tests.run.fixtures import (
    CRC32,
    at,
    changed,
    codes,
    failures,
    generating,
    plain,
    rig,
    run,
    transmit,
    validating,
    wire,
)

W = Memory(at(3), "w", 64, Counter(64), peer=True)
QUIET = Write(at(9), (Part("m", 0, 64),), Part("w", 0, 64))
QUIET_BAD = Write(at(10), (Part("k", 1, 64),), Part("w", 0, 64))


def test_a_second_completion_for_one_request() -> None:
    tested, device = rig()
    device.twist = double
    assert codes(tested, *plain()) == ["MKS2201", "MKS2201"], "of the request, and of the marker after it"


def test_a_completion_of_no_request() -> None:
    tested, device = rig()
    device.twist = lambda found: [*found, *change(wr_id=77)(found)]
    [failure, after_the_marker] = failures(tested, *plain())
    assert failure.code == after_the_marker.code == "MKS2201"
    assert "of no request of this case" in failure.message


def test_a_completion_for_an_unsignaled_request() -> None:
    tested, device = rig()
    steps = (*plain(), W, Post(at(8), (QUIET,)))
    assert run(tested, *steps).status == "pass"
    posted = device.named("post")
    assert type(posted[-1][1][0]).__name__ == "Send", "the closing message, which comes after what a WRITE brings"
    assert posted[-1][1][0].sges == ()
    device.twist = lambda found: [changed(found[0], wr_id=found[0].wr_id + 1), *found]
    assert codes(tested, *steps[:1], *steps[3:]) == ["MKS2201", "MKS2201"], "and of the marker's receive"


def test_the_error_of_an_unsignaled_request_is_found_at_the_end() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *plain(), W, Post(at(8), (QUIET, QUIET_BAD)))
    assert (failure.code, failure.at) == ("MKS2201", at(10))
    assert "loc_prot_err" in failure.message


def test_the_error_of_a_request_that_was_not_waited_for() -> None:
    tested, _ = rig()
    bad = changed(QUIET_BAD, options=Options(signaled=True))
    assert codes(tested, *plain(), W, Post(at(8), (bad, bad), wait=False)) == ["MKS2005"]


def test_a_dropped_completion_of_a_request_that_was_not_waited_for() -> None:
    tested, device = rig()
    loud = changed(QUIET, options=Options(signaled=True))
    device.twist = lambda found: [one for one in found if one.opcode != "rdma_write"]
    assert codes(tested, *plain(), W, Post(at(8), (loud,), wait=False)) == ["MKS2004"]


def test_a_qp_that_failed_without_telling() -> None:
    tested, device = rig()
    steps = (plain()[0], W, Post(at(8), (QUIET,)))
    device.twist = change(status="wr_flush_err")
    assert codes(tested, *steps) == ["MKS2204", "MKS2201"], "of the marker, and of its receive"
    tested, device = rig()
    device.silent = True
    assert codes(tested, *steps) == ["MKS2004"]


def test_a_qp_that_takes_no_closing_write() -> None:
    tested, device = rig()
    post = device.post
    device.post = lambda qp, requests, abort=False: post(qp, requests, abort=abort) if requests[0].sges else 22
    assert codes(tested, plain()[0], W, Post(at(8), (QUIET,))) == ["MKS2204"]


def test_a_signature_error_that_no_check_consumed() -> None:
    tested, device = rig()
    bad = Flip(Framed(Counter(1024), CRC32), 3, 0)
    [failure] = failures(tested, *validating(2, bad))
    assert (failure.code, failure.at) == ("MKS2202", at(3))
    assert "bad_guard" in failure.message
    device.record = SignatureError(2, 1, 2, 3)
    assert codes(tested, *generating()) == ["MKS2202"], "a false alarm"
    ok = Check(at(7), "k", ("ok",))
    device.record = None
    assert run(tested, *generating(), ok).status == "pass"


def test_what_follows_another_failure_is_not_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes have a near miss of their own; one of the record of the same message would repeat it, or mislead."""
    monkeypatch.setattr(
        likeness, "of_record", lambda state, stage, failure, *more: changed(failure, looks_like=(("a", "b"),))
    )
    tested, _ = rig()
    bad = Flip(Framed(Counter(1024), CRC32), 3, 0)
    [alone] = failures(tested, *validating(2, bad))
    assert (alone.code, alone.looks_like) == ("MKS2202", (("a", "b"),))
    first, second = failures(tested, *validating(2, bad), wire(Counter(1024)))
    assert (first.code, second.code, second.looks_like) == ("MKS2101", "MKS2202", ())


def test_a_mkey_is_asked_for_at_the_end_whether_it_was_checked_or_not() -> None:
    tested, device = rig()
    run(tested, *generating())
    assert len(device.named("mkey_check")) == 1
    device.calls.clear()
    run(tested, *generating(), Check(at(7), "k", ("ok",)))
    assert len(device.named("mkey_check")) == 2
    device.calls.clear()
    run(tested, *generating(), Check(at(7), "k", ("ok",)), transmit(1032, line=8))
    assert len(device.named("mkey_check")) == 2


def test_an_async_event_that_nothing_awaited() -> None:
    tested, device = rig()
    device.stuck_events.append(AsyncEvent("device_fatal"))
    [failure] = failures(tested, *plain())
    assert failure.code == "MKS2203"
    assert "device_fatal" in failure.message


def test_events_of_a_qp_that_failed_as_claimed_go_with_it() -> None:
    tested, device = rig()
    claimed = Transmit(at(5), Part("k", 60, 64), "send", claim=(Rejected("completion"),))
    pair = device.device.qp_pair
    owner = []

    def spy(attributes: object) -> object:
        found = pair(attributes)
        owner.append(found.owner)
        return found

    device.qp_pair = spy

    sections = []

    def with_the_second(qp: object) -> None:
        sections.append(qp)
        if len(sections) == 2:
            device.stuck_events.append(AsyncEvent("qp_access_err", owner[0]))

    device.after_post = with_the_second
    assert run(tested, *plain(), claimed).status == "pass"
    sections.clear()
    before = (*plain(), transmit(), changed(claimed, at=at(9)))
    assert codes(tested, *before) == ["MKS2203"], "what came before the failure was not caused by it"
    device.after_post = lambda qp: device.stuck_events.append(AsyncEvent("path_mig", owner[0]))
    assert set(codes(tested, *plain(), claimed)) == {"MKS2203"}


def test_everything_left_over_is_told_at_once() -> None:
    tested, device = rig()
    bad = Flip(Framed(Counter(1024), CRC32), 3, 0)
    device.stuck_events.append(AsyncEvent("device_fatal"))
    device.twist = lambda found: double(found) if found[-1].opcode == "driver1" else found
    assert codes(tested, *validating(2, bad), wire(Counter(1024))) == ["MKS2101", "MKS2201", "MKS2202", "MKS2203"]


def refused_check(device: Crooked, *answers: int | None) -> Check:
    """A claimed refusal of mkey_check; of each call the errno, None: it finds nothing, 0: it finds an error."""
    left = list(answers)

    def mkey_check(mkey: object) -> SignatureError | None:
        answer = left.pop(0)
        if answer:
            raise Refused("mlx5dv_mkey_check", answer)
        return None if answer is None else SignatureError(1, 1, 2, 3)

    device.mkey_check = mkey_check  # type: ignore[method-assign]
    return Check(at(7), "k", ("ok",), claim=(Rejected("mkey_check", "EINVAL"),))


@pytest.mark.parametrize(("again", "code"), [(22, None), (12, "MKS2202"), (0, "MKS2202"), (None, None)])
def test_a_check_that_was_refused_is_judged_once(again: int | None, code: str | None) -> None:
    """A driver that refuses goes on to refuse; whatever else it has to tell at the end is left over."""
    tested, device = rig()
    steps = (*generating(), refused_check(device, 22, again))
    if code is None:
        assert run(tested, *steps).status == "pass"
    else:
        assert codes(tested, *steps) == [code]


# What a message that fails has moved ---------------------------------------------------------------


FAILING = Transmit(at(5), Part("k", 0, 65), "send", claim=(Rejected("completion", "local_protection"),))


def lands(length: int, start: int = 0) -> tuple[Rig, Any]:
    """A rig whose device lays that much of a failing message down in the peer's buffer."""
    tested, device = rig()

    def scribble(qp: Any) -> None:
        if len(device.memories) > 1:
            device.device.write(device.memories[-1], GUARD + start, bytes(range(100, 100 + length)))

    device.after_post = scribble
    return tested, device


def test_part_of_a_failed_message_may_have_landed_where_the_case_says_so() -> None:
    says = Expect(at(6), Wire(8), "==", AnyBytes())
    [failure] = failures(lands(8)[0], *plain(), FAILING)
    assert (failure.code, failure.at) == ("MKS2103", at(5))
    assert "expect … == any" in dict(failure.details)["fix"]
    assert run(lands(8)[0], *plain(), FAILING, says).status == "pass"
    assert run(rig()[0], *plain(), FAILING, says).status == "pass", "nothing landed"


@pytest.mark.parametrize(("length", "start"), [(9, 0), (1, 64), (1, 65)])
def test_bytes_that_the_case_does_not_open_are_judged(length: int, start: int) -> None:
    says = Expect(at(6), Wire(8), "==", AnyBytes())
    [failure] = failures(lands(length, start)[0], *plain(), FAILING, says)
    assert failure.code == ("MKS2104" if start == 65 else "MKS2103")
