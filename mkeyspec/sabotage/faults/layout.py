"""Faults of layouts, and bytes that nothing named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mkeyspec.device.model.data_path import Movement, TranslatedSge
from mkeyspec.device.model.key import (
    Bytes,
    IndirectKey,
    Key,
    KeyTable,
    ListLayout,
    Piece,
    Region,
    StridedLayout,
    Violation,
)
from mkeyspec.device.model.queue import Queue
from mkeyspec.sabotage.fault import fault

STRAY = 0xEE
Entries = tuple[tuple[int, int, int], ...]
Strided = tuple[tuple[int, int, int, int], ...]


def _list(name: str, change: Callable[[Entries], Entries]) -> None:
    """Every list as it is walked, changed."""

    @fault(name)
    class Mutant(KeyTable):
        def _reach_list(
            self, pd: int, layout: ListLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
        ) -> None:
            if len(layout.entries) > 1:
                layout = replace(layout, entries=change(layout.entries))
            super()._reach_list(pd, layout, start, length, write, pieces, depth)


def _without_last(entries: Entries) -> Entries:
    key, addr, size = entries[-2]
    return (*entries[:-2], (key, addr, size + entries[-1][2]))


def _first_only(entries: Entries) -> Entries:
    key, addr, _ = entries[0]
    return ((key, addr, sum(size for _, _, size in entries)),)


def _byte_late(entries: Entries) -> Entries:
    return (entries[0], *((key, addr + 1, size) for key, addr, size in entries[1:]))


def _four(entries: Entries) -> Entries:
    return (*entries[:4], *((entries[3][0], entries[3][1], size) for _, _, size in entries[4:]))


_list("list_last_entry_dropped", _without_last)
_list("list_first_entries_swapped", lambda entries: (entries[1], entries[0], *entries[2:]))
_list("list_reversed", lambda entries: entries[::-1])
_list("list_first_entry_only", _first_only)
_list("list_entry_byte_late", _byte_late)
_list("list_four_entries", _four)
_list("list_lkey_of_first", lambda entries: tuple((entries[0][0], addr, size) for _, addr, size in entries))


def _interleaved(name: str, change: Callable[[Strided], Strided]) -> None:
    """Every interleaved layout as it is walked, changed."""

    @fault(name)
    class Mutant(KeyTable):
        def _reach_strided(
            self, pd: int, layout: StridedLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
        ) -> None:
            entries = change(layout.entries)
            width = sum(count for _, _, count, _ in entries)
            bent_layout = replace(layout, entries=entries, width=width, length=layout.repeat * width)
            super()._reach_strided(pd, bent_layout, start, length, write, pieces, depth)


def _strides(stride: Callable[[int, int], int]) -> Callable[[Strided], Strided]:
    """`stride` makes one of an entry's count and stride."""
    return lambda entries: tuple((key, addr, count, stride(count, step)) for key, addr, count, step in entries)


def _last_is_first(entries: Strided) -> Strided:
    if len(entries) < 2:
        return entries
    key, addr, _, stride = entries[0]
    return (*entries[:-1], (key, addr, entries[-1][2], stride))


def _counts_of_first(entries: Strided) -> Strided:
    return tuple((key, addr, entries[0][2], stride) for key, addr, _, stride in entries)


_interleaved("interleaved_repeat_once", _strides(lambda count, stride: 0))
_interleaved("interleaved_skip_ignored", _strides(lambda count, stride: count))
_interleaved("interleaved_skip_is_stride", _strides(lambda count, stride: stride - count))
_interleaved("interleaved_stride_long", _strides(lambda count, stride: stride + 1))
_interleaved(
    "interleaved_skip_first",
    lambda entries: tuple((key, addr + stride - count, count, stride) for key, addr, count, stride in entries),
)
_interleaved("interleaved_swapped", lambda entries: (*entries[1:2], entries[0], *entries[2:]))
_interleaved("interleaved_last_dropped", _last_is_first)
_interleaved(
    "interleaved_stride_shared",
    lambda entries: tuple((key, addr, count, entries[0][3]) for key, addr, count, _ in entries),
)
_interleaved("interleaved_count_shared", _counts_of_first)
_interleaved(
    "interleaved_count_even",
    lambda entries: tuple((key, addr, count + count % 2, stride) for key, addr, count, stride in entries),
)
_interleaved(
    "interleaved_lkey_of_first",
    lambda entries: tuple((entries[0][0], addr, count, stride) for _, addr, count, stride in entries),
)


