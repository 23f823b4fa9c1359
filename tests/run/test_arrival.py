"""A requester's completion of an RDMA WRITE is not its arrival: the bytes may be seen later, or with the next message.

IBTA volume 1, transaction ordering: an application does not depend on what an RDMA WRITE brings before a later message
of the same queue has been received. On an unreliable service the completion says that the local buffer is free again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device, Memory, Qp, QpAttributes, QpPair, RawWqe, Read, Send, Write
from mkeyspec.run.buffer import canary
from mkeyspec.run.health_check import symptom
from mkeyspec.run.verdict import Verdict
from tests.run.test_extent import Known
from tests.run.text import one, told, verdicts

POLLS = 5


class Late(Model):
    """Right: what an RDMA WRITE brings is seen when a later message was sent, or after some polls of the other end's
    queue (`reads`: or after that many reads of memory)."""

    brings = True
    """Whether a later message shows them."""

    def __init__(self, polls: int = POLLS, reads: int = 1 << 30) -> None:
        self.all: dict[int, Memory] = {}
        self.hidden: list[tuple[int, Any, Any]] = []
        self.polls, self.reads, self.left, self.of = polls, reads, [0, 0], -1
        self.other: dict[int, int] = {}
        super().__init__(Profile())

    def memory(self, *args: Any, **options: Any) -> Memory:
        found = super().memory(*args, **options)
        self.all[found.handle] = found
        return found

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        return self.known(super().qp_pair(attributes))

    def reconnect(self, pair: QpPair) -> QpPair:
        return self.known(super().reconnect(pair))

    def known(self, pair: QpPair) -> QpPair:
        ends = pair.owner.handle, pair.peer.handle
        self.other.update(zip(ends, reversed(ends), strict=True))
        return pair

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if self.brings and any(isinstance(request, Send) for request in requests):
            self.hidden.clear()
        if not any(isinstance(request, (Write, RawWqe)) for request in requests):
            return super().post(qp, requests, abort=abort)
        before = {handle: super(Late, self).read(one, 0, one.length).copy() for handle, one in self.all.items()}
        try:
            return super().post(qp, requests, abort=abort)
        finally:
            self.of, self.left = self.other[qp.handle], [self.polls, self.reads]
            for handle, memory in self.all.items():
                changed = np.flatnonzero(before[handle] != super().read(memory, 0, memory.length))
                if len(changed):
                    self.hidden.append((handle, changed, before[handle][changed]))

    def passed(self, kind: int) -> None:
        self.left[kind] -= 1
        if self.left[kind] <= 0:
            self.hidden.clear()

    def poll(self, qp: Qp) -> Any:
        if qp.handle == self.of:
            self.passed(0)
        return super().poll(qp)

    def read(self, memory: Memory, offset: int, length: int) -> Any:
        self.passed(1)
        data = super().read(memory, offset, length).copy()
        for handle, changed, old in reversed(self.hidden):
            inside = (changed >= offset) & (changed < offset + length)
            if handle == memory.handle:
                data[changed[inside] - offset] = old[inside]
        return data

    def release(self, *, healthy: bool) -> None:
        self.hidden.clear()
        self.all.clear()
        super().release(healthy=healthy)

    def _load(self, addr: int, length: int) -> bytes:
        """Inline data: copied by the host."""
        for memory in self.all.values():
            if memory.addr <= addr and addr + length <= memory.addr + memory.length:
                return bytes(self.read(memory, addr - memory.addr, length))
        return super()._load(addr, length)


NEVER = 1 << 30
UC = "qp q { type uc; send_ops [] }"
ARRIVES = {
    "the wire": ("transmit k by write", "expect wire == m"),
    "an mkey": ("receive counter(64) into k by peer_write", "expect m == counter(64)"),
    "a buffer": ("write m to w", "expect w == m"),
    "unsignaled": ("post { write m to w }", "expect w == m"),
    "a let": ("write m to w", "let now = w", "expect now == m"),
    "one of several": ("write m to w", "    accepted or rejected at completion", "expect w in [m, unchanged]"),
    "other bytes": ("write m to w", "expect w != fill(0, 64)"),
    "a number": ("write m to w", "expect be32_at(w, 0) == 0x01010101", "expect w == any"),
    "a number to calculate with": (
        "write m to w",
        "expect be32_at(w, 0) - be16_at(w, 4) == 0x01010000",
        "expect w == any",
    ),
    "a number on the wire": (
        "transmit k by write as t",
        "expect be32_at(t.wire, 0) == 0x01010101",
        "expect wire == any",
    ),
    "a number that is recorded": ("write m to w", "record n = be32_at(w, 0) == 0x01010101", "expect w == any"),
    "a number that is stored": (
        "memory n[4]",
        "write m to w",
        "store n = be32(be32_at(w, 0))",
        'expect n == hex"01010101"',
        "expect w == any",
    ),
    "a store over it": ("write m to w", "expect w == any", "store w = counter(64)", "expect w == counter(64)"),
    "a message behind": (
        "recv m",
        "peer memory n = fill(7, 64)",
        "write m to w",
        "peer send n",
        "expect w == any",
        "expect m == fill(7, 64)",
    ),
    "inline data": (
        "peer memory p = counter(64)",
        "peer memory z[64]",
        "peer write p to m",
        "write m to z, inline",
        "expect z == counter(64)",
        "expect m == counter(64)",
    ),
    "after a failure": (
        "write m to w",
        "write m to w, but rkey 5",
        "    rejected at completion with remote_access",
        "expect w == m",
    ),
}


@pytest.mark.parametrize("what", ARRIVES)
@pytest.mark.parametrize("device", [Model(Profile()), Late(), Late(NEVER)], ids=["at once", "late", "with a message"])
def test_bytes_that_come_late_are_right(what: str, device: Device) -> None:
    assert told(one(*ARRIVES[what]), device) == ["pass"]


UNRELIABLE = {
    "the wire": (UC, "transmit k by write on q", "expect wire == m"),
    "an mkey": (UC, "receive counter(64) into k by peer_write on q", "expect m == counter(64)"),
    "a buffer": (UC, "write m to w on q", "expect w == m"),
}


@pytest.mark.parametrize("what", UNRELIABLE)
@pytest.mark.parametrize("device", [Late(), Late(NEVER)], ids=["late", "with a message"])
def test_an_unreliable_connection_is_closed_by_a_message_too(what: str, device: Device) -> None:
    """IBTA volume 1, 9.5: what is sent before a message on a connection is executed before it."""
    [found] = verdicts(one(*UNRELIABLE[what]), device)
    assert isinstance(found, Verdict), found
    assert not found.quiet


@pytest.mark.parametrize("on", ["", " on q"])
def test_bytes_that_no_statement_names_are_found_when_they_come_late(on: str) -> None:
    text = one("allow MKS0602", UC, f"write m[0 +: 32] to w{on}")
    assert told(text, Late()) == told(text) == ["MKS2103:11"]


class ReadsLate(Model):
    """Wrong: what a READ brings lands at the next SEND, and its completion comes before."""

    def __init__(self) -> None:
        self.all: list[Memory] = []
        self.kept: list[tuple[Memory, Any]] = []
        super().__init__(Profile())

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(request, Send) for request in requests):
            self.land()
        if not any(isinstance(request, Read) for request in requests):
            return super().post(qp, requests, abort=abort)
        before = [(memory, self.read(memory, 0, memory.length).copy()) for memory in self.all]
        done = super().post(qp, requests, abort=abort)
        self.kept = [(memory, self.read(memory, 0, memory.length).copy()) for memory, _ in before]
        for memory, data in before:
            self.write(memory, 0, data)
        return done

    def land(self) -> None:
        for memory, data in self.kept:
            self.write(memory, 0, data)
        self.kept = []

    def memory(self, *args: Any, **options: Any) -> Memory:
        self.all.append(super().memory(*args, **options))
        return self.all[-1]


def test_a_write_gives_the_bytes_of_others_no_time() -> None:
    """A message is sent behind a WRITE for its own bytes: those of a READ must be there without it."""
    read = ("peer memory v[64]", "write m to w", "expect w == m", "peer read v from k", "expect v == m")
    assert told(one("allow MKS0602", *read)) == ["pass"]
    assert told(one("allow MKS0602", *read), ReadsLate()) == ["MKS2102:14, MKS2103:10"]


class Loses(Late):
    """Wrong: what an RDMA WRITE brings is never seen."""

    brings = False


@pytest.mark.parametrize("on", ["", " on q"])
def test_bytes_that_never_come_are_missing(on: str) -> None:
    text = one(UC, f"write m to w{on}", "expect w == m")
    assert told(text, Loses(NEVER)) == ["MKS2102:11"]


def test_a_device_that_writes_late_is_healthy() -> None:
    assert symptom(Late(NEVER, reads=3), 0.5) == ""
    assert symptom(Late(NEVER), 0.5) == "", "a message brings them"
    wanted = canary(1, 256)
    got = symptom(Loses(NEVER), 0.5)
    assert got == (
        f"the canary transfer arrived changed: {sum(wanted != 0)} of 256 bytes differ; from byte 0 on it is "
        f"{' '.join(['00'] * 8)}, and {bytes(wanted[:8]).hex(' ')} was written"
    )


class TellsLate(Model):
    """Right: the error of a key that the other end used is told once a message was sent behind (mlx5dv_mkey_check(3),
    NOTES), or after some polls of this end's queue."""

    def __init__(self) -> None:
        self.left = 0
        super().__init__(Profile())

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(request, Send) for request in requests):
            self.left = 0
        elif any(isinstance(request, RawWqe) for request in requests):
            self.left = POLLS
        return super().post(qp, requests, abort=abort)

    def poll(self, qp: Qp) -> Any:
        self.left -= qp.side == "peer"
        return super().poll(qp)

    def mkey_check(self, mkey: Any) -> Any:
        return None if self.left > 0 else super().mkey_check(mkey)


