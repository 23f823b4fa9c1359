"""Lowering: the statements of one row, in order, to the steps of a plan.

`expand` walks the body of a case once for each row, and passes every `expect` and every step to this module.
"""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.evaluate import decide
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.undecided import record_step
from mkeyspec.compiler.statements import expect
from mkeyspec.compiler.statements.capabilities import check_numbers, derived_needs, without
from mkeyspec.compiler.statements.check_step import apply, check_step
from mkeyspec.compiler.statements.queue_control import check_unreceived
from mkeyspec.compiler.statements.queue_room import take_room
from mkeyspec.compiler.statements.registry import lower
from mkeyspec.compiler.statements.row_state import RowState, TurnState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.snapshot import steps_with_snapshots, take
from mkeyspec.compiler.statements.turn import check_decided, check_left
from mkeyspec.compiler.statements.vacuous import check_finished
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast

ENTRIES_UNIT = 4
"""A default number of entries is rounded up to a multiple of this, as drivers do (X-LIM-07)."""


def departs(known: ast.Known | None, scope: Scope) -> bool:
    """Whether a `known` is one of this row."""
    return known is None or known.when is None or decide(known.when, scope, "`when`")


class Lowering(RowState):
    """The lowering of one row; see `RowState` for what it holds."""

    __slots__ = ()

    def step(self, node: ast.Step, scope: Scope) -> None:
        """Lower one sentence; declares what it names in `scope`. Raises `Fault`."""
        scope.ledger = self.ledger
        self.origin = Origin(node.span, self.case.name.span)
        sentence = self.read(node)
        if not departs(node.known, scope):
            sentence = replace(sentence, node=replace(node, known=None))
        lower(self, sentence, scope)

    def expect(self, node: ast.Expect, scope: Scope) -> None:
        """Lower one expectation. Raises `Fault`."""
        scope.ledger = self.ledger
        self.origin = Origin(node.span, self.case.name.span)
        expect.expect(self, node if departs(node.known, scope) else replace(node, known=None), scope)

    def named(self, name: ast.Name, scope: Scope) -> None:
        """A `let` was evaluated: its places mean the bytes that they have at this statement."""
        take(self, name, scope)

    def begin_turn(self, statement: ast.Repeat, turn: plan.Turn | None) -> None:
        if turn is None:
            self.turn = None
            return
        here = len(self.steps)
        if turn.number == 1:
            self.first = here
        self.turn = TurnState(turn, statement.span, here, self.first)

    def end_turn(self, statement: ast.Repeat) -> None:
        check_left(self, statement)

    def finish(self, row_id: str, bindings: tuple[plan.Binding, ...]) -> plan.Row:
        """The row: mkeys without `entries` get what their largest layout needs."""
        check_finished(self)
        check_unreceived(self)
        steps = self.steps
        if self.entries:
            steps = steps.copy()
            for at, count in self.entries.values():
                step = steps[at]
                if isinstance(step, plan.Mkey):
                    steps[at] = replace(step, entries=max(ENTRIES_UNIT, -(-count // ENTRIES_UNIT) * ENTRIES_UNIT))
        return plan.Row(row_id, tuple(steps_with_snapshots(self, steps)), tuple(self.needs), bindings)

    # Steps -------------------------------------------------------------------------------------

    def add(self, step: plan.Step, sentence: Sentence) -> plan.Step:
        record_step(self.undecided, step, sentence.span)
        if self.turn is not None:
            check_decided(step, sentence)
        take_room(self.state, self.ledger, step, sentence.span)
        self._locate(step, sentence.span)
        node = sentence.node.claim
        settled: plan.Step
        if node is None:
            settled = check_step(self.state, step, self.origin, self.diagnostics)
        else:
            self.origin.put_member(step, "claim", node.span)
            for found, written in zip(getattr(step, "claim", ()), node.outcomes, strict=False):
                self.origin.put(found, written.span)
            when_false = node.when is not None and not getattr(step, "claim", ())
            settled = check_step(self.state, step, self.origin, self.diagnostics, when_false)
        self.ledger.mkeys = self.state
        self.steps.append(settled)
        self._forget_receives(settled)
        self._need(settled)
        return settled

    def _locate(self, step: plan.Step, span: Span) -> None:
        """Give the step its origin."""
        self.origin.span = span
        step.locate(self.origin)

    def _forget_receives(self, step: plan.Step) -> None:
        """After a claimed error the pair is reconnected: no receive waits there."""
        if isinstance(step, (plan.Post, plan.Transmit, plan.Receive, plan.Poll)) and plan.fails_posted(step.claim):
            for peer in (False, True):
                queue = step.qp, peer
                self.state.ends[queue] = self.state.end(queue)._replace(waiting=0, perhaps=0)

    def add_expect(self, step: plan.Expect, span: Span) -> None:
        self._locate(step, span)
        take_room(self.state, self.ledger, step, span)
        self.steps.append(check_step(self.state, step, self.origin, self.diagnostics))
        self._need(step)

    def _need(self, step: plan.Step) -> None:
        for need in derived_needs(self.state, step, self.budget.device_numbers):
            if not isinstance(need, plan.Comparison):
                if not any(without(lacked, str(need)) for lacked in self.lacks):
                    self.needs[need] = None
            elif not self._is_compared(need):
                check_numbers(self.needs, need, self.origin.span)
                self.needs[need] = None

    def _is_compared(self, need: plan.Comparison) -> bool:
        """Whether another need demands as much of that number. A need of 0 demands only that it is known."""
        others = [one for one in self.needs if isinstance(one, plan.Comparison) and one.live == need.live]
        return any(need.value == 0 or (one.operator == need.operator and one.value >= need.value) for one in others)

    def apply(self, state: AbstractState, step: plan.Step) -> None:
        apply(state, step)

    def tried(self, step: plan.Step) -> Diagnostics:
        found = Diagnostics()
        check_step(self.state.copy(), step, self.origin, found)
        return found
