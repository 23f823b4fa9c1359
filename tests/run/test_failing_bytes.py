"""MKS2101 to MKS2106. Each fails for one wrong bit and passes without it."""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import Any as Whatever

import pytest

from mkeyspec.device import protocol
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp, SignatureError, WorkRequest, Write
from mkeyspec.plan import (
    Any,
    Check,
    Content,
    Expect,
    Expected,
    Memory,
    OneOf,
    Receive,
    Rejected,
    Sequence,
    Store,
    Transmit,
    Unchanged,
    Wire,
)
from mkeyspec.run.buffer import GUARD, canary
from mkeyspec.value.bytestring import Counter, Field, Flip, Framed, Literal, Random
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Live, LiveBytes, LiveOp
from mkeyspec.value.signature import Crc
from tests.oracle.bitwise import stored
from tests.run.fixtures import (
    CRC32,
    at,
    changed,
    codes,
    content,
    failures,
    generating,
    plain,
    rig,
    run,
    transmit,
    validating,
    wire,
)
from tests.run.text import one, told

DATA = Random(64, 1)


def receive(by: str = "peer_write", data: Literal | Random = DATA) -> Receive:
    return Receive(at(5), data, Part("k", 0, data.length), by, 9 if by.endswith("imm") else None)


@pytest.mark.parametrize("by", ["send", "send_imm", "write", "write_imm", "peer_read"])
def test_one_wrong_bit_on_the_wire(by: str) -> None:
    tested, device = rig()
    step = changed(transmit(by=by), imm=5 if by.endswith("imm") else None)
    assert run(tested, *plain(), step, wire(Counter(64))).status == "pass"

    def flip(qp: object) -> None:
        if len(device.memories) == 2:
            device.flip(1, GUARD + 17)

    device.after_post = flip
    [failure] = failures(tested, *plain(), step, wire(Counter(64)))
    assert (failure.code, failure.at) == ("MKS2101", at(6))
    assert "1 of 64 bytes differs, first at wire[17]" in failure.message


@pytest.mark.parametrize("by", ["recv", "read", "peer_write", "peer_write_imm"])
def test_one_wrong_bit_in_memory(by: str) -> None:
    tested, device = rig()
    assert run(tested, *plain(), receive(by), content("m", DATA)).status == "pass"

    def flip(qp: object) -> None:
        if len(device.memories) == 2:
            device.flip(0, GUARD + 63)

    device.after_post = flip
    [failure] = failures(tested, *plain(), receive(by), content("m", DATA))
    assert (failure.code, failure.at) == ("MKS2102", at(7))


def test_a_field_is_named_and_shown_as_a_number() -> None:
    tested, device = rig()

    def flip(qp: object) -> None:
        if len(device.memories) == 2:
            device.flip(1, GUARD + 516 + 514)

    device.after_post = flip
    [failure] = failures(tested, *generating())
    assert failure.message == "1 of 1032 bytes differs, first at wire[1030]: block 1, CRC32 field"
    details = dict(failure.details)
    field = int.from_bytes(stored("crc32", Counter(1024).data[512:], 0xFFFFFFFF), "big")
    assert details["field"] == f"block 1, CRC32 field: expected {field:#010x}, got {field ^ 0x100:#010x}"
    assert details["block"] == "block 1, CRC32 field, byte 2 of 4 (big endian), on the wire of `k`"
    assert details["computed"] == "crc32(ones) over block 1: m[512 +: 512]"


# What nothing named --------------------------------------------------------------------------


def test_bytes_that_no_statement_names_may_not_change() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *plain(), receive())
    assert (failure.code, failure.at) == ("MKS2103", at(5))
    assert ("declared", "2:5") in failure.details
    assert "of `m` changed, and no statement names them" in failure.message
    part = Expect(at(7), Content((Part("m", 0, 60),), "m"), "==", Random(60, 1))
    [failure] = failures(tested, *plain(), receive(), part)
    assert dict(failure.details)["first at"] == "m[60]"
    rest = Expect(at(8), Content((Part("m", 60, 4),), "m"), "==", Any())
    assert run(tested, *plain(), receive(), part, rest).status == "pass"


