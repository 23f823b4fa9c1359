"""`--wait-for-device`: a device that another run has is tried again until its time is over."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mkeyspec.device.protocol import Device, Unavailable
from mkeyspec.plugin import device_wait


class Opens:
    """Fails so many times with a code."""

    def __init__(self, times: int, code: str) -> None:
        self.times, self.code, self.tries = times, code, 0

    def __call__(self) -> Device:
        self.tries += 1
        if self.tries <= self.times:
            raise Unavailable(self.code, "no")
        return cast(Device, self)


@pytest.mark.parametrize(
    ("wait", "times", "code", "opened", "tries"),
    [
        (None, 1, "MKS0916", False, 1),
        (0.0, 1, "MKS0916", False, 1),
        (60.0, 3, "MKS0916", True, 4),
        (60.0, 1, "MKS0915", False, 1),
        (0.02, 99, "MKS0916", False, None),
    ],
)
def test_it_waits(
    monkeypatch: pytest.MonkeyPatch, wait: float | None, times: int, code: str, opened: bool, tries: int | None
) -> None:
    monkeypatch.setattr(device_wait, "_TURN", 0.005)
    config: Any = SimpleNamespace(getoption=lambda name: wait)
    opens, began = Opens(times, code), time.monotonic()
    if opened:
        assert device_wait.when_free(config, opens) is cast(Device, opens)
    else:
        with pytest.raises(Unavailable, match=code):
            device_wait.when_free(config, opens)
    assert opens.tries == tries or (tries is None and 2 <= opens.tries < 99)
    assert time.monotonic() - began < 10
