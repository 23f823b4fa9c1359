"""Which statements may have changed a byte that nothing names. Worked out from the steps once a case has failed.

The closing rule finds such a byte at the end of a case, when nobody can say any more what wrote it. The steps tell
where to look: those that carry data into the buffer, those that only read it, and last those that move data at all.
Only what ran since somebody last looked at the byte counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.value.layout import Chunk, Interleaved, Layout, Part, Repeated, walk

Span = tuple[str, int, int]
"""Bytes [start, end) of a buffer."""

Moved = tuple[plan.At, tuple[Span, ...], frozenset[str]]
"""A statement that moved data: its place, the bytes it may write, the buffers it may read."""

NOTHING: frozenset[str] = frozenset()
ANY = "*"
"""Stands for every buffer: a raw WQE names its own addresses."""
MOST_TURNS = 1000
"""Turns of an interleaved layout that are followed one by one."""
WHOLE = 1 << 62
"""An offset greater than the length of any buffer."""
DEEPEST = 8
"""Layouts of layouts that are followed."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """`label` says how sure it is; `alone`: no other statement comes into question."""

    label: str
    places: tuple[plan.At, ...]
    alone: bool = field(default=False, compare=False)


def unnamed(at: plan.At) -> str:
    """The peer's buffer of the short form at `at`, which has no name."""
    return f"{at.line}:{at.column}"


def suspects(steps: Sequence[plan.Step], name: str, since: int) -> Suspects:
    """The statements that may have caused a change of the buffer `name`, of those from number `since` on."""
    moved = [(entry[0], _names(entry[1]), entry[2]) for number, entry in moves(steps) if number >= since]
    every = tuple(dict.fromkeys(at for at, _, _ in moved))
    for label, kind in (("maybe by", 1), ("read by", 2)):
        found = tuple(dict.fromkeys(entry[0] for entry in moved if name in entry[kind] or ANY in entry[kind]))
        if found:
            return Suspects(label, found, len(found) == 1 and (kind == 1 or every == found))
    return Suspects("since", every, len(every) == 1)


def _names(spans: Iterable[Span]) -> frozenset[str]:
    return frozenset(name for name, _, _ in spans)


def reach(steps: Sequence[plan.Step]) -> tuple[Span, ...]:
    """The bytes that the last of these steps may write."""
    last = len(steps) - 1
    return tuple(span for number, (_, written, _) in moves(steps) if number == last for span in written)


def moves(steps: Sequence[plan.Step]) -> Iterator[tuple[int, Moved]]:
    """What these steps may have moved, each with the number of its step."""
    reach = MkeyReach()
    for number, step in enumerate(steps):
        for entry in reach.take(step):
            yield number, entry


