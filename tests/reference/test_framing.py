"""Framing and layouts, byte by byte against the slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.reference.frame import frame, split
from mkeyspec.reference.layout import Segment, interleaved, window
from tests.oracle import bitwise


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 5), st.data())
def test_frame_and_split(block: int, size: int, count: int, draw: st.DataObject) -> None:
    data = draw.draw(st.binary(min_size=block * count, max_size=block * count))
    fields = draw.draw(st.lists(st.binary(min_size=size, max_size=size), min_size=count, max_size=count))
    rows = np.frombuffer(b"".join(fields), np.uint8).reshape(count, size)
    stream = frame(data, block, rows)
    assert stream.tobytes() == bitwise.frame(data, block, fields)
    stripped, taken = split(stream, block, size)
    assert stripped.tobytes() == data == bitwise.strip(stream.tobytes(), block, size)
    assert [row.tobytes() for row in taken] == fields


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(1, 9), st.integers(0, 4), st.data())
def test_a_partial_last_block_passes_after_the_last_field(
    block: int, size: int, count: int, draw: st.DataObject
) -> None:
    rest = draw.draw(st.integers(0, block - 1))
    data = bytes(range(256))[: block * count + rest]
    rows = np.full((count, size), 0xEE, np.uint8)
    stream = frame(data, block, rows, partial=True)
    assert stream.tobytes() == bitwise.frame(data, block, [bytes([0xEE]) * size] * count)
    stripped, taken = split(stream, block, size, partial=True)
    assert stripped.tobytes() == data
    assert np.array_equal(taken, rows)


def test_refuses_streams_that_are_not_whole_frames() -> None:
    rows = np.zeros((2, 4), np.uint8)
    for length in (1023, 1025, 512, 1536):
        with pytest.raises(ValueError, match="2 fields"):
            frame(bytes(length), 512, rows)
    with pytest.raises(ValueError, match="2 fields"):
        frame(bytes(1024 + 512), 512, rows, partial=True)
    with pytest.raises(ValueError, match=r"512 \+ 4"):
        split(bytes(515), 512, 4)
    with pytest.raises(ValueError, match=r"512 \+ 4"):
        split(bytes(516 + 5), 512, 4)
    with pytest.raises(ValueError, match=r"512 \+ 4"):
        split(bytes(516 + 512), 512, 4, partial=True)


entries = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=3)


def gather(segments: list[Segment], buffers: dict[str, bytes]) -> bytes:
    return b"".join(buffers[name][start : start + length] for name, start, length in segments)


@settings(deadline=None)
@given(st.integers(0, 4), entries, st.data())
def test_interleaved(repeat: int, shapes: list[tuple[int, int, int]], draw: st.DataObject) -> None:
    rng = np.random.default_rng(7)
    strips, oracle, buffers = [], [], {}
    for number, (start, count, skip) in enumerate(shapes):
        name = f"b{number}"
        buffers[name] = rng.bytes(start + repeat * (count + skip) + 3)
        strips.append((name, start, count, skip))
        oracle.append((buffers[name], start, count, skip))
    segments = interleaved(repeat, strips)
    expected = bitwise.interleaved(repeat, oracle)
    assert gather(segments, buffers) == expected

    start = draw.draw(st.integers(0, len(expected)))
    length = draw.draw(st.integers(0, len(expected) - start))
    seen = window(segments, start, length)
    assert gather(seen, buffers) == expected[start : start + length]
    assert sum(size for _, _, size in seen) == length


def test_segments_of_one_buffer_may_come_in_any_order() -> None:
    assert window([("a", 6, 2), ("a", 0, 3)], 1, 3) == [("a", 7, 1), ("a", 0, 2)]


@pytest.mark.parametrize(("start", "size"), [(0, 8), (7, 1), (8, 0), (-1, 2), (2, -1)])
def test_a_window_beyond_the_end(start: int, size: int) -> None:
    segments = [("a", 0, 4), ("b", 0, 3)]
    if (start, size) == (8, 0):
        assert window(segments, start, size) == []
        return
    with pytest.raises(ValueError, match=r"window|not within"):
        window(segments, start, size)
