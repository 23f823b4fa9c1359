"""Conditional faults of the software NIC: its code knows the dimensions; a fault acts where its condition holds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mkeyspec.device.soft import softnic
from mkeyspec.requirements.space import dimensions
from mkeyspec.sabotage.catalogue import of_device
from mkeyspec.sabotage.conditions import sample, soft
from mkeyspec.sabotage.conditions.parts import LEFT_OUT
from tests.sabotage import conditional

ROOT = Path(__file__).parents[2]
PAIRS = conditional.pairs()
NEVER = "size>=1000000000"


def _absent(reason: str) -> NoReturn:
    if os.environ.get("MKEYSPEC_REQUIRE_SOFT") == "1":
        pytest.fail(f"MKEYSPEC_REQUIRE_SOFT=1, and {reason}")
    pytest.skip(reason)


def _known() -> dict[str, set[str] | None]:
    """The dimensions of facts.c: their values, None for numbers."""
    text = (ROOT / "softnic" / "faults" / "facts.c").read_text(encoding="utf-8")
    names = dict(re.findall(r'#define (\w+) "(.*)"', text))
    table = text[text.index("} dimensions[] = {") :]
    found: dict[str, set[str] | None] = {}
    for name, values in re.findall(r'\{"(\w+)",\s+(NULL|[A-Z_]+|(?:"[^"]*"\s*)+),\s+\w+\}', table):
        words = names.get(values, "".join(re.findall(r'"([^"]*)"', values)))
        found[name] = None if values == "NULL" else set(words.split())
    return found


def test_the_nic_knows_the_dimensions_or_it_is_said_why_not() -> None:
    known = _known()
    assert set(known) | set(soft.UNKNOWN) == set(dimensions())
    assert not set(known) & set(soft.UNKNOWN)
    for name, values in known.items():
        assert values == (set(dimensions()[name].values) or None), name


def test_each_dimension_has_a_pair_of_rows() -> None:
    assert set(PAIRS) == set(_known())
    for name, (fault, _, _) in PAIRS.items():
        assert conditional.fault(fault).condition.dimension == name


def test_the_catalogue_is_of_the_nic() -> None:
    assert len(soft.faults()) > 2000
    for key, one in soft.faults().items():
        assert key == one.id
        assert one.base.name in of_device("soft")
        assert one.base.name not in LEFT_OUT
        assert one.condition.dimension not in soft.UNKNOWN


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if softnic.library(faults=True) is None:
        _absent(softnic.missing(faults=True) or "no library")
    done = subprocess.run(
        [sys.executable, "-m", "tests.sabotage.conditional", str(tmp_path_factory.mktemp("generated"))],
        cwd=ROOT, env={**os.environ, "MKEYSPEC_SOFTNIC_FAULT": ""}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if done.returncode and "Unavailable" in done.stderr:
        _absent(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def test_a_campaign(found: dict[str, Any]) -> None:
    """`found`: the software NIC is here."""
    given = ["cases/examples/signature.mks", "--conditions", "--device", "soft", "--sample", "6", "--seed", "5"]
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", "sabotage", *given, "-n", "2", "--format", "json"],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    said = json.loads(done.stdout)
    killed, survivors = said["killed_by"], {one["id"]: one["rows"] for one in said["survivors"]}
    assert (done.returncode, said["device"], said["catalogue"]) == (1, "soft", len(soft.faults()))
    assert said["failing"] == 0
    assert len(killed) == said["killed"] > 0
    assert killed.keys() | survivors.keys() == set(sample.drawn(soft.faults(), 6, 5))
    assert all(how.startswith("MKS2") for _, how in killed.values())
    assert said["unreached"] == sum(not rows for rows in survivors.values()) > 0


@pytest.mark.parametrize(
    ("device", "fault", "code", "said"),
    [
        ("model", "crc_seed_inverted@block_size=4160", 1, "kinds[d=large]"),
        ("soft", "crc_seed_inverted@block_size=4160", 1, "kinds[d=large]"),
        ("soft", "crc_seed_inverted@wrs>=9", 2, "error[MKS0907]: --fault crc_seed_inverted@wrs>=9: the software NIC"),
    ],
)
def test_the_failures_of_a_conditional_fault(
    found: dict[str, Any], tmp_path: Path, device: str, fault: str, code: int, said: str
) -> None:
    given = [str(conditional.CASES), "-k", "kinds", "--device", device, "--fault", fault, "--generated", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", "run", *given, "--junit", str(tmp_path / "junit.xml")],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize("name", list(PAIRS))
def test_a_fault_acts_where_its_condition_holds(found: dict[str, Any], name: str) -> None:
    fault, kills, spares = PAIRS[name]
    assert found["faults"][fault]["unopened"] == ""
    assert list(found["faults"][fault]["kills"]) == [kills], spares
    assert all(how.startswith("MKS2") for how in found["faults"][fault]["kills"].values()), "a fault is no crash"


@pytest.mark.parametrize("name", list(PAIRS))
def test_the_observed_nic_says_which_rows_come_to_it(found: dict[str, Any], name: str) -> None:
    fault, kills, spares = PAIRS[name]
    assert kills in found["reached"][fault]
    assert spares not in found["reached"][fault]


def test_observing_changes_nothing(found: dict[str, Any]) -> None:
    assert found["failing"] == {}


def test_a_fault_whose_condition_never_holds_is_none(found: dict[str, Any]) -> None:
    some = {fault: one for fault, one in found["faults"].items() if fault.endswith(NEVER)}
    assert len(some) > 5
    assert all(one == {"unopened": "", "kills": {}} for one in some.values()), some
