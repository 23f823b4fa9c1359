"""How many rows a case would have, without lowering any: a runaway product is refused at once."""

from __future__ import annotations

from mkeyspec.lang import tree
from mkeyspec.lang.choice import Choices
from mkeyspec.lang.coercion import as_bool
from mkeyspec.lang.diagnostic import Fault
from mkeyspec.lang.evaluate import evaluate
from mkeyspec.lang.meaning import Poison, UserFunction
from mkeyspec.lang.scope import Scope


def more_rows_than(most: int, case: tree.Case, library: Scope) -> bool:
    """Has `case` more than `most` rows for certain? False where that depends on declared objects."""
    count = _Count(case, most)
    try:
        count.on(0, library.fork())
    except Fault:
        return False
    except _Enough:
        return True
    return False


class _Enough(Exception):
    pass


class _Count:
    def __init__(self, case: tree.Case, most: int) -> None:
        self.body = [s for s in case.body if isinstance(s, (tree.For, tree.Where, tree.Let))]
        self.left = most
        self.choices = Choices()
        last = max((i for i, s in enumerate(self.body) if isinstance(s, (tree.For, tree.Where))), default=0)
        self.last = last if isinstance(self.body[last], tree.For) else len(self.body)
        """The `for` behind which no row is pruned: its values are counted, not walked."""

    def on(self, at: int, scope: Scope) -> None:
        for i in range(at, len(self.body)):
            statement = self.body[i]
            if isinstance(statement, tree.For):
                choices = self.choices.of(statement, scope)
                if i == self.last:
                    self.leaves(len(choices))
                    return
                for choice in choices:
                    inner = scope.fork()
                    for name, value in zip(statement.names, choice.values, strict=True):
                        inner.bind(name.text, value, name.span)
                    self.on(i + 1, inner)
                return
            if isinstance(statement, tree.Where):
                if not as_bool(evaluate(statement.condition, scope), scope, statement.condition.span, "`where`"):
                    return
            elif isinstance(statement, tree.Let):
                _bind(statement, scope)
        self.leaves(1)

    def leaves(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise _Enough


def _bind(let: tree.Let, scope: Scope) -> None:
    name = let.name
    if let.parameters is not None:
        parameters = tuple(parameter.text for parameter in let.parameters)
        scope.bind(name.text, UserFunction(name.text, parameters, let.value, scope), name.span)
        return
    try:
        scope.bind(name.text, evaluate(let.value, scope), name.span)
    except Fault as mistake:
        scope.bind(name.text, Poison(mistake.diagnostic), name.span)
