"""The late model: nothing happens in `post`; one request of each queue is carried out at every look."""

from __future__ import annotations

import errno

from mkeyspec.abi.constants import MR_ACCESS
from mkeyspec.device.model.late import Late
from mkeyspec.device.protocol import Memory, QpAttributes, Sge, Write

SIGNALED = 2


class Pair:
    """Two buffers of 4 bytes, and a QP between them."""

    def __init__(self) -> None:
        self.device = Late()
        self.qps = self.device.qp_pair(QpAttributes())
        self.near = self.device.memory("owner", 4, access=int(MR_ACCESS))
        self.far = self.device.memory("peer", 4, access=int(MR_ACCESS))
        self.device.write(self.far, 0, bytes(4))

    def write(self, data: bytes, wr_id: int) -> None:
        self.device.write(self.near, 0, data)
        sge = Sge(self.near.addr, 4, self.near.lkey)
        request = Write(wr_id, SIGNALED, (sge,), self.far.addr, self.far.rkey)
        assert self.device.post(self.qps.owner, [request]) == 0

    def look(self) -> list[int]:
        return [done.wr_id for done in self.device.poll(self.qps.owner)]

    def has(self, memory: Memory) -> bytes:
        return self.device.read(memory, 0, 4).tobytes()


def test_a_post_has_done_nothing_when_it_returns() -> None:
    pair = Pair()
    pair.write(b"abcd", 1)
    assert pair.has(pair.far) == bytes(4)
    assert pair.look() == []
    assert pair.has(pair.far) == b"abcd"
    assert pair.look() == [1]
    assert pair.look() == []


def test_one_request_of_a_queue_at_a_time() -> None:
    pair = Pair()
    pair.write(b"abcd", 1)
    pair.write(b"efgh", 2)
    looks = [pair.look() for _ in range(3)]
    assert looks == [[], [1], [2]]
    # A device reads a buffer when it works, not when it is asked to.
    assert pair.has(pair.far) == b"efgh"


def test_what_waits_is_gone_after_a_reset() -> None:
    pair = Pair()
    pair.write(b"abcd", 1)
    pair.qps = pair.device.reconnect(pair.qps)
    assert [pair.look() for _ in range(3)] == [[], [], []]
    assert pair.has(pair.far) == bytes(4)


def test_cancel_without_pipelining_is_refused_as_by_the_model() -> None:
    pair = Pair()
    pair.write(b"abcd", 1)
    assert pair.device.cancel(pair.qps.owner, 1) == -errno.EINVAL
    assert pair.look() == [1]
