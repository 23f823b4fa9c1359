"""The calls in C that one statement of a row makes, as `repro` writes them: for a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mkeyspec import plan
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Side, WorkRequest
from mkeyspec.repro import calls
from mkeyspec.repro.c.requests import Requests
from mkeyspec.repro.c.requests import sges as sge_array
from mkeyspec.repro.c.tables import Tables
from mkeyspec.repro.recorder import is_marker
from mkeyspec.repro.trace import Trace

LARGEST = 1 << 20
"""Bytes of all buffers of a row that is carried out again for its calls."""
MOST = 16
"""Lines that are told."""

_KEY = re.compile(r"(\w+)@(\w+)@\d+@")
"""The key of an mkey before its tag was changed so often: as it is when the statement posts it."""

_TAKEN = re.compile(r"taken@(\w+)@")
"""Bytes that a `let` has kept."""


def calls_at(row: plan.Row, id: str, case: plan.At, where: plan.At, profile: Profile) -> list[str]:
    """What the statement at `where` posts, in lines of C; [] of a statement that posts nothing, of a row with large
    buffers, and where the model can't carry out the row. `case`: where the case begins.
    """
    sizes = [step.length for step in row.steps if isinstance(step, plan.Memory)]
    if sum(sizes) > LARGEST or not any(_posts(step, where) for step in row.steps):
        return []
    try:
        lines = list(_calls(Trace(row, id, case, profile), where))
    except Exception:  # the row has failed on its device: whatever the model thinks of it, there are no calls to tell
        return []
    return lines if len(lines) <= MOST else [*lines[: MOST - 1], f"… {len(lines) - MOST + 1} lines more"]


def _posts(step: plan.Step, where: plan.At) -> bool:
    if not isinstance(step, (plan.Post, plan.Transmit, plan.Receive, plan.Recv)):
        return False
    return where in (step.at, *(one.at for one in step.posted()))


def _calls(trace: Trace, where: plan.At) -> Iterator[str]:
    requests = Requests(trace.recorder, Tables(), str)
    for taken in trace.steps():
        step = taken.step
        if step is None:
            return
        if not _posts(step, where):
            continue
        for call in taken.calls:
            match call:
                case calls.PostRecv(sges=sges) if sges and not isinstance(step, plan.Transmit):  # the rig's own
                    wr = f".sg_list = {sge_array(sges)}, .num_sge = {len(sges)}"
                    yield _cleaned(f"ibv_post_recv(qp, &(struct ibv_recv_wr){{{wr}}}, &bad);{_at(call.side)}")
                case calls.Post() if not is_marker(call.requests):
                    where_posted = _at(call.side)
                    for request in _of(step, call, where):
                        for line in requests.lines(request, f"{call.pair}.{call.side}", ""):
                            if not line.startswith("ibv->wr_id"):
                                yield _cleaned(line) + where_posted
                                where_posted = ""
                case _:
                    pass
        return


def _at(side: Side) -> str:
    return "  /* at the peer */" if side == "peer" else ""


def _cleaned(line: str) -> str:
    return _TAKEN.sub(r"\1", _KEY.sub(r"\1->\2", line)).expandtabs(4)


def _of(step: plan.Step, call: calls.Post, where: plan.At) -> Sequence[WorkRequest]:
    """The request at `where`; all of them if that is the section."""
    posted = step.posted()
    if step.at != where and len(posted) == len(call.requests):
        return [request for request, one in zip(call.requests, posted, strict=True) if one.at == where]
    return call.requests
