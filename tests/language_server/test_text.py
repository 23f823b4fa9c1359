"""Places in a text, as editors count them: lines end at \\n, \\r\\n and \\r, columns are UTF-16 code units."""

from __future__ import annotations

import pytest

from mkeyspec.language_server.text import Position, Text

PLACES = [
    ("ab\ncd", 0, (0, 0)),
    ("ab\ncd", 2, (0, 2)),
    ("ab\ncd", 3, (1, 0)),
    ("ab\ncd", 5, (1, 2)),
    ("ab\r\ncd", 4, (1, 0)),
    ("ab\rcd", 3, (1, 0)),
    ("ab\n", 3, (1, 0)),
    ("a\u2028b\x0bc\x0cd\x85e", 8, (0, 8)),
    ("é\u00a0x", 2, (0, 2)),
    ("a😀b", 1, (0, 1)),
    ("a😀b", 2, (0, 3)),
    ("😀😀", 2, (0, 4)),
    ("", 0, (0, 0)),
]
"""Text, offset, place; counted by hand."""


@pytest.mark.parametrize(("text", "offset", "place"), PLACES)
def test_both_ways(text: str, offset: int, place: tuple[int, int]) -> None:
    assert Text(text).position(offset) == place
    assert Text(text).offset(*place) == offset


BEYOND = [
    ("ab\ncd", (0, 9), 2),
    ("ab\r\ncd", (0, 3), 2),
    ("ab\ncd", (7, 1), 5),
    ("ab\ncd", (-1, 4), 0),
    ("ab\ncd", (1, -3), 3),
    ("a😀b", (0, 2), 1),  # inside of the pair
    ("ab\ncd", (2**31, 2**31), 5),
]


@pytest.mark.parametrize(("text", "place", "offset"), BEYOND)
def test_places_that_are_not_there(text: str, place: tuple[int, int], offset: int) -> None:
    assert Text(text).offset(*place) == offset


CHANGES = [
    ("ab\ncd", (0, 1), (1, 1), "X", "aXd"),
    ("ab\ncd", (1, 2), (1, 2), "\nef", "ab\ncd\nef"),
    ("ab\ncd", (9, 9), (9, 9), "!", "ab\ncd!"),
    ("a😀b", (0, 1), (0, 3), "", "ab"),
    ("ab", (0, 2), (0, 1), "x", "abx"),  # ends before it begins
    ("ab", (0, 1), (0, 1), "\ud83d", "a\ud83db"),
    ("a\ud83db", (0, 2), (0, 2), "\ude00", "a😀b"),  # the second half comes later
]


@pytest.mark.parametrize(("before", "start", "end", "new", "after"), CHANGES)
def test_changes(before: str, start: tuple[int, int], end: tuple[int, int], new: str, after: str) -> None:
    assert Text(before).changed(Position(*start), Position(*end), new).value == after


def test_what_the_compiler_reads_is_as_long() -> None:
    text = Text("\ufeffmks 1\n# \ud800 😀\n")
    assert text.compiled() == " mks 1\n# \ufffd 😀\n"
    assert not text.is_whole
    assert Text("# 😀").is_whole
