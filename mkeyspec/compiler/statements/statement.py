"""The record of a statement: everything that the compiler knows of it, in one place.

A module of this package describes a family of statements and ends with their records. `registry` (statements) and
`work_requests` (requests of a section) collect the records: by word, and by the class of the plan that they make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import Shape
from mkeyspec.diagnostics.diagnostic import Diagnostics

if TYPE_CHECKING:
    from mkeyspec.compiler.statements.row_state import RowState

S = TypeVar("S", bound=plan.Step)
R = TypeVar("R", bound=plan.Wr)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Statement(Generic[S]):
    """What the compiler knows of the statements that become a step of the class `step`.

    `shapes`: what each of its words takes. `lower`: adds the step of a sentence to the row. `check`: reports the rules
    of the man pages that the step breaks; None: it can break none. `lint`: warns of what is allowed but hardly meant.
    `effect`: changes the abstract state to what it is after the step; None: nothing changes.
    """

    step: type[S]
    shapes: tuple[Shape, ...]
    lower: Callable[[RowState, Sentence, Scope], None]
    check: Callable[[Context, S], None] | None
    effect: Callable[[AbstractState, S], None] | None
    lint: Callable[[AbstractState, S, Origin, Diagnostics], None] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Request(Generic[R]):
    """What the compiler knows of a work request, which becomes a part of a `plan.Post`.

    `lower`: the request of a sentence; it is given what every request may carry. `check` and `effect` as of a
    `Statement`, without what is the same for every request (`sections`).
    """

    request: type[R]
    shapes: tuple[Shape, ...]
    lower: Callable[[RowState, Sentence, Scope, plan.Options], R]
    check: Callable[[Context, R], None]
    effect: Callable[[AbstractState, R], None] | None
