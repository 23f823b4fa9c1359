"""Observers of the parts that a message's bytes go through: movement, keys, signatures (see `observers.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mkeyspec.device.model.configuration import M32, M64
from mkeyspec.device.model.crypto import Crypto
from mkeyspec.device.model.data_path import TranslatedSge
from mkeyspec.device.model.key import Bytes, IndirectKey, Key, Layout, ListLayout, Piece, StridedLayout
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.signature import Bad, Between, Flags, SigDomain, Signature
from mkeyspec.device.protocol import Sge, SigBlockAttr, SigBlockDomain
from mkeyspec.sabotage.conditions.moment import Use
from mkeyspec.sabotage.conditions.observer import Observer

Turned = tuple[Bytes, "Bad | None"]


class MovementObserver(Observer):
    tables: Any

    def local(self, queue: Queue, sges: Sequence[Sge], right: int, limit: int | None = None) -> list[TranslatedSge]:
        self.moment.sges = [sge for sge in sges if sge.length & M32]
        self.moment.next_sge = 0
        made: list[TranslatedSge] = super().local(queue, sges, right, limit)  # type: ignore[misc]
        self.moment.sges = []
        return made

    def place(self, queue: Queue, key: int, addr: int, length: int, right: int, write: bool) -> TranslatedSge:
        moment = self.moment
        found = self.tables[queue.side].keys.get((key & M32) >> 8)
        role = "local" if queue is moment.queue else "remote"
        if role == "remote" and (moment.operation or "").startswith("send"):
            role = "receive"
        mkey = found if isinstance(found, IndirectKey) else None
        use = Use(mkey, role, addr & M64, queue.side, moment.next_sge, max(1, len(moment.sges)))
        moment.next_sge += 1
        moment.use, moment.key, moment.direction = use, mkey, "rx" if write else "tx"
        moment.layout = moment.entry = moment.depth = moment.signature = moment.domain = moment.crypto = None
        if mkey is not None:
            history = moment.history(mkey)
            if id(mkey) not in moment.touched:
                moment.touched[id(mkey)] = history.messages
                history.messages += 1
            use.message = moment.touched[id(mkey)]
        moment.at("movement.place")
        made: TranslatedSge = super().place(queue, key, addr, length, right, write)  # type: ignore[misc]
        moment.uses[id(made)] = made, use
        return made

    def _admit(self, place: TranslatedSge, found: IndirectKey) -> None:
        self.moment.at("movement._admit")
        super()._admit(place, found)  # type: ignore[misc]

    def _enter(self, place: TranslatedSge, direction: str) -> None:
        moment = self.moment
        _, use = moment.uses.get(id(place), (None, None))
        moment.use, moment.key, moment.direction = use, use.key if use else None, direction
        moment.layout = moment.entry = moment.depth = moment.domain = None
        moment.signature, moment.crypto = place.signature, place.crypto

    def emit(self, queue: Queue, places: list[TranslatedSge]) -> Bytes:
        if places:
            self._enter(places[0], "tx")
        self.moment.at("movement.emit")
        made: Bytes = super().emit(queue, places)  # type: ignore[misc]
        return made

    def absorb(self, queue: Queue, places: list[TranslatedSge], wire: Bytes) -> None:
        if places:
            self._enter(places[0], "rx")
        self.moment.at("movement.absorb")
        super().absorb(queue, places, wire)  # type: ignore[misc]

    def _turn(self, queue: Queue, place: TranslatedSge, stream: Bytes, before: Any, *, transmit: bool) -> Bytes:
        self._enter(place, "tx" if transmit else "rx")
        self.moment.coded = place.coded
        made: Bytes = super()._turn(queue, place, stream, before, transmit=transmit)  # type: ignore[misc]
        return made

    def cipher(self, used: Crypto, transmit: bool, before: int) -> Between:
        moment = self.moment
        moment.crypto, moment.first_unit = used, before // used.unit
        moment.some_units = -(-moment.coded // used.unit)
        moment.units = moment.first_unit + moment.some_units
        moment.at("movement.cipher")
        made: Between = super().cipher(used, transmit, before)  # type: ignore[misc]
        return made

    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        moment = self.moment
        if bad is not None:
            moment.domain, moment.part, moment.bad_block = bad.domain, bad.part, bad.block
            moment.side = "mem" if moment.direction == "tx" else "wire"
        moment.at("movement._tell")
        state = place.mkey.state if place.mkey is not None else None
        told = bad is not None and state is not None and state.armed
        super()._tell(queue, place, bad)  # type: ignore[misc]
        if told and place.mkey is not None:
            moment.history(place.mkey).error = "unread"


class TableObserver(Observer):
    def find(self, key: int) -> Key:
        self.moment.at("table.find")
        found: Key = super().find(key)  # type: ignore[misc]
        return found

    def claim(self, pd: int, key: int, right: int) -> Key:
        self.moment.at("table.claim")
        found: Key = super().claim(pd, key, right)  # type: ignore[misc]
        return found

    def reach(self, found: Key, start: int, length: int, write: bool, pieces: list[Piece], depth: int = 0) -> None:
        moment = self.moment
        before = moment.layout, moment.entry, moment.depth
        if isinstance(found, IndirectKey):
            moment.layout, moment.entry, moment.depth = found.layout, None, depth
        moment.at("table.reach")
        super().reach(found, start, length, write, pieces, depth)  # type: ignore[misc]
        moment.layout, moment.entry, moment.depth = before

    def _reach_list(
        self, pd: int, layout: ListLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        self.moment.at("table._reach_list")
        super()._reach_list(pd, layout, start, length, write, pieces, depth)  # type: ignore[misc]

    def _reach_strided(
        self, pd: int, layout: StridedLayout, start: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        self.moment.at("table._reach_strided")
        super()._reach_strided(pd, layout, start, length, write, pieces, depth)  # type: ignore[misc]

    def _columns(
        self, pd: int, layout: StridedLayout, turn: int, rows: int, write: bool
    ) -> tuple[tuple[int, Bytes], ...] | None:
        """The model's way for many turns at once. A faulty one takes each entry by itself: those are noted."""
        moment = self.moment
        before = moment.entry
        for key, addr, _, _ in layout.entries:
            moment.entry = None if moment.layout is None else _entry_at(moment.layout, key, addr)
            moment.at("table._reach_entry")
        moment.entry = before
        found: tuple[tuple[int, Bytes], ...] | None = super()._columns(pd, layout, turn, rows, write)  # type: ignore[misc]
        return found

    def _reach_entry(
        self, pd: int, key: int, addr: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        moment = self.moment
        before = moment.entry
        moment.entry = None if moment.layout is None else _entry_at(moment.layout, key, addr)
        moment.at("table._reach_entry")
        super()._reach_entry(pd, key, addr, length, write, pieces, depth)  # type: ignore[misc]
        moment.entry = before


class ArithmeticObserver(Observer):
    def domain(self, given: SigBlockDomain) -> SigDomain:
        moment = self.moment
        if moment.attr is not None:
            moment.side = "mem" if given is moment.attr.mem else "wire"
        made: SigDomain = super().domain(given)  # type: ignore[misc]
        moment.domain = made
        moment.at("arithmetic.domain")
        return made

    def signature(self, attr: SigBlockAttr) -> Signature:
        moment = self.moment
        moment.attr = attr
        made: Signature = super().signature(attr)  # type: ignore[misc]
        moment.attr = None
        if attr.flags & 1:
            moment.masks[id(made)] = made
        moment.signature, moment.domain = made, None
        moment.at("arithmetic.signature")
        return made

    def transmit(
        self, signature: Signature, memory: Bytes, length: int, before: int, between: Between | None = None
    ) -> Turned:
        self._enter(signature, signature.mem, memory, before)
        self.moment.at("arithmetic.transmit")
        made: Turned = super().transmit(signature, memory, length, before, between)  # type: ignore[misc]
        return made

    def receive(self, signature: Signature, wire: Bytes, before: int, between: Between | None = None) -> Turned:
        self._enter(signature, signature.wire, wire, before)
        self.moment.at("arithmetic.receive")
        made: Turned = super().receive(signature, wire, before, between)  # type: ignore[misc]
        return made

    def _enter(self, signature: Signature, source: SigDomain | None, stream: Bytes, before: int) -> None:
        moment = self.moment
        moment.signature, moment.domain = signature, source
        unit = source.frame if source is not None else 0
        other = signature.mem or signature.wire
        if not unit and other is not None:
            unit = other.block
        moment.tail = "part" if unit and len(stream) % unit else "whole"
        moment.blocks = None if not unit else len(stream) // unit + before // (other.block if other else unit)
        moment.some_blocks = moment.bad_block = moment.part = None
        moment.side = "mem" if moment.direction == "tx" else "wire"

    def _convert(
        self,
        signature: Signature,
        source: SigDomain | None,
        target: SigDomain | None,
        stream: Bytes,
        before: int,
        between: Between | None,
    ) -> Turned:
        self.moment.at("arithmetic._convert")
        made: Turned = super()._convert(signature, source, target, stream, before, between)  # type: ignore[misc]
        return made

    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        self._work_on(source, len(stored), before, "mem" if self.moment.direction == "tx" else "wire")
        self.moment.at("arithmetic._first_bad")
        found: Bad | None = super()._first_bad(signature, source, data, stored, before)  # type: ignore[misc]
        self.moment.some_blocks = None
        return found

    def _output(self, signature: Signature, target: SigDomain, data: Bytes, stored: Bytes | None, before: int) -> Bytes:
        self._work_on(target, len(data) // target.block, before, "wire" if self.moment.direction == "tx" else "mem")
        self.moment.at("arithmetic._output")
        made: Bytes = super()._output(signature, target, data, stored, before)  # type: ignore[misc]
        return made

    def _work_on(self, domain: SigDomain, count: int, before: int, side: str) -> None:
        moment = self.moment
        moment.domain, moment.side = domain, side
        moment.first_block, moment.some_blocks = before // domain.block, count
        moment.blocks = moment.first_block + count
        moment.bad_block = moment.part = None

    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        self.moment.at("arithmetic.calculate")
        made: Bytes = super().calculate(domain, data, before)  # type: ignore[misc]
        return made

    def escaped(self, flags: int, stored: Bytes) -> Flags | None:
        self.moment.at("arithmetic.escaped")
        found: Flags | None = super().escaped(flags, stored)  # type: ignore[misc]
        return found

    def _part(self, source: SigDomain, differs: Flags) -> str:
        self.moment.at("arithmetic._part")
        found: str = super()._part(source, differs)  # type: ignore[misc]
        return found

    def reported(self, bad: Flags) -> int:
        self.moment.at("arithmetic.reported")
        found: int = super().reported(bad)  # type: ignore[misc]
        return found

    def framed(self, target: SigDomain, data: Bytes, fields: Bytes) -> Bytes:
        self.moment.at("arithmetic.framed")
        made: Bytes = super().framed(target, data, fields)  # type: ignore[misc]
        return made

    def record(self, bad: Bad) -> tuple[int, int, int, int]:
        moment = self.moment
        moment.domain, moment.part, moment.bad_block = bad.domain, bad.part, bad.block
        moment.at("arithmetic.record")
        made: tuple[int, int, int, int] = super().record(bad)  # type: ignore[misc]
        return made


def _entry_at(layout: Layout, key: int, addr: int) -> int | None:
    """Which entry of a layout an address of a key is in; the first of several."""
    for place, entry in enumerate(layout.entries):
        if entry[0] != key:
            continue
        behind = addr - entry[1]
        if isinstance(layout, StridedLayout):
            stride = entry[3]
            if behind >= 0 and (behind % stride if stride else behind) < max(1, entry[2]):
                return place
        elif 0 <= behind < max(1, entry[2]):
            return place
    return None
