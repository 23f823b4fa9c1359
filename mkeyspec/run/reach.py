"""Which bytes the steps of a case may move: through which keys, and into which receives that wait.

The steps are those of `target`: what is set wrong of their parts (`but`) is not looked at here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.reference.layout import Segment
from mkeyspec.run.course import UNKNOWN, Course
from mkeyspec.run.moved import ANY, NOTHING, WHOLE, Arrival, Moved, Span, names_of, unnamed
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, is_known, known_number
from mkeyspec.value.signature import Domain

MOST_TURNS = 1 << 16
"""Turns of an interleaved layout that are followed one by one."""
SHARED = "dci"
"""Stands for the DCIs of a case: their targets have one receive queue."""
DEEPEST = 8
"""Layouts of layouts that are followed."""


class Laid(NamedTuple):
    """The layout of a key: every part that it may reach, in order, as (name, start, length); `names`: each name in it
    once. A layout may have thousands of parts, and most of them one name."""

    parts: Sequence[Segment]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Through:
    """The bytes of a key in its order; `starts`: the offset in the key of each span, and the key's length.
    `goes_on`: a key in its layout counts otherwise."""

    spans: tuple[Span, ...]
    starts: list[int]
    counts_otherwise: bool
    goes_on: bool

    def cut(self, low: int, high: int) -> Iterator[Span]:
        """The bytes [low, high) of the key."""
        at = max(bisect_right(self.starts, low) - 1, 0)
        for number in range(at, len(self.spans)):
            begin = self.starts[number]
            if begin >= high:
                return
            name, start, end = self.spans[number]
            first, last = max(low - begin, 0), min(high - begin, end - start)
            if first < last:
                yield name, start + first, start + last


class _Waiting(NamedTuple):
    """A receive that waits: its parts, and the bytes that they were when it was posted."""

    parts: tuple[Part, ...]
    spans: tuple[Span, ...]


class MkeyReach:
    """The bytes that each mkey reaches and the receives that wait, computed from the steps."""

    def __init__(self, steps: Sequence[plan.Step], course: Course = UNKNOWN) -> None:
        self.course = course
        self.mkeys: dict[str, Laid] = {}
        self._known: dict[tuple[str, int], _Through] = {}
        """By key and depth, until the next layout: layouts of thousands of entries are used by each of as many."""
        self.signed: dict[str, tuple[Domain | None, Domain | None] | None] = {}
        """Keys whose offsets count wire bytes: the domains of each, memory and wire; None: not known for sure."""
        self.open: set[str] = set()
        """Keys of which it is not known which bytes their layout has, or in which order."""
        self.receives: dict[tuple[str | None, bool], dict[int, _Waiting]] = {}
        """Of each queue, by the numbers of their steps."""
        self.number = -1
        """Of the step that was taken last."""
        self.turns: dict[plan.At, int] = {}
        """Of each place, how many messages of that step were followed."""
        self.dcis: set[str] = set()
        """Their targets have one shared receive queue."""
        self.met: Moved | None = None
        """What the last message that was followed writes (`received`)."""
        self.cancelled = frozenset(cancelled(steps))
        """QPs of which a message may take an earlier receive than the one that it was posted for."""

    def fork(self) -> MkeyReach:
        """One that goes on from here by itself. A receive that was taken before the next step is of no more use."""
        for waiting in self.receives.values():
            for number in [number for number in waiting if not self.course.is_open(number, self.number + 1)]:
                del waiting[number]
        made = MkeyReach.__new__(MkeyReach)
        made.__dict__.update(self.__dict__)
        made.mkeys, made.signed, made._known = {**self.mkeys}, {**self.signed}, {**self._known}
        made.open, made.dcis = {*self.open}, {*self.dcis}
        made.receives = {queue: {**waiting} for queue, waiting in self.receives.items()}
        made.turns = {}
        return made

    def keep_free(self) -> None:
        """Leave out the receives that messages were paired with."""
        for waiting in self.receives.values():
            for number in [number for number in waiting if not self.course.is_free(number)]:
                del waiting[number]

    def begin(self) -> None:
        """The next step follows."""
        self.number += 1
        self.turns = {}

    def carried_out(self, step: plan.Post) -> Iterator[tuple[plan.Wr, bool]]:
        """The requests of the step but those that are known not to have been carried out, each with whether it may have
        been refused."""
        perhaps = step.abort or plan.may_be_rejected(step.claim)
        for request in step.requests:
            number, at = self.number, request.at
            if self.course.was_posted(number, at) and not self.course.was_cancelled(number, at):
                yield request, perhaps and not self.course.has_succeeded(number, at)

    def take(self, step: plan.Step) -> Iterator[Moved]:
        self.begin()
        match step:
            case plan.Mkey():
                if step.flags & MkeyFlag.BLOCK_SIGNATURE:
                    self.signed[step.name] = (None, None)
                    self._known.clear()
            case plan.Qp():
                if dict(step.members).get("type") == "dci":
                    self.dcis.add(step.name)
            case plan.Receive():
                part = replace(step.part, length=step.data.length)
                written = self.bytes_of((part,))
                yield Moved(step.at, written, frozenset((unnamed(step.at),)), len(written) == 1)
            case plan.Transmit():
                read = self.bytes_of((step.part,))
                yield Moved(step.at, ((unnamed(step.at), 0, WHOLE),), names_of(read), len(read) == 1)
            case plan.Recv():
                waiting = self.receives.setdefault(self.queue(step.qp, step.peer), {})
                waiting[self.number] = _Waiting(step.into, self.bytes_of(step.into))
            case plan.Post():
                for request, refused in self.carried_out(step):
                    yield from self.request(request, step, refused)
            case plan.Memory() | plan.Pd() | plan.Dek() | plan.Dct() | plan.Retag() | plan.Store() | plan.Destroy():
                pass
            case plan.Query() | plan.DestroyDek() | plan.Login() | plan.Logout() | plan.LoginState():
                pass
            case plan.Check() | plan.Await() | plan.Poll() | plan.Cancel() | plan.Resume():
                pass
            case plan.Expect() | plan.Snapshot() | plan.Record():
                pass
            case _:
                assert_never(step)

    def request(self, request: plan.Wr, step: plan.Post, refused: bool) -> Iterator[Moved]:
        match request:
            case plan.Configure():
                for layout in request.layouts():
                    self.lay(request.mkey, layout, refused)
                if request.mkey in self.signed and (domains := request.domains_left()) is not None:
                    sure = not refused and not any(_overridden(domain) for domain in domains)
                    self.signed[request.mkey] = domains if sure else None
            case plan.MrList() | plan.MrInterleaved():
                self.lay(request.mkey, request.layout, refused)
            case plan.Send():
                moved, read = self.received(request, step), self.bytes_of(request.data)
                in_one = len(moved.written) == len(read) == 1
                yield moved._replace(read=names_of(read), in_one=in_one)
            case plan.Memcpy() if request.source.length == 0:
                yield Moved(request.at, (), names_of(self.bytes_of(request.reads())))
            case plan.Addressed() | plan.Memcpy():
                if request.takes_receive():
                    self.received(request, step)  # for the next one
                written = self.bytes_of(_written(request))
                read = self.bytes_of(request.reads())
                far = self.bytes_of(end.part for end in request.ends() if end.use.remote)
                in_one = len(written) == len(read) == 1
                yield Moved(request.at, written, names_of(read), in_one, len(far) == 1)
            case plan.RawWqe() if request.is_nop():
                pass
            case plan.RawWqe():
                yield Moved(request.at, ((ANY, 0, WHOLE),), NOTHING)
            case plan.StraySetter() | plan.Invalidate():
                pass
            case _:
                assert_never(request)

    def received(self, request: plan.Wr, step: plan.Post) -> Moved:
        """What a message writes: the bytes of the receive that it was paired with, and where that may change of each
        that it may take. Before it is posted, of the next one."""
        queue = self.queue(step.qp, not step.peer)
        waiting = self.receives.get(queue, {})
        turn = self.turns.get(request.at, 0)
        self.turns[request.at] = turn + 1
        due = self.course.message(self.number, request.at, turn)
        if due is None:
            first = next((number for number in waiting if self.course.is_free(number)), None)
            spans = self.arriving(waiting.pop(first), request) if first is not None else ()
            one = (Arrival(first, spans),) if first is not None else ()
            self.met = Moved(request.at, spans, NOTHING, arrivals=one)
            return self.met
        takes = due.takes
        chosen = [*waiting] if queue[0] == SHARED or step.qp in self.cancelled else []
        if takes is not None and takes.receive is not None and (takes.got is not None or not chosen):
            chosen = [takes.receive.step] if takes.receive.step in waiting else []
        arrivals = tuple(Arrival(number, self.arriving(waiting[number], request)) for number in chosen)
        moved = Moved(request.at, (), NOTHING, message=due, arrivals=arrivals)
        self.met = moved._replace(written=moved.by_now(self.course))
        return self.met

    def arriving(self, receive: _Waiting, request: plan.Wr) -> tuple[Span, ...]:
        """The bytes of a receive that a message may write: as many as it has, in their order."""
        now = self.bytes_of(receive.parts)
        if now != receive.spans:  # a key of it was configured since
            return tuple(dict.fromkeys((*receive.spans, *now)))
        match request:
            case plan.Send():
                left = plan.known_total(request.data)
            case _:
                left = None
        parts = []
        for part in receive.parts if left is not None else ():
            length = known_number(part.length)
            if left is None or length is None:
                return now
            parts.append(replace(part, length=min(left, length)))
            left -= min(left, length)
        return now if left is None else self.bytes_of(parts)

    def queue(self, qp: str | None, peer: bool) -> tuple[str | None, bool]:
        return (SHARED if qp in self.dcis and peer else qp), peer

    def bytes_of(self, parts: Iterable[Part]) -> tuple[Span, ...]:
        """The bytes of these parts; an mkey's are those of its layout, as its entries are now. For parts with live
        numbers, all bytes that they may reach."""
        return self._bytes_of((part.name, *(part.bounds() or (0, None))) for part in parts)

    def _bytes_of(self, parts: Iterable[tuple[str, int, int | None]], depth: int = 0) -> tuple[Span, ...]:
        """The same of (name, start, length); length None: all bytes that they may reach."""
        found: list[Span] = []
        whole = set[str]()
        """Keys whose bytes are all among those found."""
        for name, start, length in parts:
            if length == 0:
                continue
            low, high = (start, start + length) if length is not None else (0, WHOLE)
            if name not in self.mkeys:
                found.append((name, low, high))
            elif depth < DEEPEST:
                through = self._through(name, depth + 1)
                if through.counts_otherwise:
                    if name in whole:
                        continue
                    stored = self._stored(name, low, high, through.goes_on)
                    if stored is not None:
                        found += through.cut(*stored)
                    else:
                        found += through.spans
                        whole.add(name)
                else:
                    found += through.spans if length is None else through.cut(low, high)
        return tuple(found)

    def _through(self, mkey: str, depth: int) -> _Through:
        """The bytes of a key's layout, as its entries are now."""
        known = self._known.get((mkey, depth))
        if known is None:
            spans = self._bytes_of(self.mkeys[mkey].parts, depth)
            starts = [0, *accumulate([end - start for _, start, end in spans])]
            goes_on = self._goes_on(mkey)
            otherwise = goes_on or mkey in self.signed or mkey in self.open
            known = self._known[mkey, depth] = _Through(spans, starts, otherwise, goes_on)
        return known

    def counts_otherwise(self, mkey: str, depth: int = 0) -> bool:
        """Whether an offset into a key does not count the bytes of its layout alone."""
        return mkey in self.signed or mkey in self.open or self._goes_on(mkey, depth)

    def _goes_on(self, mkey: str, depth: int = 0) -> bool:
        """Whether a key in its layout counts otherwise."""
        return any(
            depth >= DEEPEST or self.counts_otherwise(name, depth + 1)
            for name in self.mkeys[mkey].names
            if name in self.mkeys
        )

    def _stored(self, mkey: str, low: int, high: int, goes_on: bool) -> tuple[int, int] | None:
        """The bytes of a signed key's layout that its wire bytes [low, high) fill, as far as they may; None: not known,
        as where they begin inside of a block (X-OPEN-02)."""
        domains = self.signed.get(mkey)
        if domains is None or mkey in self.open or goes_on:
            return None
        memory, wire = domains
        first, data = _data_of(wire, low), _data_of(wire, high - low)
        if (wire is not None and low % wire.frame) or (memory is not None and first % memory.block):
            return None
        start = _framed(memory, first)
        return start, start + _framed(memory, data)

    def lay(self, mkey: str, layout: Layout, refused: bool) -> None:
        """A layout that should have been refused may be in effect, or the previous one."""
        parts = _in_order(layout)
        self.open.discard(mkey)
        if parts is None:
            self.open.add(mkey)
            parts = [(part.name, 0, WHOLE) for part in layout.targets()]
        if refused and mkey in self.mkeys:
            self.open.add(mkey)
            parts = [*parts, *self.mkeys[mkey].parts]
        self.mkeys[mkey] = Laid(parts, tuple(dict.fromkeys([name for name, _, _ in parts])))
        self._known.clear()


