"""Live scalars and bytes: written down, and evaluated with what a device says."""

from __future__ import annotations

import pytest

from mkeyspec.value.bytestring import Counter, Literal
from mkeyspec.value.live import (
    OPERATORS,
    Int,
    Live,
    LiveBytes,
    LiveContent,
    LiveJoin,
    LiveOp,
    evaluate,
    live_join,
    width,
)

RKEY = Live("k", "rkey")


def read(subject: str, member: str) -> int:
    return {("k", "rkey"): 0x12345678, ("m", "addr"): 1 << 40, ("device", "zero"): 0}[subject, member]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, 7),
        (RKEY, 0x12345678),
        (LiveOp("&", (RKEY, 0xFF)), 0x78),
        (LiveOp("<<", (1, 4)), 16),
        (LiveOp("+", (LiveOp("<<", (1, 4)), RKEY)), 0x12345688),
        (LiveOp("-", (RKEY, 1)), 0x12345677),
        (LiveOp("-", (RKEY,)), -0x12345678),
        (LiveOp("~", (0,)), -1),
        (LiveOp("*", (3, 4)), 12),
        (LiveOp("/", (-7, 2)), -4),
        (LiveOp("%", (7, 4)), 3),
        (LiveOp("|", (5, 2)), 7),
        (LiveOp("^", (5, 1)), 4),
        (LiveOp(">>", (RKEY, 24)), 0x12),
    ],
)
def test_numbers(value: Int, number: int) -> None:
    assert evaluate(value, read) == number
    assert eval(repr(value), globals()) == value


def test_every_operator_was_tried() -> None:
    marks = next(mark for mark in test_numbers.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    tried = {(value.operator, len(value.args)) for value, _ in marks.args[1] if isinstance(value, LiveOp)}
    assert tried == set(OPERATORS)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("be32", "12345678"),
        ("le32", "78563412"),
        ("be64", "0000000012345678"),
        ("le64", "7856341200000000"),
    ],
)
def test_bytes(encoding: str, data: str) -> None:
    value = LiveBytes(encoding, RKEY)
    assert evaluate(value, read).hex() == data
    assert value.length == len(value) == len(data) // 2
    assert eval(repr(value), globals()) == value


def test_two_bytes() -> None:
    assert evaluate(LiveBytes("be16", LiveOp("&", (RKEY, 0xFFFF))), read).hex() == "5678"
    assert evaluate(LiveBytes("le16", 0x1234), read).hex() == "3412"


def test_known_and_live_bytes_strung_together() -> None:
    value = live_join((Literal(b"ab"), live_join((LiveBytes("be32", RKEY), Counter(2))), LiveBytes("le16", 1)))
    assert value == LiveJoin((Literal(b"ab"), LiveBytes("be32", RKEY), Counter(2), LiveBytes("le16", 1)))
    assert repr(value) == (
        "LiveJoin((Literal(b'ab'), LiveBytes('be32', Live('k', 'rkey')), Counter(2), LiveBytes('le16', 1)))"
    )
    assert evaluate(value, read).hex() == "61621234567800010100"
    assert value.length == len(value) == 10
    assert eval(repr(value), globals()) == value
    assert evaluate(Counter(3), read) == b"\x00\x01\x02"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (LiveOp("/", (1, Live("device", "zero"))), "division by zero"),
        (LiveOp("%", (1, 0)), "division by zero"),
        (LiveOp("**", (1, 2)), "no operator"),
        (LiveOp("~", (1, 2)), "no operator"),
        (LiveBytes("be32", Live("m", "addr")), "0x10000000000 does not fit into be32"),
        (LiveBytes("be32", LiveOp("-", (1,))), "does not fit"),
        (LiveBytes("be24", 1), "no encoding"),
        (LiveOp("<<", (1, -1)), "shifted by a negative number"),
    ],
)
def test_refused(value: Int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        evaluate(value, read)


@pytest.mark.parametrize(
    "value",
    [
        LiveOp("<<", (1, LiveOp("+", (RKEY, 0xFFFFFF)))),
        LiveOp("<<", (RKEY, 0xFFFFFF)),
        LiveOp("*", (LiveOp("*", (LiveOp("*", (RKEY, RKEY)), LiveOp("*", (RKEY, RKEY)))), RKEY)),
    ],
)
def test_no_number_grows_without_bound(value: Int) -> None:
    """A shift by a live number could ask for gigabytes."""
    with pytest.raises(ValueError, match="more than 128 bits"):
        evaluate(value, read)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (RKEY, 32),
        (Live("m", "addr"), 64),
        (Live("k", "max_entries"), 16),
        (LiveOp("+", (RKEY, 1)), 32),
        (LiveOp("<<", (Live("q", "qpn"), 8)), 32),
        (LiveOp("<<", (1, RKEY)), None),
        (LiveOp(">>", (RKEY, 24)), 8),
        (LiveOp("*", (RKEY, 4)), 34),
        (LiveOp("*", (RKEY, RKEY)), 64),
        (LiveOp("/", (RKEY, 256)), 24),
        (LiveOp("%", (RKEY, 256)), 9),
        (LiveOp("&", (LiveOp("~", (RKEY,)), 0xFF)), 8),
        (LiveOp("-", (RKEY,)), None),
        (-1, None),
    ],
)
def test_width(value: Int, bits: int | None) -> None:
    assert width(value) == bits


def test_bytes_of_a_snapshot() -> None:
    def kept(subject: str, member: str) -> bytes:
        return {("first", "content"): bytes(range(8))}[subject, member]

    value = LiveContent("first", 3, 2)
    assert evaluate(value, kept) == b"\2\3\4"
    assert evaluate(live_join((Literal(b"a"), value)), kept) == b"a\2\3\4"
    assert value.length == len(value) == 3
    assert eval(repr(value), globals()) == value
    with pytest.raises(ValueError, match=r"k\.rkey is not a number"):
        evaluate(Live("k", "rkey"), lambda subject, member: b"")
    with pytest.raises(ValueError, match="first is not a snapshot"):
        evaluate(value, lambda subject, member: 0)
