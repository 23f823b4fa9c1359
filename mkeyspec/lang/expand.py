"""From a case to its rows: a walk over its statements that forks at every `for`.

What stands before a `for` is evaluated once and shared by all of its rows. The walk knows values
and names only; what a step or an expectation means is `Lowering`'s, which is forked along with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Optional, Protocol, TypeVar

from mkeyspec import plan
from mkeyspec.lang import tree
from mkeyspec.lang.coercion import as_bool, describe, fault
from mkeyspec.lang.diagnostic import Diagnostics, Fault, Note
from mkeyspec.lang.evaluate import evaluate
from mkeyspec.lang.function import language
from mkeyspec.lang.limit import CASE_ROWS, FILE_ROWS
from mkeyspec.lang.meaning import LIVE_BYTES, LIVE_INT, Poison, UserFunction, Value
from mkeyspec.lang.row_name import name_of, text_of
from mkeyspec.lang.scope import Ledger, Scope
from mkeyspec.value.range import Range

Self = TypeVar("Self", bound="Lowering")


class Lowering(Protocol):
    """The state of one row while it is lowered."""

    @property
    def ledger(self) -> Ledger: ...

    def fork(self: Self) -> Self:
        """A copy that goes its own way from here."""
        ...

    def step(self, node: tree.Step, scope: Scope) -> None: ...

    def expect(self, node: tree.Expect, scope: Scope) -> None: ...

    def finish(self, row_id: str) -> plan.Row: ...


@dataclass(slots=True)
class Tally:
    """Rows of a file so far."""

    rows: int = 0


class Choice:
    """One value of a `for`: what its names are bound to, and how they are called in the row's id."""

    __slots__ = ("span", "text", "values")

    def __init__(self, values: tuple[Value, ...], text: str, span: tree.Span) -> None:
        self.values = values
        self.text = text
        self.span = span


def library_scope(lets: Iterable[tree.Let], diagnostics: Diagnostics) -> Scope:
    """The scope of a file: the language's words, and the `let`s of used files and its own, evaluated in order."""
    scope = language().fork()
    for let in lets:
        bind(let, scope, diagnostics)
    return scope


def bind(let: tree.Let, scope: Scope, diagnostics: Diagnostics) -> bool:
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
        diagnostics.add(mistake.diagnostic)
        scope.bind(name.text, Poison(mistake.diagnostic), name.span)
        return False


def expand(
    case: tree.Case, library: Scope, lowering: Lowering, diagnostics: Diagnostics, tally: Optional[Tally] = None
) -> list[plan.Row]:
    """The rows of a case, in the order of its `for`s. A row with a mistake is left out, and its diagnostic added."""
    walk = _Walk(case, diagnostics, tally if tally is not None else Tally())
    with suppress(_Enough):
        walk.on(0, library.fork(lowering.ledger), lowering, "", True)
    return walk.rows


class _Enough(Exception):
    """A limit is reached: no more rows."""


