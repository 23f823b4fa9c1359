"""What a case admits to be refused: a section that was refused has moved nothing, and the case goes on."""

from __future__ import annotations

from dataclasses import replace
from errno import EINVAL
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Configure, Mkey, Qp, QpPair, Refused
from mkeyspec.run.buffer import GUARD
from tests.run.test_extent import Known
from tests.run.text import one, told

AT_COMPLETE = one(
    "post { write k[0 +: 64] to w, signaled, id 77 }",
    "    accepted or rejected at complete",
    "expect w in [m, unchanged]",
)
AT_COMPLETION = one(
    "receive fill(2, 64) into k by peer_write",
    "    accepted or rejected at completion with remote_access",
    "expect m in [fill(2, 64), unchanged]",
)


class Refusing(Known):
    """Requests of id 77 are refused with the section. `effect`: the bytes that a write of it moves all the same."""

    def __init__(self, effect: int = 0) -> None:
        super().__init__(Profile())
        self.effect = effect

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if not any(one.wr_id == 77 for one in requests):
            return super().post(qp, requests, abort=abort)
        source, target = self.made[:2]
        data = self.read(source, GUARD, self.effect)
        self.write(target, GUARD, data.tobytes())
        return EINVAL


class Denying(Known):
    """An RDMA write of the peer fails. `effect`: the bytes that it moves all the same."""

    def __init__(self, effect: int = 0) -> None:
        super().__init__(Profile())
        self.effect = effect

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        denied = self.writes(qp, requests)
        if denied:
            requests = [replace(one, rkey=one.rkey ^ 0x5500) for one in requests]
        found = super().post(qp, requests, abort=abort)
        if denied:
            self.write(self.made[0], GUARD, b"\2" * self.effect)
        return found


@pytest.mark.parametrize("looks", ["expect w in [m, unchanged]", "expect w == any", "store w = fill(9, 64)", ""])
def test_a_section_that_was_refused_has_moved_nothing(looks: str) -> None:
    """Whatever the case says of the bytes after it, and whether it claims the refusal or admits it."""
    text = AT_COMPLETE.replace("expect w in [m, unchanged]", looks)
    named = looks.startswith("expect")
    assert told(text, Refusing()) == ["pass"]
    if named:
        assert told(text) == ["pass"]
    for effect in (1, 64):
        assert told(text, Refusing(effect)) == ["MKS2103:9"]
        certain = text.replace("accepted or rejected at complete", "rejected at complete with EINVAL")
        certain = certain.replace("in [m, unchanged]", "== unchanged")
        assert told(certain, Refusing(effect)) == ["MKS2103:9"]


def test_before_a_refused_section_others_have_moved_what_they_may() -> None:
    text = AT_COMPLETE.replace("    post {", "    post { write m to w }\n    post {")
    text = text.replace("[m, unchanged]", "[m, any]")
    assert told(text) == told(text, Refusing()) == ["pass"]


def test_what_failed_on_its_way_is_as_it_was_or_as_it_should_be() -> None:
    assert told(AT_COMPLETION) == told(AT_COMPLETION, Denying()) == ["pass"]
    assert told(AT_COMPLETION, Denying(1)) == ["MKS2102:11"]
    unnamed = AT_COMPLETION.replace("expect", "# expect")
    assert told(unnamed, Denying()) == ["pass"]
    assert told(unnamed, Denying(1))[0].startswith("MKS2103")


CANCEL = """\
case a
    verifies XCAN-05
    qp q { sig_pipelining }
    memory m = counter(64)
    peer memory w[64]
    write m to w on q
    expect w == m
    cancel 7 on q as c
        accepted or rejected at cancel
    expect c.errno == EINVAL
    record count = c.count
"""


def test_of_a_cancel_that_may_be_refused_the_errno_is_judged() -> None:
    assert told(CANCEL) == ["pass"], "on a QP that is not drained it is refused: there is no count"
    assert told(CANCEL.replace("c.errno == EINVAL", "c.errno == 0")) == ["MKS2105:12"]


WIRE = one(
    "transmit k by send, but lkey k.lkey ^ 0x5500",
    "    accepted or rejected at completion",
    "expect wire in [m, unchanged]",
    "transmit k by send",
    "expect wire == m",
)


def test_a_wire_on_which_nothing_came_is_as_it_was() -> None:
    assert told(WIRE) == ["pass"]
    assert told(WIRE.replace(", but lkey k.lkey ^ 0x5500", "")) == ["pass"]


class Unconfigured(Known):
    """The first layout through a section with id 77 is refused."""

    def __init__(self) -> None:
        super().__init__(Profile())

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if any(isinstance(one, Configure) and one.wr_id == 77 for one in requests):
            return EINVAL
        return super().post(qp, requests, abort=abort)


KEYS = one(
    "memory n = counter(64)",
    "post { configure k, signaled, id 77 { access local_write; layout list(n) } }",
    "    accepted or rejected at complete",
    "transmit k by send as t",
    "    accepted or rejected at completion",
    "expect t.wire in [n, m, unchanged]",
    "configure k { access local_write; layout list(m) }",
    "transmit k by send",
    "expect wire == m",
)


def test_a_key_whose_configuration_was_refused_is_used_where_that_may_be_refused_too() -> None:
    assert told(KEYS) == told(KEYS, Unconfigured()) == ["pass"]


