"""Devices that change a byte which a request of the case overwrites later, or whose WRITEs arrive late."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from mkeyspec.device.protocol import (
    CompareSwap,
    Completion,
    Configure,
    FetchAdd,
    Memcpy,
    Memory,
    RawWqe,
    Read,
    Send,
    Sge,
    WorkRequest,
    Write,
)
from mkeyspec.run.buffer import Bytes
from tests.quality.devices import device
from tests.quality.devices_bytes import Memories
from tests.quality.kinds_report import GUARD_ERROR
from tests.quality.subject import GUARD
from tests.quality.tap import Disturbance, Held, Tap

AT = 40
"""The byte of the case's first buffer that is changed where nothing else is said."""


class Changes(Disturbance):
    """After the first call of this name, with a request of this type, a byte of the first buffer is another."""

    def __init__(self, name: str, type_: type[WorkRequest] | None = None, at: int = AT, after: int = 0) -> None:
        """`after`: not with the first so many such calls."""
        super().__init__()
        self.name, self.type, self.at, self.left = name, type_, at, after

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        found = go()
        if name == self.name and not self.done and not tap.given_back and (self.type is None or self._has(args[1])):
            self.left -= 1
            if self.left < 0:
                self.done = True
                tap.flip(0, GUARD + self.at)
        return found

    def _has(self, requests: Sequence[WorkRequest]) -> bool:
        return self.type is not None and any(isinstance(one, self.type) for one in requests)


for _type in (Configure, Memcpy, RawWqe, Read, Send, Write):
    device(f"changes_a_byte_at_{_type.__name__.lower()}")(partial(Changes, "post", _type))
for _at in (10, 520):
    device(f"changes_byte_{_at}_at_send")(partial(Changes, "post", Send, _at))
device("changes_a_byte_at_the_second_send")(partial(Changes, "post", Send, after=1))
device("changes_a_byte_at_the_third_send")(partial(Changes, "post", Send, after=2))
device("changes_a_byte_at_mkey_check")(partial(Changes, "mkey_check"))


class KeepsTheArray(Changes):
    """It takes the array that the host stores over a whole buffer as the buffer, as a driver registers memory."""

    def __init__(self) -> None:
        super().__init__("post", Write)
        self.arrays: list[bytes | Bytes] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        changed = self.done
        found = super().call(tap, name, number, go, args)
        if name == "write":
            self.arrays.append(args[2])
        if self.done and not changed and isinstance(self.arrays[0], np.ndarray) and self.arrays[0].flags.writeable:
            self.arrays[0][GUARD + AT] = tap.device.read(tap.record.regions[0].memory, GUARD + AT, 1)[0]
        return found


device("keeps_the_array")(KeepsTheArray)


class LandsAPart(Disturbance):
    """The first 16 bytes of a WRITE of 65 are there, though it fails."""

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        found = go()
        if name == "post" and any(isinstance(one, Write) and one.sges and one.sges[0].length == 65 for one in args[1]):
            self.done = True
            tap.device.write(tap.record.regions[0].memory, GUARD, bytes([7] * 16))
        return found


device("lands_a_part")(LandsAPart)


class LateReads(Disturbance):
    """A READ takes its bytes, brings them, and is told 20 ms after it was posted; what comes after it is told after
    it."""

    slow = True
    type: type[Read] | type[Write] = Read

    def __init__(self) -> None:
        super().__init__()
        self.memories = Memories()
        self.kept: list[tuple[float, Sequence[Sge], Sequence[Sge]]] = []
        self.until = 0.0

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if not tap.given_back:
            for ready in [kept for kept in self.kept if kept[0] <= monotonic()]:
                self.kept.remove(ready)
                self.memories.move(tap, *ready[1:])
        if name != "post" or tap.given_back:
            return go()
        self.memories.learn(args[1])
        chosen = [one for one in args[1] if isinstance(one, self.type) and one.sges]
        ways: list[tuple[Sequence[Sge], Sequence[Sge]]] = []
        for one in chosen:
            far = (Sge(one.remote_addr, sum(sge.length for sge in one.sges), one.rkey),)
            ways.append((far, one.sges) if isinstance(one, Read) else (one.sges, far))
        pieces = [piece for _, into in ways for piece in self.memories.pieces(tap, into)]
        before = [tap.device.read(*piece).copy() for piece in pieces]
        self.until = monotonic() + 2e-2 if ways else self.until
        self.done = self.done or bool(ways)
        self.kept += [(self.until, *way) for way in ways]
        found = go()
        for (memory, start, _), old in zip(pieces, before, strict=True):
            tap.device.write(memory, start, old)
        return found

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        return (Held(completion, since=self.until) if queue == "send" else Held(completion),)


class LateTakes(LateReads):
    """A WRITE takes its bytes, brings them, and is told 20 ms after it was posted."""

    type = Write


device("late_reads")(LateReads)
device("late_takes")(LateTakes)


