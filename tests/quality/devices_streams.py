"""DCIs that are right: nothing orders the messages to two targets of one, or of two streams of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

from mkeyspec.device.protocol import DcAddress, Memory, StraySetter, WorkRequest, Write
from tests.quality.devices import device
from tests.quality.tap import Bytes, Disturbance, Tap


def _to(request: WorkRequest) -> DcAddress | None:
    return None if isinstance(request, StraySetter) else getattr(request, "dc", None)


class LateByTarget(Disturbance):
    """What a WRITE brings is there so much later, or when another request to the same target in the same stream is
    posted."""

    slow = True

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.kept: list[tuple[float, DcAddress | None, Memory, int, Bytes]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        posted: Sequence[WorkRequest] = args[1] if name == "post" and not tap.given_back else ()
        for one in [one for one in self.kept if one[0] <= monotonic() or one[1] in map(_to, posted)]:
            self.kept.remove(one)
            if not tap.given_back:
                tap.device.write(*one[2:])
        found = []
        for request in posted:
            if isinstance(request, Write) and not self.done and (length := sum(sge.length for sge in request.sges)):
                (memory,) = (one.memory for one in tap.record.regions if one.memory.rkey == request.rkey)
                place = (memory, request.remote_addr - memory.addr, length)
                found.append((request.dc, place, tap.device.read(*place).copy()))
        gave = go()
        for dc, place, old in found:
            self.done = True
            new = tap.device.read(*place).copy()
            self.kept.append((monotonic() + self.seconds, dc, place[0], place[1], new))
            tap.device.write(place[0], place[1], old)
        return gave


device("late_by_target")(partial(LateByTarget, 3e-3))


class SlowStream(Disturbance):
    """What is posted to stream 1 is carried out after the next poll."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Callable[[], Any]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post" and not tap.given_back and all(dc is not None and dc.stream == 1 for dc in map(_to, args[1])):
            self.done = True
            self.kept.append(go)
            return 0
        return go()

    def polled(self, tap: Tap, qp: int, found: list[Any]) -> list[Any]:
        while self.kept:
            self.kept.pop(0)()
        return found


device("slow_stream")(SlowStream)


class Reorders(Disturbance):
    """Of a section of several streams, the requests are carried out in this order."""

    def __init__(self, order: Callable[[Sequence[WorkRequest]], Sequence[WorkRequest]]) -> None:
        super().__init__()
        self.order = order

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post" or tap.given_back or len({to.stream for to in map(_to, args[1]) if to is not None}) < 2:
            return go()
        self.done = True
        return tap.device.post(args[0], self.order(args[1]))


def _later_first(requests: Sequence[WorkRequest]) -> Sequence[WorkRequest]:
    return sorted(requests, key=lambda one: -(to.stream or 0) if (to := _to(one)) is not None else 0)


device("later_streams_first")(partial(Reorders, _later_first))
device("second_before_the_first_of_its_stream")(partial(Reorders, lambda some: [some[1], some[0], *some[2:]]))
device("other_stream_first")(partial(Reorders, lambda some: some[::-1]))
