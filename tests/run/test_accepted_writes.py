"""`in [x, unchanged]` after a transfer that may be refused: where it was accepted, the bytes have moved."""

from __future__ import annotations

from dataclasses import replace
from errno import EINVAL
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Memory, Qp, Write
from tests.run.text import one, told

OPEN = "    accepted or rejected at completion"


class Idle(Model):
    """Reports success, and leaves every buffer as it was."""

    def __init__(self) -> None:
        self.all: list[Memory] = []
        super().__init__(Profile())

    def memory(self, *args: Any, **options: Any) -> Memory:
        found = super().memory(*args, **options)
        self.all.append(found)
        return found

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        before = [(one, bytes(self.read(one, 0, one.length))) for one in self.all]
        try:
            return super().post(qp, requests, abort=abort)
        finally:
            for memory, data in before:
                self.write(memory, 0, data)


TRANSFERS = {
    "write": ("write m to w as s", OPEN, "expect w in [m, unchanged]", "record status = s.status"),
    "section": ("post as s {", "    write m to w, signaled", "}", OPEN, "expect w in [m, unchanged]"),
    "short form": ("transmit k by peer_read as t", OPEN, "expect t.wire in [m, unchanged]"),
    "receive": ("receive counter(64) into k by recv as r", OPEN, "expect m in [counter(64), unchanged]"),
    "unsignaled": ("post { write m to w }", OPEN, "expect w in [m, unchanged]"),
    "unsignaled, not waited for": ("post, nowait { write m to w }", OPEN, "expect w in [m, unchanged]"),
    "lists": (
        "write m to w, id 5",
        "    completes { rdma_write, id 5 } or completes { error, id 5 }",
        "expect w in [m, unchanged]",
    ),
    "a list or a refusal": (
        "transmit k by write, id 5",
        "    completes { rdma_write, id 5 } or rejected at completion",
        "expect wire in [m, unchanged]",
    ),
    "a list of a short form": (
        "receive counter(64) into k by peer_write",
        "    completes { rdma_write } or rejected at completion",
        "expect m in [counter(64), unchanged]",
    ),
    "poll": (
        "post, nowait { write m to w, signaled, id 5 }",
        "poll completes { rdma_write, id 5 } or completes { error, id 5 }",
        "expect w in [m, unchanged]",
    ),
}

BUTS = {
    "where": (
        "receive counter(32) into k[0 +: 32] by peer_write, but addr 32",
        OPEN,
        "expect m[0 +: 32] in [counter(32), unchanged]",
        "expect m[32 +: 32] in [counter(32), unchanged]",
    ),
    "how much": (
        "transmit k by send, but length 16",
        OPEN,
        "expect wire[0 +: 16] in [m[0 +: 16], unchanged]",
        "expect wire[16 +: 48] in [m[16 +: 48], unchanged]",
    ),
    "how much, in a section": (
        "write m to w, but length 16",
        OPEN,
        "expect w[0 +: 16] in [m[0 +: 16], unchanged]",
        "expect w[16 +: 48] in [m[16 +: 48], unchanged]",
    ),
}


@pytest.mark.parametrize("what", BUTS)
def test_what_is_changed_of_a_request_moves_something_else(what: str) -> None:
    """Where it is accepted, some bytes are as they were."""
    assert told(one(*BUTS[what])) == ["pass"]


@pytest.mark.parametrize("what", TRANSFERS)
def test_accepted_and_moved(what: str) -> None:
    assert told(one(*TRANSFERS[what])) == ["pass"]


@pytest.mark.parametrize("what", TRANSFERS)
def test_accepted_and_not_moved(what: str) -> None:
    [found] = told(one(*TRANSFERS[what]), Idle())
    assert found.split(":")[0] in ("MKS2101", "MKS2102")


def test_refused_and_not_moved() -> None:
    text = one(
        "mkey bare",
        "configure bare { layout list(m) }",
        "receive fill(0xee, 64) into bare by recv",
        "    accepted or rejected at completion with local_protection",
        "expect m in [fill(0xee, 64), unchanged]",
    )
    assert told(text) == ["pass"], "the model refuses: a layout alone gives no right to write"


class Afterwards(Model):
    """Refuses a SEND or WRITE of 64 bytes at its post, and carries it out with the next request."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        super().__init__(Profile())

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if self.kept:
            kept, self.kept = self.kept, []
            return super().post(qp, [*kept, *requests], abort=abort)
        if any(isinstance(each, Write) and sum(sge.length for sge in each.sges) == 64 for each in requests):
            self.kept = [replace(each, flags=0) for each in requests]
            return EINVAL
        return super().post(qp, requests, abort=abort)


NOT_POSTED = {
    "write": ("write m to w as s", "expect w in [m, unchanged]"),
    "short form": ("transmit k by write as t", "expect t.wire in [m, unchanged]"),
}


@pytest.mark.parametrize("what", NOT_POSTED)
def test_what_was_refused_at_complete_never_moves(what: str) -> None:
    post, expect = NOT_POSTED[what]
    lines = (
        "peer memory z[8]",
        post,
        "    accepted or rejected at complete",
        "write m[0 +: 8] to z",
        "expect z == any",
    )
    assert told(one(*lines, expect)) == ["pass"]
    assert [one.split(":")[0] for one in told(one(*lines, expect), Afterwards())][:1] != ["pass"]
