"""What waits in a queue that signature pipelining has stopped, and is cancelled there: it is carried out as a NOP, so
that the keys are as if it had not been posted (mlx5dv_qp_cancel_posted_send_wrs(3))."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from mkeyspec import plan
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.statements.queue_room import short_queue
from mkeyspec.compiler.statements.row_state import HeldBack


class Steps(Protocol):
    """The steps so far of a row, that is compiled or carried out, and the state that they leave."""

    state: AbstractState
    steps: list[plan.Step]
    held_back: dict[str | None, HeldBack]

    def apply(self, state: AbstractState, step: plan.Step) -> None: ...


def hold(row: Steps, step: plan.Post) -> None:
    """This section is about to be posted. What nothing waits for may wait in its queue."""
    qp, peer = step.queue()
    waited = step.wait and all(one.options.signaled for one in step.requests)
    if peer or waited or not row.state.qp(qp).sig_pipelining:
        return
    held = row.held_back.get(qp)
    if held is None or not _may_wait(row, qp, held.first):
        row.held_back[qp] = HeldBack(len(row.steps), row.state.copy())


def _may_wait(row: Steps, qp: str | None, first: int) -> bool:
    """Whether a request since that step has no completion that shows it to be complete, or the queue has stopped since
    and was not resumed."""
    queue, all_signaled = (qp, False), row.state.qp(qp).sq_sig_all
    open, later, stopped = 0, 0, False  # the requests without a completion, and those after the last signaled one
    for step in row.steps[first:]:
        match step:
            case plan.Await() if step.qp == qp:
                stopped = True
            case plan.Resume() if step.qp == qp:
                stopped = False
            case plan.Post(abort=False) if step.queue() == queue:
                for one in step.requests:
                    open, later = open + 1, 0 if one.options.signaled or all_signaled else later + 1
                if step.wait:
                    open = later
                if plan.may_be_rejected(step.claim) or plan.lists(step.claim):
                    open = later = 0
            case plan.Poll() if step.queue() == queue:
                open = later = 0 if step.claim else later
            case plan.Transmit() | plan.Receive() if short_queue(step) == queue:
                open = later = 0
            case _:
                pass
    return stopped or open > 0


def cancel(row: Steps, qp: str | None, id: int) -> None:
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
