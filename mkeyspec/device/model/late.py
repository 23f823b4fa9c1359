"""`--device model:late`: the model, but what is posted is carried out later, one request of each queue at a time.

A real NIC works asynchronously. A case that passes on the model only because all work is done when a post returns
fails here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import Execution
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import Work
from mkeyspec.device.model.transfer import Transfer
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import AsyncEvent, Completion, Info, Qp, QpPair


class LateExecution(Execution):
    """`waiting`: what was posted and not yet carried out, by the handle of the QP."""

    def __init__(self, profile: Profile, transfer: Transfer) -> None:
        super().__init__(profile, transfer)
        self.waiting: dict[int, deque[tuple[Queue, Work]]] = {}

    def take(self, queue: Queue, work: Work) -> None:
        self.waiting.setdefault(queue.qp.handle, deque()).append((queue, work))

    def advance(self) -> None:
        """Carry out the oldest request of each queue."""
        for handle in list(self.waiting):
            self._next(handle)

    def cancel(self, queue: Queue, wr_id: int) -> int:
        """The driver drains the QP first (mlx5dv_qp_cancel_posted_send_wrs(3))."""
        while self._next(queue.qp.handle):
            pass
        return super().cancel(queue, wr_id)

    def drop(self, handle: int) -> None:
        """The QP goes through RESET: what it was posted is gone."""
        self.waiting.pop(handle, None)

    def _next(self, handle: int) -> bool:
        waiting = self.waiting.get(handle)
        if not waiting:
            return False
        super().take(*waiting.popleft())
        return True


class Late(Model):
    """A `protocol.Device`. Each `poll` and `events` reports what is there, and then carries out work."""

    execution: LateExecution

    def __init__(self, profile: Profile | None = None) -> None:
        super().__init__(profile, replace(PARTS, execution=LateExecution))

    def _empty(self) -> None:
        self.execution.waiting.clear()
        super()._empty()

    def info(self) -> Info:
        return replace(super().info(), device="model:late")

    def poll(self, qp: Qp) -> list[Completion]:
        found = super().poll(qp)
        self.execution.advance()
        return found

    def events(self) -> list[AsyncEvent]:
        found = super().events()
        self.execution.advance()
        return found

    def reconnect(self, pair: QpPair) -> QpPair:
        for qp in (pair.owner, pair.peer):
            self.execution.drop(qp.handle)
        return super().reconnect(pair)
