"""Devices whose completions are too many, too few, in another order, or say something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from mkeyspec.device.protocol import AsyncEvent, Completion, Qp
from tests.quality.devices import device
from tests.quality.kinds_late import Slow
from tests.quality.tap import Disturbance, Held, Tap

device("slow")(partial(Slow, 3))
device("sends_told_late")(partial(Slow, 5, lambda tap, qp, queue: queue == "send"))
device("owner_told_late")(partial(Slow, 5, lambda tap, qp, queue: tap.qps[qp].side == "owner"))


class ErrorOfItsOwn(Slow):
    """What the other end has refused is told 5 polls later, as an error of the sender's memory."""

    def __init__(self) -> None:
        super().__init__(5, lambda tap, qp, queue: queue == "send")

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue == "send" and completion.status.startswith("rem_"):
            completion = replace(completion, status="loc_prot_err")
        return super().arrive(tap, qp, queue, place, completion)


device("sends_told_late_with_an_error_of_their_own")(ErrorOfItsOwn)


class ToldLate(Disturbance):
    """Every completion is told 20 ms after it came."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        self.done = True
        return (Held(completion, since=monotonic() + 20e-3),)


device("told_20_ms_late")(ToldLate)


class ReceivesToldLate(ToldLate):
    """Every completion of a receive is told 20 ms after it came."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        late = super().arrive(tap, qp, queue, place, completion) if queue == "recv" else ()
        return late or (Held(completion),)


device("receives_told_20ms_late")(ReceivesToldLate)


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


class FirstStreamAgain(Disturbance):
    """The completion of the request 77 comes once more, 20 ms later, which is after any quiet time. What is after it in
    its stream waits for that, and other streams don't."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: dict[int, object] = {}
        self.waiting: list[Completion] = []
        self.since = 0.0

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post":
            self.streams |= {one.wr_id: one.dc.stream for one in args[1] if getattr(one, "dc", None) is not None}
        return go()

    def polled(self, tap: Tap, qp: int, found: list[Completion]) -> list[Completion]:
        told = []
        for one in found:
            if self.waiting and self.streams.get(one.wr_id) == self.streams[77] and one.queue == "send":
                self.waiting.append(one)
                continue
            told.append(one)
            if one.wr_id == 77:
                self.done, self.since = True, monotonic() + 0.02
                self.waiting.append(one)
        if self.waiting and monotonic() >= self.since and qp == tap.numbers[self.waiting[0].qp.handle]:
            told += self.waiting
            self.waiting = []
        return told


device("first_stream_again")(FirstStreamAgain)


class Lengths(Disturbance):
    """byte_len of what brings more than 512 bytes is another."""

    def __init__(self, change: Callable[[int], int]) -> None:
        super().__init__()
        self.change = change

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if completion.byte_len <= 512:
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, byte_len=self.change(completion.byte_len))),)


device("other_lengths")(partial(Lengths, lambda length: 2 * length + 100))
device("one_byte_less")(partial(Lengths, lambda length: length - 1))
device("memory_lengths")(partial(Lengths, lambda length: length + 4 * (length // 512)))


class ToldTwice(Disturbance):
    """A configuration has two completions (X-BUG-04); the second has other members."""

    def __init__(self, **members: Any) -> None:
        super().__init__()
        self.members = members

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if completion.opcode != "driver1":
            return (Held(completion),)
        self.done = True
        return (Held(completion), Held(replace(completion, **self.members)))


device("told_twice")(ToldTwice)
device("told_twice_with_imm")(partial(ToldTwice, imm=7))
device("told_twice_with_rkey")(partial(ToldTwice, invalidated_rkey=99))
device("told_twice_with_another_id")(partial(ToldTwice, wr_id=0xDEADBEEF))


class IdOfTheFirst(Disturbance):
    """The second RDMA WRITE of a queue is told with the id of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.first: int | None = None

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if completion.opcode != "rdma_write" or tap.given_back or self.done:
            return (Held(completion),)
        if self.first is None:
            self.first = completion.wr_id
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, wr_id=self.first)),)


device("id_of_the_first")(IdOfTheFirst)


class Statuses(Disturbance):
    """The requests with the ids 1 and 2 end with these statuses."""

    def __init__(self, *statuses: str) -> None:
        super().__init__()
        self.statuses = statuses

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue != "send" or completion.wr_id not in (1, 2):
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, status=self.statuses[completion.wr_id - 1])),)