RAW = """\
case a
    verifies XCHK-09
    peer memory m = flip(framed(counter(512), crc32(ones) every 512), 3)
    memory w[512]
    qp q { send_ops [configure, raw] }
    peer mkey k { block_signature }
    peer configure k on q { access remote_read; layout list(m); signature { mem crc32(ones) every 512 } }
    raw hex"00000010" ++ be32(q.qpn << 8 | 3) ++ hex"0000000800000000" ++ be64(0) ++ be32(k.rkey) ++ hex"00000000" \\
        ++ be32(512) ++ be32(w.lkey) ++ be64(w.addr) on q
    expect w == flip(counter(512), 3)
"""


@pytest.mark.parametrize("device", [Model(Profile()), TellsLate()], ids=["at once", "late"])
def test_the_key_that_a_raw_request_uses_is_checked_behind_a_message(device: Device) -> None:
    text = RAW.replace(" \\\n       ", "")
    assert told(text + "    check k is bad_guard\n", device) == ["pass"]
    assert told(text, device) == ["MKS2202:8"]


# What a completion says is there -------------------------------------------------------------------


class Behind(Known):
    """Wrong: what a request of this opcode brings is in memory only when the next request is posted."""

    def __init__(self, opcode: str) -> None:
        super().__init__(Profile())
        self.opcode = opcode
        self.held: list[tuple[Memory, bytes]] = []

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        for memory, data in self.held:
            self.write(memory, 0, data)
        self.held = []
        before = [self.read(one, 0, one.length).tobytes() for one in self.made]
        result = super().post(qp, requests, abort=abort)
        if any(type(request).__name__ == self.opcode and getattr(request, "sges", True) for request in requests):
            for memory, data in zip(self.made, before, strict=True):
                after = self.read(memory, 0, memory.length).tobytes()
                if after != data:
                    self.held.append((memory, after))
                    self.write(memory, 0, data)
        return result


