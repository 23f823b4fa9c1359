"""Where the requests of a row write, for the ledger: what is written, what may be, and what depends on an open outcome.

A request that goes through settles the bytes that it writes, unless it carries bytes that are themselves in doubt. One
that may be refused leaves them in doubt, and with them its label, the receive that its message meets, and the error of
a key with a signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check.flushed import OPEN, fates
from mkeyspec.compiler.eval.undecided import left_open, members_shown, names_of, reached, segments_of
from mkeyspec.compiler.statements.already_there import moved_into
from mkeyspec.compiler.statements.echoes import ALL
from mkeyspec.compiler.statements.equal_blocks import check_received, check_sent
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.value.bytestring import ByteString, join
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, known_number
from mkeyspec.value.signature import PLAIN

Transfer = plan.Post | plan.Transmit | plan.Receive


class Target(NamedTuple):
    """Where a request writes, how much (None: not known), and what it carries there."""

    part: Part
    length: int | None
    sources: tuple[Part, ...] = ()


# Statements ----------------------------------------------------------------------------------


def post(
    row: RowState,
    step: plan.Post,
    waiting: list[tuple[Part, ...]],
    through: bool,
    carry_out: Callable[[plan.Wr], None] = lambda _: None,
) -> None:
    """A section that was not refused, or may not have been. `waiting`: the receives at the other end, in order;
    `through`: its claim has it do what it says; `carry_out`: changes the keys as a request does, which goes through
    them as those before it left them."""
    span, both = row.origin.get(step), plan.is_undecided(step.claim)
    if both:
        _open(row, step, span)
        if _is_over(step) and not any(_is_wild(one) for one in step.requests):
            _note_writer(row, step, span, [one.options for one in step.requests])
    far = row.state.end(row.state.receive_queue(step.qp, not step.peer))
    if both and far.receives is None and any(one.takes_receive() for one in step.requests):
        # Which of them its message takes is open.
        for part in (part for one in _receives(row, step.qp, not step.peer) for part in one.into):
            _write(row, Target(part, None), span, span, exact=False)
    before = row.moved
    for request in step.requests if through else ():
        into = list(targets(request, waiting))
        if both and (_is_wild(request) or any(_is_unknown(row, target.part.name) for target in into)):
            row.ledger.doubt(_everything(row), span)
        for target in into:
            if target.length == 0:
                continue
            row.ledger.write_into(target.part.name)
            _write(row, target, span if both else None, row.origin.get(request), exact=not request_but(request))
            if target.part.but:
                continue
            data = _carried(row, target, row.origin.get(request)) if not request_but(request) else None
            nothing = isinstance(request, plan.FetchAdd) and request.add == 0
            changes = isinstance(request, plan.Atomic) and target.part == request.source and not nothing
            if not changes:  # an atomic brings its sum there, and the old bytes to its other end
                moved_into(row, target.part, target.length, row.origin.get(request), data)
            if _is_mkey(row, target.part) and not target.part.start:
                check_received(row, target.part.name, data, row.origin.get(request))
        for end in request.ends():
            if not end.use.writes and _is_mkey(row, end.part) and not end.part.start:
                length = known_number(end.length)
                check_sent(row, end.part.name, length, row.origin.get(request))
        carry_out(request)
    if row.state.qp(step.qp).sig_pipelining and not step.peer:
        row.stopped = (*row.stopped, *((step.qp, one) for one in row.moved if one not in before))


def resume(row: RowState, qp: str | None) -> None:
    """What the queue held back is written now, also to bytes that a statement has looked at since it was posted."""
    row.moved = (*row.moved, *(one for of, one in row.stopped if of == qp))
    row.stopped = tuple(one for one in row.stopped if one[0] != qp)


def failed(row: RowState, step: plan.Post) -> None:
    """A section that fails at completion. An atomic whose local key is wrong fails when its answer comes: the other end
    may have carried it out."""
    at_the_other_end = all(outcome.reason == "remote_access" for outcome in plan.rejections(step.claim))
    for request in step.requests if not at_the_other_end else ():
        match request:
            case plan.FetchAdd() | plan.CompareSwap():
                moved_into(row, request.source, plan.ATOMIC_BYTES, row.origin.get(request))
            case _:
                pass  # what has no answer fails before its first byte, or the case says which bytes are open


def open_errors(row: RowState, step: plan.Step) -> None:
    """Behind a claimed failure a request may have been carried out, and have found an error of its key, or not.
    `step`: with its claim settled."""
    if not plan.is_post(step) or step.abort or not plan.fails_posted(step.claim):
        return
    for one, fate in zip(step.requests, fates(row.state.qp(step.qp), step), strict=True):
        keys = [end.part.name for end in one.ends() if _has_signature(row, end.part.name)]
        if fate == OPEN:
            row.undecided = row.undecided.with_keys(keys, row.origin.get(one))


def transmit(row: RowState, step: plan.Transmit, buffer: str, length: int) -> None:
    """`buffer`: the ledger's name of its wire."""
    wire = [(buffer, 0, length)]
    span = row.origin.get(step)
    sent = row.ledger.reached_by(step.part.name) & row.ledger.written
    if sent:  # who says what is on the wire says what these hold
        row.echoes = (*row.echoes, (tuple((name, 0, ALL) for name in sorted(sent)), ((buffer, 0, ALL),), None))
    if plan.is_undecided(step.claim):
        row.ledger.doubt(wire, span, *_behind(row, (step.part,), span))
        _open(row, step, span)
        _note_writer(row, step, span, (step.options,))
    elif causes := _carried_doubts(row, (step.part,), span):
        row.ledger.doubt(wire, *causes)


