"""Which message takes which receive, where a message before it never comes: it was cancelled, or its request failed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp, Send
from tests.run.slow import Slow
from tests.run.text import told

HEAD = """\
case a
    verifies WRP-33
"""
STOPPED = """\
    let d = crc32(ones) every 512
    memory src = flip(framed(counter(512), d), field_at(d, 0))
    memory a = counter(16)
    memory b = random(8, seed=1)
    memory e = random(12, seed=2)
    peer memory w[512]
    peer memory n1[16]
    peer memory n2[16]
    peer memory n3[16]
    qp q { sig_pipelining }
    mkey k { block_signature }
    configure k on q { layout list(src); signature { mem d } }
    peer recv n1 on q as r1
    peer recv n2 on q as r2
    peer recv n3 on q as r3
    post on q, nowait {
        REQUESTS
    }
    await sq_drained on q
    check k is bad_guard, block 0
"""
"""A queue that a signature error stops. What is fenced waits."""

BAD = "write k[0 +: 512] to w, signaled, id 1"
ALL_SEEN = "expect w == counter(512)"
CANCELS = {
    "the first of two": (
        (BAD, "send a, fence, signaled, id 2", "send b, signaled, id 3"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; send, id 2; send, id 3 }"),
        ("expect n1[0..8] == b", "expect r1.byte_len == 8", "expect n2 == unchanged"),
    ),
    "the middle one of three": (
        (BAD, "send b, fence, signaled, id 3", "send a, signaled, id 2", "send e, signaled, id 4"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; send, id 3; send, id 2; send, id 4 }"),
        ("expect n1[0..8] == b", "expect n2[0..12] == e", "expect r1.byte_len == 8", "expect r2.byte_len == 12"),
    ),
    "two of three": (
        (BAD, "send b, fence, signaled, id 2", "send e, signaled, id 3", "send a, signaled, id 2"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; send, id 2; send, id 3; send, id 2 }"),
        ("expect n1[0..12] == e", "expect r1.byte_len == 12", "expect n2 == unchanged", "expect n3 == unchanged"),
    ),
    "all, and messages after them": (
        (BAD, "send b, fence, signaled, id 2", "send e, signaled, id 2"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; send, id 2; send, id 2 }", "send a on q"),
        ("expect n1 == a", "expect r1.byte_len == 16", "expect n2 == unchanged"),
    ),
    "two numbers, one after the other": (
        (BAD, "send a, fence, signaled, id 2", "send b, signaled, id 3", "send e, signaled, id 4"),
        (
            "cancel 3 on q",
            "cancel 2 on q",
            "resume q",
            "poll q completes { rdma_write, id 1; send, id 2; send, id 3; send, id 4 }",
        ),
        ("expect n1[0..12] == e", "expect r1.byte_len == 12", "expect n2 == unchanged"),
    ),
    "unsignaled ones": (
        (BAD, "send a, fence, id 2", "send b, signaled, id 3"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; send, id 3 }"),
        ("expect n1[0..8] == b", "expect r1.byte_len == 8", "expect n2 == unchanged"),
    ),
    "one of that number was carried out": (
        ("send a, signaled, id 2", BAD, "send b, fence, signaled, id 2", "send e, signaled, id 3"),
        (
            "cancel 2 on q as c",
            "expect c.count == 1",
            "resume q",
            "poll q completes { send, id 2; rdma_write, id 1; send, id 2; send, id 3 }",
        ),
        ("expect n1 == a", "expect n2[0..12] == e", "expect r2.byte_len == 12", "expect n3 == unchanged"),
    ),
    "one of that number was carried out, unsignaled": (
        ("send a, id 2", BAD, "send b, fence, signaled, id 2", "send e, signaled, id 3"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; send, id 2; send, id 3 }"),
        ("expect n1 == a", "expect n2[0..12] == e", "expect r2.byte_len == 12", "expect n3 == unchanged"),
    ),
    "a WRITE with immediate moves up": (
        (BAD, "send a, fence, signaled, id 2", "write b to w[0 +: 8], imm 5, signaled, id 3", "send e, signaled, id 4"),
        (
            "cancel 2 on q",
            "resume q",
            "poll q completes { rdma_write, id 1; send, id 2; rdma_write, id 3; send, id 4 }",
            "peer poll q completes { recv_rdma_with_imm, imm 5, byte_len 8; recv, byte_len 12 }",
        ),
        (
            "expect n1 == unchanged",
            "expect n2[0..12] == e",
            "expect r2.byte_len == 12",
            "expect w[0 +: 8] == b",
            "expect w[8..] == counter(512)[8..]",
        ),
    ),
    "a WRITE with immediate is cancelled": (
        (BAD, "write b to w[0 +: 8], imm 5, fence, signaled, id 2", "send e, signaled, id 4"),
        ("cancel 2 on q", "resume q", "poll q completes { rdma_write, id 1; rdma_write, id 2; send, id 4 }"),
        ("expect n1[0..12] == e", "expect r1.byte_len == 12", "expect n2 == unchanged"),
    ),
}


def stopped(requests: tuple[str, ...], steps: tuple[str, ...], looks: tuple[str, ...]) -> str:
    seen = () if any("expect w[" in look for look in looks) else (ALL_SEEN,)
    body = STOPPED.replace("REQUESTS", "\n        ".join(requests))
    return HEAD + body + "".join(f"    {line}\n" for line in (*steps, *seen, *looks))


DC = """\
    dct t { key 1 }
    qp a { type dci }
    qp b { type dci }
    qp s { type dci; streams 2 }
    memory m = counter(64)
    memory y = random(64, seed=1)
    memory big = counter(96)
    memory small = counter(8)
    mkey k
    mkey l
    peer memory w1[128]
    peer memory w2[128]
    peer memory v[128]
    configure k { access local_write; layout list(m) }
    configure l { access local_write; layout list(y) }
