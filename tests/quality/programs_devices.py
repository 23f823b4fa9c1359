"""Right devices whose schedule is drawn: what the pages leave to a device is decided by chance, anew for each seed.

Each freedom has the sentence that grants it. What a page forbids, none of them does: completions of one queue come in
their order (of a DCI, of one stream), a fenced request waits for the READs before it, and bytes are there when a later
message of the same queue is received.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import SendFlag
from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import _stream
from mkeyspec.device.model.key import Region
from mkeyspec.device.model.late import Late, LateExecution
from mkeyspec.device.model.queue import RTS, Done, Notice, Queue
from mkeyspec.device.model.section import Work
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    CompareSwap,
    Completion,
    Device,
    FetchAdd,
    Memcpy,
    Memory,
    Qp,
    QpPair,
    Read,
    Write,
)
from tests.quality.kinds_late import OneAtATime, ReceivesFirst, Slow
from tests.quality.subject import PROFILE
from tests.quality.tap import Disturbance
from tests.quality.test_right import NewQps, Partly

VISIBLE = 0.003
"""Seconds after which the bytes of a WRITE are seen at the latest: less than the quiet time of the rig (5 ms)."""

Places = npt.NDArray[np.intp]
Bytes = npt.NDArray[np.uint8]


@dataclass(slots=True)
class Postponed:
    """A READ, an atomic or a memcpy whose bytes come later, and completions that wait behind it."""

    queue: Queue
    changes: list[tuple[Region, Places, Bytes]]
    entries: list[Done | Notice]


@dataclass(slots=True)
class Unseen:
    """Bytes that a WRITE has brought and the host does not see: at `at` it sees `old`. `over`: where something else
    was stored since, which the bytes `new` of the WRITE take the place of when they arrive."""

    region: Region
    at: Places
    old: Bytes
    queue: Queue
    since: float
    new: Bytes
    over: Places = field(default_factory=lambda: np.empty(0, np.intp))


class Scheduled(LateExecution):
    """Carries requests out in an order, and at times, that `random` draws.

    - Later than they are posted: ibv_post_send(3) puts a request on a queue, and ibv_poll_cq(3) tells of its end.
    - Of a DCI with streams, the first request of any stream: requests of different streams are not ordered
      (mlx5dv_create_qp(3), dci_streams).
    - READs, atomics and memcpys bring their bytes after the requests behind them, up to one with a fence (IBTA
      volume 1, 10.8.3.3; IBV_SEND_FENCE in ibv_post_send(3)). Their queue completes in order.
    - The bytes of a WRITE without an immediate are seen some time after its completion (IBTA volume 1, transaction
      ordering), and at once by what the same queue carries out.
    """

    random: random.Random
    regions: Callable[[str], tuple[list[Region], list[Region]]]
    """The memory of this side, and that of the other."""
    read_late: float = 0.6
    write_late: float = 0.6
    """How often a READ brings its bytes later, and a WRITE's are seen later."""

    def empty(self) -> None:
        """Nothing is under way."""
        self.postponed: dict[int, list[Postponed]] = {}
        self.unseen: list[Unseen] = []

    def advance(self) -> None:
        """Some requests of some queues, often none; and bytes of some READs."""
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 5])):
            ready = [handle for handle, waiting in self.waiting.items() if waiting]
            if not ready:
                break
            self._draw(self.waiting[self.random.choice(ready)])
        for behind in self.postponed.values():
            if behind and self.random.random() < 0.4:
                self._land(behind)

    def _draw(self, waiting: deque[tuple[Queue, Work]]) -> None:
        firsts = [0]
        if waiting[0][0].attributes.streams > 1:
            streams = [_stream(work) for _, work in waiting]
            firsts = [at for at, stream in enumerate(streams) if stream not in streams[:at]]
        at = self.random.choice(firsts)
        queue, work = waiting[at]
        del waiting[at]
        self._carry_out(queue, work)

    def _next(self, handle: int) -> bool:
        waiting = self.waiting.get(handle)
        if not waiting:
            return False
        self._carry_out(*waiting.popleft())
        return True

    def cancel(self, queue: Queue, wr_id: int) -> int:
        found = super().cancel(queue, wr_id)
        self.land_all(queue)
        return found

    def drop(self, handle: int) -> None:
        super().drop(handle)
        self.postponed.pop(handle, None)

    def _carry_out(self, queue: Queue, work: Work) -> None:
        """One request: what it changes and tells, or the part of that that comes later."""
        if work.flags & SendFlag.FENCE or isinstance(work, (Read, FetchAdd, CompareSwap, Memcpy)):
            self.land_all(queue)
        here, there = self.regions(queue.side)
        were_here, were_there = ([region.data.copy() for region in part] for part in (here, there))
        told, state, broken = len(queue.entries), queue.state, len(queue.broken)
        super(LateExecution, self).take(queue, work)
        failed = queue.state != state or len(queue.broken) != broken
        if isinstance(work, Write) and work.imm is None and not failed and self.random.random() < self.write_late:
            for region, at, old in _changed(there, were_there):
                self.unseen.append(Unseen(region, at, old, queue, monotonic(), region.data.copy()))
        late = isinstance(work, (Read, FetchAdd, CompareSwap, Memcpy)) and not failed and queue.state == RTS
        late = late and self.random.random() < self.read_late
        behind = self.postponed.setdefault(queue.qp.handle, [])
        if not behind and not late:
            return
        entries = list(queue.entries)
        new = [one for one in entries[told:] if isinstance(one, Notice) or one.completion.queue == "send"]
        queue.entries.clear()
        queue.entries.extend(one for one in entries if not any(one is other for other in new))
        changes = []
        for region, at, old in _changed(here, were_here) if late else ():
            changes.append((region, at, region.data[at].copy()))
            region.data[at] = old
        behind.append(Postponed(queue, changes, new))
        if failed:
            self.land_all(queue)

    def _land(self, behind: list[Postponed]) -> None:
        first = behind.pop(0)
        for region, at, data in first.changes:
            region.data[at] = data
        first.queue.entries.extend(first.entries)

    def land_all(self, queue: Queue) -> None:
        """The bytes of all READs of the queue, and its completions."""
        behind = self.postponed.get(queue.qp.handle)
        while behind:
            self._land(behind)

    def show(self, which: Callable[[Unseen], bool]) -> None:
        """The bytes of these WRITEs are seen from now on."""
        kept = []
        for one in self.unseen:
            if not which(one):
                kept.append(one)
            elif len(one.over):
                one.region.data[one.over] = one.new[one.over]
        self.unseen[:] = kept