class MkeyReach:
    """Which bytes each mkey reaches, and which receives wait, as far as the steps say."""

    def __init__(self) -> None:
        self.mkeys: dict[str, tuple[Part, ...]] = {}
        """In the order of the layout; every part that the key may reach."""
        self.signed: set[str] = set()
        """Keys whose offsets count other bytes than their layout's."""
        self.receives: dict[tuple[str | None, bool], list[tuple[Span, ...]]] = {}
        self.dcis: set[str] = set()
        """Their targets have one shared receive queue."""

    def take(self, step: plan.Step) -> Iterator[Moved]:
        if isinstance(step, plan.Mkey):
            if step.flags & MkeyFlag.BLOCK_SIGNATURE:
                self.signed.add(step.name)
        elif isinstance(step, plan.Qp):
            if dict(step.members).get("type") == "dci":
                self.dcis.add(step.name)
        elif isinstance(step, plan.Receive):
            part = replace(step.part, length=step.data.length)
            yield step.at, self.bytes_of((part,), step.options.but), frozenset((unnamed(step.at),))
        elif isinstance(step, plan.Transmit):
            yield step.at, ((unnamed(step.at), 0, WHOLE),), _names(self.bytes_of((step.part,)))
        elif isinstance(step, plan.Recv):
            waiting = self.receives.setdefault(self.queue(step.qp, step.peer), [])
            waiting.append(self.bytes_of(step.into, step.options.but))
        elif isinstance(step, plan.Post):
            refused = step.abort or any(isinstance(outcome, plan.Rejected) for outcome in step.claim)
            for request in step.requests:
                yield from self.request(request, step, refused)

    def request(self, request: plan.Wr, step: plan.Post, refused: bool) -> Iterator[Moved]:
        match request:
            case plan.Configure():
                for setter in request.setters:
                    if isinstance(setter, plan.SetLayout):
                        self.lay(request.mkey, setter.layout, refused)
            case plan.MrList() | plan.MrInterleaved():
                self.lay(request.mkey, request.layout, refused)
            case plan.Send():
                receives = self.receives.get(self.queue(step.qp, not step.peer))
                yield request.at, receives.pop(0) if receives else (), _names(self.bytes_of(request.data))
            case plan.Addressed() | plan.Memcpy():
                empty = isinstance(request, plan.Memcpy) and request.source.length == 0
                written = () if empty else self.bytes_of(request.writes(), request.options.but)
                yield request.at, written, _names(self.bytes_of(request.reads()))
            case plan.RawWqe():
                yield request.at, ((ANY, 0, WHOLE),), NOTHING
            case plan.StraySetter() | plan.Invalidate():
                pass
            case _:
                assert_never(request)

    def queue(self, qp: str | None, peer: bool) -> tuple[str | None, bool]:
        return ("dci" if qp in self.dcis and peer else qp), peer

    def bytes_of(self, parts: Iterable[Part], but: plan.Overrides = (), depth: int = 0) -> tuple[Span, ...]:
        """The bytes of these parts; an mkey's are those of its layout, as its entries are now. Of parts whose
        numbers are live, or set otherwise (`but`), all that they may reach."""
        found: list[Span] = []
        for part in parts:
            start, length = part.start, part.length
            known = isinstance(start, int) and isinstance(length, int) and not part.but and not but
            low, high = (start, start + length) if known else (0, WHOLE)  # type: ignore[operator]
            if part.name not in self.mkeys:
                found.append((part.name, low, high))  # type: ignore[arg-type]
            elif depth < DEEPEST:
                through = self.bytes_of(self.mkeys[part.name], depth=depth + 1)
                exact = known and not self.counts_otherwise(part.name)
                found += _cut(through, low, high) if exact else through  # type: ignore[arg-type]
        return tuple(found)

    def counts_otherwise(self, mkey: str, depth: int = 0) -> bool:
        """Whether an offset into a key does not count the bytes of its layout alone."""
        return mkey in self.signed or any(
            depth >= DEEPEST or self.counts_otherwise(part.name, depth + 1)
            for part in self.mkeys[mkey]
            if part.name in self.mkeys
        )

    def lay(self, mkey: str, layout: Layout, refused: bool) -> None:
        """A layout that should have been refused may be in force all the same, or the one before it."""
        parts = _in_order(layout)
        if parts is None:
            self.signed.add(mkey)
            parts = [Part(name, 0, WHOLE) for name in _parts_of(layout)]
        if refused and mkey in self.mkeys:
            self.signed.add(mkey)
            parts += self.mkeys[mkey]
        self.mkeys[mkey] = tuple(parts)


def _cut(spans: tuple[Span, ...], low: int, high: int) -> Iterator[Span]:
    """The bytes [low, high) of a key, through its layout."""
    at = 0
    for name, start, end in spans:
        first, last = max(low - at, 0), min(high - at, end - start)
        if first < last:
            yield name, start + first, start + last
        at += end - start


def _entries(layout: Layout) -> Iterable[Union[Part, Chunk, Repeated]]:
    return layout.entries if isinstance(layout, Interleaved) else layout.parts


def _in_order(layout: Layout) -> list[Part] | None:
    """The parts of a layout as they lie in the key; None where a number is live or set otherwise, or they are many."""
    bare = [entry.part if isinstance(entry, Repeated) else entry for entry in _entries(layout)]
    if any((one.part if isinstance(one, Chunk) else one).but for one in bare):
        return None
    if isinstance(layout, Interleaved) and not (isinstance(layout.repeat, int) and layout.repeat <= MOST_TURNS):
        return None
    try:
        return [Part(name, start, length) for name, start, length in walk(layout)]
    except ValueError:
        return None


def _parts_of(layout: Layout) -> Iterator[str]:
    for entry in _entries(layout):
        one = entry.part if isinstance(entry, Repeated) else entry
        yield one.part.name if isinstance(one, Chunk) else one.name
