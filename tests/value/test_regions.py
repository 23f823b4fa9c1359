"""Regions of buffers, against every byte looked at by itself."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from mkeyspec.reference.layout import Segment, window
from mkeyspec.value.bytestring import Join, counter, fill, join, slice_of
from mkeyspec.value.bytestring import random as random_bytes
from mkeyspec.value.layout import Chunk, Interleaved, List, Part
from mkeyspec.value.regions import Regions


def drawn(draw: random.Random, most: int) -> list[Segment]:
    return [(draw.choice("ab"), draw.randrange(40), draw.randrange(most)) for _ in range(draw.randrange(9))]


def bytes_of(segment: Segment) -> set[tuple[str, int]]:
    name, start, length = segment
    return {(name, at) for at in range(start, start + length)}


@pytest.mark.parametrize("seed", range(60))
def test_overlaps(seed: int) -> None:
    draw = random.Random(seed)
    some, others = drawn(draw, 7), drawn(draw, draw.choice([2, 30]))
    regions, other = Regions.of(some), Regions.of(others)
    shared = set().union(*map(bytes_of, some)) & set().union(*map(bytes_of, others))
    assert regions.overlaps(other) == other.overlaps(regions) == bool(shared)
    assert bool(regions) == any(length for _, _, length in some)
    name, low, size = "a", draw.randrange(40), draw.randrange(1, 9)
    at, expected = 0, []
    for segment in some:
        if bytes_of(segment) & bytes_of((name, low, size)):
            expected.append((segment[1], segment[1] + segment[2], at))
        at += segment[2]
    assert sorted(regions.overlapping(name, low, low + size)) == sorted(expected)


@pytest.mark.parametrize("seed", range(60))
def test_without_and_twice(seed: int) -> None:
    draw = random.Random(seed)
    some, others = drawn(draw, 7), drawn(draw, 5)
    taken = set().union(*map(bytes_of, others))
    left = Regions.of(some).without(Regions.of(others))
    kept = [segment for segment in some if segment[2] and not bytes_of(segment) & taken]
    found = [(name, one.start, one.end - one.start) for name in "ab" for one in left.overlapping(name, 0, 99)]
    assert sorted(found) == sorted(kept)
    pairs = [1 for one, other in combinations(some, 2) if bytes_of(one) & bytes_of(other)]
    assert len(list(Regions.of(some).twice())) == len(pairs)


@pytest.mark.parametrize("seed", range(40))
def test_the_window_of_a_layout(seed: int) -> None:
    """That of the references, which walks all of it."""
    draw = random.Random(seed)
    parts = tuple(Part("m", draw.randrange(50), draw.randrange(9)) for _ in range(draw.randrange(1, 7)))
    layout = draw.choice([List(parts), Interleaved(3, tuple(Chunk(part, draw.randrange(9), 2) for part in parts))])
    assert layout.length is not None
    for start in range(layout.length):
        length = draw.randrange(layout.length - start + 1)
        expected = [segment for segment in window(layout.walk(), start, length) if segment[2]]
        assert layout.window(start, length) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_slice_of_a_join(seed: int) -> None:
    """The bytes, and the same parts as those of the slices joined one by one."""
    draw = random.Random(seed)
    source = random_bytes(40, seed=seed)
    parts = [
        draw.choice([counter(n), fill(7, n), slice_of(source, draw.randrange(9), n), slice_of(source, 9, n)])
        for n in (draw.randrange(1, 7) for _ in range(8))
    ]
    whole = join(parts)
    assert isinstance(whole, Join)
    for start in range(whole.length):
        for end in range(start + 1, whole.length + 1):
            at, cut = 0, []
            for part in whole.parts:
                low, high = max(start, at), min(end, at + part.length)
                if low < high:
                    cut.append(slice_of(part, low - at, high - low))
                at += part.length
            assert slice_of(whole, start, end - start) == join(cut)
            assert slice_of(whole, start, end - start).data == whole.data[start:end]
