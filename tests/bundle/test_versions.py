"""A bundle that an earlier mkeyspec wrote is judged by this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.bundle.reader import read
from mkeyspec.run.departures import Expectations
from tests.bundle.recorded import judge_of, told
from tests.bundle.test_changed_cases import items_of

VERSION_1 = Path(__file__).with_name("version1.bundle")
"""Of the model with the fault crc32c_polynomial; one row, with an error and a byte that is wrong from the start."""


@pytest.mark.parametrize(
    ("was", "now", "status", "code"),
    [
        ("wire == any", "wire == any", "pass", []),
        ("wire == any", "wire == counter(1024)", "pass", []),
        ("wire == any", "wire == flip(counter(1024), 515)", "fail", ["MKS2101"]),
        ("bad_guard, block 0", "bad_guard, block 1", "fail", ["MKS2106"]),
    ],
)
def test_version_1(tmp_path: Path, was: str, now: str, status: str, code: list[str]) -> None:
    bundle = read(VERSION_1)
    text = bundle.sources["cases/a.mks"].text
    assert bundle.head["schema"] == 1
    assert was in text
    item = items_of(tmp_path, text.replace(was, now))
    found = told(judge_of(bundle, Expectations()), item)
    assert found[0] == status
    assert [one[0] for one in found[1]] == code