def receive(row: RowState, step: plan.Receive, through: bool) -> None:
    span, length = row.origin.get(step), step.data.length
    both = plan.is_undecided(step.claim)
    row.ledger.write_into(step.part.name)
    if both:
        _open(row, step, span)
        _note_writer(row, step, span, (step.options,))
        if _names_unknown(row, step):
            row.ledger.doubt(_everything(row), span)
    if both or (through and row.ledger.doubts):
        _write(row, Target(step.part, length), span if both else None, span, exact=not step.options.but)
    if not step.claim:
        moved_into(row, step.part, length, span, None if step.options.but else step.data)


def under_way(row: RowState, qp: str | None, peer: bool, claim: plan.Claim, span: Span, id: int | None = None) -> None:
    """A `cancel` of `id`, or a `poll` whose claim leaves the outcome open: what was posted and not waited for, and what
    of that is done, is open too."""
    if not plan.is_undecided(claim):
        return
    # A `poll` that a list of successes fits has seen all of it succeed. An accepted `cancel` may have stopped it.
    known = id is None and not row.state.qp(qp).sig_pipelining
    for step in row.steps:
        if not plan.is_post(step) or step.qp != qp or step.peer != peer or step.abort or _waited_for(step):
            continue
        chosen = [one for one in step.requests if id is None or (one.options.id == id)]
        if not chosen or (id is not None and _cancelled(row, step, id)):
            continue
        row.undecided = row.undecided.with_labels((step.label,), ("errno",), span)
        for request in chosen:
            if request.takes_receive():
                far = _receives(row, qp, not peer)
                row.undecided = row.undecided.with_labels([one.label for one in far], (), span)
                for target in (Target(part, None) for one in far for part in one.into):
                    _write(row, target, span, span, exact=False)
            for target in targets(request, []):
                _write(row, target, span, span, exact=not request_but(request))
        known = known and not _names_unknown(row, step)
        known = known and not any(_is_wild(one) or one.options.but for one in chosen)
    if known:
        row.writers[span] = row.at(span)


def _waited_for(step: plan.Post) -> bool:
    return step.wait and all(one.options.signaled for one in step.requests)