class _Walk:
    def __init__(self, case: tree.Case, diagnostics: Diagnostics, tally: Tally) -> None:
        self.case = case
        self.body = case.body
        self.diagnostics = diagnostics
        self.tally = tally
        self.rows: list[plan.Row] = []
        self.walked = 0
        self.ids: set[str] = set()
        self.texts: dict[int, list[Optional[str]]] = {}
        """Of each item of a `for`, by the item's identity: one text, or one for each name."""

    def on(self, at: int, scope: Scope, lowering: Lowering, row_id: str, sound: bool) -> None:
        """Walk on from statement `at`. Not `sound`: a mistake was found in this row, the rest is looked at for more."""
        body = self.body
        while at < len(body):
            statement = body[at]
            at += 1
            if isinstance(statement, tree.For):
                self.fork(statement, at, scope, lowering, row_id, sound)
                return
            if isinstance(statement, tree.Where):
                try:
                    holds = as_bool(evaluate(statement.condition, scope), scope, statement.condition.span, "`where`")
                except Fault as mistake:
                    self.diagnostics.add(mistake.diagnostic)
                    return
                if not holds:
                    return
                continue
            done = self.one(statement, scope, lowering)
            if done is None:
                return
            sound = sound and done
        self.leaf(lowering, row_id, sound)

    def one(self, statement: tree.Statement, scope: Scope, lowering: Lowering) -> Optional[bool]:
        """Carry out one statement. False: it is wrong, but what follows can be looked at; None: it can't."""
        if isinstance(statement, tree.Let):
            return bind(statement, scope, self.diagnostics)
        sound = True
        try:
            if isinstance(statement, tree.Step):
                lowering.step(statement, scope)
            elif isinstance(statement, tree.Expect):
                lowering.expect(statement, scope)
            elif isinstance(statement, tree.If):
                condition = statement.condition
                holds = as_bool(evaluate(condition, scope), scope, condition.span, "`if`")
                block = statement.then if holds else statement.orelse
                for line in block.lines if block is not None else ():
                    done = self.one(line, scope, lowering)
                    if done is None:
                        return None
                    sound = sound and done
        except Fault as mistake:
            self.diagnostics.add(mistake.diagnostic)
            return False if isinstance(statement, tree.Expect) else None
        return sound

    def leaf(self, lowering: Lowering, row_id: str, sound: bool) -> None:
        self.walked += 1
        self.tally.rows += 1
        if self.walked > CASE_ROWS.most:
            self.enough(CASE_ROWS.code, f"case {self.case.name.text}: {CASE_ROWS.broken()}")
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
            self.diagnostics.add(mistake.diagnostic)

    def enough(self, code: str, message: str) -> None:
        self.diagnostics.error(code, message, self.case.name.span, help="fewer values, or a `where`")
        raise _Enough

    # for -------------------------------------------------------------------------------------

    def fork(
        self, statement: tree.For, at: int, scope: Scope, lowering: Lowering, row_id: str, sound: bool
    ) -> None:
        """Walk on once for every value of a `for`."""
        try:
            choices = self.choices(statement, scope)
            scope.budget.spend(len(choices), statement.span)
        except Fault as mistake:
            self.diagnostics.add(mistake.diagnostic)
            return
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

    def choices(self, statement: tree.For, scope: Scope) -> list[Choice]:
        """The values of a `for`, equal ones once, each under its own text."""
        found: list[Choice] = []
        seen: set[object] = set()
        by_text: dict[str, Choice] = {}
        for choice, labelled in self.candidates(statement, scope):
            key = (choice.text if labelled else None, tuple((type(value), value) for value in choice.values))
            if key in seen:
                continue
            seen.add(key)
            other = by_text.get(choice.text)
            if other is not None:
                raise fault(
                    "MKS0330",
                    f"two values would be called `{choice.text}` in the row's id",
                    choice.span,
                    notes=(Note("the other one", other.span),),
                    help="give them labels: first: …, second: …",
                )
            by_text[choice.text] = choice
            found.append(choice)
        return found

    def candidates(self, statement: tree.For, scope: Scope) -> list[tuple[Choice, bool]]:
        items = statement.items
        if len(items) == 1 and items[0].label is None:
            several = self.iterated(statement, items[0].value, scope)
            if several is not None:
                return several
        found: list[tuple[Choice, bool]] = []
        for i, item in enumerate(items):
            value = evaluate(item.value, scope)
            values = self.zipped(statement, value, item.value)
            if item.label is not None:
                found.append((Choice(values, f"{statement.names[0].text}={item.label.text}", item.value.span), True))
                continue
            self.need_label(value, item.value)
            found.append((self.named(statement, values, item.value, i), False))
        return found

    def iterated(self, statement: tree.For, expr: tree.Expr, scope: Scope) -> Optional[list[tuple[Choice, bool]]]:
        """One list or range after `in` is gone through, as in Python; None: it is one value."""
        value = evaluate(expr, scope)
        if isinstance(value, Range):
            value = tuple(range(value.start, value.end))
        if not isinstance(value, tuple):
            return None
        count = len(statement.names)
        if count > 1 and not all(isinstance(item, tuple) and len(item) == count for item in value):
            return None
        written: tuple[Optional[tree.Expr], ...] = (None,) * len(value)
        if isinstance(expr, tree.Tuple):
            written = expr.items
        elif isinstance(expr, tree.List) and not any(item.pairs for item in expr.items):
            written = tuple(item.value for item in expr.items)
        found: list[tuple[Choice, bool]] = []
        for i, (item, source) in enumerate(zip(value, written, strict=True)):
            self.need_label(item, source or expr)
            values = self.zipped(statement, item, source or expr)
            if source is not None:
                found.append((self.named(statement, values, source, i), False))
            else:
                texts = [name_of(v) for v in values]
                found.append((self.choice(statement, values, texts, i, expr.span), False))
        return found

    def zipped(self, statement: tree.For, value: Value, expr: tree.Expr) -> tuple[Value, ...]:
        """One value for each name."""
        names = statement.names
        if len(names) == 1:
            return (value,)
        if not isinstance(value, tuple):
            raise fault(
                "MKS0302",
                f"{len(names)} names take tuples of {len(names)} values, not {describe(value)}",
                expr.span,
                notes=(Note("the names", names[0].span.to(names[-1].span)),),
            )
        if len(value) != len(names):
            raise fault(
                "MKS0302",
                f"{len(value)} values for {len(names)} names",
                expr.span,
                notes=(Note("the names", names[0].span.to(names[-1].span)),),
            )
        return value

    def need_label(self, value: Value, expr: tree.Expr) -> None:
        """A live value in a `for` has no text of its own that would say what it is (G10)."""
        if isinstance(value, (*LIVE_INT, *LIVE_BYTES)):
            raise fault("MKS0330", "a live value in a `for` needs a label", expr.span, help="end: k.max_entries")

    def named(self, statement: tree.For, values: tuple[Value, ...], expr: tree.Expr, i: int) -> Choice:
        """Values called as they are written."""
        texts = self.texts.get(id(expr))
        if texts is None:
            if len(values) > 1 and isinstance(expr, tree.Tuple):
                texts = [text_of(item) for item in expr.items]
            elif len(values) > 1:
                texts = [name_of(value) for value in values]
            else:
                texts = [text_of(expr)]
            self.texts[id(expr)] = texts
        return self.choice(statement, values, texts, i, expr.span)

    def choice(
        self, statement: tree.For, values: tuple[Value, ...], texts: list[Optional[str]], i: int, span: tree.Span
    ) -> Choice:
        names = statement.names
        pairs = (
            f"{name.text}={text if text is not None else name_of(value) or f'item{i}'}"
            for name, text, value in zip(names, texts, values, strict=True)
        )
        return Choice(values, ",".join(pairs), span)
