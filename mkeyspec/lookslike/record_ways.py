"""Near misses of an error record: what is checked, which error is reported, and how it is laid down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from mkeyspec.abi.constants import T10difFlag
from mkeyspec.lookslike.hypothesis import USUAL, Escaped, Hypothesis, Rules
from mkeyspec.lookslike.search import HYPOTHESES
from mkeyspec.reference.buffer import Octets
from mkeyspec.value.signature import Domain, T10Dif

PARTS = {"bad_guard": (0, 2), "bad_apptag": (2, 4), "bad_reftag": (4, 8)}
"""The parts of a T10-DIF field by the error of each, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Told:
    """What mlx5dv_mkey_check tells, as the case says it. `kind` "ok": no error, and the other members are 0."""

    kind: str
    offset: int = 0
    expected: int = 0
    actual: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """An error before it is laid down: `found` and `computed` are the bytes of the bad part, `fields` both whole
    fields, found and computed."""

    kind: str
    block: int
    found: bytes
    computed: bytes
    domain: Domain
    fields: tuple[bytes, bytes]
    last: bool = False
    """Whether its block is the last one of several."""


LaidDown = Callable[[Report], Told]
"""By the device profile: an error to the members of struct mlx5dv_mkey_err."""
Pick = Callable[[list["Report"]], Optional["Report"]]
"""One of all errors of a message: block by block, the parts of one in the order guard, application, reference tag."""
Lay = Callable[[Told, Report], Told]


def _first(reports: list[Report]) -> Report | None:
    return reports[0] if reports else None


def _as_told(told: Told, report: Report) -> Told:
    return told


@dataclass(frozen=True, slots=True)
class Way:
    """A hypothesis about a record: other rules of the check, another choice of the error, or another layout of it."""

    name: str
    sentence: str
    rules: Rules = USUAL
    pick: Pick = _first
    lay: Lay = _as_told
    messages: int = 0
    """Which messages are looked at: 1 all of the case, -1 the last one; 0 those since the last check."""


def _of_kind(order: Sequence[str]) -> Pick:
    def pick(reports: list[Report]) -> Report | None:
        first = [one for one in reports if one.block == reports[0].block]
        return min(first, key=lambda one: order.index(one.kind), default=None) if reports else None

    return pick


def _last_block(reports: list[Report]) -> Report | None:
    return next((one for one in reports if one.block == reports[-1].block), None) if reports else None


def _only(choose: Callable[[Report], bool]) -> Pick:
    """Only some of the errors are found."""
    return lambda reports: next((one for one in reports if choose(one)), None)


def _above_lowest_bit(report: Report) -> bool:
    return any((x ^ y) & 0xFE for x, y in zip(report.found, report.computed, strict=True))


def _whole_message(order: Sequence[str]) -> Pick:
    """The first error of the first kind in all blocks."""
    return lambda reports: min(reports, key=lambda one: (order.index(one.kind), one.block), default=None)


def _turned(value: int, size: int) -> int:
    return int.from_bytes((value & (1 << 8 * size) - 1).to_bytes(size, "big"), "little")


def _size(report: Report) -> int:
    return max(len(report.found), 1)


def _values(change: Callable[[int, Report], int]) -> Lay:
    return lambda told, report: replace(
        told, expected=change(told.expected, report), actual=change(told.actual, report)
    )


def _offset(change: Callable[[int, Report], int]) -> Lay:
    return lambda told, report: replace(told, offset=change(told.offset, report))


def _kinds(kinds: dict[str, str]) -> Lay:
    return lambda told, report: replace(told, kind=kinds.get(told.kind, told.kind))


GUARD, _APP, _REF = PARTS


def _named(kinds: dict[str, str]) -> Pick:
    """The first error, told as another kind, with the values of the part that is named."""

    def pick(reports: list[Report]) -> Report | None:
        if not reports or len(reports[0].fields[0]) != PARTS[_REF][1]:
            return _first(reports)
        report, kind = reports[0], kinds.get(reports[0].kind, reports[0].kind)
        first, end = PARTS[kind]
        found, computed = (field[first:end] for field in report.fields)
        return replace(report, kind=kind, found=found, computed=computed)

    return pick


_KINDS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("guard_always", "every error is told as a bad guard", {_APP: GUARD, _REF: GUARD}),
    ("reference_always", "every error is told as a bad reference tag", {GUARD: _REF, _APP: _REF}),
    ("kinds_swapped", "application tag and reference tag are swapped in the kind of the error",
     {_APP: _REF, _REF: _APP}),
    ("guard_and_reference", "guard and reference tag are swapped in the kind of the error",
     {GUARD: _REF, _REF: GUARD}),
    ("guard_and_application", "guard and application tag are swapped in the kind of the error",
     {GUARD: _APP, _APP: GUARD}),
)  # fmt: skip

