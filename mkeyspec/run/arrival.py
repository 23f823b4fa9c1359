"""Waits until what an RDMA WRITE of the other end brings is in memory: its completion is not its arrival."""

from __future__ import annotations

from typing import Union

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.plan import At
from mkeyspec.run import drain, expectations, observe
from mkeyspec.run.buffer import Buffer
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.dependence import Touched
from mkeyspec.run.endpoint import End
from mkeyspec.run.moved import ANY, WHOLE
from mkeyspec.run.observe import Seen
from mkeyspec.run.verdict import Failure

Look = Union[plan.Expect, plan.Snapshot, plan.Record, plan.Store, plan.Check, plan.Destroy]


def of_bytes(state: CaseState, step: Look) -> tuple[Failure | None, Seen | None]:
    """Before a statement reads bytes or stores some: wait until something after the WRITEs to these bytes has been
    received, or a quiet time has passed. Bytes that are as expected already need neither: they are the second value."""
    written = {at for pair in state.pairs.values() for end in pair.ends for at in end.unheard()}
    if not written:
        return None, None
    buffers, writers = _of(state, step, written)
    if not buffers or not writers:
        return None, None
    if (seen := expectations.there(state, step)) is not None:
        return None, seen
    if not (writers := _to_these_bytes(state, step, writers)):
        return None, None
    sides = dict.fromkeys(buffer.memory.side for buffer in buffers)
    found = (drain.heard(state, side, step.at, writers) for side in sides)
    return next((failure for failure in found if failure is not None), None), None


def of_number(state: CaseState, subject: str, at: At) -> Failure | None:
    """As `of_bytes`, before a number is read out of a buffer or of a wire (`wire_subject`). What it is compared with is
    not known here: it may be a part of a calculation."""
    written = {at for pair in state.pairs.values() for end in pair.ends for at in end.unheard()}
    if not written:
        return None
    if subject.startswith("@"):
        view = state.wires[subject[1:]]
        buffer, writers = view.buffer, {view.at}
    else:
        buffer, writers = state.buffers[subject], _writers(state, {subject})
    return drain.heard(state, buffer.memory.side, at, writers & written) if writers & written else None


def of_requests(state: CaseState, step: plan.Step, own: End) -> Failure | None:
    """As `of_bytes`, before the host copies the inline data of a request, and before a request reads or writes bytes to
    which another queue has written: nothing orders the two. Requests of its `own` queue are in order, but those
    of a DCI to two targets, or of two streams."""
    ends = [end for pair in state.pairs.values() for end in pair.ends]
    inline = any(plan.options_of(request).inline for request in step.posted())
    several = own.pair.attributes.type == "dci"
    written = {at for end in ends if inline or several or end is not own for at in end.unheard()}
    if not written:
        return None
    entries = state.followed.touched()
    apart = own.unheard() if several else set()
    last = len(state.taken) - 1
    mine = [one for number, one in entries if number == last]
    others = {at for end in ends if end is not own for at in end.unheard()}
    found: Failure | None = None
    for one in mine:
        ordered = one.reads | one.writes
        writers = {
            other.at
            for number, other in entries
            if (other.at in others and _meet(other.writes, ordered))
            or (other.at in written and _meet(other.writes, one.takes))
            or (number < last and other.at in apart and _is_apart(other, one) and _meet(other.writes, ordered))
        }
        if not writers:
            continue
        names = ordered | one.takes
        buffers = [buffer for name, buffer in state.buffers.items() if name in names or ANY in names]
        for side in dict.fromkeys(buffer.memory.side for buffer in buffers):
            found = found or drain.heard(state, side, step.at, writers)
    return found


def _is_apart(one: Touched, other: Touched) -> bool:
    """Whether these are to two targets of a DCI, or in two streams of it."""
    return (one.dct, one.stream) != (other.dct, other.stream)


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    return bool(some & others) or (ANY in some and bool(others)) or (ANY in others and bool(some))


def _writers(state: CaseState, names: set[str]) -> set[At]:
    return {one.at for _, one in state.followed.touched() if one.writes & names or ANY in one.writes}


def _to_these_bytes(state: CaseState, step: Look, writers: set[At]) -> set[At]:
    """Those of the writers that would write to the bytes which an `expect`, a `let` or a `record` reads. Refused ones
    too: what they bring late is seen, and a reproducer is for devices that accept them as well."""
    match step:
        case plan.Expect() | plan.Snapshot() | plan.Record():
            parts = plan.parts_of(step.observed)
        case _:
            parts = ()
    if not parts:
        return writers
    looks = [(part.name, *(part.bounds() or (0, WHOLE))) for part in parts]
    return {
        entry.at
        for _, entry in state.followed.moves()
        if entry.at in writers
        for name, start, end in entry.written
        if any(name in (seen, ANY) and start < first + length and first < end for seen, first, length in looks)
    }


def _of(state: CaseState, step: Look, written: set[At]) -> tuple[list[Buffer], set[At]]:
    """The buffers that a statement reads or stores, and which of these requests may have written to them."""
    match step:
        case plan.Check() | plan.Destroy():
            return [], set()
        case plan.Store():
            names = {step.to.name}
        case plan.Expect() | plan.Snapshot() | plan.Record():
            if (view := observe.view_of(state, step.observed)) is not None:  # the wire, which has no name
                return [view.buffer], {view.at} & written
            names = {part.name for part in plan.parts_of(step.observed)}
        case _:
            assert_never(step)
    buffers = [state.buffers[name] for name in sorted(names) if name in state.buffers]
    return buffers, _writers(state, names) & written
