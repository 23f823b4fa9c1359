"""Devices that are right, and do things otherwise than the model: no row may be red for that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeVar

import pytest

from mkeyspec import plan
from mkeyspec.abi.constants import Access, SendFlag
from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.key import Violation
from mkeyspec.device.model.late import Late
from mkeyspec.device.model.queue import Queue, Room
from mkeyspec.device.model.section import Work
from mkeyspec.device.model.transfer import SUCCESS, Transfer
from mkeyspec.device.protocol import (
    CompareSwap,
    Completion,
    Dek,
    DekAttr,
    FetchAdd,
    Memcpy,
    Memory,
    Mkey,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Read,
    Send,
    Sge,
    Side,
    SignatureError,
    WorkRequest,
    Write,
)
from tests.quality.subject import PROFILE, ROOT, Bench, Row, each_value, rows

GRANTED = re.compile(r"\.max_(entries|inline_data)")
"""What the text of a case calls a number that the device granted."""

_Made = TypeVar("_Made", Pd, Memory, Mkey)

LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ = (
    int(one) for one in (Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ)
)


class NewQps(Model):
    """A pair that is reconnected is two new QPs."""

    def reconnect(self, pair: QpPair) -> QpPair:
        attributes = self._queues[pair.owner.handle].attributes
        if attributes.type == "dci":
            return super().reconnect(pair)
        made = self._pair(attributes)
        for qp in (pair.owner, pair.peer):
            del self._queues[qp.handle]
        if pair == self.default_pair:
            self.default_pair = made
        return made


class TwoNics(Model):
    """Each end is a NIC of its own: numbers of QPs, keys and handles are those of two name spaces, and cross."""

    def _empty(self) -> None:
        self._indices = {"owner": 0x1A0, "peer": 0x1A0}
        self._numbers = {"owner": 0x101, "peer": 0x100}
        self._objects: dict[tuple[type, Side, int], Any] = {}
        super()._empty()

    def _give(self, made: _Made) -> _Made:
        number = sum((kind, side) == (type(made), made.side) for kind, side, _ in self._objects)
        self._objects[type(made), made.side, number] = made
        return replace(made, handle=number)

    def _own(self, given: Any) -> Any:
        return None if given is None else self._objects[type(given), given.side, given.handle]

    def pd(self, side: Side) -> Pd:
        return self._give(super().pd(side))

    def memory(self, side: Side, length: int, *, pd: Pd | None = None, **options: Any) -> Memory:
        self._index = self._indices[side]
        made = super().memory(side, length, pd=self._own(pd), **options)
        self._indices[side] = self._index
        return self._give(made)

    def write(self, memory: Memory, *arguments: Any) -> None:
        super().write(self._own(memory), *arguments)

    def read(self, memory: Memory, *arguments: Any) -> Any:
        return super().read(self._own(memory), *arguments)

    def mkey(self, side: Side, *, pd: Pd | None = None, **options: Any) -> Mkey:
        self._index = self._indices[side]
        made = super().mkey(side, pd=self._own(pd), **options)
        self._indices[side] = self._index
        return self._give(made)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        made = super().retag(self._own(mkey), tag)
        self._objects[Mkey, mkey.side, mkey.handle] = made
        return replace(made, handle=mkey.handle)

    def destroy(self, mkey: Mkey) -> None:
        super().destroy(self._own(mkey))

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return super().mkey_check(self._own(mkey))

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        own: list[Any] = [replace(one, mkey=self._own(one.mkey)) if hasattr(one, "mkey") else one for one in requests]
        return super().post(qp, own, abort=abort)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        attr = None if attr is None else replace(attr, pd=self._own(attr.pd))
        return super().dek(key, keytag, attr)

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        return super().qp_pair(replace(attributes, pd=self._own(attributes.pd)))

    def _end(self, side: Side, attributes: QpAttributes, rooms: Room) -> Queue:
        queue = super()._end(side, attributes, rooms)
        self._numbers[side] += 1
        queue.qp = replace(queue.qp, number=self._numbers[side])
        return queue


class WriteLength(Model):
    """byte_len of a write's completion is any number: ibv_poll_cq(3) defines none."""

    def poll(self, qp: Qp) -> list[Completion]:
        return [replace(one, byte_len=0x5A5A5A5A) if one.opcode == "rdma_write" else one for one in super().poll(qp)]