def _changed(regions: list[Region], were: list[Bytes]) -> list[tuple[Region, Places, Bytes]]:
    """Where the bytes of each region are others, and what they were there."""
    found = []
    for region, was in zip(regions, were, strict=True):
        at = np.flatnonzero(region.data != was)
        if len(at):
            found.append((region, at, was[at]))
    return found


class Drawn(Late, NewQps):
    """The model, whose schedule is drawn by `seed`. `partly`: a message that fails has landed in part, what
    lies before the byte at which it fails (`Partly`). A pair that is reset is two new QPs (`NewQps`): ibv_modify_qp(3)
    and a new ibv_create_qp(3) both lead from an error to a QP that works."""

    execution: Scheduled

    def __init__(self, profile: Profile, seed: int, *, partly: bool, read_late: float, write_late: float) -> None:
        parts = replace(PARTS, execution=Scheduled, transfer=Partly if partly else PARTS.transfer)
        Model.__init__(self, profile, parts)
        self.execution.random = random.Random(seed)
        self.execution.regions = self._sides
        self.execution.read_late, self.execution.write_late = read_late, write_late

    def _sides(self, side: str) -> tuple[list[Region], list[Region]]:
        mine = {id(one) for one in self.tables[side].keys.values()}
        regions = list(self._memories.values())
        return [one for one in regions if id(one) in mine], [one for one in regions if id(one) not in mine]

    def _empty(self) -> None:
        self.execution.empty()
        super()._empty()

    def read(self, memory: Memory, offset: int, length: int) -> Bytes:
        self.execution.show(lambda one: monotonic() - one.since > VISIBLE)
        data: Bytes = super().read(memory, offset, length).copy()
        region = self._memories[memory.handle]
        for one in reversed(self.execution.unseen):
            if one.region is region:
                inside = (one.at >= offset) & (one.at < offset + length)
                data[one.at[inside] - offset] = one.old[inside]
        return data

    def write(self, memory: Memory, offset: int, data: bytes | Bytes) -> None:
        self.execution.show(lambda one: monotonic() - one.since > VISIBLE)
        super().write(memory, offset, data)
        region = self._memories[memory.handle]
        for one in self.execution.unseen:
            if one.region is region:
                over = (one.at >= offset) & (one.at < offset + len(data))
                one.over = np.append(one.over, one.at[over])
                one.at, one.old = one.at[~over], one.old[~over]

    def poll(self, qp: Qp) -> list[Completion]:
        """With a message that is received come the bytes of the WRITEs before it (IBTA volume 1, o9-20)."""
        found = super().poll(qp)
        if any(one.queue == "recv" and one.status == "success" for one in found):
            queue = self._queues.get(qp.handle)
            self.execution.show(lambda one: one.queue.peer is queue)
        return found

    def reconnect(self, pair: QpPair) -> QpPair:
        ends = [self._queues.get(qp.handle) for qp in (pair.owner, pair.peer)]
        self.execution.show(lambda one: any(one.queue is end for end in ends))
        return super().reconnect(pair)

    def release(self, *, healthy: bool) -> None:
        self.execution.show(lambda one: True)
        super().release(healthy=healthy)


