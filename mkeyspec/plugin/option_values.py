"""Reads the values of options; a value that can't be used ends the session with one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mkeyspec.compiler.warning_levels import Levels
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.device.protocol import Info
    from mkeyspec.device.select import DeviceChoice
    from mkeyspec.run.departures import Expectations

SELECTED: pytest.StashKey[frozenset[str]] = pytest.StashKey()
"""In the config's stash: the items of `--case-profile`."""

SHARD: pytest.StashKey[tuple[int, int]] = pytest.StashKey()
"""In the config's stash: which part of how many `--shard` names, counted from 1."""


def read_choice(text: str) -> DeviceChoice:
    """The device that `--device` names; raises UsageError for an unknown one."""
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.select import parse

    try:
        return parse(text)
    except Unavailable as error:
        raise pytest.UsageError(str(error)) from None


def read_peer(text: str, choice: DeviceChoice) -> None:
    """Raises UsageError for a `--peer` that says nothing, or that this device can't have."""
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.select import check_peer
    from mkeyspec.device.verbs.peer.spec import parse

    try:
        check_peer(choice, parse(text))
    except Unavailable as error:
        raise pytest.UsageError(str(error)) from None


def read_profile(file: str | None) -> Profile:
    """The profile in a TOML file, or the default's; raises UsageError for one that can't be used."""
    from mkeyspec.device.profile.profile import Profile, ProfileError, load

    try:
        return load(Path(file)) if file is not None else Profile()
    except ProfileError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None


def read_required(names: Sequence[str]) -> tuple[str, ...]:
    """The capabilities that `--require` names; raises UsageError for what is none."""
    from mkeyspec.device.profile.profile import ProfileError, check_required

    try:
        check_required(names)
    except ProfileError as error:
        raise pytest.UsageError(f"error[MKS0904]: --require: {error}") from None
    return tuple(names)


def read_expectations(files: Sequence[str], choice: DeviceChoice, device: Info | None) -> Expectations:
    """The known departures of a device; with None the files are only checked. Raises UsageError. The shipped files
    describe drivers, so they are not read for the model; `files` are read too.
    """
    from mkeyspec.device.protocol import Info
    from mkeyspec.files import resource
    from mkeyspec.run.departures import ExpectationError, Expectations

    paths = [Path(name) for name in files]
    if choice.kind in ("soft", "nic"):
        paths += resource.directory("expectations").glob("*.toml")
    try:
        return Expectations.load(paths, device or Info(""))
    except ExpectationError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None


def read_fault(name: str) -> str:
    """The environment's variable that the software NIC takes a fault's name from; UsageError if no fault has it."""
    from mkeyspec.device.soft.preload import FAULT
    from mkeyspec.sabotage.catalogue import UnknownFaultError, named
    from mkeyspec.sabotage.conditions import catalogue

    try:
        if "@" in name:
            catalogue.named(name, catalogue.candidates())
        else:
            named(name)
    except UnknownFaultError as error:
        raise pytest.UsageError(f"error[MKS0907]: --fault: {error}") from None
    return FAULT


def read_selection(name: str, root: Path) -> frozenset[str] | None:
    """The items of a profile of cases, None of one of all items; raises UsageError if there is no such profile."""
    from mkeyspec.files import selection

    try:
        return None if selection.stronger(name, root) else selection.read(name, root)
    except selection.SelectionError as error:
        raise pytest.UsageError(f"error[MKS0904]: {error}") from None


def read_levels(allow: list[str], deny: list[str]) -> Levels:
    """The levels of the compiler's warnings; raises UsageError for a code that is not a warning."""
    from mkeyspec.compiler.warning_levels import Levels

    try:
        return Levels.of(allow, deny)
    except ValueError as error:
        raise pytest.UsageError(f"error[MKS0923]: {error}") from None


def read_shard(text: str) -> tuple[int, int]:
    """Which part of how many `--shard` names; raises UsageError."""
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
    part, parts = (int(found[1]), int(found[2])) if found is not None else (0, 0)
    if not 1 <= part <= parts:
        raise pytest.UsageError(f"error[MKS0905]: --shard {text}: say K/N, from 1/N to N/N, as 2/3")
    return part, parts


def read_balance(files: Sequence[str], shard: str | None) -> dict[str, float]:
    """What rows took in the runs that `--balance` names, in seconds by their ids; raises UsageError."""
    from mkeyspec.report.reader import Unusable, read

    if files and shard is None:
        raise pytest.UsageError("error[MKS0905]: --balance: it says how --shard K/N splits the rows; name a shard too")
    try:
        return {id: one.seconds for file in files for id, one in read(Path(file)).results.items()}
    except Unusable as error:
        raise pytest.UsageError(str(error)) from None
