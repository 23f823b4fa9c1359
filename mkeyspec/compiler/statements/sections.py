"""Sections of work requests (`post`, `abort`, a request standing alone) and the receives they need."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import as_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.claims import claims_rejection, goes_through, lines_of
from mkeyspec.compiler.statements.operands import places
from mkeyspec.compiler.statements.queue_room import receiver
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.shape import Sentence
from mkeyspec.compiler.statements.work_requests import PLAIN_OPTIONS, request


def post(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`post on q as l, nowait { … }` and `abort { … }`."""
    node = sentence.node
    qp = row.qp(sentence, scope)
    block = node.block
    lines = [] if block is None else lines_of(block, "section", scope)
    requests = []
    for line in lines:
        requests.append(request(row, row.sentences.read(line, "section"), scope, False))
    _finish(
        row, sentence, scope, qp, tuple(requests), "nowait" not in sentence.modifiers, sentence.verb.name == "abort"
    )


def alone(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """A work request standing alone: a section of one, signaled and waited for."""
    qp = row.qp(sentence, scope)
    _finish(row, sentence, scope, qp, (request(row, sentence, scope, True),), True, False)


def _finish(
    row: RowState,
    sentence: Sentence,
    scope: Scope,
    qp: str | None,
    requests: tuple[plan.Wr, ...],
    wait: bool,
    abort: bool,
) -> None:
    claim = row.claim(sentence, scope)
    peer = sentence.node.peer
    if abort or (claims_rejection(claim) and _refuses(claim, "complete")):
        # The pages leave every mkey of the section in an unknown state (sig_block(3), Notes).
        for one in requests:
            if isinstance(one, plan.Configuring):
                row.ledger.mkeys[one.mkey] = row.ledger.mkeys[one.mkey].cleared()
    else:
        _pair(row, qp, peer, requests, claims_rejection(claim))
    known = row.known(sentence, scope)
    label = row.label(sentence, scope, claim, quiet=not claim and not abort and _is_quiet(row, qp, requests))
    waiting = list(row.world.receives.get((qp, not peer)) or ())
    step = plan.Post(sentence.at, requests, qp, peer, wait, abort, label, claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)
    if not abort and not claims_rejection(claim):
        _under_way(row, qp, peer, requests, wait, claim)
        writes.post(row, step, waiting, goes_through(claim))


def _under_way(
    row: RowState, qp: str | None, peer: bool, requests: tuple[plan.Wr, ...], wait: bool, claim: plan.Claim
) -> None:
    """Completions that the section leaves open: of requests, and of the receives that they meet."""
    signaled = sum(one.options.signaled for one in requests)
    if any(isinstance(outcome, plan.Completes) for outcome in claim) or (wait and signaled):
        return
    all_signaled = isinstance(qp, str) and row.signals_all(qp)
    near = len(requests) if all_signaled else signaled
    far = sum(one.takes_receive() for one in requests)
    for key, count in (((qp, peer), near), ((qp, not peer), far)):
        row.pending[key] = row.pending.get(key, 0) + count


def _is_quiet(row: RowState, qp: str | None, requests: tuple[plan.Wr, ...]) -> bool:
    """Whether nothing tells that a section has gone through: none of its requests has a completion, nor a receive."""
    told = any(one.options.signaled or one.takes_receive() for one in requests)
    return not told and not (isinstance(qp, str) and row.signals_all(qp))


def _refuses(claim: plan.Claim, phase: str) -> bool:
    return any(isinstance(outcome, plan.Rejected) and outcome.phase == phase for outcome in claim)


def _pair(row: RowState, qp: str | None, peer: bool, requests: tuple[plan.Wr, ...], fails: bool) -> None:
    """Every SEND (and WRITE with immediate) meets a receive that was posted before it (rule 14)."""
    for one in requests:
        if not one.takes_receive():
            continue
        far = receiver(row.world, qp, not peer)
        if fails:  # the message may have failed before it met one
            if row.posted.get(far):
                row.posted[far] -= 1
                row.perhaps[far] = row.perhaps.get(far, 0) + 1
        elif row.posted.get(far):
            row.posted[far] -= 1
            if not peer and one.options.id is not None:
                row.met = (*row.met, (qp, one.options.id))
        elif row.perhaps.get(far):
            row.perhaps[far] -= 1
        else:
            where = "" if qp is None else f" on {qp}"
            raise fault(
                "MKS0511",
                "nothing is posted to receive this",
                row.spans.get(one),
                label=f"no receive waits at the {'owner' if peer else 'peer'}",
                help=f"`{'' if peer else 'peer '}recv …{where}` before it",
                page="ibv_post_recv(3)",
            )


def recv(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`peer recv w on q as r, id 3`: posts a receive; it completes when a SEND meets it."""
    peer = sentence.node.peer
    qp = row.qp(sentence, scope)
    found = () if sentence.node.operand is None else places(sentence.operand, scope, row.ledger, "`recv`")
    into = tuple(one.part for one in found)
    for one in found:
        row.spans.put(one.part, one.span)
    for part in into:
        shape = row.ledger.mkeys.get(part.name)
        if shape is not None:
            row.ledger.mkeys[part.name] = shape._replace(received=True)
    modifier = sentence.modifiers.get("id")
    options = PLAIN_OPTIONS
    if sentence.but or modifier is not None:
        number = None
        if modifier is not None and modifier.value is not None:
            span = modifier.value.span
            number = fitting(as_int(evaluate(modifier.value, scope), scope, span, "`id`"), "id", span)
        options = plan.Options(id=number, but=row.overrides(sentence, scope))
    queue = receiver(row.world, qp, peer)
    row.posted[queue] = row.posted.get(queue, 0) + 1
    label = row.label(sentence, scope)
    row.add(plan.Recv(sentence.at, into, qp, peer, label, options), sentence)
