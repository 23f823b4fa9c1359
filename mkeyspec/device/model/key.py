"""Keys of one endpoint: registered memory, and mkeys with a layout over other keys.

A key is a 24-bit index and a tag. Translation turns (key, address, length) into pieces of memory, in order, without
copying; each rule that may refuse it is implemented here once. No byte is moved before the whole message is
translated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

import numpy as np

from mkeyspec.abi.constants import Access
from mkeyspec.device.model.access_error import Bytes as Bytes
from mkeyspec.device.model.access_error import Violation as Violation
from mkeyspec.device.model.crypto import Crypto
from mkeyspec.device.model.signature import Signature

LOCAL_WRITE = int(Access.LOCAL_WRITE)
DEPTH = 8
"""Greatest nesting of mkeys, so that a cycle is refused."""
SEGMENTS = 1 << 18
"""Most segments of one translation that are handled one by one."""


@dataclass(slots=True)
class Region:
    """Registered memory: `data` is what is at `addr`."""

    index: int
    key: int
    pd: int
    addr: int
    access: int
    data: Bytes


@dataclass(frozen=True, slots=True)
class ListLayout:
    """mlx5dv_wr_set_mkey_layout_list(3): (lkey, addr, length), one after the other."""

    entries: tuple[tuple[int, int, int], ...]
    length: int


@dataclass(frozen=True, slots=True)
class StridedLayout:
    """mlx5dv_wr_set_mkey_layout_interleaved(3): (lkey, addr, count, stride) in turn; `width` bytes per round."""

    entries: tuple[tuple[int, int, int, int], ...]
    repeat: int
    width: int
    length: int


Layout = Union[ListLayout, StridedLayout]


@dataclass(slots=True)
class SignatureState:
    """State of an mkey with block signature, in addition to its attributes."""

    armed: bool = True
    moved: int = 0
    """Raw bytes transferred since the last configuration (ref_tag_restart)."""
    error: tuple[int, int, int, int] | None = None
    unknown: bool = False
    """A failed section may have touched the attributes (SIG-26)."""


@dataclass(slots=True)
class IndirectKey:
    """An mkey. `free`: it has no configuration (after create, LOCAL_INV, remote invalidate)."""

    index: int
    key: int
    pd: int
    flags: int
    entries: int
    access: int
    free: bool = True
    layout: Layout | None = None
    signature: Signature | None = None
    state: SignatureState | None = None
    crypto: Crypto | None = None

    def forget(self, access: int) -> None:
        """Clear layout, access, signature and crypto; a recorded error can still be read."""
        self.layout = None
        self.signature = None
        self.crypto = None
        self.access = access


Key = Union[Region, IndirectKey]


@dataclass(frozen=True, slots=True)
class Turns:
    """Whole turns of an interleaved layout: columns of a (rows, width) table, each a strided view of memory."""

    rows: int
    width: int
    columns: tuple[tuple[int, Bytes], ...]


Piece = Union[Bytes, Turns]


@dataclass(slots=True)
class KeyTable:
    """The keys of one endpoint."""

    keys: dict[int, Key] = field(default_factory=dict)

    def find(self, key: int) -> Key:
        """The object of exactly this key, tag included (MKY-06)."""
        found = self.keys.get(key >> 8)
        if found is None or found.key != key:
            raise Violation("bad_lkey")
        return found

    def claim(self, pd: int, key: int, right: int) -> Key:
        """The object, if this protection domain may use it with this right (MKY-11, ACC-01)."""
        found = self.find(key)
        if found.pd != pd:
            raise Violation("foreign_pd")
        if found.__class__ is IndirectKey:
            assert isinstance(found, IndirectKey)
            if found.free:
                raise Violation("invalidated_key")
            if found.state is not None and found.state.unknown:
                raise Violation("unknown_state")
        if right & ~found.access:
            raise Violation("access_right")
        return found

    def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
        """Append the memory after [start, start + length) of a claimed key.

        `start` is an address of a region, an offset into an mkey (LAY-05).
        """
        if isinstance(found, Region):
            offset = start - found.addr
            if offset < 0 or offset + length > len(found.data):
                raise Violation("beyond_layout")
            if length:
                pieces.append(found.data[offset : offset + length])
            return
        layout = found.layout
        if layout is None:
            raise Violation("no_layout")
        if start < 0 or start + length > layout.length:
            raise Violation("beyond_layout")
        if depth >= DEPTH or len(pieces) > SEGMENTS:
            raise Violation("too_deep")
        if isinstance(layout, ListLayout):
            self._reach_list(found.pd, layout, start, length, write, pieces, depth)
        else:
            self._reach_strided(found.pd, layout, start, length, write, pieces, depth)

    def _reach_entry(
        self, pd: int, key: int, addr: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        """An entry needs the local right only (docs/design/data-path.md), and an mkey as an entry is raw (HW-14)."""
        inner = self.claim(pd, key, LOCAL_WRITE if write else 0)
        self.reach(inner, addr, length, write, pieces, depth + 1)

    def _reach_list(
        self, pd: int, layout: ListLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        for key, addr, size in layout.entries:
            if start >= size:
                start -= size
                continue
            if length <= 0:
                return
            take = min(size - start, length)
            self._reach_entry(pd, key, addr + start, take, write, pieces, depth)
            length -= take
            start = 0

    def _reach_strided(
        self, pd: int, layout: StridedLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        if not length:
            return
        turn, inside = divmod(start, layout.width)
        while length:
            whole = length // layout.width if not inside else 0
            if whole > 1:
                columns = self._columns(pd, layout, turn, whole, write)
                if columns is not None:
                    pieces.append(Turns(whole, layout.width, columns))
                    turn += whole
                    length -= whole * layout.width
                    continue
            if len(pieces) > SEGMENTS:
                raise Violation("too_deep")
            for key, addr, count, stride in layout.entries:
                if inside >= count:
                    inside -= count
                    continue
                take = min(count - inside, length)
                if take:
                    self._reach_entry(pd, key, addr + turn * stride + inside, take, write, pieces, depth)
                    length -= take
                inside = 0
            turn += 1

    def _columns(
        self, pd: int, layout: StridedLayout, turn: int, rows: int, write: bool
    ) -> tuple[tuple[int, Bytes], ...] | None:
        """Views of `rows` turns from `turn` on, one an entry; None where an entry isn't plain memory."""
        columns: list[tuple[int, Bytes]] = []
        column = 0
        for key, addr, count, stride in layout.entries:
            inner = self.claim(pd, key, LOCAL_WRITE if write else 0)
            if not isinstance(inner, Region):
                return None
            if count:
                offset = addr + turn * stride - inner.addr
                if offset < 0 or offset + (rows - 1) * stride + count > len(inner.data):
                    raise Violation("beyond_layout")
                view: Bytes = np.ndarray((rows, count), np.uint8, inner.data, offset, (stride, 1))
                columns.append((column, view))
                column += count
        return tuple(columns)


def gather(pieces: list[Piece], length: int) -> Bytes:
    """The bytes of the pieces concatenated; a view where there is one piece, else a copy."""
    if len(pieces) == 1:
        only = pieces[0]
        if isinstance(only, np.ndarray):
            return only
    stream = np.empty(length, np.uint8)
    at = 0
    for piece in pieces:
        if isinstance(piece, np.ndarray):
            stream[at : at + len(piece)] = piece
            at += len(piece)
        else:
            end = at + piece.rows * piece.width
            table = stream[at:end].reshape(piece.rows, piece.width)
            for column, view in piece.columns:
                table[:, column : column + view.shape[1]] = view
            at = end
    return stream


def scatter(pieces: list[Piece], stream: Bytes) -> None:
    """Write the stream to the pieces. No other byte is written (LAY-01, INT-09)."""
    at = 0
    for piece in pieces:
        if isinstance(piece, np.ndarray):
            piece[:] = stream[at : at + len(piece)]
            at += len(piece)
        else:
            end = at + piece.rows * piece.width
            table = stream[at:end].reshape(piece.rows, piece.width)
            for column, view in piece.columns:
                view[:] = table[:, column : column + view.shape[1]]
            at = end
