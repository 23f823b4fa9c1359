"""Devices whose completions are too many, too few, in another order, or say something else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import monotonic

from mkeyspec.device.protocol import Completion
from tests.quality.devices import device
from tests.quality.kinds_late import Slow
from tests.quality.tap import Disturbance, Held, Tap

device("slow")(partial(Slow, 3))


class ReceiveAgain(Disturbance):
    """A receive's completion of 64 bytes comes once more, so much later, and what is after it in its queue waits."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue != "recv" or completion.byte_len != 64:
            return (Held(completion),)
        self.done = True
        return (Held(completion), Held(completion, since=monotonic() + self.seconds))


for _microseconds in (300, 3000):
    device(f"receive_again_{_microseconds}us")(partial(ReceiveAgain, _microseconds / 1e6))


class ReceivesSwapped(Disturbance):
    """The first receive of 64 bytes is told after the next receive of its queue."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Held] = []

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue == "recv" and not self.done and not self.kept and completion.byte_len == 64:
            self.kept.append(Held(completion))
            return ()
        if queue == "recv" and self.kept:
            self.done = True
            return (Held(completion), self.kept.pop())
        return (Held(completion),)


device("receives_swapped")(ReceivesSwapped)
