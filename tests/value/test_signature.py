"""Signatures and domains: sizes, masks, places in the framed stream, and the language's words for them."""

from __future__ import annotations

import pytest

from mkeyspec.abi.constants import SigMask
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, Signature, T10Dif

CRC32, CRC32C, CRC64, T10 = Crc(0, 0), Crc(1, 0xFFFFFFFF), Crc(2, 0), T10Dif()


@pytest.mark.parametrize(
    ("signature", "kind", "size", "mask", "sig_type"),
    [
        (CRC32, "crc32", 4, SigMask.CRC32, 1),
        (CRC32C, "crc32c", 4, SigMask.CRC32, 1),
        (CRC64, "crc64_xp10", 8, SigMask.CRC64_XP10, 1),
        (T10, "t10dif", 8, SigMask.T10DIF_GUARD | SigMask.T10DIF_APPTAG | SigMask.T10DIF_REFTAG, 0),
    ],
)
def test_what_the_page_says(signature: Signature, kind: str, size: int, mask: int, sig_type: int) -> None:
    assert (signature.kind, signature.field_size, signature.relevant_mask) == (kind, size, mask)
    assert signature.sig_type == sig_type


@pytest.mark.parametrize(
    ("block", "value", "frames"),
    [
        (512, 0, (516, 520)),
        (520, 1, (524, 528)),
        (4048, 2, (4052, 4056)),
        (4096, 3, (4100, 4104)),
        (4160, 4, (4164, 4168)),
    ],
)
def test_block_sizes(block: int, value: int, frames: tuple[int, int]) -> None:
    assert Domain(CRC32, block).block_size == value
    assert (Domain(CRC32, block).frame, Domain(CRC64, block).frame) == frames
    assert Domain(T10, block).framed_length(3 * block) == 3 * frames[1]
    assert Domain(T10, block).stripped_length(3 * frames[1]) == 3 * block


def test_places() -> None:
    domain = Domain(T10, 512)
    assert domain.block_at(0) == Range(0, 512)
    assert domain.block_at(2) == Range(1040, 512)
    assert domain.field_at(2) == Range(1552, 8)
    assert (domain.guard_at(2), domain.app_at(2), domain.ref_at(2)) == (Range(1552, 2), Range(1554, 2), Range(1556, 4))
    assert domain.field_at(2).end == 1560
    assert Domain(CRC32, 512).guard_at(1) == Domain(CRC32, 512).field_at(1) == Range(516 + 512, 4)


def test_places_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="crc32 has no application tag"):
        Domain(CRC32, 512).app_at(0)
    with pytest.raises(ValueError, match="crc64_xp10 has no reference tag"):
        Domain(CRC64, 512).ref_at(0)
    for place in ("block_at", "field_at", "guard_at", "app_at", "ref_at"):
        with pytest.raises(ValueError, match="no block -1"):
            getattr(Domain(T10, 512), place)(-1)


@pytest.mark.parametrize(
    ("signature", "mask", "bytes_of_field"),
    [
        # mlx5dv_wr_set_mkey_sig_block(3): bit 7 is GUARD[1], the first byte in memory … bit 0 REF[0], the last.
        (T10, 0xC0, (0, 1)),
        (T10, 0x30, (2, 3)),
        (T10, 0x0F, (4, 5, 6, 7)),
        (T10, 0x10, (3,)),
        (T10, 0x81, (0, 7)),
        (CRC64, 0xFF, tuple(range(8))),
        (CRC32, 0xFF, (0, 1, 2, 3)),
        (CRC32, 0x0F, ()),
        (CRC32C, 0x90, (0, 3)),
    ],
)
def test_mask(signature: Signature, mask: int, bytes_of_field: tuple[int, ...]) -> None:
    domain = Domain(signature, 512)
    assert domain.mask_at(3, mask) == tuple(domain.field_at(3).start + i for i in bytes_of_field)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (Domain(CRC32, 512), "crc32(zeros) every 512"),
        (Domain(CRC32C, 4096), "crc32c(ones) every 4096"),
        (Domain(Crc(0, (1 << 64) - 1), 512), "crc32(ones) every 512"),
        (Domain(Crc(2, 0xFFFFFFFF), 512), "crc64_xp10(0xffffffff) every 512"),
        (Domain(T10, 520), "t10dif() every 520"),
        (
            Domain(T10Dif(1, 0xFFFF, 0x5678, 0xF0DEBC9A, 3), 512),
            "t10dif(bg_type=csum, bg=ones, app_tag=0x5678, ref_tag=0xf0debc9a, flags=ref_remap | app_escape) every 512",
        ),
        (Domain(T10Dif(flags=0x24), 512), "t10dif(flags=app_ref_escape | 0x20) every 512"),
    ],
)
def test_described_in_the_languages_words(domain: Domain, words: str) -> None:
    assert domain.describe() == words


def test_a_seed_is_kept_as_written_and_masked_where_it_counts() -> None:
    assert Crc(0, (1 << 64) - 1).seed == (1 << 64) - 1
    assert Crc(0, (1 << 64) - 1).init == 0xFFFFFFFF
