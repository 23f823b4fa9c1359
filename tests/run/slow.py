"""Devices that are slow and right: what is posted to some of their queues is carried out later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp, QpPair


class Slow(Model):
    """Carries out what is posted to the queues that `late` picks `delay` seconds after it was posted, in order."""

    def __init__(self, late: Callable[[Qp], bool], delay: float = 0.02) -> None:
        self.late, self.delay = late, delay
        self.held: dict[int, deque[tuple[float, Any, Any]]] = {}
        super().__init__(Profile())

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if not self.late(qp):
            return super().post(qp, requests, abort=abort)
        take, at = self.execution.take, monotonic() + self.delay
        held = self.held.setdefault(qp.handle, deque())
        self.execution.take = lambda queue, work: held.append((at, queue, work))  # type: ignore[method-assign]
        try:
            return super().post(qp, requests, abort=abort)
        finally:
            self.execution.take = take  # type: ignore[method-assign]

    def _go_on(self) -> None:
        for held in self.held.values():
            while held and held[0][0] <= monotonic():
                _, queue, work = held.popleft()
                self.execution.take(queue, work)

    def poll(self, qp: Qp) -> Any:
        self._go_on()
        return super().poll(qp)

    def events(self) -> Any:
        self._go_on()
        return super().events()

    def read(self, *args: Any) -> Any:
        self._go_on()
        return super().read(*args)

    def mkey_check(self, mkey: Any) -> Any:
        self._go_on()
        return super().mkey_check(mkey)

    def post_recv(self, *args: Any) -> int:
        self._go_on()
        return super().post_recv(*args)

    def reconnect(self, pair: QpPair) -> QpPair:
        for qp in (pair.owner, pair.peer):
            self.held.pop(qp.handle, None)
        return super().reconnect(pair)

    def release(self, *, healthy: bool) -> None:
        self.held.clear()
        super().release(healthy=healthy)
