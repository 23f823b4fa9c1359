"""Signature pipelining: where a queue stops, what waits, what is cancelled, and how it goes on (cancel page)."""

from __future__ import annotations

import errno

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, LocalInv, Memory, Mkey, QpAttributes, Read, Refused, Send, Sge, Write
from tests.device.model.fixtures import SIGNALED, Bench, counter, crc, signature
from tests.oracle import bitwise

INVAL = errno.EINVAL
FENCE = 1
BAD = counter(512) + b"bad."
GOOD = counter(512) + bitwise.stored("crc32", counter(512), 0)


class Pipeline(Bench):
    def __init__(self, profile: Profile | None = None, **members: int) -> None:
        super().__init__(profile, QpAttributes(sig_pipelining=True, **members))  # type: ignore[arg-type]
        self.far = self.memory(512, peer=True)
        self.note = self.memory(16, peer=True)
        self.answer = self.memory(counter(16))

    def key(self, stream: bytes) -> Mkey:
        return self.over(self.memory(stream), sig=signature(mem=crc("crc32")))

    def move(self, mkey: Mkey, wr_id: int = 1, flags: int = SIGNALED) -> Write:
        return Write(wr_id, flags, (Sge(0, 512, mkey.lkey),), self.far.addr, self.far.rkey)

    def say(self, wr_id: int = 2, flags: int = SIGNALED | FENCE) -> Send:
        return Send(wr_id, flags, (Sge(self.answer.addr, 16, self.answer.lkey),))

    def listen(self, count: int = 1) -> None:
        for _ in range(count):
            self.device.post_recv(self.pair.peer, 9, (Sge(self.note.addr, 16, self.note.lkey),))

    def kinds(self) -> list[tuple[str, int]]:
        return [(event.kind, event.qp.handle if event.qp else 0) for event in self.device.events()]

    def resume(self) -> int:
        number = self.device.resume(self.pair.owner)
        self.poll()
        return number


def told(completions: list[Completion]) -> list[tuple[int, str, str]]:
    return [(done.wr_id, done.status, done.opcode) for done in completions]


def heard(bench: Pipeline, memory: Memory) -> bool:
    return bench.bytes_of(memory) == counter(16)


def test_good_data_flows() -> None:
    """XCAN-01: no event."""
    bench = Pipeline()
    bench.listen()
    bench.post(bench.move(bench.key(GOOD)), bench.say())
    assert told(bench.owner) == [(1, "success", "rdma_write"), (2, "success", "send")]
    assert bench.kinds() == []
    assert heard(bench, bench.note)


def test_a_bad_block_stops_the_queue() -> None:
    """XCAN-01, XCAN-03, XCAN-04, XCAN-07: the whole recovery; the NOP completes with its request's opcode."""
    bench = Pipeline()
    bench.listen()
    mkey = bench.key(BAD)
    assert bench.post(bench.move(mkey), bench.say(), bench.say(3, 0)) == 0
    assert told(bench.owner) == [(1, "success", "rdma_write")]
    assert bench.bytes_of(bench.far) == counter(512)
    assert bench.kinds() == [("sq_drained", bench.pair.owner.handle)]
    assert bench.kinds() == []
    error = bench.check(mkey)
    assert error is not None
    assert error.type == 1
    assert bench.device.cancel(bench.pair.owner, 2) == 1
    assert bench.device.cancel(bench.pair.owner, 2) == 0
    assert bench.resume() == 0
    assert told(bench.owner) == [(2, "success", "send")]
    assert [done.byte_len for done in bench.peer] == [16]  # of request 3, which nobody cancelled
    assert heard(bench, bench.note)
    # As good as new.
    bench.listen()
    assert bench.post(bench.say(4)) == 0
    assert told(bench.owner) == [(4, "success", "send")]


def test_cancelled_requests_reach_nobody() -> None:
    """XCAN-05: all of one id, pending ones only; unsignaled NOPs say nothing."""
    bench = Pipeline()
    bench.listen(2)
    bench.post(bench.move(bench.key(BAD), 5), bench.say(5, 0), bench.say(5), bench.say(6))
    assert bench.device.cancel(bench.pair.owner, 77) == 0
    assert bench.device.cancel(bench.pair.owner, 5) == 2
    assert bench.resume() == 0
    assert told(bench.owner) == [(5, "success", "send"), (6, "success", "send")]
    assert len(bench.peer) == 1


def test_cancelled_configurations_change_nothing() -> None:
    bench = Pipeline()
    mkey, other = bench.key(BAD), bench.key(GOOD)
    bench.post(bench.move(mkey), LocalInv(8, SIGNALED, other.rkey))
    assert bench.device.cancel(bench.pair.owner, 8) == 1
    assert bench.resume() == 0
    assert told(bench.owner) == [(8, "success", "local_inv")]
    bench.post(bench.move(other))
    assert told(bench.owner) == [(1, "success", "rdma_write")]


def test_what_is_posted_meanwhile_waits() -> None:
    bench = Pipeline()
    bench.listen()
    bench.post(bench.move(bench.key(BAD)))
    assert bench.post(bench.say()) == 0
    assert bench.owner == []
    assert not heard(bench, bench.note)
    assert bench.resume() == 0
    assert told(bench.owner) == [(2, "success", "send")]


