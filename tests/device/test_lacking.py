"""Cases for devices that lack a capability (`needs not`): they run on devices without it, and fail where it is only
hidden or done wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import Execution
from mkeyspec.device.profile.profile import Profile, load
from mkeyspec.device.protocol import Capabilities, Device
from mkeyspec.plan import Lacks
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo
from mkeyspec.sabotage.model import faulty_model
from tests.shipped import ROOT

FILE = ROOT / "cases/lacking.mks"
LACKING = load(ROOT / "tests/device/lacking_model.toml")


def results(device: Device, profile: Profile = LACKING) -> dict[str, str]:
    """Of each row: "pass", "skip", or the codes of its failures."""
    suite = compile_file(Path(FILE)).suite
    assert suite is not None
    rig = Rig(device, profile, Expectations(), deadline=0.05)
    found: dict[str, str] = {}
    for case in suite.cases:
        for row in case.rows:
            name = case.name + (f"[{row.id}]" if row.id else "")
            if rig.begin(CaseInfo(name, "lacking.mks", case.verifies, row.needs, None, case.at, case.isolated)):
                found[name] = "skip"
                continue
            for step in row.steps:
                rig.step(step)
            try:
                found[name] = rig.finish().status
            except CaseFailed as failed:
                found[name] = " ".join(failure.code for failure in failed.failures)
    return found


def test_each_row_needs_the_absence_of_something() -> None:
    suite = compile_file(Path(FILE)).suite
    assert suite is not None
    assert all(any(isinstance(need, Lacks) for need in row.needs) for case in suite.cases for row in case.rows)


def test_they_pass_where_it_is_lacking_and_are_skipped_where_it_is_not() -> None:
    assert set(results(Model(LACKING)).values()) == {"pass"}
    assert set(results(Model(Profile()), Profile()).values()) == {"skip"}


class Hiding(Model):
    """Has everything, and says that it does not."""

    def capabilities(self) -> Capabilities:
        return Model(LACKING).capabilities()


def test_a_device_that_takes_what_it_says_it_lacks() -> None:
    """A signature that is not announced and right is no harm; a key or a QP that must not exist is one."""
    found = results(Hiding(Profile()))
    assert {name for name, result in found.items() if result != "pass"} == {
        "no_crypto_no_crypto_mkey", "no_pipelining_no_qp", "no_memcpy_no_qp", "no_dc_no_qp",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "cases"),
    [
        ("crc32c_polynomial", {"crc32c_is_not_made_up"}),
        ("crc64_polynomial", {"crc64_is_not_made_up"}),
        ("block_4048_is_4096", {"a_block_size_is_not_made_up[side=mem]"}),
    ],
)
def test_a_device_that_makes_a_signature_up(fault: str, cases: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes what it does not announce, and frames otherwise."""
    model = faulty_model(fault, LACKING)
    monkeypatch.setattr(Execution, "_offered", lambda self, work: True)
    assert {name for name, result in results(model).items() if result != "pass"} == cases
