"""A ledger as text: the block of a byte, where it comes from, and which fields, blocks and entries differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mkeyspec.run.ledger import Ledger, Place, Positions, fields_of
from mkeyspec.run.route import Piece
from mkeyspec.value.signature import Domain

SHOWN = 3
"""Pieces, blocks and entries that are written one by one."""

Detail = tuple[str, str]


def block_lines(ledger: Ledger, i: int) -> Iterator[Detail]:
    """The block part of a failure, for byte `i` of what was observed."""
    place = ledger.place(i)
    if place is None:
        return
    sources, through = ledger.sources(i), ledger.through(i)
    domain = ledger.domain
    if place.block is not None:
        order = f" ({place.order} endian)" if place.order else ""
        yield "block", f"{place_text(place, ledger.key.name)}{order}, {_side(ledger)}"
    if domain is not None and place.field:
        yield from _field_source(ledger, domain, place, sources)
    elif sources:
        way = way_of(sources)
        yield "from", ranges_of(sources) + (f" ({way})" if way else "")
    if through:
        yield "through", f"{way_of(through)}, which is {ranges_of(through)}"


def place_text(place: Place, key: str) -> str:
    """`block 2 of the message (block 0 of `k`), guard, byte 0 of 2`: its number in the key only where it is another."""
    other = "" if place.of_key == place.block else f" of the message (block {place.of_key} of `{key}`)"
    what = f"{place.field}, byte" if place.field else "data byte"
    return f"block {place.block}{other}, {what} {place.byte} of {place.size}"


def _side(ledger: Ledger) -> str:
    return f"on the wire of `{ledger.key.name}`" if ledger.side == "wire" else f"in the memory of `{ledger.key.name}`"


def _field_source(ledger: Ledger, domain: Domain, place: Place, sources: Sequence[Piece]) -> Iterator[Detail]:
    signature = domain.signature
    over = ranges_of(sources) or f"block {place.block}"
    if place.field in ("application tag", "reference tag"):
        step = f", plus block {place.block}" if signature.remap and place.field == "reference tag" else ""
        yield "computed", f"from {signature.describe()}{step}"
    else:
        yield "computed", f"{signature.describe()} over block {place.block}: {over}"
    way = way_of(sources)
    if way:
        yield "", way
    other = ledger.key.mem if ledger.side == "wire" else ledger.key.wire
    if other is not None and (other.block, other.signature.kind) == (domain.block, domain.signature.kind):
        side = "memory" if ledger.side == "wire" else "wire"
        yield "", f"or copied from the field of this block in the {side} domain: both have one structure"


def groups(ledger: Ledger, where: Positions) -> Iterator[str]:
    """Which fields and which data, or which entries, have the bytes that differ: a line each. Blocks are counted in the
    message, also those of its other parts that have the same structure."""
    parts = [(one, one.positions(where)) for one in ledger.parts]
    if not len(ledger.positions(where)):
        return
    domain = ledger.domain
    if domain is not None:
        yield from _by_field(domain, [(one, found) for one, found in parts if one.domain == domain])
    for one, found in parts:
        many = one is not ledger and (domain is None or one.domain != domain)
        if many and len(found) and (one.domain is not None or len(one.key.segments) < 2):
            yield f"{sge_of(one.sge)}: {len(found)} byte{'s' if len(found) > 1 else ''}"
        if len(one.key.segments) > 1:
            sge = f"{sge_of(one.sge)}: " if len(parts) > 1 else ""
            yield from (f"{sge}{line}" for line in _by_entry(one, one.in_memory(found)))


def _by_field(domain: Domain, parts: Sequence[tuple[Ledger, Positions]]) -> Iterator[str]:
    """`parts`: of the message, with the positions that differ."""
    blocks, places, seen = [], [], []
    for ledger, positions in parts:
        block, at = np.divmod(positions, domain.frame)
        blocks.append(block + ledger.first_block)
        places.append(at)
        first, last = (end // domain.frame + ledger.first_block for end in ledger.extent)
        seen.append(np.arange(first, last + 1))
    block, place, count = np.concatenate(blocks), np.concatenate(places), len(np.unique(np.concatenate(seen)))
    for name, start, size in fields_of(domain):
        low = domain.block + start
        its = (place >= low) & (place < low + size)
        found = np.unique(block[its])
        if not len(found):
            yield f"{name}: equal"
            continue
        bytes_of = np.unique(place[its] - low)
        part = (
            "" if len(bytes_of) == size else f", byte{'s' if len(bytes_of) > 1 else ''} {numbers(bytes_of)} of {size}"
        )
        yield f"{name}: {_of_all('block', found, count)}{part}"
    data = place < domain.block
    found = np.unique(block[data])
    if not len(found):
        yield "data: equal"
        return
    sum_ = int(data.sum())
    yield f"data: {sum_} byte{'s' if sum_ > 1 else ''} in {_of_all('block', found, count)}"


def _of_all(word: str, found: Positions, count: int) -> str:
    if len(found) == count:
        return f"{word} {numbers(found)}, the only one" if count == 1 else f"{word}s {numbers(found)}, every one"
    return f"{word}{'s' if len(found) > 1 else ''} {numbers(found)}, {len(found)} of {count}"


def _by_entry(ledger: Ledger, offsets: Positions) -> Iterator[str]:
    """`offsets`: of the bytes that differ, in the key's layout."""
    key = ledger.key
    starts = np.asarray(key.starts)
    first, last = np.searchsorted(starts, ledger.memory_extent, "right") - 1
    entries, counts = np.unique(np.searchsorted(starts, offsets, "right") - 1, return_counts=True)
    if not len(entries):
        return
    told = []
    for entry, count in list(zip(entries.tolist(), counts.tolist(), strict=True))[:SHOWN]:
        hop = key.hop(entry, 0)
        turn = f"turn {hop.turn}, " if hop.turn >= 0 else ""
        told.append(f"{turn}entry {hop.entry} ({count} of {key.segments[entry][2]} bytes)")
    left = len(entries) - len(told)
    more = f" and {left} more" if left else ""
    yield f"{', '.join(told)}{more}: {len(entries)} of {int(last - first) + 1} entries of `{key.name}`"


