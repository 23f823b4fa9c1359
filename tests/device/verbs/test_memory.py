"""Registered memory: kept apart, exact, handed out again, and let go."""

from __future__ import annotations

import types
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mkeyspec.device.verbs import memory
from mkeyspec.device.verbs.memory import GAP, Arena, RegionKey


class Registered:
    """pyverbs' MR."""

    live: list[tuple[int, int]]

    def __init__(self, pd: Any, length: int, access: int, address: int) -> None:
        if access == 666:
            raise RuntimeError("no")
        self.where = (address, length)
        type(self).live.append(self.where)

    def close(self) -> None:
        type(self).live.remove(self.where)


@pytest.fixture
def arena() -> Arena:
    Registered.live = []
    return Arena(Registered)


PD = types.SimpleNamespace()


def test_no_two_regions_touch(arena: Arena) -> None:
    taken = [arena.take(PD, RegionKey("owner", n, 1, n % 7), pooled=True) for n in (1, 64, 100, 4096, 5_000_000, 1)]
    spans = sorted((region.addr, region.addr + region.key.length) for region in taken)
    assert all(after[0] - before[1] >= GAP - 64 for before, after in pairwise(spans))
    assert [region.addr % 64 for region in taken] == [n % 7 for n in (1, 64, 100, 4096, 5_000_000, 1)]
    assert [length for _, length in Registered.live] == [1, 64, 100, 4096, 5_000_000, 1]


def test_the_view_is_the_memory(arena: Arena) -> None:
    region = arena.take(PD, RegionKey("owner", 8, 1, 0), pooled=True)
    region.data[:] = np.arange(8)
    same = arena.take(PD, RegionKey("owner", 8, 1, 0), pooled=True)
    assert same.data.tolist() == [0] * 8
    assert len(arena.take(PD, RegionKey("owner", 0, 1, 0), pooled=True).data) == 0


def test_a_region_comes_back_for_the_same_key_only(arena: Arena) -> None:
    key = RegionKey("owner", 64, 1, 0)
    region = arena.take(PD, key, pooled=True)
    arena.give_back(region, keep=True)
    for other in (
        RegionKey("peer", 64, 1, 0),
        RegionKey("owner", 65, 1, 0),
        RegionKey("owner", 64, 2, 0),
        RegionKey("owner", 64, 1, 1),
    ):
        assert arena.take(PD, other, pooled=True) is not region
    assert arena.take(PD, key, pooled=True) is region
    assert arena.take(PD, key, pooled=True) is not region


def test_after_a_failure_nothing_is_kept(arena: Arena) -> None:
    region = arena.take(PD, RegionKey("owner", 64, 1, 0), pooled=True)
    arena.give_back(region, keep=False)
    assert Registered.live == []
    foreign = arena.take(PD, RegionKey("owner", 64, 1, 0), pooled=False)
    arena.give_back(foreign, keep=True)
    assert Registered.live == []


def test_idle_regions_are_bounded(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "IDLE_REGIONS", 10)
    for n in range(1, 50):
        arena.give_back(arena.take(PD, RegionKey("owner", n, 1, 0), pooled=True), keep=True)
        assert arena.idle_count == len(Registered.live) <= 10
    arena.close()
    assert (arena.idle_count, arena.idle_bytes, Registered.live) == (0, 0, [])


def test_idle_bytes_are_bounded(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "IDLE_BYTES", 1 << 20)
    for n in range(40):
        arena.give_back(arena.take(PD, RegionKey("owner", 100_000 + n, 1, 0), pooled=True), keep=True)
        assert sum(length for _, length in Registered.live) <= 1 << 20


def test_pages_are_used_again(arena: Arena) -> None:
    for _ in range(100):
        arena.give_back(arena.take(PD, RegionKey("owner", 1 << 20, 1, 0), pooled=False), keep=False)
    assert len(arena.chunks["owner"]) == 1


def test_pages_do_not_grow_while_regions_are_kept(arena: Arena) -> None:
    """What is kept for later sits in the way of what comes and goes."""
    for n in range(300):
        arena.give_back(arena.take(PD, RegionKey("owner", 100 + n % 3, 1, 0), pooled=True), keep=True)
        arena.give_back(arena.take(PD, RegionKey("owner", 1 << 20, 1, 0), pooled=False), keep=False)
    assert len(arena.chunks["owner"]) <= memory.CHUNKS


def test_a_refused_registration_takes_no_room(arena: Arena) -> None:
    for _ in range(100):
        with pytest.raises(RuntimeError):
            arena.take(PD, RegionKey("owner", 1 << 20, 666, 0), pooled=True)
    assert [chunk.used for chunk in arena.chunks["owner"]] == [0]
