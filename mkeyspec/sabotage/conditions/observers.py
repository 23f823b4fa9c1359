"""Observers of the model's parts: classes in front of them that keep a `Moment` up to date, and change nothing.

Each is mixed in before the class of a part; `moment` is set in the class that is made of them (`parts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mkeyspec.device.model.configuration import M32, M64, Configuration
from mkeyspec.device.model.key import IndirectKey, Key
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import Work
from mkeyspec.device.model.wqe import RawWork
from mkeyspec.device.protocol import (
    CompareSwap,
    DcAddress,
    FetchAdd,
    LocalInv,
    Memcpy,
    Read,
    Send,
    Sge,
    Write,
)
from mkeyspec.sabotage.conditions.history import Setting
from mkeyspec.sabotage.conditions.moment import Use
from mkeyspec.sabotage.conditions.observer import Observer, operation_of, size_of

SUCCESS = "success"


class ExecutionObserver(Observer):
    transfer: Any

    def take(self, queue: Queue, work: Work) -> None:
        self._begin(queue, work)
        self.moment.at("execution.take")
        super().take(queue, work)  # type: ignore[misc]

    def resume(self, queue: Queue) -> int:
        self.moment.new_section()
        self.moment.new_message()
        self.moment.queue = queue
        self.moment.at("execution.resume")
        given: int = super().resume(queue)  # type: ignore[misc]
        return given

    def cancel(self, queue: Queue, wr_id: int) -> int:
        self.moment.new_section()
        self.moment.new_message()
        self.moment.queue = queue
        self.moment.at("execution.cancel")
        given: int = super().cancel(queue, wr_id)  # type: ignore[misc]
        return given

    def _begin(self, queue: Queue, work: Work) -> None:
        moment = self.moment
        moment.new_message()
        moment.building = False
        moment.setting = moment.setter = None
        moment.queue, moment.flags, moment.tables = queue, work.flags, self.transfer.tables
        moment.operation, moment.size, moment.raw = operation_of(work), size_of(work), isinstance(work, RawWork)
        _, moment.wr, moment.wrs = moment.positions.get(id(work), (None, None, None))
        if isinstance(work, Configuration):
            moment.key, moment.layout, moment.signature = work.mkey, work.layout, work.signature
            moment.crypto = work.crypto

    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        self._begin(queue, work)
        self.moment.at("execution._run")
        super()._run(queue, work, cancelled)  # type: ignore[misc]

    def _configure(self, queue: Queue, work: Configuration) -> tuple[str, int]:
        moment = self.moment
        history = moment.history(work.mkey)
        before = history.setting, history.count, history.messages, history.event
        _, setting = moment.settings.get(id(work), (None, Setting()))
        history.configured(setting, work.signature)
        moment.setting = history.setting
        moment.at("execution._configure")
        outcome: tuple[str, int] = super()._configure(queue, work)  # type: ignore[misc]
        if outcome[0] != SUCCESS:
            history.setting, history.count, history.messages, history.event = before
        return outcome

    def _local_inv(self, queue: Queue, work: LocalInv) -> tuple[str, int]:
        key = self.transfer.tables[queue.side].keys.get((work.rkey & M32) >> 8)
        self.moment.key = key if isinstance(key, IndirectKey) else None
        if self.moment.key is not None:
            self.moment.use = Use(self.moment.key, "local", 0, queue.side)
        self.moment.at("execution._local_inv")
        outcome: tuple[str, int] = super()._local_inv(queue, work)  # type: ignore[misc]
        if outcome[0] == SUCCESS and isinstance(key, IndirectKey):
            self.moment.history(key).event = "local_inv"
        return outcome

    def _raw(self, queue: Queue, work: RawWork) -> tuple[str, int]:
        self.moment.at("execution._raw")
        outcome: tuple[str, int] = super()._raw(queue, work)  # type: ignore[misc]
        return outcome

    def _opcode(self, work: Work) -> str:
        self.moment.at("execution._opcode")
        found: str = super()._opcode(work)  # type: ignore[misc]
        return found


class QueueObserver(Observer):
    def sent(self, wr_id: int, flags: int, status: str, opcode: str, byte_len: int = 0) -> None:
        self.moment.at("queue.sent")
        super().sent(wr_id, flags, status, opcode, byte_len)  # type: ignore[misc]

    def received(self, *given: Any) -> None:
        self.moment.at("queue.received")
        super().received(*given)  # type: ignore[misc]

    def cancel(self, wr_id: int) -> int:
        self.moment.at("queue.cancel")
        count: int = super().cancel(wr_id)  # type: ignore[misc]
        return count


class TransferObserver(Observer):
    tables: Any

    def _key(self, side: str, key: int) -> IndirectKey | None:
        found: Key | None = self.tables[side].keys.get((key & M32) >> 8)
        return found if isinstance(found, IndirectKey) else None

    def _begin(self, queue: Queue, request: Any, sges: Sequence[Sge]) -> None:
        """Before a message is translated, its key is the remote one, else the first local one that is an mkey."""
        moment = self.moment
        moment.operation, moment.size = operation_of(request), size_of(request)
        remote, peer = getattr(request, "rkey", None), queue.peer
        if remote is not None and peer is not None:
            key = self._key(peer.side, remote)
            if key is not None:
                self._use(key, "remote", request.remote_addr, peer.side, 0, 1)
                return
        for place, sge in enumerate(sges):
            key = self._key(queue.side, sge.lkey)
            if key is not None:
                self._use(key, "local", sge.addr, queue.side, place, len(sges))
                return

    def _use(self, key: IndirectKey, role: str, offset: int, end: str, sge: int, sges: int) -> None:
        self.moment.key = key
        self.moment.use = Use(key, role, offset & M64, end, sge, sges, self.moment.history(key).messages)

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        self._begin(queue, request, request.sges)
        if request.invalidate_rkey is not None and queue.peer is not None:
            key = self._key(queue.peer.side, request.invalidate_rkey)
            if key is not None:
                self._use(key, "remote", 0, queue.peer.side, 0, 1)
        self.moment.at("transfer.send")
        outcome: tuple[str, int] = super().send(queue, request)  # type: ignore[misc]
        return outcome

    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        self._begin(queue, request, request.sges)
        self.moment.at("transfer.write")
        outcome: tuple[str, int] = super().write(queue, request)  # type: ignore[misc]
        return outcome

    def read(self, queue: Queue, request: Read) -> tuple[str, int]:
        self._begin(queue, request, request.sges)
        self.moment.at("transfer.read")
        outcome: tuple[str, int] = super().read(queue, request)  # type: ignore[misc]
        return outcome

    def fetch_add(self, queue: Queue, request: FetchAdd) -> tuple[str, int]:
        self._begin(queue, request, (request.sge,))
        self.moment.at("transfer.fetch_add")
        outcome: tuple[str, int] = super().fetch_add(queue, request)  # type: ignore[misc]
        return outcome

    def compare_swap(self, queue: Queue, request: CompareSwap) -> tuple[str, int]:
        self._begin(queue, request, (request.sge,))
        self.moment.at("transfer.compare_swap")
        outcome: tuple[str, int] = super().compare_swap(queue, request)  # type: ignore[misc]
        return outcome

    def memcpy(self, queue: Queue, request: Memcpy) -> tuple[str, int]:
        ends = (
            Sge(request.src_addr, request.length, request.src_lkey),
            Sge(request.dest_addr, request.length, request.dest_lkey),
        )
        self._begin(queue, request, ends)
        self.moment.at("transfer.memcpy")
        outcome: tuple[str, int] = super().memcpy(queue, request)  # type: ignore[misc]
        return outcome

    def _responder(self, queue: Queue, dc: DcAddress | None) -> tuple[Queue | None, str]:
        self.moment.at("transfer._responder")
        found: tuple[Queue | None, str] = super()._responder(queue, dc)  # type: ignore[misc]
        return found

    def invalidable(self, queue: Queue, key: int) -> IndirectKey:
        found = self._key(queue.side, key)
        if found is not None:
            self._use(found, "remote", 0, queue.side, 0, 1)
        self.moment.at("transfer.invalidable")
        made: IndirectKey = super().invalidable(queue, key)  # type: ignore[misc]
        return made

    def invalidate(self, mkey: IndirectKey) -> None:
        self.moment.history(mkey).event = "remote_inv"  # a local one says so when it is over
        super().invalidate(mkey)  # type: ignore[misc]
