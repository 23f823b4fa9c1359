"""Matrices, and the profiles that are chosen from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mkeyspec.files import selection
from mkeyspec.sabotage.campaign import Killed
from mkeyspec.sabotage.matrix import Matrix, MatrixError, cover, read

ITEMS = ["a.mks::one[x=1]", "a.mks::one[x=2]", "a.mks::two", "b.mks::three"]


def matrix(**kills: list[int]) -> Matrix:
    made = Matrix("model", list(ITEMS))
    for fault, items in kills.items():
        made.put(Killed(fault, dict.fromkeys(items, "MKS2101")))
    return made


def test_survivors_and_vacuous_cases() -> None:
    made = matrix(wrong=[0, 1], worse=[], worst=[3])
    assert made.survivors == ["worse"]
    assert made.vacuous == ["a.mks::two"]
    assert made.cases_of("wrong") == ["a.mks::one"]


def test_a_matrix_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = matrix(wrong=[0, 1])
    made.put(Killed("stuck", {2: "hang"}))
    path = tmp_path / "matrix.json"
    path.write_text(json.dumps(made.data()))
    assert read(path) == made
    assert made.deaths == {"stuck": {"a.mks::two": "hang"}}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 0}', '{"format": 1, "device": "model"}'])
def test_what_is_no_matrix(tmp_path: Path, text: str) -> None:
    path = tmp_path / "matrix.json"
    path.write_text(text)
    with pytest.raises(MatrixError, match=r"matrix\.json"):
        read(path)


def test_the_item_that_kills_most_covers_most() -> None:
    assert cover([matrix(wrong=[0, 2], worse=[2], worst=[2, 3])], 1) == ["a.mks::two"]


def test_a_fault_is_covered_by_as_many_cases_as_are_asked_for() -> None:
    """Two rows of one case are one case."""
    chosen = cover([matrix(wrong=[0, 1, 2, 3])], 2)
    assert len(chosen) == len({item.split("[")[0] for item in chosen}) == 2


def test_a_fault_that_few_cases_kill_is_covered_by_those() -> None:
    assert cover([matrix(wrong=[0, 1], worse=[])], 3) == ["a.mks::one[x=1]"]


def test_each_device_is_covered() -> None:
    assert set(cover([matrix(wrong=[0]), matrix(wrong=[3])], 1)) == {"a.mks::one[x=1]", "b.mks::three"}


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    selection.file_of("quick", tmp_path).write_text(selection.text(ITEMS, "made by hand"))
    assert selection.read("quick", tmp_path) == frozenset(ITEMS)


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    selection.file_of("quick", tmp_path).write_text("items = []")
    with pytest.raises(selection.SelectionError, match="did you mean quick"):
        selection.read("quik", tmp_path)


@pytest.mark.parametrize("text", ["items = 3", "items = [3]", "", "items = ["])
def test_a_profile_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "cases").mkdir()
    selection.file_of("quick", tmp_path).write_text(text)
    with pytest.raises(selection.SelectionError, match=r"quick\.toml"):
        selection.read("quick", tmp_path)
