"""The device of `--device`, for the tests of the kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mkeyspec.device.kit.bench import Bench
from mkeyspec.device.profile.profile import Profile, load
from mkeyspec.device.protocol import Device, PathChoice
from mkeyspec.device.select import open_choice, parse


@pytest.fixture(scope="session")
def opened(device: Device, pytestconfig: pytest.Config) -> Iterator[Bench]:
    option = pytestconfig.getoption
    chosen = option("--device-profile")

    def open_again() -> Device:
        profile = Profile() if chosen is None else load(Path(chosen))
        path = PathChoice(option("--gid-index"), option("--path-mtu"), option("--peer"))
        busy = option("--allow-busy-port")
        return open_choice(parse(option("--device")), profile, allow_busy_port=busy, path=path)

    made = Bench(device, option("--deadline"), open_again)
    try:
        yield made
    finally:
        if made.opened is not device:
            made.opened.close()


@pytest.fixture
def bench(opened: Bench) -> Iterator[Bench]:
    """As new for each test."""
    yield opened
    opened.opened.release(healthy=False)
    opened.opened.events()
