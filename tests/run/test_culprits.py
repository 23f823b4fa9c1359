"""Who may have written a byte that nothing names: the statements that reach its buffer, since somebody looked."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.plan import (
    CompareSwap,
    Configure,
    Content,
    Expect,
    FetchAdd,
    Memcpy,
    Memory,
    MrList,
    Post,
    RawWqe,
    Read,
    Receive,
    Recv,
    Rejected,
    Send,
    SetLayout,
    Step,
    Store,
    Transmit,
    Unchanged,
    Wr,
    Write,
)
from mkeyspec.run.culprits import Suspects, suspects
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.value.bytestring import Counter, Literal, Random
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from tests.run.fixtures import at, configured, failures, plain, rig, run, transmit

M, K, W = Part("m", 0, 8), Part("k", 0, 8), Part("w", 0, 8)


def lay(line: int, mkey: str, *names: str) -> Post:
    layout = List(tuple(Part(name, 0, 8) for name in names))
    return Post(at(line), (Configure(at(line), mkey, (SetLayout(layout),)),))


def one(line: int, request: Wr) -> Post:
    return Post(at(line), (request,))


@pytest.mark.parametrize(
    ("step", "label"),
    [
        (Receive(at(5), Counter(8), K, "recv"), "maybe by"),
        (one(5, Write(at(5), (W,), K)), "maybe by"),
        (one(5, Read(at(5), (K,), W)), "maybe by"),
        (one(5, FetchAdd(at(5), W, K, 1)), "maybe by"),
        (one(5, FetchAdd(at(5), K, W, 1)), "maybe by"),
        (one(5, CompareSwap(at(5), W, K, 1, 2)), "maybe by"),
        (one(5, CompareSwap(at(5), K, W, 1, 2)), "maybe by"),
        (one(5, Memcpy(at(5), W, K)), "maybe by"),
        (one(5, RawWqe(at(5), Literal(b"\0\0\0\x0a" + bytes(60)))), "maybe by"),
        (Transmit(at(5), K, "send"), "read by"),
        (one(5, Write(at(5), (K,), W)), "read by"),
        (one(5, Read(at(5), (W,), K)), "read by"),
        (one(5, Memcpy(at(5), K, W)), "read by"),
        (one(5, Send(at(5), (K,))), "read by"),
        (Transmit(at(5), W, "send"), "since"),
    ],
)
def test_each_step_that_moves_data(step: Step, label: str) -> None:
    assert suspects((lay(4, "k", "m"), step), "m", 0) == Suspects(label, (at(5),))


def test_writers_come_before_readers_and_both_before_the_others() -> None:
    steps = (
        lay(3, "k", "m"),
        Transmit(at(4), W, "send"),
        Transmit(at(5), K, "send"),
        Receive(at(6), Counter(8), K, "recv"),
    )
    assert suspects(steps, "m", 0) == Suspects("maybe by", (at(6),))
    assert suspects(steps[:3], "m", 0) == Suspects("read by", (at(5),))
    assert suspects(steps, "other", 0) == Suspects("since", (at(4), at(5), at(6)))
    assert suspects(steps[:1], "m", 0).places == ()


def test_a_send_fills_the_first_receive_at_the_other_end() -> None:
    posted = (Recv(at(3), (M,), peer=True), Recv(at(4), (W,), peer=True))
    sends = (one(5, Send(at(5), (Part("x", 0, 8),))), one(6, Send(at(6), (Part("x", 0, 8),))))
    assert suspects((*posted, *sends), "m", 0) == Suspects("maybe by", (at(5),))
    assert suspects((*posted, *sends), "w", 0) == Suspects("maybe by", (at(6),))


def test_an_mkey_reaches_what_its_layout_says_at_that_time() -> None:
    into = [Receive(at(line), Counter(8), K, "recv") for line in (5, 7)]
    assert suspects((lay(4, "k", "m"), into[0], lay(6, "k", "w"), into[1]), "m", 0).places == (at(5),)
    refused = Post(at(6), lay(6, "k", "w").requests, claim=(Rejected("complete"),))
    assert suspects((lay(4, "k", "m"), into[0], refused, into[1]), "m", 0).places == (at(5), at(7))
    nested = (lay(3, "inner", "m"), lay(4, "k", "inner"), into[0])
    assert suspects(nested, "m", 0).places == (at(5),)
    woven = Interleaved(2, (Repeated(Chunk(M, 2, 2), 2),))
    assert suspects((configured(woven), into[0]), "m", 0).places == (at(5),)
    old = one(4, MrList(at(4), "k", List((M,)), 1))
    assert suspects((old, into[0]), "m", 0).places == (at(5),)


# In a case -----------------------------------------------------------------------------------


def into(line: int) -> Receive:
    return Receive(at(line), Random(64, line), Part("k", 0, 64), "recv")


def test_the_one_statement_is_the_place() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *plain(), transmit(), into(6))
    assert (failure.code, failure.at, failure.suspects) == ("MKS2103", at(6), ("", ()))


def test_several_statements_are_listed() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *plain(), into(5), into(6))
    assert (failure.code, failure.at, failure.suspects) == ("MKS2103", at(2), ("maybe by", (at(5), at(6))))


def test_what_was_looked_at_since_is_not_suspected() -> None:
    tested, _ = rig()
    looked = Expect(at(6), Content((Part("m", 0, 64),), "m"), "!=", Unchanged())
    [failure] = failures(tested, *plain(), into(5), looked, into(7))
    assert (failure.code, failure.at) == ("MKS2103", at(7))
    stored = Store(at(6), Part("m", 0, 64), Counter(64))
    before, after = failures(tested, *plain(), into(5), stored, into(7))
    assert (before.at, after.at) == (at(5), at(7)), "the first was found when the store wrote over it"


def test_a_guard_too() -> None:
    tested, device = rig()
    device.after_post = lambda qp: device.flip(0, 3) if len(device.memories) == 3 else None
    other = Memory(at(3), "w", 8, Counter(8))
    [failure] = failures(tested, *plain(), other, transmit())
    assert (failure.code, failure.at) == ("MKS2104", at(5))


def test_the_text_shows_each_statement(tmp_path: Path) -> None:
    path = tmp_path / "a.mks"
    path.write_text("mks 1\n    memory m\n\n\n    receive a into k by recv  # first\n    receive b into k by recv\n")
    tested, _ = rig()
    with pytest.raises(CaseFailed) as failed:
        run(tested, *plain(), into(5), into(6), path=path)
    assert (
        "    maybe by  5:5  receive a into k by recv\n              6:5  receive b into k by recv\n"
        in failed.value.text
    )
    assert "a.mks:2:5: error[MKS2103]" in failed.value.text


def test_of_many_the_last_are_shown() -> None:
    tested, _ = rig()
    with pytest.raises(CaseFailed) as failed:
        run(tested, *plain(), *(into(line) for line in range(5, 15)))
    lines = failed.value.text.split("\n")
    assert "    maybe by  4 statements before, and" in lines
    assert [line.strip() for line in lines if line.strip() in ("8:5", "9:5", "14:5")] == ["9:5", "14:5"]
