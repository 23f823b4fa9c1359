"""Options that a command line of pytest does not give, from `mkeyspec.toml`; without one, their own defaults."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.select import parse
from mkeyspec.files.project import OtherCheckout, project_of
from mkeyspec.files.settings import Settings, settings_for
from mkeyspec.files.toml_places import TomlError
from mkeyspec.plugin.option_values import read_levels
from mkeyspec.project.settings import checked_settings, levels_of

DEVICE, DEADLINE, NIC_DEADLINE = "model", 5.0, 30.0
"""A NIC gives up a lost peer when its firmware says so: it may have a least timeout, and adaptive retransmission."""


def deadline_of(device: str) -> float:
    """What `--deadline` is where it is not given, in seconds."""
    try:
        return NIC_DEADLINE if parse(device).kind == "nic" else DEADLINE
    except Unavailable:
        return DEADLINE  # whoever opens it says what is wrong


def settle_device(options: argparse.Namespace, here: Path) -> None:
    """`--device`, before pytest has read its options whole; `here` is where it was started."""
    if options.device is None:
        named = _settings(getattr(options, "file_or_dir", None) or (), here).device
        options.device = DEVICE if named is None else named


def settle(config: pytest.Config) -> None:
    """Every option. Raises UsageError if the file can't be used. A worker of pytest-xdist has the controller's, which
    may come from `addopts`: a worker reads its command line alone."""
    option = config.option
    told = getattr(config, "workerinput", {}).get(_KEY)
    if told is not None:
        vars(option).update(told["options"])
        config.args = told["args"]
    else:
        here = config.invocation_params.dir
        settings = _settings(config.args, here)
        _apply(option, settings)
        if settings.cases and config.args_source is pytest.Config.ArgsSource.INVOCATION_DIR:
            config.args = [os.path.relpath(path, here) for path in settings.cases]
    option.device = DEVICE if option.device is None else option.device
    option.deadline = deadline_of(option.device) if option.deadline is None else option.deadline


def tell(node: Any) -> None:
    """Tell a worker what was settled."""
    option = vars(node.config.option)
    node.workerinput[_KEY] = {"options": {name: option[name] for name in _SETTLED}, "args": list(node.config.args)}


_KEY = "mkeyspec settings"
_SETTLED = (
    "device", "case_profile", "device_profile", "deadline", "expectations", "waivers", "require", "allow", "deny",
    "run_name", "generated",
)  # fmt: skip


def _apply(option: argparse.Namespace, settings: Settings) -> None:
    for name, value in (
        ("device", settings.device),
        ("case_profile", settings.profile),
        ("device_profile", None if settings.device_profile is None else os.path.relpath(settings.device_profile)),
        ("deadline", settings.deadline),
        ("generated", None if settings.generated is None else os.path.relpath(settings.generated)),
    ):
        if getattr(option, name) is None:
            setattr(option, name, value)
    if not option.expectations:
        option.expectations = [os.path.relpath(path) for path in settings.expectations]
    if not option.waivers:
        option.waivers = [os.path.relpath(path) for path in settings.waivers]
    if not option.require:
        option.require = list(settings.require)
    if settings.allow or settings.deny:
        levels = levels_of(settings, read_levels(option.allow, option.deny))
        option.allow, option.deny = sorted(levels.allow), sorted(levels.deny)


def settings_folder(config: pytest.Config) -> Path:
    """The folder that the settings of a session are found from."""
    here = config.invocation_params.dir
    return project_of([here / path for path in config.args]).settings


def reports_folder(config: pytest.Config) -> Path:
    """Where reports go by default."""
    return settings_for(settings_folder(config)).reports or config.rootpath / "reports"


def _settings(paths: Sequence[str], here: Path) -> Settings:
    try:
        return checked_settings(project_of([here / path for path in paths]).settings)
    except (TomlError, OtherCheckout) as error:
        raise pytest.UsageError(str(error)) from None
