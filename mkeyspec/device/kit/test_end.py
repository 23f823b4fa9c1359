"""The end of a case, and of the device: nothing is left for the next."""

from __future__ import annotations

import pytest

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.kit.bench import SIGNALED, Bench, fail, sge
from mkeyspec.device.protocol import Send, Write

HEALTHY = pytest.mark.parametrize("healthy", [True, False])
DATA = bytes(range(64))


@HEALTHY
def test_objects_are_gone_after_a_case(bench: Bench, healthy: bool) -> None:
    memory = bench.memory("owner", DATA)
    mkey = bench.device.mkey("owner", create_flags=int(MkeyFlag.INDIRECT), max_entries=4)
    bench.device.release(healthy=healthy)
    bench.refused(lambda: bench.device.read(memory, 0, 8), "read() of a buffer of the case before")
    bench.refused(lambda: bench.device.destroy(mkey), "destroy() of an mkey of the case before")


@HEALTHY
def test_the_next_case_works(bench: Bench, healthy: bool) -> None:
    for _ in range(3):
        bench.transfer(bench.pair())
        bench.transfer(bench.pair(private=True))
        bench.device.release(healthy=healthy)
        if events := bench.device.events():
            fail(f"after release() there is {events[0]}", "a case that went well leaves no event")


def test_nothing_is_left_of_a_case_that_stopped(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(64))
    for id in range(3):
        bench.device.post_recv(pair.peer, id, [sge(target)])
    bench.post(pair.owner, Send(4, SIGNALED, (sge(source),)))
    bench.post(pair.owner, Write(5, SIGNALED, (sge(source),), target.addr, target.rkey))
    bench.device.release(healthy=False)
    bench.device.events()
    pair = bench.pair()
    if found := [*bench.quiet(pair.owner), *bench.quiet(pair.peer)]:
        fail(f"after release() a pair has {found[0]}", "a pair has no completions of an earlier case")
    bench.transfer(pair)


@HEALTHY
def test_a_case_may_be_empty(bench: Bench, healthy: bool) -> None:
    bench.device.release(healthy=healthy)
    bench.device.release(healthy=healthy)
    bench.transfer(bench.pair())


def test_it_is_closed_and_opened_again(bench: Bench) -> None:
    before = bench.device.info()
    bench.transfer(bench.pair())
    bench.device.close()
    bench.device.close()  # once more does nothing: a session may end in the middle of closing
    bench.open_again()
    if bench.device.info() != before:
        fail(f"opened again, info() gives {bench.device.info()}", "what is opened again is the same device")
    bench.transfer(bench.pair())
