"""Requests of mlx5dv_wr_post(3) that configure nothing: memcpy, raw."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import transfer
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.state import may_be_refused
from mkeyspec.compiler.eval.coercion import as_live_bytes, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.operands import place
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import BYTES, POST_PAGE, REF, request_shape
from mkeyspec.compiler.statements.statement import Request
from mkeyspec.value.layout import Part

CONTROL_BYTES = 16
"""struct mlx5_wqe_ctrl_seg, which mlx5dv_wr_raw_wqe reads."""


def _memcpy(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Memcpy:
    source = place(sentence.operand, scope, row.ledger, "`memcpy`").part
    found = place(sentence.phrases["to"], scope, row.ledger, "`to`")
    to = found.part
    if to.length != source.length:
        if not found.whole:
            raise fault("MKS0313", f"{source.length} bytes copied to {to.length}", found.span)
        to = Part(to.name, to.start, source.length, to.but)
    return plan.Memcpy(sentence.at, source, to, opts)


def _check_memcpy(context: Context, request: plan.Memcpy) -> None:
    transfer.check_request(context, request)
    if request.source.length != 0:
        context.broken("memcpy_length", "the device says how much it copies at most", request, definite=False)
    elif not request.options.but and not may_be_refused(getattr(context.step, "claim", ())):
        context.broken(
            "memcpy_length",
            "a copy of 0 bytes: no page says whether it is refused",
            request,
            help="claim `accepted or rejected at complete`, or copy some",
            phases=(),
        )


MEMCPY_RECORD = Request(
    request=plan.Memcpy,
    shapes=(request_shape("memcpy", "memcpy a to b", REF, {"to": REF}, POST_PAGE, None, ("length",)),),
    lower=_memcpy,
    check=_check_memcpy,
    effect=None,
)


def _raw(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.RawWqe:
    wqe = as_live_bytes(evaluate(sentence.operand, scope), scope, sentence.operand.span, "`raw`")
    return plan.RawWqe(sentence.at, wqe, opts)


def _check_raw(context: Context, request: plan.RawWqe) -> None:
    transfer.check_request(context, request)
    if request.wqe.length < CONTROL_BYTES:
        needs = f"a WQE begins with {CONTROL_BYTES} bytes of control segment"
        context.broken("raw_short", f"{needs}, and this one has {request.wqe.length}", request)


RAW_RECORD = Request(
    request=plan.RawWqe,
    shapes=(request_shape("raw", 'raw hex"…"', BYTES, {}, POST_PAGE, None, ()),),
    lower=_raw,
    check=_check_raw,
    effect=None,
)
