"""From a case to its rows: a walk over its statements that forks at every `for`.

What stands before a `for` is evaluated once and shared by all of its rows. The walk knows values
and names only; what a step or an expectation means is `RowLowering`'s, which is forked along with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Optional, Protocol, TypeVar

from mkeyspec import plan
from mkeyspec.compiler.eval.evaluate import decide, evaluate
from mkeyspec.compiler.eval.functions.table import language
from mkeyspec.compiler.eval.scope import Contents, Scope
from mkeyspec.compiler.eval.values import Poison, UserFunction
from mkeyspec.compiler.expand.count import count_rows
from mkeyspec.compiler.expand.for_values import ForValues
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault
from mkeyspec.diagnostics.limits import CASE_ROWS, COMBINATIONS, FILE_ROWS
from mkeyspec.syntax import ast

Self = TypeVar("Self", bound="RowLowering")


class RowLowering(Protocol):
    """The state of one row while it is lowered."""

    @property
    def ledger(self) -> Contents: ...

    def fork(self: Self) -> Self:
        """A copy that goes its own way from here."""
        ...

    def step(self, node: ast.Step, scope: Scope) -> None: ...

    def expect(self, node: ast.Expect, scope: Scope) -> None: ...

    def named(self, name: ast.Name, scope: Scope) -> None:
        """The `let` of `name` was evaluated in `scope`."""
        ...

    def finish(self, row_id: str) -> plan.Row: ...


@dataclass(slots=True)
class RowTally:
    """Rows of a file so far."""

    rows: int = 0


def library_scope(lets: Iterable[ast.Let], diagnostics: Diagnostics) -> Scope:
    """The scope of a file: the language's words, and the `let`s of used files and its own, evaluated in order."""
    scope = language().fork()
    for let in lets:
        bind(let, scope, diagnostics)
    return scope


def bind(let: ast.Let, scope: Scope, diagnostics: Diagnostics) -> bool:
    """Evaluate a `let` and give its name the value; after a mistake the name is poisoned. False after a mistake."""
    name = let.name
    if let.parameters is not None:
        parameters = tuple(parameter.text for parameter in let.parameters)
        scope.bind(name.text, UserFunction(name.text, parameters, let.value, scope), name.span)
        return True
    try:
        scope.bind(name.text, evaluate(let.value, scope), name.span)
        return True
    except Fault as mistake:
        report(mistake, diagnostics)
        scope.bind(name.text, Poison(mistake.diagnostic), name.span)
        return False


def report(mistake: Fault, diagnostics: Diagnostics) -> None:
    """Add what is wrong, unless `resolve` has said better what is wrong with that name."""
    found = mistake.diagnostic
    if found.code == "MKS0202" and any(other.span == found.span for other in diagnostics.errors):
        return
    diagnostics.add(found)


def expand(
    case: ast.Case, library: Scope, lowering: RowLowering, diagnostics: Diagnostics, tally: Optional[RowTally] = None
) -> list[plan.Row]:
    """The rows of a case, in the order of its `for`s. A row with a mistake is left out, and its diagnostic added."""
    walk = _Walk(case, library, diagnostics, tally if tally is not None else RowTally())
    with suppress(_Enough):
        walk.on(0, library.fork(lowering.ledger), lowering, "", True)
        if walk.walked and walk.without_values is not None:
            statement, lost = walk.without_values
            names = " and ".join(f"`{name.text}`" for name in statement.names)
            diagnostics.error(
                "MKS0333",
                f"row `{lost}` is lost: there is no value for {names}",
                statement.span,
                help="if it is meant to have no rows, a `where` above says so",
            )
        if not walk.walked and not walk.mistaken:
            filtered = any(isinstance(line, ast.Where) for line in case.body)
            reason = "a `where` takes them all" if filtered else "a `for` has nothing to go through"
            diagnostics.error("MKS0332", f"no row is left of case {case.name.text}", case.name.span, help=reason)
    return walk.rows


class _Enough(Exception):
    """A limit is reached: no more rows."""


