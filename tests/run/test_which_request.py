"""A section that is claimed to be `rejected at completion` fails by a request that breaks a rule, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.run.verdict import CaseFailed
from tests.compiler.statements.lower_text import rows, steps
from tests.run.fixtures import rig, run

BASE = """
memory m = counter(64)
memory n = counter(64)
peer memory v[64]
peer memory w[64]
mkey k
mkey j
configure k { layout list(m) }
configure j { layout list(n) }
"""
BEYOND = "write k[32 +: 64] to w, signaled, id 12"
MINE = "rejected at completion with local_protection"


def section(*lines: str, claim: str = MINE, after: str = "expect v == any\nexpect w == any") -> str:
    return BASE + "post {\n" + "\n".join(lines) + "\n}\n    " + claim + "\n" + after


def verdict(body: str, statuses: dict[int, str]) -> list[tuple[str, str]]:
    """What becomes of the case on a device whose completions have these statuses, by wr_id."""
    tested, device = rig()
    poll = device.device.poll

    def told(qp: Any) -> list[Any]:
        return [replace(one, status=statuses.get(one.wr_id, one.status)) for one in poll(qp)]

    device.device.poll = told
    try:
        run(tested, *steps(body))
    except CaseFailed as failed:
        return [(failure.code, failure.message) for failure in failed.failures]
    return []


FIRST = {11: "loc_prot_err", 12: "wr_flush_err", 13: "wr_flush_err"}


@pytest.mark.parametrize("other", ["write m to v", "write j[0 +: 64] to v"])
@pytest.mark.parametrize("claim", ["rejected at completion", MINE, f"accepted or {MINE}"])
def test_the_request_that_breaks_the_rule_is_the_one_that_fails(other: str, claim: str) -> None:
    body = section(other + ", signaled, id 11", BEYOND, claim=claim)
    assert verdict(body, {}) == []
    [(code, message)] = verdict(body, FIRST)
    assert code == "MKS2005"
    assert "`rdma_write`" in message
    assert "breaks no rule" in message


def test_a_request_after_it_is_not_the_one_either() -> None:
    body = section(BEYOND, "write m to v, signaled, id 13")
    assert verdict(body, {}) == []
    [(code, _)] = verdict(body, {12: "success", 13: "loc_prot_err"})
    assert code == "MKS2005"


def test_each_request_that_breaks_the_rule_is_refused() -> None:
    body = section("write j[32 +: 64] to v, signaled, id 11", BEYOND)
    assert verdict(body, {}) == []
    [(code, message)] = verdict(body, {11: "success", 12: "loc_prot_err"})
    assert code == "MKS2005"
    assert "went through" in message


def test_a_plain_request_may_be_the_one() -> None:
    body = section("write j[0 +: 64] to v, signaled, id 11", "write m but lkey 1 to w, signaled, id 12")
    assert verdict(body, {}) == []
    assert verdict(body, FIRST) != []


def test_what_the_checker_cannot_know_is_the_request_that_names_an_mkey() -> None:
    """A reason of the author's own: the pages forbid nothing here."""
    good = "write k[0 +: 64] to w, signaled, id 12"
    body = section("write m to v, signaled, id 11", good)
    assert verdict(body, {12: "loc_prot_err"}) == []
    assert verdict(body, FIRST) != []
    alone = section("write m to v, signaled, id 11", "write n to w, signaled, id 12")
    assert verdict(alone, FIRST) == []
    assert verdict(alone, {12: "loc_prot_err"}) == []


def test_the_failing_request_need_not_be_signaled() -> None:
    body = section("write m to v, id 11", "write k[32 +: 64] to w, id 12")
    assert verdict(body, {}) == []


def test_the_plan_says_which() -> None:
    [row] = rows(section("write m to v, signaled, id 11", BEYOND))
    post = next(step for step in row.steps if getattr(step, "claim", ()))
    assert post.claim[0].requests == (1,)  # type: ignore[union-attr]
    [row] = rows(BASE + f"{BEYOND}\n    {MINE}")
    assert row.steps[-1].claim[0].requests == ()  # type: ignore[union-attr]
