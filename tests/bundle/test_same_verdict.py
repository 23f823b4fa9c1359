"""A bundle is judged as its run was: the same verdicts, codes and messages, on good devices and on faulty ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from mkeyspec.device.model.late import Late
from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.sabotage.catalogue import faults
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.sabotage.suite import Item, load, thinned
from mkeyspec.store import Store
from tests.bundle.recorded import Recording, differing, told
from tests.shipped import ROOT

NOTHING = Expectations()
FILES = (
    "configure/not_inlined", "configure/refusals", "configure/survive", "crypto/attributes", "crypto/logins",
    "examples/interleaved", "examples/list", "examples/signature", "layout/layout", "layout/limits", "mkey/destroy",
    "mkey/invalidate", "mkey/repeated", "posting/dc_requests", "posting/inline", "posting/memcpy", "posting/qp_types",
    "posting/raw", "signature/errors", "signature/escapes", "signature/messages", "signature/setter",
)  # fmt: skip
"""Of each group the files that take the least to compile."""
ROWS, TRIES = 2, 2
"""Rows of each case; and of each fault, cases that verify a requirement which it violates."""


@cache
def items(folder: Path) -> list[Item]:
    found = load([ROOT / "cases" / f"{name}.mks" for name in FILES], Store(ROOT, folder))
    kept = thinned(found, ROWS)
    return [item for number, item in enumerate(found) if number in kept]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generated")


def test_on_a_device_that_is_late(folder: Path, tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    rig = recording.rig(Late(Profile()), 1.0, NOTHING)
    run = [(item, told(rig, item)) for item in items(folder)]
    assert {one[0] for _, one in run} == {"pass"}
    assert differing(run, recording.bundle(), NOTHING) == []


def test_on_devices_with_faults(folder: Path, tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    run = []
    taken: set[str] = set()
    for fault in faults().values():
        violated = set(fault.violates)
        fitting = [item for item in items(folder) if violated & {*item.info.verifies} and item.id not in taken]
        for item in fitting[:TRIES]:
            taken.add(item.id)  # the last row of an id counts
            run.append((item, told(recording.rig(faulty_model(fault.name, Profile()), 0.02, NOTHING), item)))
    assert len([one for _, one in run if one[0] == "fail"]) > 50
    assert differing(run, recording.bundle(), NOTHING) == []
