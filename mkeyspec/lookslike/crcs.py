"""Near misses of CRC fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mkeyspec.lookslike.hypothesis import Fields, FieldsJob, Hypothesis, Rules
from mkeyspec.reference.buffer import Octets
from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, CrcParameters, crc_blocks, crc_values, stored
from mkeyspec.value.fields import CRC_PARAMETERS
from mkeyspec.value.signature import Crc

POLYNOMIALS = {
    32: (0x04C11DB7, 0x1EDC6F41, 0x741B8CD7, 0x814141AB),
    64: (0xAD93D23594C93659, 0x42F0E1EBA9EA3693, 0x1B),
}
"""By width: CRC-32, Castagnoli's, Koopman's and CRC-32Q; CRC-64/NVME, ECMA-182 and ISO 3309."""


def parameters_of(job: FieldsJob) -> CrcParameters | None:
    """The parameters of a CRC; None of another signature."""
    return CRC_PARAMETERS.get(job.signature.type) if isinstance(job.signature, Crc) else None


def _with(**changes: Any) -> Fields:
    """The CRC with other parameters; those that are functions get the parameters."""

    def fields(job: FieldsJob) -> Octets | None:
        parameters = parameters_of(job)
        if parameters is None:
            return None
        assert isinstance(job.signature, Crc)
        made = {name: value(parameters) if callable(value) else value for name, value in changes.items()}
        seed = made.pop("seed", job.signature.seed)
        return crc_blocks(replace(parameters, **made), job.data, job.block, seed)

    return fields


def _polynomial(number: int) -> Fields:
    def fields(job: FieldsJob) -> Octets | None:
        parameters = parameters_of(job)
        if parameters is None or number >= len(POLYNOMIALS[parameters.width]):
            return None
        other = replace(parameters, poly=POLYNOMIALS[parameters.width][number])
        return crc_blocks(other, job.data, job.block, job.signature.seed)  # type: ignore[union-attr]

    return fields


def _as(parameters: CrcParameters) -> Fields:
    """The CRC of another type, whole."""

    def fields(job: FieldsJob) -> Octets | None:
        if (own := parameters_of(job)) is None or own.width != parameters.width:
            return None
        return crc_blocks(parameters, job.data, job.block, job.signature.seed)  # type: ignore[union-attr]

    return fields


def _goes_on(job: FieldsJob) -> Octets | None:
    """The register is not set to the seed again: each field covers all blocks so far."""
    parameters = parameters_of(job)
    if parameters is None:
        return None
    seed = job.signature.seed  # type: ignore[union-attr]
    made = []
    for _, piece in zip(range(4096), _blocks(job), strict=False):
        value = crc_values(parameters, piece, len(piece), seed)
        made.append(int(value[0]))
        # A register from which the next block goes on: crc_values takes it unreflected, before the final inversion.
        register = made[-1] ^ parameters.xorout
        seed = int(f"{register:0{parameters.width}b}"[::-1], 2) if parameters.refout else register
    return stored(parameters, np.array(made, np.uint64))


def _blocks(job: FieldsJob) -> Iterator[bytes]:
    return (job.data[at : at + job.block] for at in range(0, len(job.data), job.block))


def _halves(job: FieldsJob) -> Octets | None:
    """The two halves of the field in the other order."""
    parameters = parameters_of(job)
    if parameters is None:
        return None
    made = crc_blocks(parameters, job.data, job.block, job.signature.seed)  # type: ignore[union-attr]
    return np.ascontiguousarray(np.roll(made, parameters.size // 2, axis=1))


def _half(job: FieldsJob) -> Octets | None:
    """The second half of the field is zeros."""
    parameters = parameters_of(job)
    if parameters is None:
        return None
    made: Octets = crc_blocks(parameters, job.data, job.block, job.signature.seed).copy()  # type: ignore[union-attr]
    made[:, parameters.size // 2 :] = 0
    return made


def _not(parameters: CrcParameters) -> str:
    return "little" if parameters.order == "big" else "big"


CRCS: tuple[Hypothesis, ...] = tuple(
    Hypothesis(f"crc.{name}", sentence, Rules(fields=fields))
    for name, sentence, fields in (
        ("inversion", "the final inversion of the CRC is missing", _with(xorout=0)),
        ("seed_zeros", "the CRC starts from zeros", _with(seed=0)),
        ("seed_ones", "the CRC starts from ones", _with(seed=(1 << 64) - 1)),
        ("seed_not_restarted", "the CRC goes on from block to block: it does not start again from the seed", _goes_on),
        ("byte_order", "the bytes of the CRC are in the other order", _with(order=_not)),
        ("halves", "the halves of the CRC are in the other order", _halves),
        ("half", "the second half of the CRC is zeros", _half),
        ("reflection", "the CRC is computed with the other reflection", _with(
            refin=lambda p: not p.refin, refout=lambda p: not p.refout)),
        ("reflection_in", "the bits of each byte enter the CRC in the other order", _with(refin=lambda p: not p.refin)),
        ("reflection_out", "the bits of the CRC are in the other order", _with(refout=lambda p: not p.refout)),
        ("reflection_and_order", "the CRC is computed with the other reflection, and stored in the other order", _with(
            refin=lambda p: not p.refin, refout=lambda p: not p.refout, order=_not)),
        ("type_crc32", "it is the CRC32 of the block", _as(CRC32)),
        ("type_crc32c", "it is the CRC32C of the block", _as(CRC32C)),
        ("type_zlib", "it is zlib's CRC-32 of the block, reflected and little endian", _as(
            replace(CRC32, refin=True, refout=True, order="little"))),
        ("type_zlib_big", "it is zlib's CRC-32 of the block, stored big endian", _as(
            replace(CRC32, refin=True, refout=True))),
        ("type_ecma", "it is the CRC-64 of ECMA-182", _as(
            replace(CRC64_XP10, poly=POLYNOMIALS[64][1]))),
        ("polynomial_0", "the CRC is computed with the polynomial of CRC-32 (of CRC-64/NVME)", _polynomial(0)),
        ("polynomial_1", "the CRC is computed with the polynomial of CRC32C (of ECMA-182)", _polynomial(1)),
        ("polynomial_2", "the CRC is computed with Koopman's polynomial (of ISO 3309)", _polynomial(2)),
        ("polynomial_3", "the CRC is computed with the polynomial of CRC-32Q", _polynomial(3)),
    )
)  # fmt: skip
