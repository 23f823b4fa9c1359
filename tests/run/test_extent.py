"""What was refused, as the case admits, or departed: the bytes beside it are judged as always."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Memory, Qp, Write
from mkeyspec.run.buffer import GUARD
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo
from tests.run.text import compiled, told

HEAD = """\
case a
    verifies ACC-01
    memory m[128]
    memory n[64]
    mkey j
    mkey k
    configure j { access local_write; layout list(m[0 +: 64]) }
    configure k { access local_write | remote_write; layout list(%s) }
"""
REFUSED = """\
    receive fill(1, 64) into j by peer_write
        accepted or rejected at completion with remote_access
"""
MOVED = "    receive counter(64) into k by peer_write\n"
BESIDE = HEAD % "m[64 +: 64]"
ELSEWHERE = HEAD % "n"
UPPER, LOWER = "    expect m[64 +: 64] == counter(64)\n", "    expect m[0 +: 64] in [fill(1, 64), unchanged]\n"
CASES = {
    "after": BESIDE + REFUSED + MOVED + LOWER + UPPER,
    "before": BESIDE + MOVED + REFUSED + UPPER + LOWER,
    "at once": BESIDE + REFUSED + MOVED + "    expect m == any(64) ++ counter(64)\n",
    "one of": BESIDE + MOVED + REFUSED + "    expect m in [any(64) ++ fill(2, 64), any(64) ++ counter(64)]\n",
    "two buffers": ELSEWHERE
    + REFUSED
    + MOVED
    + """\
    mkey both
    configure both { access local_write; layout list(m[0 +: 64], n) }
    expect both == any(64) ++ counter(64)
""",
    "over it, after": HEAD % "m[0 +: 64]" + REFUSED + MOVED + "    expect m[0 +: 64] == counter(64)\n",
}


class Known(Model):
    """It knows its memories in the order in which they were made."""

    def _empty(self) -> None:
        self.made: list[Memory] = []
        super()._empty()

    def memory(self, *args: Any, **options: Any) -> Memory:
        self.made.append(super().memory(*args, **options))
        return self.made[-1]

    def writes(self, qp: Qp, requests: Any) -> bool:
        return qp.side == "peer" and any(isinstance(one, Write) and one.sges and one.wr_id > 2 for one in requests)


class Still(Known):
    """An RDMA write completes, and moves nothing."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        held = [self.read(one, 0, one.length).copy() for one in self.made]
        found = super().post(qp, requests, abort=abort)
        if self.writes(qp, requests):
            for memory, data in zip(self.made, held, strict=True):
                self.write(memory, 0, data)
        return found


class Beside(Known):
    """`refuses`: an RDMA write is refused. Either way a byte of the first memory changes with it."""

    def __init__(self, offset: int, *, refuses: bool) -> None:
        super().__init__(Profile())
        self.offset, self.refuses = offset, refuses

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if not self.writes(qp, requests):
            return super().post(qp, requests, abort=abort)
        if self.refuses:
            requests = [replace(one, rkey=one.rkey ^ 0x5500) for one in requests]
        found = super().post(qp, requests, abort=abort)
        self.write(self.made[0], GUARD + self.offset, b"\xee")
        return found


@pytest.mark.parametrize("name", CASES)
def test_what_was_not_refused_is_compared(name: str) -> None:
    assert told(CASES[name]) == ["pass"], "the model refuses the first, for want of remote_write"
    [found] = told(CASES[name], Still(Profile()))
    assert found.startswith("MKS2102:")
    granted = CASES[name].replace("{ access local_write; layout list(m[0", "{ access remote_write; layout list(m[0")
    assert told(granted) == ["pass"], "and it accepts it"


def test_what_was_refused_and_is_there_in_part_is_compared() -> None:
    [found] = told(CASES["after"], Beside(5, refuses=False))
    assert found.startswith("MKS2102:")


DEPARTS = """\
case a
    verifies ACC-01
    memory m[128]
    mkey k
    configure k { access local_write | remote_write; layout list(m[0 +: 64]) }
    receive counter(64) into k by peer_write
        known X-DIFF-08 rejected at completion with remote_access
    expect m[0 +: 64] == counter(64)
"""


def departed(offset: int) -> str:
    """The verdict where a byte of the buffer was changed by a statement that departed."""
    [case] = compiled(DEPARTS)
    listed = Expectations({"X-DIFF-08": ("exp.toml", "refuses")})
    rig = Rig(Beside(offset, refuses=True), Profile(), listed, deadline=0.05)
    rig.begin(CaseInfo("a", "a.mks"))
    try:
        for step in case.rows[0].steps:
            rig.step(step)
        return rig.finish().status
    except CaseFailed as failed:
        return failed.failures[0].code


@pytest.mark.parametrize(("offset", "verdict"), [(3, "known"), (63, "known"), (64, "MKS2103"), (100, "MKS2103")])
def test_a_departure_excuses_what_its_statement_may_write_alone(offset: int, verdict: str) -> None:
    assert departed(offset) == verdict
