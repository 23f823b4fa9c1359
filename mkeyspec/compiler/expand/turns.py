"""The turns of a `repeat`: how many there are, what is known in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Optional, Protocol

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import as_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, Note
from mkeyspec.diagnostics.limits import TURNS
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import flat, label_of


def turns_of(statement: ast.Repeat, scope: Scope) -> Iterator[plan.Turn]:
    """The turns, in order. Raises `Fault` where their number is none; the shape of the sentence is right."""
    operand = statement.sentence.operand
    assert operand is not None
    span = operand.span
    of = as_int(evaluate(operand, scope), scope, span, "`repeat`")
    if of < 1:
        help = "1 or more; `if` around it leaves it out in some rows"
        raise fault("MKS0336", f"`repeat` takes a number of turns, and {of} is none", span, help=help)
    if of > TURNS.most:
        raise fault(TURNS.code, TURNS.broken(of), span, help="fewer; each turn is checked as if it were written out")
    location = statement.span.source.location(statement.span.start)
    for number in range(1, of + 1):
        yield plan.Turn(number, of, location.line, location.column)


class TurnLowering(Protocol):
    """The state of one row, as its turns see it."""

    def read(self, node: ast.Step) -> object:
        """Raises `Fault` if the sentence has wrong parts."""
        ...

    def begin_turn(self, statement: ast.Repeat, turn: Optional[plan.Turn]) -> None:
        """The lines of a `repeat` follow, in this turn; None: what follows is of no turn."""
        ...

    def end_turn(self, statement: ast.Repeat) -> None:
        """The lines are done. Raises `Fault` where they leave something that the next turn makes again."""
        ...


class Turns:
    """The walk through the turns of a `repeat`. A mistake is reported once: the turns after it are not checked."""

    def __init__(
        self, statement: ast.Repeat, lowering: TurnLowering, diagnostics: Diagnostics, add: Callable[[Fault], None]
    ) -> None:
        self.statement = statement
        self.lowering = lowering
        self.diagnostics = diagnostics
        self.add = add
        self.statements = sum(1 for _ in flat(statement.lines))
        """In one turn."""

    def turn(self, turn: plan.Turn, one: Callable[[ast.Statement], Optional[bool]]) -> Optional[bool]:
        """`one` carries out a line. The result of both: False: it is wrong, but what follows the `repeat` can be
        looked at; None: it can't."""
        found, errors = len(self.diagnostics.found), len(self.diagnostics.errors)
        done = self._lines(turn, one)
        if turn.number > 1:
            self._name_turn(found, turn)
        return False if done and len(self.diagnostics.errors) > errors else done

    def _lines(self, turn: plan.Turn, one: Callable[[ast.Statement], Optional[bool]]) -> Optional[bool]:
        self.lowering.begin_turn(self.statement, turn)
        try:
            for line in self.statement.lines:
                done = one(line)
                if not done:
                    return done
            self.lowering.end_turn(self.statement)
        except Fault as mistake:
            self.add(mistake)
            return False
        finally:
            self.lowering.begin_turn(self.statement, None)
        return True

    def _name_turn(self, since: int, turn: plan.Turn) -> None:
        """What was found from number `since` on was not there in the turns before."""
        found = self.diagnostics.found
        note = Note(f"{turn}: the turns before it are right", self.statement.sentence.verb.span)
        found[since:] = [replace(one, notes=(*one.notes, note)) for one in found[since:]]


def turn_scope(statement: ast.Repeat, turn: plan.Turn, around: Scope) -> Scope:
    """The scope of a turn's lines: what they declare is of this turn alone."""
    inner = around.inner()
    name = _name(statement)
    if name is not None:
        inner.bind(name.text, turn.number, name.span)
    return inner


def _name(statement: ast.Repeat) -> ast.Name | None:
    return next((name for phrase in statement.sentence.phrases if (name := label_of(phrase)) is not None), None)
