"""What a statement meets of a request under way comes to its end first: a device that is slow and right is green."""

from __future__ import annotations

import pytest

from mkeyspec.device.protocol import Qp
from tests.run.slow import Slow
from tests.run.text import one, told

CRC = "crc32(ones) every 512"
OWNER = {
    "a configuration, and the peer's request": (
        "mkey j", "post { configure j { access remote_read; layout list(m) } }", "transmit j by peer_read",
        "expect wire == m",
    ),
    "a configuration, and a receive through its key": (
        "mkey j", "post { configure j { access local_write; layout list(m) } }", "recv j[0 +: 64]",
        "peer memory f = counter(64)", "peer send f", "expect m == counter(64)",
    ),
    "a configuration of an entry": (
        "memory b = counter(64)", "mkey i", "mkey j", "configure i { access remote_read; layout list(m) }",
        "configure j { access remote_read; layout list(i[0 +: 64]) }", "post { configure i { layout list(b) } }",
        "transmit j[0 +: 64] by peer_read", "expect wire == b",
    ),
    "a transfer, and a check": (
        f"memory b = flip(framed(counter(512), {CRC}), 3)", "peer memory z[512]", "mkey j { block_signature }",
        f"configure j {{ access local_write; layout list(b); signature {{ mem {CRC} }} }}", "peer recv z",
        "post { send j[0 +: 512] }", "check j is bad_guard, block 0", "expect z == any",
    ),
    "a transfer that was not waited for, and a check": (
        f"memory b = flip(framed(counter(512), {CRC}), 3)", "peer memory z[512]", "mkey j { block_signature }",
        f"configure j {{ access local_write; layout list(b); signature {{ mem {CRC} }} }}",
        "post, nowait { write j[0 +: 512] to z, signaled }", "check j is bad_guard, block 0", "poll", "expect z == any",
    ),
    "bytes that are written, and the peer reads": (
        "memory n[64]", "peer memory p = counter(64)", "peer memory z[64]", "post { read n from p }",
        "peer read z from n", "expect z == counter(64)", "expect n == counter(64)",
    ),
    "bytes that are read, and the peer writes": (
        "peer memory p = counter(64)", "post { write m to w }", "peer write p to m", "expect w == fill(1, 64)",
        "expect m == counter(64)",
    ),
    "bytes that are read, and the host writes": (
        "post, nowait { write m to w, signaled }", "store m = fill(9, 64)", "expect w == fill(1, 64)", "poll",
    ),
    "another QP": (
        "qp q", "memory n[64]", "peer memory p = counter(64)", "post on q { read n from p }", "write n to w",
        "expect w == counter(64)", "expect n == counter(64)",
    ),
    "a claimed failure of the peer's": (
        "memory c = counter(64)", "mkey j", "configure j { access 0; layout list(c) }", "peer memory z = fill(3, 64)",
        "post, nowait { write m to w, signaled }", "peer write z to j[0 +: 64] rejected at completion",
        "expect w == m",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lines", OWNER.values(), ids=OWNER)
def test_the_owner_is_slow(lines: tuple[str, ...]) -> None:
    assert told(one(*lines), Slow(lambda qp: qp.side == "owner"), deadline=2) == ["pass"]


BAD = "write m to w, but rkey w.rkey ^ 0xff rejected at completion with remote_access"
PEER = {
    "signaled": ("peer post, nowait { write f to n, signaled }",),
    "unsignaled": ("peer post { write f to n }",),
    "a message": ("recv n", "peer post, nowait { send f, signaled }"),
    "an unsignaled message": ("recv n", "peer post, nowait { send f }"),
}


@pytest.mark.parametrize("lines", PEER.values(), ids=PEER)
def test_the_peer_is_slow_before_a_claimed_failure(lines: tuple[str, ...]) -> None:
    """A remote access error puts both QPs into the error state: what is under way is not its victim."""
    text = one("memory n[64]", "peer memory f = counter(64)", *lines, BAD, "expect n == f")
    assert told(text, Slow(lambda qp: qp.side == "peer"), deadline=2) == ["pass"]


def test_two_dcis_and_the_receives_of_their_targets() -> None:
    """Messages meet the receives in the order of the case: the second waits for the first."""
    first: list[int] = []

    def late(qp: Qp) -> bool:
        first.append(qp.handle)
        return qp.handle == first[0]

    text = one(
        "memory a = fill(4, 64)", "memory b = fill(5, 64)", "peer memory z[128]", "dct t { key 5 }",
        "qp q { type dci }", "qp r { type dci }", "peer recv z[0 +: 64] on q", "peer recv z[64 +: 64] on q",
        "post on q, nowait { send a, signaled, dct t }", "post on r, nowait { send b, signaled, dct t }", "poll q",
        "poll r", "expect z == a ++ b",
    ).replace("    mkey k\n", "").replace(
        "    configure k { access local_write | remote_read | remote_write; layout list(m) }\n", ""
    )  # fmt: skip
    assert told(text, Slow(late), deadline=2) == ["pass"]