class Wrong(Unconfigured):
    """It says what is one byte off."""

    def poll(self, qp: Qp) -> Any:
        return [replace(one, byte_len=1) if one.opcode == "recv" else one for one in super().poll(qp)]


def test_after_a_new_configuration_it_is_judged_again() -> None:
    assert told(KEYS, Wrong())[0].startswith("MKS2005")


USED = """\
case a
    verifies ACC-01
    for right in 0, remote_write
    memory m = counter(64)
    mkey k
    configure k { access local_write | right; layout list(m) }
    receive fill(1, 64) into k by peer_write
        accepted or rejected at completion with remote_access
    expect m in [fill(1, 64), unchanged]
    let now = m
    transmit k by send
    expect wire == now
"""


def test_what_was_refused_is_used_as_it_was_found() -> None:
    assert told(USED) == ["pass", "pass"]


LATER = one(
    "peer recv w as r",
    "send m, id 77",
    "    accepted or rejected at complete",
    "record byte_len = r.byte_len",
    "expect w in [m, unchanged]",
    "peer memory v[64]",
    "peer recv v as s",
    "send m[0 +: 32]",
    "expect s.byte_len == 32",
    "expect v[0 +: 32] == m[0 +: 32]",
    "transmit k by send",
    "expect wire == m",
)


def test_the_receive_of_a_refused_message_meets_no_other() -> None:
    assert told(LATER) == ["pass"]
    assert told(LATER, Refusing()) == ["pass"]


LIST = AT_COMPLETE.replace("accepted or rejected", "completes { rdma_write, id 77 } or rejected")


def test_a_list_of_successes_or_a_refusal_admits_both_as_well() -> None:
    assert told(LIST) == told(LIST, Refusing()) == ["pass"]
    assert told(LIST, Refusing(1)) == ["MKS2103:9"]


class Negative(Model):
    """Errnos of ibv_wr_complete and mlx5dv_mkey_check have the other sign."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        return -super().post(qp, requests, abort=abort)

    def mkey_check(self, mkey: Mkey) -> Any:
        try:
            return super().mkey_check(mkey)
        except Refused as refused:
            raise Refused(refused.call, -refused.errno) from None


TWICE = "configure k as c { access local_write; access local_write; layout list(m) }"


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("rejected at complete with EINVAL", "MKS2003:9"),
        ("rejected at complete", "MKS2003:9"),
        ("accepted or rejected at complete", "MKS2003:9"),
    ],
)
def test_an_errno_is_positive(claim: str, code: str) -> None:
    """ibv_wr_post(3): ibv_wr_complete returns 0 on success, or the value of errno."""
    text = one(TWICE, f"    {claim}")
    assert told(text) == ["pass"]
    assert told(text, Negative(Profile())) == [code]


def test_so_is_that_of_a_check() -> None:
    text = one("check k is ok as c rejected at mkey_check with EINVAL", "expect c.errno == EINVAL")
    assert told(text) == ["pass"]
    assert told(text, Negative(Profile())) == ["MKS2003:9"]


# The queue lives ------------------------------------------------------------------------------------


class Dead(Known):
    """After a refused section the send queue takes requests and carries none of them out, until the QP is made anew."""

    def __init__(self) -> None:
        super().__init__(Profile())
        self.dead = set[int]()
        self.reconnected = 0

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if qp.handle in self.dead:
            return 0
        refused = super().post(qp, requests, abort=abort)
        if refused:
            self.dead.add(qp.handle)
        return refused

    def reconnect(self, pair: QpPair) -> QpPair:
        self.reconnected += 1
        self.dead -= {pair.owner.handle, pair.peer.handle}
        return super().reconnect(pair)


REFUSED = (
    "mkey j",
    "configure j { access local_write; access local_write; layout list(m) }",
    "    rejected at complete with EINVAL",
)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((), "MKS2004:10"),
        (("configure j { access local_write; layout list(m) }",), "MKS2004:12"),
        (("write m to w", "expect w == m"), "MKS2004:12"),
    ],
    ids=["closing marker", "configure", "write"],
)
def test_a_queue_lives_after_a_refused_section(lines: tuple[str, ...], expected: str) -> None:
    """Nothing in a case makes new QPs after a refusal: what follows is on the same ones."""
    case = one(*REFUSED, *lines)
    assert told(case) == ["pass"]
    assert told(case, Dead()) == [expected]


def test_what_waits_after_a_refused_section() -> None:
    """Receives of the case wait on. Those of a `transmit` would take a later message, so the QPs are made anew."""
    device = Dead()
    section = ("mkey j", "configure j { access local_write; access local_write }", "    rejected at complete")
    case = one("peer recv w", *section, "send m", "expect w == m")
    assert (told(case), told(case, device), device.reconnected) == (["pass"], ["MKS2004:13"], 0)
    case = one(
        "transmit k by send, id 77", "    accepted or rejected at complete", "transmit k by send", "expect wire == m"
    )
    refusing = Refusing()
    reconnect, seen = refusing.reconnect, list[QpPair]()
    refusing.reconnect = lambda pair: seen.append(pair) or reconnect(pair)  # type: ignore[method-assign,func-returns-value]
    assert (told(case), told(case, refusing), len(seen)) == (["pass"], ["pass"], 1)