class _Walk:
    def __init__(self, case: ast.Case, library: Scope, diagnostics: Diagnostics, tally: RowTally) -> None:
        self.case = case
        self.library = library
        self.body = case.body
        self.diagnostics = diagnostics
        self.tally = tally
        self.rows: list[plan.Row] = []
        self.walked = 0
        self.mistaken = False
        self.ids: set[str] = set()
        self.choices = ForValues()
        self.paths = 1
        """Rows there would be if every `for` had as many values as on the first path."""
        self.counted = False
        self.without_values: Optional[tuple[ast.For, str]] = None
        """The first inner `for` that had nothing to go through, and the row that ends there."""
        self.tried = 0
        """Combinations of values, those included that a `where` took away."""

    def on(self, at: int, scope: Scope, lowering: RowLowering, row_id: str, sound: bool) -> None:
        """Walk on from statement `at`. Not `sound`: a mistake was found in this row, the rest is looked at for more."""
        body = self.body
        while at < len(body):
            statement = body[at]
            at += 1
            if isinstance(statement, ast.For):
                self.fork(statement, at, scope, lowering, row_id, sound)
                return
            if isinstance(statement, ast.Where):
                try:
                    holds = decide(statement.condition, scope, "`where`")
                except Fault as mistake:
                    self.add(mistake)
                    return
                if not holds:
                    return
                continue
            done = self.one(statement, scope, lowering)
            if done is None:
                return
            sound = sound and done
        self.leaf(lowering, row_id, sound)

    def one(self, statement: ast.Statement, scope: Scope, lowering: RowLowering) -> Optional[bool]:
        """Carry out one statement. False: it is wrong, but what follows can be looked at; None: it can't."""
        if isinstance(statement, ast.Let):
            good = bind(statement, scope, self.diagnostics)
            if good and statement.parameters is None:
                lowering.named(statement.name, scope)
            return good
        sound = True
        try:
            if isinstance(statement, ast.Step):
                lowering.step(statement, scope)
            elif isinstance(statement, ast.Expect):
                lowering.expect(statement, scope)
            elif isinstance(statement, ast.If):
                holds = decide(statement.condition, scope, "`if`")
                block = statement.then if holds else statement.orelse
                for line in block.lines if block is not None else ():
                    done = self.one(line, scope, lowering)
                    if done is None:
                        return None
                    sound = sound and done
        except Fault as mistake:
            self.add(mistake)
            return False if isinstance(statement, ast.Expect) else None
        return sound

    def leaf(self, lowering: RowLowering, row_id: str, sound: bool) -> None:
        self.walked += 1
        self.tally.rows += 1
        self.library.budget.row()
        if self.walked > CASE_ROWS.most:
            self.too_many()
        if self.tally.rows > FILE_ROWS.most:
            self.enough(FILE_ROWS.code, FILE_ROWS.broken())
        if not sound:
            return
        if row_id in self.ids:
            self.diagnostics.error(
                "MKS0330", f"two rows are called `{row_id}`", self.case.name.span, help="give values labels: first: …"
            )
            return
        self.ids.add(row_id)
        try:
            self.rows.append(lowering.finish(row_id))
        except Fault as mistake:
            self.add(mistake)

    def add(self, mistake: Fault) -> None:
        self.mistaken = True
        report(mistake, self.diagnostics)

    def too_many(self) -> None:
        self.enough(CASE_ROWS.code, f"case {self.case.name.text}: {CASE_ROWS.broken()}")

    def try_more(self, combinations: int) -> None:
        self.tried += combinations
        if self.tried > COMBINATIONS.most:
            self.enough(COMBINATIONS.code, f"case {self.case.name.text}: {COMBINATIONS.broken()}", "fewer values")

    def enough(self, code: str, message: str, help: str = "fewer values, or a `where`") -> None:
        self.diagnostics.error(code, message, self.case.name.span, help=help)
        raise _Enough

    # for -------------------------------------------------------------------------------------

    def fork(self, statement: ast.For, at: int, scope: Scope, lowering: RowLowering, row_id: str, sound: bool) -> None:
        """Walk on once for every value of a `for`."""
        try:
            choices = self.choices.of(statement, scope)
            scope.budget.spend(len(choices), statement.span)
        except Fault as mistake:
            self.add(mistake)
            return
        if not choices and row_id and self.without_values is None:
            self.without_values = (statement, row_id)
        if not self.walked:
            self.paths *= len(choices)
            if self.paths > CASE_ROWS.most and not self.counted:
                self.counted = True
                count = count_rows(self.case, self.library, CASE_ROWS.most)
                if count.rows > CASE_ROWS.most:
                    self.too_many()
                self.try_more(count.combinations)
                self.tried = 0
        self.try_more(len(choices))
        prefix = row_id + "," if row_id else ""
        names = [name.text for name in statement.names]
        places = {name.text: name.span for name in statement.names}
        last = len(choices) - 1
        for i, choice in enumerate(choices):
            # Nobody needs the state before the `for` after the last value has taken it.
            own = lowering if i == last else lowering.fork()
            inner = scope.fork(own.ledger)
            inner.places = places.copy()
            inner.names.update(zip(names, choice.values, strict=True))
            self.on(at, inner, own, prefix + choice.text, sound)
