"""Lowering: the statements of one row, in order, to the steps of a plan.

`expand` walks the body of a case once for each row, and hands over every `expect` and every sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mkeyspec import plan
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import declare, expect, other, sections, transmit_receive
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.shape import Sentence
from mkeyspec.compiler.statements.snapshot import steps_with_snapshots, take
from mkeyspec.compiler.statements.vacuous import look_finished
from mkeyspec.compiler.statements.verbs import REQUEST_NAMES
from mkeyspec.syntax import ast

ENTRIES_UNIT = 4
"""Entries that nobody asked for are rounded up to this: drivers grant them in fours (X-LIM)."""

_Statement = Callable[[RowState, Sentence, Scope], None]

_STATEMENTS: dict[str, _Statement] = {
    "memory": declare.memory,
    "mkey": declare.mkey,
    "qp": declare.qp,
    "pd": declare.pd,
    "dek": declare.dek,
    "dct": declare.dct,
    "post": sections.post,
    "abort": sections.post,
    **dict.fromkeys(REQUEST_NAMES, sections.alone),
    "transmit": transmit_receive.transmit,
    "receive": transmit_receive.receive,
    "recv": sections.recv,
    "store": other.store,
    "check": other.check,
    "await": other.await_,
    "poll": other.poll,
    "cancel": other.cancel,
    "resume": other.resume,
    "retag": other.retag,
    "record": expect.record,
}


class Lowering(RowState):
    """The lowering of one row; see `RowState` for what it holds."""

    __slots__ = ()

    def step(self, node: ast.Step, scope: Scope) -> None:
        """Lower one sentence; declares what it names in `scope`. Raises `Fault`."""
        scope.ledger = self.ledger
        sentence = self.sentences.read(node, "case")
        _STATEMENTS[sentence.verb.name](self, sentence, scope)

    def expect(self, node: ast.Expect, scope: Scope) -> None:
        """Lower one expectation. Raises `Fault`."""
        scope.ledger = self.ledger
        expect.expect(self, node, scope)

    def named(self, name: ast.Name, scope: Scope) -> None:
        """A `let` was evaluated: the bytes of places in it are meant as they are here."""
        take(self, name, scope)

    def finish(self, row_id: str) -> plan.Row:
        """The row: mkeys without `entries` get what their largest layout needs."""
        look_finished(self)
        steps = self.steps
        if self.entries:
            steps = steps.copy()
            for at, count in self.entries.values():
                step = steps[at]
                if isinstance(step, plan.Mkey):
                    steps[at] = replace(step, entries=max(ENTRIES_UNIT, -(-count // ENTRIES_UNIT) * ENTRIES_UNIT))
        return plan.Row(row_id, tuple(steps_with_snapshots(self, steps)), tuple(self.needs))
