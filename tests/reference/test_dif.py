"""T10-DIF tuples: guards of both kinds, tags, and their places, judged by the bitwise implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.reference.crc import T10
from mkeyspec.reference.dif import CSUM, SumParameters, dif_blocks, ref_tags, sum_blocks, tuples
from tests.oracle import bitwise


@settings(deadline=None)
@given(
    st.sampled_from(["t10", "csum"]),
    st.sampled_from([0, 0xFFFF]),
    st.integers(0, 0xFFFF),
    st.integers(0, 0xFFFFFFFF) | st.integers(0xFFFFFFF8, 0xFFFFFFFF),
    st.booleans(),
    st.integers(0, 9),
    st.integers(1, 40),
    st.integers(0, 4),
    st.data(),
)
def test_every_tuple_as_the_bitwise_twin(
    kind: str, bg: int, app: int, ref: int, remap: bool, index: int, block: int, count: int, draw: st.DataObject
) -> None:
    data = draw.draw(st.binary(min_size=block * count, max_size=block * count))
    fields = dif_blocks(
        data,
        block,
        guard=T10 if kind == "t10" else CSUM,
        bg=bg,
        app_tags=app,
        ref_tag=ref,
        step=int(remap),
        index=index,
    )
    assert fields.shape == (count, 8)
    assert [row.tobytes() for row in fields] == [
        bitwise.dif(kind, data[k * block : (k + 1) * block], bg, app, ref, remap, index + k) for k in range(count)
    ]


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=600), st.sampled_from([0, 0xFFFF]) | st.integers(0, 0xFFFF))
def test_checksum_as_the_bitwise_twin(data: bytes, seed: int) -> None:
    assert sum_blocks(CSUM, data, len(data), seed).tobytes() == bitwise.stored("csum", data, seed)


@pytest.mark.parametrize("size", [(1 << 17) - 2, 1 << 17, 1 << 20])
@pytest.mark.parametrize("byte", [0xFF, 0x7F])
def test_checksum_of_a_long_block_does_not_overflow(size: int, byte: int) -> None:
    """Words that are all alike: n * w mod 0xffff, complemented, and never the other zero."""
    word = byte << 8 | byte
    total = (size // 2 * word - 1) % 0xFFFF + 1
    assert sum_blocks(CSUM, bytes([byte]) * size, size, 0).tobytes() == (total ^ 0xFFFF).to_bytes(2, "big")


def test_the_open_point_of_the_checksum_shows_in_zeros_only() -> None:
    """What bg ones means to a checksum is a value: where it starts, or nothing."""
    zeros, other = bytes(512), bytes(511) + b"\x01"
    ignored = SumParameters(seed_mask=0)
    assert sum_blocks(CSUM, zeros, 512, 0xFFFF).tobytes() == b"\x00\x00"
    assert sum_blocks(ignored, zeros, 512, 0xFFFF).tobytes() == b"\xff\xff"
    assert np.array_equal(sum_blocks(CSUM, other, 512, 0xFFFF), sum_blocks(ignored, other, 512, 0xFFFF))


def test_near_misses_of_the_checksum() -> None:
    data = bytes.fromhex("0001f203f4f5f6f7")  # RFC 1071: the sum is ddf2
    assert sum_blocks(SumParameters(xorout=0), data, 8, 0).tobytes().hex() == "ddf2"
    assert sum_blocks(SumParameters(order="little"), data, 8, 0).tobytes().hex() == "0d22"


def test_checksum_of_a_view_is_the_views() -> None:
    whole = np.arange(64, dtype=np.uint8)
    assert sum_blocks(CSUM, whole[::2], 32, 0).tobytes() == bitwise.stored("csum", whole[::2].tobytes(), 0)


def test_reference_tags_wrap() -> None:
    assert ref_tags(0xFFFFFFFE, 4, 1).tolist() == [0xFFFFFFFE, 0xFFFFFFFF, 0, 1]
    assert ref_tags(5, 3).tolist() == [5, 5, 5]
    assert ref_tags(5, 2, 1, index=0xFFFFFFFF).tolist() == [4, 5]


def test_a_tuple_byte_by_byte() -> None:
    """Guard, application tag, reference tag, each big endian (ibt tests/mkey/mkey.h lays them with htons, htonl)."""
    guards = np.array([[0xEC, 0x7D]], np.uint8)
    assert tuples(guards, 0x5678, 0xF0DEBC9A).tobytes().hex() == "ec7d5678f0debc9a"
    assert tuples(np.repeat(guards, 2, 0), [1, 2], [3, 4]).tobytes().hex() == "ec7d000100000003ec7d000200000004"


def test_refuses_what_is_not_whole_blocks() -> None:
    for guard in (T10, CSUM):
        with pytest.raises(ValueError, match="blocks of"):
            dif_blocks(bytes(513), 512, guard=guard)