def ranges_of(pieces: Sequence[Piece]) -> str:
    """`src[4096 +: 4096]`, pieces that follow each other as one."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and last.name == piece.name and last.start + last.length == piece.start:
            joined[-1] = replace(last, length=last.length + piece.length)
        else:
            joined.append(piece)
    text = ", ".join(
        f"{_named(one.name)}[{one.start}]" if one.length == 1 else f"{_named(one.name)}[{one.start} +: {one.length}]"
        for one in joined[:SHOWN]
    )
    return text + (f" and {len(joined) - SHOWN} pieces more" if len(joined) > SHOWN else "")


def _named(name: str) -> str:
    """A buffer of a short form has no name of its own; its key has a colon."""
    return "the peer's data" if ":" in name else name


def way_of(pieces: Sequence[Piece]) -> str:
    """`k: entry 0 + 4096 … entry 1 + 1999`: the first byte and the last, through every key on the way."""
    if not pieces or not pieces[0].path:
        return sge_of(pieces[0].sge) if pieces else ""
    first, last = pieces[0], pieces[-1]
    text = " → ".join([*([sge_of(first.sge)] if first.sge >= 0 else ()), *(f"{hop.key}: {hop}" for hop in first.path)])
    ends = [replace(hop, offset=hop.offset + last.length - 1) for hop in last.path]
    if first.path == tuple(ends):
        return text
    if tuple(replace(hop, offset=0) for hop in ends) == tuple(replace(hop, offset=0) for hop in first.path):
        return f"{text} … {ends[-1].offset}"
    names = " → ".join(str(hop) if len(ends) == 1 else f"{hop.key}: {hop}" for hop in ends)
    return f"{text} … {names}"


def sge_of(number: int) -> str:
    """An SGE of a work request: of a message with one, nothing is said."""
    return f"sg_list[{number}]" if number >= 0 else ""


def numbers(values: Sequence[int] | Positions) -> str:
    """`0..2, 5 and 3 more`: numbers in order, without repetitions."""
    array = np.asarray(values, dtype=np.intp)
    breaks = np.flatnonzero(np.diff(array) > 1)
    starts = array[np.concatenate(([0], breaks + 1))]
    ends = array[np.concatenate((breaks, [len(array) - 1]))]
    shown = [f"{a}" if a == b else f"{a}..{b}" for a, b in zip(starts[:SHOWN], ends[:SHOWN], strict=True)]
    left = int((ends[SHOWN:] - starts[SHOWN:] + 1).sum())
    return ", ".join(shown) + (f" and {left} more" if left else "")