LISTED = {
    "read": ("Read", "read m from w, id 4 completes { rdma_read, id 4 }"),
    "read, polled": ("Read", "post, nowait { read m from w, signaled, id 4 }", "poll completes { rdma_read, id 4 }"),
    "atomic": ("FetchAdd", "fetch_add m[0 +: 8] from w[0 +: 8], add 1, id 4 completes { fetch_add, id 4 }"),
    "send": ("Send", "recv m[0 +: 64]", "peer send w, id 4 completes { send, id 4 }"),
    "transmit": ("Send", "transmit k by send, id 4 completes { send, id 4 }", "expect wire == fill(1, 64)"),
    "written elsewhere": ("Read", "peer write w[0 +: 8] to m[56 +: 8]", "read m[0 +: 8] from w[0 +: 8]"),
}


@pytest.mark.parametrize("way", LISTED)
def test_bytes_are_there_when_their_completion_is(way: str) -> None:
    opcode, *lines = LISTED[way]
    looks = ("expect m[0 +: 8] == w[0 +: 8]",) if opcode == "Read" else ()
    case = one("store w = random(64, seed=3)", *lines, *looks, "expect m == any", "expect w == any")
    assert told(case) == ["pass"]
    assert told(case, Behind(opcode)) != ["pass"]
    assert told(case, Behind("CompareSwap")) == ["pass"], "the device is right otherwise"
