"""Devices of which calibration is told nothing: what it finds is what they are. `blind` has the table and the rest."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.errno import ERRNO
from mkeyspec.device.profile.profile import DRIVER_ERRNO, Profile, load
from tests.calibrate.blind import TABLE, UNSET, Secret, found_in, measure, secrets
from tests.quality.subject import ROOT, Bench, rows

NOT_MEASURED = {"name", "require", "errno"}
"""What a person says; and the errnos, which the table has rule by rule."""
NO_PROBE = ["crypto_dek", "qp_not_ready"]
"""Rules that no probe can break (`mkeyspec.calibrate.probes.errnos.UNREACHED` says why)."""
ALONE = ("wqe_unit", "wqe_overhead", "import_method", "without", "errno.dek_import", "errno.mixed_block_sizes",
         "errno.strided_entry", "errno.too_few_setters", "errno.access_bits")  # fmt: skip
"""Answers that change what other points can show."""


def test_the_table_has_each_point_and_each_of_its_choices() -> None:
    members = {one.name: one for one in fields(Profile)}
    assert set(TABLE["choices"]) == members.keys() - NOT_MEASURED
    assert sorted(TABLE["errno"]["rules"]) == sorted(ERRNO | DRIVER_ERRNO)
    for name, answers in TABLE["choices"].items():
        default = members[name].default
        assert answers[0] == (list(default) if isinstance(default, tuple) else default)
        if members[name].type == "bool":
            assert sorted(answers) == [False, True]
        choices = members[name].metadata.get("choices", ())
        assert all(one in answers for one in choices) or len(choices) > 5  # of the statuses of an error, a few


def devices(count: int) -> list[dict[str, Any]]:
    """Each answer of each point in one of `count` devices, several in each, so that the sample is small."""
    made: list[dict[str, Any]] = [{} for _ in range(count)]
    for point, answers in TABLE["choices"].items():
        if point not in ALONE:
            for number, one in enumerate(made):
                one[point] = answers[(number + 1) % len(answers)]
    for place, rule in enumerate(TABLE["errno"]["rules"]):
        if f"errno.{rule}" not in ALONE and rule not in NO_PROBE:
            for number, one in enumerate(made):
                one[f"errno.{rule}"] = ("EPERM", "EOPNOTSUPP", "EINVAL")[(number + place) % 3]
    return made


def as_profile(answers: dict[str, Any]) -> str:
    """As TOML; a line each."""
    return "".join(Secret(point, answer, {}).profile for point, answer in answers.items() if "errno." not in point) + (
        "[errno]\n"
        + "".join(f'{point[6:]} = "{answer}"\n' for point, answer in answers.items() if point.startswith("errno."))
    )


@pytest.mark.parametrize("answers", devices(7), ids=[f"device{number}" for number in range(7)])
def test_what_a_device_is_is_found(answers: dict[str, Any], tmp_path: Path) -> None:
    file = measure(tmp_path, as_profile(answers))
    got = {point: found_in(file, point) for point in answers}
    wrong = {point: (got[point], answer) for point, answer in answers.items() if got[point] not in (answer, UNSET)}
    assert wrong == {}
    undecided = [point for point in answers if got[point] is UNSET]
    assert len(undecided) <= 0.05 * len(answers), undecided


FILES = ("examples", "signature/errors.mks", "signature/setter.mks", "configure/setters.mks")
SAMPLE = [ROOT / "cases" / name for name in FILES]
SINGLE = [one for one in secrets() if one.point in ALONE and (one.point != "without" or len(one.answer) != 1)]


@pytest.mark.parametrize("secret", SINGLE[:20], ids=lambda one: f"{one.point}={one.answer}")
def test_what_changes_other_points_is_found_alone(secret: Secret, tmp_path: Path) -> None:
    file = measure(tmp_path, secret.profile)
    got = found_in(file, secret.point)
    assert got == (sorted(secret.answer) if secret.point == "without" else secret.answer)


def test_a_run_with_what_was_measured_is_green(tmp_path: Path) -> None:
    """The model of a secret profile, judged by the measured one. The listed departures are named as one lists them."""
    from mkeyspec.run.departures import Expectations

    secret = {
        point: answer for point, answer in devices(3)[1].items() if point not in ("max_message", "initial_access")
    }
    secret["access_supported"], secret["stride_bits"] = 15, 16
    text, listed = as_profile(secret), tmp_path / "departures.toml"
    measure(tmp_path, text, "--departures", str(listed))
    (tmp_path / "secret.toml").write_text(text, encoding="utf-8")
    device, judged = load(tmp_path / "secret.toml"), load(tmp_path / "found.toml")
    known = Expectations.load([listed], Model(device).info())
    bench = Bench(lambda: Model(device), profile=judged, expectations=known)
    sample = rows(SAMPLE, most=1, seed=5)
    assert len(sample) > 50
    red = [
        (row.id, out.line, out.text)
        for row in sample
        for out in [bench.run(row)]
        if not out.green and out.status != "skip"
    ]
    assert red == []
    with_defaults = Bench(lambda: Model(device), profile=Profile(), expectations=known)
    assert any(not with_defaults.run(row).green for row in sample)  # the profile is what makes it green


def test_the_page_has_the_table_of_all_answers() -> None:
    """What `blind` printed last, with as many answers as the table has now."""
    page = (ROOT / "docs" / "howto" / "first_day.md").read_text(encoding="utf-8")
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| `")]
    printed = {line[0].strip(" `"): [int(number) for number in line[1:]] for line in lines}
    count = {point: len(answers) for point, answers in TABLE["choices"].items()}
    count["errno (each rule)"] = len(TABLE["errno"]["rules"]) * len(TABLE["errno"]["names"])
    assert {point: numbers[0] for point, numbers in printed.items()} == count
    assert all(found + undecided + wrong == answers for answers, found, undecided, wrong in printed.values())
    assert all(wrong == 0 for *_, wrong in printed.values())
    assert sum(found for _, found, *_ in printed.values()) >= 0.95 * sum(count.values())
