"""Sections of work requests: `post`, `abort`, and a request that is alone."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import flushed, stopping
from mkeyspec.compiler.check.context import UNRELIABLE, Context
from mkeyspec.compiler.check.lint import lint_both_ends, lint_use
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import ALL, AbstractState, may_be_refused
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import held, writes
from mkeyspec.compiler.statements.claims import lines_of
from mkeyspec.compiler.statements.order import SectionOrder
from mkeyspec.compiler.statements.request_parts import flag
from mkeyspec.compiler.statements.row_state import RowState, Unreceived
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import ANSWERED_SHOWS, LABEL, QP, WR_CLAIM, WR_SHOWS, Shape
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.compiler.statements.work_requests import SECTION, record_of, request
from mkeyspec.diagnostics.diagnostic import Diagnostics, Note


def _post(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`post on q as l, nowait { … }` and `abort { … }`."""
    node = sentence.node
    qp = row.qp(sentence, scope)
    block = node.block
    lines = [] if block is None else lines_of(block, SECTION, scope)
    requests = []
    order = SectionOrder(row, qp, node.peer)
    ahead = row.state_ahead()
    for line in lines:
        requests.append(request(row, row.read(line), scope, False))
        _carry_out(ahead, requests[-1])
        order.take(requests[-1])
    wait, abort = not flag(sentence, scope, "nowait"), sentence.verb.name == "abort"
    if _finish(row, ahead, sentence, scope, qp, tuple(requests), wait, abort):
        for found in order.found:
            row.diagnostics.add(found)


