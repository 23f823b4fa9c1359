"""What mlx5dv_qp_cancel_posted_send_wrs(3) returns: how many requests were cancelled (XCAN-05)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp
from mkeyspec.run.departures import Expectations
from mkeyspec.run.verdict import Verdict
from tests.run.text import told, verdicts

HEAD = """\
case a
    verifies XCAN-05
    let d = crc32(ones) every 512
    memory src = flip(framed(counter(512), d), field_at(d, 0))
    memory done = counter(16)
    peer memory w[512]
    peer memory note[32]
    qp q { sig_pipelining }
    mkey k { block_signature }
    configure k on q { layout list(src); signature { mem d } }
    post on q, nowait {
        write k[0 +: 512] to w, signaled, id 1
        write done to note[0 +: 16], fence, signaled, id 2
        write done to note[16 +: 16], OPTIONS
    }
    await sq_drained on q
    check k is bad_guard, block 0
"""
TAIL = """\
    resume q
    poll q completes { rdma_write, id 1; rdma_write, id 2LIST }
    expect w == counter(512)
    expect note == unchanged
"""


def case(*cancels: str, options: str = "signaled, id 2", listed: str = "; rdma_write, id 2") -> str:
    """Two fenced writes after the bad one; the cancels are line 20 and on."""
    text = HEAD.replace("OPTIONS", options) + "".join(f"    {line}\n" for line in cancels)
    return text + TAIL.replace("LIST", listed)


class Counts(Model):
    """Cancels as it should, and returns something else."""

    def __init__(self, change: Callable[[int], int]) -> None:
        super().__init__(Profile())
        self.change = change

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return self.change(super().cancel(qp, wr_id))


@pytest.mark.parametrize("count", [0, 1, 3, 5, 2**31 - 1])
@pytest.mark.parametrize("as_", ["", " as c"])
def test_the_count_is_judged_where_nobody_looks_at_it(count: int, as_: str) -> None:
    text = case(f"cancel 2 on q{as_}")
    assert told(text) == ["pass"]
    assert told(text, Counts(lambda right: count)) == ["MKS2110:20"]
    [failures] = verdicts(text, Counts(lambda right: count))
    assert not isinstance(failures, Verdict)
    assert failures[0].code == "MKS2110"
    assert failures[0].details == (("expected", "2"), ("got", str(count)))


def test_an_expectation_that_fails_is_judged_instead() -> None:
    text = case("cancel 2 on q as c", "expect c.count == 2")
    assert told(text) == ["pass"]
    assert told(text, Counts(lambda right: 3)) == ["MKS2105:21"]
    for weak in ("in [2, 3]", ">= 0", "!= 7"):
        assert told(text.replace("== 2", weak), Counts(lambda right: 3)) == ["MKS2110:20"]
    assert told(text.replace("expect c.count == 2", "record n = c.count"), Counts(lambda right: 3)) == ["MKS2110:20"]


def test_what_was_cancelled_is_pending_no_more() -> None:
    text = case("cancel 2 on q", "cancel 2 on q")
    assert told(text) == ["pass"]
    assert told(text, Counts(lambda right: 2)) == ["MKS2110:21"]


def test_nothing_of_that_number() -> None:
    text = case("cancel 7 on q", "cancel 2 on q")
    assert told(text) == ["pass"]
    assert told(text, Counts(lambda right: right or 1)) == ["MKS2110:20"]
    assert told(case("cancel 1 on q", "cancel 2 on q"), Counts(lambda right: right or 1)) == ["MKS2110:20"]


def test_one_that_asked_for_no_completion_is_pending_after_one_that_did() -> None:
    text = case("cancel 2 on q", options="id 2", listed="")
    assert told(text) == ["pass"]
    assert told(text, Counts(lambda right: 1)) == ["MKS2110:20"]


def test_one_that_may_be_over_may_be_counted_or_not() -> None:
    """Unsignaled, and nothing after it has completed: the driver counts what it has not retired."""
    text = case("cancel 1 on q", "cancel 2 on q").replace("w, signaled, id 1", "w, id 1")
    text = text.replace("{ rdma_write, id 1; ", "{ ")
    for count in (0, 1):
        assert told(text, Counts(lambda right, count=count: right or count)) == ["pass"]  # type: ignore[misc]
    assert told(text, Counts(lambda right: right or 2)) == ["MKS2110:20"]


LISTED = Expectations({"X-DIFF-30": ("a.toml", "counts otherwise, or refuses")})


def test_a_refusal_that_is_known_leaves_the_queue_stopped() -> None:
    """What waits in it never completes, and nobody looks at what was written before: neither is a failure."""
    text = case(
        "cancel 2 on q as c",
        "    known X-DIFF-30 rejected at cancel with EINVAL",
        "expect c.count == 2",
        "    known X-DIFF-30 [2, 3]",
    )
    assert told(text, expectations=LISTED) == ["pass"]
    assert told(text, Counts(lambda right: 3), expectations=LISTED) == ["known"]
    for stopped in (Counts(lambda right: -22), Refuses()):
        [verdict] = verdicts(text, stopped, expectations=LISTED)
        assert isinstance(verdict, Verdict)
        assert (verdict.status, verdict.known) == ("known", ["X-DIFF-30"])
    assert told(text, Refuses()) == ["MKS2001:20"]


class Refuses(Model):
    """Cancels nothing."""

    def __init__(self) -> None:
        super().__init__(Profile())

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return -22


LAYOUT = """\
case a
    verifies XCAN-04
    let d = crc32(ones) every 512
    memory src = flip(framed(counter(512), d), field_at(d, 0))
    memory m = random(64, seed=1)
    memory n = random(64, seed=2)
    peer memory w[512]
    peer memory there = random(64, seed=3)
    qp q { sig_pipelining }
    mkey k { block_signature }
    mkey l
    configure k on q { layout list(src); signature { mem d } }
    configure l { access local_write; layout list(m) }
    post on q, nowait {
        write k[0 +: 512] to w, signaled, id 1
        mr_list l from [n], access local_write, fence, id 2
        read m from there, id 2
    }
    await sq_drained on q
    check k is bad_guard, block 0
    cancel 2 on q
    resume q
    poll q
    receive random(64, seed=4) into l by recv
    expect m == random(64, seed=4)
    expect w == any
"""


class CarriesOut(Model):
    """Counts the requests that it should cancel, and forgets about some of them."""

    def cancel(self, qp: Qp, wr_id: int) -> int:
        queue = self._queues[qp.handle]
        found = queue.cancel(wr_id)
        list(queue.pending)[-1].cancelled = False
        return found


def test_a_cancelled_layout_is_not_what_a_later_request_writes_to() -> None:
    """The READ wrote to the bytes that the key still has, which a RECV through the key overwrites then."""
    assert told(LAYOUT) == ["pass"]
    assert told(LAYOUT, CarriesOut()) == ["MKS2103:19"]