"""
NEXT = {
    "transmit": ("transmit l by send on a, dct t", "expect wire == y"),
    "transmit on another DCI": ("transmit l by send on b, dct t", "expect wire == y"),
    "transmit with immediate": ("transmit l by write_imm on a, dct t", "expect wire == y"),
    "a receive of the case": (
        "peer recv w2[0 +: 64] on a as r",
        "send y on a, dct t",
        "expect w2[0 +: 64] == y",
        "expect r.byte_len == 64",
        "expect w2[64 ..] == unchanged",
    ),
    "a receive of the case, on another DCI": (
        "peer recv w2[0 +: 64] on b as r",
        "send y on b, dct t",
        "expect w2[0 +: 64] == y",
        "expect r.byte_len == 64",
    ),
    "nothing": (),
}
FAILS = {
    "transmit": ("transmit k[0 +: 65] by send on a, dct t", "    rejected at completion", "expect wire == any"),
    "transmit that may fail": (
        "transmit k[0 +: 65] by send on a, dct t",
        "    accepted or rejected at completion",
        "expect wire == any",
    ),
    "transmit with immediate": (
        "transmit k[0 +: 65] by write_imm on a, dct t",
        "    rejected at completion",
        "expect wire == any",
    ),
    "transmit, twice": (
        "transmit k[0 +: 65] by send on a, dct t",
        "    rejected at completion",
        "expect wire == any",
        "transmit k[0 +: 65] by write_imm on b, dct t",
        "    rejected at completion",
        "expect wire == any",
    ),
    "send that may fail": (
        "peer recv w1 on a",
        "send k[0 +: 65] on a, dct t",
        "    accepted or rejected at completion",
        "expect w1 == any",
    ),
    "two sends that may fail": (
        "peer recv w1 on a",
        "peer recv v on a",
        "post on a {",
        "    send k[0 +: 65], dct t, signaled",
        "    send y, dct t, signaled",
        "}",
        "    accepted or rejected at completion",
        "expect w1 == any",
        "expect v == any",
    ),
    "send that may be refused": (
        "peer recv w1[0 +: 96] on a",
        "send big on a, dct t",
        "    accepted or rejected at complete",
        "expect w1[0 +: 96] in [big, unchanged]",
    ),
    "transmit that may be refused": (
        "mkey j",
        "configure j { access local_write; layout list(big) }",
        "transmit j by send on a, dct t",
        "    accepted or rejected at complete",
        "expect wire in [big, unchanged]",
    ),
}
STREAMS = {
    "the first of two fails": (
        "peer recv w1 on s as r1",
        "peer recv w2 on s as r2",
        "post on s {",
        "    send k[0 +: 65], dct t, stream 0, signaled, id 1",
        "    send small, dct t, stream 1, signaled, id 2",
        "}",
        "    rejected at completion with local_protection",
        "expect w1[0 +: 8] == small",
        "expect r1.byte_len == 8",
        "expect w1[8 ..] == unchanged",
        "send y on s, dct t, stream 1",
        "expect w2[0 +: 64] == y",
        "expect r2.byte_len == 64",
    ),
    "the second of two fails": (
        "peer recv w1 on s as r1",
        "peer recv w2 on s as r2",
        "post on s {",
        "    send small, dct t, stream 1, signaled, id 2",
        "    send k[0 +: 65], dct t, stream 0, signaled, id 1",
        "}",
        "    rejected at completion with local_protection",
        "expect w1[0 +: 8] == small",
        "expect r1.byte_len == 8",
        "send y on s, dct t, stream 1",
        "expect w2[0 +: 64] == y",
        "expect r2.byte_len == 64",
    ),
    "the first of three fails, and one is flushed": (
        "peer recv w1 on s as r1",
        "peer recv w2 on s as r2",
        "peer recv v on s",
        "post on s {",
        "    send k[0 +: 65], dct t, stream 0, signaled, id 1",
        "    send m, dct t, stream 0, signaled, id 3",
        "    send small, dct t, stream 1, signaled, id 2",
        "}",
        "    rejected at completion with local_protection",
        "expect w1[0 +: 8] == small",
        "expect r1.byte_len == 8",
        "send y on s, dct t, stream 1",
        "expect w2[0 +: 64] == y",
        "expect r2.byte_len == 64",
        "expect v == unchanged",
    ),
    "a WRITE with immediate fails": (
        "peer recv w1 on s as r1",
        "peer recv w2 on s as r2",
        "post on s {",
        "    write k[0 +: 65] to v[0 +: 65], imm 7, dct t, stream 0, signaled, id 1",
        "    send small, dct t, stream 1, signaled, id 2",
        "}",
        "    rejected at completion with local_protection",
        "expect w1[0 +: 8] == small",
        "expect r1.byte_len == 8",
        "expect v == any",
        "send y on s, dct t, stream 1",
        "expect w2[0 +: 64] == y",
        "expect r2.byte_len == 64",
    ),
}


def dc(*lines: str) -> str:
    return HEAD + DC + "".join(f"    {line}\n" for line in lines)


TEXTS = {
    **{f"cancel: {name}": stopped(*parts) for name, parts in CANCELS.items()},
    **{f"streams: {name}": dc(*lines) for name, lines in STREAMS.items()},
    **{f"DC: {failed}, {after}": dc(*FAILS[failed], *NEXT[after]) for failed in FAILS for after in NEXT},
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_next_message_takes_the_next_receive(name: str) -> None:
    assert told(TEXTS[name], deadline=1) == ["pass"]
    assert told(TEXTS[name], Slow(lambda qp: qp.side == "owner", 0.005), deadline=2) == ["pass"]


@pytest.mark.parametrize("name", TEXTS)
def test_no_warning_takes_another_message_for_the_one_that_comes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mks"
    path.write_text(f'mks 1\nsuite "a"\n{TEXTS[name]}', encoding="utf-8")
    # MKS0602: some of them only claim that a section may fail.
    assert {one.code for one in compile_file(path).diagnostics} <= {"MKS0602", "MKS0619"}


# Devices that are wrong -------------------------------------------------------------------------


class Ignores(Model):
    """Counts what it should cancel, and carries it out."""

    def cancel(self, qp: Qp, wr_id: int) -> int:
        count = super().cancel(qp, wr_id)
        for queue in self._queues.values():
            for pending in queue.pending:
                pending.cancelled = False
        return count


class Twice(Model):
    """Tells of one received message twice: the second time as one in the next receive."""

    def poll(self, qp: Qp) -> Any:
        found = list(super().poll(qp))
        queue = self._queues.get(qp.handle)
        if found and qp.side == "peer" and queue is not None and found[-1].queue == "recv":
            waiting = self._responder.receives if self._responder is not None else queue.receives
            if waiting:
                found.append(replace(found[-1], wr_id=waiting.popleft().wr_id))
        return found


class Loses(Model):
    """A message that fails at its sender takes a receive with it, of which nobody is told."""

    def poll(self, qp: Qp) -> Any:
        found = super().poll(qp)
        failed = any(one.status not in ("success", "wr_flush_err") for one in found if one.queue == "send")
        if failed and self._responder is not None and self._responder.receives:
            self._responder.receives.popleft()
        return found


CANCELLED = [name for name in TEXTS if name.startswith("cancel")]
OF_STREAMS = [name for name in TEXTS if name.startswith("streams")]
SENT = [name for name in TEXTS if name.startswith("DC: transmit") and "refused" not in name]


@pytest.mark.parametrize(
    ("device", "name"),
    [
        *((Ignores, name) for name in CANCELLED),
        *((Twice, name) for name in (*CANCELLED, *OF_STREAMS)),
        *((Loses, name) for name in SENT),
    ],
)
def test_a_device_that_is_wrong(device: type[Model], name: str) -> None:
    assert told(TEXTS[name], device(Profile()), deadline=0.1) != ["pass"]


class Refuses(Model):
    """Refuses a SEND of 96 bytes."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(one, Send) and sum(part.length for part in one.sges) == 96 for one in requests):
            return 22
        return super().post(qp, requests, abort=abort)


@pytest.mark.parametrize("name", [name for name in TEXTS if "refused" in name])
def test_the_receive_of_a_refused_message_is_taken_by_nothing_of_the_case(name: str) -> None:
    assert told(TEXTS[name], Refuses(Profile()), deadline=1) == ["pass"]