RECORDS: tuple[Way, ...] = (
    Way("record.none", "the error is not told: nothing is checked, or the error is lost", lay=lambda told, report: Told(
        "ok")),
    Way("record.last_block", "the last bad block is told, and not the first", pick=_last_block),
    Way("record.reference_first", "of several bad parts of a block the reference tag is told first",
        pick=_of_kind((_REF, _APP, GUARD))),
    Way("record.application_first", "of several bad parts of a block the application tag is told first",
        pick=_of_kind((_APP, GUARD, _REF))),
    Way("record.reference_second", "the reference tag is told before the application tag",
        pick=_of_kind((GUARD, _REF, _APP))),
    Way("record.guard_first_of_all", "a bad guard of a later block is told before the first bad block",
        pick=_whole_message((GUARD, _APP, _REF))),
    Way("record.tags_first_of_all", "a bad tag of a later block is told before the first bad block",
        pick=_whole_message((_REF, _APP, GUARD))),
    Way("check.first_block_only", "only the first block is checked", pick=_only(lambda one: one.block == 0)),
    Way("check.not_first_block", "the first block is not checked", pick=_only(lambda one: one.block > 0)),
    Way("check.not_last_block", "the last block is not checked", pick=_only(lambda one: not one.last)),
    Way("check.low_bit", "the lowest bit of each byte is not compared", pick=_only(_above_lowest_bit)),
    Way("record.again", "an error of a message before is told again", messages=1),
    Way("record.last_message", "the error of the last message takes the place of one not asked for", messages=-1),
    Way("record.swapped", "expected and actual are swapped",
        lay=lambda told, report: replace(told, expected=told.actual, actual=told.expected)),
    Way("record.byte_order", "the values are in the other byte order",
        lay=_values(lambda value, report: _turned(value, _size(report)))),
    Way("record.expected_byte_order", "the expected value is in the other byte order",
        lay=lambda told, report: replace(told, expected=_turned(told.expected, _size(report)))),
    Way("record.actual_byte_order", "the actual value is in the other byte order",
        lay=lambda told, report: replace(told, actual=_turned(told.actual, _size(report)))),
    Way("record.low_word", "the values have their low 32 bits only",
        lay=_values(lambda value, report: value & 0xFFFFFFFF)),
    Way("record.low_half", "the values have their low 16 bits only", lay=_values(lambda value, report: value & 0xFFFF)),
    Way("record.high_word", "the values have their high 32 bits only", lay=_values(lambda value, report: value >> 32)),
    Way("record.inverted", "the values are inverted",
        lay=_values(lambda value, report: value ^ ((1 << 8 * _size(report)) - 1))),
    Way("record.zero", "the values are zero", lay=_values(lambda value, report: 0)),
    Way("record.expected_zero", "the expected value is zero", lay=lambda told, report: replace(told, expected=0)),
    Way("record.actual_zero", "the actual value is zero", lay=lambda told, report: replace(told, actual=0)),
    Way("record.both_expected", "the expected value is told twice",
        lay=lambda told, report: replace(told, actual=told.expected)),
    Way("record.both_actual", "the actual value is told twice",
        lay=lambda told, report: replace(told, expected=told.actual)),
    Way("record.whole_field", "the values are those of the whole field", lay=lambda told, report: replace(
        told, actual=int.from_bytes(report.fields[0], "big"), expected=int.from_bytes(report.fields[1], "big"))),
    Way("record.guard_values", "the values are those of the guard", lay=lambda told, report: replace(
        told, actual=int.from_bytes(report.fields[0][:2], "big"),
        expected=int.from_bytes(report.fields[1][:2], "big"))),
    Way("record.offset_zero", "the offset is zero", lay=_offset(lambda offset, report: 0)),
    Way("record.offset_block", "the offset is the number of the block",
        lay=_offset(lambda offset, report: report.block)),
    Way("record.offset_block_start", "the offset is where the block begins, fields counted",
        lay=_offset(lambda offset, report: report.block * report.domain.frame)),
    Way("record.offset_data", "the offset is where the block begins, fields not counted",
        lay=_offset(lambda offset, report: report.block * report.domain.block)),
    Way("record.offset_data_end", "the offset is where the block's data ends, fields not counted",
        lay=_offset(lambda offset, report: (report.block + 1) * report.domain.block)),
    Way("record.offset_data_last", "the offset is the last byte of the block, fields not counted",
        lay=_offset(lambda offset, report: (report.block + 1) * report.domain.block - 1)),
    Way("record.offset_field", "the offset is where the field begins",
        lay=_offset(lambda offset, report: report.block * report.domain.frame + report.domain.block)),
    Way("record.offset_part", "the offset is where the bad part begins", lay=_offset(
        lambda offset, report: report.block * report.domain.frame + report.domain.block + PARTS[report.kind][0])),
    Way("record.offset_end", "the offset is where the next block begins",
        lay=_offset(lambda offset, report: (report.block + 1) * report.domain.frame)),
    Way("record.offset_one_more", "the offset is one too large", lay=_offset(lambda offset, report: offset + 1)),
    Way("record.offset_next", "the offset is that of the next block",
        lay=_offset(lambda offset, report: offset + report.domain.frame)),
    Way("record.offset_before", "the offset is that of the block before",
        lay=_offset(lambda offset, report: max(offset - report.domain.frame, 0))),
    Way("record.offset_first", "the offset is that of the first block, whichever is bad",
        lay=_offset(lambda offset, report: offset - report.block * report.domain.frame)),
    *(Way(f"record.{name}", sentence, lay=_kinds(kinds)) for name, sentence, kinds in _KINDS),
    *(Way(f"record.{name}", f"{sentence}, with the values of that part", pick=_named(kinds))
      for name, sentence, kinds in _KINDS),
)  # fmt: skip


