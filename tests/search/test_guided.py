"""Searches that are steered by coverage."""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from mkeyspec.cli.entry import main
from mkeyspec.generate.operations import KEYS
from mkeyspec.generate.seed import Seed
from mkeyspec.search.guided import MOST, changed, fresh, guided
from mkeyspec.search.hunt import Hunt
from mkeyspec.search.model_branches import ModelBranches
from mkeyspec.search.nic_lines import NicError, _counted, built
from mkeyspec.search.reached import Total, Unreached, ranges
from tests.search.test_search import CASE, Written, three


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkeyspec.toml").touch()
    return tmp_path


class Counted:
    """Each of the first cases reaches something new."""

    def __init__(self, cases: int) -> None:
        self.cases, self.asked = cases, 0

    def count(self) -> int:
        self.asked += 1
        return min(self.asked, self.cases + 1)

    def total(self) -> Total:
        return Total(0, 0, "")

    def left(self) -> Iterator[Unreached]:
        yield from ()


def test_what_reaches_something_new_is_kept_and_changed(tmp_path: Path) -> None:
    hunt = Hunt(Written(tmp_path), 12, None)
    assert guided(hunt, Seed(1), [Counted(5)]) == 5
    assert hunt.ran == 12


def test_a_seed_gives_the_same_cases(tmp_path: Path) -> None:
    texts = []
    for seed in (1, 1, 2):
        written = Written(tmp_path)
        guided(Hunt(written, 6, None), Seed(seed), [Counted(3)])
        texts.append(written.texts)
    assert texts[0] == texts[1] != texts[2]


def test_every_change_begins_with_a_key() -> None:
    rng = Random(1)
    kept = [fresh(rng) for _ in range(5)]
    ways: set[int] = set()
    for _ in range(300):
        some = changed(rng, kept)
        assert some[0].name in KEYS
        assert 1 <= len(some) <= MOST
        ways.add(len(some))
    assert len(ways) > 8


def test_a_find_has_no_operation_that_it_does_not_need(tmp_path: Path) -> None:
    hunt = Hunt(three(tmp_path, device="transmit_unsigned"), 60, None)
    guided(hunt, Seed(1), [Counted(5)])
    assert hunt.found is not None
    assert hunt.text.count("transmit") + hunt.text.count("write") <= 3


def test_branches_of_the_model_are_counted(tmp_path: Path) -> None:
    counted = ModelBranches()
    before = counted.count()
    assert three(tmp_path).disagreement(CASE) is None
    once = counted.count()
    assert once > before
    total = counted.total()
    assert 0 < total.reached < total.all
    left = list(counted.left())
    assert len(left) == total.all - total.reached
    assert all(one.file.startswith("mkeyspec/device/model/") for one in left)


def test_lines_that_nothing_reaches_are_ranges() -> None:
    lines = [(3, True), (5, False), (6, False), (9, True), (12, False)]
    found = [str(one) for one in ranges("a.c", lines)]
    assert found == ["a.c:5-6: never reached", "a.c:12: never reached"]
    assert list(ranges("a.c", [(1, True)])) == []


def test_the_counters_of_a_file_are_counted() -> None:
    """As gcov-io.h of GCC 12 lays them out: lengths in bytes; below 0, so many zeros."""
    function = struct.pack("<Ii3I", 0x01000000, 12, 1, 2, 3)
    some = struct.pack("<Ii4Q", 0x01A10000, 32, 0, 7, 0, 1)
    none = struct.pack("<Ii", 0x01A10000, -24)
    assert _counted(b"adcg" + bytes(12) + function + some + function + none + function + some) == 4
    assert _counted(b"adcg" + bytes(12)) == 0


def test_a_folder_without_sources(tmp_path: Path) -> None:
    with pytest.raises(NicError):
        built(tmp_path)


def test_the_command_says_what_nothing_reaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--guided", "--device", "model", "--seed", "1", "--cases", "3"]) == 0
    *places, total, agree = capsys.readouterr().out.splitlines()
    assert places
    assert all(one.startswith("mkeyspec/device/model/") and ": never " in one for one in places)
    assert " branches of the model; " in total
    assert agree == "mkeyspec: 3 cases of seed 3.1: references and model agree"


def test_a_fault_on_the_software_nic_that_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--guided", "--device", "soft", "--fault", "transmit_unsigned"]) == 2
    assert "error[MKS0905]: --guided: the software NIC that counts has no faults" in capsys.readouterr().err


def test_without_coverage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "mkeyspec.cli.search.find_spec", lambda name, *more: None if name == "coverage" else real(name, *more)
    )
    assert main(["search", "--guided", "--cases", "1"]) == 2
    assert "error[MKS0961]: --guided needs coverage" in capsys.readouterr().err
