"""A `let` of a number out of memory, or out of the wire, is the number that is there at the `let`."""

from __future__ import annotations

import pytest

from mkeyspec.run.verdict import Verdict
from tests.run.text import one, verdicts

FIRST = "let first = be32_at(m, 4)"
OTHERS = ("receive fill(2, 64) into k by peer_write", "expect m == fill(2, 64)")


@pytest.mark.parametrize(
    "lines",
    [
        (FIRST, *OTHERS, "expect first == 0x01010101"),
        (FIRST, *OTHERS, "expect first != be32_at(m, 4)"),
        (FIRST, *OTHERS, "expect first + 0x01010101 == be32_at(m, 4)"),
        ("let some = [le16_at(m, 0), 7, be16_at(m, 2)]", *OTHERS, "expect some[2] == 0x0101"),
        ("let old = be32(be32_at(m, 0) + 1)", *OTHERS, "store m[0 +: 4] = old", 'expect m[0 +: 4] == hex"01010102"'),
        (
            "transmit k by send",
            "let sent = be32_at(wire, 0)",
            *OTHERS,
            "transmit k by send",
            "expect sent == 0x01010101",
            "expect be32_at(wire, 0) == 0x02020202",
        ),
        ("if yes {", FIRST, *OTHERS, "expect first == 0x01010101", "}"),
    ],
    ids=lambda lines: lines[-1],
)
def test_it_is_the_number_at_the_let(lines: tuple[str, ...]) -> None:
    [found] = verdicts(one(*lines))
    assert isinstance(found, Verdict), found


def test_bytes_that_did_not_change_are_seen() -> None:
    """What a `let` has taken equals what is there now where the transfer brings the same bytes: the case fails."""
    lines = (
        "let first = be32_at(m, 4)",
        "receive fill(2, 64) into k by peer_write",
        "expect m == any",
        "expect first != be32_at(m, 4)",
    )
    [right] = verdicts(one(*lines))
    assert isinstance(right, Verdict), right
    [found] = verdicts(one(*lines).replace("fill(2, 64)", "fill(1, 64)"))
    assert not isinstance(found, Verdict)
    assert [failure.code for failure in found] == ["MKS2105"]


def test_a_failure_calls_it_by_the_name_of_its_let() -> None:
    [found] = verdicts(one(FIRST, *OTHERS, "expect first == 5"))
    assert not isinstance(found, Verdict)
    [failure] = found
    assert failure.code == "MKS2105"
    assert failure.message == "first is 16843009, not == 5"


def test_bytes_of_an_open_outcome_are_refused() -> None:
    with pytest.raises(AssertionError, match="MKS0514"):
        verdicts(
            one(
                "receive fill(2, 64) into k by peer_write",
                "    accepted or rejected at completion",
                "let now = be32_at(m, 4)",
                "expect now == 5",
            )
        )
