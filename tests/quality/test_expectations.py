"""A sample of `python -m tests.quality.expectations`: every claim can fail, and fails at its own line.

A row of a fifth of the cases. `.ci/run` takes a row of each case.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import load
from tests.quality.expectations import Survivor, run, sorted_out, survivors
from tests.quality.mutation import mutants, mutations
from tests.quality.subject import ROOT, Bench, rows

SUITES = sorted(path for path in (ROOT / "cases").rglob("*.mks") if "\ncase " in path.read_text("utf-8"))
LACKING = load(ROOT / "tests/device/lacking_model.toml")
BENCHES = {"lacking.mks": Bench(lambda: Model(LACKING), profile=LACKING)}
"""Devices of cases that the model is no device for."""
SEED = 7
SHARE = 1 / 5
"""Of the cases of a file; one at least. Each case has its own lot, so that a new case moves no other."""
NAMES = [name for name, mutation in mutations().items() if mutation.must != "open"]


@pytest.mark.parametrize("path", SUITES, ids=[path.relative_to(ROOT / "cases").as_posix() for path in SUITES])
def test_a_wrong_expectation_fails_at_its_line(path: Path) -> None:
    tried = 0
    found = rows([path], most=1, seed=SEED)
    some = [row for row in found if random.Random(f"{SEED} {row.id}").random() < SHARE]
    for row in some or found[:1]:
        result = run(row, BENCHES.get(path.name, Bench()), NAMES, SEED, 0)
        assert not result.failing
        new, _ = sorted_out(result.wrong, survivors())
        assert not new, "\n".join(map(str, new[:20]))
        tried += sum(count.here + count.elsewhere for count in result.counts.values())
    assert tried, "no statement of this suite claims anything"


@pytest.mark.parametrize("entry", survivors(), ids=lambda entry: f"{entry.mutation} {entry.row}")
def test_a_survivor_still_survives(entry: Survivor) -> None:
    found = rows([ROOT / entry.row.split("::")[0]], entry.row)
    assert found, "no such row"
    wrong = [one for row in found for one in run(row, Bench(), [entry.mutation], SEED, 0).wrong]
    assert any(entry.fits(one) for one in wrong), "take it out"


def test_each_mutation_is_used_somewhere() -> None:
    used = {mutant.mutation for row in rows() for mutant in mutants(row.row.steps)}
    unused = set(mutations()) - used
    assert unused <= {"change.word", "change.check_number"}, "of these no shipped case has any"
    assert used <= set(mutations())


def test_what_may_survive_has_its_reason() -> None:
    for mutation in mutations().values():
        assert mutation.must in ("here", "red", "one", "open"), mutation.name
        assert bool(mutation.reason) == (mutation.must == "open"), mutation.name
