"""Why a byte is on the wire or in memory: the block, the field or the data, the buffer that it comes from, and the key
and the entry through which it goes.

A `Ledger` answers for the bytes of one expectation that went through one mkey. It is made after the case has failed.
It follows the bytes that are asked for, so a large buffer costs no more than a small one; the bytes that differ are
counted by block and field all at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from mkeyspec.run.case_state import CaseState
from mkeyspec.run.culprits import unnamed
from mkeyspec.run.observe import Seen
from mkeyspec.run.route import Key, Piece, Transfer, Unknown, place_in, transfers
from mkeyspec.value.layout import Part
from mkeyspec.value.signature import Domain

Positions = npt.NDArray[np.intp]

MOST_RUNS = 4096
"""Pieces of a buffer that are followed to count what differs."""


@dataclass(frozen=True, slots=True)
class Place:
    """Byte `byte` of block `block`, which has `size` bytes; or of its `field`, in byte order `order`."""

    block: int | None
    field: str
    byte: int
    size: int
    order: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """`side`: the bytes are those of the wire, or those of the key's memory. `runs`: (first byte of what was observed,
    its position in the stream of that side, length)."""

    transfer: Transfer
    key: Key
    side: Literal["wire", "mem"]
    base: int
    """Of the key's part in the message: the first byte, less where the part begins in the key."""
    runs: tuple[tuple[int, int, int], ...]

    @property
    def domain(self) -> Domain | None:
        return self.key.wire if self.side == "wire" else self.key.mem

    def position(self, i: int) -> int | None:
        """Of byte `i` of what was observed: its position in the stream of this side."""
        for first, position, length in self.runs:
            if first <= i < first + length:
                return position + i - first
        return None

    def place(self, i: int) -> Place | None:
        position = self.position(i)
        if position is None:
            return None
        domain = self.domain
        block, byte, of_field = place_in(domain, position)
        if domain is None:
            return Place(None, "", byte, 1)
        if not of_field:
            return Place(block, "", byte, domain.block)
        name, start, size = next(one for one in fields_of(domain) if one[1] <= byte < one[1] + one[2])
        order = "big" if domain.signature.tags or domain.signature.kind == "crc32" else "little"
        return Place(block, name, byte - start, size, order)

    def sources(self, i: int) -> list[Piece]:
        """Where byte `i` comes from: of a field, the data that it is computed over; of data, the byte itself."""
        position = self.position(i)
        if position is None:
            return []
        domain = self.domain
        block, byte, of_field = place_in(domain, position)
        block_size = domain.block if domain is not None else 0
        start, length = (block * block_size, block_size) if of_field else (block * block_size + byte, 1)
        try:
            return self.of_data(start, length)
        except Unknown:
            return []

    def of_data(self, start: int, length: int) -> list[Piece]:
        """Where `length` bytes of data from `start` come from. Raises Unknown."""
        transfer, key = self.transfer, self.key
        if self.side == "wire":
            return transfer.data(key, start, length)
        wire = key.wire
        first = start if wire is None else start // wire.block * wire.frame + start % wire.block
        if wire is not None and start % wire.block + length > wire.block:
            raise Unknown(key.name)  # several blocks of the wire
        return transfer.message(transfer.source, self.base + first, length)

    def through(self, i: int) -> list[Piece]:
        """The way of byte `i` of memory into its buffer."""
        position = self.position(i)
        if self.side == "wire" or position is None:
            return []
        return self.transfer.memory(self.key, position, 1)

    def positions(self, where: Positions) -> Positions:
        """The positions in the stream of those bytes that went through the key, in order."""
        found = [where[:0]]
        for first, position, length in self.runs:
            low, high = np.searchsorted(where, (first, first + length))
            if low < high:
                found.append(where[low:high] - first + position)
        return np.concatenate(found)

    def in_memory(self, positions: Positions) -> Positions:
        """Where the bytes at these positions are in the key's layout; those of fields on the wire are left out."""
        if self.side == "mem":
            return positions
        wire, mem = self.key.wire, self.key.mem
        if wire is not None:
            block, place = np.divmod(positions, wire.frame)
            positions = (block * wire.block + place)[place < wire.block]
        return positions if mem is None else positions // mem.block * mem.frame + positions % mem.block

    @property
    def memory_extent(self) -> tuple[int, int]:
        """The lowest and the highest offset in the key's layout of data that was observed."""
        domain = self.domain
        ends = []
        for position in self.extent:
            of_field = domain is not None and self.side == "wire" and position % domain.frame >= domain.block
            last = position // domain.frame * domain.frame + domain.block - 1 if domain is not None else 0
            ends.append(int(self.in_memory(np.asarray([last if of_field else position]))[0]))
        return ends[0], ends[1]

    @property
    def extent(self) -> tuple[int, int]:
        """The lowest and the highest position that was observed."""
        return min(at for _, at, _ in self.runs), max(at + length for _, at, length in self.runs) - 1


