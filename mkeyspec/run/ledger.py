"""Why a byte is on the wire or in memory: the block, the field or the data, the buffer that it comes from, and the key
and the entry through which it goes.

A `Ledger` answers for the bytes of one expectation that went through one mkey. It is made after the case has failed.
It follows the bytes that are asked for, so a large buffer costs no more than a small one; the bytes that differ are
counted by block and field all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from mkeyspec.run.case_state import CaseState
from mkeyspec.run.moved import unnamed
from mkeyspec.run.observe import Seen
from mkeyspec.run.route import Key, Piece, Transfer, Unknown, place_in, transfers
from mkeyspec.value.layout import Part
from mkeyspec.value.signature import Domain

Positions = npt.NDArray[np.intp]

Side = Literal["wire", "mem"]

MOST_RUNS = 4096
"""Pieces of a buffer that are followed to count what differs."""
MOST_PARTS = 32
"""Parts of a message before and after the one with the first byte that differs."""
WHOLE = 1 << 62
"""Bytes of the layout that stands for plain memory."""


@dataclass(frozen=True, slots=True)
class Place:
    """Byte `byte` of block `block`, which has `size` bytes; or of its `field`, in byte order `order`.

    Blocks are counted in the message; `of_key`: the same block, counted from the first byte of the key.
    """

    block: int | None
    field: str
    byte: int
    size: int
    order: str = ""
    of_key: int = 0


@dataclass(frozen=True, slots=True)
class Ledger:
    """`side`: the bytes are those of the wire, or those of the key's memory. `runs`: (first byte of what was observed,
    its position in the stream of that side, length)."""

    transfer: Transfer
    key: Key
    side: Side
    base: int
    """Of the key's part in the message: the first byte, less where the part begins in the key."""
    runs: tuple[tuple[int, int, int], ...]
    first_block: int = 0
    """The number in the message of the block with the key's first byte; below 0 if the message begins after it."""
    sge: int = -1
    """The number of this part in the message's sg_list; -1 of the only one."""
    others: tuple[Ledger, ...] = ()
    """Those of the other parts of the message."""
    into: bool = False
    """Whether the message goes into the key's memory; it does if `side` is "mem"."""
    wire_end: int | None = None
    """Of `side` "mem": where the message ends, in the key's bytes of the wire; None if it has all of them."""

    @property
    def parts(self) -> list[Ledger]:
        """All parts of the message, in their order."""
        return sorted((self, *self.others), key=lambda one: one.sge)

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
            return next((place for one in self.others if (place := one.place(i)) is not None), None)
        domain = self.domain
        of_key, byte, of_field = place_in(domain, position)
        block = of_key + self.first_block
        if domain is None:
            return Place(None, "", byte, 1)
        if not of_field:
            return Place(block, "", byte, domain.block, "", of_key)
        name, start, size = next(one for one in fields_of(domain) if one[1] <= byte < one[1] + one[2])
        order = "big" if domain.signature.tags or domain.signature.kind == "crc32" else "little"
        return Place(block, name, byte - start, size, order, of_key)

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
            return [replace(one, sge=self.sge) for one in transfer.data(key, start, length)]
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
        return [replace(one, sge=self.sge) for one in self.transfer.memory(self.key, position, 1)]

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
        for number, (base, length, part) in enumerate(wide.legs(transfer.into)):
            if part.name in transfer.keys:
                key = transfer.key(part.name)
                runs = _runs(seen, _reached(wide, key, part, length))
                if any(start <= first < start + size for start, _, size in runs):
                    return _with_others([*_into_keys(wide, seen)], number)
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


