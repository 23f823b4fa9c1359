"""A drawing of the way of some bytes: memory, mkey, wire, in cells side by side, those marked that differ."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mkeyspec.run.ledger import Ledger, Positions
from mkeyspec.run.ledger_text import ranges_of
from mkeyspec.run.route import Piece, Unknown, place_in
from mkeyspec.value.signature import Domain

MOST_CELLS = 6
WIDEST = 108
"""Columns of text."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Bytes that go together: what they are in memory, in the mkey and on the wire. "" where there are none."""

    memory: str
    key: str
    wire: str
    bad: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """`side`: where the bytes differ, "wire" or "mem". `before`, `after`: whether there are more than these cells."""

    key: str
    side: str
    cells: tuple[Cell, ...]
    before: bool
    after: bool

    def lines(self) -> list[str]:
        """As text: the marks are under the row that was compared."""
        rows = {"memory": [one.memory for one in self.cells], self.key: [one.key for one in self.cells]}
        rows |= {"wire": [one.wire for one in self.cells]}
        width = max(map(len, rows))
        widths = [max(4, *(len(row[n]) for row in rows.values())) for n in range(len(self.cells))]
        while len(widths) > 1 and width + sum(widths) + 3 * len(widths) + 6 > WIDEST:
            widths.pop()
        cut = self.after or len(widths) < len(self.cells)
        start, end = "… │ " if self.before else "│ ", " │ …" if cut else " │"
        lines = []
        for name, row in rows.items():
            cells = " │ ".join(text.ljust(size) for text, size in zip(row, widths, strict=False))
            lines.append(f"{name:<{width}} {start}{cells}{end}")
            if name == ("wire" if self.side == "wire" else "memory"):
                marks = "   ".join(
                    ("^" * size if one.bad else " " * size) for one, size in zip(self.cells, widths, strict=False)
                )
                lines.append(f"{'':<{width}} {' ' * len(start)}{marks}".rstrip())
        return lines


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
    try:
        cells = list(islice(_cells(ledger, first, positions), MOST_CELLS + 1))
    except Unknown:
        return None
    if not cells:
        return None
    return Drawing(key.name, ledger.side, tuple(cells[:MOST_CELLS]), first > 0, len(cells) > MOST_CELLS)


def _cells(ledger: Ledger, start: int, positions: Positions) -> Iterator[Cell]:
    """Cells of data from `start` on, cut by entries and blocks, each block with its fields behind it."""
    key, transfer = ledger.key, ledger.transfer
    domains = [domain for domain in (key.mem, key.wire) if domain is not None]
    end = _data_of(ledger.domain, ledger.extent[1]) + 1
    while start < end:
        length = min([end, *((start // domain.block + 1) * domain.block for domain in domains)]) - start
        for piece in transfer.data(key, start, length):
            at = start + piece.at
            in_memory, on_wire = _stream(key.mem, at), _stream(key.wire, at)
            near = on_wire if ledger.side == "wire" else in_memory
            block = f"block {at // key.wire.block}: " if key.wire is not None else ""
            wire = f"{block}[{ledger.base + on_wire} +: {piece.length}]"
            yield Cell(ranges_of([piece]), _way(piece), wire, _differs(positions, near, piece.length))
        start += length
        if any(start % domain.block == 0 for domain in domains):
            yield _field(ledger, start, positions)


def _field(ledger: Ledger, end: int, positions: Positions) -> Cell:
    """The fields of the blocks that end before the data byte `end`."""
    key = ledger.key
    memory = wire = ""
    bad = False
    for domain, side in ((key.mem, "mem"), (key.wire, "wire")):
        if domain is None or end % domain.block:
            continue
        at, size = end // domain.block * domain.frame - domain.signature.field_size, domain.signature.field_size
        if side == "mem":
            memory = ranges_of(ledger.transfer.memory(key, at, size))
        else:
            wire = f"{domain.signature.kind} [{ledger.base + at} +: {size}]"
        if side == ledger.side:
            bad = _differs(positions, at, size)
    into, out = (wire, memory) if ledger.side == "wire" else (memory, wire)
    done = "checked, copied or computed" if into and out else "computed" if into else "checked"
    return Cell(memory, done, wire, bad)


def _way(piece: Piece) -> str:
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
