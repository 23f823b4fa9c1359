"""Bytes that requests write to buffers: warns if an expectation would hold without them (MKS0611)."""

from __future__ import annotations

import sys

from mkeyspec import plan
from mkeyspec.compiler.eval.buffer_contents import names_in
from mkeyspec.compiler.eval.values import Handle, is_known_bytes
from mkeyspec.compiler.statements.order import check_arrival
from mkeyspec.compiler.statements.row_state import Brought, Moved, RowState
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.value.bytestring import ByteString, join, slice_of
from mkeyspec.value.layout import Part
from mkeyspec.value.live import is_known, known_number
from mkeyspec.value.regions import Regions
from mkeyspec.value.signature import PLAIN

MOST_COMPARED = 1 << 16
"""Bytes of two expressions that are computed to see whether they are the same; longer ones are compared as written."""


def moved_into(row: RowState, part: Part, length: int | None, span: Span, data: ByteString | None = None) -> None:
    """A successful request writes `data` into `part`: an mkey's layout, or bytes of a buffer."""
    segments: list[Segment]
    _brought(row, part, data, span)
    try:
        if part.name in row.ledger.buffers:
            start = part.start
            if not is_known(start) or length is None:
                return
            segments = [(part.name, start, length)]
        else:
            check_arrival(row, part, length, span)
            if not _anything_known(row, part.name):
                return
            segments = row.ledger.targets(part, length, span)
    except Fault:
        return
    if regions := Regions.of(segments):
        row.moved = (*row.moved, Moved(regions, span))


def _brought(row: RowState, part: Part, data: ByteString | None, span: Span) -> None:
    """Record what a request writes. None: unknown."""
    plain = part.name in row.ledger.buffers or row.ledger.mkey(part.name).domains == PLAIN
    if plain and is_known(part.start):
        segments = row.ledger.targets(part, known_number(part.length) if data is None else data.length, span)
    else:
        data, segments = None, row.ledger.targets(part, None, span)
    if regions := Regions.of(segments):
        for one in row.brought:
            if one.step < len(row.steps) and one.regions.inside(regions):
                _overwritten(row, one, span)
        row.brought = (*row.brought, Brought(regions, data, span, len(row.steps)))


def _overwritten(row: RowState, earlier: Brought, span: Span) -> None:
    """Of a request, and of one before it whose bytes nothing has looked at."""
    row.held.warning(
        "MKS0616",
        "no statement checks what this moves, before it is overwritten",
        earlier.span,
        notes=(Note("this overwrites it", span),),
        help="add an `expect` of these bytes between the two",
    )


def _brought_twice(row: RowState, observed: plan.Content, wanted: ByteString) -> Span | None:
    """The last request that writes some of these bytes, if the one before it has written the same."""
    if len(row.brought) < 2:
        return None
    at = 0
    for part in observed.parts:
        bounds = part.bounds()
        if bounds is None:
            return None
        start, length = bounds
        found = [one for one in row.brought if one.regions.overlapping(part.name, start, start + length)]
        if len(found) > 1 and length:
            before = _all_of(found[-2], part.name, start, length)
            if before is not None and same(before, slice_of(wanted, at, length)):
                return found[-1].span
        at += length
    return None


def _all_of(brought: Brought, name: str, start: int, length: int) -> ByteString | None:
    """What a request writes to these bytes, if one of its regions has them all."""
    for low, high, at in brought.regions.overlapping(name, start, start + length):
        if low <= start and start + length <= high:
            at += start - low
            known = brought.data is not None and at + length <= brought.data.length
            return slice_of(brought.data, at, length) if known and brought.data is not None else None
    return None


def _anything_known(row: RowState, mkey: str) -> bool:
    """Whether any buffer right after an mkey has known bytes."""
    key = row.ledger.mkeys.mkey(mkey)
    layout = None if key is None else key.layout
    if layout is None:
        return False
    for name in names_in(layout):
        buffer = row.ledger.buffers.get(name)
        if buffer is None or any(piece.data is not None for piece in buffer.pieces):
            return True
    return False


