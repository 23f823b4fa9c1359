"""SEND, WRITE, READ and FETCH_ADD between the two ends of a pair, and memcpy at one; signatures and crypto included.

A message is translated at both ends before a byte of it moves, so that a refused one moves none (LAY-05,
ACC-01). Lengths count wire bytes (hardware 12). A signature error does not stop a message (hardware 5); its
notice goes to the completion queue of the end that holds the mkey (hardware 4), before the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mkeyspec.constants import Access, MkeyFlag
from mkeyspec.device import crypto
from mkeyspec.device.crypto import Crypto
from mkeyspec.device.dynamic import DCI, Targets
from mkeyspec.device.key import Bytes, IndirectKey, KeyTable, Piece, Violation, gather, scatter
from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import DcAddress, FetchAdd, Memcpy, Read, Send, Sge, Write
from mkeyspec.device.queue import RTS, SQD, Notice, Queue, Receive
from mkeyspec.device.signature import Arithmetic, Bad, Between, Signature, Span
from mkeyspec.device.wqe import Inline

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = (
    int(flag) for flag in (Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC)
)
REMOTE_INVALIDATE, CRYPTO = int(MkeyFlag.REMOTE_INVALIDATE), int(MkeyFlag.CRYPTO)
BOUNDS = ("beyond_layout", "no_layout")
SUCCESS = "success"
EMPTY: Bytes = np.empty(0, np.uint8)


@dataclass(slots=True)
class Place:
    """One SGE translated: `length` wire bytes, the memory they are, and the mkey if it turns one into the other.

    `coded`: how many bytes the cipher works on.
    """

    length: int
    pieces: list[Piece]
    mkey: IndirectKey | None = None
    signature: Signature | None = None
    span: Span | None = None
    crypto: Crypto | None = None
    coded: int = 0

    @property
    def memory(self) -> int:
        return self.length if self.span is None else self.span.memory


Before = dict[int, tuple[int, int]]
"""By mkey: its raw bytes and its ciphered bytes of the message so far."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Executes data work requests; every method gives the status and byte count of the requester's completion."""

    profile: Profile
    arithmetic: Arithmetic
    tables: dict[str, KeyTable]
    targets: Targets

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
            if found.flags & CRYPTO:
                self._admit(place, found)
        table.reach(found, start, size, write, place.pieces)
        return place

    def _admit(self, place: Place, found: IndirectKey) -> None:
        """A key made for crypto works with its attributes only, and on lengths that are a job (CRY-03, XCRY-10)."""
        used = _configured(found)
        span = place.span
        place.mkey, place.crypto, place.coded = found, used, place.length
        if span is not None and used.at != crypto.WIRE:
            place.coded = span.memory if used.at == crypto.MEMORY else span.raw
        used.admit(place.coded)

    def local(self, queue: Queue, sges: Sequence[Sge], right: int, limit: int | None = None) -> list[Place]:
        """The places of an SGE list, of its first `limit` bytes at most. An SGE of no bytes is not looked at."""
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
                places.append(Place(length, [np.frombuffer(sge.data, np.uint8)]))
            else:
                places.append(self.place(queue, sge.lkey, sge.addr, length, right, bool(right)))
        return places

    # Movement --------------------------------------------------------------------------------

    def emit(self, queue: Queue, places: list[Place]) -> Bytes:
        """The wire bytes of the places, checked and generated on the way."""
        before: Before = {}
        streams = []
        for place in places:
            stream = gather(place.pieces, place.memory)
            if place.mkey is not None:
                stream = self._turn(queue, place, stream, before, transmit=True)
            streams.append(stream)
        if len(streams) == 1:
            return streams[0]
        return np.concatenate(streams) if streams else EMPTY

    def absorb(self, queue: Queue, places: list[Place], wire: Bytes) -> None:
        """Lay the wire bytes down in the places, checked and generated on the way."""
        before: Before = {}
        at = 0
        for place in places:
            stream = wire[at : at + place.length]
            at += place.length
            if place.mkey is not None:
                stream = self._turn(queue, place, stream, before, transmit=False)
            scatter(place.pieces, stream)

    def _turn(self, queue: Queue, place: Place, stream: Bytes, before: Before, *, transmit: bool) -> Bytes:
        """Memory bytes to wire bytes, or back: signature and cipher, in the order of the page's table (ledger 3.7)."""
        raw, coded = self._before(place, before)
        used, at = place.crypto, ""
        cipher: Between | None = None
        if used is not None:
            cipher, at = partial(used.apply, transmit=transmit, before=coded), used.at
            if at == (crypto.MEMORY if transmit else crypto.WIRE):
                stream = cipher(stream)
        if place.signature is not None:
            between = cipher if at == crypto.RAW else None
            if transmit:
                stream, bad = self.arithmetic.transmit(place.signature, stream, place.length, raw, between)
            else:
                stream, bad = self.arithmetic.receive(place.signature, stream, raw, between)
            self._tell(queue, place, bad)
        elif cipher is not None and at == crypto.RAW:
            stream = cipher(stream)
        if cipher is not None and at == (crypto.WIRE if transmit else crypto.MEMORY):
            stream = cipher(stream)
        return stream

    def _before(self, place: Place, before: Before) -> tuple[int, int]:
        """What went before of this mkey: raw bytes, in this message or since its configuration (X-OPEN-07); ciphered
        bytes in this message (initial_tweak is that of its first data unit)."""
        assert place.mkey is not None
        state, span = place.mkey.state, place.span
        raw, coded = before.get(place.mkey.index, (0, 0))
        if span is not None and state is not None:
            if self.profile.ref_tag_restart == "configuration":
                raw = state.moved
            state.moved += span.raw
            before[place.mkey.index] = raw + span.raw, coded + place.coded
        else:
            before[place.mkey.index] = raw, coded + place.coded
        return raw, coded

    def _tell(self, queue: Queue, place: Place, bad: Bad | None) -> None:
        """The first error since the mkey was armed is noted in this end's queue (hardware 4 and 6)."""
        if bad is None:
            return
        assert place.mkey is not None
        state = place.mkey.state
        assert state is not None
        if state.armed:
            state.armed = False
            queue.tripped = True
            queue.entries.append(Notice(place.mkey, self.arithmetic.record(bad)))

    # Requests --------------------------------------------------------------------------------

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        length = _length(request.sges)
        status, places = self._sources(queue, request.sges, length)
        if status != SUCCESS:
            return status, 0
        peer, status = self._responder(queue, request.dc)
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
        peer, status = self._responder(queue, request.dc)
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
        peer, status = self._responder(queue, request.dc)
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
        peer, status = self._responder(queue, request.dc)
        if status != SUCCESS or peer is None:
            return status, 0
        if request.remote_addr % 8:
            self._break(peer)
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
        found = table.claim(queue.pd, key & M32, right)
        if isinstance(found, IndirectKey) and found.flags & CRYPTO:
            _configured(found)
        table.reach(found, addr & M64, 8, True, pieces)
        return pieces

    def memcpy(self, queue: Queue, request: Memcpy) -> tuple[str, int]:
        """Both keys are this end's, with local rights, in the QP's domain (WRP-18). No message, so no byte count."""
        length = request.length
        if length > self.profile.max_message:
            return self.profile.status_length, 0
        try:
            source = self.place(queue, request.src_lkey, request.src_addr, length, 0, False)
            target = self.place(queue, request.dest_lkey, request.dest_addr, length, LOCAL_WRITE, True)
        except Violation as violation:
            return self._local_status(violation), 0
        self.absorb(queue, [target], self.emit(queue, [source]))
        return SUCCESS, 0

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
        if violation.rule in crypto.RULES:
            return self.profile.status_crypto
        return self.profile.status_local_bounds if violation.rule in BOUNDS else self.profile.status_local

    def _responder(self, queue: Queue, dc: DcAddress | None) -> tuple[Queue | None, str]:
        """The other end, unless it doesn't answer any more. One that only its own sending has stopped still does."""
        if queue.attributes.type == DCI:
            if not self.targets.answers(dc):
                return None, self.profile.status_dct
            assert dc is not None
            if dc.stream is not None and dc.stream >= max(1, queue.attributes.streams):
                return None, self.profile.status_stream
        peer = queue.peer
        return (peer, SUCCESS) if peer is not None and peer.state in (RTS, SQD) else (None, "retry_exc_err")

    def _lost(self, queue: Queue, status: str) -> str:
        """An unreliable connection doesn't know that nobody took its message."""
        return SUCCESS if queue.attributes.type == "uc" else status

    def _denied(self, queue: Queue, peer: Queue, violation: Violation) -> str:
        """A remote key refuses: the responder goes to error too, a UC one drops the message."""
        if queue.attributes.type == "uc":
            return SUCCESS
        self._break(peer)
        return self.profile.status_remote_bounds if violation.rule in BOUNDS else self.profile.status_remote

    def _break(self, peer: Queue) -> None:
        """The responder goes to error; a DC target does not, it has others to answer."""
        if peer.attributes.type != DCI:
            peer.fail()

    def _refused(self, peer: Queue, receive: Receive, there: str, here: str) -> tuple[str, int]:
        """A receive that can't take its message ends in error, and its end with it."""
        peer.received(receive.wr_id, there)
        self._break(peer)
        return (SUCCESS if peer.attributes.type == "uc" else here), 0


def _configured(found: IndirectKey) -> Crypto:
    """The attributes of a key that can't be used without any (CRY-04)."""
    if found.crypto is None:
        raise Violation("crypto_missing")
    return found.crypto


def _length(sges: Sequence[Sge]) -> int:
    return sum(sge.length & M32 for sge in sges)
