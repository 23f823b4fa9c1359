"""Faults of the reports of signature errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from mkeyspec.abi.constants import MkeyError
from mkeyspec.device.model.configuration import Configuration
from mkeyspec.device.model.data_path import Movement, TranslatedSge
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import Execution, Outcome
from mkeyspec.device.model.key import Bytes, IndirectKey, gather, scatter
from mkeyspec.device.model.queue import Notice, Queue
from mkeyspec.device.model.signature import Arithmetic, Bad, Flags
from mkeyspec.device.model.transfer import Transfer
from mkeyspec.device.protocol import Completion, Qp, Read, Send, Write
from mkeyspec.sabotage.fault import fault, profile

GUARD, REF, APP = int(MkeyError.BAD_GUARD), int(MkeyError.BAD_REFTAG), int(MkeyError.BAD_APPTAG)
Record = tuple[int, int, int, int]


def _record(name: str, change: Callable[[Bad, Record], Record]) -> None:
    """(type, expected, actual, offset) of a bad block, changed."""

    @fault(name)
    class Mutant(Arithmetic):
        def record(self, bad: Bad) -> Record:
            return change(bad, super().record(bad))


def _size(bad: Bad) -> int:
    return bad.domain.field if bad.domain.crc is not None else {"guard": 2, "app": 2, "ref": 4}[bad.part]


def _turned(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "big"), "little")


def _type_of_tags(bad: Bad, found: Record) -> Record:
    return ({APP: REF, REF: APP}.get(found[0], found[0]), *found[1:])


def _little_endian(bad: Bad, found: Record) -> Record:
    kind, expected, actual, offset = found
    return kind, _turned(expected, _size(bad)), _turned(actual, _size(bad)), offset


_record("error_next_block", lambda bad, found: (*found[:3], found[3] + bad.domain.frame))
_record("error_first_offset", lambda bad, found: (*found[:3], found[3] - bad.block * bad.domain.frame))
_record("error_offset_one_more", lambda bad, found: (*found[:3], found[3] + 1))
_record("error_offset_of_data", lambda bad, found: (*found[:3], found[3] - (bad.block + 1) * bad.domain.field))
_record("error_type_guard", lambda bad, found: (GUARD, *found[1:]))
_record("error_type_tags_swapped", _type_of_tags)
_record("error_values_swapped", lambda bad, found: (found[0], found[2], found[1], found[3]))
_record("error_values_little_endian", _little_endian)


@fault("error_actual_is_expected")
class ErrorActualIsExpected(Arithmetic):
    def record(self, bad: Bad) -> Record:
        return super().record(replace(bad, computed=bad.found))


@fault("error_last_block")
class ErrorLastBlock(Arithmetic):
    def reported(self, bad: Flags) -> int:
        return len(bad) - 1 - int(bad[::-1].argmax())


profile("error_priority_reversed", err_priority=("ref", "app", "guard"))

# Who is told, and how often ------------------------------------------------------------------


@fault("error_lost")
class ErrorLost(Movement):
    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        """Nobody."""


@fault("error_twice")
class ErrorTwice(Queue):
    again: tuple[Notice, ...] = ()

    def sent(self, wr_id: int, flags: int, status: str, opcode: str, byte_len: int = 0) -> None:
        told = tuple(entry for entry in self.entries if isinstance(entry, Notice))
        super().sent(wr_id, flags, status, opcode, byte_len)
        self.entries.extend(self.again)
        self.again = told


@dataclass(frozen=True)
class _Remembering(Movement):
    """By id of the mkey (which is held, so that no other gets it): what was reported of it."""

    told: dict[int, tuple[IndirectKey, Record]] = field(default_factory=dict)

    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        super()._tell(queue, place, bad)
        mkey = place.mkey
        if bad is not None and mkey is not None:
            self.told[id(mkey)] = mkey, self.arithmetic.record(bad)


@fault("error_sticky")
class ErrorSticky(_Remembering):
    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        mkey = place.mkey
        if (
            bad is None
            and mkey is not None
            and mkey.state is not None
            and not mkey.state.armed
            and id(mkey) in self.told
        ):
            queue.entries.append(Notice(*self.told[id(mkey)]))
        super()._tell(queue, place, bad)


@fault("error_of_every_message")
class ErrorOfEveryMessage(Movement):
    """Only where an error was not asked for: what a second bad message after an answer reports is open (X-OPEN-07)."""

    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        mkey = place.mkey
        if bad is not None and mkey is not None and mkey.state is not None:
            left = [entry for entry in queue.entries if not (isinstance(entry, Notice) and entry.mkey is mkey)]
            if mkey.state.error is not None or len(left) < len(queue.entries):
                mkey.state.armed, mkey.state.error = True, None
                queue.entries.clear()
                queue.entries.extend(left)
        super()._tell(queue, place, bad)


@fault("error_not_armed_again")
class ErrorNotArmedAgain(Execution):
    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        state = work.mkey.state
        armed = state is None or state.armed
        outcome = super()._configure(queue, work)
        if state is not None and not armed:
            state.armed = False
        return outcome


profile("error_of_every_message", err_unread="last")


@fault("error_to_initiator")
class NobodyKnows(Model):
    """A notice in a queue tells only an mkey of that end."""

    def poll(self, qp: Qp) -> list[Completion]:
        queue = self._queues.get(qp.handle)
        if queue is not None:
            known = self.tables[queue.side].keys
            strangers = [
                entry
                for entry in queue.entries
                if isinstance(entry, Notice) and known.get(entry.mkey.index) is not entry.mkey
            ]
            for entry in strangers:
                queue.entries.remove(entry)
        return super().poll(qp)


def _passive(name: str, calls: tuple[str, ...], change: Callable[[Queue, Queue, list[Any]], None]) -> None:
    """`change` is told both ends, and what was noted at the passive one's during a request; it is taken away there."""

    def watch(queue: Queue, run: Callable[[], tuple[str, int]]) -> tuple[str, int]:
        peer = queue.peer
        if peer is None:
            return run()
        before = len(peer.entries)
        outcome = run()
        new = [entry for entry in list(peer.entries)[before:] if isinstance(entry, Notice)]
        for entry in new:
            peer.entries.remove(entry)
        change(queue, peer, new)
        return outcome

    @fault(name)
    class Mutant(Transfer):
        def write(self, queue: Queue, request: Write) -> tuple[str, int]:
            run = super().write
            return watch(queue, lambda: run(queue, request)) if "write" in calls else run(queue, request)

        def read(self, queue: Queue, request: Read) -> tuple[str, int]:
            run = super().read
            return watch(queue, lambda: run(queue, request)) if "read" in calls else run(queue, request)


