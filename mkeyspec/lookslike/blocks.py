"""Near misses of fields of any kind: what they cover, where they stand, which blocks have one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mkeyspec.lookslike.hypothesis import FieldsJob, Frame, Hypothesis, Rules, Strip
from mkeyspec.reference import frame as frames
from mkeyspec.reference.buffer import Octets
from mkeyspec.value.fields import stored_fields
from mkeyspec.value.signature import Domain

SIZES = (512, 520, 4048, 4096, 4160)
"""mlx5dv_wr_set_mkey_sig_block(3), enum mlx5dv_block_size."""


def _usual(job: FieldsJob) -> Octets:
    return stored_fields(job.signature, job.data, job.block, job.index, job.app_tags)


def _rows(job: FieldsJob) -> Octets:
    return np.frombuffer(job.data, np.uint8).reshape(-1, job.block)


def _over(choose: Callable[[Octets], Octets | None], *, tags: bool = True) -> Callable[[FieldsJob], Octets | None]:
    """The fields over other bytes than the block's: (n, block) to (n, any). Tags are those of the block itself."""

    def fields(job: FieldsJob) -> Octets | None:
        rows = choose(_rows(job))
        if rows is None or rows.shape[1] == 0:
            return None
        flat = np.ascontiguousarray(rows).tobytes()
        made = stored_fields(job.signature, flat, rows.shape[1], job.index, job.app_tags)
        if job.signature.tags and tags:
            made = made.copy()
            made[:, 2:] = _usual(job)[:, 2:]
        return made

    return fields


def _moved(by: int) -> Callable[[FieldsJob], Octets | None]:
    """The field of the block `by` blocks after its own; of none: zeros."""

    def fields(job: FieldsJob) -> Octets | None:
        own = _usual(job)
        if len(own) < 2:
            return None
        made = np.zeros_like(own)
        if by > 0:
            made[:-by] = own[by:]
        else:
            made[-by:] = own[:by]
        return made

    return fields


def _of_row(row: int) -> Callable[[FieldsJob], Octets | None]:
    def fields(job: FieldsJob) -> Octets | None:
        own = _usual(job)
        if len(own) < 2:
            return None
        made: Octets = np.repeat(own[row : row + 1 or None][:1], len(own), axis=0)
        return made

    return fields


def _filled(byte: int) -> Callable[[FieldsJob], Octets]:
    return lambda job: np.full_like(_usual(job), byte)


def _kept(first: int, end: int) -> Callable[[FieldsJob], Octets | None]:
    """Bytes [first, end) of the field as they came in."""

    def fields(job: FieldsJob) -> Octets | None:
        if job.before is None:
            return None
        own: Octets = _usual(job).copy()
        if job.before.shape != own.shape or first >= own.shape[1]:
            return None
        own[:, first:end] = job.before[:, first:end]
        return own

    return fields


def _reversed(job: FieldsJob) -> Octets:
    made: Octets = np.ascontiguousarray(_usual(job)[:, ::-1])
    return made


def _without(rows: int) -> Callable[[FieldsJob], Octets | None]:
    """Zeros in the fields from block `rows` on; negative: in the last ones."""

    def fields(job: FieldsJob) -> Octets | None:
        own: Octets = _usual(job).copy()
        if len(own) < 2:
            return None
        own[rows:] = 0
        return own

    return fields


def _by_size(size: int) -> tuple[Frame, Strip]:
    def frame(data: bytes, domain: Domain, fields: Octets) -> bytes:
        if size == domain.block or size > len(data):
            raise ValueError
        whole = len(data) // size * size
        made = stored_fields(domain.signature, data[:whole], size)
        return frames.frame(data[:whole], size, made).tobytes() + data[whole:]

    def strip(stream: bytes, domain: Domain) -> bytes:
        if size == domain.block or size > len(stream):
            raise ValueError
        return _stripped(stream, size, domain.signature.field_size)

    return frame, strip


def _stripped(stream: bytes, block: int, size: int) -> bytes:
    step = block + size
    return b"".join(stream[at : at + block] for at in range(0, len(stream), step))


def _in_front(data: bytes, domain: Domain, fields: Octets) -> bytes:
    rows = np.frombuffer(data, np.uint8).reshape(-1, domain.block)
    return np.concatenate((fields, rows), axis=1).tobytes()


def _at_the_end(data: bytes, domain: Domain, fields: Octets) -> bytes:
    return data + fields.tobytes()


def _unframed(data: bytes, domain: Domain, fields: Octets) -> bytes:
    return data


def _last_only(data: bytes, domain: Domain, fields: Octets) -> bytes:
    return data + fields[-1:].tobytes()


def _first_only(data: bytes, domain: Domain, fields: Octets) -> bytes:
    return data[: domain.block] + fields[:1].tobytes() + data[domain.block :]


def _twice(data: bytes, domain: Domain, fields: Octets) -> bytes:
    return frames.frame(data, domain.block, np.concatenate((fields, fields), axis=1)).tobytes()


def _cut_front(stream: bytes, domain: Domain) -> bytes:
    size = domain.signature.field_size
    return b"".join(stream[at + size : at + domain.frame] for at in range(0, len(stream), domain.frame))


def _cut_first(stream: bytes, domain: Domain) -> bytes:
    return stream[: domain.block] + stream[domain.frame :]


def _cut_last(stream: bytes, domain: Domain) -> bytes:
    return stream[: -domain.signature.field_size]


def _chunks(data: Octets) -> Octets | None:
    return data[:, :512] if data.shape[1] > 512 else None


