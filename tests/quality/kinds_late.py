"""What is merely late, or in another order that the queues allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from mkeyspec.device.protocol import Completion, Configure, Memory, RawWqe, Write
from tests.quality.kind import Place, places
from tests.quality.kinds_completion import after, each
from tests.quality.subject import Subject
from tests.quality.tap import Disturbance, Held, Tap


def held(polls: int, tap: Tap, completion: Completion) -> Sequence[Held]:
    return (Held(completion, polls),)


for _polls in (1, 3, 40):
    places(f"late_{_polls}")(each(f"comes {_polls} polls later", partial(held, _polls)))


places("late_20ms")(each("comes 20 ms later", partial(after, 0.02, False)))


class Slow(Disturbance):
    """Completions take their time: all of them, or those of some queues."""

    def __init__(self, polls: int, which: Callable[[Tap, int, str], bool] = lambda tap, qp, queue: True) -> None:
        super().__init__()
        self.polls, self.which = polls, which

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        late = self.which(tap, qp, queue)
        self.done |= late
        return (Held(completion, self.polls if late else 0),)


def whole(what: str, make: Callable[[], Disturbance]) -> Any:
    def found(subject: Subject) -> Iterator[Place]:
        if subject.record.seen:
            yield Place(0, what, make)

    return found


places("slow_device")(whole("every completion comes 3 polls later", lambda: Slow(3)))
places("slow_owner")(whole("the owner's come 5 polls later", lambda: Slow(5, lambda t, q, _: t.qps[q].side == "owner")))
places("slow_peer")(whole("the peer's come 5 polls later", lambda: Slow(5, lambda t, q, _: t.qps[q].side == "peer")))
places("slow_receives")(whole("receives come 5 polls later", lambda: Slow(5, lambda t, q, queue: queue == "recv")))
places("slow_sends")(whole("sends come 5 polls later", lambda: Slow(5, lambda t, q, queue: queue == "send")))


class OneAtATime(Disturbance):
    """A poll tells one completion, and every other none."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: dict[int, list[Completion]] = {}
        self.turns: dict[int, int] = {}

    def polled(self, tap: Tap, qp: int, found: list[Completion]) -> list[Completion]:
        waiting = self.waiting.setdefault(qp, [])
        waiting += found
        self.done |= bool(found)
        self.turns[qp] = self.turns.get(qp, 0) + 1
        return [waiting.pop(0)] if waiting and self.turns[qp] % 2 else []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "reconnect":
            for qp in (args[0].owner, args[0].peer):
                self.waiting.pop(tap.numbers[qp.handle], None)
        return go()


class ReceivesFirst(Slow):
    """Of one poll, the receive queue's completions come before the send queue's; both come 3 polls late."""

    def __init__(self) -> None:
        super().__init__(3)

    def polled(self, tap: Tap, qp: int, found: list[Completion]) -> list[Completion]:
        return sorted(found, key=lambda one: one.queue == "send")


places("one_at_a_time")(whole("a poll tells one, and every other none", OneAtATime))


places("receives_first")(whole("receives are reported before sends", ReceivesFirst))


# Bytes ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Hidden:
    """Bytes of a region that a WRITE has changed and the host does not see yet: what it sees at `at`, what arrives."""

    memory: Memory
    at: npt.NDArray[np.intp]
    old: npt.NDArray[np.uint8]
    overwritten: npt.NDArray[np.intp]
    new: npt.NDArray[np.uint8]


def silent(request: object) -> bool:
    """Whether it may put bytes into memory of the other end and no message there. What a raw one does is in its
    bytes."""
    return isinstance(request, RawWqe) or (isinstance(request, Write) and request.imm is None)


class LateBytes(Disturbance):
    """What RDMA WRITEs bring is in memory `seconds` later, or when a message is received if that comes before. The
    device itself has the bytes at once: what it reads through the same queue is ordered."""

    def __init__(self, which: Callable[[str], bool], seconds: float = 0.003) -> None:
        super().__init__()
        self.which, self.seconds = which, seconds
        self.hidden: list[Hidden] = []
        self.since = 0.0
        self.gone = 0
        """How many regions of the record were there at the last release."""

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if self.hidden and (name in ("release", "reconnect") or monotonic() - self.since > self.seconds):
            self.land(tap)
        if name == "release":
            self.gone = len(tap.record.regions)
        if name == "post":
            return self.post(tap, go, *args)
        found = go()
        if name == "read":
            memory, start, _ = args
            found = self.seen(memory, start, found.copy())
        elif name == "write":
            memory, start, data = args
            for one in self.hidden:
                if one.memory == memory:
                    over = (one.at >= start) & (one.at < start + len(data))
                    one.overwritten = np.append(one.overwritten, one.at[over])
                    one.at, one.old = one.at[~over], one.old[~over]
        return found

    def post(self, tap: Tap, go: Callable[[], Any], qp: Any, requests: Sequence[Any]) -> Any:
        of = tap.record.types[tap.numbers[qp.handle]].type
        late = self.which(of) and any(silent(one) for one in requests)
        if not late or not all(silent(one) or isinstance(one, Configure) for one in requests):
            return go()
        far = [region.memory for region in tap.record.regions[self.gone :] if region.memory.side != qp.side]
        before = [tap.device.read(memory, 0, memory.length).copy() for memory in far]
        found = go()
        self.since = monotonic()
        for memory, was in zip(far, before, strict=True):
            now = tap.device.read(memory, 0, memory.length)
            at = np.flatnonzero(now != was)
            if len(at):
                self.done = True
                self.hidden.append(Hidden(memory, at, was[at], at[:0], now.copy()))
        return found

    def polled(self, tap: Tap, qp: int, found: list[Completion]) -> list[Completion]:
        if any(one.queue == "recv" for one in found):
            self.land(tap)
        return found

    def seen(self, memory: Memory, start: int, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        for one in reversed(self.hidden):
            if one.memory == memory:
                inside = (one.at >= start) & (one.at < start + len(data))
                data[one.at[inside] - start] = one.old[inside]
        return data

    def land(self, tap: Tap) -> None:
        """They arrive, over what the host has written there since."""
        for one in self.hidden:
            for at in one.overwritten:
                tap.device.write(one.memory, int(at), bytes([one.new[at]]))
        self.hidden.clear()


def late_bytes(what: str, which: Callable[[str], bool]) -> Any:
    def found(subject: Subject) -> Iterator[Place]:
        for call in subject.record.named("post"):
            qp, requests = call.args
            of = subject.record.types[subject.record.numbers[qp.handle]].type
            if which(of) and any(silent(one) for one in requests):
                yield Place(0, what, partial(LateBytes, which))
                return

    return found


places("uc_bytes_late")(late_bytes("what a WRITE on UC brings is seen later", lambda of: of == "uc"))
places("rc_bytes_with_message")(late_bytes("what a WRITE brings is seen with the next message", lambda of: of != "uc"))
