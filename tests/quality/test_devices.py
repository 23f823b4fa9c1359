"""`devices.toml`: a wrong device is told by its code, a right one by no failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quality.devices import DEVICES, Trial, run, table


@pytest.mark.parametrize("trial", table()[1], ids=lambda trial: trial.id)
def test_the_verdict_of_a_device(trial: Trial, tmp_path: Path) -> None:
    verdict, outcome, disturbance = run(trial, tmp_path)
    assert verdict in trial.verdict.split(" or "), outcome.text
    assert disturbance.done, "the device did nothing of its own"


@pytest.mark.parametrize("case", table()[0])
def test_each_case_is_green_on_the_model(case: str, tmp_path: Path) -> None:
    verdict, outcome, _ = run(Trial("undisturbed", case, "pass", ""), tmp_path)
    assert verdict == "pass", outcome.text


def test_each_device_and_each_case_is_in_a_trial() -> None:
    cases, trials = table()
    assert {trial.device for trial in trials} == DEVICES.keys() - {"undisturbed"}
    assert {trial.case for trial in trials} == set(cases)
    assert all(trial.why.endswith(".") for trial in trials)
