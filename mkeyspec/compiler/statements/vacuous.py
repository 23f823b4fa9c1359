"""Warnings about expectations that no device can fail, and about what nobody looks at."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.undecided import segments_of
from mkeyspec.compiler.eval.values import Handle, Moment, WireRef
from mkeyspec.compiler.statements.constant_expectations import CANNOT_FAIL, CANNOT_HOLD, fixed_number
from mkeyspec.compiler.statements.order import look_arrival
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.value.bytestring import ByteString, join
from mkeyspec.value.layout import Interleaved, Part, Repeated
from mkeyspec.value.live import LiveBytes, LiveContent, LiveJoin

MOST_COMPARED = 1 << 16
"""Bytes of two expressions that are computed to see whether they are the same; longer ones are compared as written."""


# Expectations ------------------------------------------------------------------------------------


def look_expectation(row: RowState, step: plan.Expect, span: Span) -> None:
    """Whether what an expectation says depends on the device, before the ledger learns from it."""
    observed, operator, expected = step.observed, step.operator, step.expected
    if isinstance(observed, (plan.Content, plan.Wire)):
        fixed = _fixed_bytes(observed, operator, expected) or _as_it_was(row, observed, operator, expected)
        if fixed is None:
            _note_echo(row, step, span)
        if fixed is None and operator == "!=":
            _anything_else(row.diagnostics, expected, span)
    else:
        fixed = fixed_number(observed, operator, expected)
    if fixed is not None:
        row.diagnostics.warning("MKS0612", f"this expectation {fixed[0]}: {fixed[1]}", span)
    elif isinstance(observed, plan.Content) and operator == "==" and not _doubtful(row, observed):
        _already_there(row, observed, expected, span)
    if isinstance(observed, plan.Content):
        _looked_at(row, observed)


def _doubtful(row: RowState, observed: plan.Content) -> bool:
    """Whether a refusal that the case leaves open has these bytes stay as they were."""
    return bool(row.ledger.doubts) and row.ledger.doubtful(segments_of(row.ledger, observed)) is not None


def _fixed_bytes(observed: plan.Content | plan.Wire, operator: str, expected: plan.Expected) -> tuple[str, str] | None:
    """What an expectation of bytes does on every device, and why; None if the device decides."""
    always, never = (CANNOT_FAIL, CANNOT_HOLD) if operator == "==" else (CANNOT_HOLD, CANNOT_FAIL)
    if _length(observed) == 0:
        return always, "no byte is looked at"
    if isinstance(expected, plan.OneOf):
        if not expected.alternatives:
            return never, "the list is empty"
        if any(_takes_all(one) for one in expected.alternatives):
            return always, "one of the alternatives is `any`"
    elif operator == "!=" and _takes_all(expected):
        return always, "`any` is all there is"
    return None


def _as_it_was(
    row: RowState, observed: plan.Content | plan.Wire, operator: str, expected: plan.Expected
) -> tuple[str, str] | None:
    """The same bytes on both sides, or as one of the alternatives: what is there, before anything could change it."""
    alternatives = expected.alternatives if isinstance(expected, plan.OneOf) else (expected,)
    for one in alternatives:
        why = ""
        if isinstance(one, plan.Unchanged) and isinstance(observed, plan.Content) and _untouched(row, observed):
            why = "nothing has been done since these bytes were last looked at"
        elif isinstance(one, ByteString) and isinstance(observed, plan.Content) and _untouched(row, observed):
            there = _there(row, observed)
            if there is not None and _same(there, one):
                why = "nothing has been moved since these bytes were said"
        elif isinstance(one, (LiveContent, LiveJoin)) and _own_snapshot(row, observed, one):
            why = "both sides are the same"
        if why:
            several = "one of the alternatives is what is there: " if isinstance(expected, plan.OneOf) else ""
            return (CANNOT_FAIL if operator == "==" else CANNOT_HOLD), several + why
    return None


def _own_snapshot(row: RowState, observed: plan.Content | plan.Wire, expected: LiveContent | LiveJoin) -> bool:
    """A snapshot of this wire, or of this place with nothing done since; whole, or put together of its parts."""
    at = 0
    for piece in expected.parts if isinstance(expected, LiveJoin) else (expected,):
        if not isinstance(piece, LiveContent):
            return False
        moment = row.ledger.saved[piece.name]
        place, wires = moment.place, row.ledger.wires
        if isinstance(observed, plan.Wire):
            if not isinstance(place, WireRef) or wires.get(place.label) is not wires.get(observed.label):
                return False
            if place.start + piece.start != observed.start + at:
                return False
        elif isinstance(place, WireRef) or any(isinstance(step, _CHANGING) for step in row.steps[moment.position :]):
            return False
        at += piece.length
    return True


def _untouched(row: RowState, observed: plan.Content) -> bool:
    """Whether no request has run that could change these bytes since the case or an expectation said what they are."""
    for step in reversed(row.steps):
        if isinstance(step, _GOING_ON) and not isinstance(step, plan.Store) and not _only_configures(step):
            return False
        if isinstance(step, plan.Expect) and step.operator == "==" and _covers(step.observed, observed):
            return True
    return True


def _only_configures(step: plan.Step) -> bool:
    """A section that moves nothing, and is to go through."""
    if not isinstance(step, plan.Post) or step.claim or step.known is not None or step.abort:
        return False
    return all(isinstance(request, plan.Configuring) for request in step.requests)


def _there(row: RowState, observed: plan.Content) -> ByteString | None:
    """The bytes that should be there; None where nobody has said."""
    try:
        return join([row.ledger.content(part, row.case.span) for part in observed.parts])
    except Fault:
        return None


def _covers(seen: plan.Observed, observed: plan.Content) -> bool:
    if not isinstance(seen, plan.Content):
        return False
    return all(any(_within(part, other) for other in seen.parts) for part in observed.parts)


def _within(part: Part, other: Part) -> bool:
    bounds = (part.start, part.length, other.start, other.length)
    if part.name != other.name or not all(isinstance(bound, int) for bound in bounds):
        return False
    start, length, first, size = (bound for bound in bounds if isinstance(bound, int))
    return first <= start and start + length <= first + size


_CHANGING = (plan.Post, plan.Transmit, plan.Receive, plan.Store)
"""Steps after which memories may hold something else."""
_GOING_ON = (*_CHANGING, plan.Check, plan.Await, plan.Poll, plan.Cancel, plan.Resume)
"""Those, and steps that wait for what was posted before."""


def _takes_all(expected: plan.Expected) -> bool:
    if isinstance(expected, plan.Sequence):
        return all(isinstance(item, plan.Any) or item.length == 0 for item in expected.items)
    return isinstance(expected, plan.Any)


def _length(observed: plan.Content | plan.Wire) -> int | None:
    if isinstance(observed, plan.Wire):
        return observed.length
    total = 0
    for part in observed.parts:
        if not isinstance(part.length, int):
            return None
        total += part.length
    return total


def _anything_else(diagnostics: Diagnostics, expected: plan.Expected, span: Span) -> None:
    diagnostics.warning(
        "MKS0614",
        "any garbage but these bytes fulfils this"
        if not isinstance(expected, plan.Unchanged)
        else "any garbage fulfils this, as long as something has changed",
        span,
        help="say what should be there: `== …`, `in [a, b]`",
    )


# What is there already ---------------------------------------------------------------------------


def moved_into(row: RowState, part: Part, length: int | None, span: Span) -> None:
    """A request that goes through writes into `part`: an mkey's layout, or bytes of a buffer."""
    segments: list[Segment]
    try:
        if part.name in row.ledger.buffers:
            start = part.start
            if not isinstance(start, int) or length is None:
                return
            segments = [(part.name, start, length)]
        else:
            look_arrival(row, part, length, span)
            if not _anything_known(row, part.name):
                return
            segments = row.ledger.segments(Handle("mkey", part.name), span)
    except Fault:
        return
    for name, start, size in segments:
        if size:
            row.moved = (*row.moved, (name, start, start + size, span))


