"""Near misses of an error record, each with a record that is computed apart from the references."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mkeyspec import plan
from mkeyspec.abi.constants import BgType, CrcType
from mkeyspec.lookslike.record_ways import Report, Told
from mkeyspec.lookslike.records import record_looks_like
from mkeyspec.lookslike.transfer import Stage
from mkeyspec.plan import At
from mkeyspec.value.bytestring import Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.lookslike.bitwise import blocks, counting, crc32c, t10

DATA = counting(3 * 512)
GOOD = b"".join(block + crc32c(block) for block in blocks(DATA, 512))
BAD = bytes([*GOOD[: 516 + 512], GOOD[516 + 512] ^ 1, *GOOD[516 + 513 :]])
"""The field of block 1 is wrong."""
AT = At(1, 1)
DOMAIN = Domain(Crc(CrcType.CRC32C, (1 << 64) - 1), 512)
STEPS = (
    plan.Memory(AT, "m", len(BAD), Literal(BAD)),
    plan.Mkey(AT, "k", 0, 1),
    plan.Post(AT, (plan.Configure(AT, "k", (
        plan.SetLayout(List((Part("m", 0, len(BAD)),))), plan.SetSignature(DOMAIN, None, 0xF0))),)),
    plan.Transmit(AT, Part("k", 0, len(DATA)), "send"),
)  # fmt: skip
FOUND = int.from_bytes(BAD[516 + 512 : 516 + 516], "big")
COMPUTED = int.from_bytes(GOOD[516 + 512 : 516 + 516], "big")
TRUE = Told("bad_guard", 2 * 516 - 1, COMPUTED, FOUND)


def unread(subject: str, member: str) -> int:
    raise KeyError(member)


def laid_down(report: Report) -> Told:
    expected, actual = (int.from_bytes(part, "big") for part in (report.computed, report.found))
    return Told(report.kind, (report.block + 1) * 516 - 1, expected, actual)


def names(got: Told) -> list[str]:
    stage = Stage(STEPS, {"m": BAD, "@": bytes(len(DATA))}, unread)
    found = record_looks_like(stage, "k", got, lambda told: told == TRUE, laid_down)
    return [cause.name for cause in found.causes]


def number(data: bytes) -> int:
    return int.from_bytes(data, "big")


FIRST = DATA[:512]
ROWS = (
    ("record.none", Told("ok")),
    ("record.swapped", replace(TRUE, expected=FOUND, actual=COMPUTED)),
    ("record.offset_next", replace(TRUE, offset=3 * 516 - 1)),
    ("record.offset_first", replace(TRUE, offset=515)),
    ("record.offset_data", replace(TRUE, offset=512)),
    ("record.both_actual", replace(TRUE, expected=FOUND)),
    ("record.byte_order", Told(
        "bad_guard", 1031, number(COMPUTED.to_bytes(4, "little")), number(FOUND.to_bytes(4, "little")))),
    ("crc.inversion", Told("bad_guard", 515, number(crc32c(FIRST, xorout=0)), number(GOOD[512:516]))),
    ("crc.seed_zeros", Told("bad_guard", 515, number(crc32c(FIRST, seed=0)), number(GOOD[512:516]))),
)  # fmt: skip


@pytest.mark.parametrize(("name", "got"), ROWS, ids=[name for name, _ in ROWS])
def test_a_near_miss_is_named(name: str, got: Told) -> None:
    assert name in names(got)


def test_an_error_that_was_told_is_told_again() -> None:
    stage = Stage((*STEPS, plan.Check(AT, "k", ("bad_guard",), 1)), {"m": BAD, "@": bytes(len(DATA))}, unread)
    found = record_looks_like(stage, "k", TRUE, lambda told: told.kind == "ok", laid_down)
    assert [cause.name for cause in found.causes] == ["record.again"]


def test_a_field_that_is_right_is_told_of() -> None:
    steps = (plan.Memory(AT, "m", len(GOOD), Literal(GOOD)), *STEPS[1:])
    stage = Stage(steps, {"m": GOOD, "@": bytes(len(DATA))}, unread)
    right = number(crc32c(DATA[512:1024]))
    for got, expected in (
        (Told("bad_guard", 2 * 516 - 1, right, right), ["check.false_alarm"]),
        (Told("bad_guard", 2 * 516 - 1, right ^ 1, right), []),
        (Told("bad_guard", 516 - 1, right, right), []),
    ):
        found = record_looks_like(stage, "k", got, lambda told: told.kind == "ok", laid_down)
        assert [cause.name for cause in found.causes] == expected


def test_another_kind_with_the_values_of_its_part() -> None:
    """Drivers read the values by the kind that the device names."""
    block = DATA[:512]
    good = t10(block) + bytes.fromhex("56780fdebc9a")
    bad = good[:4] + bytes.fromhex("0fdebc9b")
    signature = T10Dif(BgType.CRC, 0, 0x5678, 0x0FDEBC9A)
    layout = plan.SetLayout(List((Part("m", 0, 520),)))
    domain = Domain(signature, 512)
    steps = (
        plan.Memory(AT, "m", 520, Literal(block + bad)),
        plan.Mkey(AT, "k", 0, 1),
        plan.Post(AT, (plan.Configure(AT, "k", (layout, plan.SetSignature(domain, None, 0xFF))),)),
        plan.Transmit(AT, Part("k", 0, 512), "send"),
    )
    stage = Stage(steps, {"m": block + bad, "@": bytes(512)}, unread)
    guard = number(good[:2])

    def of_t10(report: Report) -> Told:
        return Told(report.kind, 519, number(report.computed), number(report.found))

    true = Told("bad_reftag", 519, 0x0FDEBC9A, 0x0FDEBC9B)
    for got, name in (
        (Told("bad_guard", 519, guard, guard), "record.guard_always"),
        (Told("bad_guard", 519, true.expected, true.actual), "record.guard_always"),
        (Told("bad_apptag", 519, 0x5678, 0x5678), "record.kinds_swapped"),
    ):
        found = record_looks_like(stage, "k", got, lambda told: told == true, of_t10)
        assert name in [cause.name for cause in found.causes]


def test_another_record_is_none() -> None:
    assert names(replace(TRUE, actual=FOUND ^ 0x55)) == []


def test_a_message_that_is_not_understood_is_left_alone() -> None:
    stage = Stage(STEPS, {"m": BAD, "@": bytes(len(DATA))}, unread)
    assert record_looks_like(stage, "k", Told("ok"), lambda told: False, laid_down).causes == ()


ALL_ZEROS = b"".join(block + crc32c(block, seed=0) for block in blocks(DATA, 512))
ONE_BLOCK = DATA[:512]
TAGS = bytes.fromhex("56780fdebc9a")
DECLARED: tuple[tuple[Domain, bytes, str], ...] = (
    (DOMAIN, BAD, "not all fields in memory are those of crc32c(ones)"),
    (DOMAIN, ALL_ZEROS, "the fields in memory are those of crc32c(zeros), and not of crc32c(ones)"),
    (Domain(T10Dif(BgType.CRC, 0, 0x5678, 7), 512), ONE_BLOCK + t10(ONE_BLOCK) + TAGS,
     ("the fields in memory are those of t10dif(app_tag=0x5678, ref_tag=0xfdebc9a), "
      "and not of t10dif(app_tag=0x5678, ref_tag=0x7)")),
    (Domain(T10Dif(BgType.CRC, 0, 1, 7), 512), ONE_BLOCK + t10(ONE_BLOCK) + TAGS,
     "not all fields in memory are those of t10dif(app_tag=0x1, ref_tag=0x7)"),
)  # fmt: skip
"""What is declared, the memory, and what is said of it."""


@pytest.mark.parametrize(("domain", "memory", "said"), DECLARED)
def test_the_case_is_wrong_where_the_record_is_the_references(domain: Domain, memory: bytes, said: str) -> None:
    """The device told what the fields in memory are, and the case expects no error."""
    length = len(memory) // domain.frame * 512
    layout = plan.SetLayout(List((Part("m", 0, len(memory)),)))
    steps = (
        plan.Memory(AT, "m", len(memory), Literal(memory)),
        plan.Mkey(AT, "k", 0, 1),
        plan.Post(AT, (plan.Configure(AT, "k", (layout, plan.SetSignature(domain, None, 0xFF))),)),
        plan.Transmit(AT, Part("k", 0, length), "send"),
    )
    stage = Stage(steps, {"m": memory, "@": bytes(length)}, unread)
    told: list[Told] = []

    def noted(report: Report) -> Told:
        told.append(laid_down(report))
        return told[-1]

    record_looks_like(stage, "k", Told("ok"), lambda one: False, noted)
    found = record_looks_like(stage, "k", told[0], lambda one: one.kind == "ok", noted)
    assert found.lines() == (f"by the references the device did what the case declares: {said}",)
    other = replace(told[0], actual=told[0].actual ^ 1)
    assert record_looks_like(stage, "k", other, lambda one: one.kind == "ok", noted).causes == ()
