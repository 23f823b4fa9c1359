"""Two observations held against each other: the right side is bytes that the device alone has said."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from mkeyspec.value.live import LiveContent
from tests.compiler.statements.lower_text import compiled, errors, rows, steps
from tests.run.fixtures import failures, rig, run

TWO = """
    memory m = counter(64)
    memory n = fill(7, 64)
    mkey k
    mkey l
    configure k { layout list(m) }
    configure l { layout list(n) }
    transmit k by send as a
    expect a.wire == counter(64)
"""
EQUAL = TWO + "transmit k by write as b\nexpect a.wire == b.wire"
APART = TWO + "transmit l by send as b\nexpect a.wire != b.wire"
MEMORIES = """
    memory m = counter(64)
    peer memory x[64]
    peer memory y[64]
    write m to x
    write m to y
    expect x == any
    expect y == any
    expect x[8..] == y[8..]
"""


def codes(body: str) -> list[str]:
    return [one.code for one in compiled(body)[1]]


def test_the_right_side_is_taken_right_before_it() -> None:
    found = steps(EQUAL)
    name = f"b.wire at {len(found) - 2}"
    assert found[-2] == plan.Snapshot(found[-2].at, name, plan.Wire(64, 0, "b"))
    assert found[-1] == plan.Expect(found[-1].at, plan.Wire(64, 0, "a"), "==", LiveContent(name, 64))


@pytest.mark.parametrize("body", [EQUAL, APART, MEMORIES])
def test_what_holds_passes(body: str) -> None:
    assert run(rig()[0], *steps(body)).status == "pass"


def test_a_device_that_sends_something_else_fails() -> None:
    for body, other in ((EQUAL, "transmit l by write as b"), (APART, "transmit k by send as b")):
        before = "transmit k by write as b" if body == EQUAL else "transmit l by send as b"
        (failure,) = failures(rig()[0], *steps(body.replace(before, other)))
        assert failure.code == "MKS2101"
        assert failure.details[0][0] == "against"
        assert failure.details[0][1].startswith("b.wire, taken at ")


def test_memories_that_differ_fail() -> None:
    body = MEMORIES.replace("write m to y", "write m[0 +: 32] to y[0 +: 32]")
    (failure,) = failures(rig()[0], *steps(body))
    assert failure.code == "MKS2102"
    assert "of 56 bytes differ, first at x[32]" in failure.message


def test_both_may_be_unknown_with_a_warning() -> None:
    assert codes(MEMORIES) == ["MKS0618"]
    assert codes(MEMORIES + "expect y == m") == []


def test_bytes_that_differ_say_nothing_of_either() -> None:
    assert codes(APART) == ["MKS0614"]
    assert codes(APART + "\nexpect b.wire == fill(7, 64)") == []
    unsaid = MEMORIES.replace("expect x[8..] == y[8..]", "expect x != y")
    assert codes(unsaid + "expect x == m") == ["MKS0614"]


def test_it_may_be_one_of_a_list_and_may_be_recorded() -> None:
    found = steps(TWO + "transmit k by send as b\nexpect a.wire in [b.wire, fill(1, 64)]\nrecord s = a.wire == b.wire")
    assert [type(one).__name__ for one in found[-4:]] == ["Snapshot", "Expect", "Snapshot", "Record"]
    assert run(rig()[0], *found).records == {"s": "yes"}


def test_the_same_bytes_on_both_sides_is_no_relation() -> None:
    assert "MKS0612" in codes(TWO + "transmit k by send as b\nexpect b.wire == wire")
    assert "MKS0612" in codes(MEMORIES + "expect x == x")
    assert "MKS0612" not in codes(MEMORIES)


@pytest.mark.parametrize(
    "before",
    [
        "store c = fill(1, 32)\nexpect c == any",
        "expect c in [fill(1, 32), fill(2, 32)]",
        "store c[0 +: 16] = fill(1, 16)\nexpect c[16..] == any",
    ],
)
def test_what_was_opened_can_be_held_against(before: str) -> None:
    assert rows(f"memory c[32]\nmemory z[32]\n{before}\nexpect z == c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("expect x == z", "MKS0320 nothing says what `z[0..64]` holds"),
        ("expect x == y[0 +: 8]", "MKS0310 64 bytes compared with 8"),
        ("store x = y", "MKS0320 nothing says what `y[0..64]` holds"),
        ("expect x < y", "MKS0316 bytes are compared by == and !=, not by <"),
        ("expect x == y ++ m[0 +: 0]", "MKS0320 nothing says what `y[0..64]` holds"),
    ],
)
def test_what_is_no_relation_is_refused(text: str, message: str) -> None:
    assert errors(MEMORIES + "peer memory z[64]\n" + text) == [message]


def test_nothing_is_held_against_what_an_open_outcome_leaves() -> None:
    body = "memory m = counter(64)\nmkey k\nconfigure k { layout list(m) }\n"
    body += "transmit k by send as t accepted or rejected at completion\n"
    body += "expect wire == any\ntransmit k by send\nexpect wire == t.wire"
    assert errors(body) == ["MKS0320 nothing says what `wire[0..64]` holds"]


def test_bytes_that_differ_from_what_is_said_may_be_garbage() -> None:
    one_said = APART.replace("expect a.wire == counter(64)\n", "\n") + "\nexpect b.wire == fill(7, 64)"
    assert codes(one_said) == ["MKS0614"]


def test_a_request_that_reads_through_a_key_whose_configuration_may_be_refused_leaves_other_buffers_known() -> None:
    """Of such a key it is unknown where it leads; but a message takes one receive, and writes nothing through it."""
    body = (
        "memory n = be32(4)\nmemory m = counter(4)\npeer memory p = be32(1)\npeer memory z[4]\nmkey k { entries 8 }\n"
    )
    body += "peer recv z\npost { configure k { access local_write; layout list([m] * be32_at(n, 0)) }; "
    body += "send k[0 +: 4], signaled } accepted or rejected at completion\n"
    assert rows(body + "expect z in [m, unchanged]\nread n from p\nexpect n == p")
    body = body.replace("peer recv z", "peer memory g = fill(1, 4)").replace("send k[0 +: 4]", "read k[0 +: 4] from g")
    assert "MKS0320" in codes(body + "read n from p\nexpect n == p\nexpect z == unchanged")