def test_a_canary_is_what_an_undescribed_buffer_holds() -> None:
    tested, device = rig()
    memory = Memory(at(3), "other", 100, peer=True)
    assert run(tested, *plain(), memory, transmit(), wire(Counter(64))).status == "pass"

    def flip(qp: object) -> None:
        if len(device.memories) == 3:
            device.flip(1, GUARD + 99)

    device.after_post = flip
    [failure] = failures(tested, *plain(), memory, transmit(), wire(Counter(64)))
    assert (failure.code, failure.at) == ("MKS2103", at(5)), "the only step that moved anything"
    assert dict(failure.details)["should be"] == "canary: no statement gives this byte a value"


def test_a_byte_that_changes_after_it_was_matched() -> None:
    tested, device = rig()
    posts: list[object] = []

    def flip(qp: object) -> None:
        posts.append(qp)
        if len(posts) == 3:
            device.flip(1, GUARD + 5)

    device.after_post = flip
    [failure] = failures(tested, *plain(), transmit(), wire(Counter(64)), transmit(line=8))
    assert (failure.code, failure.at) == ("MKS2103", at(8))


def test_what_a_store_writes_over_is_judged_before() -> None:
    """After it nothing tells any more what the device had written there."""
    tested, device = rig()
    device.after_post = lambda qp: device.flip(0, GUARD + 5)
    over = Store(at(8), Part("m", 4, 8), Literal(b"\xee" * 8))
    whole = (content("m", Literal(Counter(4).data + b"\xee" * 8 + Counter(64).data[12:]), line=9),)
    [failure] = failures(tested, *plain(), over, *whole)
    assert (failure.code, failure.at) == ("MKS2103", at(2))
    assert dict(failure.details)["first at"] == "m[5]"
    beside = changed(over, to=Part("m", 6, 6), data=Literal(b"\xee" * 6))
    assert codes(tested, *plain(), beside) == ["MKS2103"], "the closing rule's, as ever"
    device.after_post = None
    assert run(tested, *plain(), over, *whole).status == "pass"
    named = Expect(at(7), Content((Part("m", 0, 64),), "m"), "==", Any())
    assert codes(tested, *plain(), receive(), over) == ["MKS2103", "MKS2103"], "written over, and what is left"
    assert run(tested, *plain(), receive(), named, over).status == "pass"


@pytest.mark.parametrize(
    ("index", "offset", "message"),
    [
        (0, GUARD - 1, "the guard before `m`"),
        (0, GUARD + 64, "the guard after `m`"),
        (1, GUARD + 64 + 63, "the guard after `wire`"),
    ],
)
def test_a_guard_that_was_written(index: int, offset: int, message: str) -> None:
    tested, device = rig()

    def flip(qp: object) -> None:
        if len(device.memories) == 2:
            device.flip(index, offset)

    device.after_post = flip
    [failure] = failures(tested, *plain(), transmit())
    assert failure.code == "MKS2104"
    assert message in failure.message


def test_guards_are_judged_even_where_a_case_ended_early() -> None:
    tested, device = rig()
    device.silent = True
    device.after_post = lambda qp: device.flip(0, 3)
    assert codes(tested, *plain()) == ["MKS2004", "MKS2104"]


def test_after_a_rejection_the_wire_must_not_have_changed() -> None:
    tested, device = rig()
    claimed = Transmit(at(5), Part("k", 60, 64), "send", claim=(Rejected("completion"),))
    assert run(tested, *plain(), claimed).status == "pass"

    def leak(qp: object) -> None:
        if len(device.memories) == 2:
            device.flip(1, GUARD)

    device.after_post = leak
    assert codes(tested, *plain(), claimed) == ["MKS2103"]
    named = Expect(at(6), Wire(64), "==", Any())
    assert run(tested, *plain(), claimed, named).status == "pass"


