"""The command that runs one row again, as it was run."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from mkeyspec.plugin.settings_defaults import deadline_of

if TYPE_CHECKING:
    import pytest

_OPTIONS: tuple[tuple[str, str, object], ...] = (
    ("--device", "--device", "model"),
    ("--device-profile", "--device-profile", None),
    ("--fault", "--fault", None),
    ("--expectations", "--expectations", []),
    ("--waivers", "--waivers", []),
    ("--require", "--require", []),
    ("--deadline", "--deadline", None),
    ("--allow-busy-port", "--allow-busy-port", False),
    ("--gid-index", "--gid-index", None),
    ("--path-mtu", "--path-mtu", None),
    ("--peer", "--peer", None),
    ("--vary", "--vary", None),
)
"""Of pytest, of `mkeyspec run`, and what it is if it is not given."""
_BUNDLE = "bundle:"


def command_of(config: pytest.Config, id: str) -> str:
    """`mkeyspec run 'cases/crc.mks::a[n=1]' --device soft`: options that change what a row means are in it."""
    words = ["mkeyspec", "run", id]
    device = config.getoption("--device")
    if device.startswith(_BUNDLE):
        words = ["mkeyspec", "judge", os.path.relpath(device.removeprefix(_BUNDLE)), id]
    for option, name, usual in _OPTIONS:
        value = config.getoption(option)
        usual = deadline_of(device) if option == "--deadline" else usual
        if value == usual or (option == "--device" and words[1] == "judge"):
            continue
        for one in value if isinstance(value, list) else [value]:
            words += [name] if one is True else [name, f"{one:g}" if isinstance(one, float) else str(one)]
    if config.getoption("--case-profile") == "deep":  # it has rows that the others don't have
        words += ["--profile", "deep"]
    return shlex.join(words)
