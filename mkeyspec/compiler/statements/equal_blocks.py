"""A warning about data whose blocks are all equal: a device that swaps two of them, or sends one twice, passes.

It is checked where the data goes through a key with a signature, however the bytes were composed.
"""

from __future__ import annotations

from mkeyspec.compiler.eval.values import Handle
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString, Framed, Repeat, Slice, repeat, slice_of

MEANT = frozenset({"CRC-05", "DIF-06"})
"""Requirements (a seed starts every block again) whose cases want blocks that are all equal."""


def check_sent(row: RowState, mkey: str, length: int | None, span: Span) -> None:
    """Data leaves through an mkey; `length` of it on the wire, None: not known."""
    mem, wire = row.ledger.mkey(mkey).domains
    domain = mem or wire
    if domain is None or _is_meant(row):
        return
    try:
        data = row.ledger.content(Handle("mkey", mkey), span)
    except Fault:
        return
    frame = domain.frame if mem is not None else domain.block
    if length is not None:  # a part of the layout may remain
        raw = length if wire is None else length // wire.frame * wire.block
        if raw // domain.block < data.length // frame:
            data = slice_of(data, 0, raw // domain.block * frame)
    _look(row, data, domain.block, frame, span)


def check_received(row: RowState, mkey: str, data: ByteString | None, span: Span) -> None:
    """Data arrives through an mkey; None: unknown."""
    mem, wire = row.ledger.mkey(mkey).domains
    domain = wire or mem
    if domain is not None and data is not None and not _is_meant(row):
        _look(row, data, domain.block, domain.frame if wire is not None else domain.block, span)


def _is_meant(row: RowState) -> bool:
    return any(name.text in MEANT for name in row.case.verifies)


def _look(row: RowState, data: ByteString, block: int, frame: int, span: Span) -> None:
    if all_equal(data, block, frame):
        row.diagnostics.warning(
            "MKS0607",
            f"all blocks of {block} bytes are equal: a swap of two goes unseen",
            span,
            help="counter(n), or random(n, seed=1)",
        )


def all_equal(data: ByteString, block: int, frame: int) -> bool:
    """Two frames or more, and the first `block` bytes of each are the same, as far as the expressions tell."""
    count = data.length // frame
    if count < 2:
        return False
    first = _piece(data, 0, block)
    return all(_piece(data, at * frame, block) == first for at in range(1, count))


def _piece(data: ByteString, start: int, length: int) -> ByteString:
    """Bytes of `data`, as a piece of what it was made of where that has them. No byte is computed."""
    match data:
        case Slice(of, first):
            return _piece(of, first + start, length)
        case Repeat(of):
            within = start % of.length
            if within + length <= of.length:
                return _piece(of, within, length)
            if within == length % of.length == 0:
                return repeat(of, length // of.length)
        case Framed(of, domain):
            number, within = divmod(start, domain.frame)
            if within + length <= domain.block:
                return _piece(of, number * domain.block + within, length)
        case _:
            pass  # not made of another one's bytes, in a row
    found = slice_of(data, start, length)
    return _piece(found.of, found.start, length) if isinstance(found, Slice) and found.of is not data else found