device("flushed_then_fails")(partial(Statuses, "wr_flush_err", "rem_access_err"))
device("both_flushed")(partial(Statuses, "wr_flush_err", "wr_flush_err"))
device("both_fail")(partial(Statuses, "rem_access_err", "rem_access_err"))


class GoesOn(Disturbance):
    """A QP goes on after a request that has failed: what would be flushed is told as carried out."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue != "send" or completion.status != "wr_flush_err":
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, status="success", opcode="rdma_write")),)


device("goes_on_after_a_failure")(GoesOn)


class EventOfFewMembers(Disturbance):
    """An event names its QP, and says no more of it; `cancel` cancels nothing, and says so."""

    def __init__(self, cancels: bool = True) -> None:
        super().__init__()
        self.cancels = cancels

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        self.done = self.done or bool(found)
        return [replace(one, qp=replace(one.qp, max_inline_data=0)) if one.qp else one for one in found]

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        return 0 if name == "cancel" and not self.cancels else go()


device("event_of_few_members")(EventOfFewMembers)
device("event_of_few_members_and_cancels_nothing")(partial(EventOfFewMembers, cancels=False))


class DeliversWhatWaits(Disturbance):
    """The other end's receive completes with the message of a request that waits in a drained queue."""

    def __init__(self, when: str) -> None:
        super().__init__()
        self.when = when
        self.receive: tuple[Qp, int] | None = None

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        if found and self.when == "at the event":
            self.deliver(tap)
        return found

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post_recv" and self.receive is None:
            self.receive = args[0], args[1]
        if name == "cancel" and self.when == "before the cancel":
            self.deliver(tap)
        done = go()
        if name == "cancel" and self.when == "at the cancel":
            self.deliver(tap)
        return done

    def deliver(self, tap: Tap) -> None:
        if self.done or self.receive is None:
            return
        self.done = True
        qp, number = self.receive
        tap.arrived(tap.numbers[qp.handle], qp.handle, Completion(qp, "recv", number, "success", "recv", 0))


device("delivers_at_the_event")(partial(DeliversWhatWaits, "at the event"))
device("delivers_before_the_cancel")(partial(DeliversWhatWaits, "before the cancel"))
device("delivers_at_the_cancel")(partial(DeliversWhatWaits, "at the cancel"))


class FlushesNoReceives(Disturbance):
    """Receives that wait when their QP fails have no completion."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue != "recv" or completion.status != "wr_flush_err":
            return (Held(completion),)
        self.done = True
        return ()


device("flushes_no_receives")(FlushesNoReceives)


class Swapped(Disturbance):
    """The completion with the first id is told after that with the second, which is later in its queue."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.ids = first, second
        self.kept: list[Held] = []

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if completion.wr_id == self.ids[0]:
            self.kept.append(Held(completion))
            return ()
        if completion.wr_id == self.ids[1] and self.kept:
            self.done = True
            return (Held(completion), self.kept.pop())
        return (Held(completion),)


device("flush_before_the_error")(partial(Swapped, 4, 5))
device("flush_before_a_flush")(partial(Swapped, 5, 6))
device("later_receive_first")(partial(Swapped, 8, 9))


class FlushedAgain(Disturbance):
    """When a request fails, the configuration 41, which succeeded before, is flushed as well: at once, or when its
    queue fails again after a reset."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: Completion | None = None

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if completion.wr_id == 41 and completion.status == "success":
            self.kept = completion
        elif self.kept is not None and queue == "send" and completion.status not in ("success", "wr_flush_err"):
            again = replace(self.kept, status="wr_flush_err", opcode="")
            self.done, self.kept = True, None
            return (Held(completion), Held(again))
        return (Held(completion),)


device("configuration_flushed_again")(FlushedAgain)


class FlushedOften(Disturbance):
    """A flushed configuration has so many completions."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if completion.wr_id != 41 or completion.status != "wr_flush_err":
            return (Held(completion),)
        self.done = True
        return (Held(completion),) * self.count


for _count in (3, 4):
    device(f"configuration_flushed_{_count}_times")(partial(FlushedOften, _count))


class ReceivesNotFlushed(Disturbance):
    """A receive that no message has reached completes with a protection error, and is not flushed."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue != "recv" or completion.status != "wr_flush_err":
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, status="loc_prot_err")),)


device("receives_not_flushed")(ReceivesNotFlushed)
