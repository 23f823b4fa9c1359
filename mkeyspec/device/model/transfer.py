"""SEND, WRITE, READ and FETCH_ADD between the two ends of a pair, and memcpy at one.

A message is translated at both ends before a byte of it is laid down, so that a refused one moves none (LAY-05,
ACC-01); only an atomic has its effect at the responder before its result can be refused. A signature error does not
stop a message (mlx5dv_mkey_check(3)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mkeyspec.abi.constants import Access, MkeyFlag
from mkeyspec.device.model import crypto
from mkeyspec.device.model.data_path import CRYPTO, M32, M64, Movement, TranslatedSge, configured
from mkeyspec.device.model.dct import DCI, Targets
from mkeyspec.device.model.key import IndirectKey, KeyTable, Piece, Violation, gather, scatter
from mkeyspec.device.model.queue import RTS, SQD, PostedReceive, Queue
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Atomic, CompareSwap, DcAddress, FetchAdd, Memcpy, Read, Send, Sge, Write

LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = (
    int(flag) for flag in (Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC)
)
REMOTE_INVALIDATE = int(MkeyFlag.REMOTE_INVALIDATE)
BOUNDS = ("beyond_layout", "no_layout")
SUCCESS = "success"
TOO_LONG = "rem_inv_req_err"
"""At the sender, of a message longer than the receive (IBTA 9.9.3, responder errors: NAK invalid request)."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Executes data work requests; every method gives the status and byte count of the requester's completion.

    The count is of what came back, so that a SEND and a WRITE have none (libmlx5 sets byte_len of READs and atomics
    alone).
    """

    profile: Profile
    movement: Movement
    tables: dict[str, KeyTable]
    targets: Targets

    # Requests --------------------------------------------------------------------------------

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        length = _length(request.sges)
        status, places = self._sources(queue, request.sges, length)
        if status != SUCCESS:
            return status, 0
        peer, status = self._responder(queue, request.dc)
        if status != SUCCESS or peer is None:
            return self._lost(queue, status), 0
        if not peer.receives:
            return self._lost(queue, "rnr_retry_exc_err"), 0
        receive = peer.receives.popleft()
        key = request.invalidate_rkey
        try:
            if length > _length(receive.sges):
                return self._refused(peer, receive, self.profile.status_overrun, TOO_LONG)
            targets = self.movement.local(peer, receive.sges, LOCAL_WRITE, length)
        except Violation:
            return self._refused(peer, receive, self.profile.status_receive, self.profile.status_receive_sender)
        invalid = None
        if key is not None:
            try:
                invalid = self.invalidable(peer, key & M32)
            except Violation:
                there, here = self.profile.status_invalidate_receive, self.profile.status_invalidate_sender
                return self._refused(peer, receive, there, here)
        self.movement.absorb(peer, targets, self.movement.emit(queue, places))
        if invalid is not None:
            self.invalidate(invalid)
        received = length if self.profile.recv_byte_len == "wire" else sum(place.memory for place in targets)
        peer.received(
            receive.wr_id,
            SUCCESS,
            "recv",
            received,
            None if request.imm is None else request.imm & M32,
            None if key is None else key & M32,
        )
        return SUCCESS, 0

    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        length = _length(request.sges)
        status, places = self._sources(queue, request.sges, length)
        if status != SUCCESS:
            return status, 0
        peer, status = self._responder(queue, request.dc)
        if status != SUCCESS or peer is None:
            return self._lost(queue, status), 0
        if request.imm is not None and not peer.receives:
            return self._lost(queue, "rnr_retry_exc_err"), 0
        try:
            targets = []
            if length:
                targets = [self.movement.place(peer, request.rkey, request.remote_addr, length, REMOTE_WRITE, True)]
        except Violation as violation:
            return self._denied(queue, peer, violation), 0
        self.movement.absorb(peer, targets, self.movement.emit(queue, places))
        if request.imm is not None:
            peer.received(peer.receives.popleft().wr_id, SUCCESS, "recv_rdma_with_imm", length, request.imm & M32)
        return SUCCESS, 0

    def read(self, queue: Queue, request: Read) -> tuple[str, int]:
        """The request goes out first; its scatter list is looked at when the response comes.

        So a responder that refuses, or doesn't answer, is reported before what is wrong with the list.
        """
        length = _length(request.sges)
        if length > self.profile.max_message:
            return self.profile.status_length, 0
        peer, status = self._responder(queue, request.dc)
        if status != SUCCESS or peer is None:
            return status, 0
        try:
            sources = []
            if length:
                sources = [self.movement.place(peer, request.rkey, request.remote_addr, length, REMOTE_READ, False)]
        except Violation as violation:
            return self._denied(queue, peer, violation), 0
        wire = self.movement.emit(peer, sources)
        status, places = self._sources(queue, request.sges, length, LOCAL_WRITE)
        if status != SUCCESS:
            return status, 0
        self.movement.absorb(queue, places, wire)
        return SUCCESS, length

    def fetch_add(self, queue: Queue, request: FetchAdd) -> tuple[str, int]:
        return self._atomic(queue, request, lambda old: old + request.add & M64)

    def compare_swap(self, queue: Queue, request: CompareSwap) -> tuple[str, int]:
        """The answer is what was there, whether it was swapped or not (IBTA 9.4.5, ATOMIC CmpSwap)."""
        return self._atomic(queue, request, lambda old: request.swap if old == request.compare else old)

    def _atomic(self, queue: Queue, request: Atomic, after: Callable[[int], int]) -> tuple[str, int]:
        """8 bytes in the host's order, of which `after` says what becomes; signatures have no part in it (X-OPEN-15).

        As in a READ the other end comes first: it has written although the result can't be put down.
        """
        sge = request.sge
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
        old = gather(counter, 8).copy()
        new = after(int.from_bytes(old.tobytes(), "little"))
        scatter(counter, np.frombuffer(new.to_bytes(8, "little"), np.uint8))
        status, _ = self._sources(queue, (sge,), sge.length & M32, LOCAL_WRITE)
        if status != SUCCESS:
            return status, 0
        if sge.length & M32 < 8:
            return self.profile.status_length, 0
        try:
            result = self._raw(queue, sge.lkey, sge.addr, LOCAL_WRITE)
        except Violation as violation:
            return self._local_status(violation), 0
        scatter(result, old)
        return SUCCESS, 8

    def _raw(self, queue: Queue, key: int, addr: int, right: int) -> list[Piece]:
        table = self.tables[queue.side]
        pieces: list[Piece] = []
        found = table.claim(queue.pd, key & M32, right)
        if isinstance(found, IndirectKey) and found.flags & CRYPTO:
            configured(found)
        table.reach(found, addr & M64, 8, True, pieces)
        return pieces

    def memcpy(self, queue: Queue, request: Memcpy) -> tuple[str, int]:
        """Both keys are this end's, with local rights, in the QP's domain (WRP-18). No message, so no byte count."""
        length = request.length
        if length > self.profile.max_message:
            return self.profile.status_length, 0
        try:
            source = self.movement.place(queue, request.src_lkey, request.src_addr, length, 0, False)
            target = self.movement.place(queue, request.dest_lkey, request.dest_addr, length, LOCAL_WRITE, True)
        except Violation as violation:
            return self._local_status(violation), 0
        self.movement.absorb(queue, [target], self.movement.emit(queue, [source]))
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

    def _sources(
        self, queue: Queue, sges: Sequence[Sge], length: int, right: int = 0
    ) -> tuple[str, list[TranslatedSge]]:
        if length > self.profile.max_message:
            return self.profile.status_length, []
        try:
            return SUCCESS, self.movement.local(queue, sges, right)
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
        """An unreliable connection doesn't know that no receive took its message."""
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

    def _refused(self, peer: Queue, receive: PostedReceive, there: str, here: str) -> tuple[str, int]:
        """A receive that can't take its message ends in error, and its end with it."""
        peer.received(receive.wr_id, there)
        self._break(peer)
        return (SUCCESS if peer.attributes.type == "uc" else here), 0


def _length(sges: Sequence[Sge]) -> int:
    return sum(sge.length & M32 for sge in sges)
