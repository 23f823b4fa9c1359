"""Rows on the software NIC, under the real driver: one device for all, opened again where a canary finds it sick."""

from __future__ import annotations

import contextlib

from mkeyspec.device.protocol import Device
from mkeyspec.device.select import open_choice, parse
from mkeyspec.files import resource
from mkeyspec.run import health_check
from mkeyspec.run.departures import Expectations
from tests.quality.subject import PROFILE, Bench

CANARY = 2.0
"""Longest wait for the canary transfer, in seconds."""


class Lent:
    """The one device of this process, as new as each row finds it. `opened`: how often."""

    def __init__(self, name: str) -> None:
        self.choice = parse(name)
        self.device: Device | None = None
        self.opened = 0

    def __call__(self) -> Device:
        if self.device is None:
            self.device = open_choice(self.choice, PROFILE)
            self.opened += 1
        return self.device

    def tidy(self, device: Device, clean: bool) -> None:
        """After a disturbed run: what the wrapper kept back is now passed on. A disturbance is of one run,
        so that the next one begins on a device that a canary transfer finds healthy."""
        if clean:
            return
        try:
            device.release(healthy=False)
            sick = health_check.symptom(device, CANARY)
        except Exception as error:
            sick = f"{type(error).__name__}: {error}"
        if sick:
            self.device = None
            with contextlib.suppress(Exception):
                device.close()


def soft_bench(name: str, deadline: float) -> Bench:
    """`deadline`: the longest wait for what the device owes, in seconds."""
    lent = Lent(name)
    files = list(resource.directory("expectations").glob("*.toml"))
    return Bench(lent, deadline, max(2.0, deadline), Expectations.load(files, lent().info()), lent.tidy)