def _anything_known(row: RowState, mkey: str) -> bool:
    """Whether any buffer right behind an mkey has bytes that somebody has said."""
    shape = row.ledger.mkeys.get(mkey)
    layout = None if shape is None else shape.layout
    if layout is None:
        return False
    names = set()
    for entry in layout.entries if isinstance(layout, Interleaved) else layout.parts:
        inner = entry.part if isinstance(entry, Repeated) else entry
        names.add(inner.name if isinstance(inner, Part) else inner.part.name)
    for name in names:
        buffer = row.ledger.buffers.get(name)
        if buffer is None or any(piece.data is not None for piece in buffer.pieces):
            return True
    return False


def _already_there(row: RowState, observed: plan.Content, expected: plan.Expected, span: Span) -> None:
    """The bytes that are wanted, or one alternative of them, are those that something should have been moved over."""
    several = isinstance(expected, plan.OneOf)
    alternatives = expected.alternatives if isinstance(expected, plan.OneOf) else (expected,)
    kept = several and any(isinstance(one, plan.Unchanged) for one in alternatives)
    wanted = [one for one in alternatives if isinstance(one, ByteString)]
    if kept and not row.moved and (writer := _written_by(row, observed)) is not None:
        _there_already(row, several, span, writer)
    if not row.moved or not (kept or wanted):
        return
    by: Span | None = None
    known = True
    for part in observed.parts:
        start, length = part.start, part.length
        if not isinstance(start, int) or not isinstance(length, int):
            return
        for name, low, high, where in row.moved:
            if name == part.name and low < start + length and start < high:
                by = where
        for piece in row.ledger.buffers[part.name].pieces:
            if piece.data is None and piece.start < start + length and start < piece.end:
                known = False
    if by is None or not (kept or known):
        return
    there = join([row.ledger.content(part, span) for part in observed.parts]) if known else None
    if kept or (there is not None and any(_same(there, one) for one in wanted)):
        _there_already(row, several, span, by)


