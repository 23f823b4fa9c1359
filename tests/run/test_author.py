"""MKS2107, MKS2108: what the author did is not called the device's fault, and a guard is never taken for data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mkeyspec.plan import (
    CompareSwap,
    Content,
    Expect,
    FetchAdd,
    Memcpy,
    Memory,
    MrInterleaved,
    MrList,
    Options,
    Post,
    Read,
    Receive,
    Recv,
    Rejected,
    Send,
    Step,
    Store,
    Transmit,
    Wr,
    Write,
)
from mkeyspec.value.bytestring import Counter
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Int, Live, LiveBytes, LiveOp
from tests.run.fixtures import SIGNALED, at, changed, codes, content, failures, plain, rig, run
from tests.run.text import one as case
from tests.run.text import verdicts

ENTRIES = Live("k", "max_entries")
NOTHING = LiveOp("-", (ENTRIES, ENTRIES))


def stored(value: Int, encoding: str = "be32") -> Store:
    return Store(at(9), Part("m", 0, 4), LiveBytes(encoding, value))


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (stored(Live("k", "rkey"), "be16"), "does not fit into be16"),
        (stored(LiveOp("-", (NOTHING, 1))), "does not fit into be32"),
        (stored(LiveOp("/", (1, NOTHING))), "division by zero"),
        (stored(LiveOp("%", (1, NOTHING))), "division by zero"),
        (stored(LiveOp("<<", (1, LiveOp("-", (NOTHING, 1))))), "negative"),
        (stored(LiveOp("<<", (ENTRIES, 0xFFFFFF))), "128 bits"),
        (Transmit(at(9), Part("k", LiveOp("-", (NOTHING, 1)), 4), "send"), "is not a place"),
        (Transmit(at(9), Part("k", 0, LiveOp("-", (NOTHING, 1))), "send"), "is not a place"),
        (Expect(at(9), LiveOp("/", (1, NOTHING)), "==", 1), "division by zero"),
        (Expect(at(9), ENTRIES, "==", LiveOp("/", (1, NOTHING))), "division by zero"),
        (
            Post(at(9), (MrList(at(9), "k", List((Repeated(Part("m", 0, 4), 1 << 40),)), 7, SIGNALED),)),
            "entries of a layout",
        ),
    ],
)
def test_a_number_without_a_value_is_the_authors_fault(step: Step, reason: str) -> None:
    tested, device = rig()
    before = len(device.named("post"))
    [failure] = failures(tested, *plain(), step)
    assert (failure.code, failure.at) == ("MKS2107", at(9))
    assert reason in failure.message
    assert len(failure.message) < 200
    assert "traceback" not in dict(failure.details)
    assert before == 0


def one(request: Wr) -> Post:
    return Post(at(9), (request,))


M, LONG = Part("m", 0, 64), Part("m", 0, 65)
W, BEYOND = Part("w", 0, 32), Part("w", 0, 64)


@pytest.mark.parametrize(
    "step",
    [
        one(Read(at(9), (M,), BEYOND, SIGNALED)),
        one(Write(at(9), (M,), BEYOND, None, SIGNALED)),
        one(Write(at(9), (M,), W, None, SIGNALED)),
        one(Write(at(9), (LONG,), Part("k", 0, 64), None, SIGNALED)),
        one(Write(at(9), (changed(M, but=(("length", 65),)),), Part("k", 0, 64), None, SIGNALED)),
        one(Write(at(9), (M,), W, None, changed(SIGNALED, but=(("length", 33),)))),
        one(Send(at(9), (Part("m", 1, 64),), options=SIGNALED)),
        one(Read(at(9), (Part("m", LiveOp("-", (NOTHING, 1)), 8),), W, SIGNALED)),
        one(FetchAdd(at(9), Part("m", 0, 8), Part("w", 28, 8), 1, SIGNALED)),
        one(CompareSwap(at(9), Part("m", 0, 8), Part("w", 28, 8), 1, 2, SIGNALED)),
        one(Memcpy(at(9), M, Part("m", 32, 64), SIGNALED)),
        one(MrList(at(9), "k", List((LONG,)), 7, SIGNALED)),
        one(MrInterleaved(at(9), "k", Interleaved(3, (Chunk(M, 16, 16),)), 7, SIGNALED)),
        Recv(at(9), (LONG,)),
        Store(at(9), Part("m", 62, 4), Counter(4)),
        Expect(at(9), Content((LONG,), "m"), "==", Counter(65)),
        Receive(at(9), Counter(64), Part("k", 0, 64), "read", options=Options(but=(("length", 70),))),
        Transmit(at(9), Part("k", 0, 64), "write", options=Options(but=(("length", 70),))),
    ],
)
def test_no_guard_is_read_or_written_as_data(step: Step) -> None:
    tested, device = rig()
    w = Memory(at(3), "w", 32, Counter(32), peer=True)
    steps = (*plain(), w)
    assert run(tested, *steps).status == "pass"
    device.calls.clear()
    assert codes(tested, *steps, step) == ["MKS2108"]
    posted = [type(args[1][0]).__name__ for args in device.named("post")]
    assert posted == ["Configure", "Write", "Write"], "nothing but the configuration, and the canary afterwards"


def test_what_is_put_outside_on_purpose_is_posted() -> None:
    tested, _ = rig()
    w = Memory(at(3), "w", 64, Counter(64), peer=True)
    far = changed(SIGNALED, but=(("remote_addr", LiveOp("+", (Live("w", "addr"), 1 << 12))),))
    write = changed(one(Write(at(9), (M,), Part("w", 0, 64), None, far)), claim=(Rejected("completion"),))
    assert run(tested, *plain(), w, write).status == "pass"
    interleaved = one(MrInterleaved(at(9), "k", Interleaved(2, (Chunk(M, 16, 16),)), 7, SIGNALED))
    assert run(tested, *plain(), w, interleaved, content("m", Counter(64))).status == "pass"


def test_a_long_range_makes_no_long_message() -> None:
    [failures] = verdicts(case("expect k.rkey in 0..60000"))
    assert isinstance(failures, Sequence)
    [failure] = failures
    assert len(str(failure)) < 2000
    assert "15 (0xf), … (59984 more), 59999 (0xea5f)" in failure.message