def already_there(row: RowState, observed: plan.Content, expected: plan.Expected, span: Span) -> None:
    """The expected bytes, or one alternative, equal the bytes before the transfer."""
    alternatives = plan.alternatives_of(expected)
    several = isinstance(expected, plan.OneOf)
    kept = several and plan.Unchanged() in alternatives
    wanted = [one for one in alternatives if is_known_bytes(one)]
    for one in wanted:
        if (again := _brought_twice(row, observed, one)) is not None:
            _there_already(row, several, span, again)
            return
    if kept and not row.moved and (writer := _written_by(row, observed)) is not None:
        _there_already(row, several, span, writer)
    if not row.moved or not (kept or wanted):
        return
    segments: list[Segment] = []
    for part in observed.parts:
        bounds = part.bounds()
        if bounds is None:
            return
        segments.append((part.name, *bounds))
    regions = Regions.of(segments)
    by = next((one.span for one in reversed(row.moved) if one.regions.overlaps(regions)), None)
    said = all(
        piece.data is not None
        for name, start, length in segments
        for piece in row.ledger.buffers[name].within(start, start + length)
    )
    if by is None or not (kept or said):
        return
    there = join([row.ledger.content(part, span) for part in observed.parts]) if said else None
    if kept or (there is not None and any(same(there, one) for one in wanted)):
        _there_already(row, several, span, by)


def _there_already(row: RowState, several: bool, span: Span, by: Span) -> None:
    row.diagnostics.warning(
        "MKS0611",
        ("one of these is" if several else "these bytes are") + " there already, whatever is moved",
        span,
        notes=(Note("before this moves them", by),),
        help="other bytes before, or after: counter(n), random(n, seed=1), or a memory without bytes",
    )


def _written_by(row: RowState, observed: plan.Content) -> Span | None:
    """The statement that writes to these bytes since they were last checked, unless its claim allows that it does
    nothing. For buffers with unknown content, which `moved` does not have.
    """
    for step in reversed(row.steps):
        if isinstance(step, plan.Expect) and step.operator == "==" and covers(step.observed, observed):
            return None
        if isinstance(step, plan.Receive) and not step.claim and step.known is None:
            span = row.origin.get(step)
            try:
                segments = row.ledger.segments(Handle("mkey", step.part.name), span)
            except Fault:
                continue
            if Regions.of(segments).overlaps(_regions(observed)):
                return span
    return None


def same(a: ByteString, b: ByteString) -> bool:
    return a.length == b.length and (a == b or (a.length <= MOST_COMPARED and a.data == b.data))


def looked_at(row: RowState, observed: plan.Content) -> None:
    """What is there is known from here on: nothing that moved before is unseen."""
    regions = _regions(observed)
    row.brought = tuple(one._replace(regions=left) for one in row.brought if (left := one.regions.without(regions)))
    row.moved = tuple(one._replace(regions=left) for one in row.moved if (left := one.regions.without(regions)))


def written_by_host(row: RowState, segments: list[Segment]) -> None:
    """The host has written there: the bytes of requests are overwritten."""
    regions = Regions.of(segments)
    row.brought = tuple(one._replace(regions=left) for one in row.brought if (left := one.regions.without(regions)))


def _regions(observed: plan.Content) -> Regions:
    """What is looked at; of a part at a place that the device says, all of its buffer."""
    return Regions.of([(part.name, *(part.bounds() or (0, sys.maxsize))) for part in observed.parts])


def covers(seen: plan.Observed, observed: plan.Content) -> bool:
    if not plan.is_content(seen):
        return False
    return all(any(_within(part, other) for other in seen.parts) for part in observed.parts)


def _within(part: Part, other: Part) -> bool:
    mine, theirs = part.bounds(), other.bounds()
    if part.name != other.name or mine is None or theirs is None:
        return False
    (start, length), (first, size) = mine, theirs
    return first <= start and start + length <= first + size