def cancelled(steps: Iterable[plan.Step]) -> Iterator[str | None]:
    """The QPs of the `cancel`s."""
    for step in steps:
        match step:
            case plan.Cancel():
                yield step.qp
            case _:
                pass


def _written(request: plan.Wr) -> list[Part]:
    """The parts that a request writes, as far as it has bytes for them."""
    ends = [end for end in request.ends() if end.use.writes]
    return [replace(end.part, length=_least(end.part.length, end.length)) for end in ends]


def _least(one: Int, other: Int) -> Int:
    return min(one, other) if is_known(one) and is_known(other) else one


def _data_of(wire: Domain | None, length: int) -> int:
    """The bytes of data in so many bytes of the wire, as far as they may be data."""
    return length if wire is None else length - length // wire.frame * wire.signature.field_size


def _framed(memory: Domain | None, data: int) -> int:
    """So many bytes of data with their fields in memory."""
    return data if memory is None else data + data // memory.block * memory.signature.field_size


def _overridden(domain: Domain | None) -> bool:
    return domain is not None and bool(domain.but or domain.signature.but)


def _in_order(layout: Layout) -> Sequence[Segment] | None:
    """The parts of a layout in the order of the key; None if a number is live, or if there are too many."""
    turns = layout.turns()
    if not is_known(turns) or turns > MOST_TURNS:
        return None
    try:
        return layout.walked()
    except ValueError:
        return None
