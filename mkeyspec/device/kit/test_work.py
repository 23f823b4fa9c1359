"""Work requests: they are carried out, each completion comes once, and no call waits."""

from __future__ import annotations

import pytest

from mkeyspec.device.kit.bench import SIGNALED, Bench, fail, sge
from mkeyspec.device.protocol import CompareSwap, FetchAdd, Qp, Read, Send, Write

DATA = bytes(range(100, 164))


def test_a_message_arrives(bench: Bench) -> None:
    bench.transfer(bench.pair())


def test_a_message_of_the_peer_arrives(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("peer", DATA), bench.memory("owner", bytes(64))
    bench.device.post_recv(pair.owner, 1, [sge(target)])
    bench.done(pair.peer, Send(2, SIGNALED, (sge(source),)))
    bench.completions(pair.owner, 1)
    bench.content(target, DATA)


def test_an_immediate_arrives(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(64))
    bench.device.post_recv(pair.peer, 1, [sge(target)])
    bench.done(pair.owner, Send(2, SIGNALED, (sge(source),), imm=0xDEADBEEF))
    (got,) = bench.completions(pair.peer, 1)[:1]
    if got.imm != 0xDEADBEEF:
        fail(f"the immediate of a receive is {got.imm!r}, not 0xdeadbeef", "`imm` is the number, in the host's order")


def test_a_write_and_a_read(bench: Bench) -> None:
    pair = bench.pair()
    source, middle, back = (
        bench.memory("owner", DATA),
        bench.memory("peer", bytes(64)),
        bench.memory("owner", bytes(64)),
    )
    opcodes = [bench.done(pair.owner, Write(1, SIGNALED, (sge(source),), middle.addr, middle.rkey)).opcode]
    bench.content(middle, DATA)
    opcodes.append(bench.done(pair.owner, Read(2, SIGNALED, (sge(back),), middle.addr, middle.rkey)).opcode)
    bench.content(back, DATA)
    if opcodes != ["rdma_write", "rdma_read"]:
        fail(f"a write and a read complete as {opcodes}", "the opcodes are names of `constants.WC_OPCODE`")


def test_atomics(bench: Bench) -> None:
    if not bench.offers("atomic"):
        pytest.skip("atomic is not offered")
    pair = bench.pair()
    old, number = bench.memory("owner", bytes(8)), bench.memory("peer", (5).to_bytes(8, "little"))
    bench.done(pair.owner, FetchAdd(1, SIGNALED, sge(old), number.addr, number.rkey, 7))
    bench.content(old, (5).to_bytes(8, "little"))
    bench.content(number, (12).to_bytes(8, "little"))
    bench.done(pair.owner, CompareSwap(2, SIGNALED, sge(old), number.addr, number.rkey, 12, 99))
    bench.content(number, (99).to_bytes(8, "little"))


def test_completions_come_once_and_in_order(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(64))
    ids = [7, 1 << 63, 0, 3]
    bench.post(pair.owner, *(Write(id, SIGNALED, (sge(source),), target.addr, target.rkey) for id in ids))
    got = [one.wr_id for one in bench.completions(pair.owner, 4)]
    if got != ids:
        fail(f"the requests {ids} complete as {got}", "completions have the wr_id of the request, in order")
    if again := bench.quiet(pair.owner):
        fail(f"poll() gives {again[0]} once more", "each completion is reported once")


def test_an_unsignaled_request_has_no_completion(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(64))
    bench.post(pair.owner, Write(1, 0, (sge(source),), target.addr, target.rkey))
    found = bench.quiet(pair.owner)
    bench.content(target, DATA)
    if found:
        fail(f"an unsignaled request completes with {found[0]}", "only signaled requests complete, and those that fail")


def test_an_aborted_section_does_nothing(bench: Bench) -> None:
    pair = bench.pair()
    source, target = bench.memory("owner", DATA), bench.memory("peer", bytes(64))
    bench.device.post(pair.owner, [Write(1, SIGNALED, (sge(source),), target.addr, target.rkey)], abort=True)
    if found := bench.quiet(pair.owner):
        fail(f"an aborted request completes with {found[0]}", "ibv_wr_abort: nothing of the section is posted")
    if bench.device.read(target, 0, 64).any():
        fail("an aborted request writes", "ibv_wr_abort: nothing of the section is posted")


def test_an_unknown_qp_is_an_errno(bench: Bench) -> None:
    stranger = Qp(1 << 40, "owner", 0xABCDEF, 0)
    for call, arguments in (("post", ([],)), ("post_recv", (1, [])), ("resume", ())):
        number = getattr(bench.device, call)(stranger, *arguments)
        if number <= 0:
            fail(f"{call}() of an unknown QP gives {number}", "an errno is returned, as a positive number")
    if (number := bench.device.cancel(stranger, 1)) >= 0:
        fail(f"cancel() of an unknown QP gives {number}", "a negative errno, or how many were cancelled")
    if found := bench.device.poll(stranger):
        fail(f"poll() of an unknown QP gives {found}", "a QP that is not there has no completions")


def test_nothing_comes_of_nothing(bench: Bench) -> None:
    pair = bench.pair()
    if found := [*bench.quiet(pair.owner), *bench.quiet(pair.peer)]:
        fail(f"a new pair has {found[0]}", "a pair has no completions of an earlier case")
    if events := bench.device.events():
        fail(f"events() gives {events[0]} though nothing was done", "an event is reported once, and has a cause")


def test_events_come_once(bench: Bench) -> None:
    bench.transfer(bench.pair())
    bench.device.events()
    if events := bench.device.events():
        fail(f"events() gives {events[0]} once more", "an event is reported once")


def test_a_pipelining_queue_is_cancelled_and_resumed(bench: Bench) -> None:
    if not bench.offers("pipelining"):
        pytest.skip("pipelining is not offered")
    pair = bench.pair(sig_pipelining=True, private=True)
    cancelled = bench.device.cancel(pair.owner, 1)
    if cancelled > 0:
        fail(f"cancel() gives {cancelled} where nothing was posted", "how many were cancelled, or a negative errno")
    number = bench.device.resume(pair.owner)
    if number < 0:
        fail(f"resume() gives {number}", "an errno is returned, as a positive number; 0 is success")
