"""What comes between two cases: while one is given back, and late."""

from __future__ import annotations

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import AsyncEvent, Qp
from tests.run.text import KEY, one, told

FAILS = (
    "case a\n    verifies LAY-01\n"
    + KEY
    + """\
    receive counter(64) into k by recv, but lkey 9
        rejected at completion with local_protection
"""
)
GOOD = "case b\n    verifies LAY-01\n" + KEY + "    transmit k by send\n    expect wire == m\n"


class Ending(Model):
    """An event comes while what a case made is given back."""

    def __init__(self, kind: str) -> None:
        super().__init__(Profile())
        self.kind = kind

    def release(self, *, healthy: bool) -> None:
        super().release(healthy=healthy)
        if healthy:
            self.execution.events.append(AsyncEvent(self.kind))


@pytest.mark.parametrize("kind", ["device_fatal", "cq_err"])
def test_an_event_while_a_case_is_given_back(kind: str) -> None:
    """The destruction of an object may trip the firmware, which tells it by an event alone."""
    assert told(one("expect m == m[0 +: 64]"), Ending(kind)) == ["MKS2203:3"]


def test_an_event_of_the_port_is_nobodys() -> None:
    assert told(one("expect m == m[0 +: 64]"), Ending("port_active")) == ["pass"]


class Late(Model):
    """The error event of the first failure is reported by the `which`-th question after it."""

    def __init__(self, which: int, kind: str = "qp_req_err") -> None:
        super().__init__(Profile())
        self.which, self.kind = which, kind
        self.of: Qp | None = None

    def post(self, qp: Qp, requests: object, *, abort: bool = False) -> int:
        found = super().post(qp, requests, abort=abort)  # type: ignore[arg-type]
        if self.of is None and self._queues[qp.handle].state == "err":
            self.of = qp
        return found

    def events(self) -> list[AsyncEvent]:
        found = super().events()
        if self.of is not None:
            self.which -= 1
            if not self.which:
                found.append(AsyncEvent(self.kind, self.of))
        return found


@pytest.mark.parametrize("which", range(1, 12))
def test_the_event_of_a_claimed_failure_may_come_late(which: int) -> None:
    """No page says when an async event comes."""
    assert told(FAILS + GOOD, Late(which)) == ["pass", "pass"]


def test_one_event_comes_late_and_no_more() -> None:
    class Often(Late):
        def events(self) -> list[AsyncEvent]:
            return super().events() * 2

    verdicts = [told(FAILS + GOOD, Often(which)) for which in range(1, 12)]
    assert any("MKS2203" in each for verdict in verdicts for each in verdict)