def _into_keys(transfer: Transfer, seen: Seen) -> Iterator[Ledger]:
    """A ledger for each part of memory that a message goes into; one only for a key that is used twice."""
    told: set[str] = set()
    firsts = first_blocks(transfer, transfer.into, "mem")
    legs = list(transfer.legs(transfer.into))
    total = _length_of(transfer)
    for number, (base, length, part) in enumerate(legs):
        key = _key_or_plain(transfer, part)
        known = key is not None and part.name not in told
        runs = _runs(seen, _reached(transfer, key, part, length)) if key is not None and known else ()
        told.add(part.name)
        sge = number if len(legs) > 1 else -1
        start = _start(part)
        end = start + (length if total is None else max(0, min(length, total - base)))
        yield Ledger(transfer, key or _NO_KEY, "mem", base - start, runs, firsts[number], sge, wire_end=end)


def _length_of(transfer: Transfer) -> int | None:
    """The bytes of a message, None where the steps don't tell. A receive may have room for more."""
    try:
        return sum(length for _, length, _ in transfer.legs(transfer.source))
    except Unknown:
        return None


def _from_key(transfer: Transfer, seen: Seen, into: Part, base: int, position: int) -> Ledger | None:
    """What was seen is a plain buffer, which has the message: of a key's bytes on the wire if one is its source."""
    legs = list(transfer.legs(transfer.source))
    firsts = first_blocks(transfer, transfer.source, "wire")
    made: list[Ledger] = []
    found = -1
    for number, (begins, length, part) in enumerate(legs):
        if begins <= position < begins + length:
            if part.name not in transfer.keys:
                return None
            found = number
        runs, at = [], 0
        for piece in seen.pieces:
            name = unnamed(seen.wire.at) if seen.wire is not None else piece.buffer.name
            low = max(piece.start, _start(into) + begins - base)
            high = min(piece.start + piece.length, _start(into) + begins - base + length)
            if name == into.name and low < high:
                message = base + low - _start(into)
                runs.append((at + low - piece.start, message - begins + _start(part), high - low))
            at += piece.length
        key, sge = _key_or_plain(transfer, part), number if len(legs) > 1 else -1
        if key is None:
            runs = []
        made.append(Ledger(transfer, key or _NO_KEY, "wire", begins - _start(part), tuple(runs), firsts[number], sge))
    if found < 0:
        return None
    transfer.key(legs[found][2].name)
    return _with_others(made, found)


def _with_others(parts: list[Ledger], number: int) -> Ledger:
    """The ledger of one part of a message, which knows the others of which bytes were seen."""
    near = parts[max(0, number - MOST_PARTS) : number + MOST_PARTS]
    return replace(parts[number], others=tuple(one for one in near if one is not parts[number] and one.runs))


def _key_or_plain(transfer: Transfer, part: Part) -> Key | None:
    """The key of a part, None where its layout is unknown; of plain memory one without a name, over all of it."""
    if part.name in transfer.keys:
        return transfer.keys[part.name]
    return Key("", ((part.name, 0, WHOLE),), (0,))


_NO_KEY = Key("")


def first_blocks(transfer: Transfer, parts: Sequence[Part], side: Side) -> list[int]:
    """Of each part of a message: the number, in the message, of the block with the first byte of its key.

    A block that one part begins and the next one goes on with is one block.
    """
    firsts: list[int] = []
    before = 0
    goes_on: tuple[str, int] | None = None
    for _, length, part in transfer.legs(parts):
        start = _start(part)
        key = _key_or_plain(transfer, part)
        domain = None if key is None else key.wire if side == "wire" else key.mem
        if key is None or domain is None:
            firsts.append(0)
        elif goes_on == (part.name, start):
            firsts.append(firsts[-1])
        else:
            firsts.append(before - _block_of(key, domain, start))
        if key is not None and domain is not None and length:
            before = firsts[-1] + _block_of(key, domain, start + length - 1) + 1
        goes_on = part.name, start + length
    return firsts


def _block_of(key: Key, domain: Domain, i: int) -> int:
    """The block of `domain` with byte `i` of what a message sees of the key."""
    block, place, of_field = place_in(key.wire, i)
    if key.wire is None:
        return i // domain.block
    data = block * key.wire.block + (key.wire.block - 1 if of_field else place)
    return data // domain.block
