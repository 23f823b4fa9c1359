"""A campaign: what is a kill, in which order items run, and what happens to those that never end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Info
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseInfo
from mkeyspec.sabotage.campaign import Killed, campaign, order
from mkeyspec.sabotage.catalogue import Fault
from mkeyspec.sabotage.suite import Item


def make(name: str) -> Rig:
    return Rig(Model(), Profile(), Expectations.load([], Info("model")), deadline=0.01)


def item(number: int, run: Callable[[Rig], None], verifies: tuple[str, ...] = (), turn: int = 0) -> Item:
    name = f"a.mks::case{number}"
    needs = ("crypto.wrapped",) if run is lacks else ()
    return Item(name, name, CaseInfo(name, "a.mks", verifies, needs), turn, run)


def passes(rig: Rig) -> None:
    rig.finish()


def lacks(rig: Rig) -> None:
    raise AssertionError("it needs what the model lacks: it is never begun")


def raises(rig: Rig) -> None:
    raise ZeroDivisionError


def hangs(rig: Rig) -> None:
    time.sleep(600)


def dies(rig: Rig) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run(*bodies: Callable[[Rig], None], whole: bool = True, make: Callable[[str], Rig] = make) -> Killed:
    items = [item(number, body) for number, body in enumerate(bodies)]
    found = list(campaign(["one"], items, lambda name: range(len(items)), make, 1, whole=whole, deadline=0.5))
    assert [killed.fault for killed in found] == ["one"]
    return found[0]


def test_a_suite_that_passes_kills_nothing() -> None:
    killed = run(passes, passes)
    assert (killed.kills, killed.ran, killed.skipped) == ({}, 2, [])


def test_a_skipped_item_is_no_kill() -> None:
    killed = run(lacks, passes)
    assert (killed.kills, killed.skipped) == ({}, [0])


@pytest.mark.parametrize(
    ("body", "how"),
    [(raises, "error: ZeroDivisionError"), (hangs, "hang"), (dies, "crash")],
    ids=["raises", "hangs", "dies"],
)
def test_a_death_is_a_kill_and_the_rest_still_runs(body: Callable[[Rig], None], how: str) -> None:
    killed = run(passes, body, passes, raises)
    assert killed.kills == {1: how, 3: "error: ZeroDivisionError"}
    assert killed.ran == 4


@pytest.mark.parametrize("body", [raises, hangs, dies], ids=["raises", "hangs", "dies"])
def test_the_first_kill_is_the_last_item(body: Callable[[Rig], None]) -> None:
    killed = run(passes, body, raises, whole=False)
    assert list(killed.kills) == [1]


def test_a_device_that_can_not_be_opened() -> None:
    def refuse(name: str) -> Rig:
        raise RuntimeError("no device today")

    assert "no device today" in run(passes, make=refuse).unopened


def test_every_fault_has_its_outcome() -> None:
    items = [item(0, passes)]
    names = [f"fault{number}" for number in range(5)]
    found = campaign(names, items, lambda name: [0], make, 2, whole=False, deadline=0.5)
    assert sorted(killed.fault for killed in found) == names


def test_likely_killers_come_first() -> None:
    fault = Fault("wrong", "crc", "nic", "wrong", ("CRC-02",))
    items = [
        item(0, passes),
        item(1, passes, ("CRC-02",), turn=1),
        item(2, passes, ("CRC-02",)),
        item(3, passes, ("CRC-03", "CRC-02"), turn=2),
    ]
    assert order(fault, items) == [2, 1, 3, 0]
    assert order(fault, items, frozenset({"a.mks::case3"})) == [3, 2, 1, 0]
