"""`isolated`: QP pairs that no other case had, and none will."""

from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import pytest

from mkeyspec.device.protocol import Qp, QpAttributes
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.queue import End, Pair
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


def verbs() -> tuple[Any, list[Pair]]:
    """The class for real NICs over nothing: only its pools, and the pairs that were closed."""
    device: Any = object.__new__(Verbs)
    closed: list[Pair] = []
    device._idle, device._pairs, device._events = OrderedDict(), [], []
    device._ends, device._known, device._responder = {}, {}, None
    device._objects = SimpleNamespace(close_keys=lambda: None, give_back=lambda keep: None)
    device._native = SimpleNamespace(events=list)
    device.logins = SimpleNamespace(close=lambda: None)
    return device, closed


def test_a_real_device_makes_it_anew_and_throws_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    device, closed = verbs()
    numbers = iter(range(1, 100))

    def make(attributes: QpAttributes) -> Pair:
        owner, peer = (
            End(Qp(next(numbers), side, next(numbers), 64), attributes, None, None, None) for side in ("owner", "peer")
        )
        return Pair(owner, peer, attributes)

    monkeypatch.setattr(device, "_make", make)
    monkeypatch.setattr(device, "_drain", lambda pair: [])
    monkeypatch.setattr(Pair, "close", lambda pair: closed.append(pair))

    def case(*, private: bool) -> int:
        number: int = device.qp_pair(QpAttributes(private=private)).owner.number
        device.release(healthy=True)
        return number

    shared = case(private=False)
    assert case(private=False) == shared
    mine = case(private=True)
    assert mine != shared
    assert [pair.owner.qp.number for pair in closed] == [mine]
    assert case(private=True) != mine
    assert case(private=False) == shared