def _is_over(step: plan.Post) -> bool:
    """Whether the rig knows at its end how it came out: also an error that may come is waited for."""
    return _waited_for(step) or bool(plan.lists(step.claim)) or plan.rejected_at(step.claim, "completion")


def _cancelled(row: RowState, posted: plan.Post, id: int) -> bool:
    """Whether the requests of that number have been cancelled since, for sure."""
    after = row.steps[row.steps.index(posted) :]
    return any(
        isinstance(step, plan.Cancel) and step.qp == posted.qp and step.id == id and not plan.is_undecided(step.claim)
        for step in after
    )


Labelled = (
    Transfer
    | plan.Check
    | plan.Cancel
    | plan.Destroy
    | plan.DestroyDek
    | plan.Query
    | plan.Login
    | plan.Logout
    | plan.LoginState
)


def label(row: RowState, step: Labelled, span: Span) -> None:
    """Members that a label does not show in each outcome of a claim."""
    shown = members_shown(step.claim)
    if step.label is not None and shown is not None:
        row.undecided = row.undecided.with_labels((step.label,), shown, span)


def _open(row: RowState, step: Transfer, span: Span) -> None:
    """What a transfer leaves open whose outcome is."""
    if plan.lists(step.claim) or plan.rejected_at(step.claim, "completion"):
        left_open([peer for peer in (False, True) if row.state.end((step.qp, peer)).waiting], span)
    found = row.undecided
    keys = [name for name in names_of(step) if _has_signature(row, name)]
    found = found.with_keys(keys, span)
    if row.state.qp(step.qp).sig_pipelining:
        found = found._replace(qps=(*found.qps, (step.qp, span)))
    _, peer = step.queue()
    polls = [(step.qp, side, span) for side in (False, True) if row.state.end((step.qp, side)).pending]
    found = found._replace(polls=(*found.polls, *polls))
    if plan.is_post(step):
        messages = sum(one.takes_receive() for one in step.requests)
        end = row.state.end(row.state.receive_queue(step.qp, not peer))
        met = _receives(row, step.qp, not peer)
        if not end.perhaps:
            met = met[len(met) - end.waiting - messages :][:messages]
        if messages:
            found = found.with_labels([one.label for one in met], (), span)
    row.undecided = found


def _receives(row: RowState, qp: str | None, peer: bool) -> list[plan.Recv]:
    """The receives of the queue that serves this end, as far as the row has posted them."""
    queue = row.state.receive_queue(qp, peer)
    posted = (one for one in row.steps if isinstance(one, plan.Recv))
    return [one for one in posted if row.state.receive_queue(one.qp, one.peer) == queue]


# Requests ------------------------------------------------------------------------------------


def targets(request: plan.Wr, waiting: list[tuple[Part, ...]]) -> Iterator[Target]:
    """Where a data request writes, if it goes through; a message takes the first receive that waits."""
    into, sources = request.writes(), request.reads()
    if request.takes_receive() and waiting:
        taken = waiting.pop(0)
        into = into or taken  # what a WRITE with immediate carries does not go to the receive
    left = plan.known_total(request.data) if isinstance(request, (plan.Send, plan.Write)) else None
    if isinstance(request, plan.Memcpy):
        length = dict(request.options.but).get("length")
        left = known_number(length)
    for part in into:
        length = known_number(part.length)
        if left is not None and length is not None:
            length = min(length, left)
            left -= length
            part = part if length == part.length else replace(part, length=length)
        yield Target(part, length, sources)


def request_but(request: plan.Wr) -> tuple[tuple[str, Int], ...]:
    """What is set wrong of where and how much it moves."""
    but = request.options.but
    return tuple(one for one in but if not (one[0] == "length" and isinstance(request, plan.Memcpy)))


