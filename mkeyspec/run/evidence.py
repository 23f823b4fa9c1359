"""The record of one case: all that was posted, is due and was seen. Each entry is checked exactly once.

An entry has its statement (`at`) and, after it is checked, the name of the check (`judged`). At the end of a case the
closing rule checks the remaining entries (`teardown_checks`); before a QP is reset, its entries are checked too
(`drain`). No entry is removed unchecked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.device.protocol import AsyncEvent, Completion, DcAddress
from mkeyspec.plan import At

if TYPE_CHECKING:
    from mkeyspec.run.endpoint import End
    from mkeyspec.run.mkey_state import MkeyState
    from mkeyspec.run.open_receive import OpenReceive

SUCCESS = "success"
FLUSH = "wr_flush_err"

ANSWERED = frozenset({"rdma_read", "fetch_add", "comp_swap"})
"""Opcodes of requests that an answer fills."""
LATE = frozenset({*ANSWERED, "driver3"})
"""Opcodes of requests that end after those behind them: they write into local memory when they end."""

Queue = Literal["send", "recv"]


@dataclass(slots=True, eq=False)
class Entry:
    """`judged`: what has checked it, in a word or two; "" until then."""

    at: At
    judged: str = field(default="", init=False)

    def mark_judged(self, by: str) -> None:
        """Mark it as checked by `by`. RuntimeError the second time: that would be a defect of the rig."""
        if self.judged:
            raise RuntimeError(f"judged twice, by {self.judged} and by {by}: {self!r}")
        self.judged = by


@dataclass(slots=True, eq=False)
class Due(Entry):
    """The completion that a request must give (`signaled`), or gives only if it fails.

    `lengths` are the byte_lens that it may have (none: not known). `invalidated` is compared always, `imm` at a
    receive, and at a request that had none: of one that had, libmlx5 sets the flag and leaves the member as it was; so
    of a raw one, whose bytes are not read. `stray`: it belongs to no request of this case.
    """

    queue: Queue
    wr_id: int
    opcode: str
    names_mkey: bool = False
    order: int = 0
    """The position of its request in the section (of a receive: of the request whose message it takes)."""
    signaled: bool = True
    byte_lens: tuple[int, ...] = ()
    """`lengths`, where they are known when it is posted."""
    imm: int | None = None
    invalidated: int | None = None
    request: Due | None = None
    """Of a receive: the request whose message it takes."""
    receive: OpenReceive | None = None
    lengths_at: Callable[[OpenReceive | None], tuple[int, ...]] | None = None
    """`lengths`, where the configurations before it decide them; of a receive: those of its message in any receive."""
    takes: Due | None = None
    """Of a request: the receive that its message is paired with (`pairing`)."""
    end: End | None = None
    """Where a request was posted."""
    step: int = field(default=-1, init=False)
    """The number of the step that posted a request; -1: none of the case."""
    events: int = 0
    """How many async events had come when it was posted: it has not caused these."""
    dc: DcAddress | None = None
    drained: bool = False
    """Its queue was drained when it was posted: an event had reported it, and it was not resumed."""
    stray: bool = False
    part: bool = field(default=False, init=False)
    """It is the flush of another WQE of a configuration."""
    cancelled: bool = False
    """A `cancel` has counted it: it is carried out as a NOP."""
    doubtful: bool = False
    """A `cancel` has counted fewer than have its number: it may have been carried out before."""
    left_out: bool = field(default=False, init=False)
    """A list of completions was met without it, and signature pipelining may have stopped its queue."""
    got: Completion | None = field(default=None, init=False)
    passed: bool = field(default=False, init=False)
    """Unsignaled and complete: a later completion has come, or a quiet time has passed."""
    succeeded: bool = field(default=False, init=False)
    """It has its completion, with success; or one after it in its queue has come, and none of its own."""
    position: int = field(default=0, init=False)
    """Its position among the requests of its queue."""
    overtaken: bool = field(default=False, init=False)
    """Its completion came after that of a later request of its queue."""
    mixed: bool = field(default=False, init=False)
    """Of a receive of the shared receive queue: messages of another sender or stream were on their way with its own."""
    astray: bool = False
    """A key of it is not that of the object which it names."""
    flushed: bool = field(default=False, init=False)
    """It came back unexecuted: a request before it in its lane had failed."""
    fence: bool = False
    """It waits for the READs, atomics and memcpys before it."""
    perhaps: bool = field(default=False, init=False)
    """Flushed, and it may have been carried out (`End.may_have_gone`)."""
    unmoved: bool = field(default=False, init=False)
    """It broke a rule for which it fails before its first byte (`course`)."""

    @property
    def lengths(self) -> tuple[int, ...]:
        if self.cancelled:  # nothing came back, and the page says nothing of a NOP's byte_len
            return ()
        return self.byte_lens if self.lengths_at is None else self.lengths_at(self.receive)

    def is_before(self, other: Due) -> bool:
        """Whether it was posted earlier than another request."""
        return (self.step, self.order) < (other.step, other.order)

    @property
    def over(self) -> bool:
        """Whether its request is known to be complete."""
        return self.got is not None or self.passed

    @property
    def failed(self) -> bool:
        return self.got is not None and self.got.status != SUCCESS

    @property
    def is_of_its_end(self) -> bool:
        """Whether the status of a receive that failed is one of its own end. If its message invalidates a key, it may
        be another one (X-OPEN-27)."""
        own = (FLUSH, *STATUS_CLASS["local_protection"])
        return self.got is not None and (self.got.status in own or self.invalidated is not None)

    @property
    def still(self) -> bool:
        """Whether it is known to have moved no byte."""
        cancelled = self.cancelled and not self.doubtful
        flushed = self.flushed and not self.perhaps
        return cancelled or flushed or (self.failed and (self.astray or self.unmoved or self._met_astray))

    @property
    def unsent(self) -> bool:
        """Whether it is known to have sent no message."""
        return (self.flushed and not self.perhaps) or self.cancelled

    @property
    def _met_astray(self) -> bool:
        """Whether the receive that its message is paired with has a key that is not its buffer's."""
        return self.takes is not None and self.takes.receive is not None and self.takes.receive.astray

    @property
    def may_wait(self) -> bool:
        """Whether it, or the request of its message, may be in a queue that signature pipelining has stopped."""
        sent = self.request or self
        return sent.end is not None and sent.end.pair.attributes.sig_pipelining and not sent.over

    @property
    def waits(self) -> bool:
        """Whether an event has told so, and nothing has resumed the queue."""
        sent = self.request or self
        return sent.end is not None and sent.end.drained and self.may_wait

    @property
    def counts(self) -> bool:
        """Whether byte_len of its completion is defined (ibv_poll_cq(3))."""
        return self.queue == "recv" or self.opcode in ANSWERED


