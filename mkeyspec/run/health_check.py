"""The canary transfer: whether a device still works after a case that did not pass."""

from __future__ import annotations

from time import monotonic, sleep

import numpy as np

from mkeyspec.abi.constants import MR_ACCESS, SendFlag
from mkeyspec.device.protocol import Device, DeviceLost, Memory, Qp, QpAttributes, QpPair, Send, Sge, Write
from mkeyspec.run.buffer import Bytes, canary
from mkeyspec.run.drain import LOOKS, QUIET
from mkeyspec.run.event_kinds import DEVICE_EVENTS
from mkeyspec.run.outcomes import describe
from mkeyspec.run.surroundings import PASSED_ON

LENGTH = 256
SHOWN = 8
"""Bytes that are told."""
LONGEST_WAY = 0.1
"""Seconds that a canary may be under way after the message: more than a busy machine needs, since only a broken device
takes them."""


def symptom(device: Device, deadline: float) -> str:
    """Write a canary from each end to the other over the default pair, with a message after one that is not there yet.
    "" if both arrive complete; else what is wrong."""
    try:
        pair = device.qp_pair(QpAttributes())
        owner = device.memory("owner", 2 * LENGTH, access=int(MR_ACCESS))
        peer = device.memory("peer", 2 * LENGTH, access=int(MR_ACCESS))
        for number, (qp, source, target) in enumerate(((pair.owner, owner, peer), (pair.peer, peer, owner)), 1):
            data = canary(number, LENGTH)
            device.write(source, 0, data.tobytes())
            sge = Sge(source.addr, LENGTH, source.lkey)
            request = Write(number, int(SendFlag.SIGNALED), (sge,), target.addr + LENGTH, target.rkey)
            if errno := device.post(qp, [request]):
                return f"the canary transfer was refused with errno {errno}"
            if found := _completed(device, qp, number, deadline):
                return found
            if _changed(device, target, data, 0) and (found := _message(device, pair, qp, number + 2, deadline)):
                return found
            if changed := _changed(device, target, data, min(deadline, LONGEST_WAY)):
                return f"the canary transfer arrived changed: {changed}"
        device.release(healthy=True)
        for event in device.events():
            if event.kind in DEVICE_EVENTS:
                return f"an async event came with the canary transfer: {event.kind}"
    except PASSED_ON:
        raise
    except DeviceLost as lost:
        return lost.message
    except BaseException as error:
        # Whatever a broken device raises is the symptom; the rig must survive it to say BLOCKED.
        return f"the canary transfer raised {type(error).__name__}: {error}"
    return ""


def forget_events(device: Device, missing: tuple[type[BaseException], ...] = ()) -> None:
    """Take the async events that are there, and what the call raises but for `missing`."""
    try:
        device.events()
    except PASSED_ON:
        raise
    except missing:
        raise
    except BaseException:
        return


def _changed(device: Device, target: Memory, data: Bytes, seconds: float) -> str:
    """How many bytes differ, and what is where the first one is; "" if they are all there, now or within this time:
    the writer's completion is not their arrival."""
    end = monotonic() + seconds
    while True:
        late = monotonic() >= end
        there = device.read(target, LENGTH, LENGTH)
        if np.array_equal(there, data):
            return ""
        if late:
            break
        sleep(QUIET / LOOKS)
    if len(there) != len(data):
        return f"{len(there)} bytes were read instead of {len(data)}"
    places = np.flatnonzero(there != data)
    first = int(places[0])
    got, wanted = (bytes(one[first : first + SHOWN]).hex(" ") for one in (there, data))
    return f"{len(places)} of {LENGTH} bytes differ; from byte {first} on it is {got}, and {wanted} was written"


def _message(device: Device, pair: QpPair, qp: Qp, number: int, deadline: float) -> str:
    """What is wrong with an empty message after the canary. When it is received, the canary has arrived (IBTA volume 1,
    transaction ordering)."""
    other = pair.peer if qp == pair.owner else pair.owner
    if errno := device.post_recv(other, number, ()):
        return f"the receive of the message after the canary was refused with errno {errno}"
    if errno := device.post(qp, [Send(number, int(SendFlag.SIGNALED), ())]):
        return f"the message after the canary was refused with errno {errno}"
    return _completed(device, qp, number, deadline) or _completed(device, other, number, deadline)


def _completed(device: Device, qp: Qp, wr_id: int, deadline: float) -> str:
    end = monotonic() + deadline
    while True:
        late = monotonic() >= end
        for completion in device.poll(qp):
            if completion.wr_id == wr_id and completion.status == "success":
                return ""
            return f"the canary transfer completed with {describe(completion)}"
        if late:
            return "the canary transfer did not complete"
        sleep(1e-3)
