"""A covering array: few rows of a table in which every tuple of values occurs that occurs in the table.

The one-row-at-a-time greedy method (Cohen, Dalal, Fredman and Patton: "The AETG system", IEEE Trans. Software Eng. 23,
1997), with all rows of the table as candidates instead of a random sample. So constraints need no solver: what they
forbid isn't in the table, and every row of the table is allowed.

The array of the first values is a part of the array of more values: the rows are chosen level by level, and level L
has the rows whose values are all among the first L + 1 of their columns.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int32]
"""Rows by columns: the number of each value in its column, from 0 on."""


class _Tuples(NamedTuple):
    """The tuples of values that some columns have, numbered; each has the rows in which it occurs."""

    of_row: NDArray[np.int32]
    """Of each row, its tuple."""
    rows: NDArray[np.int32]
    """All rows, those of one tuple side by side."""
    starts: NDArray[np.int64]
    """Where in `rows` those of a tuple begin, and the end of the last."""
    missing: NDArray[np.bool_]
    """Whether no chosen row has the tuple."""


def tuples_in(rows: int, columns: int, strength: int) -> int:
    """How many tuples of `strength` values so many rows have, equal ones of several rows counted each time."""
    return rows * comb(columns, strength)


def covering_array(table: Table, strength: int, most: int, leveled: bool = True) -> list[int] | None:
    """The numbers of the chosen rows, in order: each tuple of `strength` values of a row of `table` is in one of them.
    None: they are more than `most`. Not `leveled`: fewer, as a rule, but all may be others with one value more.

    The rows of `table` are different; `strength` is 1 or more, and at most the number of columns. Memory: 8 bytes for
    each of `tuples_in`.
    """
    count, columns = table.shape
    tuples = [_tuples(table[:, chosen]) for chosen in combinations(range(columns), strength)]
    if max(len(one.missing) for one in tuples) > most:
        return None
    gains = np.full(count, len(tuples), np.int32)
    levels = table.max(axis=1, initial=0) if leveled else np.zeros(count, np.int32)
    order = np.argsort(_scattered(table), kind="stable")
    found: list[int] = []
    for level in np.unique(levels):
        candidates = order[levels[order] <= level]
        while True:
            best = int(candidates[gains[candidates].argmax()])
            if gains[best] == 0:
                break
            found.append(best)
            if len(found) > most:
                return None
            _cover(best, tuples, gains)
    return sorted(found)


def numbered(columns: Table) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Of rows of numbers: for each row the number of its tuple, tuples in rising order; the rows, those of one tuple
    side by side; where those of each tuple begin, and the end of the last."""
    count = len(columns)
    codes = np.zeros(count, np.int64)
    order = np.arange(count)
    starts = np.array([0, count] if count else [0], np.int64)
    for column in columns.T:
        codes = codes * (int(column.max(initial=0)) + 1) + column
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        new = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        starts = np.concatenate([[0], new, [count]]) if count else starts
        codes = np.empty(count, np.int64)
        codes[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return codes.astype(np.int32), order.astype(np.int32), starts


def _scattered(table: Table) -> NDArray[np.uint64]:
    """A number of each row, by its values alone, in no visible order (the mixing of SplitMix64).

    Of rows that cover equally many tuples the one with the least number is chosen. In the order of the table it would
    be the one with the first values again and again, and fewer tuples of one value more would occur.
    """
    mixed = np.zeros(len(table), np.uint64)
    for column in table.T:
        mixed += column.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _tuples(columns: Table) -> _Tuples:
    of_row, rows, starts = numbered(columns)
    return _Tuples(of_row, rows, starts, np.ones(len(starts) - 1, np.bool_))


def _cover(row: int, tuples: list[_Tuples], gains: NDArray[np.int32]) -> None:
    """Choose a row: the tuples that it has are worth nothing to the others."""
    for one in tuples:
        number = one.of_row[row]
        if one.missing[number]:
            one.missing[number] = False
            gains[one.rows[one.starts[number] : one.starts[number + 1]]] -= 1