@dataclass(slots=True, eq=False)
class Event(Entry):
    """An async event. `of_failure`: when it was seen, a failure of its QP had already been checked; `early`: it came
    before anything was posted to its QP, so the case cannot have caused it."""

    event: AsyncEvent
    after: At | None = None
    """Of an event that names no pair of the case: the statement after which it was seen."""
    early: bool = field(default=False, init=False)
    of_failure: bool = field(default=False, init=False)


@dataclass(slots=True, eq=False)
class Use(Entry):
    """A signature key named by a request; mlx5dv_mkey_check may report an error of it. `by`: the completion that
    shows when the request is complete. `inside`: the key through which it was reached as a layout's entry; it is then
    accessed raw, and no signature of its own is checked.
    """

    mkey: MkeyState
    by: Due | OpenReceive
    inside: str = ""
    refused: str = ""
    """The errno's name, if a check of the case was refused; that result was checked there."""

    @property
    def _due(self) -> Due | None:
        return self.by if isinstance(self.by, Due) else self.by.due

    @property
    def over(self) -> bool:
        return self._due is not None and self._due.over

    @property
    def perhaps(self) -> bool:
        """Whether its request, or that of its message, was flushed, and may have been carried out: it may have found an
        error or not."""
        due = self._due
        sent = None if due is None else due.request or due
        return sent is not None and sent.perhaps and not self.inside
