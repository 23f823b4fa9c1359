"""Which bytes of which buffers: those that a refused step would have written, or one that departed may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mkeyspec.run import suspect
from mkeyspec.run.buffer import Buffer
from mkeyspec.run.suspect import ANY, Span

if TYPE_CHECKING:
    from mkeyspec.run.bench import Bench

Mask = npt.NDArray[np.bool_]


def key_of(bench: Bench, buffer: Buffer) -> str:
    """The name of a buffer; of a short form's, `suspect.unnamed`."""
    return buffer.name if bench.buffers.get(buffer.name) is buffer else suspect.unnamed(buffer.at)


class Extent:
    """A set of bytes."""

    def __init__(self) -> None:
        self._masks: dict[int, Mask] = {}
        """By the buffer's address."""

    def __bool__(self) -> bool:
        return bool(self._masks)

    def of(self, buffer: Buffer) -> Mask:
        """Of each byte of a buffer, whether it is one of these."""
        mask = self._masks.get(buffer.addr)
        return mask if mask is not None else np.zeros(buffer.length, np.bool_)

    def add(self, bench: Bench, spans: Iterable[Span]) -> None:
        for buffer, start, end in _resolve(bench, spans):
            mask = self._masks.setdefault(buffer.addr, np.zeros(buffer.length, np.bool_))
            mask[start:end] = True

    def remove(self, bench: Bench, spans: Iterable[Span]) -> None:
        for buffer, start, end in _resolve(bench, spans):
            if buffer.addr in self._masks:
                self._masks[buffer.addr][start:end] = False

    def without(self, other: Extent) -> Extent:
        """These bytes, but for those of another set."""
        found = Extent()
        found._masks = {at: mask & ~other._masks.get(at, np.False_) for at, mask in self._masks.items()}
        return found

    def add_unseen(self, bench: Bench) -> None:
        """All that some step may have written and nobody has looked at since."""
        for number, (_, written, _) in suspect.moves(bench.taken):
            for buffer, start, end in _resolve(bench, written):
                mask = self._masks.setdefault(buffer.addr, np.zeros(buffer.length, np.bool_))
                mask[start:end] |= buffer.looked()[start:end] <= number

    def remove_unseen(self, bench: Bench) -> None:
        """Take out what earlier steps, that were not refused, should have written and nobody has looked at since."""
        last = len(bench.taken) - 1
        for number, (at, written, _) in suspect.moves(bench.taken):
            if number == last or (number in bench.refused and at not in bench.refused[number]):
                continue
            for buffer, start, end in _resolve(bench, written):
                if buffer.addr in self._masks:
                    self._masks[buffer.addr][start:end] &= buffer.looked()[start:end] > number


def _resolve(bench: Bench, spans: Iterable[Span]) -> Iterator[tuple[Buffer, int, int]]:
    for buffer in bench.all_buffers():
        key = key_of(bench, buffer)
        for name, start, end in spans:
            if name in (key, ANY) and start < min(end, buffer.length):
                yield buffer, start, min(end, buffer.length)
