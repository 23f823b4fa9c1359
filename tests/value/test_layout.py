"""Layouts: lengths, the walk through the virtual space, and live numbers in them."""

from __future__ import annotations

import pytest

from mkeyspec.value.layout import Chunk, Interleaved, Layout, List, Part, Repeated
from mkeyspec.value.live import Live, LiveOp

ENTRIES = Live("k", "max_entries")
A, B = Part("a", 8, 1024), Part("b", 0, 16)


@pytest.mark.parametrize(
    ("layout", "segments"),
    [
        (List(()), []),
        (List((A, B, A)), [("a", 8, 1024), ("b", 0, 16), ("a", 8, 1024)]),
        (List((Repeated(B, 3), A)), [("b", 0, 16)] * 3 + [("a", 8, 1024)]),
        (Interleaved(2, (Chunk(A, 512, 4), Chunk(B, 8))), [("a", 8, 512), ("b", 0, 8), ("a", 524, 512), ("b", 8, 8)]),
        (Interleaved(2, (Repeated(Chunk(B, 2, 1), 2),)), [("b", 0, 2), ("b", 0, 2), ("b", 3, 2), ("b", 3, 2)]),
        (Interleaved(0, (Chunk(A, 512),)), []),
    ],
)
def test_walk(layout: Layout, segments: list[tuple[str, int, int]]) -> None:
    assert layout.walk() == segments
    assert layout.walked() == segments
    assert layout.walked() is layout.walked()
    assert layout.length == sum(length for _, _, length in segments)
    assert eval(repr(layout), globals()) == layout


@pytest.mark.parametrize(
    ("layout", "segments"),
    [
        (List((Part("a", 0, ENTRIES),)), [("a", 0, 3)]),
        (List((Repeated(A, ENTRIES),)), [("a", 8, 1024)] * 3),
        (Interleaved(ENTRIES, (Chunk(A, 8),)), [("a", 8, 8), ("a", 16, 8), ("a", 24, 8)]),
        (Interleaved(2, (Chunk(A, LiveOp("+", (ENTRIES, 1))),)), [("a", 8, 4), ("a", 12, 4)]),
        (Interleaved(1, (Repeated(Chunk(A, 8), ENTRIES),)), [("a", 8, 8)] * 3),
    ],
)
def test_live_numbers(layout: Layout, segments: list[tuple[str, int, int]]) -> None:
    asked = []

    def read(subject: str, member: str) -> int:
        asked.append((subject, member))
        return 3

    assert layout.length is None
    with pytest.raises(ValueError, match="known to the device only"):
        layout.walk()
    with pytest.raises(ValueError, match="known to the device only"):
        layout.walked()
    known = layout.resolve(read)
    assert asked == [("k", "max_entries")]
    assert known.walk() == segments
    assert known.length == sum(length for _, _, length in segments)
    assert eval(repr(layout), globals()) == layout


def test_where_a_live_start_is_no_length() -> None:
    layout = List((Part("a", ENTRIES, 4),))
    assert layout.length == 4
    assert layout.resolve(lambda *_: 7).walk() == [("a", 7, 4)]


def test_resolved_members_that_are_wrong_on_purpose() -> None:
    layout = List((Part("a", 0, 4, (("lkey", Live("b", "lkey")),)),))
    assert layout.resolve(lambda *_: 9) == List((Part("a", 0, 4, (("lkey", 9),)),))
    assert repr(layout) == "List((Part('a', 0, 4, (('lkey', Live('b', 'lkey')),)),))"