def _zeroed(first: int | None, end: int | None) -> Callable[[Octets], Octets | None]:
    """These bytes of each block count as zeros."""

    def change(rows: Octets) -> Octets | None:
        made: Octets = rows.copy()
        made[:, first:end] = 0
        return made

    return change


def _one_more(stream: bytes, domain: Domain) -> bytes:
    data = b"".join(stream[at : at + domain.block + 1] for at in range(0, len(stream), domain.frame))
    return data[: len(stream) // domain.frame * domain.block]


def _one_less(stream: bytes, domain: Domain) -> bytes:
    data = b"".join(stream[at : at + domain.block - 1] for at in range(0, len(stream), domain.frame))
    return data.ljust(len(stream) // domain.frame * domain.block, b"\0")


def _sized() -> tuple[Hypothesis, ...]:
    made = []
    for size in SIZES:
        frame, strip = _by_size(size)
        sentence = f"the block size is taken as {size}"
        made.append(Hypothesis(f"block.size_{size}", sentence, Rules(frame=frame, strip=strip)))
    return tuple(made)


BLOCKS: tuple[Hypothesis, ...] = (
    *(
        Hypothesis(f"field.{name}", sentence, Rules(fields=fields))
        for name, sentence, fields in (
            ("zero", "the fields are zero", _filled(0)),
            ("ones", "the fields are all ones", _filled(0xFF)),
            ("kept", "the fields are those that came in: copied, and not computed", _kept(0, 8)),
            ("kept_guard", "the guards are those that came in: copied, and not computed", _kept(0, 2)),
            ("kept_app", "the application tags are those that came in: copied, and not made", _kept(2, 4)),
            ("kept_ref", "the reference tags are those that came in: copied, and not made", _kept(4, 8)),
            ("late", "each block has the field of the block before it", _moved(-1)),
            ("early", "each block has the field of the block after it", _moved(1)),
            ("first", "every block has the field of the first block", _of_row(0)),
            ("last", "every block has the field of the last block", _of_row(-1)),
            ("none_after_first", "only the first block has a field, the others have zeros", _without(1)),
            ("last_missing", "the last field is zero", _without(-1)),
            ("reversed", "the bytes of the whole field are in the other order", _reversed),
            ("short", "the last byte of the block is not covered", _over(lambda rows: rows[:, :-1])),
            ("late_start", "the first byte of the block is not covered", _over(lambda rows: rows[:, 1:])),
            ("sector", "only the first 512 bytes of the block are covered", _over(_chunks)),
            ("short_8", "the last 8 bytes of the block are not covered", _over(lambda rows: rows[:, :-8])),
            ("half", "only the first half of the block is covered", _over(lambda rows: rows[:, : rows.shape[1] // 2])),
            ("block_before", "the fields are computed over the block before", _over(
                lambda rows: np.roll(rows, 1, axis=0) if len(rows) > 1 else None)),
            ("block_after", "the fields are computed over the block after", _over(
                lambda rows: np.roll(rows, -1, axis=0) if len(rows) > 1 else None)),
            ("first_byte_zero", "the first byte of the block counts as zero", _over(_zeroed(0, 1))),
            ("last_byte_zero", "the last byte of the block counts as zero", _over(_zeroed(-1, None))),
            ("last_8_zero", "the last 8 bytes of the block count as zeros", _over(_zeroed(-8, None))),
            ("sector_zero", "the bytes of the block after the first 512 count as zeros", _over(_zeroed(512, None))),
            ("first_guard", "every block has the guard or CRC of the first block", _over(
                lambda rows: np.repeat(rows[:1], len(rows), axis=0))),
            ("late_guard", "each block after the first has the guard or CRC of the block before it", _over(
                lambda rows: np.concatenate((rows[:1], rows[:-1])))),
            ("zeros", "the fields are computed over zeros", _over(np.zeros_like)),
            ("backwards", "the bytes of the block are taken backwards", _over(lambda rows: rows[:, ::-1])),
            ("words", "the bytes of the block are taken in swapped pairs", _over(
                lambda rows: rows.reshape(len(rows), -1, 2)[:, :, ::-1].reshape(rows.shape)
                if rows.shape[1] % 2 == 0 else None)),
        )
    ),
    *_sized(),
    Hypothesis("strip.one_byte_more", "stripping leaves the first byte of each field", Rules(strip=_one_more)),
    Hypothesis("strip.one_byte_less", "stripping takes the last byte of each block, too", Rules(strip=_one_less)),
    Hypothesis("frame.in_front", "the field stands before its block", Rules(frame=_in_front, strip=_cut_front)),
    Hypothesis("frame.at_the_end", "all fields stand after the last block", Rules(
        frame=_at_the_end, strip=lambda stream, domain: stream[: len(stream) // domain.frame * domain.block])),
    Hypothesis("frame.not_inserted", "the fields are not inserted", Rules(frame=_unframed)),
    Hypothesis("frame.not_stripped", "the fields are not stripped", Rules(strip=lambda stream, domain: stream)),
    Hypothesis("frame.unsigned", "the fields are neither inserted nor stripped", Rules(
        frame=_unframed, strip=lambda stream, domain: stream)),
    Hypothesis("frame.last_only", "only the last block has a field", Rules(frame=_last_only, strip=_cut_last)),
    Hypothesis("frame.first_only", "only the first block has a field", Rules(frame=_first_only, strip=_cut_first)),
    Hypothesis("frame.twice", "the field is inserted twice", Rules(frame=_twice)),
)  # fmt: skip
