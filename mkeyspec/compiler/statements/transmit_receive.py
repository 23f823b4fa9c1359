"""The short forms: `transmit` and `receive`, with their lengths in wire bytes."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import stopping, transfer
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.lint import lint_use
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.posting import check_posted, check_type
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.builtins import RECEIVE, TRANSMIT
from mkeyspec.compiler.eval.coercion import as_bytes, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.equal_blocks import check_received, check_sent
from mkeyspec.compiler.statements.operands import mkey_place, whole_length
from mkeyspec.compiler.statements.request_parts import DEFAULT_IMM, live_int, options
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import (
    ANSWERED_SHOWS,
    BYTES,
    IMM,
    LABEL,
    OPTIONS,
    QP,
    TRANSFER_BUT,
    WR_CLAIM,
    WR_SHOWS,
    Shape,
    Slot,
)
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, is_known, known_number

_TAKES_RECEIVE = {"send": True, "send_imm": True, "write_imm": True, "recv": False, "peer_write_imm": False}
"""Operations that use up a receive, and whether the peer posts it; the rig posts one of its own."""

_SHORT_FORMS = {
    "peer_read": "read",
    "write_imm": "write",
    "peer_write": "write",
    "peer_write_imm": "write",
    "recv": "send",
}
"""What is posted by an operation of `transmit` and `receive` that is called otherwise."""


def _transmit(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`transmit k[o +: n] by OP`: data leaves through the mkey; `wire` is what a plain peer saw."""
    expr = sentence.operand
    name, start, length, but = mkey_place(expr, scope, row.ledger, "transmit", "a plain buffer takes: write m to w")
    op = _operation(sentence, scope, TRANSMIT, RECEIVE)
    qp = row.qp(sentence, scope)
    _no_receive_left(row, qp, op, sentence)
    claim = row.claim(sentence, scope)
    imm = _imm(sentence, scope, op)
    opts = options(row, sentence, scope, True)
    known = row.known(sentence, scope)
    key = row.ledger.mkey(name)
    if length is None and key.layout is None:
        step = plan.Transmit(sentence.at, Part(name, start, 1, but), op, imm, qp, None, opts, claim, known)
        raise _nothing_to_move(row, step, name, expr.span)
    if length is None:
        length = whole_length(name, row.ledger, expr.span)
    part = Part(name, start, length, but)
    row.origin.put(part, expr.span)
    label = row.label(sentence, scope, claim)
    if plan.is_rejected(claim) and not plan.rejected_at(claim, "completion"):
        row.ledger.wires.pop(None, None)  # nothing was posted
    else:
        row.ledger.new_wire(label, known_number(length), key, sentence.span, sure=plan.may_succeed(claim))
    step = plan.Transmit(sentence.at, part, op, imm, qp, label, opts, claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)
    if plan.may_succeed(claim) and is_known(length):
        writes.transmit(row, step, row.ledger.wires[None].buffer, length)
        if not start:
            check_sent(row, name, length, sentence.span)


