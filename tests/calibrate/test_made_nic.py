"""Software NICs that answer points otherwise: what the table says, the library does, and calibration finds it."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.soft import softnic
from tests.calibrate.blind import TABLE as BLIND
from tests.calibrate.made_nic import CHOICES, TABLE, Answer, answers, drawn, fit, turns
from tests.calibrate.rehearsal import Day
from tests.device.verbs import soft
from tests.quality.subject import ROOT

HEADER = (ROOT / "softnic" / "faults" / "choice.h").read_text(encoding="utf-8")


def test_the_table_has_each_choice_of_the_library() -> None:
    macro = HEADER[HEADER.index("#define CHOICES(X)") : HEADER.index("/* clang-format on */")]
    assert set(re.findall(r"X\((\w+)\)", macro)) == {*TABLE["choices"], "copy_compares_seed"}


def test_each_answer_is_one_that_a_profile_can_have() -> None:
    members = {one.name: one for one in fields(Profile)}
    for answer in answers():
        choices = members[answer.point].metadata.get("choices")
        assert not choices or answer.value in choices
    for point, values in TABLE["choices"].items():
        assert len(values) <= len(BLIND["choices"][point]) or point == "initial_access"


def test_five_are_drawn_that_one_nic_can_have() -> None:
    made = [drawn(seed) for seed in range(200)]
    assert all(len(nic.answers) == 5 and fit(nic.answers) for nic in made)
    seen = {one for nic in made for one in nic.answers}
    assert not any(one.is_default for one in seen)
    assert len(seen) > 0.9 * len([one for one in answers() if not one.is_default])
    assert drawn(7) == drawn(7)
    assert {one for nic in turns() for one in nic.answers} == set(answers())


def test_a_report_that_lacks_an_answer_is_told() -> None:
    """Of what is looked for: the point and its value on one line, whatever else is there."""
    one, order = Answer("err_actual", "computed"), Answer("err_priority", "ref app guard")
    report = 'err_actual = "computed"  default "field"\nerr_priority = ["ref", "app", "guard"]'
    assert one.named_in(report)
    assert order.named_in(report)
    assert not one.named_in('err_actual = "field"\nrecv_byte_len = "computed"')
    assert not order.named_in('err_priority = ["ref", "guard", "app"]')
    assert not one.in_profile({"err_actual": "field"})


NIC = list(turns())[1]
"""Each kind of choice is in it."""


def test_each_answer_is_found_by_calibration(tmp_path: Path) -> None:
    soft.need()
    if softnic.library(faults=True) is None:
        pytest.skip("no library of faults: a C compiler is missing")
    day = Day(NIC, tmp_path, None)
    day.calibrate()
    assert day.wrong == []
    assert len(NIC.answers) > 30
    assert NIC.environment()[CHOICES].count(";") > 27
