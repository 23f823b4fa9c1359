"""Translates keys of an end to memory, and moves bytes between memory and the wire, with signatures and cipher.

Lengths count wire bytes (HW-12). A signature error is reported to the completion queue of the end that has the mkey
(HW-04), before the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.model import crypto
from mkeyspec.device.model.crypto import Crypto
from mkeyspec.device.model.key import Bytes, IndirectKey, KeyTable, Piece, Violation, gather, scatter
from mkeyspec.device.model.queue import Notice, Queue
from mkeyspec.device.model.signature import Arithmetic, Bad, Between, BlockSpan, Signature
from mkeyspec.device.model.wqe import Inline
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Sge

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
CRYPTO = int(MkeyFlag.CRYPTO)
EMPTY: Bytes = np.empty(0, np.uint8)


@dataclass(slots=True)
class TranslatedSge:
    """One SGE translated: `length` wire bytes, their memory, and the mkey if it changes the bytes.

    `coded`: how many bytes the cipher works on.
    """

    length: int
    pieces: list[Piece]
    mkey: IndirectKey | None = None
    signature: Signature | None = None
    span: BlockSpan | None = None
    crypto: Crypto | None = None
    coded: int = 0

    @property
    def memory(self) -> int:
        return self.length if self.span is None else self.span.memory


Before = dict[int, tuple[int, int]]
"""By mkey: its raw bytes and its ciphered bytes of the message so far."""


@dataclass(frozen=True, slots=True)
class Movement:
    """Translates before it moves: `place` and `local` may raise Violation, `emit` and `absorb` do not."""

    profile: Profile
    arithmetic: Arithmetic
    tables: dict[str, KeyTable]

    # Translation -----------------------------------------------------------------------------

    def place(self, queue: Queue, key: int, addr: int, length: int, right: int, write: bool) -> TranslatedSge:
        """`length` wire bytes of a key of this end; Violation if the end may not use them like that."""
        table = self.tables[queue.side]
        found = table.claim(queue.pd, key & M32, right)
        place = TranslatedSge(length, [])
        start, size = addr & M64, length
        if found.__class__ is IndirectKey:
            assert isinstance(found, IndirectKey)
            signature = found.signature
            if signature is not None:
                place.mkey, place.signature = found, signature
                place.span = span = self.arithmetic.span(signature, start, length)
                start, size = span.memory_start, span.memory
            if found.flags & CRYPTO:
                self._admit(place, found)
        table.reach(found, start, size, write, place.pieces)
        return place

    def _admit(self, place: TranslatedSge, found: IndirectKey) -> None:
        """A crypto key needs its attributes and an allowed length (CRY-03, XCRY-10)."""
        used = configured(found)
        span = place.span
        place.mkey, place.crypto, place.coded = found, used, place.length
        if span is not None and used.at != crypto.WIRE:
            place.coded = span.memory if used.at == crypto.MEMORY else span.raw
        used.admit(place.coded)

    def local(self, queue: Queue, sges: Sequence[Sge], right: int, limit: int | None = None) -> list[TranslatedSge]:
        """Translate an SGE list, at most its first `limit` bytes. An SGE of length 0 is not checked."""
        places = []
        for sge in sges:
            length = sge.length & M32
            if limit is not None:
                length = min(length, limit)
                limit -= length
            if not length:
                continue
            if sge.__class__ is Inline:
                assert isinstance(sge, Inline)
                places.append(TranslatedSge(length, [np.frombuffer(sge.data, np.uint8)]))
            else:
                places.append(self.place(queue, sge.lkey, sge.addr, length, right, bool(right)))
        return places

    # Movement --------------------------------------------------------------------------------

    def emit(self, queue: Queue, places: list[TranslatedSge]) -> Bytes:
        """The wire bytes of the SGEs; fields are checked and generated."""
        before: Before = {}
        streams = []
        for place in _of_units(places):
            stream = gather(place.pieces, place.memory)
            if place.mkey is not None:
                stream = self._turn(queue, place, stream, before, transmit=True)
            streams.append(stream)
        if len(streams) == 1:
            return streams[0]
        return np.concatenate(streams) if streams else EMPTY

    def absorb(self, queue: Queue, places: list[TranslatedSge], wire: Bytes) -> None:
        """Write the wire bytes to the SGEs; fields are checked and generated."""
        before: Before = {}
        at = 0
        for place in _of_units(places):
            stream = wire[at : at + place.length]
            at += place.length
            if place.mkey is not None:
                stream = self._turn(queue, place, stream, before, transmit=False)
            scatter(place.pieces, stream)

    def _turn(self, queue: Queue, place: TranslatedSge, stream: Bytes, before: Before, *, transmit: bool) -> Bytes:
        """Memory bytes to wire bytes, or back: signature and cipher, in the order of the page's table (XCRY-07)."""
        assert place.mkey is not None
        within = before.get(place.mkey.index, (0, 0))[0]
        raw, coded = self._before(place, before)
        used, at = place.crypto, ""
        cipher: Between | None = None
        if used is not None:
            cipher, at = self.cipher(used, transmit, coded), used.at
            if at == (crypto.MEMORY if transmit else crypto.WIRE):
                stream = cipher(stream)
        if place.signature is not None:
            between = cipher if at == crypto.RAW else None
            if transmit:
                stream, bad = self.arithmetic.transmit(place.signature, stream, place.length, raw, between)
            else:
                stream, bad = self.arithmetic.receive(place.signature, stream, raw, between)
            if bad is not None and self.profile.ref_tag_restart == "configuration":
                bad = replace(bad, block=bad.block - (raw - within) // bad.domain.block)  # XCHK-08
            self._tell(queue, place, bad)
        elif cipher is not None and at == crypto.RAW:
            stream = cipher(stream)
        if cipher is not None and at == (crypto.WIRE if transmit else crypto.MEMORY):
            stream = cipher(stream)
        return stream

    def cipher(self, used: Crypto, transmit: bool, before: int) -> Between:
        """Apply the active attributes to a form of the message that had `before` bytes so far."""
        return partial(used.apply, transmit=transmit, before=before)

    def _before(self, place: TranslatedSge, before: Before) -> tuple[int, int]:
        """The earlier bytes of this mkey: raw bytes, in this message or since its configuration (X-OPEN-07); ciphered
        bytes in this message (initial_tweak is that of its first data unit)."""
        assert place.mkey is not None
        state, span = place.mkey.state, place.span
        raw, coded = before.get(place.mkey.index, (0, 0))
        if span is not None and state is not None:
            before[place.mkey.index] = raw + span.raw, coded + place.coded
            if self.profile.ref_tag_restart == "configuration":
                raw = state.moved
            state.moved += span.raw
        else:
            before[place.mkey.index] = raw, coded + place.coded
        return raw, coded

    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        """Report the first error since the mkey was armed to this end's queue (HW-04, HW-06)."""
        if bad is None:
            return
        assert place.mkey is not None
        state = place.mkey.state
        assert state is not None
        if state.armed:
            state.armed = False
            queue.tripped = True
            queue.entries.append(Notice(place.mkey, self.arithmetic.record(bad)))


def _of_units(places: list[TranslatedSge]) -> list[TranslatedSge]:
    """The SGEs of a message, where those of one key that a data unit spans are one: the units are the message's
    (XCRY-08), wherever its SGEs end. Only of keys without a signature, whose blocks count of themselves."""
    found: list[TranslatedSge] = []
    coded = 0
    for place in places:
        last = found[-1] if found else None
        if place.crypto is None or place.signature is not None or last is None or place.mkey is not last.mkey:
            found.append(place)
            coded = place.coded
        elif coded % place.crypto.unit:
            coded += place.coded
            pieces = [*last.pieces, *place.pieces]
            found[-1] = replace(last, length=last.length + place.length, pieces=pieces, coded=last.coded + place.coded)
        else:
            found.append(place)
            coded += place.coded
    return found


def configured(found: IndirectKey) -> Crypto:
    """The attributes of a key that can't be used without them (CRY-04)."""
    if found.crypto is None:
        raise Violation("crypto_missing")
    return found.crypto
