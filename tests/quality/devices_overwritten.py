"""Devices that change a byte which a request of the case overwrites later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mkeyspec.device.protocol import Configure, Read, Send, WorkRequest, Write
from tests.quality.devices import device
from tests.quality.subject import GUARD
from tests.quality.tap import Disturbance, Tap

AT = 40
"""The byte of the case's first buffer that is changed."""


class Changes(Disturbance):
    """After the first call of this name, with a request of this type, a byte of the first buffer is another."""

    def __init__(self, name: str, type_: type[WorkRequest] | None = None) -> None:
        super().__init__()
        self.name, self.type = name, type_

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        found = go()
        if name == self.name and not self.done and not tap.given_back and (self.type is None or self._has(args[1])):
            self.done = True
            tap.flip(0, GUARD + AT)
        return found

    def _has(self, requests: Sequence[WorkRequest]) -> bool:
        return self.type is not None and any(isinstance(one, self.type) for one in requests)


for _type in (Configure, Read, Send, Write):
    device(f"changes_a_byte_at_{_type.__name__.lower()}")(partial(Changes, "post", _type))
device("changes_a_byte_at_mkey_check")(partial(Changes, "mkey_check"))


class LandsAPart(Disturbance):
    """The first 16 bytes of a WRITE of 65 are there, though it fails."""

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        found = go()
        if name == "post" and any(isinstance(one, Write) and one.sges and one.sges[0].length == 65 for one in args[1]):
            self.done = True
            tap.device.write(tap.record.regions[0].memory, GUARD, bytes([7] * 16))
        return found


device("lands_a_part")(LandsAPart)