_passive("error_to_initiator", ("write", "read"), lambda queue, peer, new: queue.entries.extend(new))
_passive("error_on_reading_lost", ("read",), lambda queue, peer, new: None)
_passive("error_on_writing_lost", ("write",), lambda queue, peer, new: None)

# What becomes of the transfer ----------------------------------------------------------------


@fault("error_fails_request")
class ErrorFailsRequest(Transfer):
    def _after(self, queue: Queue, outcome: tuple[str, int]) -> tuple[str, int]:
        return ("loc_prot_err", 0) if queue.tripped else outcome

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        return self._after(queue, super().send(queue, request))

    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        return self._after(queue, super().write(queue, request))

    def read(self, queue: Queue, request: Read) -> tuple[str, int]:
        return self._after(queue, super().read(queue, request))


@dataclass(frozen=True)
class _Stopping(Movement):
    """What a message with an error writes is taken back, from a byte on that `kept` gives."""

    bad: list[tuple[TranslatedSge, Bad]] = field(default_factory=list)

    def kept(self, place: TranslatedSge, bad: Bad) -> int:
        raise NotImplementedError

    def emit(self, queue: Queue, places: list[TranslatedSge]) -> Bytes:
        self.bad.clear()
        return super().emit(queue, places)

    def _tell(self, queue: Queue, place: TranslatedSge, bad: Bad | None) -> None:
        super()._tell(queue, place, bad)
        if bad is not None:
            self.bad.append((place, bad))

    def absorb(self, queue: Queue, places: list[TranslatedSge], wire: Bytes) -> None:
        before = [gather(place.pieces, place.memory).copy() for place in places]
        super().absorb(queue, places, wire)
        if not self.bad:
            return
        left = self.kept(*self.bad[0])
        for place, old in zip(places, before, strict=True):
            now = gather(place.pieces, place.memory).copy()
            now[left:] = old[left:]
            scatter(place.pieces, now)
            left = max(0, left - len(now))


@fault("error_stops_data")
class ErrorStopsData(_Stopping):
    def kept(self, place: TranslatedSge, bad: Bad) -> int:
        return 0


@fault("error_stops_behind_block")
class ErrorStopsBehindBlock(_Stopping):
    def kept(self, place: TranslatedSge, bad: Bad) -> int:
        """In bytes of data; a field more or less does not matter to whoever looks."""
        return bad.block * bad.domain.block
