"""`retag`: the application writes the tag of an mkey."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.mkey_state import check_exists
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.coercion import as_live_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import MKEY, MKEY_PAGE, NUMBER, Shape
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.value.live import before_tag, is_known


def _retag(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`retag k to 7`: the application sets the key's lowest byte (create_mkey(3), UPDATE_TAG)."""
    mkey = row.handle(sentence.operand, scope, "mkey", "`retag`").name
    expr = sentence.phrases["to"]
    tag = as_live_int(evaluate(expr, scope), scope, expr.span, "`to`")
    if is_known(tag) and not 0 <= tag <= 0xFF:
        raise fault("MKS0315", f"a tag has eight bits, {tag:#x} has more", expr.span, page="mlx5dv_create_mkey(3)")
    tags = 0
    for one in reversed(row.steps):
        match one:
            case plan.Mkey(name=name) if name == mkey:
                break  # the same name may have been another key, in another turn
            case plan.Retag(mkey=name) if name == mkey:
                tags += 1
    _keep(scope, mkey, tags)
    row.add(plan.Retag(sentence.at, mkey, tag), sentence)


def _keep(scope: Scope, mkey: str, tags: int) -> None:
    """What a `let` has taken of the key's numbers stays what it was."""
    around: Scope | None = scope
    while around is not None:
        for name, value in around.names.items():
            if (kept := before_tag(value, mkey, tags)) is not value:
                around.names[name] = kept
        around = around.around


def _check(context: Context, step: plan.Retag) -> None:
    """The tag can be set on mkeys with UPDATE_TAG (MKY-06)."""
    if not check_exists(context, step, step.mkey):
        return
    key = context.mkey(step.mkey)
    if key is not None and not key.has(MkeyFlag.UPDATE_TAG):
        context.broken(
            "update_tag_flag",
            f"`{step.mkey}` was created without UPDATE_TAG",
            step,
            notes=context.declared(step.mkey),
            help=f"mkey {step.mkey} {{ update_tag }}",
        )


def _effect(state: AbstractState, step: plan.Retag) -> None:
    key = state.mkey(step.mkey)
    if key is not None:
        state.things[step.mkey] = key._replace(tag=step.tag)


RETAG = Statement(
    step=plan.Retag,
    shapes=(Shape("retag", "retag k to 7", MKEY, {"to": NUMBER}, page=MKEY_PAGE),),
    lower=_retag,
    check=_check,
    effect=_effect,
)
