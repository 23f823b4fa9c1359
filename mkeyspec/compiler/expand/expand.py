"""From a case to its rows: its body walked once for each combination of its `for` values.

The walk handles values and names only; `RowLowering` handles steps and expectations. Values at the head of a body,
above the first step, are the same for all rows below them, and are evaluated once. From the first such statement on,
each row is walked by itself, with a lowering of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Optional, Protocol

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.evaluate import decide, evaluate
from mkeyspec.compiler.eval.functions.table import language
from mkeyspec.compiler.eval.memo import Memo
from mkeyspec.compiler.eval.scope import Contents, Reads, Scope
from mkeyspec.compiler.eval.values import Poison, UserFunction
from mkeyspec.compiler.expand.bindings import lets
from mkeyspec.compiler.expand.count import count_rows
from mkeyspec.compiler.expand.for_values import ForValue, ForValues, no_values
from mkeyspec.compiler.expand.turns import TurnLowering, Turns, turn_scope, turns_of
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault
from mkeyspec.diagnostics.limits import CASE_ROWS, COMBINATIONS, FILE_ROWS, REPEATED
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import branches


class RowLowering(TurnLowering, Protocol):
    """The state of one row while it is lowered."""

    @property
    def ledger(self) -> Contents: ...

    def step(self, node: ast.Step, scope: Scope) -> None: ...

    def expect(self, node: ast.Expect, scope: Scope) -> None: ...

    def named(self, name: ast.Name, scope: Scope) -> None:
        """The `let` of `name` was evaluated in `scope`."""
        ...

    def finish(self, row_id: str, bindings: Bindings) -> plan.Row: ...


class ChosenRows(Protocol):
    """Some of the rows of a case."""

    def kept(self, chosen: Sequence[ForValue], values: Sequence[ForValue]) -> Sequence[ForValue]:
        """Those `values` of a `for`, under the `chosen` ones of the `for`s above, with which such a row begins."""
        ...


Bindings = tuple[plan.Binding, ...]
Chosen = tuple[ForValue, ...]
"""The values that the `for`s around a statement are at."""

Begin = Callable[[], RowLowering]
"""Makes the lowering of a row at its beginning."""


@dataclass(slots=True)
class RowTally:
    """Rows of a file so far, and the statements in the turns of their `repeat`s.

    `mistaken`: where the cases begin of which a row was left out. The mistake may be elsewhere, and found before.
    """

    rows: int = 0
    repeated: int = 0
    mistaken: set[int] = field(default_factory=set)


def library_scope(lets: Iterable[ast.Let], diagnostics: Diagnostics) -> Scope:
    """The scope of a file: the language's words, and the `let`s of used files and its own, evaluated in order."""
    scope = language().inner()
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
    """Add the diagnostic, unless `resolve` has already reported that name."""
    found = mistake.diagnostic
    if found.code == "MKS0202" and any(other.span == found.span for other in diagnostics.errors):
        return
    diagnostics.add(found)


def expand(
    case: ast.Case,
    library: Scope,
    begin: Begin,
    diagnostics: Diagnostics,
    tally: Optional[RowTally] = None,
    covering: Optional[ChosenRows] = None,
) -> list[plan.Row]:
    """The rows of a case, in the order of its `for`s; those of `covering`, if it is given.

    A row with a mistake is left out, and its diagnostic added.
    """
    walk = _Walk(case, library, begin, diagnostics, tally if tally is not None else RowTally(), covering)
    with suppress(_Enough):
        scope = library.inner(begin().ledger)
        memo = Memo()
        if any(isinstance(line, ast.For) for line in case.body):
            scope.memo = memo
        try:
            walk.head(0, scope, (), True)
        finally:
            scope.leave(library)
            memo.clear()
        if walk.walked and walk.without_values is not None:
            diagnostics.add(no_values(*walk.without_values).diagnostic)
        if not walk.walked and not walk.mistaken:
            reason = "a `where` takes them all" if walk.filtered else "a `for` has nothing to go through"
            diagnostics.error("MKS0332", f"no row is left of case {case.name.text}", case.name.span, help=reason)
    if walk.mistaken or len(walk.rows) != walk.walked:
        walk.tally.mistaken.add(case.span.start)
    return walk.rows


class _Enough(Exception):
    """A limit is reached: no more rows."""


