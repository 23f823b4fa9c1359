"""Expectations, and what the ledger makes of them: right of the operator stands what should be there."""

from __future__ import annotations

import pytest

from mkeyspec.plan import Any, Content, Expect, Known, OneOf, Sequence, Unchanged, Wire
from mkeyspec.value.bytestring import Counter, Fill, Framed, Join, Literal, Random, Slice
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Live, LiveBytes
from mkeyspec.value.signature import Crc, Domain
from tests.compiler.statements.lower_text import AT, errors, steps, the_error

CRC32 = Domain(Crc(0, 0xFFFFFFFF), 512)
BASE = """
memory a = random(16, seed=1)
memory b = random(64, seed=2)
memory c[32]
mkey k
configure k { access local_write | remote_write; layout list(b[8 +: 8], a, b[16 +: 8]) }
"""


def expectation(text: str) -> Expect:
    step = steps(BASE + text)[-1]
    assert isinstance(step, Expect)
    return step


def bytes_of(text: str) -> object:
    """The ledger's bytes for the right side of an expectation about 32 bytes."""
    return expectation(text).expected


# What is observed ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "observed"),
    [
        ("c", Content((Part("c", 0, 32),), "c")),
        ("c[0..32]", Content((Part("c", 0, 32),), "c[0..32]")),
        ("k", Content((Part("b", 8, 8), Part("a", 0, 16), Part("b", 16, 8)), "k")),
        ("wire", Wire(32)),
        ("t.wire", Wire(32, 0, "t")),
    ],
)
def test_what_stands_left_is_observed(left: str, observed: Content | Wire) -> None:
    assert expectation(f"transmit k by send as t\nexpect {left} == counter(32)") == Expect(
        AT,
        observed,
        "==",
        Counter(32),
    )


def test_a_part_of_an_mkey_goes_through_its_layout() -> None:
    assert expectation("expect k[4 +: 8] == counter(8)").observed == Content(
        (Part("b", 12, 4), Part("a", 0, 4)), "k[4 +: 8]"
    )


def test_neighbours_are_one_part() -> None:
    text = "memory m[64]\nmkey j\nconfigure j { layout list(m[0 +: 8], m[8 +: 24]) }\nexpect j == counter(32)"
    assert expectation(text).observed == Content((Part("m", 0, 32),), "j")


def test_mkeys_inside_mkeys() -> None:
    text = "mkey j\nconfigure j { layout list(k[12 +: 8], k[0 +: 4]) }\nexpect j == counter(12)"
    assert expectation(text).observed == Content((Part("a", 4, 8), Part("b", 8, 4)), "j")


def test_a_part_of_the_wire() -> None:
    assert expectation("transmit k by send\nexpect wire[8 +: 4] == counter(4)").observed == Wire(4, 8)


def test_live_values() -> None:
    assert expectation("expect k.max_entries >= 3") == Expect(AT, Live("k", "max_entries"), ">=", 3)
    assert expectation("expect 3 <= k.max_entries") == Expect(AT, Live("k", "max_entries"), ">=", 3)
    assert expectation("configure k as s { access 0 }\nexpect s.errno in [0, EINVAL]") == Expect(
        AT, Live("s", "errno"), "==", OneOf((0, "EINVAL"))
    )


# What is expected ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ("== any", Any()),
        ("== unchanged", Unchanged()),
        ("!= fill(0, 32)", Fill(0, 32)),
        ("in [counter(32), fill(0, 32)]", OneOf((Counter(32), Fill(0, 32)))),
        ("== counter(16) ++ any(16)", Sequence((Counter(16), Any(16)))),
        ("== k", Join((Slice(Random(64, 2), 8, 8), Random(16, 1), Slice(Random(64, 2), 16, 8)))),
        ("== a ++ b[0 +: 16]", Join((Random(16, 1), Slice(Random(64, 2), 0, 16)))),
    ],
)
def test_what_stands_right(right: str, expected: object) -> None:
    assert expectation(f"expect c {right}").expected == expected


def test_live_bytes() -> None:
    assert expectation("expect c[0 +: 4] == be32(k.rkey)").expected == LiveBytes("be32", Live("k", "rkey"))


def test_known_values() -> None:
    assert expectation("expect a == counter(16) known X-DIFF-10 fill(0, 16)").known == Known(
        "X-DIFF-10", None, Fill(0, 16)
    )
    assert expectation("expect a == counter(16) known X-DIFF-10 any").known == Known("X-DIFF-10", None, Any())


