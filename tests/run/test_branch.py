"""`expect … when accepted t`: judged in one outcome of a statement that leaves it open, not in the other."""

from __future__ import annotations

from errno import EINVAL
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Configure, Dek, DekState, Mkey, Qp, Refused, Send, SignatureError
from tests.compiler.statements.lower_text import compiled
from tests.run.text import KEY, one, told


class Refusing(Model):
    """Refuses configurations of 8 bytes."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(each, Configure) and "length=8," in repr(each) for each in requests):
            return EINVAL
        return super().post(qp, requests, abort=abort)


OPEN = (
    "transmit k[0 +: 65] by send as t",
    "    accepted or rejected at completion",
)
WITHIN = (
    "transmit k[0 +: 64] by send as t",
    "    accepted or rejected at completion",
)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # Refused: what is of the other outcome is not judged.
        ((*OPEN, "expect t.wire == fill(9, 65) when accepted t"), ["pass"]),
        ((*OPEN, "expect t.errno == 5 when accepted t"), ["pass"]),
        ((*OPEN, "expect t.status == success when rejected t"), ["MKS2105:11"]),
        ((*OPEN, "expect t.status == local_protection when rejected t"), ["pass"]),
        # Accepted.
        ((*WITHIN, "expect t.wire == m when accepted t"), ["pass"]),
        ((*WITHIN, "expect t.wire == fill(9, 64) when accepted t"), ["MKS2101:11"]),
        ((*WITHIN, "expect t.wire == fill(9, 64) when rejected t"), ["pass"]),
        ((*WITHIN, "expect t.wire in [m, fill(2, 64)] when accepted t"), ["pass"]),
        ((*WITHIN, "expect t.wire in [fill(3, 64), fill(2, 64)] when accepted t"), ["MKS2101:11"]),
        ((*WITHIN, "expect t.status == success when accepted t"), ["pass"]),
        ((*WITHIN, "expect t.status == local_protection when rejected t"), ["pass"]),
    ],
)
def test_only_the_outcome_that_came_is_judged(lines: tuple[str, ...], found: list[str]) -> None:
    assert told(one(*lines)) == found


CONFIGURED = (
    "memory n = fill(2, 8)",
    "mkey j",
    "configure j as c { access local_write; layout list(n) }",
    "    accepted or rejected at complete",
    "transmit j[0 +: 8] by send as t",
    "    accepted or rejected at completion",
    "expect t.wire == n when accepted t",
    "expect c.errno == EINVAL when rejected c",
)


def test_a_configuration_that_may_be_refused() -> None:
    assert told(one(*CONFIGURED)) == ["pass"]
    assert told(one(*CONFIGURED), Refusing(Profile())) == ["pass"]
    wrong = one(*CONFIGURED).replace("t.wire == n", "t.wire == fill(3, 8)")
    assert told(wrong) == ["MKS2101:15"]
    wrong = one(*CONFIGURED).replace("EINVAL", "ENOMEM")
    assert told(wrong, Refusing(Profile())) == ["MKS2105:16"]


class Scribbling(Model):
    """Writes 64 bytes of a message that it then refuses."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        for each in requests:
            if isinstance(each, Send) and sum(sge.length for sge in each.sges) == 65:
                for region in self._memories.values():
                    if len(region.data) == 128 + 64:
                        region.data[70] ^= 0xFF
        return super().post(qp, requests, abort=abort)


def test_bytes_of_the_outcome_that_did_not_come_are_still_closed() -> None:
    """An expectation that is passed over names no byte."""
    lines = ("transmit k[0 +: 65] by send as t", "    accepted or rejected at completion")
    assert told(one(*lines, "expect t.wire == any when accepted t"), Scribbling(Profile())) != ["pass"]
    assert told(one(*lines, "expect t.wire == any when accepted t")) == ["pass"]


class Silent(Model):
    """Loses every signature error."""

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        super().mkey_check(mkey)
        return None


SIGNED = (
    "memory src = flip(framed(counter(512), crc32(ones) every 512), 3)",
    "mkey j { block_signature }",
    "configure j { access local_write | remote_read; layout list(src); signature { mem crc32(ones) every 512 } }",
)
BAD = (*SIGNED, "transmit j by send as t", "    accepted or rejected at completion", "expect wire == any")
REFUSED = (*SIGNED, "transmit j[0 +: 700] by send as t", "    accepted or rejected at completion", "expect wire == any")


