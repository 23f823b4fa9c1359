"""Rows on the software NIC, under the real driver: one device for all, opened again where it can't be cleaned."""

from __future__ import annotations

import contextlib

from mkeyspec import resource
from mkeyspec.device.choice import open_choice, parse
from mkeyspec.device.protocol import Device
from mkeyspec.run.expectation import Expectations
from tests.quality.subject import PROFILE, Bench


class Lent:
    """The one device of this process, as new as each row finds it."""

    def __init__(self, name: str) -> None:
        self.choice = parse(name)
        self.device: Device | None = None

    def __call__(self) -> Device:
        if self.device is None:
            self.device = open_choice(self.choice, PROFILE)
        return self.device

    def tidy(self, device: Device, clean: bool) -> None:
        """Behind a disturbed run: what the wrapper kept from the device, it is told now."""
        if clean:
            return
        try:
            device.release(healthy=False)
        except Exception:
            self.device = None
            with contextlib.suppress(Exception):
                device.close()


def soft_bench(name: str, deadline: float) -> Bench:
    """`deadline`: the longest wait for what the device owes, in seconds."""
    lent = Lent(name)
    files = list(resource.directory("expectations").glob("*.toml"))
    return Bench(lent, deadline, max(2.0, deadline), Expectations.load(files, lent().info()), lent.tidy)
