"""The completion of a raw request: its bytes may be a request with an immediate, of which libmlx5 sets the flag."""

from __future__ import annotations

from dataclasses import replace

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Qp
from tests.run.text import told

RAW = """\
case a
    verifies WRP-26
    qp q { send_ops [raw] }
    raw hex"00000000" ++ be32(q.qpn << 8 | 1) ++ hex"0000000800000000" on q, id 5 completes { driver2, id 5 }
"""
WRITE = """\
case a
    verifies WRP-05
    memory m = counter(16)
    peer memory w[16]
    write m to w
    expect w == m
"""


class Flagged(Model):
    """Each completion of this opcode has an immediate."""

    opcode = "driver2"

    def poll(self, qp: Qp) -> list[Completion]:
        return [replace(one, imm=9) if one.opcode == self.opcode else one for one in super().poll(qp)]


class FlaggedWrites(Flagged):
    opcode = "rdma_write"


def test_an_immediate_of_a_raw_request_is_not_judged() -> None:
    assert told(RAW, Flagged(Profile())) == ["pass"]


def test_an_immediate_of_a_request_that_has_none_is() -> None:
    (failures,) = told(WRITE, FlaggedWrites(Profile()))
    assert failures.startswith("MKS2005")