def fields_of(domain: Domain) -> tuple[tuple[str, int, int], ...]:
    """The parts of a block's field: name, first byte, bytes."""
    signature = domain.signature
    if signature.tags:
        return (("guard", 0, 2), ("application tag", 2, 2), ("reference tag", 4, 4))
    return ((f"{signature.kind.upper()} field", 0, signature.field_size),)


def ledger_of(state: CaseState, seen: Seen, first: int) -> Ledger | None:
    """The ledger for byte `first` of what was seen; None if no mkey took part, or if the steps don't tell."""
    try:
        return _ledger(state, seen, first)
    except Unknown:
        return None


def _ledger(state: CaseState, seen: Seen, first: int) -> Ledger | None:
    messages = transfers(state)
    if seen.wire is not None:
        name = unnamed(seen.wire.at)
        byte = seen.start + first
    else:
        at = first
        for piece in seen.pieces:
            if at < piece.length:
                break
            at -= piece.length
        else:
            return None
        name, byte = piece.buffer.name, piece.start + at
    for transfer in reversed(messages):
        wide = replace(transfer, most=MOST_RUNS)
        for base, length, part in wide.legs(transfer.into):
            if part.name in transfer.keys:
                key = transfer.key(part.name)
                runs = _runs(seen, _reached(wide, key, part, length))
                if any(start <= first < start + size for start, _, size in runs):
                    return Ledger(transfer, key, "mem", base - _start(part), runs)
            elif part.name == name and _start(part) <= byte < _start(part) + length:
                return _from_key(wide, seen, part, base, base + byte - _start(part))
    return None


def _start(part: Part) -> int:
    bounds = part.bounds()
    if bounds is None:
        raise Unknown(part.name)
    return bounds[0]


def _reached(transfer: Transfer, key: Key, part: Part, length: int) -> Iterator[tuple[str, int, int, int]]:
    """The buffers under the bytes of a message in a key: name, first byte, bytes, offset in the key's layout."""
    start = _start(part)
    total = sum(size for _, _, size in key.segments)
    if key.signed:
        start, length = 0, total  # offsets count wire bytes; all of it is looked at
    for piece in transfer.memory(key, start, min(length, total - start)):
        yield piece.name, piece.start, piece.length, start + piece.at


def _runs(seen: Seen, reached: Iterator[tuple[str, int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """The bytes that were seen and that are among those reached."""
    pieces: dict[str, list[tuple[int, int, int]]] = {}
    at = 0
    for one in seen.pieces:
        pieces.setdefault(one.buffer.name, []).append((at, one.start, one.length))
        at += one.length
    found: list[tuple[int, int, int]] = []
    for name, start, length, offset in reached:
        for first, begins, size in pieces.get(name, ())[:MOST_RUNS]:
            low, high = max(start, begins), min(start + length, begins + size)
            if low < high:
                found.append((first + low - begins, offset + low - start, high - low))
        if len(found) > MOST_RUNS:
            break
    return tuple(sorted(found))


def _from_key(transfer: Transfer, seen: Seen, into: Part, base: int, position: int) -> Ledger | None:
    """What was seen is a plain buffer, which has the message: of a key's bytes on the wire if one is its source."""
    for begins, length, part in transfer.legs(transfer.source):
        if not begins <= position < begins + length:
            continue
        if part.name not in transfer.keys:
            return None
        runs, at = [], 0
        for piece in seen.pieces:
            name = unnamed(seen.wire.at) if seen.wire is not None else piece.buffer.name
            low = max(piece.start, _start(into) + begins - base)
            high = min(piece.start + piece.length, _start(into) + begins - base + length)
            if name == into.name and low < high:
                message = base + low - _start(into)
                runs.append((at + low - piece.start, message - begins + _start(part), high - low))
            at += piece.length
        return Ledger(transfer, transfer.key(part.name), "wire", begins - _start(part), tuple(runs))
    return None
