"""Sets of bytes of buffers: those that a step may have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mkeyspec.run.buffer import Buffer
from mkeyspec.run.moved import ANY, WHOLE, Span, unnamed

if TYPE_CHECKING:
    from mkeyspec.run.case_state import CaseState

Mask = npt.NDArray[np.bool_]


def key_of(state: CaseState, buffer: Buffer) -> str:
    """The name of a buffer; of a short form's, `unnamed`."""
    return buffer.name if state.buffers.get(buffer.name) is buffer else unnamed(buffer.at)


class Extent:
    """A set of bytes."""

    def __init__(self) -> None:
        self._masks: dict[int, Mask] = {}
        """By the buffer's address."""

    def of(self, buffer: Buffer, low: int = 0, high: int = WHOLE) -> Mask:
        """For each byte of [low, high) of a buffer, whether it is in the set."""
        mask = self._masks.get(buffer.addr)
        return mask[low:high] if mask is not None else np.zeros(min(high, buffer.length) - low, np.bool_)

    def add(self, state: CaseState, spans: Iterable[Span]) -> None:
        for buffer, start, end in resolve(state, spans):
            mask = self._masks.setdefault(buffer.addr, np.zeros(buffer.length, np.bool_))
            mask[start:end] = True

    def add_mask(self, buffer: Buffer, mask: Mask) -> None:
        """Add these bytes of a buffer."""
        self._masks.setdefault(buffer.addr, np.zeros(buffer.length, np.bool_))[:] |= mask


def resolve(state: CaseState, spans: Iterable[Span]) -> Iterator[tuple[Buffer, int, int]]:
    """The buffers and bytes of the case that these are: [start, end)."""
    of_name: dict[str, list[tuple[int, int]]] = {}
    for name, start, end in spans:
        of_name.setdefault(name, []).append((start, end))
    if not of_name:
        return
    anywhere = of_name.get(ANY, ())
    for buffer in state.all_buffers():
        for start, end in (*of_name.get(key_of(state, buffer), ()), *anywhere):
            if start < min(end, buffer.length):
                yield buffer, start, min(end, buffer.length)
