"""What kills what: every item against every fault, as a file; cases that kill nothing; the smallest suite that kills
everything."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkeyspec.sabotage.campaign import Killed

FORMAT = 1


class MatrixError(ValueError):
    """A file that holds no matrix; `str()` is one line."""


@dataclass(slots=True)
class Matrix:
    """`kills`: fault to the items that kill it, as places in `items`; `deaths`: those that did so by dying."""

    device: str
    items: list[str]
    kills: dict[str, list[int]] = field(default_factory=dict)
    deaths: dict[str, dict[str, str]] = field(default_factory=dict)

    def put(self, killed: Killed) -> None:
        self.kills[killed.fault] = sorted(killed.kills)
        died = {self.items[number]: how for number, how in killed.kills.items() if not how.startswith("MKS")}
        if died:
            self.deaths[killed.fault] = died

    def cases_of(self, fault: str) -> list[str]:
        return list(dict.fromkeys(case_of(self.items[number]) for number in self.kills[fault]))

    @property
    def survivors(self) -> list[str]:
        return [fault for fault, kills in self.kills.items() if not kills]

    @property
    def vacuous(self) -> list[str]:
        """Cases none of whose items kills anything."""
        useful = {case_of(self.items[number]) for kills in self.kills.values() for number in kills}
        return [case for case in dict.fromkeys(map(case_of, self.items)) if case not in useful]

    def data(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "device": self.device,
            "items": self.items,
            "kills": self.kills,
            "deaths": self.deaths,
        }


def case_of(item: str) -> str:
    return item.split("[", 1)[0]


def read(path: Path) -> Matrix:
    """Raises MatrixError."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["format"] != FORMAT:
            raise MatrixError(f"{path} is a matrix of another release; make it again")
        return Matrix(table["device"], table["items"], table["kills"], table["deaths"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, MatrixError):
            raise
        raise MatrixError(f"{path} holds no matrix of `mkeyspec sabotage --matrix`") from None


def cover(matrices: Sequence[Matrix], times: int) -> list[str]:
    """Few items that kill each fault of each matrix `times` times, in as many cases, where there are so many.

    Greedy: the item that is wanted by most comes next; of equals the first of the suite.
    """
    wanted: Counter[tuple[int, str]] = Counter()
    cells: dict[str, set[tuple[int, str]]] = {}
    for number, matrix in enumerate(matrices):
        for fault, kills in matrix.kills.items():
            if not kills:
                continue
            wanted[number, fault] = min(times, len(matrix.cases_of(fault)))
            for item in kills:
                cells.setdefault(matrix.items[item], set()).add((number, fault))
    chosen: list[str] = []
    counted: set[tuple[str, tuple[int, str]]] = set()
    left = {cell for cell, number in wanted.items() if number}
    while left:
        best = max(cells, key=lambda item: _gain(item, cells[item] & left, counted))
        case = case_of(best)
        gained = {cell for cell in cells.pop(best) & left if (case, cell) not in counted}
        if not gained:
            break
        chosen.append(best)
        for cell in gained:
            counted.add((case, cell))
            wanted[cell] -= 1
            if not wanted[cell]:
                left.discard(cell)
    return chosen


def _gain(item: str, cells: Iterable[tuple[int, str]], counted: set[tuple[str, tuple[int, str]]]) -> int:
    case = case_of(item)
    return sum((case, cell) not in counted for cell in cells)
