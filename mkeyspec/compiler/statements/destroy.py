"""`destroy`: an mkey is destroyed before the end of its case."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Look
from mkeyspec.compiler.check.mkey_state import look_exists
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import LABEL, MKEY, MKEY_PAGE, Shape
from mkeyspec.compiler.statements.statement import Statement


def _lower(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`destroy k`: mlx5dv_destroy_mkey returns 0, or the errno that is claimed."""
    mkey = row.handle(sentence.operand, scope, "mkey", "`destroy`").name
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    row.add(plan.Destroy(sentence.at, mkey, row.label(sentence, scope), claim, known), sentence)


def _check(look: Look, step: plan.Destroy) -> None:
    look_exists(look, step, step.mkey)


def _effect(state: AbstractState, step: plan.Destroy) -> None:
    """A claimed refusal leaves the key as it is; where it may be refused, nothing relies on it afterwards."""
    key = state.mkey(step.mkey)
    if key is not None and not plan.is_rejected(step.claim):
        state.things[step.mkey] = key._replace(destroyed=step.at)


DESTROY = Statement(
    step=plan.Destroy,
    shapes=(
        Shape(
            "destroy",
            "destroy k as d",
            MKEY,
            {"as": LABEL},
            phases=("destroy",),
            known=True,
            page=MKEY_PAGE,
            shows=("errno",),
        ),
    ),
    lower=_lower,
    check=_check,
    effect=_effect,
)
