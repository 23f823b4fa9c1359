"""`--wait-for-device`: waits for a device that another run has, outside of the watchdog's deadline; and what is told of
the locks that were taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Device

IN_USE = "MKS0916"
_TURN = 0.25
"""Seconds between two tries."""


def when_free(config: pytest.Config, opening: Callable[[], Device]) -> Device:
    """What `opening` gives, tried again while another run has the device. Raises Unavailable."""
    from mkeyspec.device.protocol import Unavailable

    end = time.monotonic() + (config.getoption("--wait-for-device") or 0.0)
    while True:
        try:
            return opening()
        except Unavailable as error:
            if error.code != IN_USE or time.monotonic() >= end:
                raise
        time.sleep(_TURN)


def tell(config: pytest.Config, notes: Iterable[str]) -> None:
    """Print lines between those of pytest."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    for note in notes:
        if reporter is not None:
            reporter.write_line(f"mkeyspec: {note}", yellow=True)
