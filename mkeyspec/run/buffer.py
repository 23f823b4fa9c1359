"""Registered buffers of a case: canaries, guard zones, and the ledger of what each byte should be.

A buffer's MR is GUARD + length + GUARD bytes; the guards lie inside it, so that a device which runs past a layout
writes into them rather than failing. All of it is filled with a canary of the buffer's own before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Union

import numpy as np
import numpy.typing as npt

from mkeyspec.device import protocol
from mkeyspec.plan import At, Step
from mkeyspec.value.bytestring import ByteString

Bytes = npt.NDArray[np.uint8]

GUARD = 64
"""Bytes of the zone on either side of a buffer."""

CANARY_SEED = 0x6D6B6579
"""Seed of the canary pattern (numpy PCG64); fixed, so that two runs of a case look alike."""

_STRIDE = 4099
"""Distance in the pattern of one buffer's canary to the next one's; a prime, so that blocks do not line up."""

_PERIOD = 1 << 16
"""Where canaries may begin in the pattern."""


@lru_cache(maxsize=2)
def _pattern(length: int) -> Bytes:
    pattern = np.random.Generator(np.random.PCG64(CANARY_SEED)).integers(0, 256, length, dtype=np.uint8)
    pattern.flags.writeable = False
    return pattern


def canary(number: int, length: int) -> Bytes:
    """The canary of buffer `number`, read only. Two buffers of one case never have the same one."""
    start = number * _STRIDE % _PERIOD
    size = _PERIOD
    while size < start + length:
        size *= 4
    return _pattern(size)[start : start + length]


def _without(range_: tuple[int, int], start: int, end: int) -> list[tuple[int, int]]:
    """What is left of a range outside [start, end)."""
    first, last = range_
    left = [(first, min(last, start)), (max(first, end), last)]
    return [(a, b) for a, b in left if a < b]


Source = Union[ByteString, None]
"""What bytes of a buffer should be, where an expression says so."""


class Buffer:
    """One registered buffer and its ledger.

    `content` is what the whole MR should hold (guards included): the initial bytes, then what `store` wrote, then
    what an expectation matched. `free`: ranges [start, end) that were written by a step which names them (the wire of a
    transmit), and that no expectation has pinned yet. `taken`: the steps of the case so far, by whose number it is
    noted when a byte was last looked at.
    """

    __slots__ = ("at", "born", "content", "free", "length", "memory", "name", "side", "sources", "taken")

    def __init__(
        self,
        name: str,
        at: At,
        memory: protocol.Memory,
        length: int,
        number: int,
        data: ByteString | None,
        taken: Sequence[Step] = (),
    ) -> None:
        self.name = name
        self.at = at
        self.memory = memory
        self.side: protocol.Side = memory.side
        self.length = length
        self.free: list[tuple[int, int]] = []
        self.taken = taken
        self.born = max(len(taken) - 1, 0)
        """Number of the step that made it."""
        self.sources: list[tuple[int, int, Source, int]] = []
        """(first byte, length, why, how many steps had been taken)."""
        content = canary(number, length + 2 * GUARD)
        if data is not None and length:
            content = content.copy()
            content[GUARD : GUARD + length] = np.frombuffer(data.data, np.uint8)
            self.sources.append((0, length, data, self.born))
        self.content = content

    @property
    def addr(self) -> int:
        """Virtual address of its first byte (after the guard)."""
        return self.memory.addr + GUARD

    def believe(self, start: int, data: bytes | Bytes, source: Source = None) -> None:
        """From now on the bytes from `start` should be `data`."""
        size = len(data)
        content = self.content
        if not content.flags.writeable:
            content = self.content = content.copy()
        content[GUARD + start : GUARD + start + size] = (
            np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        )
        self.sources.append((start, size, source, len(self.taken)))
        if self.free:
            self.free = [piece for one in self.free for piece in _without(one, start, start + size)]

    def expected(self, start: int, length: int) -> Bytes:
        """What the ledger says of `length` bytes from `start` (a view)."""
        return self.content[GUARD + start : GUARD + start + length]

    def reason(self, i: int) -> tuple[str, ...]:
        """Why byte `i` should be what it should be."""
        for start, length, source, _ in reversed(self.sources):
            if start <= i < start + length:
                return source.explain(i - start) if source is not None else ("as it was when last looked at",)
        return ("canary: no statement gives this byte a value",)

    def looked_at(self, where: npt.NDArray[np.intp]) -> int:
        """The number of the first step that may have changed one of these bytes: nobody has looked at it since."""
        return int(self.looked()[where].min())

    def looked(self) -> npt.NDArray[np.intp]:
        """Of each byte, the number of the first step that may have changed it since somebody looked."""
        steps = np.full(self.length, self.born, np.intp)
        for start, length, _, taken in self.sources:
            steps[start : start + length] = taken
        return steps


class Beyond(Exception):
    """A statement would take the guard of a buffer for data; `str()` says where."""


def inside(buffer: Buffer, addr: int, length: int, *, meant: bool = False) -> None:
    """Raises Beyond unless `length` bytes from `addr` lie in the buffer. `meant`: they were put wrong on purpose, so
    that they may lie where nothing is registered; but its guards are not data either way."""
    start = addr - buffer.addr
    end = start + length
    if length <= 0 or (start >= 0 and end <= buffer.length):
        return
    if meant and (start < -GUARD or end > buffer.length + GUARD):
        return
    where = f"ends {end - buffer.length} bytes after the end of `{buffer.name}`, which has {buffer.length}"
    if start < 0:
        where = f"begins {-start} bytes before `{buffer.name}`"
    raise Beyond(f"this statement {where}: the guard there is no data")
