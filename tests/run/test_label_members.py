"""Members of a labelled request or section are those of its own completions, never of the other end's receive.

ibv_poll_cq(3): each completion is of one work request; byte_len counts what was received or read. IBTA volume 1,
9.7.5.2.8: a responder that can't take a message says so, and the requester's own status is a remote error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Qp
from mkeyspec.run.label import Label, Unobserved
from tests.compiler.statements.lower_text import compiled
from tests.run.text import KEY, one, told

BARE = ("mkey bare", "configure bare { access 0; layout list(m) }", "recv bare[0 +: 64] as r")
OPEN = "    accepted or rejected at completion"
FAILS = "    rejected at completion with local_protection"
ENDS = ("expect s.status == remote_access", "expect r.status == local_protection")


class Unread(Model):
    """Leaves byte_len of what ibv_poll_cq(3) gives none at what was there before."""

    def poll(self, qp: Qp) -> Any:
        found: list[Completion] = super().poll(qp)
        read = ("recv", "rdma_read")
        return [each if {each.queue, each.opcode} & {*read} else replace(each, byte_len=77) for each in found]


@pytest.mark.parametrize(
    "lines",
    [
        (*BARE, "peer send w as s", FAILS, *ENDS),
        (*BARE, "peer post as s { send w, signaled }", FAILS, *ENDS),
        (*BARE, "peer post as s { send w }", FAILS, *ENDS),
        (*BARE, "peer send w as s", OPEN, "expect s.status == remote_access when rejected s"),
        ("recv m as r", "peer send w as s", "expect s.status == success", "expect r.byte_len == 64", "expect m == any"),
        (
            "recv m as r",
            "peer post as s { send w }",
            OPEN,
            "expect s.status == success when accepted s",
            "expect m == any",
        ),
        (
            "memory n = counter(8)",
            "peer memory v[8]",
            "peer recv v as r",
            "post as p { read m from w, signaled; send n, signaled }",
            "expect m == any",
            "expect v == n",
            "expect p.byte_len == 64",
            "expect r.byte_len == 8",
        ),
        (
            "memory n = counter(8)",
            "peer memory v[8]",
            "post as p { read m from w, signaled; write n to v, signaled }",
            "expect m == any",
            "expect v == n",
            "expect p.byte_len == 64",
        ),
    ],
)
@pytest.mark.parametrize("device", [Model, Unread])
def test_of_its_own_requests(lines: tuple[str, ...], device: type[Model]) -> None:
    assert told(one(*lines), device(Profile())) == ["pass"]


@pytest.mark.parametrize(
    "lines",
    [
        ("peer recv w", "post as p { send m, signaled }", "record n = p.byte_len"),
        ("post as p { read m from w; write m[0 +: 8] to w[0 +: 8], signaled }", "record n = p.byte_len"),
        ("peer recv w", "post as p { send m }", "record n = p.status"),
        ("receive counter(64) into k by peer_write as r", "record n = r.byte_len"),
    ],
)
def test_what_has_none_is_refused(lines: tuple[str, ...]) -> None:
    """MKS0205: only a receive and what an answer fills have a byte_len; what asked for no completion has no status."""
    found = compiled("\n".join((KEY, *lines)))[1]
    assert [each.code for each in found if each.code.startswith("MKS02")] == ["MKS0205"]


class Slow(Model):
    """Right: an error of an unsignaled request comes some polls after the receive of a message before it."""

    polls = 0

    def poll(self, qp: Qp) -> Any:
        if qp.handle != self.of:
            return super().poll(qp)
        self.polls += 1
        return super().poll(qp) if self.polls > 6 else []

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        self.of, self.polls = qp.handle, 0
        return super().post(qp, requests, abort=abort)

    of = -1


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        (OPEN, "expect s.status == remote_access"),  # that is what came: of the other outcome, this is red
        (OPEN, "expect s.errno == 5 when accepted s"),
        ("    rejected at completion with remote_access", "expect s.status == remote_access"),
    ],
)
def test_a_late_error_of_an_unsignaled_request_is_waited_for(claim: str, shown: str) -> None:
    """The receive of the message before it does not tell how it came out."""
    lines = ("peer recv w", "post as s { send m; write m[0 +: 8] to w[0 +: 8], but rkey 5 }", claim, "expect w == any")
    assert told(one(*lines, shown), Slow(Profile())) == ["pass"]


def test_only_the_status_is_known_of_requests_without_a_completion() -> None:
    """None of them asked for one: they have succeeded, and no member of a completion was ever seen."""

    class Silent:
        got, passed, succeeded = None, True, True

    label = Label((Silent(),))  # type: ignore[arg-type]
    assert label.read("status") == "success"
    for member in ("byte_len", "id", "opcode", "imm"):
        with pytest.raises(Unobserved):
            label.read(member)