# Patterns, stores, live values ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "good"),
    [
        (OneOf((Literal(b"\0" * 64), DATA)), True),
        (OneOf((Literal(b"\0" * 64), Counter(64))), False),
        (Sequence((Any(60), Literal(DATA.data[60:]))), True),
        (Sequence((Literal(DATA.data[:10]), Any(20), Literal(DATA.data[30:]))), True),
        (Sequence((Literal(DATA.data[:10]), Any(20), Literal(b"\0" * 34))), False),
        (Any(64), True),
        (Any(), True),
        (Unchanged(), False),
        (Counter(64), False),
    ],
)
def test_patterns(expected: Expected, good: bool) -> None:
    tested, _ = rig()
    step = Expect(at(7), Content((Part("m", 0, 64),), "m"), "==", expected)
    if good:
        assert run(tested, *plain(), receive(), step).status == "pass"
    else:
        assert codes(tested, *plain(), receive(), step) == ["MKS2102"]
    opposite = changed(step, operator="!=")
    if good:
        assert codes(tested, *plain(), receive(), opposite) == ["MKS2102"]
    else:
        assert run(tested, *plain(), receive(), opposite).status == "pass"


def test_unchanged_is_what_the_ledger_says() -> None:
    tested, _ = rig()
    same = Expect(at(7), Content((Part("m", 0, 64),), "m"), "==", Unchanged())
    assert run(tested, *plain(), transmit(), same).status == "pass"


def test_stores_are_seen_by_the_device_and_the_ledger() -> None:
    tested, device = rig()
    store = Store(at(5), Part("m", 8, 8), Literal(b"\xee" * 8))
    after = Counter(64).data[:8] + b"\xee" * 8 + Counter(64).data[16:]
    assert run(tested, *plain(), store, transmit(), wire(Literal(after))).status == "pass"
    live = Store(at(5), Part("m", 0, 4), LiveBytes("be32", Live("k", "rkey")))
    seen = Expect(at(6), Content((Part("m", 0, 4),), "m"), "==", LiveBytes("be32", Live("k", "rkey")))
    assert run(tested, *plain(), live, seen).status == "pass"
    device.after_post = None
    wrong = changed(seen, expected=LiveBytes("le32", Live("k", "rkey")))
    assert codes(tested, *plain(), live, wrong) == ["MKS2102"]


@pytest.mark.parametrize(
    ("operator", "expected", "good"),
    [
        ("==", 4, True), ("==", 5, False), ("!=", 5, True), ("!=", 4, False), (">=", 4, True), (">", 4, False),
        ("<=", 3, False), ("<", 5, True), ("==", OneOf((3, 4)), True), ("==", OneOf((3, 5)), False),
        ("==", "EINVAL", False), ("==", Any(), True), ("==", LiveOp("+", (Live("k", "max_entries"), 0)), True),
    ],
)  # fmt: skip
def test_live_values(operator: str, expected: Expected, good: bool) -> None:
    tested, _ = rig()
    step = Expect(at(7), Live("k", "max_entries"), operator, expected)
    if good:
        assert run(tested, *plain(), step).status == "pass"
    else:
        [failure] = failures(tested, *plain(), step)
        assert (failure.code, failure.at) == ("MKS2105", at(7))


# mkey_check ----------------------------------------------------------------------------------

GOOD = Framed(Counter(1024), CRC32)
BAD = Flip(GOOD, 516 + 513, 0)
CHECK = Check(at(7), "k", ("bad_guard",), 1, domain=CRC32)


def test_a_check_consumes_the_error() -> None:
    tested, _ = rig()
    assert run(tested, *validating(2, BAD), wire(Counter(1024)), CHECK).status == "pass"
    ok = Check(at(8), "k", ("ok",))
    assert run(tested, *validating(2, BAD), CHECK, ok).status == "pass"
    assert run(tested, *validating(2, GOOD), ok).status == "pass"


def test_found_computed_and_raw_members() -> None:
    tested, _ = rig()
    field = Field(Crc(0, 0xFFFFFFFF), Literal(Counter(1024).data[512:]))
    # Hardware, Errors 1 and 2: the last byte of the block with its field; actual is what was in the field.
    exact = changed(
        CHECK,
        found=Flip(field, 1, 0),
        computed=field,
        offset=2 * 516 - 1,
        actual=int.from_bytes(field.data, "big") ^ 0x10000,
        expected=int.from_bytes(field.data, "big"),
    )
    assert run(tested, *validating(2, BAD), exact).status == "pass"
    for wrong in (
        changed(exact, found=field),
        changed(exact, computed=Flip(field, 0, 0)),
        changed(exact, offset=515),
        changed(exact, actual=1),
        changed(exact, expected=1),
        changed(exact, block=0),
    ):
        [failure] = failures(tested, *validating(2, BAD), wrong)
        assert (failure.code, failure.at) == ("MKS2106", at(7))


