"""Warnings about bytes that are compared with other bytes of the device, or with one wrong value, while no statement
says what they are."""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.undecided import lives, segments_of
from mkeyspec.compiler.eval.values import Moment, is_wire
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment, window
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import (
    ENCODINGS,
    MEMBER_TYPES,
    Live,
    LiveBytes,
    LiveContent,
    LiveJoin,
    LiveOp,
    pieces_of,
    place_of,
)

ALL = 1 << 62
"""More bytes than any buffer has."""
ANYTHING = plan.Any()

Places = tuple[Segment, ...]


def anything_else(diagnostics: Diagnostics, expected: plan.Expected, span: Span) -> None:
    diagnostics.warning(
        "MKS0614",
        "any garbage but these bytes fulfils this"
        if expected != plan.Unchanged()
        else "any garbage fulfils this, as long as something has changed",
        span,
        help="say what should be there: `== …`, `in [a, b]`",
    )


def any_other(diagnostics: Diagnostics, step: plan.Expect, span: Span) -> None:
    """A number that the device sets may be anything but these. Of an errno and a status it may be said what they are
    not."""
    match step.observed:
        case Live() as live if place_of(live) is None and live.member not in MEMBER_TYPES and step.operator == "!=":
            pass
        case _:
            return
    for one in plan.alternatives_of(step.expected):
        match one:
            case int() if one != 0:
                pass
            case _:
                return
    if plan.alternatives_of(step.expected):
        diagnostics.warning(
            "MKS0614",
            "any other number fulfils this",
            span,
            help="say what it should be: `== …`, `in [a, b]`",
        )


def note_bytes(row: RowState, step: plan.Expect, span: Span) -> None:
    """Which bytes are compared with bytes that no statement has matched yet, and which are stated here."""
    mine = _places(row, step.observed)
    if step.operator == "!=" and (taken := plan.snapshots_in(step.expected)):
        others = [_taken_from(row, row.ledger.saved[name], 0, ALL, span) for name in taken]
        row.apart = (*row.apart, (mine, tuple(one for each in others for one in each), span))
        return
    for one in plan.alternatives_of(step.expected):
        match one:
            case LiveContent() | LiveJoin() | LiveBytes():
                _note_pieces(row, mine, one, span)
            case ByteString() | plan.Masked() | plan.Sequence() | plan.Unchanged():
                if not plan.takes_all(one):
                    row.said = (*row.said, *mine)
            case plan.Any() | plan.OneOf():
                pass  # it says nothing
            case int() | str() | Live() | LiveOp():
                pass  # of scalars
            case _:
                assert_never(one)


def _note_pieces(row: RowState, mine: Places, expected: LiveContent | LiveJoin | LiveBytes, span: Span) -> None:
    at = 0
    for piece in pieces_of(expected):
        here = _window(mine, at, piece.length)
        at += piece.length
        if isinstance(piece, LiveContent):
            other = _taken_from(row, row.ledger.saved[piece.name], piece.start, piece.length, span)
            row.echoes = (*row.echoes, (here, other, span)) if other else row.echoes
        else:
            row.said = (*row.said, *here)


def note_number(row: RowState, step: plan.Expect, span: Span) -> None:
    """The same of numbers that are read out of a wire, or were at a `let`. Memory that changed is compared at the end,
    whether or not a number of it was looked at."""
    mine = tuple(place for live in lives(step.observed) for place in _read_from(row, live, span))
    other = tuple(place for live in lives(step.expected) for place in _read_from(row, live, span))
    if step.operator == "!=" and (mine or other):
        row.apart = (*row.apart, (mine or other, other if mine else (), span))
    elif step.operator == "==" and not plan.takes_all(step.expected):
        if mine and other:
            row.echoes = (*row.echoes, (mine, other, span))
        else:
            row.said = (*row.said, *mine, *other)


def _read_from(row: RowState, live: Live, span: Span) -> Places:
    found = place_of(live)
    if found is None:
        return ()
    encoding, start = found
    if live.subject.startswith("="):
        return _taken_from(row, row.ledger.saved[live.subject[1:]], start, ENCODINGS[encoding], span)
    if live.subject.startswith("@"):
        return ((row.ledger.wires[live.subject[1:] or None].buffer, start, ENCODINGS[encoding]),)
    return ()


def _taken_from(row: RowState, moment: Moment, start: int, length: int, span: Span) -> Places:
    """The bytes of a `let` of which the device alone said what they hold: of a wire, or of what requests have written
    into. Of what no request has written into, the rig knows what should be there."""
    place = moment.place
    if is_wire(place):
        return ((row.ledger.wires[place.label].buffer, place.start + start, length),)
    found = _window(tuple(moment.ledger.segments(place, span)), start, length)
    return tuple(one for one in found if one[0] in moment.ledger.written)


def _places(row: RowState, observed: plan.Observed) -> Places:
    match observed:
        case plan.Wire() | plan.Content():
            return tuple(segments_of(row.ledger, observed))
        case Live() | LiveOp():
            return ()
        case _:
            assert_never(observed)


def _window(places: Places, start: int, length: int) -> Places:
    left = sum(size for _, _, size in places) - start
    return tuple(window(places, start, max(min(length, left), 0)))


def _meet(some: Places, others: Places) -> bool:
    return any(a == b and x < y + n and y < x + m for a, x, m in some for b, y, n in others)


def look(row: RowState) -> None:
    """At the end of a row: bytes of the device on both sides, while nothing says what either is. Garbage that comes
    twice fulfils that."""
    said, open_ = row.said, list(row.echoes)
    while open_:
        pinned = [one for one in open_ if _meet(one[1], said) or _meet(one[0], said)]
        if not pinned:
            break
        for mine, other, _ in pinned:
            said = (*said, *mine, *other)
        open_ = [one for one in open_ if one not in pinned]
    for span in (span for _, _, span in open_ if span is not None):
        row.held.warning(
            "MKS0618",
            "both sides are the device's, and nothing says what either holds",
            span,
            help="say what one of them is: expect wire == …",
        )
    for mine, other, span in row.apart:
        if not _meet(mine, said) or (other and not _meet(other, said)):
            anything_else(row.held, ANYTHING, span)
