"""Faults of memcpy, raw WQEs, DC and signature pipelining."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import OPCODES, Execution, Outcome
from mkeyspec.device.model.key import Violation
from mkeyspec.device.model.queue import RTS, SQD, Queue
from mkeyspec.device.model.section import DriverSection, Work
from mkeyspec.device.model.transfer import SUCCESS, Transfer
from mkeyspec.device.model.wqe import RawWork
from mkeyspec.device.protocol import Memcpy, RawWqe, WorkRequest
from mkeyspec.sabotage.fault import fault


def _memcpy(name: str, change: Callable[[Memcpy], Memcpy]) -> None:
    @fault(name)
    class Mutant(Transfer):
        def memcpy(self, queue: Queue, request: Memcpy) -> tuple[str, int]:
            return super().memcpy(queue, change(request))


def _backwards(request: Memcpy) -> Memcpy:
    source, target = (request.src_lkey, request.src_addr), (request.dest_lkey, request.dest_addr)
    return replace(request, dest_lkey=source[0], dest_addr=source[1], src_lkey=target[0], src_addr=target[1])


_memcpy("memcpy_short", lambda request: replace(request, length=request.length - 1))
_memcpy("memcpy_long", lambda request: replace(request, length=request.length + 1))
_memcpy("memcpy_backwards", _backwards)


@fault("memcpy_rights_unchecked")
class MemcpyRightsUnchecked(Transfer):
    def memcpy(self, queue: Queue, request: Memcpy) -> tuple[str, int]:
        try:
            place = self.movement.place
            source = place(queue, request.src_lkey, request.src_addr, request.length, 0, False)
            target = place(queue, request.dest_lkey, request.dest_addr, request.length, 0, True)
        except Violation as violation:
            return self._local_status(violation), 0
        self.movement.absorb(queue, [target], self.movement.emit(queue, [source]))
        return SUCCESS, 0


@fault("raw_wqe_ignored")
class RawWqeIgnored(Execution):
    def _raw(self, queue: Queue, work: RawWork) -> Outcome:
        return SUCCESS, 0


@fault("raw_opcode")
class RawOpcode(Execution):
    def _opcode(self, work: Work) -> str:
        """That of the request which the WQE asks for; a NOP has none that an application knows."""
        return OPCODES.get(work.request.__class__, "send") if isinstance(work, RawWork) else super()._opcode(work)


@fault("raw_wr_flags")
class RawWrFlags(DriverSection):
    def build(self, requests: Sequence[WorkRequest]) -> None:
        DriverSection.build(self, requests)
        flags = {request.wr_id: request.flags for request in requests if isinstance(request, RawWqe)}
        self.posted[:] = [
            replace(work, flags=flags[work.wr_id]) if isinstance(work, RawWork) else work for work in self.posted
        ]


@fault("dc_key_unchecked")
class DcKeyUnchecked(Model):
    def dct(self, key: int) -> int:
        number = super().dct(key)
        self.targets.keys[number] = _AnyKey(key)
        return number


class _AnyKey(int):
    """A DC access key that every key is equal to."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int)

    __hash__ = int.__hash__


@fault("dc_stream_breaks_all")
class DcStreamBreaksAll(Execution):
    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        super()._run(queue, work, cancelled)
        if queue.broken:
            queue.fail()


# Signature pipelining ------------------------------------------------------------------------


@fault("pipelining_goes_on")
class PipeliningGoesOn(Execution):
    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        super()._run(queue, work, cancelled)
        if queue.state == SQD:
            queue.state = RTS
            self.events.pop()


@fault("pipelining_silent")
class PipeliningSilent(Execution):
    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        stopped = queue.state == SQD
        super()._run(queue, work, cancelled)
        if queue.state == SQD and not stopped:
            self.events.pop()


@fault("pipelining_stops_late")
class PipeliningStopsLate(Execution):
    def take(self, queue: Queue, work: Work) -> None:
        if queue.state == SQD and not queue.pending and not queue.broken:
            queue.broken.add(-1)
            queue.state = RTS
            self._run(queue, work)
            queue.state = SQD if queue.state == RTS else queue.state
            return
        super().take(queue, work)

    def resume(self, queue: Queue) -> int:
        queue.broken.discard(-1)
        return super().resume(queue)


@fault("pipelining_resume_drops")
class PipeliningResumeDrops(Execution):
    def resume(self, queue: Queue) -> int:
        if queue.state == SQD and queue.pending:
            dropped = queue.next()
            queue.head += dropped.slots
        return super().resume(queue)


@fault("cancelled_is_lost")
class CancelledIsLost(Execution):
    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        if not cancelled:
            super()._run(queue, work)


@fault("cancel_without_effect")
class CancelWithoutEffect(Execution):
    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        super()._run(queue, work)


@fault("cancel_state_unchecked")
class CancelStateUnchecked(Execution):
    def cancel(self, queue: Queue, wr_id: int) -> int:
        return queue.cancel(wr_id)


@fault("cancel_counts_one_more")
class CancelCountsOneMore(Queue):
    def cancel(self, wr_id: int) -> int:
        return super().cancel(wr_id) + 1


@fault("cancel_first_only")
class CancelFirstOnly(Queue):
    def cancel(self, wr_id: int) -> int:
        for pending in self.pending:
            if pending.wr_id == wr_id and not pending.cancelled:
                pending.cancelled = True
                return 1
        return 0


@fault("cancel_all")
class CancelAll(Queue):
    def cancel(self, wr_id: int) -> int:
        for pending in self.pending:
            pending.cancelled = True
        return len(self.pending)
