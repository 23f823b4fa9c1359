"""Registered buffers of a case: canaries, guard zones, and the expected value of each byte.

A buffer's MR is GUARD + length + GUARD bytes; the guards are inside the MR, so a device that writes beyond a layout
changes them instead of failing. All of it is filled with the canary of this buffer before anything runs.
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
Numbers = npt.NDArray[np.int32]
"""Of steps, for each byte."""

GUARD = 64
"""Bytes of the zone on either side of a buffer."""

CANARY_SEED = 0x6D6B6579
"""Seed of the canary pattern (numpy PCG64); fixed, so that two runs of a case look alike."""

_STRIDE = 4099
"""Distance in the pattern of one buffer's canary to the next one's; a prime, so that blocks do not line up."""

_PERIOD = 1 << 16
"""Where canaries may begin in the pattern."""


@lru_cache(maxsize=4)  # rows with small buffers and with large ones come by turns
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
"""The expected bytes of a range of a buffer, as an expression."""


class Buffer:
    """One registered buffer and its expected content.

    `content` is the expected content of the whole MR (guards included): the initial bytes, then what `store` wrote,
    then what an expectation matched. `free`: ranges [start, end) that a step which names them has written (the wire
    of a transmit) and that no expectation has compared yet. `taken`: the steps of the case so far; a step's number
    says when a byte was last compared.
    """

    __slots__ = (
        "_looked",
        "at",
        "born",
        "content",
        "free",
        "length",
        "memory",
        "name",
        "number",
        "side",
        "sources",
        "taken",
    )

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
        self._looked: Numbers | None = None
        """What `looked` gives, from when it is first asked."""
        self.number = number
        content = canary(number, length + 2 * GUARD)
        if data is not None and length:
            content = content.copy()
            content[GUARD : GUARD + length] = np.frombuffer(data.data, np.uint8)
            self.sources.append((0, length, data, self.born))
        self.content = content

    def origin(self) -> Bytes:
        """What was there before anything ran, if the case does not say it."""
        return canary(self.number, self.length + 2 * GUARD)[GUARD : GUARD + self.length]

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
        if self._looked is not None:
            self._looked[start : start + size] = len(self.taken)
        if self.free:
            self.free = [piece for one in self.free for piece in _without(one, start, start + size)]

    def expected(self, start: int, length: int) -> Bytes:
        """The expected values of `length` bytes from `start` (a view)."""
        return self.content[GUARD + start : GUARD + start + length]

    def now(self, device: protocol.Device, start: int, length: int) -> Bytes:
        """These bytes as the device gives them: a copy, since `read` may give a view that the next `read` fills again.
        The guards are before 0 and behind the last one."""
        found: Bytes = device.read(self.memory, GUARD + start, length).copy()
        return found

    def reason(self, i: int) -> tuple[str, ...]:
        """The reason for the expected value of byte `i`."""
        for start, length, source, _ in reversed(self.sources):
            if start <= i < start + length:
                return source.explain(i - start) if source is not None else ("as it was when last looked at",)
        return ("canary: no statement gives this byte a value",)

    def looked_at(self, where: npt.NDArray[np.intp]) -> int:
        """The number of the first step that may have changed one of these bytes since they were last compared."""
        return int(self.looked()[where].min())

    def looked(self) -> Numbers:
        """For each byte, the number of the first step that may have changed it since it was last compared. Not to be
        changed: it is the array that the buffer keeps."""
        steps = self._looked
        if steps is None:
            steps = self._looked = np.full(self.length, self.born, np.int32)
            for start, length, _, taken in self.sources:
                steps[start : start + length] = taken
        return steps


class Beyond(Exception):
    """A statement would use the guard of a buffer as data; `str()` says where."""


def inside(buffer: Buffer, addr: int, length: int, *, meant: bool = False) -> None:
    """Raises Beyond unless `length` bytes from `addr` are in the buffer. `meant`: the address is wrong on purpose, so
    the bytes may be outside of registered memory, but never in a guard."""
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
