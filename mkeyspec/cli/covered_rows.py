"""What `mkeyspec list` says of the rows of a case with `covering`: which values are together in no other row."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from mkeyspec.cli.findings import count_of

if TYPE_CHECKING:
    from mkeyspec.plan import Case, Covered

NAMED = 2
"""Tuples that are named after a row; of more only the number is printed."""

_WORDS = {1: "value", 2: "pair", 3: "triple"}


def together(case: Case, covered: Covered) -> tuple[int, list[list[tuple[str, ...]]]]:
    """How many tuples of values the rows have, and of each row those that no other row has."""
    of_rows = [list(combinations(covered.values_of(row), covered.strength)) for row in case.rows]
    times = Counter(one for tuples in of_rows for one in tuples)
    return len(times), [[one for one in tuples if times[one] == 1] for tuples in of_rows]


def tuples_text(count: int, strength: int) -> str:
    """`12 pairs`."""
    word = _WORDS.get(strength)
    return count_of(count, word) if word else f"{count_of(count, 'tuple')} of {strength} values"


def alone_text(alone: list[tuple[str, ...]], strength: int) -> str:
    """What a row is there for, in a few words. A row that was chosen for the first values of the `for`s stays, also if
    rows with the values after them have what it has."""
    if not alone:
        return "stays from the first values; other rows have its values, too"
    if len(alone) <= NAMED:
        return "alone has " + " and ".join(" with ".join(one) for one in alone)
    return f"alone has {tuples_text(len(alone), strength)}"