class _Level:
    """A `for` among the statements of the rows, and the value that it is at."""

    __slots__ = ("_number", "_values", "reads")

    def __init__(self, values: Sequence[ForValue], reads: Reads) -> None:
        """`reads`: by the row up to here, which this row repeats with another value."""
        self._values = values
        self._number = 0
        self.reads = reads

    @property
    def value(self) -> ForValue:
        return self._values[self._number]

    @property
    def last(self) -> bool:
        return self._number == len(self._values) - 1

    def advance(self) -> None:
        self._number += 1


class _Walk:
    def __init__(
        self,
        case: ast.Case,
        library: Scope,
        begin: Begin,
        diagnostics: Diagnostics,
        tally: RowTally,
        covering: Optional[ChosenRows],
    ) -> None:
        self.case = case
        self.covering = covering
        self.library = library
        self.begin = begin
        self.body = case.body
        self.filtered = any(isinstance(line, ast.Where) for line in case.body)
        self.diagnostics = diagnostics
        self.tally = tally
        self.steps_from = next((at for at, line in enumerate(case.body) if not _is_value(line)), len(case.body))
        """The first statement of the body that does something: the head ends here."""
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

    def head(self, at: int, scope: Scope, chosen: Chosen, sound: bool) -> None:
        """Evaluate the head of the body from statement `at` on. Not `sound`: an error was found; the rest is checked
        for more."""
        body = self.body
        while at < self.steps_from:
            statement = body[at]
            at += 1
            if isinstance(statement, ast.For):
                for value in self.values(statement, scope, chosen):
                    inner = _bound(statement, value, scope)
                    self.head(at, inner, (*chosen, value), sound)
                    inner.leave(scope)
                return
            done = self.one(statement, scope, None)
            if done is None:
                return
            sound = sound and done
        self.rest(at, scope, chosen, sound)

    def rest(self, at: int, scope: Scope, chosen: Chosen, sound: bool) -> None:
        """Walk from statement `at` to the end of the body, once for each row.

        Each walk begins at `at`: the `for`s on its way take the values that `levels` says, and a `for` that it reaches
        for the first time becomes one more level. Then the deepest level that has a value left goes on to it.
        """
        levels: list[_Level] = []
        while True:
            self.row(at, scope, levels, chosen, sound)
            while levels and levels[-1].last:
                levels.pop()
            if not levels:
                return
            levels[-1].advance()

    def row(self, at: int, around: Scope, levels: list[_Level], chosen: Chosen, sound: bool) -> None:
        """Walk once from statement `at` on."""
        lowering = self.begin()
        scope = around.inner(lowering.ledger)
        depth = 0
        for statement in self.body[at:]:
            if isinstance(statement, ast.For):
                if depth == len(levels):
                    values = self.values(statement, scope, chosen)
                    if not values:
                        return
                    levels.append(_Level(values, lowering.ledger.reads()))
                else:
                    lowering.ledger.restore_reads(levels[depth].reads)
                value = levels[depth].value
                depth += 1
                scope = _bound(statement, value, scope)
                chosen = (*chosen, value)
                continue
            done = self.one(statement, scope, lowering)
            if done is None:
                return
            sound = sound and done
        self.leaf(lowering, scope, chosen, sound)
        scope.leave(around)

    def one(self, statement: ast.Statement, scope: Scope, lowering: Optional[RowLowering]) -> Optional[bool]:
        """Carry out one statement; no `lowering`: of the head. False: it is wrong, but what follows can be looked at;
        None: it can't, or a `where` ends the row."""
        try:
            match statement:
                case ast.Let():
                    good = bind(statement, scope, self.diagnostics)
                    if good and statement.parameters is None and lowering is not None:
                        lowering.named(statement.name, scope)
                    return good
                case ast.Where():
                    return True if decide(statement.condition, scope, "`where`") else None
                case ast.Step():
                    assert lowering is not None
                    lowering.step(statement, scope)
                    return True
                case ast.Expect():
                    assert lowering is not None
                    return self.expect(statement, scope, lowering)
                case ast.If():
                    return self.branch(statement, scope, lowering)
                case ast.Repeat():
                    assert lowering is not None
                    return self.repeat(statement, scope, lowering)
                case ast.For():
                    return True  # in a branch: refused where the lines were read
                case _:
                    assert_never(statement)
        except Fault as mistake:
            self.add(mistake)
            return None

    def expect(self, statement: ast.Expect, scope: Scope, lowering: RowLowering) -> bool:
        """What follows can be looked at after a mistake."""
        try:
            lowering.expect(statement, scope)
        except Fault as mistake:
            self.add(mistake)
            return False
        return True

    def branch(self, statement: ast.If, scope: Scope, lowering: Optional[RowLowering]) -> Optional[bool]:
        holds = decide(statement.condition, scope, "`if`")
        block = statement.then if holds else statement.orelse
        sound = True
        for line in block.lines if block is not None else ():
            done = self.one(line, scope, lowering)
            if done is None:
                return None
            sound = sound and done
        return sound

    def repeat(self, statement: ast.Repeat, scope: Scope, lowering: RowLowering) -> Optional[bool]:
        """The lines, once for each turn."""
        lowering.read(statement.sentence)
        walk = Turns(statement, lowering, self.diagnostics, self.add)
        turns = list(turns_of(statement, scope))
        self.repeat_more(len(turns) * walk.statements)
        for turn in turns:
            inner = turn_scope(statement, turn, scope)
            done = walk.turn(turn, partial(self.one, scope=inner, lowering=lowering))
            inner.leave(scope)
            if not done:
                return done
        return True

    def leaf(self, lowering: RowLowering, scope: Scope, chosen: Chosen, sound: bool) -> None:
        self.walked += 1
        self.tally.rows += 1
        self.library.budget.row()
        if self.walked > CASE_ROWS.most:
            self.too_many()
        if self.tally.rows > FILE_ROWS.most:
            self.enough(FILE_ROWS.code, FILE_ROWS.broken())
        if not sound:
            return
        row_id = _id_of(chosen)
        if row_id in self.ids:
            self.diagnostics.error(
                "MKS0330", f"two rows are called `{row_id}`", self.case.name.span, help="give values labels: first: …"
            )
            return
        self.ids.add(row_id)
        try:
            bindings = [one for value in chosen for one in value.bindings]
            if bindings:
                bindings += lets(scope, self.library)
            self.rows.append(lowering.finish(row_id, tuple(bindings)))
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

    def repeat_more(self, statements: int) -> None:
        """A row repeats so many; where no row is left out, all of them will."""
        self.tally.repeated += statements
        rows = self.paths if self.covering is None and not self.filtered and not self.walked else 1
        if self.tally.repeated + (rows - 1) * statements > REPEATED.most:
            self.enough(REPEATED.code, REPEATED.broken(), "fewer turns, or fewer rows")

    def enough(self, code: str, message: str, help: str = "fewer values, or a `where`") -> None:
        self.diagnostics.error(code, message, self.case.name.span, help=help)
        raise _Enough

    def values(self, statement: ast.For, scope: Scope, chosen: Chosen) -> Sequence[ForValue]:
        """The values of a `for` that is reached under new values of those around it; none after a mistake in them."""
        try:
            values: Sequence[ForValue] = self.choices.of(statement, scope)
            scope.budget.spend(len(values), statement.span)
        except Fault as mistake:
            self.add(mistake)
            return ()
        if not values and chosen and self.without_values is None:
            self.without_values = (statement, _id_of(chosen))
        if self.covering is not None:
            values = self.covering.kept(chosen, values)
        if not self.walked:
            self.paths *= len(values)
            if self.paths > CASE_ROWS.most and not self.counted and self.covering is None:
                self.counted = True
                count = count_rows(self.case, self.library, CASE_ROWS.most)
                if count.rows > CASE_ROWS.most:
                    self.too_many()
                self.try_more(count.combinations)
                self.tried = 0
        self.try_more(len(values))
        return values


def _is_value(statement: ast.Statement) -> bool:
    """Whether a statement only names or selects values."""
    return not any(isinstance(line, (ast.Step, ast.Expect, ast.Repeat)) for line in branches((statement,)))


def _bound(statement: ast.For, value: ForValue, scope: Scope) -> Scope:
    """The scope below a `for`, in which its names mean `value`."""
    inner = scope.inner()
    inner.places = {name.text: name.span for name in statement.names}
    inner.names.update(zip([name.text for name in statement.names], value.values, strict=True))
    return inner


def _id_of(chosen: Chosen) -> str:
    return ",".join([value.text for value in chosen])
