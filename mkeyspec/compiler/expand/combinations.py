"""All combinations of a case's `for` values that its `where`s leave, without walking the body for each of them.

An expression is evaluated once for each combination of the `for`s that it depends on, not of all. What statements
declare (buffers, mkeys, labels) is not there: a `for` whose values depend on it needs labels, a `where` can't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from mkeyspec.compiler.eval.coercion import as_bool, fault
from mkeyspec.compiler.eval.evaluate import decide, evaluate
from mkeyspec.compiler.eval.memo import Memo
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.expand.count import COMBINATION_STEPS, bind_quietly
from mkeyspec.compiler.expand.covering_array import Table, numbered
from mkeyspec.compiler.expand.for_values import ForValue, ForValues, no_values
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.limits import COVERED_COMBINATIONS
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import declared, refs_of


class Combinations(NamedTuple):
    """`table`: one row for each combination, in the order of the rows of a case; one column for each `for`."""

    table: Table
    texts: list[list[str]]
    """Of each `for`, the texts of its values, as a row's id has them, by their numbers in `table`."""

    def texts_of(self, row: int) -> tuple[str, ...]:
        return tuple([texts[number] for texts, number in zip(self.texts, self.table[row], strict=True)])


def combinations_of(case: ast.Case, library: Scope) -> Combinations:
    """The combinations that `where` leaves; raises `Fault` after a mistake, or where they are too many."""
    return _Search(case, library).all()


