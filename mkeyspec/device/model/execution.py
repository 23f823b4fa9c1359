"""Carries out posted work requests in order: their effect, their completion, and the state of the queue.

Data moves in `transfer`. A drained queue keeps its work waiting (signature pipelining); one in error flushes it.
"""

from __future__ import annotations

import errno

from typing_extensions import assert_never

from mkeyspec.abi.constants import Access
from mkeyspec.device.model import dct
from mkeyspec.device.model.configuration import M8, M32, Configuration
from mkeyspec.device.model.key import IndirectKey
from mkeyspec.device.model.queue import ERR, RAW, RTS, SQD, Queue
from mkeyspec.device.model.section import Work
from mkeyspec.device.model.transfer import SUCCESS, Transfer
from mkeyspec.device.model.wqe import Malformed, Nop, RawWork, Request
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Addressed, AsyncEvent, CompareSwap, FetchAdd, LocalInv, Memcpy, Read, Send, Write

Outcome = tuple[str, int]
"""Status, and the byte count of the completion."""


OPCODES: dict[type, str] = {
    Configuration: "driver1",
    Send: "send",
    Write: "rdma_write",
    Read: "rdma_read",
    FetchAdd: "fetch_add",
    CompareSwap: "comp_swap",
    LocalInv: "local_inv",
    Memcpy: "driver3",
}


class Execution:
    """One per device; `events` are the async events that were not fetched yet."""

    def __init__(self, profile: Profile, transfer: Transfer) -> None:
        self.profile = profile
        self.transfer = transfer
        self.events: list[AsyncEvent] = []

    def take(self, queue: Queue, work: Work) -> None:
        """A work request that was posted."""
        if queue.state == SQD:
            queue.hold(work, _slots(work))
        else:
            self._run(queue, work)

    def resume(self, queue: Queue) -> int:
        """SQD to RTS: what waited is carried out, up to the next signature error; errno (XCAN-07)."""
        if queue.state != SQD:
            return errno.EINVAL
        queue.state = RTS
        while queue.pending and queue.state == RTS:
            waited = queue.next()
            self._run(queue, waited.work, waited.cancelled)
        return 0

    def cancel(self, queue: Queue, wr_id: int) -> int:
        """How many pending work requests of this id became NOPs, or minus errno (XCAN-05, XCAN-06)."""
        if queue.state != SQD:
            return -self.profile.errno_of("cancel_state")
        return queue.cancel(wr_id)

    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        queue.head += _slots(work)
        if queue.state == ERR or (queue.broken and _stream(work) in queue.broken):
            queue.sent(work.wr_id, work.flags, "wr_flush_err", "")
            return
        queue.tripped = False
        status, length = (SUCCESS, 0) if cancelled else self._do(queue, work)
        queue.sent(work.wr_id, work.flags, status, self._opcode(work), length)
        if status != SUCCESS:
            dct.fail(queue, _stream(work))
        elif queue.tripped and queue.attributes.sig_pipelining and queue.state == RTS:
            # The request with the error is over; nothing after it begins (XCAN-01, HW-05).
            queue.state = SQD
            self.events.append(AsyncEvent("sq_drained", queue.qp))

    def _do(self, queue: Queue, work: Work | Request) -> Outcome:
        """The effect of one work request."""
        match work:
            case Configuration():
                return self._configure(queue, work)
            case Send():
                return self.transfer.send(queue, work)
            case Write():
                return self.transfer.write(queue, work)
            case Read():
                return self.transfer.read(queue, work)
            case FetchAdd():
                return self.transfer.fetch_add(queue, work)
            case CompareSwap():
                return self.transfer.compare_swap(queue, work)
            case LocalInv():
                return self._local_inv(queue, work)
            case Memcpy():
                return self.transfer.memcpy(queue, work)
            case RawWork():
                return self._raw(queue, work)
            case Nop():
                return SUCCESS, 0
            case Malformed():
                return self.profile.status_raw, 0
            case _:
                assert_never(work)

    def _raw(self, queue: Queue, work: RawWork) -> Outcome:
        """Carry out the WQE as if a builder had made it (WRP-26)."""
        return self._do(queue, work.request)

    def _opcode(self, work: Work) -> str:
        """Of a successful completion (ibv_poll_cq(3); mlx5dv.h, MLX5DV_WC_*)."""
        return RAW if isinstance(work, RawWork) else OPCODES[work.__class__]

    # What moves no data ----------------------------------------------------------------------

    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        """Set the properties that the work request has; the others do not change (CFG-08, CFG-09)."""
        mkey, state = work.mkey, work.mkey.state
        if mkey.pd != queue.pd or work.strided_full or not self._offered(work):
            return self.profile.status_configure, 0
        mkey.free = False
        mkey.key = mkey.key & ~M8 | work.tag
        if work.access is not None:
            mkey.access = work.access
        if work.layout is not None:
            mkey.layout = work.layout
        if work.reset or work.signature is not None:
            mkey.signature = work.signature
        if work.crypto is not None:
            mkey.crypto = work.crypto
        if state is not None:
            if work.reset or work.signature is not None:
                state.unknown = False
            state.armed = True
            state.moved = 0
        return SUCCESS, 0

    def _offered(self, work: Configuration) -> bool:
        """A signature that the device does not support is refused (SIG-22, CRC-01, X-DIFF-09); so are several data
        units (X-LIM-09), and a right."""
        if not self.profile.without:
            return True
        offers = self.profile.offers
        if work.access is not None and work.access & Access.REMOTE_ATOMIC and "access.remote_atomic" not in offers:
            return False
        crypto, layout = work.crypto or work.mkey.crypto, work.layout or work.mkey.layout
        several = crypto is not None and layout is not None and layout.length > crypto.unit
        if several and "crypto.multi_block" not in offers:
            return False
        return work.signature is None or all(
            f"signature.{domain.kind}" in offers and f"block.{domain.block}" in offers
            for domain in (work.signature.mem, work.signature.wire)
            if domain is not None
        )

    def _local_inv(self, queue: Queue, work: LocalInv) -> Outcome:
        """CFG-10, CFG-11: one effect, whichever call posts it."""
        found = self.transfer.tables[queue.side].keys.get((work.rkey & M32) >> 8)
        if not isinstance(found, IndirectKey) or found.key != work.rkey & M32:
            return self.profile.status_invalidate_unknown, 0
        if found.pd != queue.pd:
            return self.profile.status_invalidate, 0
        self.transfer.invalidate(found)
        return SUCCESS, 0


def _slots(work: Work) -> int:
    return work.slots if isinstance(work, Configuration) else 1


def _stream(work: Work) -> int:
    """The DCI stream of a work request; those without an address are of stream 0."""
    return dct.stream_of(work.dc) if isinstance(work, (Addressed, RawWork)) else 0
