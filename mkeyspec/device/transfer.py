"""SEND, WRITE, READ and FETCH_ADD between the two ends of a pair, signatures included.

A message is translated at both ends before a byte of it moves, so that a refused one moves none (LAY-05,
ACC-01). Lengths count wire bytes (hardware 12). A signature error does not stop a message (hardware 5); its
notice goes to the completion queue of the end that holds the mkey (hardware 4), before the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mkeyspec.constants import Access, MkeyFlag
from mkeyspec.device.key import Bytes, IndirectKey, KeyTable, Piece, Violation, gather, scatter
from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import FetchAdd, Read, Send, Sge, Write
from mkeyspec.device.queue import RTS, Notice, Queue, Receive
from mkeyspec.device.signature import Arithmetic, Bad, Signature, Span

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = (
    int(flag) for flag in (Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC)
)
REMOTE_INVALIDATE = int(MkeyFlag.REMOTE_INVALIDATE)
BOUNDS = ("beyond_layout", "no_layout")
SUCCESS = "success"
EMPTY: Bytes = np.empty(0, np.uint8)


@dataclass(slots=True)
class Place:
    """One SGE translated: `length` wire bytes, the memory they are, and the mkey if its signature is in force."""

    length: int
    pieces: list[Piece]
    mkey: IndirectKey | None = None
    signature: Signature | None = None
    span: Span | None = None

    @property
    def memory(self) -> int:
        return self.length if self.span is None else self.span.memory


@dataclass(frozen=True, slots=True)
class Transfer:
    """Executes data work requests; every method gives the status and byte count of the requester's completion."""

    profile: Profile
    arithmetic: Arithmetic
    tables: dict[str, KeyTable]

    # Translation -----------------------------------------------------------------------------

    def place(self, queue: Queue, key: int, addr: int, length: int, right: int, write: bool) -> Place:
        """`length` wire bytes of a key of this end; Violation if the end may not use them like that."""
        table = self.tables[queue.side]
        found = table.claim(queue.pd, key & M32, right)
        place = Place(length, [])
        start, size = addr & M64, length
        if found.__class__ is IndirectKey:
            assert isinstance(found, IndirectKey)
            signature = found.signature
            if signature is not None:
                place.mkey, place.signature = found, signature
                place.span = span = self.arithmetic.span(signature, start, length)
                start, size = span.memory_start, span.memory
        table.reach(found, start, size, write, place.pieces)
        return place

    def local(self, queue: Queue, sges: Sequence[Sge], right: int, limit: int | None = None) -> list[Place]:
        """The places of an SGE list, of its first `limit` bytes at most. An SGE of no bytes is not looked at."""
        places = []
        for sge in sges:
            length = sge.length & M32
            if limit is not None:
                length = min(length, limit)
                limit -= length
            if length:
                places.append(self.place(queue, sge.lkey, sge.addr, length, right, bool(right)))
        return places

    # Movement --------------------------------------------------------------------------------

    def emit(self, queue: Queue, places: list[Place]) -> Bytes:
        """The wire bytes of the places, checked and generated on the way."""
        before: dict[int, int] = {}
        streams = []
        for place in places:
            stream = gather(place.pieces, place.memory)
            if place.signature is not None:
                stream, bad = self.arithmetic.transmit(
                    place.signature, stream, place.length, self._raw_before(place, before)
                )
                self._tell(queue, place, bad)
            streams.append(stream)
        if len(streams) == 1:
            return streams[0]
        return np.concatenate(streams) if streams else EMPTY

    def absorb(self, queue: Queue, places: list[Place], wire: Bytes) -> None:
        """Lay the wire bytes down in the places, checked and generated on the way."""
        before: dict[int, int] = {}
        at = 0
        for place in places:
            stream = wire[at : at + place.length]
            at += place.length
            if place.signature is not None:
                stream, bad = self.arithmetic.receive(place.signature, stream, self._raw_before(place, before))
                self._tell(queue, place, bad)
            scatter(place.pieces, stream)

    def _raw_before(self, place: Place, before: dict[int, int]) -> int:
        """Raw bytes of this mkey that went before, in this message or since its configuration (X-OPEN-07)."""
        assert place.mkey is not None
        assert place.span is not None
        state = place.mkey.state
        assert state is not None
        raw = place.span.raw
        count = state.moved if self.profile.ref_tag_restart == "configuration" else before.get(place.mkey.index, 0)
        before[place.mkey.index] = count + raw
        state.moved += raw
        return count

    def _tell(self, queue: Queue, place: Place, bad: Bad | None) -> None:
        """The first error since the mkey was armed is noted in this end's queue (hardware 4 and 6)."""
        if bad is None:
            return
        assert place.mkey is not None
        state = place.mkey.state
        assert state is not None
        if state.armed:
            state.armed = False
            queue.entries.append(Notice(place.mkey, self.arithmetic.record(bad)))

    # Requests --------------------------------------------------------------------------------

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        length = _length(request.sges)
        status, places = self._sources(queue, request.sges, length)
        if status != SUCCESS:
            return status, 0
        peer, status = self._responder(queue)
        if status != SUCCESS or peer is None:
            return self._lost(queue, status), length
        if not peer.receives:
            return self._lost(queue, "rnr_retry_exc_err"), length
        receive = peer.receives.popleft()
        key = request.invalidate_rkey
        try:
            if length > _length(receive.sges):
                return self._refused(peer, receive, self.profile.status_overrun, self.profile.status_overrun_sender)
            targets = self.local(peer, receive.sges, LOCAL_WRITE, length)
        except Violation:
            return self._refused(peer, receive, self.profile.status_receive, self.profile.status_receive_sender)
        invalid = None
        if key is not None:
            try:
                invalid = self.invalidable(peer, key & M32)
            except Violation:
                return self._refused(
                    peer, receive, self.profile.status_invalidate, self.profile.status_invalidate_sender
                )
        self.absorb(peer, targets, self.emit(queue, places))
        if invalid is not None:
            self.invalidate(invalid)
        received = length if self.profile.recv_byte_len == "wire" else sum(place.memory for place in targets)
        peer.received(
            receive.wr_id, SUCCESS, "recv", received, None if request.imm is None else request.imm & M32,
            None if key is None else key & M32,
        )  # fmt: skip
        return SUCCESS, length

    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        length = _length(request.sges)
        status, places = self._sources(queue, request.sges, length)
        if status != SUCCESS:
            return status, 0
        peer, status = self._responder(queue)
        if status != SUCCESS or peer is None:
            return self._lost(queue, status), length
        if request.imm is not None and not peer.receives:
            return self._lost(queue, "rnr_retry_exc_err"), length
        try:
            targets = []
            if length:
                targets = [self.place(peer, request.rkey, request.remote_addr, length, REMOTE_WRITE, True)]
        except Violation as violation:
            return self._denied(queue, peer, violation), length
        self.absorb(peer, targets, self.emit(queue, places))
        if request.imm is not None:
            peer.received(peer.receives.popleft().wr_id, SUCCESS, "recv_rdma_with_imm", length, request.imm & M32)
        return SUCCESS, length

    def read(self, queue: Queue, request: Read) -> tuple[str, int]:
        length = _length(request.sges)
        status, places = self._sources(queue, request.sges, length, LOCAL_WRITE)
        if status != SUCCESS:
            return status, 0
        peer, status = self._responder(queue)
        if status != SUCCESS or peer is None:
            return status, 0
        try:
            sources = []
            if length:
                sources = [self.place(peer, request.rkey, request.remote_addr, length, REMOTE_READ, False)]
        except Violation as violation:
            return self._denied(queue, peer, violation), 0
        self.absorb(queue, places, self.emit(peer, sources))
        return SUCCESS, length

    def fetch_add(self, queue: Queue, request: FetchAdd) -> tuple[str, int]:
        """8 bytes in the host's order; signatures have no part in it (X-OPEN-15)."""
        sge = request.sge
        status, _ = self._sources(queue, (sge,), sge.length & M32, LOCAL_WRITE)
        if status != SUCCESS:
            return status, 0
        if sge.length & M32 < 8:
            return self.profile.status_length, 0
        peer, status = self._responder(queue)
        if status != SUCCESS or peer is None:
            return status, 0
        if request.remote_addr % 8:
            peer.fail()
            return self.profile.status_atomic, 0
        try:
            counter = self._raw(peer, request.rkey, request.remote_addr, REMOTE_ATOMIC)
        except Violation as violation:
            return self._denied(queue, peer, violation), 0
        try:
            result = self._raw(queue, sge.lkey, sge.addr, LOCAL_WRITE)
        except Violation as violation:
            return self._local_status(violation), 0
        old = gather(counter, 8).copy()
        total = int.from_bytes(old.tobytes(), "little") + request.add & M64
        scatter(counter, np.frombuffer(total.to_bytes(8, "little"), np.uint8))
        scatter(result, old)
        return SUCCESS, 8

    def _raw(self, queue: Queue, key: int, addr: int, right: int) -> list[Piece]:
        table = self.tables[queue.side]
        pieces: list[Piece] = []
        table.reach(table.claim(queue.pd, key & M32, right), addr & M64, 8, True, pieces)
        return pieces

    # Invalidation ----------------------------------------------------------------------------

    def invalidable(self, queue: Queue, key: int) -> IndirectKey:
        """The mkey that a SEND_INV from the peer may invalidate (MKY-08)."""
        found = self.tables[queue.side].claim(queue.pd, key, 0)
        if not isinstance(found, IndirectKey) or not found.flags & REMOTE_INVALIDATE:
            raise Violation("remote_invalidate_flag")
        return found

    def invalidate(self, mkey: IndirectKey) -> None:
        """The mkey is free again (CFG-10); what is forgotten beside is the profile's (X-OPEN-09)."""
        mkey.free = True
        if self.profile.invalidate_clears:
            mkey.forget(self.profile.initial_access)
            if mkey.state is not None:
                mkey.state.unknown = False

    # Refusals --------------------------------------------------------------------------------

    def _sources(self, queue: Queue, sges: Sequence[Sge], length: int, right: int = 0) -> tuple[str, list[Place]]:
        if length > self.profile.max_message:
            return self.profile.status_length, []
        try:
            return SUCCESS, self.local(queue, sges, right)
        except Violation as violation:
            return self._local_status(violation), []

    def _local_status(self, violation: Violation) -> str:
        return self.profile.status_local_bounds if violation.rule in BOUNDS else self.profile.status_local

    def _responder(self, queue: Queue) -> tuple[Queue | None, str]:
        """The other end, unless it doesn't answer any more."""
        peer = queue.peer
        return (peer, SUCCESS) if peer is not None and peer.state == RTS else (None, "retry_exc_err")

    def _lost(self, queue: Queue, status: str) -> str:
        """An unreliable connection doesn't know that nobody took its message."""
        return SUCCESS if queue.attributes.type == "uc" else status

    def _denied(self, queue: Queue, peer: Queue, violation: Violation) -> str:
        """A remote key refuses: the responder goes to error too, a UC one drops the message."""
        if queue.attributes.type == "uc":
            return SUCCESS
        peer.fail()
        return self.profile.status_remote_bounds if violation.rule in BOUNDS else self.profile.status_remote

    def _refused(self, peer: Queue, receive: Receive, there: str, here: str) -> tuple[str, int]:
        """A receive that can't take its message ends in error, and its end with it."""
        peer.received(receive.wr_id, there)
        peer.fail()
        return (SUCCESS if peer.attributes.type == "uc" else here), 0


def _length(sges: Sequence[Sge]) -> int:
    return sum(sge.length & M32 for sge in sges)
