"""`accepted or rejected`: whichever comes, the case goes on, and what it says of the one that came holds."""

from __future__ import annotations

from errno import EINVAL
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Dek, DekAttr, Mkey, QpAttributes, QpPair, Refused, SignatureError
from tests.quality.subject import Bench, rows
from tests.run.text import one, told, verdicts


class Refusing(Model):
    """No mkey without INDIRECT (1) or of 64 entries, no QP of 30 SGEs."""

    def mkey(self, side: Any, *, create_flags: int, max_entries: int, **rest: Any) -> Mkey:
        if not create_flags & 1 or max_entries == 64:
            raise Refused("mlx5dv_create_mkey", EINVAL)
        return super().mkey(side, create_flags=create_flags, max_entries=max_entries, **rest)

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        if attributes.max_send_sge == 30:
            raise Refused("mlx5dv_create_qp", EINVAL)
        return super().qp_pair(attributes)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        raise Refused("mlx5dv_dek_create", EINVAL)


ADMITS = "    accepted or rejected at create"
ABSENT = {
    "mkey": (
        "memory n[64]",
        "mkey j { entries 64 }",
        ADMITS,
        "configure j { access local_write; layout list(n) }",
        "receive counter(64) into j by recv as r",
        "expect n == counter(64)",
        "expect r.byte_len == 64",
        "transmit k by send",
        "expect wire == m",
        "transmit j by send as t",
        "expect wire == n",
        "expect t.wire == n",
        "let before = wire",
        "transmit k by send",
        "expect wire == m",
        "expect j.max_entries >= 64",
        "recv j[0 +: 64] as s",
        "peer send w[0 +: 8]",
        "expect s.byte_len == 8",
        "recv m",
        "peer send w[0 +: 8]",
        "expect m == any",
    ),
    "qp": (
        "qp q { max_send_sge 30 }",
        ADMITS,
        "write m to w on q as s",
        "expect s.status == success",
        "expect w == m",
        "expect q.max_inline_data >= 0",
        "peer recv w on q",
        "send m on q",
    ),
}


@pytest.mark.parametrize("what", ABSENT)
def test_what_is_not_there_is_passed_over(what: str) -> None:
    text = one(*ABSENT[what])
    assert told(text, Refusing(Profile())) == ["pass"]


def test_shipped_cases_on_a_device_that_refuses() -> None:
    bench = Bench(lambda: Refusing(Profile()))
    red = [row.id for row in rows(pattern="create_flags_without_indirect") if not bench.run(row).green]
    assert red == []


CHECKS = """\
case a
    verifies XCHK-01
    let d = crc32(ones) every 512
    memory src = framed(counter(512), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(512)
    check k is ok
        accepted or rejected at mkey_check
"""
BAD = (
    CHECKS.replace("framed(counter(512), d)", "flip(framed(counter(512), d), 3)")
    .replace("expect wire == counter(512)", "expect wire == flip(counter(512), 3)")
    .replace("is ok", "is bad_guard, block 0")
)


class Checking(Model):
    """`told`: what the first mlx5dv_mkey_check tells, or the errno that it is refused with."""

    def __init__(self, told: SignatureError | int | None) -> None:
        super().__init__(Profile())
        self.told: Any = told
        self.asked = False

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found = super().mkey_check(mkey)
        if self.asked:
            return found
        self.asked = True
        if isinstance(self.told, int):
            raise Refused("mlx5dv_mkey_check", self.told)
        told: SignatureError | None = self.told
        return told


def test_a_check_that_is_accepted_is_held_to_its_kind() -> None:
    assert told(CHECKS) == told(BAD) == ["pass"]
    assert told(CHECKS, Checking(SignatureError(2, 77, 78, 12345))) == ["MKS2106:11"]
    assert told(BAD, Checking(None)) == ["MKS2106:11"]
    assert told(BAD, Checking(SignatureError(2, 77, 78, 12345))) == ["MKS2106:11"]
    assert told(CHECKS, Checking(EINVAL)) == ["pass"]


UNHEARD = (
    "peer memory f = fill(2, 64), rights local_write",
    "qp q { type uc; send_ops [raw] }",
    "write m to f on q",
    "expect f == unchanged",
)


def test_an_unreliable_connection_drops_what_its_responder_refuses() -> None:
    """IBTA 9.8.3: no NAK, and success at the requester. The case says it in the only way there is."""
    assert [getattr(verdict, "status", verdict) for verdict in verdicts(one(*UNHEARD), Model(Profile()))] == ["pass"]
