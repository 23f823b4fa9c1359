"""Registered memory: an arena of pages per side, and memory regions in it that are kept for later cases.

Every buffer of a case has its own key and its exact length. Between any two is a gap without a key, so a device that
accesses bytes beyond a buffer fails. Registering is a system call and pins pages, so regions are kept by (side,
length, access, alignment) and used again. A region has no state except its bytes, and a case writes those before it
starts.
"""

from __future__ import annotations

import ctypes
import mmap
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
GAP = 256
"""Bytes between two regions; more than a guard zone, so an error of one field does not reach the next region."""
CHUNK = 4 << 20
CHUNKS = 4
IDLE_BYTES = 64 << 20
IDLE_REGIONS = 512
"""Most bytes kept for later cases; they stay pinned and count for the memlock limit."""


class RegionKey(NamedTuple):
    side: str
    length: int
    access: int
    misaligned: int


@dataclass(slots=True, eq=False)
class VerbsRegion:
    """A memory region of pyverbs, and its bytes."""

    key: RegionKey
    addr: int
    data: npt.NDArray[np.uint8]
    mr: Any
    chunk: ArenaChunk
    pooled: bool
    spent: bool = False

    def close(self) -> None:
        self.mr.close()
        self.chunk.used -= 1


@dataclass(slots=True, eq=False)
class ArenaChunk:
    """Pages of an arena. Allocated from the front; empty again when its last region is released."""

    pages: mmap.mmap
    base: int
    size: int
    at: int = 0
    used: int = 0

    def carve(self, length: int, misaligned: int) -> int | None:
        """An address `misaligned` bytes past a boundary, or None if there is no room."""
        if self.used == 0:
            self.at = 0
        start = (self.at + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT + misaligned
        if start + length + GAP > self.size:
            return None
        self.at = start + length + GAP
        self.used += 1
        return self.base + start


def _chunk(size: int) -> ArenaChunk:
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # A child of a fork never needs them, and copy-on-write would take the parent's pages from under the device.
    pages.madvise(mmap.MADV_DONTFORK)
    return ArenaChunk(pages, ctypes.addressof(ctypes.c_char.from_buffer(pages)), size)


def _first(chunks: list[ArenaChunk], key: RegionKey) -> tuple[ArenaChunk, int] | None:
    for chunk in chunks:
        addr = chunk.carve(key.length, key.misaligned)
        if addr is not None:
            return chunk, addr
    return None


@dataclass(slots=True, eq=False)
class Arena:
    """Regions of both sides. `mr` is pyverbs' class."""

    mr: Any
    chunks: dict[str, list[ArenaChunk]] = field(default_factory=dict)
    idle: OrderedDict[RegionKey, list[VerbsRegion]] = field(default_factory=OrderedDict)
    idle_bytes: int = 0
    idle_count: int = 0

    def take(self, pd: Any, key: RegionKey, *, pooled: bool) -> VerbsRegion:
        """A region for one case. Raises what pyverbs raises when registering is refused."""
        waiting = self.idle.get(key) if pooled else None
        if waiting:
            region = waiting.pop()
            if not waiting:
                del self.idle[key]
            self.idle_bytes -= key.length
            self.idle_count -= 1
            return region
        chunk, addr = self._carve(key)
        try:
            mr = self.mr(pd, key.length, key.access, address=addr)
        except BaseException:
            chunk.used -= 1
            raise
        data = np.ctypeslib.as_array((ctypes.c_uint8 * key.length).from_address(addr)) if key.length else _NO_BYTES
        return VerbsRegion(key, addr, data, mr, chunk, pooled)

    def _carve(self, key: RegionKey) -> tuple[ArenaChunk, int]:
        """Space in a chunk; in a new one, unless there are too many chunks, most of them kept by idle regions."""
        chunks = self.chunks.setdefault(key.side, [])
        found = _first(chunks, key)
        if found is None and len(chunks) >= CHUNKS:
            self._evict(0, 0)
            found = _first(chunks, key)
        if found is not None:
            return found
        size = CHUNK
        while size < key.length + key.misaligned + GAP + ALIGNMENT:
            size *= 2
        chunks.append(_chunk(size))
        found = _first(chunks[-1:], key)
        assert found is not None
        return found

    def give_back(self, region: VerbsRegion, *, keep: bool) -> None:
        """Release a region. `keep`: the case passed, so the device does not use it any more."""
        if not keep or not region.pooled:
            region.close()
            return
        self.idle.setdefault(region.key, []).append(region)
        self.idle.move_to_end(region.key)
        self.idle_bytes += region.key.length
        self.idle_count += 1
        if self.idle_bytes > IDLE_BYTES or self.idle_count > IDLE_REGIONS:
            self._evict(IDLE_BYTES // 2, IDLE_REGIONS // 2)

    def _evict(self, most: int, count: int) -> None:
        """Deregister the regions that are idle longest, until at most `most` bytes and `count` regions are idle."""
        while self.idle and (self.idle_bytes > most or self.idle_count > count):
            key, regions = next(iter(self.idle.items()))
            regions.pop(0).close()
            self.idle_bytes -= key.length
            self.idle_count -= 1
            if not regions:
                del self.idle[key]

    def close(self) -> None:
        self._evict(0, 0)


_NO_BYTES = np.empty(0, np.uint8)
