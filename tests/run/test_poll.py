"""`poll`: what it blames when several completions are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp, WorkRequest, Write
from mkeyspec.run.verdict import Verdict
from tests.run.text import one, told, verdicts


class Refuses(Model):
    """A WRITE of id 3 gets no access at the responder."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        changed: list[Any] = [
            replace(each, rkey=each.rkey ^ 0xFF) if isinstance(each, Write) and each.wr_id == 3 else each
            for each in requests
        ]
        return super().post(qp, changed, abort=abort)


@pytest.mark.parametrize("options", ["id 3", "signaled, id 3"])
def test_the_request_that_failed_is_blamed_and_not_one_that_it_flushed(options: str) -> None:
    text = one(
        "peer memory v[64]",
        "post, nowait {",
        f"    write m to w, {options}",
        "    write m to v, signaled, id 4",
        "}",
        "poll",
        "expect w == m",
        "expect v == m",
    )
    assert told(text) == ["pass"]
    [failures] = verdicts(text, Refuses(Profile()))
    assert not isinstance(failures, Verdict)
    assert [(one.code, one.at.line) for one in failures] == [("MKS2005", 11)], "the flush follows from it"
    assert "completed with rem_access_err" in failures[0].message
    assert ("seen at", "14:5") in failures[0].details


def test_a_failure_of_the_other_end_is_blamed_at_its_request() -> None:
    """The receive of the peer is flushed since the QP's own responder refused a write."""
    text = one(
        "peer memory r[64]",
        "peer recv r",
        "post, nowait { write m to w, id 3 }",
        "post, nowait { send m }",
        "peer poll",
        "expect w == m",
        "expect r == m",
    )
    assert told(text) == ["pass"]
    [failures] = verdicts(text, Refuses(Profile()))
    assert not isinstance(failures, Verdict)
    assert (failures[0].code, failures[0].at.line) == ("MKS2005", 11)