def test_it_stops_as_often_as_there_are_errors() -> None:
    bench = Pipeline()
    first, second = bench.key(BAD), bench.key(BAD)
    bench.post(bench.move(first, 1), bench.move(second, 2), bench.move(second, 3))
    assert [done.wr_id for done in bench.owner] == [1]
    assert bench.resume() == 0
    assert [done.wr_id for done in bench.owner] == [2]
    assert len(bench.kinds()) == 2
    # The second key is not armed any more: its further errors are not seen (HW-06), and nothing stops.
    assert bench.resume() == 0
    assert [done.wr_id for done in bench.owner] == [3]
    assert bench.kinds() == []


def test_reading_stops_too_and_only_ones_own_errors_do() -> None:
    """The requester's queue stops for its own mkey; what the passive side finds is that side's (HW-04)."""
    bench = Pipeline()
    source = bench.memory(BAD, peer=True)
    mkey = bench.over(bench.memory(512), sig=signature(wire=crc("crc32")))
    bench.post(Read(1, SIGNALED, (Sge(0, 516, mkey.lkey),), source.addr, source.rkey), bench.say())
    assert told(bench.owner) == [(1, "success", "rdma_read")]
    assert len(bench.kinds()) == 1
    passive = Pipeline()
    mkey = passive.over(passive.memory(512), sig=signature(wire=crc("crc32")))
    sent = passive.memory(BAD, peer=True)
    passive.post(Write(1, SIGNALED, (Sge(sent.addr, 516, sent.lkey),), 0, mkey.rkey), peer=True)
    assert passive.check(mkey) is not None
    assert passive.kinds() == []
    passive.listen()
    passive.post(passive.say())
    assert told(passive.owner) == [(2, "success", "send")]


def test_a_stopped_queue_still_answers() -> None:
    bench = Pipeline()
    bench.post(bench.move(bench.key(BAD)))
    mem, source = bench.memory(16), bench.memory(counter(16), peer=True)
    bench.post(Write(1, SIGNALED, (Sge(source.addr, 16, source.lkey),), mem.addr, mem.rkey), peer=True)
    assert told(bench.peer) == [(1, "success", "rdma_write")]
    assert bench.bytes_of(mem) == counter(16)


def test_an_error_flushes_what_waits() -> None:
    """ "... or "flushed" completions in case the QP goes to error": cancelled ones as well."""
    bench = Pipeline()
    bench.post(bench.move(bench.key(BAD)), bench.say(2), bench.say(3, 0))
    assert bench.device.cancel(bench.pair.owner, 3) == 1
    bench.post(Write(9, SIGNALED, (Sge(bench.far.addr, 16, bench.far.lkey),), 0, 0xBAD), peer=True)
    assert told(bench.owner) == [(2, "wr_flush_err", ""), (3, "wr_flush_err", "")]
    assert bench.device.cancel(bench.pair.owner, 2) == -INVAL
    assert bench.resume() == INVAL


def test_states() -> None:
    """XCAN-06; resuming a QP that runs is not a transition; a pair that is reconnected has forgotten it all."""
    bench = Pipeline()
    assert bench.device.cancel(bench.pair.owner, 1) == -INVAL
    assert bench.resume() == INVAL
    bench.post(bench.move(bench.key(BAD)), bench.say())
    bench.device.reconnect(bench.pair)
    bench.poll()
    assert bench.owner == []
    assert bench.resume() == INVAL
    bench.listen()
    bench.post(bench.say())
    assert told(bench.owner) == [(2, "success", "send")]
    # Nothing of what waited then is carried out with what waits later.
    bench.post(bench.move(bench.key(BAD)))
    assert bench.resume() == 0
    assert bench.owner == []


def test_without_the_flag_nothing_stops() -> None:
    bench = Bench()
    far, mem = bench.memory(512, peer=True), bench.memory(BAD)
    mkey = bench.over(mem, sig=signature(mem=crc("crc32")))
    write = Write(1, SIGNALED, (Sge(0, 512, mkey.lkey),), far.addr, far.rkey)
    bench.post(write, write)
    assert len(bench.owner) == 2
    assert bench.device.events() == []


def test_what_waits_takes_room() -> None:
    """Slots are given back by polled completions alone."""
    bench = Pipeline(max_send_wr=4)
    bench.post(bench.move(bench.key(BAD)))
    taken = 0
    while bench.post(bench.say(7, 0)) == 0:
        taken += 1
    assert 4 <= taken <= 64
    assert bench.post(bench.say(7, 0)) == errno.ENOMEM
    bench.listen(taken)
    assert bench.resume() == 0
    assert bench.post(bench.say(7)) == errno.ENOMEM
    # With a signaled one after the rest, whose completion is polled, all of the room is there again.
    again = Pipeline(max_send_wr=4)
    again.listen(2 * taken)
    again.post(again.move(again.key(BAD)))
    assert again.post(*[again.say(7, 0)] * (taken - 1), again.say(8)) == 0
    assert again.resume() == 0
    assert told(again.owner) == [(8, "success", "send")]
    assert again.post(*[again.say(7, 0)] * taken) == 0


def test_a_device_without_pipelining() -> None:
    """XCAN-02."""
    with pytest.raises(Refused) as refused:
        Pipeline(Profile(without=("pipelining",)))
    assert refused.value.errno == errno.EOPNOTSUPP
