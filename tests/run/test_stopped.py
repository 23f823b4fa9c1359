"""A queue that signature pipelining has stopped: what waits in it is due, and comes after a resume or never."""

from __future__ import annotations

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Qp
from mkeyspec.run.verdict import Verdict
from tests.run.text import told, verdicts

HEAD = """\
case a
    verifies XCAN-01
    let d = crc32(ones) every 512
    memory src = flip(framed(counter(512), d), field_at(d, 0))
    memory done = counter(16)
    memory old[16]
    peer memory w[512]
    peer memory note[64]
    peer memory count = le64(7)
    qp q { sig_pipelining }
    mkey k { block_signature }
    configure k on q { layout list(src); signature { mem d } }
    post on q, nowait {
        write k[0 +: 512] to w, signaled, id 1
        WAITS, fence, signaled, id 2
        write done to note[16 +: 16], signaled, id 3
    }
    await sq_drained on q
"""
TAIL = """\
    check k is bad_guard, block 0
    expect w == counter(512)
"""


def case(*lines: str, waits: str = "write done to note[0 +: 16]") -> str:
    """The lines are 21 and on."""
    return HEAD.replace("WAITS", waits) + "".join(f"    {line}\n" for line in lines) + TAIL


FIRST = "poll q completes { rdma_write, id 1 }"
REST = "poll q completes { rdma_write, id 2; rdma_write, id 3 }"
NOTE = "expect note[0 +: 32] == done * 2"


class Loses(Model):
    """The completions of id 2 never come."""

    def poll(self, qp: Qp) -> list[Completion]:
        return [one for one in super().poll(qp) if one.wr_id != 2]


@pytest.mark.parametrize(
    "lines",
    [
        (FIRST, "cancel 2 on q as x", "expect x.count == 1", "resume q", REST, "expect note[16 +: 16] == done"),
        (FIRST, "resume q", REST, NOTE),
        (FIRST, "resume q", NOTE),
        (FIRST, "resume q", "poll q", NOTE),
    ],
)
def test_a_list_before_the_resume(lines: tuple[str, ...]) -> None:
    assert told(case(*lines)) == ["pass"]
    assert "MKS2" in told(case(*lines), Loses(Profile()))[0]


def test_a_list_at_last() -> None:
    """The case says what has come; what waits stays in the queue."""
    assert told(case(FIRST)) == ["pass"]
    assert told(case("peer recv note[32 +: 16] on q", FIRST)) == ["pass"]


def test_a_queue_that_the_case_leaves_stopped() -> None:
    [failures] = verdicts(case("expect note[0 +: 32] == unchanged"))
    assert not isinstance(failures, Verdict)
    assert [one.code for one in failures] == ["MKS2004", "MKS2004"]
    assert all(one.details[-1] == ("fix", "resume q") for one in failures)


FETCHES = {
    "fetch_add": "fetch_add old[0 +: 8] from count, add 1",
    "comp_swap": "compare_swap old[0 +: 8] from count, compare 7, swap 1",
    "rdma_read": "read old from note[0 +: 16]",
}


@pytest.mark.parametrize("opcode", FETCHES)
@pytest.mark.parametrize("listed", [False, True])
def test_what_fetches_nothing_has_no_byte_len(opcode: str, listed: bool) -> None:
    """XCAN-04: a cancelled request is carried out as a NOP. The page says nothing of its byte_len."""
    poll = f"poll q completes {{ rdma_write, id 1; {opcode}, id 2; rdma_write, id 3 }}" if listed else "poll q"
    lines = ("cancel 2 on q", "resume q", poll, "expect note[16 +: 16] == done")
    assert told(case(*lines, waits=FETCHES[opcode])) == ["pass"]
