"""The rows of a case laid over one another: what they share is the body, where they differ becomes a column.

A source step is known by its place, so rows are aligned by it: each statement of the `.mks` file
becomes one statement of the test function, in the same order, whatever rows have it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any

from mkeyspec import plan
from mkeyspec.emit.printer import Document, Group, Printer, call, same
from mkeyspec.value.expression import Expression
from mkeyspec.value.layout import Part

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_TAKEN = frozenset({"row", "rig"})


@dataclass(frozen=True, slots=True)
class Statement:
    """One step of the body; `guard` is the column that says whether a row has it, or "" where all have."""

    step: Group
    guard: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A value for each row that has it; rows without it are not keys."""

    name: str
    values: dict[int, Any]
    field: str


@dataclass(slots=True)
class Aligned:
    """The body of a case, and what its rows must supply, in order of first use."""

    statements: list[Statement] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)


def align(rows: Sequence[plan.Row], printer: Printer) -> Aligned:
    """Lay the rows over one another. ValueError if they have their steps in different orders (lowering never does)."""
    aligned = Aligned()
    if len(rows) == 1:
        aligned.statements += [Statement(printer.step(step)) for step in rows[0].steps]
        return aligned
    columns = _Columns(aligned.columns)
    for key, steps in _by_place(rows):
        guard = ""
        if len(steps) < len(rows):
            at = key[0]
            guard = columns.put(f"has_{at.line}", {index: index in steps for index in range(len(rows))}, "")
        step = _Overlay(printer, columns, steps).document()
        aligned.statements.append(Statement(step, guard))
    return aligned


Key = tuple[plan.At, int]


def _by_place(rows: Sequence[plan.Row]) -> list[tuple[Key, dict[int, Any]]]:
    """For each source step, in order: its place (and which one of several there it is), and the step of each row."""
    places: dict[Key, dict[int, Any]] = {}
    ordered = True
    for index, row in enumerate(rows):
        last: Key | None = None
        for step in row.steps:
            key = (step.at, 0)
            while index in places.get(key, ()) or _other_kind(places.get(key), step):
                key = (step.at, key[1] + 1)
            places.setdefault(key, {})[index] = step
            if last is not None and key < last:
                ordered = False
            last = key
    if not ordered:
        raise ValueError("the rows of a case have their steps in different orders")
    return sorted(places.items(), key=lambda item: item[0])


def _other_kind(steps: dict[int, Any] | None, step: Any) -> bool:
    return bool(steps) and type(next(iter(steps.values()))) is not type(step)  # type: ignore[union-attr]


class _Columns:
    """Names the columns: equal ones are one, and no two share a name."""

    def __init__(self, columns: list[Column]) -> None:
        self._columns = columns
        self._names: set[str] = set()

    def put(self, wish: str, values: dict[int, Any], field: str) -> str:
        for column in self._columns:
            if column.values.keys() == values.keys() and all(
                same(value, column.values[index]) for index, value in values.items()
            ):
                return column.name
        name = _identifier(wish)
        number = 2
        while name in self._names or name in _TAKEN:
            name = f"{_identifier(wish)}_{number}"
            number += 1
        self._names.add(name)
        self._columns.append(Column(name, values, field))
        return name


def _identifier(wish: str) -> str:
    text = re.sub(r"[^a-z0-9_]", "_", wish.lower())
    if not _NAME.match(text) or keyword.iskeyword(text):
        text = f"v_{text}".rstrip("_")
    return text


class _Overlay:
    """One source step in all the rows that have it."""

    def __init__(self, printer: Printer, columns: _Columns, steps: dict[int, Any]) -> None:
        self._printer = printer
        self._columns = columns
        self._steps = steps
        self._first = next(iter(steps.values()))

    def document(self) -> Group:
        merged = self._merge(list(self._steps.values()), "", (_subject(self._first),))
        assert isinstance(merged, Group)
        return merged

    def _merge(self, values: list[Any], field: str, path: tuple[str, ...]) -> Document:
        first = values[0]
        if all(value is first for value in values) or all(same(value, first) for value in values):
            return self._printer.document(first, field)
        if all(type(value) is type(first) for value in values):
            if isinstance(first, Part) or (_of_plan(first) and not isinstance(first, plan.At)):
                return self._members(values, path)
            if type(first) is tuple and all(len(value) == len(first) for value in values) and _of_steps(first):
                return self._items(values, field, path)
        name = self._columns.put(_column_name(self._first, path), dict(zip(self._steps, values, strict=True)), field)
        return f"row.{name}"

    def _members(self, values: list[Any], path: tuple[str, ...]) -> Document:
        kind = type(values[0])
        self._printer.names.add(kind.__name__)
        items: list[tuple[str, Document]] = []
        positional = True
        for name, default in self._printer.fields(kind):
            members = [getattr(value, name) for value in values]
            if default is not MISSING:
                positional = False
                if all(same(member, default) for member in members):
                    continue
            prefix = "" if positional else f"{name}="
            items.append((prefix, self._merge(members, name, (*path, name))))
        return call(kind.__name__, items)

    def _items(self, values: list[Any], field: str, path: tuple[str, ...]) -> Document:
        items: list[Document] = []
        for index in range(len(values[0])):
            members = [value[index] for value in values]
            items.append(self._merge(members, field, (*path, _subject(members[0]))))
        inside = [("", item) for item in items]
        return Group("(", tuple(inside), ")", _flat_tuple(items))


def _flat_tuple(items: list[Document]) -> str:
    texts = [item if isinstance(item, str) else item.flat for item in items]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _of_plan(value: Any) -> bool:
    return type(value).__module__.startswith(plan.__name__)


def _of_steps(items: tuple[Any, ...]) -> bool:
    """Whether a tuple is worth looking into: setters, requests, parts, claims; not bare numbers and names."""
    return bool(items) and all(isinstance(item, Part) or _of_plan(item) for item in items)


def _subject(step: Any) -> str:
    """The name a step is about: the memory, the mkey, the label."""
    for attribute in ("name", "mkey", "label"):
        name = getattr(step, attribute, None)
        if isinstance(name, str) and name:
            return name
    part = getattr(step, "part", None) or getattr(step, "to", None) or getattr(step, "into", None)
    if isinstance(part, tuple):
        part = part[0] if part else None
    if isinstance(part, Part):
        return part.name
    observed = getattr(step, "observed", None)
    if isinstance(observed, plan.Wire):
        return f"{observed.label}_wire" if observed.label else "wire"
    if isinstance(observed, plan.Content):
        return observed.name or (observed.parts[0].name if observed.parts else "")
    if isinstance(observed, Expression):
        return f"{getattr(observed, 'subject', '')}_{getattr(observed, 'member', '')}"
    return ""


_SILENT = frozenset({"data", "expected", "part", "options", "members", "requests", "setters", "setter", "observed"})
"""Members that say nothing beside the step's own name: `memory src = …` is `src`, `expect wire == …` is `wire`."""


def _column_name(step: Any, path: tuple[str, ...]) -> str:
    words: list[str] = []
    for word in path:
        if word and word not in _SILENT and word not in words:
            words.append(word)
    return "_".join(words) or type(step).__name__.lower()
