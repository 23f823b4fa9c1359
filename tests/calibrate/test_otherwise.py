"""Profile points set otherwise, in the device and in the profile; `otherwise` has the devices and the whole of it."""

from __future__ import annotations

import random
from dataclasses import fields

import pytest

from mkeyspec.device.profile.profile import Profile
from tests.calibrate.blind import TABLE
from tests.calibrate.otherwise import Device, by_point, choices, drawn, judge, noticed, pairs, profile_of, turns
from tests.quality.subject import ROOT, rows

SEED, ROWS, FILES = 1, 5, 15


def test_each_other_choice_is_in_a_turn() -> None:
    """And no point of a turn has its default."""
    made = turns()
    for point, answers in by_point().items():
        if not point.startswith("errno."):
            found = [getattr(device.profile, point) for device in made]
            assert {str(tuple(one.answer) if isinstance(one.answer, list) else one.answer) for one in answers} == set(
                map(str, found)
            )


def test_each_pair_of_choices_is_on_a_device() -> None:
    made = [device.profile for device in pairs(SEED)]
    points = [point for point in by_point() if not point.startswith("errno.")]
    for i, one in enumerate(points):
        for other in points[:i]:
            together = {(str(getattr(device, one)), str(getattr(device, other))) for device in made}
            assert len(together) == len(TABLE["choices"][one]) * len(TABLE["choices"][other])


def test_no_row_is_red_where_points_are_set_otherwise() -> None:
    """Each pair of choices is on one of these devices, which has a few rows of its own."""
    files = random.Random(SEED).sample(sorted((ROOT / "cases").rglob("*.mks")), FILES)
    whole = rows(files, most=8, seed=SEED)
    red = [
        f"{device.name}: {row.id}: {text}"
        for number, device in enumerate(pairs(SEED))
        for row, status, text in judge(device, drawn(whole, ROWS, number))
        if status == "failed"
    ]
    assert red == []


TELLING = {
    "err_actual": "a_field_of_another_crc",
    "err_value_order_crc32c": "a_field_of_another_crc",
    "err_value_order_crc64": "a_field_of_another_crc",
    "err_offset": "a_field_of_another_crc",
    "errno.crc_seed": "refused_wherever",
    "errno.block_size": "refused_wherever",
    "errno.dif_bg": "refused_wherever",
}
"""Points that the judge reads, and cases whose rows see them. The cases take most others either way."""
SIGNATURE = [ROOT / "cases" / "signature" / name for name in ("crc.mks", "refused.mks")]


def _of(name: str) -> list[Device]:
    return [Device(str(one.answer), profile_of(one)) for one in choices() if one.point == name]


@pytest.mark.parametrize("point", sorted(TELLING))
def test_a_device_that_answers_otherwise_than_the_profile_is_red(point: str) -> None:
    sample = rows(SIGNATURE, TELLING[point])
    assert all(noticed(device, sample) for device in _of(point))


def test_each_member_is_in_the_table() -> None:
    known = {one.name for one in fields(Profile)} - {"name", "require", "errno"}
    assert {one.point for one in choices() if "errno." not in one.point} == known
