"""What a completion says is in memory: the data of a READ, the answer of an atomic, a message that was received.

When such a completion is polled, the bytes are there. A statement that lists its completions posts a marker before the
next one can look, and a device may bring late bytes with the marker. So they are compared before it and after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mkeyspec.run.buffer import Buffer, Bytes
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.culprits import moves
from mkeyspec.run.evidence import ANSWERED, Due
from mkeyspec.run.extent import Extent, resolve
from mkeyspec.run.moved import ANY
from mkeyspec.run.verdict import Failure


class Placed(NamedTuple):
    """Bytes of a buffer from `start`, which were `data` after `due` was completed. `open`: bytes that may still change:
    those of RDMA WRITEs that may not have arrived."""

    due: Due
    buffer: Buffer
    start: int
    data: Bytes
    open: Extent


def take(state: CaseState, dues: Iterable[Due]) -> list[Placed]:
    """The bytes that these have brought, of those that were completed with success. None where other requests are under
    way: these may change them too."""
    came = {
        (due if due.request is None else due.request).at: due
        for due in dues
        if due.succeeded and (due.opcode in ANSWERED or (due.queue == "recv" and due.request is not None))
    }
    ends = [end for pair in state.pairs.values() for end in pair.ends]
    if not came or any(end.send or end.recv for end in ends):
        return []
    late = {at for end in ends for at in end.unheard()} - came.keys()
    found = list[Placed]()
    open_ = Extent()
    steps = [state.exact.get(number, step) for number, step in enumerate(state.aimed)]
    for _, entry in moves(steps, state.course):
        if entry.at in late:
            open_.add(state, entry.written)
        if (due := came.get(entry.at)) is None:
            continue
        named = (span for span in entry.written if span[0] != ANY)
        for buffer, start, end in resolve(state, named):
            found.append(Placed(due, buffer, start, buffer.now(state.device, start, end - start), open_))
    return found


def changed(state: CaseState, placed: Sequence[Placed]) -> Failure | None:
    """What is wrong if one of them has changed since then, though nothing was posted but a marker."""
    for one in placed:
        now = one.buffer.now(state.device, one.start, len(one.data))
        where = np.flatnonzero((now != one.data) & ~one.open.of(one.buffer)[one.start : one.start + len(one.data)])
        if len(where):
            first = int(where[0])
            name = f"`{one.buffer.name}[{one.start + first}]`" if one.buffer.name else f"byte {one.start + first}"
            message = f"`{one.due.opcode}` was completed before its bytes were in memory: {name} changed afterwards"
            details = (
                ("completed", f"{int(one.data[first]):#04x} when the completion was polled"),
                ("got", f"{int(now[first]):#04x} after the rig's marker; {len(where)} bytes differ"),
            )
            return Failure("MKS2005", one.due.at, message, details, True)
    return None
