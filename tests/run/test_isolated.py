"""`isolated`: QP pairs that no other case had, and none will."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from mkeyspec.device.protocol import Info, Qp, QpAttributes, Side
from mkeyspec.device.verbs.address import EndAddress, Ended
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.plan import Qp as DeclareQp
from mkeyspec.run.verdict import CaseInfo
from tests.run.fixtures import at, changed, plain, rig, transmit


@pytest.mark.parametrize("isolated", [True, False])
def test_the_rig_asks_for_private_pairs_in_an_isolated_case_only(isolated: bool) -> None:
    tested, device = rig()
    info = CaseInfo("a.mks::a", "a.mks", isolated=isolated)
    declared = DeclareQp(at(1), "q", (("max_send_wr", 8),))
    for steps in ((*plain(), transmit()), (declared, *plain(), changed(transmit(), qp="q"))):
        device.calls.clear()
        assert tested.begin(info) == []
        for one in steps:
            tested.step(one)
        tested.finish()
        asked = [attributes for (attributes,) in device.named("qp_pair")]
        assert asked
        assert {attributes.private for attributes in asked} == {isolated}


class Recorded:
    """A station over nothing: it makes ends, and records those that are closed."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.closed: list[int] = []
        self.logins = self.lab = None

    def info(self) -> Info:
        return Info("recorded")

    def end(self, side: Side, attributes: QpAttributes) -> EndAddress:
        number = next(self.numbers)
        return EndAddress(Qp(number, side, number, 64), 0)

    def connect(self, handle: int, far: EndAddress) -> None:
        assert handle != far.qp.handle

    def end_case(self, handles: Sequence[int]) -> list[Ended]:
        return [Ended(handle, True, ()) for handle in handles]

    def give_back(self, handles: Sequence[int], healthy: bool) -> None:
        self.closed += handles

    def close(self) -> None:
        """It has nothing to close."""


def test_a_real_device_makes_it_anew_and_throws_it_away() -> None:
    station: Any = Recorded()
    device = Verbs(station)

    def case(*, private: bool) -> int:
        number: int = device.qp_pair(QpAttributes(private=private)).owner.number
        device.release(healthy=True)
        return number

    shared = case(private=False)
    assert case(private=False) == shared
    mine = case(private=True)
    assert mine != shared
    assert station.closed == [mine, mine + 1]
    assert case(private=True) != mine
    assert case(private=False) == shared
