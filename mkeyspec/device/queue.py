"""A queue pair's end: its state, its receives, its completions, and the room its work requests have."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, Optional, Union

from mkeyspec.constants import QpOps
from mkeyspec.device.key import IndirectKey
from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import Completion, Qp, QpAttributes, Sge, Side

RESET, RTS, SQD, ERR = "reset", "rts", "sqd", "err"

MKEY_OPS = int(QpOps.MR_INTERLEAVED | QpOps.MR_LIST | QpOps.MKEY_CONFIGURE)
OPS_OF_TYPE = {
    "rc": 0x1F, "dci": int(QpOps.RAW_WQE | QpOps.MEMCPY),
    "uc": int(QpOps.RAW_WQE), "ud": int(QpOps.RAW_WQE), "xrc_send": int(QpOps.RAW_WQE),
    "raw_packet": int(QpOps.RAW_WQE),
}  # fmt: skip
"""mlx5 op flags that a type of QP can be created with (WRP-03, WRP-06)."""


class Room(NamedTuple):
    """What a QP's capabilities come to (X-LIM-01)."""

    inline: int
    """Bytes behind the fixed part of a configuration WQE: layout and signature attributes go there."""
    max_inline_data: int
    slots: int
    """Work requests that fit in the send queue."""


def room(profile: Profile, attributes: QpAttributes) -> Room | None:
    """The room of a QP, or None if no WQE is large enough for what is asked."""
    unit, fixed = profile.wqe_unit, profile.wqe_overhead
    inline = (4 + attributes.max_inline_data + 15) // 16 * 16
    wqe = (max(fixed + 16 * attributes.max_send_sge, fixed + inline) + unit - 1) // unit * unit
    if wqe > profile.wqe_max:
        return None
    size = 1 << max(0, attributes.max_send_wr * wqe - 1).bit_length()
    return Room(wqe - fixed, wqe - fixed - 4, size // wqe)


class Receive(NamedTuple):
    """A posted receive."""

    wr_id: int
    sges: tuple[Sge, ...]


class Notice(NamedTuple):
    """A signature error's entry in a completion queue: polling swallows it and tells the mkey (2.10)."""

    mkey: IndirectKey
    record: tuple[int, int, int, int]


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
    receives: deque[Receive] = field(default_factory=deque)
    entries: deque[Union[Done, Notice]] = field(default_factory=deque)
    head: int = 0
    tail: int = 0

    def clear(self) -> None:
        """Back to RTS with nothing in it."""
        self.state = RTS
        self.receives.clear()
        self.entries.clear()
        self.head = self.tail = 0

    def sent(self, wr_id: int, flags: int, status: str, opcode: str, byte_len: int = 0) -> None:
        """A work request of this end is over. Success is told only where it was asked for (CFG-17)."""
        if status == "success":
            if flags & 2 or self.attributes.sq_sig_all:
                done = Completion(self.qp, "send", wr_id, status, opcode, byte_len)
                self.entries.append(Done(done, self.head))
        else:
            self.entries.append(Done(Completion(self.qp, "send", wr_id, status), self.head))

    def received(
        self, wr_id: int, status: str, opcode: str = "", byte_len: int = 0, imm: int | None = None,
        invalidated: int | None = None,
    ) -> None:  # fmt: skip
        """A receive of this end is over."""
        done = Completion(self.qp, "recv", wr_id, status, opcode, byte_len, imm, invalidated)
        self.entries.append(Done(done, None))

    def fail(self) -> None:
        """To the error state; the receives still posted are flushed."""
        self.state = ERR
        while self.receives:
            self.received(self.receives.popleft().wr_id, "wr_flush_err")
