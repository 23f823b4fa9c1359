"""The turns of a `repeat`: their steps laid over one another, as those of rows are (`align`).

A `repeat` becomes one loop, however many turns it has. What differs from turn to turn is a column of the loop: a list
of values, the first turn's first, which ends where the values stay the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from mkeyspec import plan
from mkeyspec.emit.columns import Columns, identifier
from mkeyspec.emit.printer import Document, Group, Printer, all_same, call, same
from mkeyspec.value.expression import PLAIN, Style

Cell = tuple[int, int]
"""A turn of a row: the number of the row, and of the turn."""

_TAKEN = frozenset({"at", "name", "number", "of"})
"""Words of the loop: no column is called so."""


@dataclass(slots=True)
class Loop:
    """The turns of one `repeat`, in each row that has it. `turn`: one of them."""

    turn: plan.Turn
    counts: dict[int, int] = field(default_factory=dict)
    """How many turns, by row."""

    @property
    def at(self) -> plan.At:
        return plan.At(self.turn.line, self.turn.column)

    def cells(self) -> list[Cell]:
        return [(row, number) for row, of in self.counts.items() for number in range(1, of + 1)]


@dataclass(slots=True)
class _Column:
    values: dict[Cell, Any]
    style: Style


class TurnColumns:
    """Of one loop: the columns of its turns, and those of the rows where all turns of a row have one value."""

    def __init__(self, loop: Loop, rows: Columns, printer: Printer) -> None:
        self._loop = loop
        self._rows = rows
        self._printer = printer
        self._columns: dict[str, _Column] = {}

    # As `Columns` have it --------------------------------------------------------------------------

    def find(self, cells: Iterable[Cell], values: Sequence[Any]) -> str | None:
        """What has these values in these turns."""
        cells = tuple(cells)
        by_row = _by_row(cells, values)
        if by_row is not None:
            name = self._rows.find(by_row, list(by_row.values()))
            if name is not None:
                return self._rows.text(name)
        if all(same(value, number) for (_, number), value in zip(cells, values, strict=True)):
            return "turn.number"
        for name, column in self._columns.items():
            held = column.values
            if all(cell in held and same(value, held[cell]) for cell, value in zip(cells, values, strict=True)):
                return f"turn.{name}"
        return None

    def text(self, name: str) -> str:
        return name

    def special(self, cells: Iterable[Cell], values: Sequence[Any]) -> str | None:
        """A place, or a name, of the turn itself."""
        first = values[0]
        numbers = [number for _, number in cells]
        if isinstance(first, plan.At):
            places = [(one.line, one.column, one.turn.number if one.turn else 0) for one in values]
            here = [(first.line, first.column, number) for number in numbers]
            return f"turn.at({int(first.line)}, {int(first.column)})" if places == here else None
        if isinstance(first, str):
            turns = [self._loop.turn._replace(number=number) for number in numbers]
            called = first.removesuffix(plan.of_turn("", turns[0]))
            names = [plan.of_turn(called, turn) for turn in turns]
            return f"turn.name({called!r})" if list(values) == names else None
        return None

    def use(self, name: str, style: Style) -> None:
        """What `find` has found is used."""
        room, _, column = name.partition(".")
        if room == "row":
            self._rows.use(column, style)
        elif column in self._columns and self._columns[column].style == PLAIN:
            self._columns[column].style = style

    def put(self, words: Sequence[str], values: dict[Cell, Any], style: Style) -> str:
        by_row = _by_row(values, list(values.values()))
        if by_row is not None:
            return self._rows.text(self._rows.put(words, by_row, style))
        name = wish = identifier("_".join(words))
        number = 2
        while name in _TAKEN or name in self._columns:
            name = f"{wish}_{number}"
            number += 1
        self._columns[name] = _Column(values, style)
        return f"turn.{name}"

    def condition(self, cells: Collection[Cell], wish: str) -> str:
        """An expression that holds in these turns and in no other."""
        holds = {cell: cell in cells for cell in self._loop.cells()}
        by_row = _by_row(holds, list(holds.values()))
        if by_row is not None:
            return self._rows.condition([row for row, held in by_row.items() if held], wish)
        return self.find(holds, list(holds.values())) or self.put([wish], holds, PLAIN)

    # The loop --------------------------------------------------------------------------------------

    def head(self) -> Group:
        """`rig.repeat(At(9, 5), 100, …)`."""
        loop, items = self._loop, list[tuple[str, Document]]()
        items.append(("", self._printer.document(loop.at)))
        items.append(("", self._of_rows("turns", loop.counts, PLAIN)))
        for name, column in self._columns.items():
            sequences = {row: _sequence(column.values, row, of) for row, of in loop.counts.items()}
            items.append((f"{name}=", self._of_rows(f"turns_{name}", sequences, column.style)))
        return call("rig.repeat", items)

    def _of_rows(self, wish: str, values: dict[int, Any], style: Style) -> Document:
        """A value that each row has for all its turns."""
        several = list(values.values())
        if all_same(several):
            return self._printer.column(several[0], style)
        name = self._rows.find(values, several)
        if name is None:
            return self._rows.text(self._rows.put([wish], values, style))
        self._rows.use(name, style)
        return self._rows.text(name)


def _by_row(cells: Iterable[Cell], values: Sequence[Any]) -> dict[int, Any] | None:
    """The value of each row; None where the turns of a row have different ones."""
    found: dict[int, Any] = {}
    for (row, _), value in zip(cells, values, strict=True):
        if not same(found.setdefault(row, value), value):
            return None
    return found


def _sequence(held: dict[Cell, Any], row: int, of: int) -> Sequence[Any]:
    """The values of a row's turns. A turn that takes no value has that of the turn before it."""
    values: list[Any] = []
    for number in range(1, of + 1):
        values.append(held.get((row, number), values[-1] if values else None))
    if len(values) > 2 and all(type(value) is int for value in values):
        step = values[1] - values[0]
        if step and all(after - before == step for before, after in pairwise(values)):
            return range(values[0], values[-1] + (1 if step > 0 else -1), step)
    while len(values) > 1 and same(values[-1], values[-2]):
        values.pop()
    return tuple(values)
