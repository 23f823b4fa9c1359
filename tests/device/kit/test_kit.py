"""The conformance kit: right devices pass it, and each device that is wrong in one way is found by the right test."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.outcomes import Failed, Skipped

from mkeyspec.abi.constants import CAPABILITIES
from mkeyspec.device.kit import bench, test_offers
from mkeyspec.device.kit.bench import Bench
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.late import Late
from mkeyspec.device.outside import CALLS, OPTIONAL
from mkeyspec.device.protocol import Device
from tests.device.kit import broken
from tests.device.verbs import soft
from tests.plugin.project import Project
from tests.shipped import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODULES = sorted(path.stem for path in (ROOT / "mkeyspec/device/kit").glob("test_*.py"))
BROKEN: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests/device/kit/broken.toml").read_text("utf-8"))


def of_the_kit() -> Iterator[tuple[str, Callable[[Bench], None]]]:
    """Of the kit: each name, and the test with the values of its marks."""
    for module in MODULES:
        loaded = importlib.import_module(f"mkeyspec.device.kit.{module}")
        for name, function in vars(loaded).items():
            if name.startswith("test_"):
                for values in itertools.product(*map(_values, getattr(function, "pytestmark", ()))):
                    yield name, partial(function, **{key: value for one in values for key, value in one.items()})


def _values(mark: pytest.Mark) -> list[dict[str, Any]]:
    names = [mark.args[0]] if isinstance(mark.args[0], str) else list(mark.args[0])
    return [dict(zip(names, one if len(names) > 1 else [one], strict=True)) for one in mark.args[1]]


def found(make: Callable[[], Device]) -> dict[str, str]:
    """The tests that fail on a device, each with what it says first."""
    said: dict[str, str] = {}
    tested = Bench(make(), 0.05, make)
    for name, test in of_the_kit():
        try:
            test(tested)
        except Skipped:
            pass
        except Failed as failed:
            said.setdefault(name, str(failed))
        tested.opened.release(healthy=False)
        tested.opened.events()
    return said


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model does its work in its calls: nobody needs to wait for it."""
    monkeypatch.setattr(bench, "sleep", lambda seconds: None)
    monkeypatch.setattr(bench, "monotonic", broken.CLOCK)


@pytest.mark.parametrize("make", [Model, Late])
def test_a_right_device_passes(make: Callable[[], Device]) -> None:
    assert found(make) == {}


@lru_cache
def said_of(name: str) -> dict[str, str]:
    return found(getattr(broken, name))


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_device_is_found(name: str) -> None:
    said = said_of(name)
    by, more = {*BROKEN[name]["by"]} - {"…"}, "…" in BROKEN[name]["by"]
    assert by <= said.keys() if more else by == said.keys()
    assert any(BROKEN[name]["says"] in said[test] for test in by), said
    assert all(text.startswith("error[MKS0945]: ") and "\n    protocol  " in text for text in said.values())


def test_each_wrong_device_is_listed() -> None:
    assert set(BROKEN) == {
        name
        for name, one in vars(broken).items()
        if isinstance(one, type) and issubclass(one, Model) and one is not Model
    }


def test_each_test_of_the_kit_can_fail() -> None:
    """Each is what finds one of the wrong devices."""
    assert {name for name, _ in of_the_kit()} == {test for name in BROKEN for test in said_of(name)}


def test_each_call_and_each_capability_is_tried() -> None:
    assert set(bench._ANSWERS) == {*CALLS, *OPTIONAL}
    assert test_offers.PROBES.keys() | test_offers.ONLY_BY_CASES.keys() == CAPABILITIES
    assert not test_offers.PROBES.keys() & test_offers.ONLY_BY_CASES.keys()


KIT = ("--pyargs", "mkeyspec.device.kit")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_the_command(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = Project(tmp_path).pytest(*KIT, "--device", "model", *workers)
    assert done.code == 0, done.out
    assert done.counts["passed"] > 80


def test_the_command_on_the_software_nic(tmp_path: Path) -> None:
    soft.need()
    done = Project(tmp_path).pytest(*KIT, "--device", "soft")
    assert done.code == 0, done.out
    assert done.counts["passed"] > 80


def test_the_command_on_a_wrong_device(tmp_path: Path) -> None:
    """Of another package; what it raises is located in its source."""
    project = Project(tmp_path)
    project.put(
        "acme_nic.py",
        "from mkeyspec.device.model.device import Model\n"
        "class Acme(Model):\n"
        "    def dek(self, key, keytag=None):\n"
        "        raise KeyError('engine')\n"
        "def open(argument, profile):\n"
        "    return Acme(profile)\n",
    )
    project.put("acme_nic-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-nic\nVersion: 1.0\n")
    project.put("acme_nic-1.0.dist-info/entry_points.txt", "[mkeyspec.devices]\nacme = acme_nic:open\n")
    done = project.pytest(*KIT, "--device", "acme", "-k", "crypto")
    assert done.code == 1
    assert "error[MKS0945]: dek() raises KeyError: 'engine'" in done.out
    assert "raised    " in done.out
    assert "acme_nic.py:4" in done.out
    assert "Traceback" not in done.out
