"""The parts of a session: those of `--shard K/N`, and those that the processes of `-n N` begin with."""

from __future__ import annotations

import heapq
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

import pytest

SECONDS: pytest.StashKey[Mapping[str, float]] = pytest.StashKey()
"""In the config's stash: what rows took, by their ids, in the runs that `--balance` names."""

SPLIT: pytest.StashKey[tuple[str, str]] = pytest.StashKey()
"""In the config's stash, with `--shard K/N`: that, and the checksum of all parts."""


def checksum(ids: Sequence[str], split: Sequence[Sequence[int]]) -> str:
    """Of the parts of a session. Machines that agree on them have the same one."""
    return sha256(json.dumps([[ids[place] for place in part] for part in split]).encode()).hexdigest()


def parts(ids: Sequence[str], number: int, seconds: Mapping[str, float]) -> list[list[int]]:
    """`number` lists of places in `ids`, each in their order; a place is in one of them. They depend on the arguments
    alone: machines that are given the same agree.

    Without `seconds` by turns, so that the rows of a case, which take about as long, are in all parts. With them, the
    longest row first, each to the part that has the least to do; a row that is not in them takes their mean.
    """
    known = [seconds[id] for id in ids if id in seconds]
    if not known:
        return [list(range(len(ids))[part::number]) for part in range(number)]
    mean = sum(known) / len(known)
    taken = [seconds.get(id, mean) for id in ids]
    found: list[list[int]] = [[] for _ in range(number)]
    least = [(0.0, 0, part) for part in range(number)]
    for place in sorted(range(len(ids)), key=lambda place: -taken[place]):
        all_taken, rows, part = least[0]
        found[part].append(place)
        heapq.heapreplace(least, (all_taken + taken[place], rows + 1, part))
    return [sorted(part) for part in found]
