"""Faults of the T10-DIF tuple and of its escapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import BgType
from mkeyspec.device.model.configuration import Configuration
from mkeyspec.device.model.execution import Execution, Outcome
from mkeyspec.device.model.key import Bytes
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.signature import (
    APP_ESCAPE,
    APP_REF_ESCAPE,
    REF_REMAP,
    Arithmetic,
    Bad,
    Flags,
    SigDomain,
    Signature,
)
from mkeyspec.device.protocol import SigBlockDomain
from mkeyspec.reference.dif import SumParameters
from mkeyspec.sabotage.fault import fault, profile

CRC, CSUM = int(BgType.CRC), int(BgType.CSUM)
CCITT = 0x1021


def _guard(name: str, kind: int, **change: Any) -> None:
    @fault(name)
    class Mutant(Arithmetic):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.guards[kind] = replace(self.guards[kind], **change)


_guard("t10_polynomial", CRC, poly=CCITT)
_guard("t10_inverted", CRC, xorout=0xFFFF)
_guard("t10_guard_little_endian", CRC, order="little")
_guard("t10_reflected", CRC, refin=True, refout=True)
_guard("csum_not_inverted", CSUM, xorout=0)
_guard("csum_little_endian", CSUM, order="little")


@fault("t10_guard_is_csum")
class T10GuardIsCsum(Arithmetic):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.guards[CRC] = self.guards[CSUM]


@fault("csum_is_crc")
class CsumIsCrc(Arithmetic):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.guards[CSUM] = self.guards[CRC]


def _tuple(name: str, change: Callable[[SigDomain], SigDomain]) -> None:
    """Every T10-DIF domain as it is configured, changed."""

    @fault(name)
    class Mutant(Arithmetic):
        def domain(self, given: SigBlockDomain) -> SigDomain:
            made = super().domain(given)
            return made if made.crc is not None else change(made)


_tuple("t10_seed_ignored", lambda domain: replace(domain, bg=0) if domain.bg_type == CRC else domain)
_tuple("app_tag_ignored", lambda domain: replace(domain, app_tag=0))
_tuple("app_tag_high_byte_ignored", lambda domain: replace(domain, app_tag=domain.app_tag & 0xFF))
_tuple("app_tag_little_endian", lambda domain: replace(domain, app_tag=_turned(domain.app_tag, 2)))
_tuple("ref_tag_ignored", lambda domain: replace(domain, ref_tag=0))
_tuple("ref_tag_constant", lambda domain: replace(domain, flags=domain.flags & ~REF_REMAP))
_tuple("ref_tag_always_grows", lambda domain: replace(domain, flags=domain.flags | REF_REMAP))


def _turned(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "big"), "little")


@fault("csum_without_carry")
class CsumWithoutCarry(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        fields = super().calculate(domain, data, before)
        if domain.crc is None and isinstance(domain.guard, SumParameters):
            words = data.reshape(-1, domain.block).view(">u2").astype(np.uint64)
            sums = (words.sum(axis=1) + np.uint64(domain.bg & domain.guard.seed_mask)) & np.uint64(0xFFFF)
            fields[:, 0:2] = (sums ^ np.uint64(domain.guard.xorout)).astype(">u2").view(np.uint8).reshape(-1, 2)
        return fields


@fault("ref_tag_app_swapped")
class RefTagAppSwapped(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        fields = super().calculate(domain, data, before)
        return fields if domain.crc is not None else fields[:, [0, 1, 4, 5, 6, 7, 2, 3]]


Tags = npt.NDArray[np.uint64]


def _ref_tags(name: str, tags: Callable[[SigDomain, Tags], Tags], order: str = ">u4") -> None:
    """`tags` makes the ref tags (modulo 2^32) of a domain's blocks, which are told by their numbers."""

    @fault(name)
    class Mutant(Arithmetic):
        def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
            fields = super().calculate(domain, data, before)
            if domain.crc is None:
                numbers = np.arange(len(fields), dtype=np.uint64) + np.uint64(before // domain.block)
                made = tags(domain, numbers) & np.uint64(0xFFFFFFFF)
                fields[:, 4:8] = made.astype(order).view(np.uint8).reshape(-1, 4)
            return fields


def _stepped(domain: SigDomain, numbers: Tags) -> Tags:
    return numbers if domain.flags & REF_REMAP else numbers * np.uint64(0)


def _plain(domain: SigDomain, numbers: Tags) -> Tags:
    made: Tags = np.uint64(domain.ref_tag) + _stepped(domain, numbers)
    return made


def _early(domain: SigDomain, numbers: Tags) -> Tags:
    return _plain(domain, numbers + np.uint64(1))


def _shrinking(domain: SigDomain, numbers: Tags) -> Tags:
    made: Tags = np.uint64(domain.ref_tag) - _stepped(domain, numbers)
    return made


def _by_512(domain: SigDomain, numbers: Tags) -> Tags:
    return _plain(domain, numbers * np.uint64(max(1, domain.block // 512)))


def _16_bits(domain: SigDomain, numbers: Tags) -> Tags:
    made: Tags = np.uint64(domain.ref_tag & ~0xFFFF) | _plain(domain, numbers) & np.uint64(0xFFFF)
    return made


def _signed(domain: SigDomain, numbers: Tags) -> Tags:
    made: Tags = np.uint64(domain.ref_tag & 0x80000000) | _plain(domain, numbers) & np.uint64(0x7FFFFFFF)
    return made


_ref_tags("ref_tag_little_endian", _plain, "<u4")
_ref_tags("ref_tag_early", _early)
_ref_tags("ref_tag_shrinks", _shrinking)
_ref_tags("ref_tag_by_512", _by_512)
_ref_tags("ref_tag_16_bits", _16_bits)
_ref_tags("ref_tag_31_bits", _signed)


@fault("ref_tag_restarts_with_sge")
class RefTagRestartsWithSge(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        return super().calculate(domain, data, 0)


profile("ref_tag_never_restarts", ref_tag_restart="configuration")


@fault("ref_tag_never_restarts")
class RefTagNeverRestarts(Execution):
    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        state = work.mkey.state
        moved = state.moved if state is not None else 0
        outcome = super()._configure(queue, work)
        if state is not None:
            state.moved = moved
        return outcome


# Escapes -------------------------------------------------------------------------------------


def _escape(name: str, exempt: Callable[[int, Bytes, Flags | None], Flags | None]) -> None:
    """`exempt` is told a domain's flags, the fields, and which blocks are rightly exempt."""

    @fault(name)
    class Mutant(Arithmetic):
        def escaped(self, flags: int, stored: Bytes) -> Flags | None:
            return exempt(flags, stored, super().escaped(flags, stored))


def _all_ones(stored: Bytes, first: int, end: int) -> Flags:
    ones: Flags = (stored[:, first:end] == 0xFF).all(axis=1)
    return ones


def _app(flags: int) -> bool:
    return bool(flags & APP_ESCAPE) and not flags & APP_REF_ESCAPE


def _instead(wanted: int, first: int, end: int) -> Callable[[int, Bytes, Flags | None], Flags | None]:
    """The escape `wanted` looks at the bytes from `first` to `end`, and those only."""

    def exempt(flags: int, stored: Bytes, right: Flags | None) -> Flags | None:
        applies = bool(flags & APP_REF_ESCAPE) if wanted == APP_REF_ESCAPE else _app(flags)
        return _all_ones(stored, first, end) if applies else right

    return exempt


_escape("app_escape_ignored", lambda flags, stored, right: None if _app(flags) else right)
_escape("app_ref_escape_ignored", lambda flags, stored, right: None if flags & APP_REF_ESCAPE else right)
_escape("app_escape_high_byte", _instead(APP_ESCAPE, 2, 3))
_escape("app_escape_low_byte", _instead(APP_ESCAPE, 3, 4))
_escape("app_ref_escape_app_only", _instead(APP_REF_ESCAPE, 2, 4))
_escape("app_ref_escape_ref_only", _instead(APP_REF_ESCAPE, 4, 8))


def _off_by_one(flags: int, stored: Bytes, right: Flags | None) -> Flags | None:
    return (stored[:, 2:4] == [0xFF, 0xFE]).all(axis=1) if _app(flags) else right


def _half_ref(flags: int, stored: Bytes, right: Flags | None) -> Flags | None:
    return _all_ones(stored, 2, 4) & _all_ones(stored, 6, 8) if flags & APP_REF_ESCAPE else right


def _without_flag(flags: int, stored: Bytes, right: Flags | None) -> Flags | None:
    return _all_ones(stored, 2, 4) if right is None else right


def _spreading(flags: int, stored: Bytes, right: Flags | None) -> Flags | None:
    return None if right is None else np.logical_or.accumulate(right)


_escape("app_escape_off_by_one", _off_by_one)
_escape("app_ref_escape_half_ref", _half_ref)
_escape("escape_without_flag", _without_flag)
_escape("escape_spreads", _spreading)


@fault("escape_flags_swapped")
class EscapeFlagsSwapped(Arithmetic):
    def escaped(self, flags: int, stored: Bytes) -> Flags | None:
        swapped = APP_ESCAPE * bool(flags & APP_REF_ESCAPE) | APP_REF_ESCAPE * bool(flags & APP_ESCAPE)
        return super().escaped(swapped, stored)


@fault("escape_tags_only")
class EscapeTagsOnly(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        strict = replace(source, flags=source.flags & ~(APP_ESCAPE | APP_REF_ESCAPE))
        tags = replace(signature, check_mask=signature.check_mask & 0x3F)
        guard = replace(signature, check_mask=signature.check_mask & 0xC0)
        if source.crc is not None:
            return super()._first_bad(signature, source, data, stored, before)
        found = [
            super()._first_bad(guard, strict, data, stored, before),
            super()._first_bad(tags, source, data, stored, before),
        ]
        return min((bad for bad in found if bad is not None), key=lambda bad: bad.block, default=None)


# Reports of tags -----------------------------------------------------------------------------


@fault("error_ref_tag_of_first")
class ErrorRefTagOfFirst(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        bad = super()._first_bad(signature, source, data, stored, before)
        if bad is None or source.crc is not None:
            return bad
        return replace(bad, computed=bad.computed[:4] + source.ref_tag.to_bytes(4, "big"))


@fault("error_ref_tag_16_bits")
class ErrorRefTag16Bits(Arithmetic):
    def record(self, bad: Bad) -> tuple[int, int, int, int]:
        kind, expected, actual, offset = super().record(bad)
        if bad.part == "ref":
            expected, actual = expected & 0xFFFF, actual & 0xFFFF
        return kind, expected, actual, offset
