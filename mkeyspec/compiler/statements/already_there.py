"""Bytes that requests write to buffers: warns if an expectation would hold without them (MKS0611)."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.buffer_contents import names_in
from mkeyspec.compiler.eval.values import Handle, is_known_bytes
from mkeyspec.compiler.statements.order import look_arrival
from mkeyspec.compiler.statements.row_state import Brought, RowState
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.value.bytestring import ByteString, join, slice_of
from mkeyspec.value.layout import Part
from mkeyspec.value.live import is_known, known_number
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
            look_arrival(row, part, length, span)
            if not _anything_known(row, part.name):
                return
            segments = row.ledger.targets(part, length, span)
    except Fault:
        return
    for name, start, size in segments:
        if size:
            row.moved = (*row.moved, (name, start, start + size, span))


def _brought(row: RowState, part: Part, data: ByteString | None, span: Span) -> None:
    """Record what a request writes. None: unknown."""
    plain = part.name in row.ledger.buffers or row.ledger.mkey(part.name).domains == PLAIN
    if plain and is_known(part.start):
        segments = row.ledger.targets(part, known_number(part.length) if data is None else data.length, span)
    else:
        data, segments = None, row.ledger.targets(part, None, span)
    at = 0
    for name, start, size in segments:
        here = None if data is None or at + size > data.length else slice_of(data, at, size)
        row.brought = (*row.brought, Brought(name, start, start + size, here, span))
        at += size


def _brought_twice(row: RowState, observed: plan.Content, wanted: ByteString) -> Span | None:
    """The last request that writes some of these bytes, if the one before it has written the same."""
    at = 0
    for part in observed.parts:
        bounds = part.bounds()
        if bounds is None:
            return None
        start, length = bounds
        found = [one for one in row.brought if one.name == part.name and _overlap(part, one.start, one.end)]
        if len(found) > 1 and length:
            _, low, high, data, _ = found[-2]
            if data is not None and low <= start and start + length <= high:
                before = slice_of(data, start - low, length)
                if same(before, slice_of(wanted, at, length)):
                    return found[-1].span
        at += length
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
    by: Span | None = None
    said = True
    for part in observed.parts:
        bounds = part.bounds()
        if bounds is None:
            return
        start, length = bounds
        for name, low, high, where in row.moved:
            if name == part.name and low < start + length and start < high:
                by = where
        for piece in row.ledger.buffers[part.name].pieces:
            if piece.data is None and piece.start < start + length and start < piece.end:
                said = False
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
            for name, start, size in segments:
                if any(part.name == name and _overlap(part, start, start + size) for part in observed.parts):
                    return span
    return None


def same(a: ByteString, b: ByteString) -> bool:
    return a.length == b.length and (a == b or (a.length <= MOST_COMPARED and a.data == b.data))


def looked_at(row: RowState, observed: plan.Content) -> None:
    """What is there is known from here on: nothing that moved before is unseen."""
    row.brought = tuple(
        one
        for one in row.brought
        if not any(part.name == one.name and _overlap(part, one.start, one.end) for part in observed.parts)
    )
    if row.moved:
        row.moved = tuple(
            one
            for one in row.moved
            if not any(part.name == one[0] and _overlap(part, one[1], one[2]) for part in observed.parts)
        )


def written_by_host(row: RowState, segments: list[Segment]) -> None:
    """The host has written there: the bytes of requests are overwritten."""
    row.brought = tuple(
        one
        for one in row.brought
        if not any(one.name == name and one.start < start + size and start < one.end for name, start, size in segments)
    )


def _overlap(part: Part, low: int, high: int) -> bool:
    bounds = part.bounds()
    return bounds is None or (low < bounds[0] + bounds[1] and bounds[0] < high)


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
