"""The rows of a case laid over one another: what they share is the body, where they differ becomes a column.

A source step is known by its place, so rows are aligned by it: each statement of the `.mks` file
becomes one statement of the test function, in the same order, whatever rows have it. A `repeat` becomes one loop.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any

from mkeyspec import plan
from mkeyspec.emit.columns import Column, Columns
from mkeyspec.emit.printer import Document, Group, Printer, all_same, call, flat, positional, same
from mkeyspec.emit.turns import Loop, TurnColumns
from mkeyspec.value.expression import PLAIN, Expression, Style
from mkeyspec.value.layout import Part


@dataclass(frozen=True, slots=True)
class Statement:
    """One step of the body; `guard` is the condition under which a row has it, or "" where all have.

    `body`: `step` is the head of a loop, and these are in it.
    """

    step: Group
    guard: str = ""
    body: tuple[Statement, ...] = ()


@dataclass(slots=True)
class Aligned:
    """The body of a case, and what its rows must supply, in order of first use."""

    statements: list[Statement] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)


def align(rows: Sequence[plan.Row], printer: Printer) -> Aligned:
    """Lay the rows over one another. ValueError if they have their steps in different orders (lowering never does)."""
    aligned = Aligned()
    if len(rows) == 1 and all(step.at.turn is None for step in rows[0].steps):
        aligned.statements += [Statement(printer.step(step)) for step in rows[0].steps]
        return aligned
    columns = Columns(rows, aligned.columns, printer)
    found = [(_laid(item, columns, printer), item) for item in _items(rows)]
    for document, item in found:  # last: how a variable is written is known from where the steps use it
        if isinstance(item, _Repeated):
            assert isinstance(document, _Body)
            guard = "" if len(item.loop.counts) == len(rows) else columns.condition(item.loop.counts, "has_repeat")
            body = tuple(_guarded(document.columns, document.found, len(item.loop.cells())))
            aligned.statements.append(Statement(document.columns.head(), guard, body))
        else:
            assert isinstance(document, Group)
            aligned.statements += _guarded(columns, [(document, item)], len(rows))
    return aligned


def _guarded(columns: Columns | TurnColumns, found: list[tuple[Group, Steps]], all_of: int) -> Iterator[Statement]:
    for document, steps in found:
        guard = ""
        if len(steps) < all_of:
            first = next(iter(steps.values()))
            guard = columns.condition(steps.keys(), f"has_{type(first).__name__}_{_subject(first)}")
        yield Statement(document, guard)


@dataclass(frozen=True, slots=True)
class _Body:
    """The steps of a loop, laid over one another."""

    columns: TurnColumns
    found: list[tuple[Group, Steps]]


def _laid(item: Steps | _Repeated, columns: Columns, printer: Printer) -> Group | _Body:
    if not isinstance(item, _Repeated):
        return _Overlay(printer, columns, item).document()
    turns = TurnColumns(item.loop, columns, printer)
    return _Body(turns, [(_Overlay(printer, turns, steps).document(), steps) for steps in item.in_order()])


Steps = dict[Any, Any]
"""One source step, by the row that has it; in a `repeat`, by the row and the turn."""
Key = tuple[plan.At, bool, int]
"""The place of a step; whether it is the statement's own, not the taking of the bytes that it is held against; which of
several there it is."""


class _Places:
    """Steps by their places."""

    __slots__ = ("_last", "_next", "places")

    def __init__(self) -> None:
        self.places: dict[Key, Steps] = {}
        self._last: dict[Any, Key] = {}
        """Of each row, or turn of a row, the place of its last step so far."""
        self._next: dict[Key, set[Key]] = {}
        """Places that come before others though they are further down in the text: a setup's lines stand above."""

    def put(self, step: Any, owner: Any) -> None:
        """`owner`: the row, or the turn of a row."""
        at, own = step.at._replace(turn=None), not isinstance(step, plan.Snapshot)
        key = (at, own, 0)
        while owner in self.places.get(key, ()) or _other_kind(self.places.get(key), step):
            key = (at, own, key[2] + 1)
        self.places.setdefault(key, {})[owner] = step
        self.follow(key, owner)

    def follow(self, key: Key, owner: Any) -> None:
        """The next thing of `owner` is at this place."""
        last = self._last.get(owner)
        if last is not None and last != key:
            self._next.setdefault(last, set()).add(key)
        self._last[owner] = key

    def order(self, keys: Iterable[Key]) -> list[Key]:
        """In the order of the text, but for what every row has in another. ValueError if rows contradict each other."""
        found = sorted(keys)
        if all(here < after for here, others in self._next.items() for after in others):
            return found
        waits = dict.fromkeys(found, 0)
        for others in self._next.values():
            for after in others:
                waits[after] += 1
        ready = [key for key in found if not waits[key]]
        result: list[Key] = []
        while ready:
            key = heapq.heappop(ready)
            result.append(key)
            for after in self._next.get(key, ()):
                waits[after] -= 1
                if not waits[after]:
                    heapq.heappush(ready, after)
        if len(result) < len(found):
            raise ValueError("the rows of a case have their steps in different orders")
        return result

    def in_order(self) -> list[Steps]:
        return [self.places[key] for key in self.order(self.places)]