def _mask(change: Callable[[int], int]) -> Rules:
    return Rules(masked=lambda mask, domain: change(mask))


def _no_escape(escaped: Octets, fields: Octets, domain: Domain) -> Octets:
    return np.zeros_like(escaped)


def _escapes(choose: Callable[[Octets], Octets], flags: int) -> Rules:
    """Blocks are escaped by another condition, if the domain has one of the flags (0: always)."""

    def escaped(now: Octets, fields: Octets, domain: Domain) -> Octets:
        signature = domain.signature
        if not isinstance(signature, T10Dif) or (flags and not signature.flags & flags):
            return now
        return choose(fields)

    return Rules(escaped=escaped)


def escaped_blocks(signature: T10Dif, domain: Domain, fields: Octets, rules: Rules) -> Octets:
    """Which blocks are not checked, (n,) of bool."""
    escaped = np.zeros(len(fields), bool)
    if signature.flags & T10difFlag.APP_ESCAPE:
        escaped |= _ones(2, 4)(fields).astype(bool)
    if signature.flags & T10difFlag.APP_REF_ESCAPE:
        escaped |= _ones(2, 8)(fields).astype(bool)
    as_octets: Octets = escaped
    return as_octets if rules.escaped is None else rules.escaped(as_octets, fields, domain)


Fits = Callable[[Told], bool]


def _without(flag: T10difFlag) -> Escaped:
    """As if the flag were not set."""

    def escaped(now: Octets, fields: Octets, domain: Domain) -> Octets:
        signature = domain.signature
        assert isinstance(signature, T10Dif)
        flags = signature.flags & ~flag
        return escaped_blocks(replace(signature, flags=flags), domain, fields, Rules())

    return escaped


def _ones(first: int, end: int) -> Callable[[Octets], Octets]:
    return lambda fields: (fields[:, first:end] == 0xFF).all(axis=1)


def _tags_only(escaped: Octets, fields: Octets, domain: Domain) -> Octets:
    made = np.zeros(fields.shape, bool)
    made[escaped.astype(bool), 2:] = True
    as_octets: Octets = made
    return as_octets


def _flags_swapped(escaped: Octets, fields: Octets, domain: Domain) -> Octets:
    signature = domain.signature
    assert isinstance(signature, T10Dif)
    made = np.zeros(len(fields), bool)
    if signature.flags & T10difFlag.APP_REF_ESCAPE:
        made |= _ones(2, 4)(fields).astype(bool)
    if signature.flags & T10difFlag.APP_ESCAPE:
        made |= _ones(2, 8)(fields).astype(bool)
    as_octets: Octets = made
    return as_octets


_BOTH = int(T10difFlag.APP_ESCAPE | T10difFlag.APP_REF_ESCAPE)
_APP_REF = int(T10difFlag.APP_REF_ESCAPE)

