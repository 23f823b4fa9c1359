"""Through which SGE, mkey and entry each byte of a transfer comes from memory or goes there.

Computed from the steps after a case has failed. What the steps don't tell (a refusal that the case allows, a number of
a buffer) is Unknown, and nothing is reported about it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mkeyspec import plan
from mkeyspec.device.protocol import Unsupported
from mkeyspec.reference.layout import Segment
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.label import Unobserved
from mkeyspec.run.moved import unnamed
from mkeyspec.run.reach import DEEPEST
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Live, NoValue, is_known, place_of
from mkeyspec.value.signature import Domain

MOST_PIECES = 64
"""Pieces of memory that are followed for one range; what is left is not needed for a text."""


class Unknown(Exception):
    """The steps don't tell where these bytes are."""


@dataclass(frozen=True, slots=True)
class Hop:
    """The byte `offset` of an entry of a key. `turn`: of an interleaved layout, else -1."""

    key: str
    entry: int
    offset: int
    turn: int = -1

    def __str__(self) -> str:
        turn = f"turn {self.turn}, " if self.turn >= 0 else ""
        return f"{turn}entry {self.entry} + {self.offset}"


@dataclass(frozen=True, slots=True)
class Piece:
    """`length` bytes of the buffer `name` from `start`; `path`: the keys that lead there, the outermost first; `at`:
    where they begin in what was asked for; `sge`: the number of the SGE that leads there, -1 of a message with one."""

    path: tuple[Hop, ...]
    name: str
    start: int
    length: int
    at: int = 0
    sge: int = -1


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is configured. `per_turn`: entries of an interleaved layout, 0 of a list."""

    name: str
    segments: tuple[Segment, ...] = ()
    starts: tuple[int, ...] = ()
    per_turn: int = 0
    mem: Domain | None = None
    wire: Domain | None = None
    crypto: plan.SetCrypto | None = None

    def laid(self, layout: Layout) -> Key:
        starts, at = [], 0
        segments = tuple(layout.walk())
        for _, _, length in segments:
            starts.append(at)
            at += length
        per_turn = len(layout.targets()) if layout.strided else 0
        return replace(self, segments=segments, starts=tuple(starts), per_turn=per_turn)

    def configured(self, wr: plan.Configure) -> Key:
        domains = wr.domains_left()
        key = self if domains is None else replace(self, mem=domains[0], wire=domains[1])
        for setter in wr.setters:
            match setter:
                case plan.SetCrypto():
                    key = replace(key, crypto=setter)
                case _:
                    pass
        return key

    @property
    def signed(self) -> bool:
        return self.mem is not None or self.wire is not None

    def hop(self, number: int, offset: int) -> Hop:
        if not self.per_turn:
            return Hop(self.name, number, offset)
        turn, entry = divmod(number, self.per_turn)
        return Hop(self.name, entry, offset, turn)


def place_in(domain: Domain | None, i: int) -> tuple[int, int, bool]:
    """Of byte `i` of a stream with the fields of `domain`: its block, its place in the block or in the field, and
    whether it is of the field."""
    if domain is None:
        return 0, i, False
    block, place = divmod(i, domain.frame)
    return (block, place - domain.block, True) if place >= domain.block else (block, place, False)


def stream_ranges(domain: Domain | None, start: int, length: int) -> Iterator[tuple[int, int]]:
    """Where `length` bytes of data from `start` are in a stream with the fields of `domain`."""
    if domain is None:
        yield start, length
        return
    end = start + length
    while start < end:
        block, place = divmod(start, domain.block)
        size = min(domain.block - place, end - start)
        yield block * domain.frame + place, size
        start += size


@dataclass(frozen=True, slots=True)
class Transfer:
    """One message: its bytes, in order, from `source` to `into`, through the keys as they were then."""

    at: plan.At
    source: tuple[Part, ...]
    into: tuple[Part, ...]
    keys: dict[str, Key | None]
    """None: how it is configured is unknown."""
    most: int = MOST_PIECES
    """Pieces that are followed for one range."""

    def key(self, name: str) -> Key:
        key = self.keys[name]
        if key is None:
            raise Unknown(name)
        return key

    def pieces(self, part: Part, start: int, length: int, depth: int = 0) -> list[Piece]:
        """The memory under `length` bytes from `start` of what a message sees of a part: of a signature key those of
        the wire. Fields that are computed have none."""
        bounds = part.bounds()
        if bounds is None or part.but:
            raise Unknown(part.name)
        if part.name not in self.keys:
            return [Piece((), part.name, bounds[0] + start, length)]
        key, start = self.key(part.name), bounds[0] + start
        if not key.signed:
            return self.memory(key, start, length, depth)
        found: list[Piece] = []
        at, end = start, start + length
        while at < end and len(found) < self.most:
            block, place, of_field = place_in(key.wire, at)
            if of_field:
                assert key.wire is not None
                at += key.wire.signature.field_size - place
                continue
            size = end - at if key.wire is None else min(key.wire.block - place, end - at)
            first = place if key.wire is None else block * key.wire.block + place
            found += [replace(one, at=at - start + one.at) for one in self.data(key, first, size, depth)]
            at += size
        return found

    def data(self, key: Key, start: int, length: int, depth: int = 0) -> list[Piece]:
        """The memory under `length` bytes of a key's data from `start`, the fields in memory not counted."""
        found: list[Piece] = []
        at = 0
        for first, size in stream_ranges(key.mem, start, length):
            found += [replace(one, at=at + one.at) for one in self.memory(key, first, size, depth)]
            at += size
            if len(found) >= self.most:
                break
        return found

    def memory(self, key: Key, start: int, length: int, depth: int = 0) -> list[Piece]:
        """The memory under `length` bytes of a key's layout from offset `start`."""
        if depth >= DEEPEST:
            raise Unknown(key.name)
        found: list[Piece] = []
        number = max(bisect_right(key.starts, start) - 1, 0)
        begin, end = start, start + length
        while start < end and len(found) < self.most:
            if number >= len(key.segments):
                raise Unknown(key.name)
            name, first, size = key.segments[number]
            offset = start - key.starts[number]
            taken = min(size - offset, end - start)
            if taken > 0:
                if name in self.keys:
                    part = Part(name, first, size)
                    inner = self.pieces(part, offset, taken, depth + 1)
                    for one in inner:
                        hop = key.hop(number, offset + one.at)
                        found.append(replace(one, path=(hop, *one.path), at=start - begin + one.at))
                else:
                    found.append(Piece((key.hop(number, offset),), name, first + offset, taken, start - begin))
                start += taken
            number += 1
        return found

    def legs(self, parts: Sequence[Part]) -> Iterator[tuple[int, int, Part]]:
        """Each part of a message with its first byte and its length."""
        at = 0
        for part in parts:
            bounds = part.bounds()
            if bounds is None or part.but:
                raise Unknown(part.name)
            yield at, bounds[1], part
            at += bounds[1]

    def message(self, parts: Sequence[Part], start: int, length: int) -> list[Piece]:
        """The memory under `length` bytes of the message from `start`, on the side of these parts."""
        found: list[Piece] = []
        for number, (at, size, part) in enumerate(self.legs(parts)):
            first, last = max(start, at), min(start + length, at + size)
            if first < last and len(found) < self.most:
                inner = self.pieces(part, first - at, last - first)
                sge = number if len(parts) > 1 else -1
                found += [replace(one, at=first - start + one.at, sge=sge) for one in inner]
        return found


