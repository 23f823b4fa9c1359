"""A drawing of the way of some bytes: memory, mkey, wire, in cells side by side, those marked that differ."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from mkeyspec import plan
from mkeyspec.run.ledger import Ledger, Positions, first_blocks
from mkeyspec.run.ledger_text import ranges_of, sge_of
from mkeyspec.run.route import Key, Piece, Unknown, place_in
from mkeyspec.value.signature import Domain

MOST_CELLS = 6
WIDEST = 108
"""Columns of text."""

NOT_WRITTEN = "not written"
"""In the place of bytes of the wire: the message is shorter than the memory that is compared."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Bytes that go together: what they are in memory, in the mkey and on the wire. "" where there are none.

    `unit`: the data unit of AES-XTS; `sge`: the SGE of the work request, of a message with several.
    """

    memory: str
    key: str
    wire: str
    bad: bool
    unit: str = ""
    sge: str = ""

    @property
    def through(self) -> str:
        """The SGE and the entry."""
        return ", ".join(filter(None, (self.sge, self.key)))


@dataclass(frozen=True, slots=True)
class Drawing:
    """`key`: its name, "" of bytes that go through none. `side`: where the bytes differ, "wire" or "mem". `before`,
    `after`: whether there are more than these cells."""

    key: str
    side: str
    cells: tuple[Cell, ...]
    before: bool
    after: bool

    def lines(self) -> list[str]:
        """As text: the marks are under the row that was compared."""
        rows = self.rows()
        width = max(map(len, rows))
        widths = self._widths(rows)
        while len(widths) > 1 and width + sum(widths) + 3 * len(widths) + 6 > WIDEST:
            widths.pop()
        cut = self.after or len(widths) < len(self.cells)
        start, end = "… │ " if self.before else "│ ", " │ …" if cut else " │"
        lines = []
        for name, row in rows.items():
            cells = " │ ".join(text.ljust(size) for text, size in zip(row, widths, strict=False))
            lines.append(f"{name:<{width}} {start}{cells}{end}")
            bad = any(one.bad for one in self.cells[: len(widths)])
            if bad and name == ("wire" if self.side == "wire" else "memory"):
                marks = "   ".join(
                    ("^" * size if one.bad else " " * size) for one, size in zip(self.cells, widths, strict=False)
                )
                lines.append(f"{'':<{width}} {' ' * len(start)}{marks}".rstrip())
        return lines

    def rows(self) -> dict[str, list[str]]:
        """The texts of the cells, by the names of the rows, from top to bottom."""
        rows = {"memory": [one.memory for one in self.cells]}
        if self.key:
            rows[self.key] = [one.key for one in self.cells]
        if any(one.unit for one in self.cells):
            rows["unit"] = [one.unit for one in self.cells]
        if any(one.sge for one in self.cells):
            rows["SGE"] = [one.sge for one in self.cells]
        return rows | {"wire": [one.wire for one in self.cells]}

    def bands(self) -> Iterator[Drawing]:
        """The same cells in drawings that are narrow enough for a line of text, each as long as it can be."""
        rows = self.rows()
        room = WIDEST - max(map(len, rows)) - 6
        start = used = 0
        for number, size in enumerate(self._widths(rows)):
            if number > start and used + size + 3 > room:
                yield replace(self, cells=self.cells[start:number], before=self.before or start > 0, after=True)
                start, used = number, 0
            used += size + 3
        yield replace(self, cells=self.cells[start:], before=self.before or start > 0)

    def _widths(self, rows: Mapping[str, Sequence[str]]) -> list[int]:
        return [max(4, *(len(row[n]) for row in rows.values())) for n in range(len(self.cells))]


MOST_DRAWN = 12
"""Cells of a drawing that begins at the first byte; of more, the last block or entry is drawn too."""


def whole_drawing(ledger: Ledger) -> Drawing | None:
    """The bytes of a ledger from the first one, and the last ones where there are many; None as `drawing_of`."""
    none = np.empty(0, dtype=np.intp)
    low, high = ledger.extent
    first, last = _data_of(ledger.domain, low), _data_of(ledger.domain, high)
    try:
        cells = list(islice(_cells(ledger, first, none, ledger.key.crypto), MOST_DRAWN + 1))
        if len(cells) > MOST_DRAWN:
            end = list(islice(_cells(ledger, _start_of_last(ledger, last), none, ledger.key.crypto), MOST_DRAWN))
            cells = [*cells[:MOST_DRAWN], Cell("…", "…", "…", False), *end]
    except Unknown:
        return None
    return Drawing(ledger.key.name, ledger.side, tuple(cells), False, False) if cells else None


def _start_of_last(ledger: Ledger, last: int) -> int:
    """The first data byte of the last block, data unit or entry."""
    key = ledger.key
    sizes = [domain.block for domain in (key.mem, key.wire) if domain is not None] or _units(key)
    if sizes:
        return max(last // size * size for size in sizes)
    return key.starts[bisect_right(key.starts, last) - 1]


def _units(key: Key) -> list[int]:
    """The size of a data unit, of a key whose data units are bytes of data alone."""
    return [key.crypto.data_unit] if key.crypto is not None and not key.signed else []


def drawing_of(ledger: Ledger, where: Positions) -> Drawing | None:
    """The cells from the block or the entry of the first byte that differs on; None where the steps don't tell."""
    positions = ledger.positions(where)
    if not len(positions):
        return None
    key, domain = ledger.key, ledger.domain
    block, place, _ = place_in(domain, int(positions[0]))
    other = key.mem or key.wire
    if domain is not None:
        first = block * domain.block
    elif other is not None:
        first = place // other.block * other.block
    else:
        first = key.starts[bisect_right(key.starts, place) - 1]
    if ledger.sge >= 0:  # what is before is of another SGE
        first = max(first, _data_of(domain, ledger.extent[0]))
    parts = ledger.parts
    begun = next(number for number, part in enumerate(parts) if part is ledger)
    several = len({one.key.name for one in parts if one.key.name}) > 1

    def all_cells() -> Iterator[Cell]:
        for part in parts[begun:]:
            if part.runs:
                named = f"{part.key.name}: " if several and part.key.name else ""
                for cell in _from_start(part, part.positions(where), first if part is ledger else None):
                    shown = named + cell.key if cell.key.startswith(("entry", "turn")) else cell.key
                    yield replace(cell, sge=sge_of(part.sge), key=shown)

    try:
        cells = list(islice(all_cells(), MOST_CELLS + 1))
    except Unknown:
        return None
    if not cells:
        return None
    before = first > 0 or begun > 0
    name = "mkey" if several else key.name
    return Drawing(name, ledger.side, tuple(cells[:MOST_CELLS]), before, len(cells) > MOST_CELLS)