class _Column:
    """A `for`: its values so far, by text."""

    __slots__ = ("choices", "depends", "numbers", "place", "texts")

    def __init__(self, place: int) -> None:
        self.place = place
        """Its number in the table."""
        self.depends: list[int] = []
        """The columns of the `for`s that its values depend on."""
        self.choices: dict[tuple[int, ...], dict[int, ForValue]] = {}
        """By the values of those: its values there, by number."""
        self.texts: list[str] = []
        self.numbers: dict[str, int] = {}

    def number(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text not in self.numbers:
                self.numbers[text] = len(self.texts)
                self.texts.append(text)


class _Search:
    def __init__(self, case: ast.Case, library: Scope) -> None:
        self.library = library.inner()
        self.library.memo = Memo()
        last = max((i for i, line in enumerate(case.body) if isinstance(line, (ast.For, ast.Where))), default=-1)
        self.case = case
        self.body = case.body[: last + 1]
        self.columns: dict[int, _Column] = {}
        """By the place of their `for` in the body, in order."""
        self.table: Table = np.zeros((1, 0), np.int32)
        self.values = ForValues()
        self.needs: dict[str, frozenset[int]] = {}
        """By name: the statements that say what it means, by their place in the body."""
        self.unknown: dict[str, Span] = {}
        """Names that mean what is known only in a row, and where they are declared."""
        self.without_values: Optional[Fault] = None

    def all(self) -> Combinations:
        for at, statement in enumerate(self.body):
            match statement:
                case ast.For():
                    self.multiply(at, statement)
                case ast.Where():
                    self.prune(statement)
                case ast.Let():
                    self.name(at, statement)
                case ast.If():
                    self.branches(at, statement)
                case _:
                    self.unknown.update((name.text, name.span) for name in declared((statement,)))
        if self.without_values is not None and len(self.table):
            raise self.without_values
        return Combinations(self.table, [column.texts for column in self.columns.values()])

    # What depends on what ----------------------------------------------------------------------

    def name(self, at: int, let: ast.Let, joined: frozenset[int] = frozenset()) -> None:
        """`joined`: what the other `let`s of this name that may be the one depend on."""
        parameters = frozenset(parameter.text for parameter in let.parameters or ())
        used = refs_of(let.value, parameters)
        self.needs[let.name.text] = self.statements(used) | {at} | joined
        self.hide(let.name, used)

    def branches(self, at: int, statement: ast.If) -> None:
        """Which `let` of a name is the one depends on the conditions: it needs what each of them needs, and they."""
        names = list(declared((statement,)))
        conditions = list(self.lets_of(at, statement))
        around = self.statements(conditions)
        for name in names:
            self.needs[name.text] = self.needs.get(name.text, frozenset()) | around
            self.hide(name, conditions)

    def lets_of(self, at: int, statement: ast.If) -> Iterator[ast.Ref]:
        """Note what an `if` declares; the names that its conditions use, those of each `if` in it included."""
        yield from refs_of(statement.condition)
        for block in statement.blocks():
            for line in block.lines:
                match line:
                    case ast.If():
                        yield from self.lets_of(at, line)
                    case ast.Let():
                        self.name(at, line, self.needs.get(line.name.text, frozenset()))
                    case _:
                        self.unknown.update((name.text, name.span) for name in declared((line,)))

    def statements(self, used: Iterable[ast.Ref]) -> frozenset[int]:
        return frozenset().union(*(self.needs.get(ref.name, frozenset()) for ref in used))

    def hide(self, name: ast.Name, used: Iterable[ast.Ref]) -> None:
        """`name` is known only in a row where one of the names that it depends on is."""
        if any(self.is_unknown(ref) for ref in used):
            self.unknown[name.text] = name.span

    def is_unknown(self, ref: ast.Ref) -> bool:
        return ref.name in self.unknown or (ref.name == "wire" and ref.name not in self.needs)

    def check_known(self, used: Iterable[ast.Ref], what: str, help: str) -> None:
        for ref in used:
            if self.is_unknown(ref):
                place = self.unknown.get(ref.name)
                raise fault(
                    "MKS0335",
                    f"`{ref.name}` is known only in a row, and `covering` chooses the rows by this {what}",
                    ref.span,
                    notes=() if place is None else (Note("declared here", place),),
                    help=help,
                )

    # The table ---------------------------------------------------------------------------------

    def multiply(self, at: int, statement: ast.For) -> None:
        """One more column: each row once for each value of a `for`."""
        used = [ref for item in statement.items for ref in refs_of(item.value)]
        column = _Column(len(self.columns))
        if any(self.is_unknown(ref) for ref in used):
            if any(item.label is None for item in statement.items):
                self.check_known(used, "`for`", "labels say which values there are: first: …, second: …")
            column.number(f"{statement.names[0].text}={item.label.text}" for item in statement.items if item.label)
            self.needs.update((name.text, frozenset((at,))) for name in statement.names)
            self.unknown.update((name.text, name.span) for name in statement.names)
            self.extend([list(range(len(column.texts)))], np.zeros(len(self.table), np.int32))
            self.columns[at] = column
            return
        needs = self.statements(used)
        column.depends = self.columns_of(needs)
        of_row, examples = self.projected(column.depends)
        self.bounded(len(examples))
        lists: list[list[int]] = []
        for row in examples:
            scope = self.scope_of(needs, row)
            choices = self.values.of(statement, scope)
            scope.budget.spend(COMBINATION_STEPS + len(choices), statement.span)
            if not choices:
                self.lose(statement, row)
            column.number(choice.text for choice in choices)
            numbers = [column.numbers[choice.text] for choice in choices]
            column.choices[self.key(column, row)] = dict(zip(numbers, choices, strict=True))
            lists.append(numbers)
        self.extend(lists, of_row)
        self.columns[at] = column
        self.needs.update((name.text, needs | {at}) for name in statement.names)

    def extend(self, lists: Sequence[Sequence[int]], of_row: NDArray[np.int32]) -> None:
        """Each row once for each number of its list; `of_row` says which list that is."""
        lengths = np.array([len(one) for one in lists], np.int64)
        counts = lengths[of_row]
        self.bounded(int(counts.sum()))
        numbers = np.array([number for one in lists for number in one], np.int32)
        starts = np.concatenate([[0], np.cumsum(lengths)])[of_row]
        ends = np.cumsum(counts)
        within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
        added = numbers[np.repeat(starts, counts) + within]
        self.table = np.column_stack([np.repeat(self.table, counts, axis=0), added])

    def prune(self, statement: ast.Where) -> None:
        """Only the rows for which a `where` holds."""
        used = refs_of(statement.condition)
        self.check_known(used, "`where`", "a `where` over values of `for`s alone, or no `covering`")
        needs = self.statements(used)
        of_row, examples = self.projected(self.columns_of(needs))
        holds = np.zeros(len(examples), np.bool_)
        for i, row in enumerate(examples):
            scope = self.scope_of(needs, row)
            scope.budget.spend(COMBINATION_STEPS, statement.span)
            holds[i] = decide(statement.condition, scope, "`where`")
        self.table = self.table[holds[of_row]]

    def bounded(self, count: int) -> None:
        if count > COVERED_COMBINATIONS.most:
            message = f"case {self.case.name.text}: {COVERED_COMBINATIONS.broken(count)}"
            help = "fewer values, or a `where` directly below the `for`s that it is about"
            raise fault(COVERED_COMBINATIONS.code, message, self.case.name.span, help=help)

    def columns_of(self, needs: frozenset[int]) -> list[int]:
        return [number for number, at in enumerate(self.columns) if at in needs]

    def projected(self, columns: list[int]) -> tuple[NDArray[np.int32], list[int]]:
        """For each row, which of the different values of `columns` it has; for each of those, its first row."""
        of_row, rows, starts = numbered(self.table[:, columns])
        return of_row, rows[starts[:-1]].tolist()

    def key(self, column: _Column, row: int) -> tuple[int, ...]:
        return tuple(self.table[row, column.depends].tolist())

    def lose(self, statement: ast.For, row: int) -> None:
        """There is no value for a row: a mistake, if there are other rows."""
        texts = [column.texts[number] for column, number in zip(self.columns.values(), self.table[row], strict=True)]
        if texts and self.without_values is None:
            self.without_values = no_values(statement, ",".join(texts))

    def scope_of(self, needs: frozenset[int], row: int) -> Scope:
        """What the names that the statements `needs` declare mean in a row of the table."""
        scope = self.library.inner()
        for at in sorted(needs):
            self.declare(self.body[at], at, row, scope)
        return scope

    def declare(self, statement: ast.Statement, at: int, row: int, scope: Scope) -> None:
        match statement:
            case ast.For():
                column = self.columns[at]
                if column.choices:
                    choice = column.choices[self.key(column, row)][int(self.table[row, column.place])]
                    for name, value in zip(statement.names, choice.values, strict=True):
                        scope.bind(name.text, value, name.span)
            case ast.Let():
                bind_quietly(statement, scope)
            case ast.If():
                holds = as_bool(evaluate(statement.condition, scope), scope, statement.condition.span, "`if`")
                block = statement.then if holds else statement.orelse
                for line in block.lines if block is not None else ():
                    self.declare(line, at, row, scope)
            case _:
                pass  # a step: what it declares is known only in a row
