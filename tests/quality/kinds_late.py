"""What is merely late, or in another order that the queues allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from mkeyspec.device.protocol import Completion
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