def _cells(ledger: Ledger, start: int, positions: Positions, crypto: plan.SetCrypto | None = None) -> Iterator[Cell]:
    """Cells of data from `start` on, cut by entries and blocks, each block with its fields after it; of a key without
    a signature also by the data units of `crypto`."""
    key, transfer = ledger.key, ledger.transfer
    domains = [domain for domain in (key.mem, key.wire) if domain is not None]
    end = _data_of(ledger.domain, ledger.extent[1]) + 1
    arrived = _arrived(ledger, end)
    while start < end:
        units = [] if crypto is None else _units(key)
        blocks = [domain.block for domain in domains] + units
        cuts = [end, arrived] if start < arrived else [end]
        length = min([*cuts, *((start // size + 1) * size for size in blocks)]) - start
        for piece in transfer.data(key, start, length):
            at = start + piece.at
            in_memory, on_wire = _stream(key.mem, at), _stream(key.wire, at)
            near = on_wire if ledger.side == "wire" else in_memory
            number = _number_on_the_wire(ledger, at)
            block = f"block {number}: " if number is not None else ""
            wire = f"{block}[{ledger.base + on_wire} +: {piece.length}]" if at < arrived else NOT_WRITTEN
            unit = f"{at // units[0]}: tweak {_tweak(crypto, at // units[0])}" if crypto is not None and units else ""
            yield Cell(ranges_of([piece]), _way(piece), wire, _differs(positions, near, piece.length), unit)
        start += length
        if any(start % domain.block == 0 for domain in domains) and _has_field(ledger, start):
            if start <= arrived:
                yield _field(ledger, start, positions)
            elif key.mem is not None:
                yield replace(_field(ledger, start, positions), key="", wire=NOT_WRITTEN)


def _arrived(ledger: Ledger, end: int) -> int:
    """Where the data ends that the message has; `end` where it has all."""
    if ledger.wire_end is None:
        return end
    return _data_of(ledger.key.wire, ledger.wire_end - 1) + 1 if ledger.wire_end else 0


def _from_start(ledger: Ledger, positions: Positions, first: int | None) -> Iterator[Cell]:
    """The cells of a part of a message from a byte of data on, or from its first byte, which may be of a field."""
    domain, start = ledger.domain, ledger.extent[0]
    if first is None:
        first = _data_of(domain, start)
        if domain is not None and place_in(domain, start)[2]:
            first += 1
            yield _field(ledger, first, positions)
    yield from _cells(ledger, first, positions)


def _has_field(ledger: Ledger, end: int) -> bool:
    """Whether the fields after data that ends at `end` are among what was seen."""
    domain = ledger.domain
    return domain is None or end % domain.block != 0 or _field_at(domain, end) <= ledger.extent[1]


def _field_at(domain: Domain, end: int) -> int:
    return end // domain.block * domain.frame - domain.signature.field_size


def _number_on_the_wire(ledger: Ledger, data: int) -> int | None:
    """The number in the message of the block on the wire with a byte of data; None without a signature there."""
    wire = ledger.key.wire
    if wire is None:
        return None
    if ledger.side == "wire":
        return data // wire.block + ledger.first_block
    parts = ledger.transfer.into
    firsts = first_blocks(ledger.transfer, parts, "wire")
    return data // wire.block + firsts[max(ledger.sge, 0)]


def _field(ledger: Ledger, end: int, positions: Positions) -> Cell:
    """The fields of the blocks that end before the data byte `end`."""
    key = ledger.key
    memory = wire = ""
    bad = False
    for domain, side in ((key.mem, "mem"), (key.wire, "wire")):
        if domain is None or end % domain.block:
            continue
        at, size = _field_at(domain, end), domain.signature.field_size
        if side == ledger.side and ledger.sge >= 0:  # an SGE may cut it
            low, high = ledger.extent
            at, size = max(at, low), min(at + size, high + 1) - max(at, low)
        if side == "mem":
            memory = ranges_of(ledger.transfer.memory(key, at, size))
        else:
            wire = f"{domain.signature.kind} [{ledger.base + at} +: {size}]"
        if side == ledger.side:
            bad = _differs(positions, at, size)
    into, out = (memory, wire) if ledger.into or ledger.side == "mem" else (wire, memory)
    done = "checked, copied or computed" if into and out else "computed" if into else "checked"
    return Cell(memory, done, wire, bad)


def _tweak(crypto: plan.SetCrypto, unit: int) -> str:
    """Of a data unit (IEEE 1619-2007, 5.1)."""
    return f"{crypto.tweak + unit & (1 << 128) - 1:#x}"


def _way(piece: Piece) -> str:
    """ "" of plain memory, whose layout has no name."""
    if piece.path and not piece.path[0].key:
        return ""
    return " → ".join(str(hop) if not n else f"{hop.key}: {hop}" for n, hop in enumerate(piece.path))


def _stream(domain: Domain | None, data: int) -> int:
    """Where a byte of data is in a stream with the fields of `domain`."""
    return data if domain is None else data // domain.block * domain.frame + data % domain.block


def _data_of(domain: Domain | None, position: int) -> int:
    """The byte of data at a position of such a stream; of a field, the last one before it."""
    block, place, of_field = place_in(domain, position)
    if domain is None:
        return position
    return block * domain.block + (domain.block - 1 if of_field else place)


def _differs(positions: Positions, start: int, length: int) -> bool:
    low, high = np.searchsorted(positions, (start, start + length))
    return bool(low < high)
