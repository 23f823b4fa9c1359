"""Reads the current contents of buffers, wires and live scalars, and their expected values."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mkeyspec.device.protocol import Memory
from mkeyspec.plan import Content, Observed, Wire
from mkeyspec.run.buffer import Buffer, Bytes, Source, inside
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.label import Unobserved
from mkeyspec.run.wire_view import WireView

_RANGE = re.compile(r"(\w+)\[(0x[0-9a-fA-F]+|[0-9]+) *(?:\+:|\.\.)[^\[\]]*\]\Z")
"""A part of something by plain numbers, as the case writes it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`length` bytes of a buffer from `start`."""

    buffer: Buffer
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Seen:
    """Bytes that were read, and the pieces of buffers they came from, in order. `data` is a copy: what `read` gives may
    be a view that the next `read` fills again."""

    name: str
    data: Bytes
    pieces: tuple[Piece, ...]
    wire: WireView | None = None

    start: int = 0
    """Of a wire: where in it the bytes begin."""

    @property
    def base(self) -> int:
        """The position of the first byte in what is named, for rows and ranges."""
        return self._named()[1]

    def _named(self) -> tuple[str, int]:
        """The name, and the position of the first byte in it: `wire[4096 +: 4]` is the wire from 4096 on."""
        if self.wire is not None:
            return self.name, self.start
        match = _RANGE.match(self.name)
        if match is not None:
            return match[1], int(match[2], 0)
        if len(self.pieces) == 1 and not self.name.isidentifier():
            return self.pieces[0].buffer.name, self.pieces[0].start
        return self.name, 0

    def name_of(self, i: int) -> str:
        """The name of byte `i` as the case would write it."""
        name, base = self._named()
        text = f"{name}[{base + i}]"
        if self.wire is not None:
            return text
        at = i
        for piece in self.pieces:
            if at < piece.length:
                here = f"{piece.buffer.name}[{piece.start + at}]"
                return text if here == text else f"{text}, which is {here}"
            at -= piece.length
        return text

    def expected(self) -> Bytes:
        """The expected bytes."""
        if len(self.pieces) == 1:
            piece = self.pieces[0]
            return piece.buffer.expected(piece.start, piece.length)
        return np.concatenate([p.buffer.expected(p.start, p.length) for p in self.pieces] or [np.empty(0, np.uint8)])

    def believe(self, data: Bytes | bytes, source: Source = None) -> None:
        """Set the expected bytes to `data`; `source` is the expression of all of them."""
        if len(self.pieces) == 1:
            self.pieces[0].buffer.believe(self.pieces[0].start, data, source)
            return
        at = 0
        for piece in self.pieces:
            piece.buffer.believe(piece.start, data[at : at + piece.length])
            at += piece.length


def content(state: CaseState, observed: Content) -> Seen:
    """The bytes of parts of registered buffers, concatenated."""
    pieces = []
    for part in observed.parts:
        buffer = state.buffers.get(part.name)
        if buffer is None:
            raise Unobserved(part.name)
        piece = Piece(buffer, state.evaluate(part.start), state.evaluate(part.length))
        inside(buffer, buffer.addr + piece.start, piece.length)
        pieces.append(piece)
    name = observed.name or (observed.parts[0].name if observed.parts else "nothing")
    device = state.device
    if len(pieces) == 1:
        piece = pieces[0]
        data = piece.buffer.now(device, piece.start, piece.length)
        return Seen(name, data, (piece,))
    whole: dict[Memory, Bytes] = {}
    chunks = []
    for piece in pieces:
        memory = piece.buffer.memory
        if memory not in whole:
            whole[memory] = piece.buffer.now(device, 0, piece.buffer.length)
        chunks.append(whole[memory][piece.start : piece.start + piece.length])
    return Seen(name, np.concatenate(chunks) if chunks else np.empty(0, np.uint8), tuple(pieces))


def view_of(state: CaseState, observed: Observed) -> WireView | None:
    """The wire that is observed, if it is one."""
    match observed:
        case Wire():
            return state.wires.get(observed.label or "")
        case _:
            return None


def wire(state: CaseState, observed: Wire) -> Seen:
    """The bytes that the last transmit, or the labelled one, put on the wire."""
    view = state.wires.get(observed.label or "")
    if view is None:
        raise Unobserved("wire" if observed.label is None else f"{observed.label}.wire")
    name = "wire" if observed.label is None else f"{observed.label}.wire"
    piece = Piece(view.buffer, observed.start, observed.length)
    data = view.buffer.now(state.device, observed.start, observed.length)
    return Seen(name, data, (piece,), view, observed.start)
