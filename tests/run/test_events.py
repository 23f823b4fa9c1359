"""Async events: whose they are, and where they are told of (ibv_get_async_event(3))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import AsyncEvent, QpPair
from mkeyspec.run.verdict import Verdict
from tests.run.text import one, told, verdicts

OF_THE_QP = one("write m to w", "expect w == m", "await comm_est")
UNUSED = """\
case a
    verifies LAY-01
    memory m = counter(8)
    await comm_est
    expect m == unchanged
"""
OF_THE_DEVICE = one("write m to w", "expect w == m", "await device_fatal")


def pair_of(device: Telling) -> QpPair:
    assert device.default_pair is not None
    return device.default_pair


class Telling(Model):
    """Tells one event after the first write, made by `event` out of the default pair."""

    def __init__(self, event: Callable[[Telling], AsyncEvent]) -> None:
        super().__init__(Profile())
        self.event = event
        self.told = False

    def events(self) -> list[AsyncEvent]:
        found = super().events()
        if self.told or self.default_pair is None:
            return found
        self.told = True
        return [*found, self.event(self)]


@pytest.mark.parametrize("text", [OF_THE_QP, UNUSED])
def test_an_event_of_a_qp_is_awaited_of_the_default_qp(text: str) -> None:
    """Without `on`, as with every other verb, also where the case has not used it before."""
    line = text[: text.index("await")].count("\n") + 3
    assert told(text, Telling(lambda one: AsyncEvent("comm_est", pair_of(one).owner))) == ["pass"]
    assert told(text, Telling(lambda one: AsyncEvent("comm_est", pair_of(one).peer))) == ["pass"]
    assert told(text, Telling(lambda one: AsyncEvent("comm_est")))[0].startswith(f"MKS2006:{line}")


def test_an_event_of_no_qp_is_awaited_of_none() -> None:
    assert told(OF_THE_DEVICE, Telling(lambda one: AsyncEvent("device_fatal"))) == ["pass"]
    assert told(OF_THE_DEVICE, Telling(lambda one: AsyncEvent("cq_err"))) == ["MKS2006:11"]


def test_the_message_says_whose_the_others_are() -> None:
    [failures] = verdicts(OF_THE_QP, Telling(lambda one: AsyncEvent("comm_est")))
    assert not isinstance(failures, Verdict)
    expected, got = (text for _, text in failures[0].details)
    assert expected == "comm_est of the default QP"
    assert got == "comm_est of no QP of this case, within 0.05 s"


DRAINED = """\
case a
    verifies XCAN-01
    let d = crc32(ones) every 512
    memory src = flip(framed(counter(512), d), 3)
    memory done = counter(8)
    peer memory w[512]
    peer memory note[8]
    qp q { sig_pipelining }
    mkey k { block_signature }
    configure k on q { layout list(src); signature { mem d } }
    post on q, nowait {
        write k[0 +: 512] to w, signaled, id 1
        write done to note, fence, signaled, id 2
    }
    await sq_drained on q
    check k is bad_guard, block 0
    cancel 2 on q
    resume q
    poll q completes { rdma_write, id 1; rdma_write, id 2 }
    expect w == flip(counter(512), 3)
    expect note == unchanged
