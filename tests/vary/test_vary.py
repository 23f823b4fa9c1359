"""Rows in other surroundings: right devices stay green, devices that are wrong only there are found."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from mkeyspec import plan
from mkeyspec.device.model.device import Model
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo
from mkeyspec.sabotage.suite import Item, varied
from mkeyspec.vary.row import PAIR
from mkeyspec.vary.row import Row as Facts
from mkeyspec.vary.varied import MOST, vary
from tests.quality.subject import PROFILE, ROOT, Bench, Row, rows
from tests.shipped import WHOLE, some, suites
from tests.vary import faults, more_faults
from tests.vary.faults import Trial

OFFERS = Model(PROFILE).capabilities().offers
ROWS = 400
SEEDS = ("1", "2") if WHOLE in os.environ else ("1",)
WORDS = (
    "other mkeys are made",
    "without a create flag is refused",
    "entries more",
    "a DEK with the key",
    "is configured before",
    "has a configuration refused",
    "has one aborted",
    "is registered by mr_list",
    "is registered by mr_interleaved",
    "has another tag",
    "come in another order",
    "the list of",
    "SGEs",
    "has other flags",
    "other requests are in the section",
    "has another value",
    "`send` is `",
    "`recv` is `read`",
    "`peer_write` is `peer_write_imm`",
    "over the default pair of QPs goes over a new one",
    "has the create flag update_tag",
    "has the create flag remote_invalidate",
    "has the create flag block_signature",
    "begins at another address",
    "is an mkey of",
    "is an interleaved layout, repeated once",
    "is configured by two requests",
    "is configured once more, by no setter",
    "is over UC",
    "is over DCI",
    "is done again",
    "other mkeys live",
    "is configured before, and read in the end",
    "requests go over the QP before",
    "is used before its first configuration",
)
"""A part of what each kind of variation says of itself."""


def around(row: Row, seed: str) -> tuple[Row, tuple[str, ...]]:
    changed = vary(row.row.steps, seed, row.id, OFFERS)
    return replace(row, row=replace(row.row, steps=changed.steps)), changed.notes


@cache
def some_rows() -> tuple[Row, ...]:
    more = ("mkey/deep.mks", "configure/undefined_bits.mks")  # keys with a tag, forbidden values
    paths = [*some(suites(), 8), *(ROOT / "cases" / one for one in more)]
    return tuple(row for row in rows(paths) if len(row.row.steps) <= MOST and not row.case.isolated)


def sample() -> list[Row]:
    found = some_rows()
    return list(found) if WHOLE in os.environ else Random("which").sample(found, ROWS)


def test_no_row_is_red_on_the_model() -> None:
    """The whole: MKEYSPEC_TESTS_WHOLE=1. On the software NIC: `mkeyspec run cases --device soft --vary 1`."""
    bench, red = Bench(), []
    for row in sample():
        for seed in SEEDS:
            outcome = bench.run(around(row, seed)[0])
            if not outcome.green and outcome.status not in ("skip", "told"):
                red.append((row.id, seed, outcome.text))
    assert red == []


def test_each_kind_comes() -> None:
    left = set(WORDS)
    for seed in range(20):
        for row in some_rows()[:: 7 + seed]:
            left -= {word for word in left for note in around(row, str(seed))[1] if word in note}
            if not left:
                return
    assert left == set()


@pytest.mark.parametrize("trial", faults.TRIALS + more_faults.TRIALS, ids=lambda trial: trial.device.__name__)
def test_a_device_that_is_wrong_in_some_surroundings_is_found(trial: Trial) -> None:
    source = Path(trial.row.partition("::")[0])
    chosen = rows([ROOT / source], trial.row, 1, each=True)[:12]
    bench = Bench(lambda: trial.device(PROFILE))
    passing = [row for row in chosen if bench.run(row).green]
    assert passing, "the row must not have these surroundings itself"
    outcomes = (bench.run(around(row, str(seed))[0]) for seed in range(trial.seeds) for row in passing)
    assert any(outcome.status == "fail" for outcome in outcomes)


def test_no_signature_is_left_open_after_an_abort() -> None:
    """SIG-26: what was aborted leaves a signature unknown, and the row has none to configure anew."""
    source, case = "crypto/attributes.mks", "*::attributes_anew_after_a_failure*"
    found = rows([ROOT / "cases" / source], case)
    assert any(isinstance(step, plan.Post) and step.abort for row in found for step in row.row.steps)
    bench = Bench()
    assert [
        (row.id, seed) for row in found for seed in map(str, range(40)) if not bench.run(around(row, seed)[0]).green
    ] == []


def test_a_campaign_has_each_row_twice() -> None:
    ran: list[str] = []

    def run(rig: Rig) -> None:
        rig.step(rows([ROOT / "cases/layout/list.mks"])[0].row.steps[0])
        ran.append(type(rig).__name__)

    item = Item("a.mks::a", "a.mks::a", CaseInfo("a.mks::a", "a.mks"), 0, run)
    [other] = varied([item], "9")
    assert other.id == "a.mks::a --vary 9"
    model = Model(PROFILE)
    for one in (item, other):
        rig = Rig(model, PROFILE, Expectations())
        rig.begin(one.info)
        one.run(rig)
        rig.finish()
    assert ran == ["Rig", "VariedRig"]


def test_what_was_around_a_row_is_not_told_of_the_next() -> None:
    """A row that the profile requires, and that is not run, has nothing around it."""
    model = Model(PROFILE)
    rig = Rig(model, replace(PROFILE, require=("crypto.wrapped",)), Expectations())
    rig.varied = "1", ("a note",)
    with pytest.raises(CaseFailed) as failed:
        rig.begin(CaseInfo("a.mks::a", "a.mks", (), ("crypto.wrapped",)))
    assert "varied" not in str(failed.value)


def test_the_same_seed_and_row_give_the_same() -> None:
    row = rows([ROOT / "cases/layout/list.mks"])[0]
    assert around(row, "7") == around(row, "7")
    assert len({around(row, str(seed))[0].row.steps for seed in range(20)}) > 10
    other = vary(row.row.steps, "7", "another id", OFFERS)
    assert other.steps != around(row, "7")[0].row.steps


def test_what_a_row_says_comes_in_its_order() -> None:
    """Nothing of the row is lost: its steps are there, by place and class, in the same order."""
    for row in sample()[:100]:
        changed, _ = around(row, "3")
        steps = iter(changed.row.steps)
        for step in row.row.steps:
            assert any((one.at, type(one)) == (step.at, type(step)) and _named(one) == _named(step) for one in steps)


def _named(step: plan.Step) -> object:
    return getattr(step, "name", None)


def test_what_is_expected_is_not_changed() -> None:
    for row in sample()[:100]:
        changed, _ = around(row, "3")
        kinds = (plan.Expect, plan.Check, plan.Poll, plan.Await, plan.Cancel, plan.Store, plan.Record, plan.Snapshot)
        mine = [step for step in row.row.steps if isinstance(step, kinds)]
        theirs = [_over_default(step) for step in changed.row.steps if isinstance(step, kinds)]
        assert theirs[: len(mine)] == mine
        kept = iter([step.claim for step in changed.row.steps if isinstance(step, plan.Post)])
        assert all(any(one == step.claim for one in kept) for step in row.row.steps if isinstance(step, plan.Post))


def _over_default(step: plan.Step) -> plan.Step:
    """The step as it would be over the default pair of QPs."""
    return replace(step, qp=None) if getattr(step, "qp", None) == PAIR else step  # type: ignore[arg-type]


def test_a_long_row_is_left_as_it_is() -> None:
    row = rows([ROOT / "cases/layout/list.mks"])[0]
    steps = row.row.steps * (MOST // len(row.row.steps) + 1)
    assert vary(steps, "1", row.id, OFFERS) == vary(steps, "2", row.id, OFFERS)


def test_counted_completions_keep_their_requests() -> None:
    for row in rows([ROOT / "cases/signature/stops.mks"], most=2):
        facts = Facts(row.row.steps)
        assert facts.exact
        _, notes = around(row, "5")
        assert not any("section" in note or "flags" in note for note in notes)
