"""After a failure that a case claims: what was posted before it is judged as if nothing had failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import AsyncEvent, Completion, Qp, WorkRequest, Write
from tests.run.text import one, told

FAILS = (
    "receive counter(64) into k by read, but lkey k.lkey ^ 0xff",
    "    rejected at completion with local_protection",
)
BEHIND = (*FAILS, "expect w == m")
WRITTEN = one("post, nowait { write m to w, signaled, id 1 }", *BEHIND)
SENT = one("peer recv w, id 9", "post, nowait { send m, signaled, id 1 }", *BEHIND)
SENT_QUIETLY = SENT.replace("signaled, ", "")
SECTION = one(
    "peer recv w, id 9",
    "post { send m, signaled, id 1; read k[0 +: 64] but lkey 9 from w, signaled, id 2 }",
    "    rejected at completion with local_protection",
    "expect w == m",
)


class Twisted(Model):
    """`twist` takes the completions of each poll."""

    def __init__(self, twist: Callable[[list[Completion]], list[Completion]]) -> None:
        super().__init__(Profile())
        self.twist = twist

    def poll(self, qp: Qp) -> list[Completion]:
        return self.twist(super().poll(qp))


def lost(wr_id: int) -> Twisted:
    return Twisted(lambda found: [one for one in found if one.wr_id != wr_id])


def other(wr_id: int, **members: Any) -> Twisted:
    return Twisted(lambda found: [replace(one, **members) if one.wr_id == wr_id else one for one in found])


def after_the_error(status: str) -> Twisted:
    """The completion 1 comes after the first error."""
    held: list[Completion] = []

    def twist(found: list[Completion]) -> list[Completion]:
        told: list[Completion] = []
        for each in found:
            if each.wr_id == 1:
                held.append(replace(each, status=status))
                continue
            told.append(each)
            if each.status != "success":
                told += held
                held.clear()
        return told

    return Twisted(twist)


@pytest.mark.parametrize("text", [WRITTEN, SENT, SENT_QUIETLY, SECTION])
def test_a_device_that_is_right(text: str) -> None:
    assert told(text) == ["pass"]


def test_a_completion_before_the_failure_is_missed() -> None:
    """IBTA: a send queue completes in order, so that what was posted before the failed request is over before it."""
    assert told(WRITTEN, lost(1)) == ["MKS2004:9"]


@pytest.mark.parametrize("status", ["success", "wr_flush_err", "loc_prot_err"])
def test_nothing_of_it_comes_after_the_failure(status: str) -> None:
    assert told(WRITTEN, after_the_error(status)) == ["MKS2005:9"]


def test_what_is_after_the_failure_is_flushed() -> None:
    text = one(
        "post, nowait { read k[0 +: 64] but lkey 9 from w, signaled, id 1; write m to w, signaled, id 2 }",
        "poll completes { error, id 1, status loc_prot_err; error, id 2, status wr_flush_err }",
    )
    assert told(text) == ["pass"]
    assert told(text, lost(2)) == ["MKS2005:10"]


@pytest.mark.parametrize("text", [SENT, SENT_QUIETLY, SECTION])
def test_an_acknowledged_message_was_received(text: str) -> None:
    """IBTA: a reliable request is acknowledged once the responder has completed it."""
    line = 9
    assert told(text, lost(9)) == [f"MKS2004:{line}"]
    for status in ("wr_flush_err", "loc_prot_err", "loc_len_err"):
        assert told(text, other(9, status=status, opcode="", byte_len=0)) == [f"MKS2005:{line}"]
    assert told(text, other(9, byte_len=63)) == [f"MKS2005:{line}"]


def test_what_was_not_acknowledged_may_be_lost() -> None:
    text = one(
        "peer recv w, id 9",
        "peer recv w, id 10",
        "post { read k[0 +: 64] but lkey 9 from w, signaled, id 1; send m, signaled, id 2 }",
        "    rejected at completion with local_protection",
    )
    assert told(text) == ["pass"]
    assert told(text, lost(9)) == ["pass"]


SHORT = one(
    "receive counter(64) into k by recv, but lkey 9",
    "    rejected at completion with local_protection",
)
LONG = one(
    "memory n = counter(32)",
    "peer recv w[0 +: 16]",
    "send n",
    "    rejected at completion with loc_len_err",
)


@pytest.mark.parametrize("text", [SHORT])
def test_a_message_whose_receive_failed_was_not_acknowledged(text: str) -> None:
    """IBTA: the responder answers a local error with a NAK."""
    assert told(text) == ["pass"]
    acked = Twisted(
        lambda found: [
            replace(each, status="success", opcode="send") if each.status == "rem_op_err" else each for each in found
        ]
    )
    assert told(text, acked) == ["MKS2005:9"]


UNSIGNALED = one(
    "post { read k[0 +: 64] but lkey 9 from w, signaled, id 2; write m to w, id 3 }",
    "    rejected at completion with local_protection",
)
RECEIVE = one("memory n[64]", "recv n, id 3", *FAILS)


@pytest.mark.parametrize(("text", "line"), [(UNSIGNALED, 9), (RECEIVE, 10)])
def test_whatever_a_failed_qp_has_is_flushed(text: str, line: int) -> None:
    """IBTA 10.3.1.7: all work requests that are outstanding, signaled or not, of both queues."""
    assert told(text) == ["pass"]
    assert told(text, lost(3)) == [f"MKS2004:{line}"]


# What comes late --------------------------------------------------------------------------------


class Late(Model):
    """A completion (`which`) is reported again some seconds, or polls, later; the rest of its queue waits."""

    def __init__(self, which: Callable[[Completion], bool], seconds: float = 0.0, polls: int = 0) -> None:
        super().__init__(Profile())
        self.which, self.seconds, self.polls = which, seconds, polls
        self.held: dict[tuple[int, str], list[list[Any]]] = {}

    def poll(self, qp: Qp) -> list[Completion]:
        for each in super().poll(qp):
            line = self.held.setdefault((qp.handle, each.queue), [])
            line.append([0.0, 0, each])
            if self.which(each):
                line.append([monotonic() + self.seconds, self.polls, each])
        told: list[Completion] = []
        for queue in ("send", "recv"):
            line = self.held.get((qp.handle, queue), [])
            while line and line[0][0] <= monotonic() and line[0][1] <= 0:
                told.append(line.pop(0)[2])
            if line:
                line[0][1] -= 1
        return told


TRANSMIT = one("transmit k by send", "expect wire == m")
PIPELINING = one("qp q { sig_pipelining }", "write m to w on q, id 5", "expect w == m")
RESET = one(
    "post, nowait { write m to w, id 9 }",
    "configure k { access local_write; access local_write }",
    "    rejected at complete",
    "configure k { access local_write; layout list(m) }",
    "expect w == m",
)
CLAIMED = one(
    "receive counter(64) into k by peer_write, but rkey 5",
    "    rejected at completion with remote_access",
)


@pytest.mark.parametrize("seconds", [300e-6, 1e-3, 3e-3])
@pytest.mark.parametrize(
    ("text", "which"),
    [
        (TRANSMIT, lambda each: each.queue == "recv"),
        (TRANSMIT, lambda each: each.opcode == "driver1"),
        (PIPELINING, lambda each: each.wr_id == 5),
        (CLAIMED, lambda each: each.opcode == "driver1"),
    ],
)
def test_a_copy_that_comes_late_is_seen(text: str, which: Callable[[Completion], bool], seconds: float) -> None:
    assert told(text) == ["pass"]
    assert told(text, Late(which, seconds)) != ["pass"]


def test_a_copy_of_a_marker_before_a_reset_is_seen() -> None:
    assert told(RESET) == ["pass"]
    for text in (RESET, CLAIMED):
        assert told(text, Late(lambda each: each.status == "success", 0.0, 150)) != ["pass"]


FLUSHED = one(
    "memory n[64]",
    "recv n, id 71",
    "post, nowait { write m to w, signaled, id 2, but rkey w.rkey ^ 0xff; write m to w, signaled, id 3 }",
    "poll completes { error, id 2; error, status wr_flush_err, id 3; error, status wr_flush_err, id 71 }",
)


def test_an_error_comes_out_of_its_own_queue_and_in_its_order() -> None:
    assert told(FLUSHED) == ["pass"]
    assert told(FLUSHED, other(2, queue="recv")) == ["MKS2005:11"]
    held: list[Completion] = []

    def swap(found: list[Completion]) -> list[Completion]:
        held.extend(each for each in found if each.wr_id == 3)
        rest = [each for each in found if each.wr_id != 3]
        if any(each.wr_id > 1 << 32 and each.status != "success" for each in rest):
            rest, held[:] = [*rest, *held], []
        return rest

    assert told(FLUSHED, Twisted(swap)) != ["pass"]


def test_the_marker_after_a_failure_is_flushed() -> None:
    def marker(each: Completion) -> bool:
        return each.wr_id > 1 << 32 and each.status == "wr_flush_err" and each.queue == "send"

    assert told(FLUSHED, Twisted(lambda found: [each for each in found if not marker(each)])) == ["MKS2004:12"]
    status = Twisted(lambda found: [replace(each, status="loc_prot_err") if marker(each) else each for each in found])
    [found] = told(FLUSHED, status)
    assert found.startswith("MKS2005:12")


# Events -----------------------------------------------------------------------------------------

POLLED = one(
    "peer memory v[64]",
    "write m to w",
    "expect w == m",
    "post, nowait { write m to v, signaled, id 1, but rkey v.rkey ^ 0xff }",
    "poll completes { error, id 1 }",
)


class Raising(Model):
    """A qp_fatal with the `which`-th RDMA write."""

    def __init__(self, which: int) -> None:
        super().__init__(Profile())
        self.left = which

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        found = super().post(qp, requests, abort=abort)
        if isinstance(requests[0], Write) and requests[0].sges:
            self.left -= 1
            if not self.left:
                self.execution.events.append(AsyncEvent("qp_fatal", qp))
        return found


def test_an_event_before_the_failing_request_was_posted_is_not_its() -> None:
    assert told(POLLED) == ["pass"]
    [found] = told(POLLED, Raising(1))
    assert found.startswith("MKS2203")
    assert told(POLLED, Raising(2)) == ["pass"], "of the request that fails, it may be its"
