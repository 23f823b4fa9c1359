"""A section as the driver sees it: from start to complete or abort, before anything is executed.

An error is collected and told at the end, and then nothing of the section is posted (SIG-23, ledger 2.1):
setters report no error after another one, builders do, so the error of the last builder is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from typing_extensions import assert_never

from mkeyspec.abi.constants import QpOps, SendFlag
from mkeyspec.device.model.configuration import M32, M64, Builder, BuilderRefusal, Configuration
from mkeyspec.device.model.dct import DCI
from mkeyspec.device.model.key import IndirectKey
from mkeyspec.device.model.queue import ERR, RTS, SQD, Queue
from mkeyspec.device.model.wqe import Inline, RawWork, decode
from mkeyspec.device.protocol import (
    Addressed,
    Atomic,
    Configure,
    Data,
    LocalInv,
    Memcpy,
    Mkey,
    MrInterleaved,
    MrList,
    RawWqe,
    Read,
    Send,
    SetAccess,
    SetInterleaved,
    SetList,
    Setter,
    Sge,
    StraySetter,
    Unsupported,
    WorkRequest,
    Write,
)

INLINE = int(SendFlag.INLINE)

Work = Union[Configuration, Data, LocalInv, Memcpy, RawWork]
"""Work that remains to be executed."""

OPS = {
    Configure: int(QpOps.MKEY_CONFIGURE),
    MrList: int(QpOps.MR_LIST),
    MrInterleaved: int(QpOps.MR_INTERLEAVED),
    Memcpy: int(QpOps.MEMCPY),
    RawWqe: int(QpOps.RAW_WQE),
}


@dataclass(slots=True)
class DriverSection:
    """`posted` and `rule` are the outcome; `touched` are the mkeys whose driver state may have changed."""

    queue: Queue
    builder: Builder
    find: Callable[[Mkey], IndirectKey | None]
    load: Callable[[int, int], bytes]
    """What is in the host's memory at an address now."""
    posted: list[Work] = field(default_factory=list)
    touched: list[IndirectKey] = field(default_factory=list)
    rule: str | None = None
    slots: int = 0
    opened: Configuration | None = None

    def build(self, requests: Sequence[WorkRequest]) -> None:
        """Call every builder and setter of the section, in order."""
        if self.queue.state not in (RTS, SQD, ERR):
            self.rule = "qp_not_ready"
        for request in requests:
            if isinstance(request, StraySetter):
                self._stray(request.setter)
                continue
            self._left_open()
            match request:
                case Configure() | MrList() | MrInterleaved():
                    self._configure(request)
                case Addressed() | LocalInv():
                    self._data(request)
                case Memcpy():
                    self._memcpy(request)
                case RawWqe():
                    self._raw(request)
                case _:
                    assert_never(request)
        self._left_open()

    def _data(self, request: Data | LocalInv) -> None:
        attributes = self.queue.attributes
        kind = attributes.type
        self._moves_data(kind)
        if not isinstance(request, LocalInv):
            if not isinstance(request, Atomic) and len(request.sges) > attributes.max_send_sge:
                self._error("send_sges")
                return
            if isinstance(request, (Send, Write)) and request.flags & INLINE:
                if sum(sge.length & M32 for sge in request.sges) > self.queue.room.max_inline_data:
                    self._error("inline_room")
                    return
                request = replace(request, sges=tuple(self.taken(sge) for sge in request.sges))
            if kind == "uc" and isinstance(request, (Read, Atomic)):
                self._error("qp_operation_missing")
                return
            dc = request.dc
            # An address is what a DCI's requests have and others have not; a stream, one made with streams (WRP-31).
            if (kind == DCI) is (dc is None) or (dc is not None and dc.stream is not None and not attributes.streams):
                self._error("dc_address")
                return
        if self._take(1):
            self.posted.append(request)

    def taken(self, sge: Sge) -> Sge:
        """Inline data: its bytes as they are now; its lkey is not looked at (ibv_wr_set_inline_data)."""
        return Inline(0, sge.length & M32, 0, self.load(sge.addr, sge.length & M32))

    def _moves_data(self, kind: str) -> None:
        if kind not in ("rc", "uc", DCI):
            raise Unsupported(f"transfer.{kind}: the model moves no data on this type of QP")

    def _memcpy(self, request: Memcpy) -> None:
        """Closed by its builder, on a DCI too (X-DIFF-16). Lengths: WRP-22."""
        length = request.length & M64
        if not self.queue.attributes.send_ops & OPS[Memcpy]:
            self._error("qp_operation_missing")
        elif not 0 < length <= self.builder.profile.max_wr_memcpy_length:
            self._error("memcpy_length")
        elif self._take(1):
            self.posted.append(replace(request, length=length))

    def _raw(self, request: RawWqe) -> None:
        """The driver checks only its size; the device reads the WQE when it is posted (WRP-26)."""
        queue = self.queue
        if not queue.attributes.send_ops & OPS[RawWqe]:
            self._error("qp_operation_missing")
            return
        self._moves_data(queue.attributes.type)
        if self._take(1):
            self.posted.append(decode(request, queue.qp.number, queue.attributes.type))

    def _configure(self, request: Configure | MrList | MrInterleaved) -> None:
        if not self.queue.attributes.send_ops & OPS[request.__class__]:
            self._error("qp_operation_missing")
            return
        mkey = self.find(request.mkey)
        if mkey is None:
            self._error("not_created")
            return
        self.touched.append(mkey)
        setters: tuple[Setter, ...]
        if isinstance(request, Configure):
            announced, conf_flags, comp_mask = request.num_setters, request.conf_flags, request.comp_mask
            setters = request.setters
        else:
            # mr_list and mr_interleaved are a configuration with access and layout (WRP-07, WRP-08).
            announced, conf_flags, comp_mask = 2, 0, 0
            layout: Setter = (
                SetList(request.sges)
                if isinstance(request, MrList)
                else SetInterleaved(request.repeat_count, request.entries)
            )
            setters = (SetAccess(request.access_flags), layout)
        if not self._take(1):
            return
        try:
            configuration = self.builder.begin(
                mkey, request.wr_id, request.flags, request.mkey.lkey & M32, announced, conf_flags, comp_mask
            )
        except BuilderRefusal as broken:
            self._error(broken.rule)
            return
        self.opened = configuration
        for setter in setters:
            self._setter(setter)
        self._settled()

    def _stray(self, setter: Setter) -> None:
        """A setter by itself: right only after a configuration that still waits for one (SIG-25). One that comes too
        late is the fault of its section, not that the configuration lacks it."""
        if self.rule == "too_few_setters":
            self.rule = "setter_outside"
        self._setter(setter)
        self._settled()

    def _setter(self, setter: Setter) -> None:
        if self.rule is not None:
            return
        if self.opened is None:
            self.rule = "setter_outside"
            return
        try:
            self.builder.call(self.opened, setter)
        except BuilderRefusal as broken:
            self.rule = broken.rule

    def _settled(self) -> None:
        """A configuration that has its setters is posted, with a slot more for each domain's seed (X-LIM-05)."""
        opened = self.opened
        if opened is None or opened.open or self.rule is not None:
            return
        self.opened = None
        if not self._take(opened.slots - 1):
            return
        self.posted.append(opened)

    def _left_open(self) -> None:
        """The next builder, or the section's end, finds a configuration that waits for setters (CFG-04, X-DIFF-03)."""
        if self.opened is not None:
            if self.rule is None and self.builder.profile.few_setters == "rejected":
                self.rule = "too_few_setters"
            self.opened = None

    def _take(self, slots: int) -> bool:
        self.slots += slots
        queue = self.queue
        if queue.head + queue.waiting - queue.tail + self.slots > queue.room.slots:
            self._error("send_queue_full")
            return False
        return True

    def _error(self, rule: str) -> None:
        self.rule = rule
