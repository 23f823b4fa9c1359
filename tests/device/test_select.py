"""`--device`, and the process that starts itself again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.model.late import Late
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import PathChoice, Unavailable
from mkeyspec.device.select import DeviceChoice, open_choice, parse
from mkeyspec.device.soft import personality, preload, softnic


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("model", DeviceChoice("model")),
        ("model:late", DeviceChoice("late")),
        ("soft", DeviceChoice("soft", "mlx5_0", 0)),
        ("soft:cx5", DeviceChoice("soft", "mlx5_0", 0, personality="cx5")),
        ("mlx5_0", DeviceChoice("nic", "mlx5_0")),
        ("mlx5_12:2", DeviceChoice("nic", "mlx5_12", 2)),
        ("mlx5_bond_0", DeviceChoice("nic", "mlx5_bond_0")),
        ("rocep1s0f1:1", DeviceChoice("nic", "rocep1s0f1")),
    ],
)
def test_names(text: str, choice: DeviceChoice) -> None:
    assert parse(text) == choice


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("modle", "MKS0901", "did you mean model"), ("sotf", "MKS0901", "did you mean soft"),
        ("", "MKS0901", "there are"),
        ("../../etc", "MKS0901", "there are"), ("mlx5_0:0", "MKS0901", "port"), ("mlx5_0:two", "MKS0901", "'two'"),
        ("mlx5_0:", "MKS0901", "port"), ("mlx5_0:²", "MKS0901", "port"), ("model:1", "MKS0901", "did you mean model"),
        ("soft:cx9", "MKS0911", "cx9"), ("soft:", "MKS0911", "there are"), ("soft:none.toml", "MKS0911", "none.toml"),
    ],
)  # fmt: skip
def test_no_names(text: str, code: str, words: str) -> None:
    with pytest.raises(Unavailable) as told:
        parse(text)
    assert told.value.code == code
    assert words in told.value.message
    assert "\n" not in str(told.value)


def test_the_model_needs_nothing() -> None:
    assert isinstance(open_choice(parse("model"), Profile()), Model)


def test_the_late_model_says_so() -> None:
    device = open_choice(parse("model:late"), Profile())
    assert isinstance(device, Late)
    assert device.info().device == parse("model:late").text == "model:late"


def library(*, faults: bool = False) -> Path:
    return Path("/somewhere/faults" if faults else "/somewhere", softnic.NAME)


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """A process that is not on the software NIC, and that does not really start again."""
    started: list[dict[str, str]] = []

    def restart(environment: dict[str, str]) -> None:
        started.append(environment)
        raise SystemExit(0)

    monkeypatch.setattr(preload, "loaded", lambda: None)
    monkeypatch.setattr(preload, "_restart", restart)
    monkeypatch.setattr(softnic, "library", library)
    for name in ("LD_PRELOAD", preload.FAULT, personality.VARIABLE, "MKEYSPEC_SOFTNIC_RESTARTED"):
        monkeypatch.delenv(name, raising=False)
    return started


def test_the_library_comes_first_and_once(outside: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/old/libmkeyspec_softnic.so:/lib/libasan.so /lib/other.so")
    with pytest.raises(SystemExit):
        preload.ensure("cx5", whole=True)
    assert outside[0]["LD_PRELOAD"] == "/somewhere/libmkeyspec_softnic.so:/lib/libasan.so:/lib/other.so"
    assert outside[0][personality.VARIABLE] == personality.personality("cx5").environment[personality.VARIABLE]


def test_a_process_that_has_what_is_wanted_goes_on(
    outside: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preload, "loaded", library)
    preload.ensure(None, whole=False)
    preload.ensure("connectx7", whole=False)
    monkeypatch.setenv(personality.VARIABLE, personality.personality("cx5").environment[personality.VARIABLE])
    preload.ensure("connectx5", whole=True)
    preload.ensure(None, whole=True)
    assert outside == []
    with pytest.raises(SystemExit):
        preload.ensure("cx7", whole=True)


def refused(code: str, wanted: str | None = None, *, whole: bool = True) -> str:
    with pytest.raises(Unavailable) as told:
        preload.ensure(wanted, whole=whole)
    assert told.value.code == code
    return told.value.message


def test_it_starts_anew_once(outside: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKEYSPEC_SOFTNIC_RESTARTED", str(os.getpid()))
    assert "did not preload" in refused("MKS0921")
    monkeypatch.setenv("MKEYSPEC_SOFTNIC_RESTARTED", str(os.getpid() + 1))  # a parent's: not ours
    with pytest.raises(SystemExit):
        preload.ensure(None, whole=True)


def test_a_fault_wants_the_library_of_faults(outside: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preload, "loaded", library)
    monkeypatch.setenv(preload.FAULT, "crc32_polynomial")
    with pytest.raises(SystemExit):
        preload.ensure(None, whole=True)
    assert outside[0]["LD_PRELOAD"] == str(library(faults=True))
    monkeypatch.setattr(preload, "loaded", lambda: library(faults=True))
    preload.ensure(None, whole=False)
    monkeypatch.delenv(preload.FAULT)
    preload.ensure(None, whole=False)  # without a fault it is like the other
    assert len(outside) == 1


def test_a_process_that_is_not_its_own_command(outside: list[dict[str, str]]) -> None:
    assert "mkeyspec softnic exec" in refused("MKS0921", whole=False)
    assert outside == []


def test_no_library(outside: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softnic, "library", lambda **_: None)
    monkeypatch.setattr(softnic, "missing", lambda **_: "there is no C compiler")
    assert "there is no C compiler" in refused("MKS0910")
    monkeypatch.setattr(softnic, "library", lambda **_: Path("/my files/libmkeyspec_softnic.so"))
    assert "blank" in refused("MKS0910")


def test_unknown_personality(outside: list[dict[str, str]]) -> None:
    assert "cx9" in refused("MKS0911", "cx9")


def test_a_path_is_of_devices_with_a_port() -> None:
    for device in ("model", "model:late"):
        with pytest.raises(Unavailable, match=r"MKS0905.*--path-mtu"):
            open_choice(parse(device), Profile(), path=PathChoice(mtu=256))