def _receive(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`receive BYTES into k by OP`: what a plain peer puts on the wire arrives through the mkey."""
    expr = sentence.operand
    data = as_bytes(evaluate(expr, scope), scope, expr.span, "`receive`")
    into = sentence.phrases["into"]
    name, start, length, but = mkey_place(into, scope, row.ledger, "receive", "receive puts bytes into an mkey")
    if length is not None and length != data.length and is_known(length):
        raise fault(
            "MKS0313",
            f"{data.length} bytes received into {length}",
            into.span,
            help="both count wire bytes; leave the range out, or make it as long",
        )
    op = _operation(sentence, scope, RECEIVE, TRANSMIT)
    qp = row.qp(sentence, scope)
    _no_receive_left(row, qp, op, sentence)
    claim = row.claim(sentence, scope)
    imm = _imm(sentence, scope, op)
    opts = options(row, sentence, scope, True)
    known = row.known(sentence, scope)
    part = Part(name, start, data.length if length is None else length, but)
    row.origin.put(part, into.span)
    # A WRITE without immediate has no byte_len, at neither end.
    label = row.label(sentence, scope, claim, WR_SHOWS if op == "peer_write" else ANSWERED_SHOWS)
    step = plan.Receive(sentence.at, data, part, op, imm, qp, label, opts, claim, known)
    row.origin.put_member(step, "data", expr.span)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)
    writes.receive(row, step, plan.may_succeed(claim))
    if plan.may_succeed(claim) and not start:
        check_received(row, name, data, sentence.span)


def _operation(sentence: Sentence, scope: Scope, these: tuple[str, ...], others: tuple[str, ...]) -> str:
    expr = sentence.phrases["by"]
    verb = sentence.verb.name
    word = as_word(evaluate(expr, scope), scope, expr.span, ("op",), "`by`").name
    if word in these:
        return word
    other = "receive" if verb == "transmit" else "transmit"
    raise fault(
        "MKS0302",
        f"`{word}` is not a way to {verb}",
        expr.span,
        help=f"{', '.join(these)}" + (f"; `{other}` goes by {word}" if word in others else ""),
    )


def _imm(sentence: Sentence, scope: Scope, op: str) -> Int | None:
    """The immediate of an operation that carries one; without one, `imm` stands by for the rows that do."""
    if not op.endswith("_imm"):
        return None
    imm = live_int(sentence, scope, "imm")
    return DEFAULT_IMM if imm is None else imm


def _no_receive_left(row: RowState, qp: str | None, op: str, sentence: Sentence) -> None:
    """A receive of the case's own would be met before the one that the rig posts."""
    at_peer = _TAKES_RECEIVE.get(op)
    if at_peer is None:
        return
    end = row.state.end(row.state.receive_queue(qp, at_peer))
    if end.waiting or end.perhaps:
        waits = "still waits" if end.waiting else "may still wait"
        raise fault(
            "MKS0512",
            f"a receive of yours {waits} at the {'peer' if at_peer else 'owner'}, and would take this",
            sentence.span,
            help=f"`{sentence.verb.name}` posts its own; let a `send` meet yours first, or use another qp",
        )


def _nothing_to_move(row: RowState, step: plan.Transmit, name: str, span: Span) -> Fault:
    """An mkey without layout, and no length: the rule that forbids it, or that the length is unknown."""
    row.origin.put(step, span)
    row.origin.put(step.part, span)
    for diagnostic in row.tried(step).errors:
        return Fault(diagnostic)
    try:
        whole_length(name, row.ledger, span)
    except Fault as unknown:
        return unknown
    raise AssertionError(ast.Ref(span, name))


# Rules ------------------------------------------------------------------------------------------


def _check_transmit(context: Context, step: plan.Transmit) -> None:
    check_posted(context, step, data=True)
    check_type(context, step, _SHORT_FORMS.get(step.by, step.by), step.part.length)
    transfer.check_part(context, step, step.end(), of_peer=False)


def _check_receive(context: Context, step: plan.Receive) -> None:
    check_posted(context, step, data=True)
    check_type(context, step, _SHORT_FORMS.get(step.by, step.by), step.data.length)
    transfer.check_part(context, step, step.end(), of_peer=False)


def _lint(state: AbstractState, step: plan.Transmit | plan.Receive, origin: Origin, diagnostics: Diagnostics) -> None:
    lint_use(state, step, step.part, origin, diagnostics)


def _effect(state: AbstractState, step: plan.Transmit | plan.Receive) -> None:
    state.used(step.part.name)
    state.moved((step.part,), received=step.end().use.writes)
    stopping.note_uses(state, step.qp, (step.part.name,))
    if plan.fails_posted(step.claim) or (plan.is_rejected(step.claim) and step.by in plan.TAKES_RECEIVE):
        stopping.reset(state, step.qp, step.at)


_MKEY = Slot("an mkey, or a part of one")

TRANSMIT_RECORD = Statement(
    step=plan.Transmit,
    shapes=(
        Shape(
            "transmit",
            "transmit k by send",
            _MKEY,
            {"by": Slot(", ".join(plan.TRANSMIT)), "on": QP, "as": LABEL},
            modifiers={**OPTIONS, **IMM},
            but=TRANSFER_BUT,
            phases=WR_CLAIM,
            completes=True,
            known=True,
            shows=WR_SHOWS,
        ),
    ),
    lower=_transmit,
    check=_check_transmit,
    effect=_effect,
    lint=_lint,
)
RECEIVE_RECORD = Statement(
    step=plan.Receive,
    shapes=(
        Shape(
            "receive",
            "receive counter(512) into k by recv",
            BYTES,
            {"into": _MKEY, "by": Slot(", ".join(plan.RECEIVE)), "on": QP, "as": LABEL},
            modifiers={**OPTIONS, **IMM},
            but=TRANSFER_BUT,
            phases=WR_CLAIM,
            completes=True,
            known=True,
            shows=ANSWERED_SHOWS,
        ),
    ),
    lower=_receive,
    check=_check_receive,
    effect=_effect,
    lint=_lint,
)
