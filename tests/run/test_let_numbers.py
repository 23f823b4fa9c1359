"""A `let` of an mkey's number is the number that it had there: `retag` gives the key another one (MKY-06)."""

from __future__ import annotations

import pytest

from mkeyspec.run.verdict import Verdict
from tests.run.text import told, verdicts

HEAD = """\
case a
    verifies MKY-06
    memory m = counter(64)
    memory n[4]
    peer memory src = random(64, seed=1)
    mkey k { update_tag }
    configure k { access local_write | remote_write | remote_read; layout list(m) }
"""
AGAIN = "configure k { access local_write | remote_write | remote_read; layout list(m) }"
GOES = "peer write src to k[0 +: 64], but rkey {} & 0xffffffff"


def case(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("let old = k.rkey", "retag k to 7", "expect old != k.rkey"),
        ("let old = k.rkey", "retag k to 7", "expect old & 0xffffff00 == k.rkey & 0xffffff00"),
        ("let old = k.rkey", "retag k to 7", "expect k.rkey & 0xff == 7"),
        (
            "let old = k.lkey & 0xff",
            "retag k to 7",
            "let now = k.lkey & 0xff",
            "retag k to 9",
            "expect now == 7",
            "expect old != 7",
        ),
        ("let old = (1, k.rkey)", "retag k to 7", "expect old[1] != k.rkey"),
        (
            "let old = be32(k.rkey)",
            "let now = k.rkey",
            "retag k to 7",
            "store n = be32(now)",
            "expect n == old",
        ),
        ("let old = k.rkey", "if yes { retag k to 7 }", "expect old != k.rkey"),
        (
            "let old = k.rkey",
            "retag k to 7",
            AGAIN,
            "peer write src to k[0 +: 64], but rkey old",
            "    rejected at completion with remote_access",
        ),
        (
            "let old = k.rkey",
            "retag k to 7",
            AGAIN,
            "peer write src to k[0 +: 64], but rkey k.rkey & 0xffffffff",
            "expect m == src",
        ),
        (
            "retag k to 7",
            "let old = k.rkey",
            AGAIN,
            "peer write src to k[0 +: 64], but rkey old & 0xffffffff",
            "expect m == src",
        ),
    ],
)
def test_a_let_is_of_its_place(lines: tuple[str, ...]) -> None:
    assert told(case(*lines)) == ["pass"]


def test_what_is_recorded() -> None:
    [found] = verdicts(case("let old = k.rkey", "retag k to 7", "record old = old", "record new = k.rkey"))
    assert isinstance(found, Verdict)
    assert int(found.records["new"]) & 0xFF == 7
    assert found.records["old"] != found.records["new"]


def test_a_failure_says_which_number() -> None:
    [found] = verdicts(case("let old = k.rkey", "retag k to 7", "expect old == k.rkey"))
    assert not isinstance(found, Verdict)
    assert "before `retag`" in found[0].message
