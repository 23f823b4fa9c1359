"""Markers: requests of the rig, of length zero, after all others of a send queue.

The completion of a marker shows that no other completion of its send queue can follow. The completion of the receive
that it takes, where it is a message, shows the same of the other end's receive queue, and that what was sent before it
on a connection has arrived there or never will (IBTA volume 1, 9.5: a responder executes SENDs and RDMA WRITEs in the
order in which they were posted, on UC too).

A UC may lose a message (IBTA volume 1, 9.8.3). So a closing message that was not received is sent again, and
without a receive of its own: it takes the receive that waits for the first, if that was lost. A receive that was taken
and has no completion is there no more, and no receive takes the second message either.
"""

from __future__ import annotations

from collections.abc import Iterator
from errno import ENOMEM

from mkeyspec.abi.constants import SendFlag
from mkeyspec.device.protocol import DcAddress, Refused, Send, WorkRequest, Write
from mkeyspec.plan import At
from mkeyspec.run import wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.completion import late, misfit
from mkeyspec.run.endpoint import End
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.evidence import FLUSH, SUCCESS, Due
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.outcomes import describe
from mkeyspec.run.pairing import PLACES
from mkeyspec.run.verdict import Failure

MARKED = frozenset({"rc", "uc"})
"""QP types that take a plain RDMA write."""

MARKED_BY_MESSAGE = frozenset({"rc", "uc", "dci"})
"""QP types that take a SEND."""

IN_ORDER = frozenset({"rc", "uc"})
"""QP types whose messages are all executed in order: of a DCI, those of a stream."""

AGAIN = 2
"""How often a closing message is sent again that was lost."""


def tells_arrival(end: End) -> bool:
    """Whether a message can show that what an RDMA WRITE brings has arrived."""
    return bool(end.remote) and end.pair.attributes.type in IN_ORDER


def takes_send(end: End, *, spare: bool = False) -> bool:
    """Whether a marker can be a message: none of the case's receives would take it, and nothing has failed. `spare`:
    the case is over, and its receives are not needed any more; but one through an mkey may fail whatever comes."""
    waiting = end.other.receives
    return (
        end.pair.attributes.type in MARKED_BY_MESSAGE
        and not (end.pair.attributes.type == "dci" and end.side == "peer")
        and end.pair.attributes.max_recv_wr > 0
        and not end.pair.failed
        and (not waiting or (spare and not waiting[0].names_mkey))
        and not any(one.broken or one.failed for one in end.pair.ends)
    )


def _addresses(state: CaseState, end: End) -> list[DcAddress | None]:
    """Where markers must go to be after everything: of a DCI, to each target and stream in use; [] if nowhere."""
    kind = end.pair.attributes.type
    if kind in MARKED:
        return [None]
    if kind == "dci" and end.side == "owner" and not end.pair.failed and not end.broken:
        used = dict.fromkeys((*end.lanes, *end.other.received))
        known = dict(state.dcts.values())
        return [dc for dc in used if dc is not None and known.get(dc.dct) == dc.key]
    return []


def mark(state: CaseState, end: End, at: At, *, closing: bool, spare: bool = False) -> tuple[bool, list[Failure]]:
    """Post markers and wait for them. Whether they came back, and what is wrong if one did not. `spare`: receives that
    wait may be used up."""
    addresses = _addresses(state, end)
    when = "at the end of the case" if closing else f"before {at}"
    latest = at if closing or end.used is None else end.used
    if not addresses or any(due.dc is not None and due.dc not in addresses for due in end.quiet()):
        return False, []
    for number, dc in enumerate((*addresses, *addresses)):
        marker = Due(at, "send", state.number(), "rdma_write", dc=dc)
        request: WorkRequest = Write(marker.wr_id, int(SendFlag.SIGNALED), (), 0, 0, None, dc)
        receive = Due(at, "recv", state.number(), "recv", byte_lens=(0,), request=marker)
        # Not where the queue may be full: a message that is not sent would leave its receive to the case's.
        wanted = dc in end.other.received or tells_arrival(end)
        by_message = wanted and takes_send(end, spare=spare) and (closing or not end.quiet())
        if number >= len(addresses) and not by_message:
            continue
        if by_message and end.other.receives:
            receive = _meet(end.other, receive)
        elif by_message and (refused := _receive(state, end.other, receive)):
            message = f"the QP takes no more receives {when} ({refused})"
            return False, [Failure("MKS2204", latest, message, hard=True)]
        if by_message:
            marker.opcode = "send"
            request = Send(marker.wr_id, int(SendFlag.SIGNALED), (), None, None, dc)
        if end.wqes >= end.pair.attributes.max_send_wr:  # what is polled makes room
            owed = [due for due in end.send if due.signaled]
            wait.until(state, lambda owed=owed: all(due.over for due in owed) or end.broken, lambda: state.poll(end))  # type: ignore[misc]
        try:
            with state.around.as_own():
                errno = state.device.post(end.qp, [request])
        except Refused as refusal:
            errno = errno_of(refusal)
        if errno == ENOMEM and end.wqes >= end.pair.attributes.max_send_wr:
            if by_message:
                end.other.recv.remove(receive)
            return False, []  # the queue may be full: no completion has told the driver otherwise
        if errno:
            message = f"the QP takes no more requests {when} ({errno_name(errno)})"
            return False, [Failure("MKS2204", latest, message, hard=True)]
        end.owe(marker)
        stopped = end.is_after_failure(marker)
        end.markers.add(marker.wr_id)
        marker.mark_judged("marker")
        wait.until(state, lambda marker=marker: marker.got is not None, lambda: state.poll(end))  # type: ignore[misc]
        if by_message and (wrong := _received(state, end, receive)) is not None:
            return True, [wrong]
        if marker.got is None:
            end.send.remove(marker)
            if stopped:
                return True, [late(state, end, marker, "a request after a failed one")]
            if end.broken or end.pair.failed:
                return False, []
            return False, [late(state, end, marker, "the closing zero-length write" if closing else "the marker")]
        broken = end.broken or bool(end.pair.failed)
        if marker.got.status != FLUSH and stopped:
            message = f"a request after a failed one came back with {marker.got.status}"
            return True, [Failure("MKS2005", at, message, (("expected", FLUSH), ("got", describe(marker.got))))]
        if marker.got.status == SUCCESS and (wrong := misfit(marker, "the marker")) is not None:
            return True, [wrong]
        if marker.got.status != SUCCESS and not broken:
            message = f"the QP had failed {when}: the rig's request came back with {marker.got.status}"
            return True, [Failure("MKS2204", latest, message, (("got", describe(marker.got)),), hard=not closing)]
        end.used = None
        if dc is not None:
            end.lanes.pop(dc, None)
        lost = []
        for due in [due for due in end.send if not due.signaled]:
            if dc is None or due.dc == dc:
                flushed = stopped and end.is_after_failure(due)
                due.passed = True
                due.succeeded = not flushed and end.lane(due) == end.lane(marker)
                due.mark_judged("nothing came" if flushed else "marker")
                end.send.remove(due)
                if flushed:
                    lost.append(late(state, end, due, f"the {due.opcode} after a failed request"))
        if lost:
            return True, lost
    return True, []


