"""Options, marks, and what is wrong with them, said in one line before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.plugin.opening import DEVICES, read_expectations, read_profile, unknown_device

MARKS = (
    "requirement(*ids): ids of the requirement ledger that a .mks case verifies; also selected by -k, as in -k CRC-02",
    "positive: a .mks case in which everything goes through",
    "negative: a .mks case that claims a rejection or a reported error",
    "isolated: a .mks case that needs objects of its own",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mkeyspec", "mkeyspec: .mks cases for mlx5 memory keys")
    group.addoption(
        "--device",
        default="model",
        metavar="NAME",
        help=f"what the cases run on: {', '.join(DEVICES)} (default: model, which needs no hardware)",
    )
    group.addoption(
        "--device-profile",
        metavar="FILE",
        help="TOML file with the implementation-defined points of the device",
    )
    group.addoption(
        "--expectations",
        action="append",
        default=[],
        metavar="FILE",
        help="TOML file of known departures of a device or driver from the pages; may be repeated",
    )
    group.addoption(
        "--deadline",
        type=float,
        default=5.0,
        metavar="S",
        help="longest wait for anything a device owes, in seconds (default: 5)",
    )
    group.addoption(
        "--generated",
        metavar="DIR",
        help="where the modules made from .mks files are kept (default: generated/ in the root directory)",
    )


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    option = config.option
    if option.device not in DEVICES:
        raise pytest.UsageError(unknown_device(option.device))
    if not option.deadline > 0:
        raise pytest.UsageError(f"error[MKS0905]: --deadline {option.deadline:g}: a wait takes more than 0 seconds")
    for name in (option.device_profile, *option.expectations):
        if name is not None and not Path(name).is_file():
            raise pytest.UsageError(f"error[MKS0903]: no such file: {name}")
    if option.device_profile is not None:
        read_profile(option.device_profile)
    if option.expectations:
        read_expectations(option.expectations, None)
