"""The columns of a case's rows: what they are called, and the conditions that are made of them.

A column that has the values of a variable of the case, of a `for` or a `let`, has its name. Other columns are called
after the object that they are for and its member (`src_length`).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mkeyspec import plan
from mkeyspec.emit.printer import Printer, all_same, flat, same
from mkeyspec.value.expression import PLAIN, Style

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_TAKEN = frozenset({"row", "rig"})

_MOST_LISTED = 4
"""Values that a condition lists at most."""


@dataclass(slots=True)
class Column:
    """A value for each row that has it; rows without it are not keys. `style`: how its values are written, where the
    first use of them that says more than `PLAIN` says."""

    name: str
    values: dict[int, Any]
    style: Style


class Columns:
    """Of one case. Equal columns are one, and no two share a name."""

    def __init__(self, rows: Sequence[plan.Row], columns: list[Column], printer: Printer) -> None:
        """`columns` is the list that grows. Only variables that every row has are known."""
        self._columns = columns
        self._printer = printer
        self._count = len(rows)
        self._by_name: dict[str, Column] = {}
        self._variables: dict[str, list[Any]] = {}
        """The values of each variable, by row."""
        self._numbers: dict[str, list[int]] = {}
        """Of a variable that a condition has asked for: numbers instead of its values, equal ones of equal values."""
        bound = [{one.name: one.value for one in row.bindings} for row in rows]
        for name in bound[0]:
            if all(name in one for one in bound):
                values = [one[name] for one in bound]
                if not all_same(values):
                    self._variables[self._free(name)] = values

    # Values --------------------------------------------------------------------------------------

    def find(self, rows: Iterable[int], values: Sequence[Any]) -> str | None:
        """The variable, or the column that is there already, that has these values in `rows`."""
        for name, bound in self._variables.items():
            if all(same(value, bound[row]) for row, value in zip(rows, values, strict=True)):
                return name
        for column in self._columns:
            held = column.values
            if all(row in held and same(value, held[row]) for row, value in zip(rows, values, strict=True)):
                return column.name
        return None

    def text(self, name: str) -> str:
        """How a step takes the value of a variable or column."""
        return f"row.{name}"

    def special(self, rows: Iterable[int], values: Sequence[Any]) -> str | None:
        """Values that are written otherwise than as what they are."""
        return None

    def use(self, name: str, style: Style) -> None:
        """What `find` has found is used: a variable becomes a column, whose values are written in `style`."""
        column = self._by_name.get(name)
        if column is None:
            self._add(Column(name, dict(enumerate(self._variables[name])), style))
        elif column.style == PLAIN:
            column.style = style

    def put(self, words: Sequence[str], values: dict[int, Any], style: Style) -> str:
        """A new column. `words`: the object that it is for, the member, and what lies between them."""
        name = self._free("_".join(words))
        self._add(Column(name, values, style))
        return name

    def _add(self, column: Column) -> None:
        self._columns.append(column)
        self._by_name[column.name] = column

    def _free(self, wish: str) -> str:
        """A name that nothing else has."""
        name = wish = identifier(wish)
        number = 2
        while name in self._by_name or name in self._variables or name in _TAKEN:
            name = f"{wish}_{number}"
            number += 1
        return name

    # Conditions ----------------------------------------------------------------------------------

    def condition(self, rows: Collection[int], wish: str) -> str:
        """An expression that holds in `rows` and in no other, of the variable that decides it if there is one.

        `wish`: the name of a column of truth values, where there is none.
        """
        holds = {row: row in rows for row in range(self._count)}
        for name in self._variables:
            text = self._compared(name, holds)
            if text:
                return text
        return f"row.{self.find(holds, list(holds.values())) or self.put([wish], holds, PLAIN)}"

    def _compared(self, variable: str, holds: dict[int, bool]) -> str:
        """A condition on a variable; "" where it doesn't decide, or where the condition would not be short."""
        name = f"row.{variable}"
        values = self._variables[variable]
        numbers = self._numbers.get(variable)
        if numbers is None:
            numbers = self._numbers[variable] = _numbered(values)
        first_with: dict[int, Any] = {}
        first_without: dict[int, Any] = {}
        for row, held in holds.items():
            here, there = (first_with, first_without) if held else (first_without, first_with)
            if numbers[row] in there:
                return ""
            here.setdefault(numbers[row], values[row])
        with_it, without = list(first_with.values()), list(first_without.values())
        text = ""
        if all(type(value) is bool for value in with_it + without):
            text = name if with_it[0] else f"not {name}"
        elif without == [None]:
            text = f"{name} is not None"
        elif with_it == [None]:
            text = f"{name} is None"
        elif not all(value is None or type(value) in (bool, int, str) for value in with_it + without):
            return ""
        if text:
            self.use(variable, PLAIN)
            return text
        listed, word = (with_it, "") if len(with_it) <= len(without) else (without, "not ")
        if len(listed) > _MOST_LISTED:
            return ""
        self.use(variable, PLAIN)
        texts = [flat(self._printer.document(value, self._by_name[variable].style)) for value in listed]
        if len(texts) == 1:
            return f"{name} {'!=' if word else '=='} {texts[0]}"
        return f"{name} {word}in ({', '.join(texts)})"


def _numbered(values: Iterable[Any]) -> list[int]:
    """A number for each value; equal values have equal numbers."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def identifier(wish: str) -> str:
    text = re.sub(r"[^a-z0-9_]+", "_", wish.lower()).strip("_")
    if not _NAME.match(text) or keyword.iskeyword(text):
        text = f"v_{text}".rstrip("_")
    return text
