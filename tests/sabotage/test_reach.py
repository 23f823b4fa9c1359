"""Rows that a fault is not run against could not have killed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage.campaign import campaign
from mkeyspec.sabotage.conditions import catalogue
from mkeyspec.sabotage.conditions.catalogue import ConditionalFault
from mkeyspec.sabotage.conditions.reach import reach
from mkeyspec.sabotage.conditions.sample import drawn
from mkeyspec.sabotage.suite import Item, load
from mkeyspec.store import Store

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 0.01


CASES = ("examples/signature.mks", "layout/interleaved.mks", "mkey/invalidate.mks")


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    """Some of the shipped cases."""
    return load([ROOT / "cases" / name for name in CASES], Store(ROOT, tmp_path_factory.mktemp("generated")))


def rig(fault: ConditionalFault) -> Rig:
    model = fault.make(Profile())
    return Rig(model, Profile(), Expectations.load([], model.info()), deadline=DEADLINE)


def test_only_rows_that_come_to_the_condition_kill(items: list[Item]) -> None:
    """Every third row, against faults of which about half are killed."""
    some = items[::3]
    faults = drawn(catalogue.faults(), 60, 5)
    reached = reach(some, list(faults.values()), Profile(), DEADLINE, 1)
    assert not reached.failing
    kills = 0
    for one in campaign(
        faults, some, lambda key: range(len(some)), lambda key: rig(faults[key]), 1, whole=True, deadline=10
    ):
        assert set(one.kills) <= reached.of(faults[one.fault]), one.fault
        kills += bool(one.kills)
    assert kills > 5


def test_two_processes_note_what_one_does(items: list[Item]) -> None:
    faults = list(drawn(catalogue.faults(), 20, 6).values())
    some = items[:60]
    one, two = (reach(some, faults, Profile(), DEADLINE, workers) for workers in (1, 2))
    assert one.rows == two.rows
    assert one.rows


def test_a_row_that_fails_or_is_skipped_is_named_and_not_used(items: list[Item]) -> None:
    def fails(rig: Rig) -> None:
        raise ZeroDivisionError

    broken = Item("x", "x", items[0].info, 0, fails)
    found = reach([items[0], broken, items[0]], list(drawn(catalogue.faults(), 20, 6).values()), Profile(), DEADLINE, 1)
    assert found.failing == {1: "error: ZeroDivisionError"}
    assert all(1 not in rows for rows in found.rows.values())
    assert any(rows == [0, 2] for rows in found.rows.values())


TURNS = """\
mks 1

case c
    verifies ACC-01
    memory m = random(64, seed=1)
    memory closed = random(32, seed=2), rights 0
    mkey k
    configure k { access local_write; layout interleaved(4, m count 8, closed count 8) }
    receive random(64, seed=3) into k by recv
        rejected at completion with local_protection
"""


def test_many_turns_at_once_are_looked_at_entry_by_entry(tmp_path: Path) -> None:
    """The model takes turns of an interleaved layout together, and a faulty one each entry by itself."""
    (tmp_path / "turns.mks").write_text(TURNS)
    some = load([tmp_path / "turns.mks"], Store(tmp_path, tmp_path / "generated"))
    fault = catalogue.faults()["entry_rights_unchecked@layout=interleaved"]
    assert reach(some, [fault], Profile(), DEADLINE, 1).of(fault) == {0}
    (one,) = campaign([fault.id], some, lambda _: range(1), lambda _: rig(fault), 1, whole=True, deadline=10)
    assert one.kills