# The ledger ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("expect c == counter(32)", Counter(32)),
        ("expect c == counter(16) ++ any(16)\nexpect c[16 +: 16] == fill(1, 16)", Join((Counter(16), Fill(1, 16)))),
        ("store c = fill(9, 32)\nexpect c == unchanged", Fill(9, 32)),
        ('store c = fill(9, 32)\nstore c[4 +: 2] = hex"aabb"', Join((Fill(9, 4), Literal(b"\xaa\xbb"), Fill(9, 26)))),
        ("store c = fill(9, 32)\nexpect c != fill(8, 32)", Fill(9, 32)),
        ("peer memory w[32]\nread c from w accepted or rejected at completion\nstore c = fill(3, 32)", Fill(3, 32)),
        (
            (
                "peer memory w[32]\nread c from w accepted or rejected at completion\nread c from w\n"
                "expect c == fill(5, 32)"
            ),
            Fill(5, 32),
        ),
    ],
)
def test_the_ledger_holds_what_was_stored_and_matched(before: str, expected: object) -> None:
    assert bytes_of(f"memory z[32]\n{before}\nexpect z == c") == expected


def test_an_expectation_about_an_mkey_is_one_about_its_buffers() -> None:
    found = bytes_of("receive counter(32) into k by recv\nexpect k == counter(32)\nexpect c[0 +: 16] == a")
    assert found == Slice(Counter(32), 8, 16)


def test_the_wire_is_known_once_it_was_expected() -> None:
    text = "transmit k by send as t\nexpect wire == counter(32)\ntransmit k by send\nexpect wire == t.wire"
    assert bytes_of(text) == Counter(32)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "store c[0 +: 16] = fill(1, 16)\nexpect c[0 +: 16] == any",
        "store c[0 +: 31] = fill(1, 31)",
        "store c = fill(0, 32)\nstore c[0 +: 4] = be32(k.rkey)",
    ],
)
def test_what_nobody_said_cannot_be_used(before: str) -> None:
    (found,) = errors(BASE + f"memory z[32]\n{before}\nexpect z == c")
    assert found.startswith("MKS0320 nothing says what `c[")


def test_nor_can_a_wire_that_nobody_looked_at() -> None:
    assert errors(BASE + "transmit k by send\nstore c = wire") == ["MKS0320 nothing says what `wire[0..32]` holds"]


# Lengths -------------------------------------------------------------------------------------

SIGNED = """
let d = crc32(ones) every 512
memory m = counter(1024)
mkey k { block_signature }
configure k { layout list(m); signature { wire d } }
transmit k by send
"""


def test_a_wire_of_another_length_is_explained() -> None:
    found = the_error(SIGNED + "expect wire == m")
    assert (found.code, found.message) == ("MKS0310", "1032 bytes compared with 1024")
    (note,) = found.notes
    assert note.message == ("wire is 2 × (512 + 4): the wire domain crc32(ones) every 512 adds 4 bytes to each block")
    assert note.span is not None
    assert note.span.source.text[note.span.start : note.span.end] == "d"
    assert found.help == "framed(m, d)?"


def test_a_range_that_leaves_its_end_out() -> None:
    found = the_error("memory m[1024]\nexpect m[0..511] == counter(512)")
    assert (found.code, found.message) == ("MKS0311", "511 bytes compared with 512")
    assert found.help == "`..` leaves its end out; m[0 +: 512]"
    found = the_error("memory m[512]\nmemory n = counter(1024)\nexpect m == n[0..511]")
    assert (found.code, found.message) == ("MKS0311", "512 bytes compared with 511")


def test_every_alternative_has_the_length() -> None:
    assert errors("memory m[4]\nexpect m in [fill(0, 4), fill(0, 5)]") == ["MKS0310 4 bytes compared with 5"]
    assert errors("memory m[4]\nexpect m == any(5)") == ["MKS0310 4 bytes compared with 5"]
    assert errors("memory m[4]\nexpect m == fill(0, 4) known X-DIFF-10 fill(0, 3)") == [
        "MKS0310 4 bytes compared with 3"
    ]


def test_framing_is_kept() -> None:
    step = steps(SIGNED + "expect wire == framed(m, d)")[-1]
    assert isinstance(step, Expect)
    assert step.expected == Framed(Counter(1024), CRC32)