def _write(row: RowState, target: Target, by: Span | None, span: Span, *, exact: bool) -> None:
    """A request at `span` writes there. `by`: it may be refused instead; not `exact`: it may write elsewhere in the
    buffer or the key."""
    ledger = row.ledger
    if by is None and not ledger.doubts:
        return
    segments = ledger.targets(target.part, target.length if exact else None, span)
    if by is not None:
        causes = [by, *_behind(row, (target.part,), span), *_behind(row, target.sources, span)]
    else:
        causes = _carried_doubts(row, target.sources, span)
    if causes:
        ledger.doubt(segments, *causes)
    elif exact:
        ledger.settle(segments)


def _carried_doubts(row: RowState, sources: Iterable[Part], span: Span) -> list[Span]:
    """The statements on whose outcomes the bytes of these depend."""
    ledger = row.ledger
    if not ledger.doubts:
        return []
    carried = [segment for part in sources for segment in reached(ledger, part, span)]
    return [doubt.by for doubt in ledger.doubts_about(carried)]


def _behind(row: RowState, parts: Iterable[Part], span: Span) -> list[Span]:
    """Of a request whose own outcome is left open: the other ones on which depends what it moves. `parts`: where it
    reads; of an mkey also whether its configuration was accepted. Without one before that, the request can't have
    been accepted if the configuration was not."""
    parts, causes = tuple(parts), list[Span]()
    for part in parts:
        key, configured = row.state.mkey(part.name), False
        for step in row.steps if key is not None and key.unknown and key.unknown_by == "undecided" else ():
            if key is not None and step.at == key.unknown_at:
                causes += [row.origin.get(step)] if configured else []
                break
            configured = configured or any(one.mkey == part.name for one in plan.configuring(step.posted()))
    return [*causes, *_carried_doubts(row, parts, span)]


def _carried(row: RowState, target: Target, span: Span) -> ByteString | None:
    """The bytes that a request brings to `target`; None where they are not known, or a signature counts otherwise."""
    ledger = row.ledger
    keys = [ledger.mkeys.mkey(part.name) for part in target.sources]
    if any(key is not None and key.domains != PLAIN for key in keys):
        return None
    try:
        whole = join([ledger.content(part, span) for part in target.sources])
    except Fault:
        return None
    return whole if whole.length == target.length else None


def _is_mkey(row: RowState, part: Part) -> bool:
    return row.state.mkey(part.name) is not None


def open_writer(row: RowState, observed: plan.Observed, expected: plan.Expected) -> plan.At | None:
    """The one transfer that leaves open whether these bytes are `unchanged`; None if it is not known to write them
    wherever it is accepted."""
    alternatives = plan.alternatives_of(expected)
    if len(alternatives) < 2 or plan.Unchanged() not in alternatives or not row.ledger.doubts:
        return None
    by = {doubt.by for doubt in row.ledger.doubts_about(segments_of(row.ledger, observed))}
    return row.writers.get(by.pop()) if len(by) == 1 else None


def _note_writer(row: RowState, step: Transfer, span: Span, options: Iterable[plan.Options]) -> None:
    """`step` leaves its outcome open. If it is accepted, it has moved all that it says when it is over; one with a
    `but` of where or how much moves something else."""
    if not any(one.but for one in options) and not _names_unknown(row, step):
        row.writers[span] = step.at


def _is_wild(request: plan.Wr) -> bool:
    """What it writes, and where, is in its bytes."""
    return isinstance(request, plan.RawWqe)


def _everything(row: RowState) -> list[Segment]:
    """Every byte of every buffer: a raw WQE names its own addresses, and of a key whose configuration may have been
    refused it is unknown where it leads."""
    return [(name, 0, buffer.length) for name, buffer in row.ledger.buffers.items() if "@" not in name]


def _names_unknown(row: RowState, step: plan.Step) -> bool:
    return any(_is_unknown(row, name) for name in names_of(step))


def _is_unknown(row: RowState, name: str) -> bool:
    key = row.state.mkey(name)
    return key is not None and bool(key.unknown)


def _has_signature(row: RowState, name: str) -> bool:
    key = row.state.mkey(name)
    return key is not None and key.has(MkeyFlag.BLOCK_SIGNATURE)
