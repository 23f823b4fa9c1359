"""CRCs of whole buffers, judged by the bitwise implementation and by independent live implementations."""

from __future__ import annotations

import bz2

import anycrc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, CrcParameters, crc_blocks, crc_values
from tests.oracle import bitwise

PARAMETERS = {"t10": T10, "crc32": CRC32, "crc32c": CRC32C, "crc64_xp10": CRC64_XP10}
kinds = st.sampled_from(sorted(PARAMETERS))


def ones(kind: str) -> int:
    return PARAMETERS[kind].mask


@st.composite
def buffers(draw: st.DrawFn) -> tuple[bytes, int]:
    """A buffer of whole blocks, and the block's size, odd ones included."""
    block = draw(st.integers(1, 70) | st.sampled_from([127, 257, 512, 520]))
    count = draw(st.integers(0, 5))
    return draw(st.binary(min_size=block * count, max_size=block * count)), block


@settings(deadline=None)
@given(kinds, buffers(), st.data())
def test_every_block_as_the_bitwise_twin(kind: str, buffer: tuple[bytes, int], draw: st.DataObject) -> None:
    data, block = buffer
    seed = draw.draw(st.sampled_from([0, ones(kind)]) | st.integers(0, ones(kind)), label="seed")
    blocks = [data[at : at + block] for at in range(0, len(data), block)]
    fields = crc_blocks(PARAMETERS[kind], data, block, seed)
    assert fields.shape == (len(blocks), PARAMETERS[kind].size)
    assert [row.tobytes() for row in fields] == [bitwise.stored(kind, piece, seed) for piece in blocks]


@settings(deadline=None)
@given(kinds, st.integers(2040, 2056), st.integers(1, 3), st.integers(0, 8))
def test_long_blocks_and_what_is_skipped(kind: str, block: int, count: int, skip: int) -> None:
    """Both sides of the size where blocks are handed over in another way."""
    data = np.random.default_rng(block).integers(0, 256, (block + skip) * count, np.uint8).tobytes()
    blocks = [data[at : at + block] for at in range(0, len(data), block + skip)]
    fields = crc_blocks(PARAMETERS[kind], data, block, ones(kind), skip)
    assert [row.tobytes() for row in fields] == [bitwise.stored(kind, piece, ones(kind)) for piece in blocks]


@st.composite
def parameters(draw: st.DrawFn) -> CrcParameters:
    width = draw(st.sampled_from([8, 16, 24, 32, 40, 48, 56, 64]))
    number = st.integers(0, (1 << width) - 1)
    return CrcParameters(
        width,
        draw(number) | 1,
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sampled_from([0, (1 << width) - 1]) | number),
        draw(st.sampled_from(["big", "little"])),
    )


@settings(deadline=None)
@given(parameters(), buffers(), st.data())
def test_any_parameters(crc: CrcParameters, buffer: tuple[bytes, int], draw: st.DataObject) -> None:
    data, block = buffer
    seed = draw.draw(st.integers(0, crc.mask), label="seed")
    values = [
        bitwise.crc(data[at : at + block], crc.width, crc.poly, seed, crc.refin, crc.refout, crc.xorout)
        for at in range(0, len(data), block)
    ]
    assert crc_values(crc, data, block, seed).tolist() == values
    laid = [value.to_bytes(crc.size, crc.order) for value in values]
    assert [row.tobytes() for row in crc_blocks(crc, data, block, seed)] == laid


@pytest.mark.parametrize("kind", sorted(PARAMETERS))
@pytest.mark.parametrize("changed", ["refin", "refout", "xorout", "order", "poly"])
def test_near_misses_differ_as_the_bitwise_twin_says(kind: str, changed: str) -> None:
    """One parameter off the truth: by the library with a correction, or without any library."""
    truth = PARAMETERS[kind]
    near = {
        "refin": not truth.refin,
        "refout": not truth.refout,
        "xorout": truth.xorout ^ truth.mask,
        "order": "little" if truth.order == "big" else "big",
        "poly": bitwise.bits_reversed(truth.poly, truth.width),
    }
    members = {name: getattr(truth, name) for name in CrcParameters.__slots__} | {changed: near[changed]}
    wrong = CrcParameters(**members)
    data = bytes(range(1, 129))
    value = bitwise.crc(data, wrong.width, wrong.poly, 0, wrong.refin, wrong.refout, wrong.xorout)
    assert crc_blocks(wrong, data, 128, 0).tobytes() == value.to_bytes(wrong.size, wrong.order)
    assert crc_blocks(wrong, data, 128, 0).tobytes() != bitwise.stored(kind, data, 0)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=5000))
