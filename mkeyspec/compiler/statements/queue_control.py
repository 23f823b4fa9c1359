"""Statements about what a queue does by itself: await, poll, cancel, resume."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import QP_EVENTS
from mkeyspec.compiler.check import stopping
from mkeyspec.compiler.check.context import Context, place
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval import undecided
from mkeyspec.compiler.eval.coercion import as_int, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import held, writes
from mkeyspec.compiler.statements.order import check_cancelled
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import LABEL, NUMBER, QP, Shape, Slot
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.compiler.statements.vacuous import check_poll

# await ------------------------------------------------------------------------------------------


def _await(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`await sq_drained on q`."""
    expr = sentence.operand
    event = as_word(evaluate(expr, scope), scope, expr.span, ("event",), "`await`").name
    qp = row.qp(sentence, scope) if event in QP_EVENTS or "on" in sentence.phrases else None
    if event not in QP_EVENTS and qp is not None:
        raise fault(
            "MKS0513",
            f"{event} is an event of no QP",
            sentence.phrases["on"].span,
            help=f"await {event}",
            page="ibv_get_async_event(3)",
        )
    why, help = stopping.never_drained(row.state, qp) if event == "sq_drained" else ("", "")
    if why:
        raise fault("MKS0513", f"sq_drained never comes: {why}", sentence.span, help=help, page="mlx5dv_create_qp(3)")
    step = plan.Await(sentence.at, event, qp, row.known(sentence, scope))
    undecided.record_await(row.undecided, step, sentence.span)
    row.add(step, sentence)


def _after_await(state: AbstractState, step: plan.Await) -> None:
    if step.event == "sq_drained":
        state.ends[step.qp, False] = state.end((step.qp, False))._replace(drained=True, reset=None)


AWAIT = Statement(
    step=plan.Await,
    shapes=(
        Shape(
            "await",
            "await sq_drained on q",
            Slot("an event"),
            {"on": QP},
            known=True,
            page="ibv_get_async_event(3)",
        ),
    ),
    lower=_await,
    check=None,
    effect=_after_await,
)

# poll -------------------------------------------------------------------------------------------


