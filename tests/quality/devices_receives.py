"""Devices that take a receive late, and devices that write into a receive of a message that failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mkeyspec.device.protocol import Completion, Send, Sge, WorkRequest
from tests.quality.devices import device
from tests.quality.devices_bytes import Memories
from tests.quality.tap import Disturbance, Held, Tap

HELD = 9
"""The id of a request whose section a slow device carries out late."""


class Later(Disturbance):
    """A section with a request of id 9 is carried out after the next poll, or before the next one of its queue."""

    slow = True

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[int, Callable[[], Any]]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post" or tap.given_back:
            return go()
        for one in [one for one in self.kept if one[0] == args[0].handle]:
            self.kept.remove(one)
            one[1]()
        if any(getattr(request, "wr_id", 0) == HELD for request in args[1]):
            self.done = True
            self.kept.append((args[0].handle, go))
            return 0
        return go()

    def polled(self, tap: Tap, qp: int, found: list[Any]) -> list[Any]:
        while self.kept and not tap.given_back:
            self.kept.pop(0)[1]()
        return found


device("carries_out_id_9_later")(Later)


class LandsInTheFirstReceive(Disturbance):
    """What a message of 64 bytes that fails has brought is in the first receive; `length`: so many bytes of it."""

    def __init__(self, length: int = 64) -> None:
        super().__init__()
        self.length = length
        self.memories = Memories()
        self.receives: list[Sequence[Sge]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post_recv":
            self.receives.append(args[2])
        posted: Sequence[WorkRequest] = args[1] if name == "post" else ()
        self.memories.learn(posted)
        found = go()
        messages = [one for one in posted if isinstance(one, Send) and one.sges and not tap.aborting and not found]
        if messages and not self.done and not tap.given_back:
            into = [self.receives[0][0]] if self.length < 64 else self.receives[0]
            self.done |= self.memories.move(tap, messages[0].sges, into)
        return found


device("lands_in_the_first_receive")(LandsInTheFirstReceive)
device("lands_a_part_in_the_first_receive")(partial(LandsInTheFirstReceive, 32))


class FailsItsMessage(Disturbance):
    """The first message of the owner fails at both ends, and has brought its bytes."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if place or tap.given_back:
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, status="rem_access_err" if queue == "send" else "loc_access_err")),)


device("fails_its_message")(FailsItsMessage)
