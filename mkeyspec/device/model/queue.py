"""One end of a queue pair: its state, its receives, its completions, and the space for its work requests."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional, Union

from mkeyspec.abi.constants import QpOps
from mkeyspec.device.model.key import IndirectKey
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Qp, QpAttributes, Sge, Side

RESET, RTS, SQD, ERR = "reset", "rts", "sqd", "err"
RAW = "driver2"

MKEY_OPS = int(QpOps.MR_INTERLEAVED | QpOps.MR_LIST | QpOps.MKEY_CONFIGURE)
OPS_OF_TYPE = {
    "rc": 0x1F, "dci": 0x1F, "uc": int(QpOps.RAW_WQE), "ud": int(QpOps.RAW_WQE),
    "xrc_send": int(QpOps.RAW_WQE), "raw_packet": int(QpOps.RAW_WQE),
}  # fmt: skip
"""mlx5 op flags that a type of QP can be created with (WRP-03, WRP-06, WRP-19). A DCI has those of RC (WRP-33)."""


class Room(NamedTuple):
    """The space that follows from a QP's capabilities (X-LIM-01)."""

    inline: int
    """Bytes after the fixed part of a configuration WQE: layout and signature attributes go there."""
    max_inline_data: int
    slots: int
    """Work requests that fit in the send queue."""


def room(profile: Profile, attributes: QpAttributes) -> Room | None:
    """The space of a QP, or None if no WQE is large enough."""
    unit, fixed = profile.wqe_unit, profile.wqe_overhead
    inline = (4 + attributes.max_inline_data + 15) // 16 * 16
    wqe = (max(fixed + 16 * attributes.max_send_sge, fixed + inline) + unit - 1) // unit * unit
    if wqe > profile.wqe_max:
        return None
    size = 1 << max(0, attributes.max_send_wr * wqe - 1).bit_length()
    return Room(wqe - fixed, wqe - fixed - 4, size // wqe)


class PostedReceive(NamedTuple):
    """A posted receive."""

    wr_id: int
    sges: tuple[Sge, ...]


class Notice(NamedTuple):
    """A signature error's entry in a completion queue: polling consumes it and marks the mkey (2.10)."""

    mkey: IndirectKey
    record: tuple[int, int, int, int]


@dataclass(slots=True)
class Pending:
    """A work request that waits in a queue that is drained. `cancelled`: it is a NOP by now (XCAN-04)."""

    work: Any
    wr_id: int
    slots: int
    cancelled: bool = False


class Done(NamedTuple):
    """A completion, and up to which send slot it frees the queue."""

    completion: Completion
    head: Optional[int]


@dataclass(slots=True, eq=False)
class Queue:
    """One end of a pair. Both CQs of the end are one queue here, in order of arrival."""

    handle: int
    side: Side
    attributes: QpAttributes
    room: Room
    pd: int
    qp: Qp
    peer: Queue | None = None
    state: str = RTS
    receives: deque[PostedReceive] = field(default_factory=deque)
    entries: deque[Union[Done, Notice]] = field(default_factory=deque)
    head: int = 0
    tail: int = 0
    pending: deque[Pending] = field(default_factory=deque)
    waiting: int = 0
    """Slots of what is pending."""
    tripped: bool = False
    """A signature error was noted at this end since its last work request began."""
    broken: set[int] = field(default_factory=set)
    """Streams in error."""

    def clear(self) -> None:
        """Back to RTS with nothing in it."""
        self.state = RTS
        self.receives.clear()
        self.entries.clear()
        self.pending.clear()
        self.broken.clear()
        self.head = self.tail = self.waiting = 0

    def hold(self, work: Any, slots: int) -> None:
        """The queue is drained: posted work waits."""
        self.pending.append(Pending(work, work.wr_id, slots))
        self.waiting += slots

    def next(self) -> Pending:
        """Remove and return the first waiting request."""
        first = self.pending.popleft()
        self.waiting -= first.slots
        return first

    def cancel(self, wr_id: int) -> int:
        """Turn the waiting requests of this id into NOPs; returns their number (XCAN-05)."""
        found = [pending for pending in self.pending if pending.wr_id == wr_id and not pending.cancelled]
        for pending in found:
            pending.cancelled = True
        return len(found)

    def sent(self, wr_id: int, flags: int, status: str, opcode: str, byte_len: int = 0) -> None:
        """A work request of this end is complete. Success is reported only where it was asked for (CFG-17).

        A raw WQE has its own flag; sq_sig_all does not apply (WRP-28).
        """
        if status == "success":
            if flags & 2 or (self.attributes.sq_sig_all and opcode != RAW):
                done = Completion(self.qp, "send", wr_id, status, opcode, byte_len)
                self.entries.append(Done(done, self.head))
        else:
            self.entries.append(Done(Completion(self.qp, "send", wr_id, status), self.head))

    def received(
        self,
        wr_id: int,
        status: str,
        opcode: str = "",
        byte_len: int = 0,
        imm: int | None = None,
        invalidated: int | None = None,
    ) -> None:
        """A receive of this end is complete."""
        done = Completion(self.qp, "recv", wr_id, status, opcode, byte_len, imm, invalidated)
        self.entries.append(Done(done, None))

    def fail(self) -> None:
        """Move to the error state; waiting requests and posted receives are flushed."""
        self.state = ERR
        while self.pending:
            flushed = self.next()
            self.head += flushed.slots
            self.sent(flushed.wr_id, 0, "wr_flush_err", "")
        while self.receives:
            self.received(self.receives.popleft().wr_id, "wr_flush_err")
