"""Receives of the shared receive queue of a case's DCTs whose message did not come.

No reset of a DCI takes a receive out of that queue: the next message would take it. A receive that no message may take
is used up here by messages of the rig, of length zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.abi.constants import SendFlag
from mkeyspec.device.protocol import DcAddress, Refused, Send
from mkeyspec.plan import At
from mkeyspec.run import wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.completion import late, misfit
from mkeyspec.run.endpoint import End
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.evidence import Due
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.verdict import Failure


def use_up(state: CaseState, end: End, receives: Sequence[OpenReceive], at: At) -> Failure | None:
    """Take these out of the queue, which are the first that wait there, with messages of `end`, a DCI that was reset
    after the statement at `at`. Returns what is wrong with one."""
    far = end.other
    if not receives or not state.dcts:
        return None
    number, key = next(iter(state.dcts.values()))
    _rest(state, far)
    for receive in receives:
        assert far.receives[0] is receive
        far.receives.popleft()
        marker = Due(at, "send", state.number(), "send", dc=DcAddress(number, key))
        due = Due(receive.at, "recv", receive.wr_id, "recv", byte_lens=(0,), request=marker)
        what = f"the message that the rig sends for the receive of {receive.at}"
        try:
            errno = state.device.post(end.qp, [Send(marker.wr_id, int(SendFlag.SIGNALED), (), None, None, marker.dc)])
        except Refused as refusal:
            errno = errno_of(refusal)
        if errno:
            message = f"{what} was refused with {errno_name(errno)}, after the reset at {at}"
            return Failure("MKS2204", at, message, hard=True)
        end.owe(marker)
        far.owe(due)
        receive.due = due
        for one, queue in ((marker, end), (due, far)):
            queue.markers.add(one.wr_id)
            one.mark_judged("a message of the rig")
        wait.for_dues(state, end, [marker], [due])
        for one, queue in ((marker, end), (due, far)):
            if one.got is None:
                line = queue.send if one is marker else queue.recv
                line.remove(one)
                return late(state, queue, one, what)
            if (wrong := misfit(one, what)) is not None:
                return wrong
    end.used = None
    return None


def _rest(state: CaseState, far: End) -> None:
    """Wait for the messages of other DCIs: which of two DCIs' messages comes first is open."""
    owed = [due for due in far.recv if due.request is not None]
    ends = [pair.owner for pair in state.pairs.values() if pair.peer.shared]

    def look() -> None:
        for one in (*ends, far):
            state.poll(one)

    def done() -> bool:
        left = [due.request for due in owed if due.got is None and due.request is not None]
        return all(request.failed for request in left)

    if owed:
        wait.until(state, done, look)
