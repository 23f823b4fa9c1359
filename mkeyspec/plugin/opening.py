"""Opens the device that a session runs on, and the rig that drives it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Device
    from mkeyspec.run.rig import Rig

DEVICES = ("model",)
"""Names that `--device` takes."""


def unknown_device(name: str) -> str:
    """One line that says what to do."""
    near = difflib.get_close_matches(name, DEVICES, n=1)
    advice = f"did you mean {near[0]}?" if near else f"this release runs on: {', '.join(DEVICES)}"
    return f"error[MKS0901]: no device {name!r}; {advice} (--device model needs no hardware)"


def open_device(name: str, profile: str | None) -> Device:
    """Raises UsageError for a profile that can't be used."""
    from mkeyspec.device.model import Model
    from mkeyspec.device.profile import Profile, ProfileError, load

    if name not in DEVICES:
        raise pytest.UsageError(unknown_device(name))
    try:
        return Model(load(Path(profile)) if profile else Profile())
    except ProfileError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None


def make_rig(device: Device, profile: str | None, expectations: Sequence[str], deadline: float) -> Rig:
    from mkeyspec.device.profile import Profile, load
    from mkeyspec.requirement import requirements
    from mkeyspec.run.expectation import ExpectationError, Expectations
    from mkeyspec.run.rig import Rig

    def statement(identifier: str) -> str | None:
        found = requirements().get(identifier)
        return found.statement if found is not None else None

    try:
        known = Expectations.load([Path(name) for name in expectations], device.info())
    except ExpectationError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None
    used = load(Path(profile)) if profile else Profile()
    return Rig(device, used, known, deadline=deadline, statement=statement)
