"""What a case admits to be refused: it has done nothing then, and nothing is said of what it would have shown."""

from __future__ import annotations

from dataclasses import replace
from errno import EINVAL
from typing import Any

import pytest

from mkeyspec.device.model import Model
from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import Configure, Qp, Write
from mkeyspec.run.buffer import GUARD
from tests.run.test_extent import Known
from tests.run.text import one, told

AT_COMPLETE = one(
    "post { write k[0 +: 64] to w, signaled, id 77 }",
    "    accepted or rejected at complete",
    "expect w == m",
)
AT_COMPLETION = one(
    "receive fill(2, 64) into k by peer_write",
    "    accepted or rejected at completion with remote_access",
    "expect m == fill(2, 64)",
)


class Refusing(Known):
    """Requests of id 77 are refused with the section. `effect`: the bytes that a write of it moves all the same."""

    def __init__(self, effect: int = 0) -> None:
        super().__init__(Profile())
        self.effect = effect

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if not any(one.wr_id == 77 for one in requests):
            return super().post(qp, requests, abort=abort)
        source, target = self.made[:2]
        data = self.read(source, GUARD, self.effect)
        self.write(target, GUARD, data.tobytes())
        return EINVAL


class Denying(Known):
    """An RDMA write of the peer fails. `effect`: the bytes that it moves all the same."""

    def __init__(self, effect: int = 0) -> None:
        super().__init__(Profile())
        self.effect = effect

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        denied = self.writes(qp, requests)
        if denied:
            requests = [replace(one, rkey=one.rkey ^ 0x5500) for one in requests]
        found = super().post(qp, requests, abort=abort)
        if denied:
            self.write(self.made[0], GUARD, b"\2" * self.effect)
        return found


@pytest.mark.parametrize(("text", "device"), [(AT_COMPLETE, Refusing), (AT_COMPLETION, Denying)])
def test_what_was_refused_has_done_nothing(text: str, device: Any) -> None:
    assert told(text) == ["pass"]
    assert told(text, device()) == ["pass"]
    for effect in (1, 64):
        assert told(text, device(effect)) == ["MKS2103:11"]
        assert told(text.replace("expect", "# expect"), device(effect))[0].startswith("MKS2103")
        assert told(text.replace("== m", "!= m").replace("== fill(2", "!= fill(2"), device(effect)) == ["MKS2103:11"]
    opened = text.replace("== m", "in [m, any]").replace("== fill(2, 64)", "in [fill(2, 64), any]")
    assert told(opened, device(64)) == ["pass"]


def test_a_store_over_what_was_refused_is_compared() -> None:
    text = AT_COMPLETE.replace("    expect", "    store w = fill(9, 64)\n    expect")
    assert told(text, Refusing()) == ["MKS2102:12"]


SEVERAL = one(
    "peer memory v[64]",
    "post { write m to v, id 5; write k[0 +: 64] to w, signaled, id 6, but rkey w.rkey ^ 0x5500 }",
    "    accepted or rejected at completion",
    "expect v == m",
)


class Lost(Model):
    """A write of id 5 moves nothing."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        requests = [replace(one, sges=()) if isinstance(one, Write) and one.wr_id == 5 else one for one in requests]
        return super().post(qp, requests, abort=abort)


def test_what_stands_before_the_refused_request_is_compared() -> None:
    assert told(SEVERAL) == ["pass"]
    assert told(SEVERAL, Lost(Profile())) == ["MKS2102:12"]


CANCEL = """\
case a
    verifies XCAN-05
    qp q { sig_pipelining }
    memory m = counter(64)
    peer memory w[64]
    write m to w on q
    expect w == m
    cancel 7 on q as c
        accepted or rejected at cancel
    expect c.count == 5
    expect c.errno == EINVAL
"""


def test_a_cancel_that_is_refused_counts_nothing() -> None:
    assert told(CANCEL) == ["pass"], "on a QP that is not drained it is refused: there is no count"
    assert told(CANCEL.replace("c.errno == EINVAL", "c.errno == 0")) == ["MKS2105:13"]


WIRE = one(
    "transmit k by send, but lkey k.lkey ^ 0x5500",
    "    accepted or rejected at completion",
    "let first = wire",
    "transmit k by send",
    "expect wire == m",
    "expect wire == first",
)


def test_a_wire_that_was_never_there_is_compared_with_nothing() -> None:
    assert told(WIRE) == ["pass"]
    assert told(WIRE.replace(", but lkey k.lkey ^ 0x5500", "")) == ["pass"]


class Unconfigured(Model):
    """The first layout through a section with id 77 is refused."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(one, Configure) and one.wr_id == 77 for one in requests):
            return EINVAL
        return super().post(qp, requests, abort=abort)


KEYS = one(
    "memory n = counter(64)",
    "mkey j",
    "configure j { access local_write; layout list(k[0 +: 64]) }",
    "post { configure k, signaled, id 77 { layout list(n) } }",
    "    accepted or rejected at complete",
    "transmit k by send as t",
    "expect wire == n",
    "expect t.wire == n",
    "receive fill(7, 64) into j by recv",
    "expect n == fill(7, 64)",
    "configure k { access remote_read }",
    "transmit k by peer_read",
    "expect wire == fill(7, 64)",
    "configure k { access local_write; layout list(m) }",
    "transmit k by send",
    "expect wire == m",
)


class Wrong(Unconfigured):
    """It sends what is one byte off."""

    def poll(self, qp: Qp) -> Any:
        return [replace(one, byte_len=1) if one.opcode == "recv" else one for one in super().poll(qp)]


def test_a_key_whose_configuration_was_refused_is_in_an_unknown_state() -> None:
    assert told(KEYS) == ["pass"]
    assert told(KEYS, Unconfigured(Profile())) == ["pass"]
    [found] = told(KEYS, Wrong(Profile()))
    assert found.startswith("MKS2005:23"), "behind a new layout it is compared again"


USED = """\
case a
    verifies ACC-01
    for right in 0, remote_write
    memory m = counter(64)
    mkey k
    configure k { access local_write | right; layout list(m) }
    receive fill(1, 64) into k by peer_write
        accepted or rejected at completion with remote_access
    expect m == fill(1, 64)
    let now = m
    transmit k by send
    expect wire == now
"""


def test_what_was_refused_is_used_as_it_was_found() -> None:
    assert told(USED) == ["pass", "pass"]
    taken = AT_COMPLETE.replace("    expect w == m", "    let now = w\n    write m to w\n    expect w in [m, now]")
    assert told(taken, Refusing()) == ["pass"]
    assert told(taken, Refusing(1))[0].startswith("MKS2103:")


LATER = one(
    "peer recv w as r",
    "send m, id 77",
    "    accepted or rejected at complete",
    "expect r.byte_len == 64",
    "expect w == m",
    "peer memory v[64]",
    "peer recv v as s",
    "send m[0 +: 32]",
    "expect s.byte_len == 32",
    "expect v[0 +: 32] == m[0 +: 32]",
    "transmit k by send",
    "expect wire == m",
)


def test_the_receive_of_a_refused_message_meets_no_other() -> None:
    assert told(LATER) == ["pass"]
    assert told(LATER, Refusing()) == ["pass"]


LIST = AT_COMPLETE.replace("accepted or rejected", "completes { rdma_write, id 77 } or rejected")


def test_a_list_of_successes_or_a_refusal_admits_both_as_well() -> None:
    assert told(LIST) == told(LIST, Refusing()) == ["pass"]
    assert told(LIST, Refusing(1)) == ["MKS2103:11"]