class LateWrites(Disturbance):
    """What a WRITE brings to plain memory is there 50 ms after its completion, or when its queue goes on."""

    slow = True
    seconds = 5e-2
    waits_for: tuple[type, ...] = (object,)
    """Requests of the same connection that are carried out after the bytes have arrived."""

    def __init__(self, polls: int = 1 << 30) -> None:
        """`polls`: or after so many polls for each WRITE."""
        super().__init__()
        self.kept: list[tuple[float, int, Memory, int, Bytes]] = []
        self.polls = self.left = polls

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        qp = args[0].handle if name == "post" and any(isinstance(one, self.waits_for) for one in args[1]) else 0
        if name == "reconnect":  # what is under way is in no order with the new connection
            self.kept = [(at, -1, memory, start, data) for at, _, memory, start, data in self.kept]
        self.left -= name == "poll"
        for one in [one for one in self.kept if one[0] <= monotonic() or one[1] == qp or self.left <= 0]:
            self.kept.remove(one)
            if not tap.given_back:
                tap.device.write(*one[2:])
            if self.left <= 0:
                self.left = self.polls
                break
        targets = list(self._targets(tap, args[1])) if name == "post" and not tap.given_back else []
        before = [tap.device.read(*target).copy() for target in targets]
        found = go()
        self.left = self.polls if targets and not self.kept else self.left
        for (memory, start, length), old in zip(targets, before, strict=True):
            self.done = True
            new = tap.device.read(memory, start, length).copy()
            self.kept.append((monotonic() + self.seconds, args[0].handle, memory, start, new))
            tap.device.write(memory, start, old)
        return found

    def _targets(self, tap: Tap, requests: Sequence[WorkRequest]) -> Iterator[tuple[Memory, int, int]]:
        for one in requests:
            if isinstance(one, Write) and one.imm is None:
                length = sum(sge.length for sge in one.sges)
                far = [region.memory for region in tap.record.regions if region.memory.rkey == one.rkey]
                yield from ((memory, one.remote_addr - memory.addr, length) for memory in far if length)


class LateForMessages(LateWrites):
    """What a WRITE brings is there when a later message of the same connection is, or 3 ms after its completion."""

    seconds = 3e-3
    waits_for = (Send,)


class LateByPolls(LateWrites):
    """What a WRITE brings is there when a later message of the same connection is, or after some polls for each WRITE
    before it and its own."""

    seconds = 10.0
    waits_for = (Send,)


class LateWithTheNextLook(Disturbance):
    """What the first WRITE of a section brings is there at the second look at that memory, and what the second brings
    with the next message, or 3 ms later."""

    slow = True

    def __init__(self) -> None:
        super().__init__()
        self.far: Memory | None = None
        self.shown: list[Bytes] = []
        self.since = 0.0

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post" and len(args[1]) == 2 and not tap.given_back:
            memories = [region.memory for region in tap.record.regions]
            first = args[1][0]
            (self.far,) = (memory for memory in memories if memory.rkey == first.rkey)
            (source,) = (memory for memory in memories if memory.lkey == first.sges[0].lkey)
            before = tap.device.read(self.far, 0, self.far.length).copy()
            self.shown = [before, tap.device.read(source, 0, source.length).copy()]
            self.shown[1][:GUARD], self.shown[1][-GUARD:] = before[:GUARD], before[-GUARD:]
            self.done, self.since = True, monotonic()
        if name == "read" and self.shown and args[0] == self.far and monotonic() < self.since + 3e-3:
            seen = self.shown[0] if len(self.shown) == 1 else self.shown.pop(0)
            return seen[args[1] : args[1] + args[2]].copy()
        return go()

    def polled(self, tap: Tap, qp: int, found: list[Completion]) -> list[Completion]:
        if any(completion.queue == "recv" for completion in found):
            self.shown = []
        return found


device("late_with_the_next_look")(LateWithTheNextLook)
device("late_writes")(LateWrites)
device("late_for_messages")(LateForMessages)
device("late_by_two_polls")(partial(LateByPolls, 2))


class LateMessages(LateWrites):
    """What a message brings is in memory with the next request of the same connection, though it is told before."""

    seconds = 10.0

    def __init__(self) -> None:
        super().__init__()
        self.waiting: dict[int, list[Sequence[Sge]]] = {}
        """Of each QP, the receives that were posted to it."""
        self.ends: dict[int, int] = {}
        self.memories = Memories()

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post_recv":
            self.waiting.setdefault(args[0].handle, []).append(args[2])
        if name == "post":
            self.qp = args[0].handle
        found = super().call(tap, name, number, go, args)
        if name in ("qp_pair", "reconnect"):
            self.ends |= {found.owner.handle: found.peer.handle, found.peer.handle: found.owner.handle}
        return found

    def _targets(self, tap: Tap, requests: Sequence[WorkRequest]) -> Iterator[tuple[Memory, int, int]]:
        for one in requests:
            if isinstance(one, Send) and (waiting := self.waiting.get(self.ends.get(self.qp, 0))):
                for memory, start, length in self.memories.pieces(tap, waiting.pop(0)):
                    yield from ((memory, start, length),) * bool(length)


device("late_messages")(LateMessages)


class FailedAtomicsChangeNothing(Disturbance):
    """An atomic that fails changes nothing at the other end: the local key was looked at before."""

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        atomics = [one for one in args[1] if isinstance(one, (FetchAdd, CompareSwap))] if name == "post" else []
        far = [(region.memory, one) for one in atomics for region in tap.record.regions]
        places = [
            (memory, one.remote_addr - memory.addr, 8)
            for memory, one in far
            if memory.rkey == one.rkey and not tap.given_back
        ]
        before = [tap.device.read(*place).copy() for place in places]
        gave = go()
        for (memory, start, _), old in zip(places, before, strict=True):
            self.done = True
            tap.device.write(memory, start, old)
        return gave


device("atomics_that_fail_change_nothing")(FailedAtomicsChangeNothing)


class FindsAnError(Disturbance):
    """The first section of several requests: the error that the last one would find is reported once."""

    def __init__(self) -> None:
        super().__init__()
        self.posted = False

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        result = go()
        self.posted = self.posted or (name == "post" and len(args[1]) > 1)
        if name == "mkey_check" and self.posted and not self.done and not tap.given_back:
            self.done = True
            return GUARD_ERROR
        return result


device("finds_an_error_of_flushed")(FindsAnError)
