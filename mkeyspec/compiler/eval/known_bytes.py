"""The bytes of one buffer that are known, in pieces; for the others, why they are not."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString, slice_of


class Unsaid(NamedTuple):
    """Why some bytes are unknown; `span` is the statement that caused it."""

    why: str
    span: Span
    help: str = ""
    device: bool = False
    """Only the device determined them: an expectation may compare other bytes with what is there."""


class KnownPiece(NamedTuple):
    """Bytes [start, end) of a buffer; pieces of a buffer are in order, without gaps."""

    start: int
    end: int
    data: ByteString | None
    unsaid: Unsaid | None = None


class KnownBuffer(NamedTuple):
    length: int
    pieces: tuple[KnownPiece, ...]

    def within(self, start: int, end: int) -> tuple[KnownPiece, ...]:
        """The pieces that have bytes of [start, end)."""
        return self.pieces[self._after(start) : self._before(end)] if start < end else ()

    def written(self, new: KnownPiece) -> KnownBuffer:
        """The buffer with that piece instead of what is there. A layout may leave its buffer, which is told elsewhere
        (MKS0454): what is beyond the end is not kept."""
        if new.end > self.length:
            if new.start >= self.length:
                return self
            new = _cut(new, new.start, self.length)
        if new.start == 0 and new.end == self.length:
            return KnownBuffer(self.length, (new,))
        first, last = self._after(new.start), self._before(new.end)
        before = [_cut(piece, piece.start, new.start) for piece in self.pieces[first : first + 1]]
        after = [_cut(piece, new.end, piece.end) for piece in self.pieces[last - 1 : last]]
        kept = tuple([piece for piece in (*before, new, *after) if piece.start < piece.end])
        return KnownBuffer(self.length, self.pieces[:first] + kept + self.pieces[last:])

    def _after(self, start: int) -> int:
        """The number of the first piece that ends after `start`."""
        return bisect_right(self.pieces, start, key=_end)

    def _before(self, end: int) -> int:
        """The number of the first piece that begins at `end` or after it."""
        return bisect_left(self.pieces, end, key=_start)


def _start(piece: KnownPiece) -> int:
    return piece.start


def _end(piece: KnownPiece) -> int:
    return piece.end


def _cut(piece: KnownPiece, start: int, end: int) -> KnownPiece:
    low, high = max(start, piece.start), min(end, piece.end)
    if (low, high) == (piece.start, piece.end):
        return piece
    data = None if piece.data is None else slice_of(piece.data, low - piece.start, high - low)
    return KnownPiece(low, high, data, piece.unsaid)