def transfers(state: CaseState) -> list[Transfer]:
    """The messages of a case so far, in the order of its text."""
    return list(_transfers(state))


def _transfers(state: CaseState) -> Iterator[Transfer]:
    keys: dict[str, Key | None] = {}
    queues: dict[tuple[str | None, bool], list[tuple[Part, ...]]] = {}

    def lay(name: str, layout: Layout | None, wr: plan.Configure | None, unsure: bool) -> None:
        key = keys.get(name)
        if unsure or key is None:
            keys[name] = None
            return
        if layout is not None:
            try:
                key = key.laid(layout.resolve(lambda *live: _number(state, *live)))
            except (NoValue, ValueError, Unobserved, Unsupported):
                keys[name] = None
                return
        keys[name] = key if wr is None else key.configured(wr)

    for step in state.taken:
        match step:
            case plan.Mkey():
                keys[step.name] = Key(step.name)
            case plan.Transmit():
                yield Transfer(step.at, (step.part,), (Part(unnamed(step.at), 0, step.part.length),), dict(keys))
            case plan.Receive():
                length = step.data.length
                source, into = Part(unnamed(step.at), 0, length), replace(step.part, length=length)
                yield Transfer(step.at, (source,), (into,), dict(keys))
            case plan.Recv():
                queues.setdefault((step.qp, step.peer), []).append(step.into)
            case plan.Post():
                unsure = step.abort or plan.may_be_rejected(step.claim)
                for wr in step.requests:
                    match wr:
                        case plan.Configure():
                            lay(wr.mkey, wr.layout_given(), wr, unsure)
                        case plan.MrList() | plan.MrInterleaved():
                            lay(wr.mkey, wr.layout, None, unsure)
                        case plan.Send():
                            waiting = queues.get((step.qp, not step.peer))
                            yield Transfer(wr.at, wr.data, waiting.pop(0) if waiting else (), dict(keys))
                        case plan.Write():
                            yield Transfer(wr.at, wr.data, (replace(wr.to, length=_total(wr.data)),), dict(keys))
                        case plan.Read():
                            yield Transfer(wr.at, (replace(wr.source, length=_total(wr.into)),), wr.into, dict(keys))
                        case plan.Memcpy():
                            into = replace(wr.to, length=wr.source.length)
                            yield Transfer(wr.at, (wr.source,), (into,), dict(keys))
                        case _:
                            pass
            case _:
                pass


def _number(state: CaseState, subject: str, member: str) -> int | bytes:
    """A live number that reading does not wait for."""
    if place_of(Live(subject, member)) is not None or subject in state.labels:
        raise NoValue(f"{subject}.{member}")
    return state.read(subject, member)


def _total(parts: Sequence[Part]) -> int:
    lengths = [part.length for part in parts]
    return sum(length for length in lengths if is_known(length))