class _Repeated(_Places):
    """The steps of a `repeat`."""

    __slots__ = ("loop",)

    def __init__(self, turn: plan.Turn) -> None:
        super().__init__()
        self.loop = Loop(turn)


def _items(rows: Sequence[plan.Row]) -> list[Steps | _Repeated]:
    """Each source step, and each `repeat`, in the order of the text."""
    plain = _Places()
    loops: dict[Key, _Repeated] = {}
    for index, row in enumerate(rows):
        for step in row.steps:
            turn = step.at.turn
            if turn is None:
                plain.put(step, index)
                continue
            key = (plan.At(turn.line, turn.column), True, 0)
            loop = loops.setdefault(key, _Repeated(turn))
            loop.loop.counts[index] = turn.of
            loop.put(step, (index, turn.number))
            plain.follow(key, index)
    found: dict[Key, Steps | _Repeated] = {**plain.places, **loops}
    return [found[key] for key in plain.order(found)]


def _other_kind(steps: Steps | None, step: Any) -> bool:
    return bool(steps) and type(next(iter(steps.values()))) is not type(step)  # type: ignore[union-attr]


class _Overlay:
    """One source step in all the rows that have it."""

    def __init__(self, printer: Printer, columns: Columns | TurnColumns, steps: Steps) -> None:
        self._printer = printer
        self._columns = columns
        self._steps = steps
        self._first = next(iter(steps.values()))

    def document(self) -> Group:
        merged = self._merge(list(self._steps.values()), PLAIN, (_subject(self._first),))
        assert isinstance(merged, Group)
        return merged

    def _merge(self, values: list[Any], style: Style, path: tuple[str, ...]) -> Document:
        first = values[0]
        if all_same(values):
            return self._printer.document(first, style)
        special = self._columns.special(self._steps, values)
        if special is not None:
            return special
        if all(type(value) is type(first) for value in values):
            if isinstance(first, Part) or (_of_plan(first) and not isinstance(first, plan.At)):
                return self._members(values, path)
            if type(first) is tuple and all(len(value) == len(first) for value in values) and _of_steps(first):
                return self._items(values, style, path)
        used: dict[str, Style] = {}
        shared = self._shared(values, style, used)
        if shared is not None:
            for name, how in used.items():
                self._columns.use(name, how)
            return shared
        words = [word for i, word in enumerate(path) if word and word not in _SILENT and word not in path[:i]]
        by_row = dict(zip(self._steps, values, strict=True))
        return self._columns.text(self._columns.put(words or [type(self._first).__name__], by_row, style))

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
            items.append((prefix, self._merge(members, self._printer.style(kind, name), (*path, name))))
        return call(kind.__name__, items)

    def _items(self, values: list[Any], style: Style, path: tuple[str, ...]) -> Document:
        items: list[Document] = []
        for index in range(len(values[0])):
            members = [value[index] for value in values]
            items.append(self._merge(members, style, (*path, _subject(members[0]))))
        return _tuple_of(items)

    def _shared(self, values: list[Any], style: Style, used: dict[str, Style]) -> Document | None:
        """Values written with columns that are there anyway, those of the `for` variables among them: `Counter(row.n)`.

        None where that can't be done; else `used` has the columns.
        """
        first = values[0]
        if all_same(values):
            return self._printer.document(first, style)
        special = self._columns.special(self._steps, values)
        if special is not None:
            return special
        name = self._columns.find(self._steps, values)
        if name is not None:
            used.setdefault(name, style)
            return self._columns.text(name)
        kind = type(first)
        if not all(type(value) is kind for value in values):
            return None
        if kind is tuple and all(len(value) == len(first) for value in values):
            items = self._all_shared([([v[i] for v in values], style) for i in range(len(first))], used)
            return None if items is None else _tuple_of(items)
        if isinstance(first, Expression):
            count = max(positional(value, self._printer.fields(kind)) for value in values)
            names = [name for name, _ in self._printer.fields(kind)][:count]
            columns = [([getattr(v, name) for v in values], self._printer.style(kind, name)) for name in names]
            items = self._all_shared(columns, used)
            if items is not None:
                self._printer.names.add(kind.__name__)
                return call(kind.__name__, [("", item) for item in items])
        return None

    def _all_shared(self, columns: list[tuple[list[Any], Style]], used: dict[str, Style]) -> list[Document] | None:
        found: list[Document] = []
        for values, style in columns:
            document = self._shared(values, style, used)
            if document is None:
                return None
            found.append(document)
        return found


def _tuple_of(items: list[Document]) -> Group:
    texts = [flat(item) for item in items]
    inside = f"{texts[0]}," if len(texts) == 1 else ", ".join(texts)
    return Group("(", tuple([("", item) for item in items]), ")", f"({inside})")


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
