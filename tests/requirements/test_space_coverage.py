"""What the cases cover of a requirement's space: by hand-made events, and by a small suite on the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mkeyspec import cli
from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.space import Class, spaces
from mkeyspec.requirements.space_coverage import SpaceCoverage, SpaceCovered, bits
from mkeyspec.sabotage.conditions.events import measure
from mkeyspec.sabotage.suite import load
from mkeyspec.store import Store

CASE = """\
mks 1

case one_key
    verifies CRC-05
    for size in 512, 4096
    let d = crc32(ones) every size
    memory src = framed(counter(size), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(size)

case two_keys
    verifies SIG-21
    let c = crc32c(zeros) every 512
    let t = t10dif(bg=ones) every 4096
    memory src = framed(counter(512), c)
    memory other = framed(counter(4096), t)
    mkey k { block_signature }
    mkey l { block_signature }
    configure k { layout list(src); signature { mem c } }
    configure l { layout list(other); signature { mem t } }
    transmit k by send
    expect wire == counter(512)
    transmit l by send
    expect wire == counter(4096)

case wrong
    verifies DIF-06
    let d = t10dif(bg=ones) every 512
    memory src = framed(counter(512), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == flip(counter(512), 7)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "small.mks").write_text(CASE)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def event(*classes: Class) -> int:
    return sum(bits()[one] for one in classes)


def test_a_pair_is_covered_by_one_event_and_not_by_two() -> None:
    zeros, ones = ("seed", "zeros"), ("seed", "ones")
    small, large = ("block_size", "512"), ("block_size", "4160")
    coverage = SpaceCoverage()
    coverage.add(["DIF-04"], [event(zeros, small), event(ones, large)])
    found = coverage.of("DIF-04")
    assert {zeros, ones, small, large}.isdisjoint(found.missing)
    assert (zeros, small) not in found.missing_pairs
    assert (ones, large) not in found.missing_pairs
    assert (zeros, large) in found.missing_pairs
    assert (found.covered, found.covered_pairs) == (4, 2)
    assert found.classes == sum(1 for _ in spaces()["DIF-04"].singles())
    assert found.pairs == sum(1 for _ in spaces()["DIF-04"].pairs())


def test_another_entry_is_not_covered_by_it() -> None:
    coverage = SpaceCoverage()
    coverage.add(["DIF-04"], [event(("seed", "zeros"))])
    assert coverage.of("DIF-06").covered == 0


def test_everything_is_covered_where_every_pair_occurs() -> None:
    coverage = SpaceCoverage()
    coverage.add(["DIF-04"], [event(*pair) for pair in spaces()["DIF-04"].pairs()])
    found = coverage.of("DIF-04")
    assert not found.missing_pairs
    assert not found.missing


def measured(project: Path, name: str) -> SpaceCovered:
    coverage, rows = measure(load([project / "cases"], Store(project, None)), Profile(), 1)
    assert [row.outcome == "pass" for row in rows] == [True, True, True, False]
    return coverage.of(name)


def test_the_facts_of_rows_on_the_model(project: Path) -> None:
    found = measured(project, "CRC-05")
    there = set(spaces()["CRC-05"].singles()) - set(found.missing)
    assert there == {
        ("kind", "crc32"), ("seed", "ones"), ("block_size", "512"), ("block_size", "4096"), ("side", "mem"),
        ("domains", "mem"), ("operation", "send"), ("role", "local"), ("blocks", "1"), ("block", "0"), ("message", "0"),
        ("signature_before", "none"),
    }  # fmt: skip


def test_two_keys_of_one_row_are_two_events(project: Path) -> None:
    found = measured(project, "SIG-21")
    kinds, seeds = ("crc32c", "t10dif_crc"), ("zeros", "ones")
    pairs = {(kind, seed) for kind in kinds for seed in seeds} - {
        (one[1], other[1]) for one, other in found.missing_pairs if (one[0], other[0]) == ("kind", "seed")
    }
    assert pairs == {("crc32c", "zeros"), ("t10dif_crc", "ones")}


def test_a_row_that_fails_covers_nothing(project: Path) -> None:
    assert measured(project, "DIF-06").covered == 0


# The command -----------------------------------------------------------------------------------


def test_command(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["requirements", "coverage", "--space", "--only", "CRC-05", "--pairs"]) == 1
    said = capfd.readouterr()
    assert "fails on the model, and covers nothing: cases/small.mks::wrong" in said.err
    lines = said.out.splitlines()
    assert lines[0].startswith("CRC-05   12 of ")
    assert "no row has kind crc32c, crc64_xp10; seed zeros;" in lines[0]
    assert lines[-1].startswith("mkeyspec: 12 of ")
    assert lines[-1].endswith("of the dimensions of 1 entries are covered; 0 entries have every class")


def test_command_as_json(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["requirements", "coverage", "--space", "--only", "CRC-05", "--format", "json"]) == 1
    (found,) = json.loads(capfd.readouterr().out)
    assert found["id"] == "CRC-05"
    assert found["classes"] - len(found["missing"]) == 12
    assert "seed=zeros" in found["missing"]
    assert ["kind=crc32c", "seed=zeros"] in found["missing_pairs"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--space", "--only", "XYZ-01"], "XYZ-01 is not an entry of the ledger that can be tested"),
        (["--space", "--only", "MKY-07"], "MKY-07 is not an entry of the ledger that can be tested"),
        (["--space", "-n", "0"], "-n 0: at least one process"),
        (["--space", "--format", "markdown"], "--space --format markdown"),
        (["--pairs"], "--pairs: say --space or --life, too"),
        (["--only", "SIG-01"], "--only: say --space, too"),
        (["--life", "--only", "SIG-01"], "--only: say --space, too"),
        (["--life", "--format", "markdown"], "--life --format markdown"),
    ],
)
def test_wrong_options(project: Path, capfd: pytest.CaptureFixture[str], given: list[str], said: str) -> None:
    assert cli.main(["requirements", "coverage", *given]) == 2
    assert said in capfd.readouterr().err