def test_another_kind_than_claimed() -> None:
    tested, device = rig()
    assert codes(tested, *validating(2, GOOD), CHECK) == ["MKS2106"]
    assert codes(tested, *validating(2, BAD), changed(CHECK, kind=("ok",), block=None)) == ["MKS2106"]
    assert run(tested, *validating(2, BAD), changed(CHECK, kind=("bad_reftag", "bad_guard"))).status == "pass"
    device.record = SignatureError(3, 0, 0, 0)
    [failure] = failures(tested, *validating(2, BAD), CHECK)
    assert failure.message == "mkey_check of `k` says bad_apptag"


def test_a_wrong_block_is_told_as_a_block() -> None:
    tested, device = rig()
    device.record = SignatureError(1, 0, 0, 515)
    [failure] = failures(tested, *validating(2, BAD), CHECK)
    assert ("expected", "offset 0x407 (1031: block 1)") in failure.details
    assert ("got", "offset 0x203 (515: block 0)") in failure.details


def test_a_wrong_value_is_told_in_the_words_of_the_case() -> None:
    tested, _ = rig()
    [failure] = failures(tested, *validating(2, BAD), changed(CHECK, computed=Literal(bytes(4))))
    assert failure.message == "mkey_check of `k` says bad_guard, but with another computed"
    assert ("expected", "computed 0x0") in failure.details
    [failure] = failures(tested, *validating(2, BAD), changed(CHECK, expected=1))
    assert ("expected", "expected 0x1") in failure.details


def test_a_check_the_driver_refuses() -> None:
    tested, _ = rig()
    assert codes(tested, *plain(), Check(at(5), "k", ("ok",))) == ["MKS2001"]
    claimed = Check(at(5), "k", ("ok",), claim=(Rejected("mkey_check"),))
    assert run(tested, *plain(), claimed).status == "pass"
    assert codes(tested, *validating(2, GOOD), claimed) == ["MKS2002"]


# Canaries ------------------------------------------------------------------------------------


def test_canaries_differ_and_are_the_same_in_every_run() -> None:
    assert canary(1, 200).tobytes() == canary(1, 200).tobytes()
    assert canary(1, 200).tobytes() != canary(2, 200).tobytes()
    long = canary(65535, 3 << 20)
    assert len(long) == 3 << 20
    assert long[:100].tobytes() == canary(65535, 100).tobytes()


SNAPSHOT = one(
    "memory n[64]",
    "write m to w",
    "expect w == m",
    "let before = n",
    "write m[0 +: 32] to w[32 +: 32]",
    "expect w == m",
    "expect n == before",
)
WRITTEN = one("receive counter(64) into k by recv", "let after = m", "expect m == counter(64)", "expect m == after")


class Flipping(Model):
    """With the first write a bit of the buffer `n` flips."""

    flipped = False

    def post(self, qp: Qp, requests: Several[WorkRequest], *, abort: bool = False) -> int:
        found = super().post(qp, requests, abort=abort)
        if isinstance(requests[0], Write) and requests[0].sges and not self.flipped:
            self.flipped = True
            self.write(self.made[2], GUARD + 15, b"\xee")
        return found

    def memory(self, *args: Whatever, **options: Whatever) -> protocol.Memory:
        self.made.append(super().memory(*args, **options))
        return self.made[-1]

    def _empty(self) -> None:
        self.made: list[protocol.Memory] = []
        self.flipped = False
        super()._empty()


def test_a_snapshot_takes_over_what_may_have_been_written_alone() -> None:
    assert told(SNAPSHOT) == told(WRITTEN) == ["pass"]
    assert told(SNAPSHOT, Flipping(Profile())) == ["MKS2103:10"]
