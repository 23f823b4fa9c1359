"""Near misses of T10-DIF fields: the guard, the application tag, the reference tag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mkeyspec.abi.constants import BgType
from mkeyspec.lookslike.hypothesis import Fields, FieldsJob, Hypothesis, Rules
from mkeyspec.reference.buffer import Octets
from mkeyspec.reference.crc import T10, CrcParameters
from mkeyspec.reference.dif import CSUM, Guard, guard_blocks
from mkeyspec.value.fields import GUARD_PARAMETERS, stored_fields
from mkeyspec.value.signature import T10Dif

Change = Callable[[Octets, FieldsJob, T10Dif], None]
"""Changes the fields, (n, 8), in place."""


def _changed(change: Change) -> Fields:
    def fields(job: FieldsJob) -> Octets | None:
        signature = job.signature
        if not isinstance(signature, T10Dif):
            return None
        made: Octets = stored_fields(signature, job.data, job.block, job.index, job.app_tags).copy()
        change(made, job, signature)
        return made

    return fields


def _guard(parameters: Callable[[Guard], Guard], bg: int | None = None, only: BgType | None = None) -> Fields:
    """The guard with other parameters; `only`: of this type of guard."""

    def change(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
        own = GUARD_PARAMETERS[signature.bg_type]
        start = signature.bg & 0xFFFF if bg is None else bg
        if only is None or signature.bg_type == only:
            made[:, 0:2] = guard_blocks(parameters(own), job.data, job.block, start)

    return _changed(change)


def _crc(**changes: Any) -> Fields:
    def parameters(own: Guard) -> Guard:
        assert isinstance(own, CrcParameters)
        return replace(own, **changes)

    return _guard(parameters, only=BgType.CRC)


def _inverted(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
    made[:, 0:2] ^= 0xFF


def _swapped(first: int, end: int) -> Fields:
    def change(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
        made[:, first:end] = made[:, first:end][:, ::-1].copy()

    return _changed(change)


def _filled(first: int, end: int, byte: int) -> Fields:
    def change(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
        made[:, first:end] = byte

    return _changed(change)


def _refs(number: Callable[[int, int, FieldsJob, T10Dif], int]) -> Fields:
    """The reference tag of block k by (first tag, k)."""

    def change(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
        first = signature.ref_tag & 0xFFFFFFFF
        for row in range(len(made)):
            value = number(first, job.index + row, job, signature) & 0xFFFFFFFF
            made[row, 4:8] = np.frombuffer(value.to_bytes(4, "big"), np.uint8)

    return _changed(change)


def _apps(number: Callable[[int, int, T10Dif], int]) -> Fields:
    def change(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
        for row in range(len(made)):
            own = int.from_bytes(made[row, 2:4].tobytes(), "big")
            value = number(own, job.index + row, signature) & 0xFFFF
            made[row, 2:4] = np.frombuffer(value.to_bytes(2, "big"), np.uint8)

    return _changed(change)


def _rest(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
    made[:, 2:8] = np.concatenate((made[:, 4:8], made[:, 2:4]), axis=1)


def _over_tags(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
    """The guard covers the tags too."""
    rows = np.frombuffer(job.data, np.uint8).reshape(-1, job.block)
    both = np.ascontiguousarray(np.concatenate((rows, made[:, 2:8]), axis=1))
    made[:, 0:2] = guard_blocks(GUARD_PARAMETERS[signature.bg_type], both, job.block + 6, signature.bg & 0xFFFF)


def _guard_goes_on(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
    parameters, start = GUARD_PARAMETERS[signature.bg_type], signature.bg & 0xFFFF
    for row in range(min(len(made), 4096)):
        piece = job.data[row * job.block : (row + 1) * job.block]
        made[row, 0:2] = guard_blocks(parameters, piece, job.block, start)[0]
        start = int.from_bytes(made[row, 0:2].tobytes(), "big") ^ parameters.xorout


def _carries_lost(made: Octets, job: FieldsJob, signature: T10Dif) -> None:
    if signature.bg_type != BgType.CSUM or job.block % 2:
        return
    words = np.frombuffer(job.data, ">u2").reshape(-1, job.block // 2).astype(np.uint64)
    total = (words.sum(axis=1) + np.uint64(signature.bg & 0xFFFF)) & np.uint64(0xFFFF)
    made[:, 0:2] = (total ^ np.uint64(0xFFFF)).astype(">u2").view(np.uint8).reshape(-1, 2)


TUPLES: tuple[Hypothesis, ...] = tuple(
    Hypothesis(name, sentence, Rules(fields=fields))
    for name, sentence, fields in (
        ("guard.crc", "the guard is the T10 CRC and not the checksum", _guard(lambda own: T10, only=BgType.CSUM)),
        ("guard.checksum", "the guard is the checksum and not the T10 CRC", _guard(lambda own: CSUM, only=BgType.CRC)),
        ("guard.seed_zeros", "the guard starts from zeros", _guard(lambda own: own, 0)),
        ("guard.seed_ones", "the guard starts from ones", _guard(lambda own: own, 0xFFFF)),
        ("guard.inversion", "the guard is inverted, or its inversion is missing", _changed(_inverted)),
        ("guard.byte_order", "the bytes of the guard are in the other order", _swapped(0, 2)),
        ("guard.reflection", "the guard's CRC is computed reflected", _crc(refin=True, refout=True)),
        ("guard.reflection_in", "the bits of each byte enter the guard in the other order", _crc(refin=True)),
        ("guard.reflection_out", "the bits of the guard are in the other order", _crc(refout=True)),
        ("guard.ccitt", "the guard is computed with the polynomial of CRC-CCITT", _crc(poly=0x1021)),
        ("guard.arc", "the guard is computed with the polynomial of CRC-16", _crc(poly=0x8005)),
        ("guard.covers_tags", "the guard covers the tags too", _changed(_over_tags)),
        ("guard.seed_not_restarted", "the guard goes on from block to block", _changed(_guard_goes_on)),
        ("guard.carries", "the carries of the checksum are lost", _changed(_carries_lost)),
        ("guard.zero", "the guard is zero", _filled(0, 2, 0)),
        ("guard.ones", "the guard is all ones", _filled(0, 2, 0xFF)),
        ("app.zero", "the application tag is zero", _filled(2, 4, 0)),
        ("app.ones", "the application tag is all ones", _filled(2, 4, 0xFF)),
        ("app.byte_order", "the bytes of the application tag are in the other order", _swapped(2, 4)),
        ("app.incremented", "the application tag is incremented with each block", _apps(lambda own, k, s: own + k)),
        ("app.low_byte", "the application tag keeps its low byte only", _apps(lambda own, k, s: own & 0xFF)),
        ("app.high_byte", "the application tag keeps its high byte only", _apps(lambda own, k, s: own & 0xFF00)),
        ("app.reference", "the application tag holds the reference tag", _apps(lambda own, k, s: s.ref_tag)),
        ("ref.zero", "the reference tag is zero", _filled(4, 8, 0)),
        ("ref.ones", "the reference tag is all ones", _filled(4, 8, 0xFF)),
        ("ref.byte_order", "the bytes of the reference tag are in the other order", _swapped(4, 8)),
        ("ref.not_incremented", "the reference tag is not incremented", _refs(lambda first, k, job, s: first)),
        ("ref.incremented", "the reference tag is incremented, without ref_remap", _refs(
            lambda first, k, job, s: first + k)),
        ("ref.one_more", "the reference tags begin one too high", _refs(
            lambda first, k, job, s: first + 1 + (k if s.remap else 0))),
        ("ref.one_less", "the reference tags begin one too low", _refs(
            lambda first, k, job, s: first - 1 + (k if s.remap else 0))),
        ("ref.late", "the reference tag is incremented one block late", _refs(
            lambda first, k, job, s: first + max(k - 1, 0))),
        ("ref.early", "the reference tag is incremented before the first block", _refs(
            lambda first, k, job, s: first + k + 1)),
        ("ref.by_two", "the reference tag is incremented by 2", _refs(lambda first, k, job, s: first + 2 * k)),
        ("ref.once", "the reference tag is incremented once only", _refs(lambda first, k, job, s: first + min(k, 1))),
        ("ref.down", "the reference tag is decremented", _refs(lambda first, k, job, s: first - k)),
        ("ref.by_bytes", "the reference tag is incremented by the bytes of a block", _refs(
            lambda first, k, job, s: first + k * job.block)),
        ("ref.by_frames", "the reference tag is incremented by the bytes of a block and its field", _refs(
            lambda first, k, job, s: first + k * (job.block + 8))),
        ("ref.by_sectors", "the reference tag is incremented by the sectors of 512 bytes", _refs(
            lambda first, k, job, s: first + k * job.block // 512)),
        ("ref.8_bits", "the carry of the reference tag is lost after 8 bits", _refs(
            lambda first, k, job, s: first & ~0xFF | (first + k) & 0xFF)),
        ("ref.16_bits", "the carry of the reference tag is lost after 16 bits", _refs(
            lambda first, k, job, s: first & ~0xFFFF | (first + k) & 0xFFFF)),
        ("ref.24_bits", "the carry of the reference tag is lost after 24 bits", _refs(
            lambda first, k, job, s: first & ~0xFFFFFF | (first + k) & 0xFFFFFF)),
        ("ref.31_bits", "the highest bit of the reference tag is lost", _refs(
            lambda first, k, job, s: (first + k * s.remap) & 0x7FFFFFFF)),
        ("ref.keeps_top_bit", "the carry of the reference tag is lost after 31 bits", _refs(
            lambda first, k, job, s: first & 0x80000000 | (first + k * s.remap) & 0x7FFFFFFF)),
        ("ref.goes_on", "the reference tags go on from the message before", _refs(
            lambda first, k, job, s: first + len(job.data) // job.block + k)),
        ("ref.restarts", "the reference tags begin anew within the message", _refs(
            lambda first, k, job, s: first + k % max(len(job.data) // job.block // 2, 1))),
        ("ref.stops", "the reference tag stops at its highest value", _refs(
            lambda first, k, job, s: min(first + k, 0xFFFFFFFF))),
        ("ref.skips_ones", "the reference tag goes past ones and zero", _refs(
            lambda first, k, job, s: (first + k) % 0xFFFFFFFF)),
        ("ref.from_zero", "the reference tags begin at 0", _refs(lambda first, k, job, s: k)),
        ("ref.from_one", "the reference tags begin at 1", _refs(lambda first, k, job, s: k + 1)),
        ("ref.low_half", "the reference tag keeps its low 16 bits only", _refs(
            lambda first, k, job, s: first + k * s.remap & 0xFFFF)),
        ("tags.order", "the reference tag stands before the application tag", _changed(_rest)),
        ("tags.zero", "both tags are zero", _filled(2, 8, 0)),
    )
)  # fmt: skip
