"""Several QP pairs in a case."""

from __future__ import annotations

import pytest

from mkeyspec.device.model import Model
from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import QpAttributes, QpPair
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
