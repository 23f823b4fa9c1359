"""Behind a failure that a case claims: what was posted before it is judged as if nothing had failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model import Model
from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import Completion, Qp
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


def behind_the_error(status: str) -> Twisted:
    """The completion 1 comes behind the first error."""
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
def test_nothing_of_it_comes_behind_the_failure(status: str) -> None:
    assert told(WRITTEN, behind_the_error(status)) == ["MKS2005:9"]


def test_what_is_behind_the_failure_is_flushed() -> None:
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