def _poll(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`poll q completes { send, id 1 }`: exactly these completions; without a list, those due and not waited for.

    Without a qp, of the case's default one.
    """
    claim = row.claim(sentence, scope)
    qp = _qp(row, sentence, scope)
    step = plan.Poll(sentence.at, qp, sentence.node.peer, claim, row.known(sentence, scope))
    undecided.record_poll(row.undecided, step, sentence.span)
    check_poll(row, step, sentence.span)
    if claim and not plan.may_succeed(claim):
        row.moved = row.brought = ()  # what was posted before and is polled here may have failed
    row.add(step, sentence)
    writes.under_way(row, qp, step.peer, claim, sentence.span)


def _after_poll(state: AbstractState, step: plan.Poll) -> None:
    if plan.fails_posted(step.claim):
        stopping.reset(state, step.qp, step.at)


def _qp(row: RowState, sentence: Sentence, scope: Scope) -> str | None:
    """The QP that is the operand; None: the default one."""
    operand = sentence.node.operand
    return row.default_qp if operand is None else row.handle(operand, scope, "qp", f"`{sentence.verb.name}`").name


POLL = Statement(
    step=plan.Poll,
    shapes=(
        Shape(
            "poll",
            "poll q completes { send, id 1 }",
            QP,
            completes=True,
            known=True,
            peer=True,
            page="ibv_poll_cq(3)",
        ),
    ),
    lower=_poll,
    check=None,
    effect=_after_poll,
)

# cancel, resume ---------------------------------------------------------------------------------


def _cancel(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`cancel 2 on q as c`: mlx5dv_qp_cancel_posted_send_wrs; `c.count` is how many."""
    span = sentence.operand.span
    number = fitting(as_int(evaluate(sentence.operand, scope), scope, span, "`cancel`"), "id", span)
    qp = row.qp(sentence, scope)
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    if not plan.is_rejected(claim):
        # A cancelled SEND takes no receive; how many are cancelled is known when the case runs.
        queue = row.state.receive_queue(qp, True)
        near, far = row.state.end((qp, False)), row.state.end(queue)
        row.state.ends[queue] = far._replace(perhaps=far.perhaps + near.met.count(number))
        row.state.ends[qp, False] = near._replace(met=tuple(one for one in near.met if one != number))
        row.unreceived = tuple(one for one in row.unreceived if (one.qp, one.id) != (qp, number))
        check_cancelled(row, qp, number, sentence.span)
        held.cancel(row, qp, number)
        _forget_messages(row, qp)
        row.brought = ()
    step = plan.Cancel(sentence.at, number, qp, row.label(sentence, scope, claim), claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)
    writes.under_way(row, qp, False, claim, sentence.span, number)


def _forget_messages(row: RowState, qp: str | None) -> None:
    """Where the messages go that were posted and not waited for is open."""
    posted = (one for step in row.steps if step.queue() == (qp, False) for one in step.posted())
    messages = {row.origin.get(one) for one in posted if one.takes_receive()}
    row.moved = tuple(one for one in row.moved if one.span not in messages)
    row.stopped = tuple(one for one in row.stopped if one[1].span not in messages)


def _check_cancel(context: Context, step: plan.Cancel) -> None:
    """A WR is cancelled on a QP in SQD; only a QP with signature pipelining gets there here (XCAN-01, XCAN-06)."""
    if not _never_stops(context, step):
        context.broken("cancel_state", "whether the QP is in SQD by now is seen at run time", step, definite=False)


def _never_stops(context: Context, step: plan.Cancel | plan.Resume, phases: tuple[str, ...] | None = None) -> bool:
    """Report that nothing can have stopped the queue, or that nobody has waited for it, if that is so."""
    end = context.state.end((step.qp, False))
    if stopping.can_stop(context.state, step.qp) and end.drained:
        return False
    if stopping.can_stop(context.state, step.qp) and end.reset is not None:
        message = f"the QP is not in SQD: the failure that is claimed at {place(end.reset)} has reset the QP"
        help = f"`{'cancel …' if isinstance(step, plan.Cancel) else 'resume'}` before that"
    elif stopping.can_stop(context.state, step.qp):
        message = "nothing says that the QP is in SQD: no sq_drained of it was waited for"
        help = f"await sq_drained on {step.qp or 'q'}"
    elif context.state.qp(step.qp).sig_pipelining:
        message = (
            "the QP cannot be in SQD: the case has no mkey with block_signature that could have an error at the owner"
        )
        help = ""
    else:
        message = "the QP cannot be in SQD: it has no sig_pipelining"
        help = f"qp {step.qp or 'q'} {{ sig_pipelining }}"
    context.broken("cancel_state", message, step, help=help, phases=phases)
    return True


def _after_cancel(state: AbstractState, step: plan.Cancel) -> None:
    """Which of its SENDs still took a receive is seen when the case runs."""
    queue = state.receive_queue(step.qp, True)
    state.ends[queue] = state.end(queue)._replace(receives=None)


CANCEL = Statement(
    step=plan.Cancel,
    shapes=(
        Shape(
            "cancel",
            "cancel 2 on q as c",
            NUMBER,
            {"on": QP, "as": LABEL},
            phases=("cancel",),
            known=True,
            page="mlx5dv_qp_cancel_posted_send_wrs(3)",
            shows=("errno", "count"),
        ),
    ),
    lower=_cancel,
    check=_check_cancel,
    effect=_after_cancel,
)


def _resume(row: RowState, sentence: Sentence, scope: Scope) -> None:
    qp = _qp(row, sentence, scope)
    check_unreceived(row, qp)
    writes.resume(row, qp)
    row.add(plan.Resume(sentence.at, qp), sentence)


def check_unreceived(row: RowState, *qps: str | None) -> None:
    """SENDs that no receive waits for, and that were not cancelled before these QPs go on. Without a QP: before the end
    of the row."""
    found = [one for one in row.unreceived if not qps or one.qp in qps]
    row.unreceived = tuple(one for one in row.unreceived if one not in found)
    for one in found:
        row.diagnostics.add(one.fault.diagnostic)


def _check_resume(context: Context, step: plan.Resume) -> None:
    """Only a QP in SQD is resumed; no claim covers it, since ibv_modify_qp is none of the calls that are judged."""
    _never_stops(context, step, phases=())


def _after_resume(state: AbstractState, step: plan.Resume) -> None:
    state.ends[step.qp, False] = state.end((step.qp, False))._replace(drained=False, reset=None)


RESUME = Statement(
    step=plan.Resume,
    shapes=(Shape("resume", "resume q", QP, page="ibv_modify_qp(3)"),),
    lower=_resume,
    check=_check_resume,
    effect=_after_resume,
)