def _there_already(row: RowState, several: bool, span: Span, by: Span) -> None:
    row.diagnostics.warning(
        "MKS0611",
        ("one of these is" if several else "these bytes are") + " there already, whatever is moved",
        span,
        notes=(Note("before this moves them", by),),
        help="other bytes before, or behind: counter(n), random(n, seed=1), or a memory without bytes",
    )


def _written_by(row: RowState, observed: plan.Content) -> Span | None:
    """The statement that writes to these bytes since they were last looked at, unless its claim lets it do nothing.

    For buffers of which nobody has said what they hold, which `moved` leaves out.
    """
    for step in reversed(row.steps):
        if isinstance(step, plan.Expect) and step.operator == "==" and _covers(step.observed, observed):
            return None
        if isinstance(step, plan.Receive) and not step.claim and step.known is None:
            span = row.spans.get(step)
            try:
                segments = row.ledger.segments(Handle("mkey", step.part.name), span)
            except Fault:
                continue
            for name, start, size in segments:
                if any(part.name == name and _overlap(part, start, start + size) for part in observed.parts):
                    return span
    return None


def _same(a: ByteString, b: ByteString) -> bool:
    return a.length == b.length and (a == b or (a.length <= MOST_COMPARED and a.data == b.data))


def _looked_at(row: RowState, observed: plan.Content) -> None:
    """What stands there is known from here on: nothing that moved before is unseen."""
    if row.moved:
        row.moved = tuple(
            one
            for one in row.moved
            if not any(part.name == one[0] and _overlap(part, one[1], one[2]) for part in observed.parts)
        )


def _overlap(part: Part, low: int, high: int) -> bool:
    start, length = part.start, part.length
    return not isinstance(start, int) or not isinstance(length, int) or (low < start + length and start < high)


# What nobody says ---------------------------------------------------------------------------------


def _note_echo(row: RowState, step: plan.Expect, span: Span) -> None:
    """Which bytes are held against a wire that nobody has said yet, and which are said here."""
    mine = _names(row, step.observed)
    alternatives = step.expected.alternatives if isinstance(step.expected, plan.OneOf) else (step.expected,)
    for one in alternatives:
        for piece in one.parts if isinstance(one, LiveJoin) else (one,):
            if isinstance(piece, LiveContent):
                other = _taken_from(row, row.ledger.saved[piece.name], span)
                if other:
                    row.echoes = (*row.echoes, (mine, other, span))
            elif isinstance(piece, (ByteString, plan.Sequence, plan.Unchanged, LiveBytes)) and not _takes_all(piece):
                row.said |= mine


def _taken_from(row: RowState, moment: Moment, span: Span) -> frozenset[str]:
    """The buffers of a `let` of which the device alone said what they hold: a wire, or what requests have written into.

    Of what no request has written into, the rig knows what should be there.
    """
    if isinstance(moment.place, WireRef):
        return frozenset({row.ledger.wires[moment.place.label].buffer})
    names = {name for name, _, _ in moment.ledger.segments(moment.place, span)}
    return frozenset(names & moment.ledger.written)


def _names(row: RowState, observed: plan.Observed) -> frozenset[str]:
    if isinstance(observed, plan.Wire):
        return frozenset({row.ledger.wires[observed.label].buffer})
    return frozenset(part.name for part in observed.parts) if isinstance(observed, plan.Content) else frozenset()


def _look_echoes(row: RowState) -> None:
    """Bytes of the device on both sides, while nothing says what either is: garbage that comes twice fulfils that."""
    said, open_ = set(row.said), list(row.echoes)
    while True:
        pinned = [one for one in open_ if one[1] & said or one[0] & said]
        if not pinned:
            break
        for mine, other, _ in pinned:
            said |= mine | other
        open_ = [one for one in open_ if one not in pinned]
    for span in (span for _, _, span in open_ if span is not None):
        row.held.warning(
            "MKS0618",
            "both sides are the device's, and nothing says what either holds",
            span,
            help="say what one of them is: expect wire == …",
        )


# What nobody looks at ----------------------------------------------------------------------------


def look_finished(row: RowState) -> None:
    """At the end of a row: what was moved, onto the wire or into memory, and no statement has looked at since.

    Memory that changed and is not named fails by the closing rule. It does not change where the same bytes were there.
    """
    _look_echoes(row)
    for *_, moved in row.moved:
        row.held.warning("MKS0616", "nobody looks at what this moves", moved, help="expect what is there behind it")
    for unseen in row.ledger.unseen.values():
        row.held.warning(
            "MKS0616",
            "nobody looks at "
            + ("" if unseen.whole else f"bytes {', '.join(f'{a}..{b}' for a, b in unseen.ranges)} of ")
            + "what this puts on the wire",
            unseen.span,
            help="expect wire == …",
        )


def look_poll(row: RowState, step: plan.Poll, span: Span) -> None:
    """A `poll` without a list, when no request is under way whose completion it could wait for."""
    key = (step.qp, step.peer)
    if not step.claim and step.known is None and not row.pending.get(key):
        row.diagnostics.warning(
            "MKS0615",
            "nothing is due here: no request before this has a completion that was not waited for",
            span,
            help="poll completes { … } says which completions there are; `post, nowait { … }` leaves some open",
        )
    row.pending[key] = 0
