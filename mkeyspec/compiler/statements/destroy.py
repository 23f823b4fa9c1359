"""`destroy`: an mkey, a DEK or a login object is destroyed before the end of its case."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.mkey_state import check_exists
from mkeyspec.compiler.check.state import AbstractMkey, AbstractState
from mkeyspec.compiler.eval.coercion import as_handle
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import LABEL, MKEY_PAGE, Shape, Slot
from mkeyspec.compiler.statements.statement import Statement

_STEPS: dict[str, type[plan.Destroy] | type[plan.DestroyDek] | type[plan.Logout]] = {
    "mkey": plan.Destroy,
    "dek": plan.DestroyDek,
    "login": plan.Logout,
}


def _lower(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`destroy k`: mlx5dv_destroy_mkey, mlx5dv_dek_destroy or mlx5dv_crypto_login_destroy gives 0, or the claimed
    errno."""
    operand = sentence.operand
    handle = as_handle(evaluate(operand, scope), scope, operand.span, ("mkey", "dek", "login"), "`destroy`")
    made = _STEPS[handle.kind]
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    step = made(sentence.at, handle.name, row.label(sentence, scope), claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)


def _check(context: Context, step: plan.Destroy) -> None:
    check_exists(context, step, step.mkey)


def _effect(state: AbstractState, step: plan.Destroy) -> None:
    """A claimed refusal leaves the key as it is; where it may be refused, nothing relies on it afterwards."""
    key = state.mkey(step.mkey)
    if key is not None and not plan.is_rejected(step.claim):
        state.things[step.mkey] = key._replace(destroyed=step.at)


def _check_dek(context: Context, step: plan.DestroyDek) -> None:
    """The page does not say what becomes of an mkey whose DEK goes: the call may return an errno."""
    if not check_exists(context, step, step.dek):
        return
    users = [name for name, thing in context.state.things.items() if _uses(thing, step.dek)]
    if users:
        context.broken(
            "dek_in_use",
            f"`{users[0]}` is configured with `{step.dek}`",
            step,
            help=f"configure `{users[0]}` with another, or destroy it, before; or `accepted or rejected at destroy`",
        )


def _uses(thing: object, dek: str) -> bool:
    match thing:
        case AbstractMkey(crypto=crypto, destroyed=None):
            return crypto is not None and crypto.dek == dek
        case _:
            return False


def _after_dek(state: AbstractState, step: plan.DestroyDek) -> None:
    dek = state.dek(step.dek)
    if dek is not None and not plan.is_rejected(step.claim):
        state.things[step.dek] = dek._replace(destroyed=step.at)


DESTROY = Statement(
    step=plan.Destroy,
    shapes=(
        Shape(
            "destroy",
            "destroy k as d",
            Slot("an mkey, a dek or a login object"),
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

DESTROY_DEK = Statement(step=plan.DestroyDek, shapes=(), lower=_lower, check=_check_dek, effect=_after_dek)
"""Of the word `destroy` as well."""
