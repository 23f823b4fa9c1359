"""A device of which a call is a message is polled often by one call, and nothing is missed."""

from __future__ import annotations

from collections import Counter

from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import Completion, Qp
from mkeyspec.run.drain import LOOKS
from tests.run.text import told

CASE = """
case extra
    verifies CFG-04
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""


class Counts(Model):
    """An extra completion comes with the `late`-th poll after the first message."""

    def __init__(self, late: int = 0) -> None:
        super().__init__()
        self.polls: Counter[str] = Counter()
        self._late = late
        self._last: Completion | None = None

    def poll(self, qp: Qp) -> list[Completion]:
        self.polls["poll"] += 1
        found = super().poll(qp)
        if found and qp.side == "owner" and found[-1].opcode == "send":
            self._last = found[-1]
        elif self._last is not None and qp.side == "owner" and self._late:
            self._late -= 1
            return [self._last] if not self._late else found
        return found


class Often(Counts):
    def poll_often(self, qp: Qp, times: int) -> list[Completion]:
        self.polls["often"] += 1
        assert times == LOOKS
        return [one for _ in range(times) for one in self.poll(qp)]


def test_one_call_takes_the_place_of_many() -> None:
    plain, often = Counts(), Often()
    assert told(CASE, plain) == told(CASE, often) == ["pass"]
    assert often.polls["often"] > 1
    assert plain.polls["often"] == 0
    assert often.polls["poll"] == plain.polls["poll"]


def test_what_comes_late_is_seen() -> None:
    for late in (2, LOOKS):
        assert told(CASE, Counts(late)) == told(CASE, Often(late)) != ["pass"]


class AtOnce(Counts):
    immediate = True


def test_a_device_that_does_all_at_once_is_polled_once() -> None:
    plain, once = Counts(), AtOnce()
    assert told(CASE, plain) == told(CASE, once) == ["pass"]
    assert plain.polls["poll"] - once.polls["poll"] == 2 * (LOOKS - 1)  # of both ends, at the end of the case
