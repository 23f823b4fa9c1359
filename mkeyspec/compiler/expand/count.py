"""How many rows a case would have, without lowering any: a product that is too large is refused at once."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.compiler.eval.coercion import as_bool
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Poison, UserFunction
from mkeyspec.compiler.expand.for_values import ForValues
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.limits import COMBINATIONS
from mkeyspec.syntax import ast

COMBINATION_STEPS = 4
"""Steps of evaluation that trying a combination of values takes."""


@dataclass(frozen=True, slots=True)
class RowCount:
    """`rows`: that many, or more. `combinations`: of values that were tried, including those that `where` removes."""

    rows: int
    combinations: int


def count_rows(case: ast.Case, library: Scope, most: int) -> RowCount:
    """Count the rows of `case`, until they are more than `most` or more than `COMBINATIONS` are tried.

    Both are 0 where that depends on declared objects.
    """
    count = _Count(case, most)
    try:
        count.on(0, library.inner())
    except Fault:
        return RowCount(0, 0)
    except _Enough:
        pass
    return RowCount(count.rows, count.combinations)


def most_rows(case: ast.Case) -> int | None:
    """The product of the numbers of values that are written out; None where they are not: `for i in 0..n`."""
    rows = 1
    for statement in case.body:
        if isinstance(statement, ast.For):
            if len(statement.items) == 1:
                return None
            rows *= len(statement.items)
    return rows


class _Enough(Exception):
    pass


class _Count:
    def __init__(self, case: ast.Case, most: int) -> None:
        self.body = [s for s in case.body if isinstance(s, (ast.For, ast.Where, ast.Let))]
        self.most = most
        self.rows = 0
        self.combinations = 0
        self.choices = ForValues()
        last = max((i for i, s in enumerate(self.body) if not isinstance(s, ast.Let)), default=0)
        self.last = last if self.body and isinstance(self.body[last], ast.For) else len(self.body)
        """The `for` after which no row is pruned: its values are counted, not walked."""

    def on(self, at: int, scope: Scope) -> None:
        for i in range(at, len(self.body)):
            statement = self.body[i]
            if isinstance(statement, ast.For):
                choices = self.choices.of(statement, scope)
                if i == self.last:
                    self.leaves(len(choices))
                    return
                scope.budget.spend(COMBINATION_STEPS * len(choices), statement.span)
                for choice in choices:
                    self.combinations += 1
                    if self.combinations > COMBINATIONS.most:
                        raise _Enough
                    inner = scope.inner()
                    for name, value in zip(statement.names, choice.values, strict=True):
                        inner.bind(name.text, value, name.span)
                    self.on(i + 1, inner)
                return
            if isinstance(statement, ast.Let):
                bind_quietly(statement, scope)
            elif not as_bool(evaluate(statement.condition, scope), scope, statement.condition.span, "`where`"):
                return
        self.leaves(1)

    def leaves(self, count: int) -> None:
        self.rows += count
        if self.rows > self.most:
            raise _Enough


def bind_quietly(let: ast.Let, scope: Scope) -> None:
    """Give the name of a `let` its value; after a mistake it is poisoned, and nothing is reported."""
    name = let.name
    if let.parameters is not None:
        parameters = tuple(parameter.text for parameter in let.parameters)
        scope.bind(name.text, UserFunction(name.text, parameters, let.value, scope), name.span)
        return
    try:
        scope.bind(name.text, evaluate(let.value, scope), name.span)
    except Fault as mistake:
        scope.bind(name.text, Poison(mistake.diagnostic), name.span)