def _receive(state: CaseState, end: End, due: Due) -> str:
    """Post a receive for a marker that is a message; the errno's name if it is refused."""
    try:
        with state.around.as_own():
            errno = state.device.post_recv(end.qp, due.wr_id, ())
    except Refused as refusal:
        errno = errno_of(refusal)
    if errno:
        return errno_name(errno)
    due.receive = OpenReceive(due.at, due.wr_id, (), own=True, due=due, place=next(PLACES))
    end.owe(due)
    end.markers.add(due.wr_id)
    due.mark_judged("marker")
    return ""


def _meet(end: End, marker: Due) -> Due:
    """The marker's message will take the first receive that waits here."""
    receive = end.receives.popleft()
    due = Due(receive.at, "recv", receive.wr_id, "recv", byte_lens=(0,), request=marker.request)
    due.receive, receive.due = receive, due
    end.owe(due)
    end.markers.add(due.wr_id)
    due.mark_judged("marker")
    return due


def _received(state: CaseState, end: End, due: Due) -> Failure | None:
    """Wait for the receive of a marker, and what is wrong with it."""
    other, message = end.other, due.request
    if message is not None and message.succeeded:
        wait.until(state, lambda: due.got is not None, lambda: state.poll(other))
        for _ in range(AGAIN if due.got is None and may_lose(end) else 0):
            if not _send_again(state, end, due.at):
                break
            wait.until(state, lambda: due.got is not None, lambda: state.poll(other))
            if due.got is not None:
                break
    if due.got is None:
        other.recv.remove(due)
        sent = message is not None and message.succeeded
        return late(state, other, due, "the receive of the closing message") if sent else None
    if message is not None:
        other.received.discard(message.dc)
    return misfit(due, "the closing message") if message is not None and message.succeeded else None


# What an unreliable connection has lost --------------------------------------------------------


def may_lose(end: End) -> bool:
    """Whether a message of this end may be lost, and its request succeed."""
    return end.pair.attributes.type == "uc"


def _send_again(state: CaseState, end: End, at: At) -> bool:
    """Send an empty message that has no receive of its own; whether it was sent."""
    marker = Due(at, "send", state.number(), "send")
    try:
        with state.around.as_own():
            errno = state.device.post(end.qp, [Send(marker.wr_id, int(SendFlag.SIGNALED), (), None, None, None)])
    except Refused as refusal:
        errno = errno_of(refusal)
    if errno:
        return False
    end.owe(marker)
    end.markers.add(marker.wr_id)
    marker.mark_judged("marker")
    wait.until(state, lambda: marker.got is not None, lambda: state.poll(end))
    if marker.got is None:
        end.send.remove(marker)
    return marker.succeeded


def lost(state: CaseState, end: End) -> Iterator[Failure]:
    """What is wrong with the receives at the other end of a UC that have no completion by the deadline, although their
    requests have succeeded. A message of the rig tells whether the first of them still waits: then its message was
    lost, or one before it; else it was taken, and its completion is missing."""
    other = end.other
    missing = [due for due in other.recv if not due.judged and due.request is not None and due.request.succeeded]
    if not missing or not takes_send(end, spare=True) or not may_lose(end):
        return
    first, seen = missing[0], len(other.arrived)
    for _ in range(1 + AGAIN):
        if not _send_again(state, end, first.at):
            return
        wait.until(state, lambda: len(other.arrived) > seen, lambda: state.poll(other))
        if len(other.arrived) > seen:
            break
    told = next((due for due in other.arrived[seen:] if not due.judged), None)
    if told is not None and not told.failed:
        told.mark_judged("marker")
        other.received.discard(None)
    if told is first:
        message = f"the message of `{first.opcode}` was lost: its receive still waited for one"
        details = (("expected", f"a message in the receive of id {first.wr_id}"), ("got", "the rig's closing message"))
        yield Failure("MKS2004", first.at, message, details, True)
    else:
        first.mark_judged("nothing came")
        other.recv.remove(first)
        what = "a receive that was taken, as the rig's closing message shows,"
        yield late(state, other, first, what)
