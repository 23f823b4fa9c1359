"""`recv`: post a receive."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import entries, mkey_state, stopping
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.posting import check_sges, check_type
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.operands import places
from mkeyspec.compiler.statements.request_parts import PLAIN_OPTIONS, fixed_int
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import LABEL, NUMBER, QP, Shape, Slot
from mkeyspec.compiler.statements.statement import Statement


def _recv(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`peer recv w on q as r, id 3`: posts a receive; it completes when a SEND meets it."""
    peer = sentence.node.peer
    qp = row.qp(sentence, scope)
    found = () if sentence.node.operand is None else places(sentence.operand, scope, row.ledger, "`recv`")
    into = tuple(one.part for one in found)
    for one in found:
        row.origin.put(one.part, one.span)
    options = PLAIN_OPTIONS
    if sentence.but or "id" in sentence.modifiers:
        options = plan.Options(id=fixed_int(sentence, scope, "id"), but=row.overrides(sentence, scope))
    label = row.label(sentence, scope)
    row.add(plan.Recv(sentence.at, into, qp, peer, label, options), sentence)


def _check(context: Context, step: plan.Recv) -> None:
    """A posted receive: what arrives is judged where it is sent; here only that its SGEs and mkeys are good."""
    check_sges(context, step, len(step.into), context.qp.max_recv_sge, "max_recv_sge")
    if context.qp.type == "dci" and not step.peer:
        context.broken(
            "qp_type_operation",
            "a DCI has no receive queue: what it is sent arrives at a DCT",
            step,
            help=f"peer recv … on {step.qp}",
        )
    else:
        check_type(context, step, "recv")
    for part in step.into:
        key = context.mkey(part.name)
        use = plan.RECEIVE["recv"]
        if key is None or not mkey_state.check_exists(context, step, part.name, use):
            continue
        if not key.unknown or mkey_state.check_state(context, step, part, key, use):
            entries.check_inside(context, step, part, key, use)


def _effect(state: AbstractState, step: plan.Recv) -> None:
    queue = state.receive_queue(step.qp, step.peer)
    end = state.end(queue)
    if end.receives is not None:
        state.ends[queue] = end._replace(receives=(*end.receives, step))
    state.used(*(part.name for part in step.into))
    state.moved(step.into, received=True)
    stopping.note_uses(state, step.qp, (part.name for part in step.into))


RECV = Statement(
    step=plan.Recv,
    shapes=(
        Shape(
            "recv",
            "peer recv w as r",
            Slot("a buffer, a part of one, or a list of them", required=False),
            {"on": QP, "as": LABEL},
            modifiers={"id": NUMBER},
            peer=True,
            page="ibv_post_recv(3)",
            shows=("status", "byte_len"),
        ),
    ),
    lower=_recv,
    check=_check,
    effect=_effect,
)