@pytest.mark.parametrize(
    ("lines", "right", "silent"),
    [
        ((*BAD, "check j is bad_guard, block 0 when accepted t"), ["pass"], ["MKS2106:15"]),
        ((*BAD, "check j is ok when accepted t"), ["MKS2106:15"], ["pass"]),
        ((*BAD, "check j is [ok, bad_guard]"), ["pass"], ["pass"]),
        ((*BAD, "check j is ok when rejected t", "check j is bad_guard when accepted t"), ["pass"], ["MKS2106:16"]),
        # A later transfer, whose outcome is said, has an error of its own.
        (
            (
                *BAD,
                "check j is bad_guard when accepted t",
                "configure j { signature { mem crc32(ones) every 512 } }",
                "transmit j by send",
                "expect wire == any",
                "check j is bad_guard",
            ),
            ["pass"],
            ["MKS2106:15"],
        ),
    ],
)
def test_a_check_of_one_outcome(lines: tuple[str, ...], right: list[str], silent: list[str]) -> None:
    assert told(one(*lines)) == right
    assert [found.split(",")[0] for found in told(one(*lines), Silent(Profile()))] == silent


def test_a_check_of_the_other_outcome_is_not_called() -> None:
    """And what is left in the key is the closing rule's."""
    refuses = "write m to w as t, but rkey 5", "    accepted or rejected at completion"
    sent = "transmit j by send", "expect wire == any"
    assert told(one(*SIGNED, *refuses, *sent, "check j is bad_guard when rejected t")) == ["pass"]
    assert told(one(*SIGNED, *refuses, *sent, "check j is bad_guard when accepted t")) == ["MKS2202:10"]
    assert told(one(*SIGNED, *refuses, *sent, "check j is ok as c when accepted t")) == ["MKS2202:10"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("check j is bad_guard when accepted u", "MKS0202"),
        ("check j is bad_guard when accepted s", "MKS0517"),
        ("check j is ok as c when accepted t\n    expect c.errno == 0", "MKS0514"),
        ("check j is ok when rejected t\n    check j is bad_guard", "MKS0514"),
        ('store m = hex"00" when accepted t', "MKS0510"),
        ("invalidate k when accepted t", "MKS0510"),
    ],
)
def test_what_a_check_of_one_outcome_needs(line: str, code: str) -> None:
    body = "\n".join((KEY, "write m to w as s", "expect w == m", *BAD)) + f"\n    {line}\n"
    found = [each.code for each in compiled("\n".join(each.strip() for each in body.splitlines()))[1]]
    assert code in found


class Refuses(Model):
    """Refuses each call of one kind in the case, and nothing else."""

    def __init__(self, call: str) -> None:
        super().__init__(Profile())
        self.call = call

    def _maybe(self, call: str) -> None:
        if call == self.call:
            raise Refused(call, EINVAL)

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        return EINVAL if self.call == "post" and len(requests) == 2 else super().post(qp, requests, abort=abort)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        self._maybe("mkey_check")
        return super().mkey_check(mkey)

    def query_dek(self, dek: Dek) -> DekState:
        self._maybe("query_dek")
        return super().query_dek(dek)

    def destroy_dek(self, dek: Dek) -> None:
        self._maybe("destroy_dek")
        super().destroy_dek(dek)

    def destroy(self, mkey: Mkey) -> None:
        self._maybe("destroy")
        super().destroy(mkey)

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return -EINVAL if self.call == "cancel" else super().cancel(qp, wr_id)


DEK = "dek d { key counter(32) }"
VERBS = {
    "post": ("post as x { write m to w; write m to w }", "    accepted or rejected at complete", "expect w == any"),
    "mkey_check": (*SIGNED, "check j is ok as x", "    accepted or rejected at mkey_check"),
    "query_dek": (DEK, "query d is state_ready as x", "    accepted or rejected at query"),
    "destroy_dek": (DEK, "destroy d as x", "    accepted or rejected at destroy"),
    "destroy": ("mkey y", "destroy y as x", "    accepted or rejected at destroy"),
    "cancel": (
        SIGNED[0],
        "peer memory z[512]",
        "qp q { sig_pipelining }",
        *[line.replace("configure j {", "configure j on q {") for line in SIGNED[1:]],
        "post on q, nowait { write j[0 +: 512] to z, signaled, id 1; write m to w, fence, id 7 }",
        "await sq_drained on q",
        "check j is bad_guard",
        "cancel 7 on q as x",
        "    accepted or rejected at cancel",
        "resume q",
        "poll q",
        "expect z == any",
        "expect w == any",
    ),
}


@pytest.mark.parametrize("call", VERBS)
@pytest.mark.parametrize("refused", [False, True], ids=["accepted", "rejected"])
def test_each_statement_that_may_be_refused_has_both_outcomes(call: str, refused: bool) -> None:
    device = Refuses(call if refused else "")
    for word, comes in (("accepted", not refused), ("rejected", refused)):
        lines = ("memory n = fill(2, 8)", *VERBS[call], f"expect n == fill(9, 8) when {word} x")
        assert [one.split(":")[0] for one in told(one(*lines), device)] == (["MKS2102"] if comes else ["pass"])