"""


class OfThePeer(Model):
    def events(self) -> list[AsyncEvent]:
        found = []
        for event in super().events():
            queue = self._queues[event.qp.handle] if event.qp is not None else None
            found.append(replace(event, qp=queue.peer.qp if queue is not None and queue.peer is not None else None))
        return found


def test_sq_drained_is_of_the_owners_send_queue() -> None:
    assert told(DRAINED) == ["pass"]
    [failures] = verdicts(DRAINED, OfThePeer(Profile()))
    assert not isinstance(failures, Verdict)
    assert failures[0].code == "MKS2006"
    assert failures[0].details[0] == ("expected", "sq_drained of `q`")
    assert "(peer)" in failures[0].details[1][1]


def test_an_event_of_no_pair_is_told_at_the_case() -> None:
    """Not at the first line of the file; and with the statement after which it was seen."""
    text = one("write m to w", "expect w == m")
    seen: list[int] = []

    def after_the_first(device: Telling) -> AsyncEvent:
        seen.append(1)
        return AsyncEvent("device_fatal")

    found = verdicts(text + text.replace("case a", "case b"), Telling(after_the_first))
    assert isinstance(found[1], Verdict)
    assert not isinstance(found[0], Verdict)
    assert [(one.code, one.at.line) for one in found[0]] == [("MKS2203", 3)]
    assert ("seen after", "10:5") in found[0][0].details
    later = Telling(after_the_first)
    later.told = True
    verdicts(text, later)
    later.told = False
    [second] = verdicts("\n" * 7 + text, later)
    assert not isinstance(second, Verdict)
    assert second[0].at.line == 10


DC = """\
case d
    verifies WRP-33
    memory m = counter(64)
    peer memory w[64]
    dct t { key 0x1122 }
    qp q { type dci }
    write m to w on q, dct t, but rkey w.rkey ^ 0xff
        rejected at completion with remote_access
    expect w == unchanged
"""


class OfTheTarget(Model):
    """A responder's access violation raises an affiliated event of the responder's QP (IBTA 11.6.3): here the DCT."""

    told = False

    def events(self) -> list[AsyncEvent]:
        for queue in self._queues.values():
            if queue.attributes.type == "dci" and queue.state == "err" and queue.peer is not None and not self.told:
                self.told = True
                return [AsyncEvent("qp_access_err", queue.peer.qp)]
        return super().events()


REFUSED = """\
case f
    verifies WRP-05
    memory m = counter(64)
    peer memory w[64]
    write m to w, but rkey w.rkey ^ 0xff00
        rejected at completion
    expect w == unchanged
"""


class AfterTheFailure(Model):
    """Raises these events of the responder's QP when it has refused a request."""

    def __init__(self, *kinds: str) -> None:
        super().__init__(Profile())
        self.kinds = kinds

    def events(self) -> list[AsyncEvent]:
        pair = self.default_pair
        if pair is None or self._queues[pair.owner.handle].state != "err":
            return super().events()
        kinds, self.kinds = self.kinds, ()
        return [*super().events(), *(AsyncEvent(kind, pair.peer) for kind in kinds)]


@pytest.mark.parametrize("kind", ["qp_access_err", "qp_req_err", "qp_fatal"])
def test_a_failure_raises_one_event(kind: str) -> None:
    """Of an error of a QP IBTA has one kind of event (11.6.3)."""
    assert told(REFUSED, AfterTheFailure(kind)) == ["pass"]
    for other in ("qp_access_err", "qp_req_err", "qp_fatal"):
        assert told(REFUSED, AfterTheFailure(kind, other)) == ["MKS2203:7"]


def test_the_last_wqe_is_of_a_shared_receive_queue() -> None:
    """ibv_get_async_event(3): IBV_EVENT_QP_LAST_WQE_REACHED, "on a QP associated with an SRQ"."""
    assert told(REFUSED, AfterTheFailure("qp_last_wqe_reached")) == ["MKS2203:7"]


def test_the_access_error_of_a_target_follows_from_the_claimed_failure() -> None:
    assert told(DC, OfTheTarget(Profile())) == ["pass"]


class Dies(Model):
    """Tells device_fatal once something was posted after the first case was given back."""

    def __init__(self) -> None:
        self.over = self.dead = False
        super().__init__(Profile())

    def release(self, *, healthy: bool) -> None:
        super().release(healthy=healthy)
        self.over = True

    def post(self, qp: Any, requests: Any, *, abort: bool = False) -> int:
        self.dead = self.dead or self.over
        return super().post(qp, requests, abort=abort)

    def events(self) -> list[AsyncEvent]:
        return [*super().events(), *([AsyncEvent("device_fatal")] if self.dead else [])]


def test_the_canary_of_a_device_that_dies() -> None:
    """After a refusal that the case admits the device is checked: device_fatal is not an event of a healthy one."""
    text = one("configure k as c, but comp_mask 4 { layout list(m) }", "    accepted or rejected at complete")
    assert told(text) == ["pass"]
    assert told(text, Dies())[0].startswith("MKS2206")
