"""What waits in a queue that signature pipelining has stopped, and is cancelled there: it is carried out as a NOP, so
that the keys are as if it had not been posted (mlx5dv_qp_cancel_posted_send_wrs(3))."""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan
from mkeyspec.compiler.statements.row_state import HeldBack, RowState


def hold(row: RowState, qp: str | None, peer: bool) -> None:
    """Requests are about to be posted to this queue that nothing waits for."""
    if peer or not row.state.qp(qp).sig_pipelining:
        return
    held = row.held_back.get(qp)
    if held is None or not (row.state.end((qp, False)).sent.wqes or _is_stopped(row, qp, held.first)):
        row.held_back[qp] = HeldBack(len(row.steps), row.state.copy())


def _is_stopped(row: RowState, qp: str | None, first: int) -> bool:
    """Whether the queue has stopped since that step, and was not resumed."""
    stopped = False
    for step in row.steps[first:]:
        match step:
            case plan.Await() if step.qp == qp:
                stopped = True
            case plan.Resume() if step.qp == qp:
                stopped = False
            case _:
                pass
    return stopped


def cancel(row: RowState, qp: str | None, id: int) -> None:
    """The requests of that number are cancelled: those behind a fence, which have the queue wait for what is before."""
    held = row.held_back.get(qp)
    if held is None:
        return
    steps, fenced, gone = row.steps[held.first :], False, set(held.gone)
    for number, step in enumerate(steps, held.first):
        match step:
            case plan.Post(abort=False) if step.queue() == (qp, False):
                for place, request in enumerate(step.requests):
                    fenced = fenced or request.options.fence
                    if fenced and request.options.id == id:
                        gone.add((number, place))
            case _:
                pass
    row.held_back[qp] = held._replace(gone=frozenset(gone))
    if len(gone) == len(held.gone):
        return
    without = held.before.copy()
    for number, step in enumerate(steps, held.first):
        row.apply(without, _left(step, {place for one, place in gone if one == number}))
    for name in without.things:
        key = without.mkey(name)
        if key is not None:
            row.state.things[name] = key


def _left(step: plan.Step, gone: set[int]) -> plan.Step:
    """The step without these requests of its section."""
    match step:
        case plan.Post() if gone:
            return replace(step, requests=tuple(one for place, one in enumerate(step.requests) if place not in gone))
        case _:
            return step
