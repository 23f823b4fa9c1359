"""Rows and time of `covering`, against the library allpairspy (`pip install allpairspy`), on spaces with constraints.

    python benchmarks/covering.py [--rounds N]

One line for each space and strength: combinations that are allowed, the least that there can be (the most tuples that
some `for`s have), rows of ours chosen level by level and of ours chosen at once, rows of allpairspy, tuples that it
leaves out, and the times, the best of N rounds. "At once" need keep no row when a value is added; it shows what the
stability costs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from mkeyspec.compiler.expand.covering_array import covering_array

Row = tuple[int, ...]


class Space(NamedTuple):
    name: str
    sizes: tuple[int, ...]
    allows: Callable[[Sequence[int]], bool]


SPACES = [
    Space("3^4", (3,) * 4, lambda r: True),
    Space("4^5", (4,) * 5, lambda r: True),
    Space("5^5", (5,) * 5, lambda r: True),
    Space("6^6", (6,) * 6, lambda r: True),
    Space("2^13", (2,) * 13, lambda r: True),
    Space("8 4 4 3 2", (8, 4, 4, 3, 2), lambda r: True),
    Space("12 6 3 2 2", (12, 6, 3, 2, 2), lambda r: True),
    Space("8 4 4 3 2, two where", (8, 4, 4, 3, 2), lambda r: (r[0] < 5 or r[1] > 0) and (r[2] < 3 or r[3] == 1)),
    Space("5^5, a where over three", (5,) * 5, lambda r: (r[0] + r[1]) % 3 != 0 or r[4] == 2),
    Space("4^5, three different", (4,) * 5, lambda r: len(set(r[:3])) == 3),
    Space("10 10 3 3, a rising", (10, 10, 3, 3), lambda r: r[0] <= r[1]),
]


def tuples_of(rows: Sequence[Row], strength: int) -> set[tuple[tuple[int, int], ...]]:
    return {one for row in rows for one in combinations(enumerate(row), strength)}


def least(rows: Sequence[Row], strength: int) -> int:
    columns = range(len(rows[0]))
    return max(len({tuple(row[i] for i in one) for row in rows}) for one in combinations(columns, strength))


def ours(rows: Sequence[Row], strength: int, levels: bool) -> list[Row]:
    table = np.array(rows, np.int32)
    found = covering_array(table, strength, len(rows), levels)
    assert found is not None
    return [rows[number] for number in found]


def theirs(space: Space, strength: int) -> list[Row] | None:
    try:
        from allpairspy import AllPairs
    except ImportError:
        return None
    columns = len(space.sizes)
    values = [list(range(size)) for size in space.sizes]
    found = AllPairs(values, filter_func=lambda row: len(row) < columns or space.allows(row), n=strength)
    return [tuple(row) for row in found]


def timed(run: Callable[[], list[Row] | None], rounds: int) -> tuple[list[Row] | None, float]:
    best, found = float("inf"), None
    for _ in range(rounds):
        began = time.perf_counter()
        found = run()
        best = min(best, time.perf_counter() - began)
    return found, best * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{'space':<26}{'t':>2}{'allowed':>8}{'least':>6}{'ours':>6}{'at once':>8}", end="")
    print(f"{'allpairspy':>11}{'left out':>9}{'ours ms':>9}{'allpairspy ms':>14}")
    for space in SPACES:
        rows = [row for row in product(*map(range, space.sizes)) if space.allows(row)]
        for strength in (2, 3):
            wanted = tuples_of(rows, strength)
            mine, my_time = timed(lambda rows=rows, strength=strength: ours(rows, strength, True), rounds)  # type: ignore[misc]
            once = ours(rows, strength, False)
            other, other_time = timed(lambda space=space, strength=strength: theirs(space, strength), rounds)  # type: ignore[misc]
            assert mine is not None
            assert tuples_of(mine, strength) == tuples_of(once, strength) == wanted
            print(f"{space.name:<26}{strength:>2}{len(rows):>8}{least(rows, strength):>6}", end="")
            print(f"{len(mine):>6}{len(once):>8}", end="")
            if other is None:
                print(f"{'-':>11}{'-':>9}{my_time:>9.1f}{'-':>14}")
            else:
                left = len(wanted - tuples_of(other, strength))
                print(f"{len(other):>11}{left:>9}{my_time:>9.1f}{other_time:>14.1f}", flush=True)


if __name__ == "__main__":
    main()