def test_crc32_ones_is_bzip2s(data: bytes) -> None:
    """The CRC of the first block of a bzip2 stream, after its magic number, is of the data as they are."""
    assert crc_blocks(CRC32, data, len(data), ones("crc32")).tobytes() == bz2.compress(data)[10:14]


@settings(deadline=None)
@given(kinds, st.binary(min_size=1, max_size=3000), st.booleans())
def test_as_anycrc(kind: str, data: bytes, seeded: bool) -> None:
    crc = PARAMETERS[kind]
    seed = ones(kind) if seeded else 0
    other = anycrc.CRC(crc.width, crc.poly, seed, crc.refin, crc.refout, crc.xorout)
    assert int(crc_values(crc, data, len(data), seed)[0]) == other.calc(data)


@pytest.mark.parametrize("kind", sorted(PARAMETERS))
@pytest.mark.parametrize("block", [64, 4096])
def test_buffers_that_are_not_contiguous(kind: str, block: int) -> None:
    """A library may silently compute over the bytes after a strided view instead of over the view's."""
    whole = np.random.default_rng(1).integers(0, 256, 4 * block, np.uint8)
    crc = PARAMETERS[kind]
    for strided in (whole[::2], whole[::-1], whole.reshape(-1, 4)[:, 1:3]):
        expected = crc_blocks(crc, strided.tobytes(), block, 0)
        assert [row.tobytes() for row in expected] == [
            bitwise.stored(kind, strided.tobytes()[at : at + block], 0) for at in range(0, strided.size, block)
        ]
        assert np.array_equal(crc_blocks(crc, strided, block, 0), expected)
    view = memoryview(whole.tobytes())[::2]
    assert np.array_equal(crc_blocks(crc, view, block, 0), crc_blocks(crc, bytes(view), block, 0))
    assert np.array_equal(crc_blocks(crc, bytearray(view), block, 0), crc_blocks(crc, bytes(view), block, 0))


def test_what_is_skipped_where_no_library_helps() -> None:
    near = CrcParameters(32, 0x04C11DB7, True, False, 0, "big")
    data = bytes(range(24))
    expected = [bitwise.crc(data[at : at + 5], 32, near.poly, 1, True, False, 0) for at in (0, 8, 16)]
    assert crc_values(near, data, 5, 1, skip=3).tolist() == expected


def test_every_block_starts_anew() -> None:
    fields = crc_blocks(CRC32, bytes(range(64)) * 3, 64, ones("crc32"))
    assert len({row.tobytes() for row in fields}) == 1


def test_seed_is_masked_to_the_width() -> None:
    data = b"123456789"
    assert np.array_equal(crc_blocks(CRC32, data, 9, (1 << 64) - 1), crc_blocks(CRC32, data, 9, ones("crc32")))


@pytest.mark.parametrize(
    ("length", "block", "skip"), [(513, 512, 0), (512, 0, 0), (512, -1, 0), (515, 512, 4), (1, 2, -1)]
)
def test_refuses_what_is_not_whole_blocks(length: int, block: int, skip: int) -> None:
    with pytest.raises(ValueError, match="blocks of"):
        crc_blocks(CRC32, bytes(length), block, 0, skip)


def test_refuses_a_width_that_is_no_whole_number_of_bytes() -> None:
    with pytest.raises(ValueError, match="12 bits"):
        crc_blocks(CrcParameters(12, 0x80F, False, False, 0, "big"), bytes(4), 4, 0)


def test_refuses_numbers_that_are_not_bytes() -> None:
    with pytest.raises(TypeError, match="int32"):
        crc_blocks(CRC32, np.zeros(4, np.int32), 4, 0)