@fault("interleaved_repeat_short")
class InterleavedRepeatShort(KeyTable):
    def _reach_strided(
        self, pd: int, layout: StridedLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        last = (layout.repeat - 1) * layout.width if layout.repeat > 1 else layout.length
        before = max(0, min(length, last - start))
        super()._reach_strided(pd, layout, start, before, write, pieces, depth)
        if before < length:
            start = max(start, last) - layout.width
            super()._reach_strided(pd, layout, start, length - before, write, pieces, depth)


@fault("interleaved_by_entry")
class InterleavedByEntry(KeyTable):
    def _reach_strided(
        self, pd: int, layout: StridedLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        blocks = tuple(
            (key, addr + turn * stride, count)
            for key, addr, count, stride in layout.entries
            for turn in range(layout.repeat)
        )
        self._reach_list(pd, ListLayout(blocks, layout.length), start, length, write, pieces, depth)


# Offsets and bounds --------------------------------------------------------------------------


def _offset(name: str, change: Callable[[IndirectKey, int], int]) -> None:
    """The offset at which a message begins in an mkey, changed."""

    @fault(name)
    class Mutant(KeyTable):
        def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
            if isinstance(found, IndirectKey) and found.layout is not None and not depth:
                start = change(found, start)
            super().reach(found, start, length, write, pieces, depth)


def _first_address(found: IndirectKey, start: int) -> int:
    assert found.layout is not None
    return start - (found.layout.entries[0][1] if found.layout.entries else 0)


_offset("offset_ignored", lambda found, start: 0)
_offset("offset_block_down", lambda found, start: start & ~63)
_offset("not_zero_based", _first_address)


@fault("page_crossing_lost")
class PageCrossingLost(KeyTable):
    def _columns(
        self, pd: int, layout: StridedLayout, turn: int, rows: int, write: bool
    ) -> tuple[tuple[int, Bytes], ...] | None:
        return None

    def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
        first = -start % 4096
        if not isinstance(found, Region) or not 0 < first < length:
            super().reach(found, start, length, write, pieces, depth)
            return
        super().reach(found, start, first, write, pieces, depth)
        pieces.append(np.zeros(1, np.uint8))
        self.reach(found, start + first + 1, length - first - 1, write, pieces, depth)


@fault("missing_layout_ignored")
class MissingLayoutIgnored(KeyTable):
    def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
        if isinstance(found, IndirectKey) and found.layout is None:
            pieces.append(np.zeros(length, np.uint8))
        else:
            super().reach(found, start, length, write, pieces, depth)


@fault("bounds_one_more")
class BoundsOneMore(KeyTable):
    def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
        layout = found.layout if isinstance(found, IndirectKey) else None
        if layout is not None and length and start + length == layout.length + 1:
            super().reach(found, start, length - 1, write, pieces, depth)
            pieces.append(np.zeros(1, np.uint8))
        else:
            super().reach(found, start, length, write, pieces, depth)


@fault("bounds_one_less")
class BoundsOneLess(KeyTable):
    def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
        layout = found.layout if isinstance(found, IndirectKey) else None
        if layout is not None and length and start + length == layout.length:
            raise Violation("beyond_layout")
        super().reach(found, start, length, write, pieces, depth)


# Strays --------------------------------------------------------------------------------------


def _stray(name: str, at: Callable[[int], int], strided: bool = False) -> None:
    """A byte beside every entry that is written; `at` tells where, of the entry's length."""

    @fault(name)
    class Mutant(KeyTable):
        inside_gap = False

        def _columns(
            self, pd: int, layout: StridedLayout, turn: int, rows: int, write: bool
        ) -> tuple[tuple[int, Bytes], ...] | None:
            return None

        def _reach_strided(
            self, pd: int, layout: StridedLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
        ) -> None:
            gap = any(stride > count for _, _, count, stride in layout.entries)
            self.inside_gap = gap
            super()._reach_strided(pd, layout, start, length, write, pieces, depth)
            self.inside_gap = False

        def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
            super().reach(found, start, length, write, pieces, depth)
            if isinstance(found, Region) and write and length and (self.inside_gap or not strided):
                place = start - found.addr + at(length)
                if 0 <= place < len(found.data):
                    found.data[place] = STRAY


_stray("write_behind", lambda length: length)
_stray("write_before", lambda length: -1)
_stray("write_gap", lambda length: length, strided=True)


def _end(piece: Piece) -> Bytes:
    """The last byte of a piece, as a view of one byte."""
    return piece[-1:] if isinstance(piece, np.ndarray) else piece.columns[-1][1][-1, -1:]


def _beginning(piece: Piece) -> Bytes:
    return piece[:1] if isinstance(piece, np.ndarray) else piece.columns[0][1][0, :1]


@fault("write_last_byte_lost")
class WriteLastByteLost(Movement):
    def absorb(self, queue: Queue, places: list[TranslatedSge], wire: Bytes) -> None:
        end = _end(places[-1].pieces[-1]) if places and places[-1].pieces else np.zeros(1, np.uint8)
        before = end.copy()
        super().absorb(queue, places, wire)
        end[:] = before


@fault("source_written")
class SourceWritten(Movement):
    def emit(self, queue: Queue, places: list[TranslatedSge]) -> Bytes:
        sent: Bytes = super().emit(queue, places).copy()
        if places and places[0].pieces:
            beginning = _beginning(places[0].pieces[0])
            if beginning.flags.writeable:
                beginning[:] = 0
        return sent
