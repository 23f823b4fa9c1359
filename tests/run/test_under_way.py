"""What a statement meets of a request under way comes to its end first: a device that is slow and right is green."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.model.queue import Done, Notice
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import AsyncEvent, Completion, Configure, Qp, Send
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
    "a transfer, and its DEK": (
        "dek d { key counter(32) }", "dek e { key fill(1, 32) ++ fill(2, 32) }", "mkey j { crypto }",
        "configure j { access local_write; layout list(m); crypto { dek d; data_unit 512 } }",
        "post, nowait { write j[0 +: 64] to w; configure j { crypto { dek e; data_unit 512 } } }", "destroy d",
        "expect w == xts_encrypt(fill(1, 64), counter(32), unit=512)",
    ),
    "a transfer of the peer's, and its DEK": (
        "dek d { key counter(32) }", "dek e { key fill(1, 32) ++ fill(2, 32) }", "mkey j { crypto }",
        "configure j { access remote_read; layout list(m); crypto { dek d; data_unit 512 } }",
        "peer post, nowait { read w from j[0 +: 64] }", "configure j { crypto { dek e; data_unit 512 } }", "destroy d",
        "expect w == xts_encrypt(fill(1, 64), counter(32), unit=512)",
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

    text = (
        one(
            "memory a = fill(4, 64)",
            "memory b = fill(5, 64)",
            "peer memory z[128]",
            "dct t { key 5 }",
            "qp q { type dci }",
            "qp r { type dci }",
            "peer recv z[0 +: 64] on q",
            "peer recv z[64 +: 64] on q",
            "post on q, nowait { send a, signaled, dct t }",
            "post on r, nowait { send b, signaled, dct t }",
            "poll q",
            "poll r",
            "expect z == a ++ b",
        )
        .replace("    mkey k\n", "")
        .replace("    configure k { access local_write | remote_read | remote_write; layout list(m) }\n", "")
    )
    assert told(text, Slow(late), deadline=2) == ["pass"]


class LateNotice(Model):
    """The owner is told of a signature error of the peer's access with the next message of the peer, not before."""

    def poll(self, qp: Qp) -> list[Completion]:
        queue = self._queues[qp.handle]
        entries = list(queue.entries)
        last = max((i for i, one in enumerate(entries) if _is_receive(one)), default=-1)
        held = [one for i, one in enumerate(entries) if isinstance(one, Notice) and i > last and qp.side == "owner"]
        queue.entries.clear()
        queue.entries.extend(one for one in entries if one not in held)
        found = super().poll(qp)
        queue.entries.extend(held)
        return found


def _is_receive(entry: object) -> bool:
    return isinstance(entry, Done) and entry.completion.queue == "recv"


REMOTE = (
    "memory b = flip(framed(counter(512), crc32(ones) every 512), 3)",
    "mkey j { block_signature }",
    "configure j { access remote_read; layout list(b); signature { mem crc32(ones) every 512 } }",
    "transmit j by peer_read",
    "expect wire == flip(counter(512), 3)",
)


def test_a_check_of_a_key_that_the_peer_has_used_waits_for_a_message_of_the_peer() -> None:
    """mlx5dv_mkey_check(3), NOTES: "wait for a received message from a peer (if this was a remote MKEY)"."""
    checked = one(*REMOTE, "check j is bad_guard, block 0")
    assert told(checked) == told(checked, LateNotice(Profile())) == ["pass"]
    for text in (one(*REMOTE), one(*REMOTE, "record a = m")):
        assert told(text, LateNotice(Profile())) == told(text) == ["MKS2202:10"]
    wrong = one(*REMOTE, "check j is ok")
    assert told(wrong, LateNotice(Profile())) == told(wrong) == ["MKS2106:14"]


class Dies(Model):
    """Its QP goes to the error state, silently, when a configuration has completed."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        result = super().post(qp, requests, abort=abort)
        if any(isinstance(one, Configure) for one in requests):
            self._queues[qp.handle].fail()
        return result


@pytest.mark.parametrize(
    "lines",
    [
        (
            "post { write k[0 +: 32] to w[0 +: 32], signaled } completes { rdma_write }",
            "expect w[0 +: 32] == m[0 +: 32]",
        ),
        ("write m to w, but rkey w.rkey ^ 0xff rejected at completion", "expect m == unchanged"),
    ],
)
def test_a_qp_that_failed_before_a_claim_is_told_once_and_where_it_was(lines: tuple[str, ...]) -> None:
    assert told(one(*lines), Dies(Profile())) == ["MKS2204:8"]


FULL = "qp q { max_send_wr 4; max_inline_data 0; max_send_sge 1 }"
WRITES = "; ".join(f"write m[{i} +: 16] to w[{i} +: 16], signaled" for i in (0, 16, 32, 48))
FOUR = f"post on q, nowait {{ {WRITES} }}"


@pytest.mark.parametrize(
    "lines",
    [
        (FOUR, "expect w == m", "poll q"),
        (FOUR, "write m to w on q, but rkey w.rkey ^ 0xff rejected at completion with remote_access", "expect w == m"),
    ],
)
@pytest.mark.parametrize("delay", [0, 0.02])
def test_a_queue_full_of_signaled_requests_is_waited_for(lines: tuple[str, ...], delay: float) -> None:
    """Its room is there once their completions are polled."""
    device = Slow(lambda qp: qp.side == "owner", delay)
    assert told(one(FULL, *lines), device, deadline=2) == ["pass"]


@pytest.mark.parametrize("members", ["", " { sig_pipelining }"])
@pytest.mark.parametrize("poll", ["poll q", "poll q completes { send, id 2 }"])
def test_a_receive_of_what_was_sent_comes_on_a_pipelining_qp_too(members: str, poll: str) -> None:
    text = one(
        f"qp q{members}",
        "peer recv w on q as r",
        "post on q, nowait { send m, signaled, id 2 }",
        poll,
        "expect w == m",
        "expect r.byte_len == 64",
    )
    assert told(text) == ["pass"]


class LateEvent(Model):
    """The responder's event of a failed access is reported some cases later."""

    left: list[Any]

    def __init__(self, after: int) -> None:
        self.after, self.left = after, []
        super().__init__(Profile())

    def poll(self, qp: Qp) -> list[Completion]:
        found = super().poll(qp)
        if any(completion.status == "rem_access_err" for completion in found):
            peer = self._queues[qp.handle].peer
            assert peer is not None
            self.left = [self.after, peer.qp]
        return found

    def release(self, *, healthy: bool) -> None:
        super().release(healthy=healthy)
        if self.left:
            self.left[0] -= 1

    def events(self) -> list[AsyncEvent]:
        found = super().events()
        if self.left and self.left[0] <= 0:
            found, self.left = [*found, AsyncEvent("qp_access_err", self.left[1])], []
        return found


