"""After an error: what fails says so, the queue is flushed, and the device can be used again."""

from __future__ import annotations

import pytest

from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.device.kit.bench import KEY_ACCESS, SIGNALED, Bench, fail, sge
from mkeyspec.device.protocol import Configure, QpPair, Send, SetAccess, Sge, Write

DATA = bytes(range(64))


def broken(bench: Bench) -> QpPair:
    """A pair with a request that failed: its key is of nothing."""
    pair = bench.pair()
    target = bench.memory("peer", bytes(64))
    source = bench.memory("owner", DATA)
    strange = Sge(source.addr, 64, source.lkey ^ 0x00F0_0000)
    bench.post(pair.owner, Write(1, SIGNALED, (strange,), target.addr, target.rkey))
    (first, *_) = bench.completions(pair.owner, 1)
    if (first.wr_id, first.queue) != (1, "send") or first.status == "success":
        fail(f"a request with an unknown key ends with {first}", "it fails, and its completion says so")
    if bench.device.read(target, 0, 64).any():
        fail("a request with an unknown key writes", "a request that fails at its source moves nothing")
    return pair


def test_an_unknown_key_fails_the_request(bench: Bench) -> None:
    broken(bench)


def test_a_queue_in_error_is_flushed(bench: Bench) -> None:
    pair = broken(bench)
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(64))
    if bench.device.post(pair.owner, [Write(2, 0, (sge(source),), target.addr, target.rkey)]):
        return  # refused is as good
    found = bench.completions(pair.owner, 1)
    if [(one.wr_id, one.status) for one in found] != [(2, "wr_flush_err")]:
        fail(f"a request after an error ends with {found}", "it is flushed, with a completion of its own")


def test_a_pair_is_connected_again(bench: Bench) -> None:
    kept = bench.memory("owner", DATA)
    again = bench.device.reconnect(broken(bench))
    if found := [*bench.quiet(again.owner), *bench.quiet(again.peer)]:
        fail(f"after reconnect() there is {found[0]}", "the pair is back with empty queues")
    bench.transfer(again)
    bench.content(kept, DATA)
    target = bench.memory("peer", bytes(64))
    bench.done(again.owner, Write(3, SIGNALED, (sge(kept),), target.addr, target.rkey))
    bench.content(target, DATA)


def test_an_mkey_outlives_a_reconnect(bench: Bench) -> None:
    mkey = bench.device.mkey("owner", create_flags=int(MkeyFlag.INDIRECT), max_entries=4)
    bench.device.reconnect(broken(bench))
    bench.device.destroy(mkey)


def test_other_pairs_are_not_touched(bench: Bench) -> None:
    other = bench.pair()
    broken(bench)
    bench.transfer(other)


def test_a_refused_section_is_an_errno(bench: Bench) -> None:
    if not bench.offers("mkey_configure"):
        pytest.skip("mkey_configure is not offered")
    pair = bench.pair(send_ops=int(QpOps.MKEY_CONFIGURE))
    mkey = bench.device.mkey("owner", create_flags=int(MkeyFlag.INDIRECT), max_entries=4)
    number = bench.device.post(pair.owner, [Configure(1, SIGNALED | 8, mkey, 1, 2 * (SetAccess(KEY_ACCESS),))])
    if number <= 0:
        fail(
            f"post() with two setters instead of one gives {number}",
            "a refused section gives an errno, a positive number",
        )
    if found := bench.quiet(pair.owner):
        fail(f"a refused section completes with {found[0]}", "nothing of a refused section is posted")
    bench.transfer(bench.device.reconnect(pair))


def test_a_receive_without_room_fails(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(32))
    bench.device.post_recv(pair.peer, 1, [sge(target)])
    bench.post(pair.owner, Send(2, SIGNALED, (sge(source),)))
    ends = [bench.completions(end, 1)[0].status for end in (pair.owner, pair.peer)]
    if "success" in ends:
        fail(f"64 bytes into a receive of 32 end with {ends}", "the message fails at both ends")
    bench.transfer(bench.device.reconnect(pair))
