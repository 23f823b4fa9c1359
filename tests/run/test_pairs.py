"""Several QP pairs in a case."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp, QpAttributes, QpPair, Sge
from tests.run.text import one, told

PENDING = one(
    "peer memory v[64]",
    "qp a",
    "qp b",
    "post on a, nowait { write m to w, signaled, id 1 }",
    "post on b, nowait { write m to v, signaled, id 2 }",
    "poll b completes { rdma_write, id 2 }",
    "poll a completes { rdma_write, id 1 }",
    "expect w == m",
    "expect v == m",
)
NUMBERS = one("qp a", "qp b", "expect a.qpn != b.qpn")
RECEIVES = one(
    "memory n = fill(9, 64)",
    "peer memory v[64]",
    "qp a",
    "peer recv w on a",
    "peer recv v",
    "send n",
    "send m on a",
    "expect w == m",
    "expect v == n",
)
FAILURE = one(
    "memory n = fill(9, 64)",
    "qp a",
    "qp b",
    "peer recv w on b",
    "receive counter(64) into k by recv on a, but lkey 9",
    "    rejected at completion with local_protection",
    "send n on b",
    "expect w == n",
)


@pytest.mark.parametrize("text", [PENDING, NUMBERS, RECEIVES, FAILURE])
def test_each_pair_has_queues_of_its_own(text: str) -> None:
    assert told(text) == ["pass"]


class Twins(Model):
    """Each pair with these attributes is the same one."""

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        self._is_lent = False
        return super().qp_pair(attributes)


def test_one_qp_under_two_names() -> None:
    assert told(NUMBERS, Twins(Profile())) == ["MKS2109:9"], "the configuration has the default pair"
    assert told(RECEIVES, Twins(Profile())) == ["MKS2109:11"]


# DC: the targets of a case have one shared receive queue ----------------------------------------

SHARED = """\
case two_dci
    verifies WRP-33
    memory m = counter(64)
    memory n = fill(7, 64)
    peer memory w[64]
    peer memory v[64]
    dct t { key 0x1122334455667788 }
    qp a { type dci }
    qp b { type dci }
    peer recv w on a, id 1
    peer recv v on b, id 2
    send m on a, dct t
    send n on b, dct t
    expect w == m
    expect v == n
case two_dci_b
    verifies WRP-33
    memory m = counter(64)
    memory n = fill(7, 64)
    peer memory w[64]
    peer memory v[64]
    dct t { key 0x1122334455667788 }
    qp a { type dci }
    qp b { type dci }
    peer recv w on a, id 1
    peer recv v on b, id 2
    send m on b, dct t
    send n on a, dct t
    expect w == m
    expect v == n
case one_recv_on_a
    verifies WRP-33
    memory n = fill(7, 64)
    peer memory v[64]
    dct t { key 0x1122334455667788 }
    qp a { type dci }
    qp b { type dci }
    peer recv v on a, id 2
    send n on b, dct t
    expect v == n
case two_dci_fail
    verifies WRP-33
    memory n = fill(7, 64)
    peer memory v[64]
    peer memory u[64]
    dct t { key 0x1122334455667788 }
    qp a { type dci }
    qp b { type dci }
    peer recv v on a, id 2
    write n to u on b, dct t, but rkey u.rkey ^ 0xff
        rejected at completion with remote_access
    send n on a, dct t
    expect v == n
case fail_receive
    verifies WRP-33
    memory n = fill(7, 64)
    memory m = fill(8, 64)
    peer memory v[64]
    peer memory u[64]
    dct t { key 0x1122334455667788 }
    qp a { type dci }
    qp b { type dci }
    peer recv v but lkey 5 on a, id 2
    peer recv u on b, id 3
    send n on b, dct t
        rejected at completion with rem_op_err
    send m on a, dct t
    expect u == m
case pending
    verifies WRP-33
    memory n = fill(7, 64)
    memory m = fill(8, 64)
    peer memory v[64]
    peer memory u[64]
    dct t { key 0x1122334455667788 }
    qp a { type dci }
    qp b { type dci }
    peer recv v on a, id 2
    peer recv u on a, id 3
    post on a, nowait { send n, dct t, signaled, id 7 }
    send m on b, dct t, but lkey 5
        rejected at completion with local_protection
    poll a completes { send, id 7 }
    peer poll a completes { recv, id 2 }
    send m on b, dct t
    expect v == n
    expect u == m
"""


def test_the_receives_of_several_dcis_are_one_line() -> None:
    """ibv_create_srq(3): a receive is whoever's message comes next."""
    assert told(SHARED, deadline=0.2) == ["pass"] * 6


def test_a_receive_of_the_line_that_is_passed_by() -> None:
    class Last(Model):
        """The receive that was posted last is taken first."""

        def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
            found = super().post_recv(qp, wr_id, sges)
            if self._responder is not None and qp == self._responder.qp:
                self._responder.receives.rotate(1)
            return found

    verdicts = told(SHARED, Last(Profile()), deadline=0.02)
    assert verdicts[0].startswith("MKS2004")
    assert verdicts[1].startswith("MKS2004")
    assert verdicts[2] == "pass", "it is the only one"