CHECKS: tuple[Way, ...] = (
    Way("check.all", "everything is checked, whatever the check mask says", _mask(lambda mask: 0xFF)),
    Way("check.turned", "the bits of the check mask are taken in the other order", _mask(
        lambda mask: int(f"{mask & 0xFF:08b}"[::-1], 2))),
    Way("check.inverted", "the bits of the check mask mean the opposite", _mask(lambda mask: mask ^ 0xFF)),
    Way("check.no_guard", "the guard is not checked", _mask(lambda mask: mask & 0x3F)),
    Way("check.no_app", "the application tag is not checked", _mask(lambda mask: mask & 0xCF)),
    Way("check.no_ref", "the reference tag is not checked", _mask(lambda mask: mask & 0xF0)),
    Way("check.guard", "the guard is checked, whatever the check mask says", _mask(lambda mask: mask | 0xC0)),
    Way("check.app", "the application tag is checked, whatever the check mask says", _mask(lambda mask: mask | 0x30)),
    Way("check.ref", "the reference tag is checked, whatever the check mask says", _mask(lambda mask: mask | 0x0F)),
    Way("check.guard_only", "only the bits of the guard count in the check mask", _mask(lambda mask: mask & 0xC0)),
    Way("check.shifted", "the bits of the check mask count for the byte after", _mask(lambda mask: mask >> 1)),
    Way("check.shifted_down", "the bits of the check mask count for the byte before", _mask(
        lambda mask: mask << 1 & 0xFF)),
    Way("check.high_half", "only the first half of the check mask counts", _mask(lambda mask: mask & 0xF0)),
    Way("check.low_half", "only the second half of the check mask counts", _mask(lambda mask: mask & 0x0F)),
    Way("check.parts", "a part of the field is checked whole where the check mask names one byte of it", _mask(
        lambda mask: (0xC0 if mask & 0xC0 else 0) | (0x30 if mask & 0x30 else 0) | (0x0F if mask & 0x0F else 0))),
    Way("check.first_bytes", "a part is checked only where the check mask names all of it", _mask(
        lambda mask: sum(part for part in (0xC0, 0x30, 0x0F) if mask & part == part))),
    Way("escape.ignored", "escapes are ignored", Rules(escaped=_no_escape)),
    Way("escape.app_ignored", "the flag of an escape by the application tag is ignored", Rules(
        escaped=_without(T10difFlag.APP_ESCAPE))),
    Way("escape.app_ref_ignored", "the flag of an escape by both tags is ignored", Rules(
        escaped=_without(T10difFlag.APP_REF_ESCAPE))),
    Way("escape.app_always", "an application tag of ones is an escape without the flag", _escapes(_ones(2, 4), 0)),
    Way("escape.both_always", "tags of ones are an escape without the flag", _escapes(_ones(2, 8), 0)),
    Way("escape.app_alone", "an application tag of ones alone is an escape under app_ref_escape", _escapes(
        _ones(2, 4), _APP_REF)),
    Way("escape.ref_alone", "a reference tag of ones alone is an escape", _escapes(_ones(4, 8), _BOTH)),
    Way("escape.needs_ref", "an escape needs a reference tag of ones, too", _escapes(_ones(2, 8), _BOTH)),
    Way("escape.one_byte", "the first byte of the application tag alone is an escape", _escapes(_ones(2, 3), _BOTH)),
    Way("escape.last_byte", "the last byte of the application tag alone is an escape", _escapes(_ones(3, 4), _BOTH)),
    Way("escape.fffe", "an application tag of 0xfffe is the escape", _escapes(
        lambda fields: (fields[:, 2] == 0xFF) & (fields[:, 3] == 0xFE), _BOTH)),
    Way("escape.tags_only", "an escape exempts the tags, and the guard is checked", Rules(escaped=_tags_only)),
    Way("escape.flags_swapped", "the two escape flags are swapped", Rules(escaped=_flags_swapped)),
    Way("escape.low_ref", "only the lower half of an escape's reference tag is looked at", _escapes(
        lambda fields: _ones(2, 4)(fields) & _ones(6, 8)(fields), _APP_REF)),
    Way("escape.zero", "an application tag of zeros is an escape", _escapes(
        lambda fields: (fields[:, 2:4] == 0).all(axis=1), _BOTH)),
    Way("escape.half_ref", "half of a reference tag of ones is an escape", _escapes(_ones(2, 6), _APP_REF)),
    Way("escape.everything", "one escaped block lets all blocks pass", _escapes(
        lambda fields: np.full(len(fields), bool((fields[:, 2:4] == 0xFF).all(axis=1).any())), _BOTH)),
    Way("escape.rest", "an escaped block lets all blocks after it pass", _escapes(
        lambda fields: np.logical_or.accumulate((fields[:, 2:4] == 0xFF).all(axis=1)), _BOTH)),
)  # fmt: skip


def _computed(one: Hypothesis) -> Way:
    return Way(one.name, one.sentence, one.rules)


WAYS: tuple[Way, ...] = (*RECORDS, *CHECKS, *(_computed(one) for one in HYPOTHESES))
