"""Opens the device that a session runs on, and the rig that drives it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mkeyspec.device.profile import Profile
    from mkeyspec.device.protocol import Device, Info
    from mkeyspec.run.expectation import Expectations
    from mkeyspec.run.rig import Rig

DEVICES = ("model",)
"""Names that `--device` takes."""


def unknown_device(name: str) -> str:
    """One line that says what to do."""
    near = difflib.get_close_matches(name, DEVICES, n=1)
    advice = f"did you mean {near[0]}?" if near else f"this release runs on: {', '.join(DEVICES)}"
    return f"error[MKS0901]: no device {name!r}; {advice} (--device model needs no hardware)"


def read_profile(file: str | None) -> Profile:
    """The profile in a TOML file, or the default's; raises UsageError for one that can't be used."""
    from mkeyspec.device.profile import Profile, ProfileError, load

    try:
        return load(Path(file)) if file is not None else Profile()
    except ProfileError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None


def read_expectations(files: Sequence[str], device: Info | None) -> Expectations:
    """What the files say of a device; with None they are only read. Raises UsageError."""
    from mkeyspec.device.protocol import Info
    from mkeyspec.run.expectation import ExpectationError, Expectations

    try:
        return Expectations.load([Path(name) for name in files], device or Info(""))
    except ExpectationError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None


def open_device(name: str, profile: Profile) -> Device:
    """One of DEVICES, open."""
    from mkeyspec.device.model import Model

    if name not in DEVICES:
        raise pytest.UsageError(unknown_device(name))
    return Model(profile)


def make_rig(device: Device, profile: Profile, expectations: Expectations, deadline: float) -> Rig:
    from mkeyspec.requirement import requirements
    from mkeyspec.run.rig import Rig

    def statement(identifier: str) -> str | None:
        found = requirements().get(identifier)
        return found.statement if found is not None else None

    return Rig(device, profile, expectations, deadline=deadline, statement=statement)
