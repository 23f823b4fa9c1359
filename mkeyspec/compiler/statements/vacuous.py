"""Warnings about expectations that no device can fail, and about what nobody looks at."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.undecided import segments_of
from mkeyspec.compiler.eval.values import Moment, WireRef
from mkeyspec.compiler.statements.already_there import MOST_COMPARED, already_there, covers, looked_at, same
from mkeyspec.compiler.statements.constant_expectations import CANNOT_FAIL, CANNOT_HOLD, fixed_number
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString, join, slice_of
from mkeyspec.value.layout import Part
from mkeyspec.value.live import LiveBytes, LiveContent, LiveJoin

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
        already_there(row, observed, expected, span)
    if isinstance(observed, plan.Content):
        looked_at(row, observed)


def _doubtful(row: RowState, observed: plan.Content) -> bool:
    """Whether a refusal that the case leaves open has these bytes stay as they were."""
    return bool(row.ledger.doubts) and row.ledger.doubtful(segments_of(row.ledger, observed)) is not None


def _fixed_bytes(observed: plan.Content | plan.Wire, operator: str, expected: plan.Expected) -> tuple[str, str] | None:
    """What an expectation of bytes does on every device, and why; None if the device decides."""
    always, never = (CANNOT_FAIL, CANNOT_HOLD) if operator == "==" else (CANNOT_HOLD, CANNOT_FAIL)
    if _length(observed) == 0:
        return always, "no byte is looked at"
    if isinstance(observed, plan.Content) and _contradicts_itself(observed, expected):
        return never, "the same byte is looked at twice, and is to be two things"
    if isinstance(expected, plan.OneOf):
        if not expected.alternatives:
            return never, "the list is empty"
        if any(_takes_all(one) for one in expected.alternatives):
            return always, "one of the alternatives is `any`"
    elif operator == "!=" and _takes_all(expected):
        return always, "`any` is all there is"
    return None


def _contradicts_itself(observed: plan.Content, expected: plan.Expected) -> bool:
    """Whether the layout leads to some byte twice, and it should be something else each time."""
    alternatives = expected.alternatives if isinstance(expected, plan.OneOf) else (expected,)
    names = [part.name for part in observed.parts]
    if len(set(names)) == len(names) or not alternatives:
        return False
    return all(isinstance(one, ByteString) and _two_things(observed.parts, one) for one in alternatives)


def _two_things(parts: tuple[Part, ...], wanted: ByteString) -> bool:
    if wanted.length > MOST_COMPARED:
        return False
    at, seen = 0, list[tuple[str, int, int, int]]()
    for part in parts:
        if not isinstance(part.start, int) or not isinstance(part.length, int):
            return False
        for name, start, length, where in seen:
            low, high = max(start, part.start), min(start + length, part.start + part.length)
            if name == part.name and low < high:
                one = slice_of(wanted, where + low - start, high - low)
                if not same(one, slice_of(wanted, at + low - part.start, high - low)):
                    return True
        seen.append((part.name, part.start, part.length, at))
        at += part.length
    return False


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
            if there is not None and same(there, one):
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
        if piece.length == 0:
            continue
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
        if isinstance(step, plan.Expect) and step.operator == "==" and covers(step.observed, observed):
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
    queue = step.queue()
    if not step.claim and step.known is None and not row.world.end(queue).pending:
        row.diagnostics.warning(
            "MKS0615",
            "nothing is due here: no request before this has a completion that was not waited for",
            span,
            help="poll completes { … } says which completions there are; `post, nowait { … }` leaves some open",
        )
    row.world.ends[queue] = row.world.end(queue)._replace(pending=0)
