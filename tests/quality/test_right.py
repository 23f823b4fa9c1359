"""Devices that are right, and do things otherwise than the model: no row may be red for that."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from mkeyspec.device.model import Model
from mkeyspec.device.protocol import AsyncEvent, Completion, Qp, QpPair, WorkRequest
from tests.quality.subject import PROFILE, Bench, rows


class Lazy(Model):
    """What is posted is carried out later: one request of each queue whenever somebody polls or asks for events."""

    def _empty(self) -> None:
        self.late: dict[int, deque[tuple[Any, Any]]] = {}
        super()._empty()

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        take = self.execution.take
        self.execution.take = lambda queue, work: self.late.setdefault(qp.handle, deque()).append((queue, work))  # type: ignore[method-assign]
        try:
            return super().post(qp, requests, abort=abort)
        finally:
            self.execution.take = take  # type: ignore[method-assign]

    def one(self, handle: int) -> bool:
        waiting = self.late.get(handle)
        if waiting:
            self.execution.take(*waiting.popleft())
        return bool(waiting)

    def poll(self, qp: Qp) -> list[Completion]:
        found = super().poll(qp)
        for handle in list(self.late):
            self.one(handle)
        return found

    def events(self) -> list[AsyncEvent]:
        found = super().events()
        for handle in list(self.late):
            self.one(handle)
        return found

    def cancel(self, qp: Qp, wr_id: int) -> int:
        while self.one(qp.handle):
            pass
        return super().cancel(qp, wr_id)

    def reconnect(self, pair: QpPair) -> QpPair:
        for qp in (pair.owner, pair.peer):
            self.late.pop(qp.handle, None)
        return super().reconnect(pair)


class NewQps(Model):
    """A pair that is connected anew is two new QPs."""

    def reconnect(self, pair: QpPair) -> QpPair:
        attributes = self._queues[pair.owner.handle].attributes
        if attributes.type == "dci":
            return super().reconnect(pair)
        made = self._pair(attributes)
        for qp in (pair.owner, pair.peer):
            del self._queues[qp.handle]
        if pair == self.default_pair:
            self.default_pair = made
        return made


@pytest.mark.parametrize("device", [Lazy, NewQps])
def test_no_row_is_red_on_a_device_that_is_right(device: type[Model]) -> None:
    bench = Bench(lambda: device(PROFILE), 5.0)
    red = [(row.id, out.text) for row in rows(most=1) if not (out := bench.run(row)).green and out.status != "skip"]
    assert red == []
