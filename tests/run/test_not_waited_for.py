"""What a request writes that nobody has waited for is there once its queue has come to rest, not before."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Memory, Qp
from tests.run.text import one, told


class Slow(Model):
    """What a post writes lands when its queue is next polled for a completion."""

    def _empty(self) -> None:
        self.made: list[Memory] = []
        self.late: list[tuple[int, Memory, bytes]] = []
        super()._empty()

    def memory(self, *args: Any, **options: Any) -> Memory:
        self.made.append(super().memory(*args, **options))
        return self.made[-1]

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        held = [self.read(each, 0, each.length).tobytes() for each in self.made]
        found = super().post(qp, requests, abort=abort)
        for memory, before in zip(self.made, held, strict=True):
            after = self.read(memory, 0, memory.length).tobytes()
            if after != before:
                self.write(memory, 0, before)
                self.late.append((qp.number, memory, after))
        return found

    def poll(self, qp: Qp) -> list[Completion]:
        found = list(super().poll(qp))
        for number, memory, data in [each for each in self.late if found and each[0] == qp.number]:
            self.write(memory, 0, data)
            self.late.remove((number, memory, data))
        return found


CASES = {
    "unsignaled": one("post { write k[0 +: 64] to w }", "expect w == m"),
    "nowait": one("post, nowait { write k[0 +: 64] to w, signaled }", "expect w == m", "poll"),
    "peer": one("peer post { write w to k[0 +: 64] }", "expect m == any", "expect w == unchanged"),
    "let": one("post { write k[0 +: 64] to w }", "let now = w", "write m to w", "expect w == now", "expect w == m"),
    "list": one(
        "post, nowait { write k[0 +: 64] to w, signaled, id 3 }", "expect w == m", "poll completes { rdma_write, id 3 }"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_slow_device_is_waited_for(name: str) -> None:
    assert told(CASES[name]) == ["pass"]
    assert told(CASES[name], Slow(Profile())) == ["pass"]


def test_a_device_that_writes_nothing_is_found() -> None:
    class Still(Slow):
        def poll(self, qp: Qp) -> list[Completion]:
            self.late.clear()
            return list(super().poll(qp))

    for name in ("unsignaled", "nowait", "list"):
        assert told(CASES[name], Still(Profile()))[0].startswith("MKS2102:10"), name