# The devices of a seed -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Right:
    """A device that is right, in words, and how a run makes it anew."""

    what: str
    make: Callable[[], Device]
    disturbance: Callable[[], Disturbance]


TOLD: dict[str, Callable[[], Disturbance]] = {
    "completions as they come": Disturbance,
    "completions 3 polls late": lambda: Slow(3),
    "the owner's 5 polls late": lambda: Slow(5, lambda tap, qp, _: tap.qps[qp].side == "owner"),
    "the peer's 5 polls late": lambda: Slow(5, lambda tap, qp, _: tap.qps[qp].side == "peer"),
    "receives 5 polls late": lambda: Slow(5, lambda tap, qp, queue: queue == "recv"),
    "sends 5 polls late": lambda: Slow(5, lambda tap, qp, queue: queue == "send"),
    "one completion of each other poll": OneAtATime,
    "receives before sends": ReceivesFirst,
}
"""No time is promised for a completion (IBTA volume 1, 10.8.5), nor an order of two completion queues."""


def right(seed: int, number: int) -> list[Right]:
    """Devices of this seed. The first carries everything out at once, and tells it in a way that is drawn; the second
    draws its schedule, and tells it as it comes; the others draw both."""
    drawn = random.Random(f"devices {seed}")
    found = []
    for turn in range(number):
        told = drawn.choice(list(TOLD)[1:]) if turn != 1 else next(iter(TOLD))
        own = drawn.randrange(1 << 30)
        partly, read, write = drawn.random() < 0.7, drawn.choice([0, 0.6]), drawn.choice([0, 0.6])
        make: Callable[[], Device] = partial(Model, PROFILE)
        schedule = "at once"
        if turn:
            make = partial(Drawn, PROFILE, own, partly=partly, read_late=read, write_late=write)
            late = [*(["late READs"] if read else []), *(["late WRITEs"] if write else [])]
            schedule = ", ".join([f"schedule {own}", *(["partial landing"] if partly else []), *late])
        found.append(Right(f"{schedule}, {told}", make, TOLD[told]))
    return found