def alone(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """A work request standing alone: a section of one, signaled and waited for."""
    qp = row.qp(sentence, scope)
    # Nothing comes after it that could look at the mkeys, except statements about its outcome.
    is_said = sentence.node.claim is not None or sentence.node.known is not None
    ahead = row.state_ahead() if is_said else None
    only = request(row, sentence, scope, True)
    if ahead is not None:
        _carry_out(ahead, only)
    _finish(row, ahead, sentence, scope, qp, (only,), True, False)


def _finish(
    row: RowState,
    ahead: AbstractState | None,
    sentence: Sentence,
    scope: Scope,
    qp: str | None,
    requests: tuple[plan.Wr, ...],
    wait: bool,
    abort: bool,
) -> bool:
    """Whether it may go through. `ahead`: the state after its requests; None: nothing reads it."""
    claim = row.claim(sentence, scope)
    peer = sentence.node.peer
    if abort or _is_refused_whole(claim):
        if ahead is not None:
            ahead.forget(requests, sentence.at, "abort" if abort else "section", cleared=True)
    else:
        _pair(row, qp, peer, requests, plan.is_rejected(claim), wait)
    known = row.known(sentence, scope)
    label = row.label(sentence, scope, claim, None if abort else _shows(row, qp, requests, bool(claim)))
    waiting = [one.into for one in row.state.end(row.state.receive_queue(qp, not peer)).receives or ()]
    step = plan.Post(sentence.at, requests, qp, peer, wait, abort, label, claim, known)
    held.hold(row, step)
    # A request goes through the keys as they are there: a later one may configure them again.
    before = row.state.copy() if any(one.changes() for one in requests[1:]) else None
    settled = row.add(step, sentence)
    writes.label(row, step, sentence.span)
    writes.open_errors(row, settled)
    if abort or plan.is_rejected(claim):
        if not abort and not _is_refused_whole(claim):
            writes.failed(row, step)
        return False
    _under_way(row, qp, peer, requests, wait, claim)
    if before is None or plan.is_undecided(claim):
        writes.post(row, step, waiting, plan.may_succeed(claim))
        return True
    row.ledger.mkeys, after = before, row.ledger.mkeys
    writes.post(row, step, waiting, plan.may_succeed(claim), lambda one: _carry_out(before, one))
    row.ledger.mkeys = after
    return True


def _under_way(
    row: RowState, qp: str | None, peer: bool, requests: tuple[plan.Wr, ...], wait: bool, claim: plan.Claim
) -> None:
    """Completions that the section leaves open: of requests, and of the receives that they meet."""
    signaled = sum(one.options.signaled for one in requests)
    if plan.lists(claim) or (wait and signaled):
        return
    all_signaled = qp is not None and row.signals_all(qp)
    near = len(requests) if all_signaled else signaled
    far = sum(one.takes_receive() for one in requests)
    for queue, count in (((qp, peer), near), ((qp, not peer), far)):
        end = row.state.end(queue)
        row.state.ends[queue] = end._replace(pending=end.pending + count)


def _shows(row: RowState, qp: str | None, requests: tuple[plan.Wr, ...], claimed: bool) -> tuple[str, ...]:
    """The members of a section's label: of completions of its own requests. One that asked for none has a completion
    only if it fails, as a claim may say."""
    all_signaled = qp is not None and row.signals_all(qp)
    told = [one for one in requests if all_signaled or one.options.signaled]
    if any("byte_len" in shape.shows for one in told for shape in record_of(one).shapes):
        return ANSWERED_SHOWS
    return WR_SHOWS if told or claimed else ("errno",)


def _pair(row: RowState, qp: str | None, peer: bool, requests: tuple[plan.Wr, ...], fails: bool, wait: bool) -> None:
    """Every SEND (and WRITE with immediate) meets a receive that was posted before it (ibv_post_recv(3)), or is
    cancelled on a queue that has stopped. One that the other end drops meets none, and one that waits stays there."""
    dropped = _dropped(row, qp, peer, requests)
    for number, one in enumerate(requests):
        if not one.takes_receive():
            continue
        far = row.state.receive_queue(qp, not peer)
        end = row.state.end(far)
        if number in dropped and end.waiting:
            raise fault(
                "MKS0520",
                "the other end drops this message, and a receive waits there that it would take",
                row.origin.get(one),
                notes=(Note(dropped[number]),),
                help="post that receive after it: nothing tells which message a receive has missed",
                page="IBTA volume 1, 9.8.3",
            )
        if number in dropped:
            continue
        if fails:  # the message may have failed before it met one
            if end.waiting:
                row.state.ends[far] = end._replace(waiting=end.waiting - 1, perhaps=end.perhaps + 1)
        elif end.waiting:
            row.state.ends[far] = end._replace(waiting=end.waiting - 1)
            near = row.state.end((qp, peer))
            if one.options.id is not None:
                row.state.ends[qp, peer] = near._replace(met=(*near.met, one.options.id))
        elif end.perhaps:
            row.state.ends[far] = end._replace(perhaps=end.perhaps - 1)
        else:
            where = "" if qp is None else f" on {qp}"
            found = fault(
                "MKS0511",
                "nothing is posted to receive this",
                row.origin.get(one),
                label=f"no receive waits at the {'owner' if peer else 'peer'}",
                help=f"`{'' if peer else 'peer '}recv …{where}` before it",
                page="ibv_post_recv(3)",
            )
            if wait or peer or one.options.id is None or not row.state.qp(qp).sig_pipelining:
                raise found
            row.unreceived = (*row.unreceived, Unreceived(qp, one.options.id, found))


def _dropped(row: RowState, qp: str | None, peer: bool, requests: tuple[plan.Wr, ...]) -> dict[int, str]:
    """Which of these are WRITEs with immediate that the other end drops for certain, and tells nobody: why. What a SEND
    does wrong there, its receive tells."""
    queue = row.state.qp(qp)
    if queue.type not in UNRELIABLE or not any(map(plan.is_write, requests)):
        return {}
    step = plan.Post(requests[0].at, requests, qp, peer)
    context = Context(row.state, step, row.origin, queue, peer)
    _check(context, step)
    found = [one for one in context.found if one.dropped and not (one.live or one.by_but)]
    return {one.request or 0: one.message for one in found if plan.is_write(requests[one.request or 0])}


# Rules ------------------------------------------------------------------------------------------


def _check(context: Context, step: plan.Post) -> None:
    """Each request is checked in the state that those before it leave."""
    several = len(step.requests) > 1
    if several:
        context.state = context.state.copy()
    for number, one in enumerate(step.requests):
        before = len(context.found)
        record_of(one).check(context, one)
        if several:
            context.found[before:] = [found._replace(request=number) for found in context.found[before:]]
            _after_request(context.state, step, one)
    if step.abort:
        # Nothing of an aborted section is carried out: what could only show in a completion never does.
        context.found = [
            b for b in context.found if b.rule.phases != ("completion",) and b.rule.name != "unknown_state"
        ]


def _lint(state: AbstractState, step: plan.Post, origin: Origin, diagnostics: Diagnostics) -> None:
    """Later requests of a section see the configurations before them."""
    if step.abort:
        return
    several = len(step.requests) > 1
    now = state.copy() if several else state
    for one in step.requests:
        for end in one.ends():
            lint_use(now, one, end.part, origin, diagnostics)
        lint_both_ends(now, step, one, origin, diagnostics)
        if several:
            _after_request(now, step, one)


def _effect(state: AbstractState, step: plan.Post) -> None:
    if step.abort or _is_refused_whole(step.claim):
        # "the MKey may be left in an unknown state" (sig_block(3), Notes).
        state.forget(step.requests, step.at, "abort" if step.abort else "section", cleared=True)
        return
    for one, fate in zip(step.requests, flushed.fates(state.qp(step.qp), step), strict=True):
        _after_fate(state, step, one, fate)
    if plan.fails_posted(step.claim):
        stopping.reset(state, step.qp, step.at)
        for side in (False, True):
            queue = state.receive_queue(step.qp, side)
            state.ends[queue] = state.end(queue)._replace(receives=None)
    elif may_be_refused(step.claim):
        state.forget(step.requests, step.at, "undecided", cleared=False)


def _after_fate(state: AbstractState, step: plan.Post, one: plan.Wr, fate: str) -> None:
    """The state after one request of a section that is carried out, fails, is flushed, or may have been carried out."""
    if fate == flushed.FLUSHED or (fate == flushed.FAILED and isinstance(one, plan.Invalidate)):
        return
    before = {name: state.mkey(name) for name in one.changes()}
    _after_request(state, step, one)
    if fate == flushed.FAILED:
        state.forget((one,), step.at, "section", cleared=False)
    elif fate == flushed.OPEN:
        for name, key in before.items():
            now = state.mkey(name)
            if now is not None and now is not key:
                state.things[name] = now.cleared()._replace(unknown=ALL, unknown_at=step.at, unknown_by="failure")


def _after_request(state: AbstractState, step: plan.Post, one: plan.Wr) -> None:
    """The state after one request of a section that was carried out."""
    far = state.receive_queue(step.qp, not step.peer)
    end = state.end(far)
    if end.receives and one.takes_receive():
        state.ends[far] = end._replace(receives=end.receives[1:])
    _carry_out(state, one)
    stopping.note_requests(state, step.queue(), (one,))


def _carry_out(state: AbstractState, one: plan.Wr) -> None:
    """What a request does to the mkeys."""
    state.used(*(end.part.name for end in one.ends()))
    effect = record_of(one).effect
    if effect is not None:
        effect(state, one)


def _is_refused_whole(claim: plan.Claim) -> bool:
    """Refused as a section: nothing of it is carried out."""
    return plan.is_rejected(claim) and plan.rejected_at(claim, "complete")


POST = Statement(
    step=plan.Post,
    shapes=(
        Shape(
            "post",
            "post on q as l { send a; send b, signaled }",
            None,
            {"on": QP, "as": LABEL},
            modifiers={"nowait": None},
            lines=SECTION,
            lines_required=True,
            phases=WR_CLAIM,
            completes=True,
            known=True,
            peer=True,
            page="ibv_wr_post(3)",
            shows=ANSWERED_SHOWS,
        ),
        Shape(
            "abort",
            "abort { configure k { access 0 } }",
            None,
            {"on": QP, "as": LABEL},
            lines=SECTION,
            lines_required=True,
            known=True,
            peer=True,
            page="ibv_wr_post(3)",
            shows=("errno",),
        ),
    ),
    lower=_post,
    check=_check,
    effect=_effect,
    lint=_lint,
)