@pytest.mark.parametrize("after", [1, 2, 3])
def test_the_event_of_a_claimed_failure_may_come_cases_later(after: int) -> None:
    fine = one("transmit k by send", "expect wire == m")
    failing = one("configure k { access local_write }", "peer write w to k[0 +: 64] rejected at completion")
    text = failing + "".join(fine.replace("case a\n", f"case {name}\n") for name in ("b", "c", "d", "e"))
    assert told(text, LateEvent(after)) == ["pass"] * 5


class Spurious(Model):
    """Raises no event of a failure, and one of each healthy SEND of 32 bytes."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(one, Send) and sum(sge.length for sge in one.sges) == 32 for one in requests):
            self.execution.events.append(AsyncEvent("qp_fatal", qp))
        return super().post(qp, requests, abort=abort)


def test_events_that_nothing_explains_any_more_are_left_over() -> None:
    failing = one("configure k { access 0 }", "receive counter(4) into k by recv", "    rejected at completion")
    fine = one("transmit k by send", "expect wire == m")
    spurious = one("transmit k[0 +: 32] by send", "expect wire == fill(1, 32)")
    cases = [failing] * 3 + [fine] * 4 + [spurious]
    text = "".join(text.replace("case a\n", f"case {name}\n") for name, text in zip("abcdefgh", cases, strict=True))
    found = [one.split(":")[0] for one in told(text, Spurious(Profile()))]
    assert found == ["pass"] * 7 + ["MKS2203"]


PIPELINING = {
    "a request, and its bytes": ("post on q, nowait { write m to w, signaled }", "expect w == m", "poll q"),
    "one before a signaled one": (
        "peer memory v[64]", "post on q, nowait { write m to w; write m to v, signaled }", "expect w == m", "poll q",
        "expect v == m",
    ),
    "a message": ("peer recv w on q", "post on q { send m }", "expect w == m"),
    "bytes that are read, and the host writes": (
        "post on q, nowait { write m to w, signaled }", "store m = fill(9, 64)", "expect w == fill(1, 64)", "poll q",
    ),
    "a transfer, a check, and the event after it": (
        f"memory b = flip(framed(counter(512), {CRC}), 3)", "peer memory z[512]", "mkey j { block_signature }",
        f"configure j {{ access local_write; layout list(b); signature {{ mem {CRC} }} }}",
        "post on q, nowait { write j[0 +: 512] to z, signaled }", "check j is bad_guard, block 0", "poll q",
        "await sq_drained on q", "expect z == any",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lines", PIPELINING.values(), ids=PIPELINING)
def test_a_queue_that_may_be_drained_is_slow(lines: tuple[str, ...]) -> None:
    """No marker goes there: the completions that are owed tell."""
    text = one("qp q { sig_pipelining }", *lines)
    assert told(text) == told(text, Slow(lambda qp: qp.side == "owner", 0.03), deadline=2) == ["pass"]


@pytest.mark.parametrize(
    "lines",
    [("post as p, nowait { write m to w, signaled }", "expect p.status == success", "poll"),
     ("peer recv w as r", "post, nowait { send m }", "expect r.byte_len == 64"),
     ("post as p, nowait { write m to w, signaled }", "record a = p.status", "expect p.status == success"),
     ("peer recv w as r", "post, nowait { send m }", "expect r.byte_len + 1 == 65"),
     ("peer recv w as r", "post, nowait { send m }", "expect k.max_entries * 0 + 64 == r.byte_len"),
     ("memory n = counter(64)", "peer memory v[64]", "peer recv w as r", "peer recv v as s",
      "post, nowait { send m; send n }", "expect r.byte_len in [s.byte_len]", "expect v == n"),
     ("memory c[4]", "peer recv w as r", "post, nowait { send m }", "store c = be32(r.byte_len)",
      'expect c == hex"00000040"'),
     ("memory o[8]", "peer memory z = fill(0, 8)", "peer recv w as r", "post, nowait { send m }",
      "fetch_add o from z, add r.byte_len", 'expect z == hex"4000000000000000"', "expect o == any"),
     ('memory x = hex"00000040"', "peer memory y[4]", "peer recv w as r", "post, nowait { send m }", "write x to y",
      "expect y == be32(r.byte_len)")],
)  # fmt: skip
def test_a_member_of_what_was_not_waited_for_waits(lines: tuple[str, ...]) -> None:
    text = one(*lines, "expect w == m")
    assert told(text) == told(text, Slow(lambda qp: qp.side == "owner"), deadline=2) == ["pass"]