class LateReads(Model):
    """READs, atomics and memcpys bring their data after the requests after them, up to the first with a fence; all
    complete in order."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        take, taken = self.execution.take, list[tuple[Queue, Work]]()
        self.execution.take = lambda queue, work: taken.append((queue, work))  # type: ignore[method-assign]
        try:
            errno = super().post(qp, requests, abort=abort)
        finally:
            self.execution.take = take  # type: ignore[method-assign]
        turns, late = list[tuple[Queue, Work]](), list[tuple[Queue, Work]]()
        for queue, work in taken:
            if work.flags & SendFlag.FENCE:
                turns, late = turns + late, []
            (late if isinstance(work, (Read, FetchAdd, CompareSwap, Memcpy)) else turns).append((queue, work))
        for queue, work in turns + late:
            take(queue, work)
        order = [work.wr_id for _, work in taken]
        for queue in {id(queue): queue for queue, _ in taken}.values():
            mine = [one for one in queue.entries if _told(one) in order]
            mine.sort(key=lambda one: order.index(_told(one)))
            others = [one for one in queue.entries if _told(one) not in order]
            queue.entries.clear()
            queue.entries.extend(others + mine)
        return errno


def _told(entry: object) -> int:
    """The id of a completion of the send queue; -1 of another entry."""
    found = getattr(entry, "completion", None)
    return -1 if found is None or found.queue != "send" else int(found.wr_id)


@pytest.mark.parametrize("device", [Late, NewQps, TwoNics, WriteLength, LateReads])
def test_no_row_is_red_on_a_device_that_is_right(device: type[Model]) -> None:
    bench = Bench(lambda: device(PROFILE), 5.0)
    red = [(row.id, out.text) for row in rows(most=1) if not (out := bench.run(row)).green and out.status != "skip"]
    assert red == []


class MoreInline(Model):
    """A QP has more inline data than was asked for (ibv_create_qp(3)), where any was (LST-03: else 4 SGEs fit)."""

    def _room(self, attributes: QpAttributes) -> Room:
        asked = attributes.max_inline_data
        return super()._room(replace(attributes, max_inline_data=max(asked, 1100) if asked > 60 else asked))


LONG = replace(PROFILE, wqe_max=4096)
GENEROUS = {
    "entries": lambda: Model(replace(PROFILE, entries_rounding=64)),  # more than fit into a work request
    "inline": lambda: MoreInline(LONG),
    "both": lambda: MoreInline(replace(LONG, entries_rounding=64)),
}
"""Devices that grant more than was asked for; mlx5dv_create_mkey(3): max_entries is no fewer."""


@pytest.mark.parametrize("device", GENEROUS)
def test_no_row_is_red_on_a_device_that_grants_more(device: str) -> None:
    paths = [path for path in ROOT.glob("cases/**/*.mks") if GRANTED.search(path.read_text(encoding="utf-8"))]
    assert ROOT / "cases/layout/limits.mks" in paths
    bench = Bench(GENEROUS[device], 5.0)
    red = [(row.id, out.text) for row in rows(paths, most=20) if not (out := bench.run(row)).green]
    assert red == []


class Partly(Transfer):
    """A message that fails has moved all that lies before the byte that it fails at: the packets of a message go in
    order, and what they have brought stays (IBTA: after an error the contents of the target are not defined)."""

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        waiting = queue.peer.receives[0].sges if queue.peer is not None and queue.peer.receives else ()
        status = super().send(queue, request)
        if status[0] != SUCCESS and queue.peer is not None and queue.attributes.type != "dci":
            self._part(queue, request.sges, queue.peer, waiting)
        return status

    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        status = super().write(queue, request)
        if status[0] != SUCCESS and queue.peer is not None and queue.attributes.type != "dci":
            length = sum(sge.length for sge in request.sges)
            far = Sge(request.remote_addr, length, request.rkey)
            self._part(queue, request.sges, queue.peer, (far,), there=REMOTE_WRITE)
        return status

    def read(self, queue: Queue, request: Read) -> tuple[str, int]:
        status = super().read(queue, request)
        if status[0] != SUCCESS and queue.peer is not None and queue.attributes.type != "dci":
            length = sum(sge.length for sge in request.sges)
            far = Sge(request.remote_addr, length, request.rkey)
            self._part(queue.peer, (far,), queue, request.sges, here=REMOTE_READ)
        return status

    def _part(
        self,
        source: Queue,
        sources: Sequence[Sge],
        target: Queue,
        targets: Sequence[Sge],
        here: int = 0,
        there: int = LOCAL_WRITE,
    ) -> None:
        place = self.movement.place
        for limit in range(sum(sge.length for sge in sources), 0, -1):
            try:
                places = [place(source, sge.lkey, sge.addr, n, here, False) for sge, n in _first(sources, limit)]
                into = [place(target, sge.lkey, sge.addr, n, there, True) for sge, n in _first(targets, limit)]
            except Violation:
                continue
            self.movement.absorb(target, into, self.movement.emit(source, places))
            return


def _first(sges: Sequence[Sge], limit: int) -> list[tuple[Sge, int]]:
    """Each SGE with how many of the first `limit` bytes are its."""
    found = []
    for sge in sges:
        length = min(sge.length, limit)
        limit -= length
        if length:
            found.append((sge, length))
    return found


def test_no_row_is_red_where_a_message_that_fails_has_landed_in_part() -> None:
    bench = Bench(lambda: Model(PROFILE, replace(PARTS, transfer=Partly)), 0.01)
    of_case = groupby(_failing(), lambda row: row.id.partition("[")[0])
    failing = [row for _, group in of_case for row in each_value(list(group), seed=1)[:8]]
    assert len(failing) > 100
    red = [(row.id, out.text) for row in failing if not (out := bench.run(row)).green and out.status != "skip"]
    assert red == []


def _failing() -> list[Row]:
    return [row for row in rows() if any(_fails(step) for step in row.row.steps)]


def _fails(step: plan.Step) -> bool:
    return any(isinstance(one, plan.Rejected) and one.phase == "completion" for one in getattr(step, "claim", ()))
