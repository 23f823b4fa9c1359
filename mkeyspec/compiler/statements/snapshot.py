"""What a `let` of a place means: its bytes at that moment where bytes are wanted, the place where a place is.

`let o = m` after which `m` changes: `list(o)` and `expect o == …` still mean the buffer `m`, `expect m == o` and
`receive o into k` the bytes that `m` had at the `let`. Where the ledger knows these, nothing happens when the case
runs; where only the device does (a wire that no `expect` has matched, a canary), the rig takes them with a step of its
own, which is put into the plan if the bytes are used. The bytes of a number, `let n = be32_at(m, 0)`, it always takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from mkeyspec import plan
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    BUFFER_KINDS,
    Handle,
    Moment,
    PartThen,
    Reference,
    Value,
    WireRef,
    is_handle,
    is_reference,
    is_wire,
    moment_of,
)
from mkeyspec.compiler.statements.operands import observed_place
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.layout import Part
from mkeyspec.value.live import (
    ENCODINGS,
    Live,
    LiveBytes,
    LiveJoin,
    LiveOp,
    let_subject,
    number_at,
    place_of,
    replaced,
)
from mkeyspec.value.live import called as called_live
from mkeyspec.value.regions import Regions

_PLACES = (Part, Handle, WireRef)
_NUMBERS = (Live, LiveOp, LiveBytes, LiveJoin)


def take(row: RowState, name: ast.Name, scope: Scope) -> None:
    """Give the places that the `let` of `name` means the moment at which it is."""
    value = scope.names[name.text]
    if type(value) is tuple or type(value) in _PLACES:
        scope.names[name.text] = value = _Taking(row, name).of(value, name.text)
    if type(value) is tuple or type(value) in _NUMBERS:
        scope.names[name.text] = _Numbers(row, name).of(value)


def taken_here(row: RowState, value: Value, span: Span) -> Value:
    """The right side of an expectation. For places whose bytes only the device determined (a wire that is not matched,
    what `any` has matched), the bytes that are there now: so two observations are compared.
    """
    if type(value) is tuple:
        items = tuple([taken_here(row, item, span) for item in value])
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not is_reference(value) or moment_of(value) is not None or not row.ledger.is_relative(value, span):
        return value
    called = " ".join(span.source.text[span.start : span.end].split())
    return _Taking(row, ast.Name(span, called), here=True).of(value, plan.taken_at(called, row.position))


class _Taking:
    """One `let`; the ledger is copied when the first place is found. `here`: the bytes are used here alone, so the
    last wire needs no label."""

    def __init__(self, row: RowState, name: ast.Name, here: bool = False) -> None:
        self.row = row
        self.name = name
        self.here = here
        self.moment: Optional[Moment] = None

    def of(self, value: Value, called: str) -> Value:
        if type(value) is tuple:
            items = tuple([self.of(item, f"{called}[{i}]") for i, item in enumerate(value)])
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if type(value) is Part and not value.but:
            return PartThen(value.name, value.start, value.length, (), self.at(value, called))
        if is_handle(value, *BUFFER_KINDS) and value.moment is None:
            return replace(value, moment=self.at(value, called))
        if is_wire(value) and value.moment is None and value.label in self.row.ledger.wires:
            label = self.pinned() if value.label is None and not self.here else value.label
            pinned = replace(value, label=label)
            if self.row.ledger.wires[label].length is not None:
                self.row.ledger.wire_segment(pinned, self.name.span)  # looked at, as far as this case is concerned
            return replace(pinned, moment=self.at(pinned, called))
        return value

    def at(self, place: Reference, called: str) -> Moment:
        if self.moment is None:
            row = self.row
            span = row.origin.span if self.here else self.name.span  # there it stands before its own statement
            self.moment = Moment(called, place, row.at(span), len(row.steps), row.ledger.copy(), self.name.span)
        return self.moment._replace(name=self.row.name(called), place=place, moved=self.moved(place))

    def moved(self, place: Reference) -> bool:
        """Whether a request has written into `place`, and no statement has looked at it since."""
        if not self.row.moved or is_wire(place):
            return False
        try:
            segments = self.row.ledger.segments(place, self.name.span)
        except Fault:
            return False
        regions = Regions.of(segments)
        return any(one.regions.overlaps(regions) for one in self.row.moved)

    def pinned(self) -> str:
        """A label for the transmit that `wire` means here, so that it is still found when there is another one."""
        row = self.row
        wires = row.ledger.wires
        for label, wire in wires.items():
            if label is not None and wire is wires[None]:
                return label
        at, step = [(i, step) for i, step in enumerate(row.steps) if isinstance(step, plan.Transmit)][-1]
        label = self.name.text
        row.steps[at] = replace(step, label=label)
        wires[label] = wires[None]
        return label


class _Numbers:
    """One `let` of numbers that are read out of memory or out of a wire (`be32_at`)."""

    def __init__(self, row: RowState, name: ast.Name) -> None:
        self.row = row
        self.taking = _Taking(row, name)
        self.names: dict[Live, str] = {}

    def of(self, value: Value) -> Value:
        return replaced(value, self.taken)

    def taken(self, number: Live) -> Live:
        """The same number out of the bytes that the rig takes at the `let`."""
        found = place_of(number)
        if found is None or number.subject.startswith("="):
            return number
        encoding, start = found
        name = self.names.get(number)
        if name is None:
            called = self.taking.name.text
            called = f"{called} ({called_live(number)})" if self.names else called
            place: Reference
            if number.subject.startswith("@"):
                label = number.subject[1:] or self.taking.pinned()
                place = WireRef(label, start, ENCODINGS[encoding])
            else:
                place = Part(number.subject, start, ENCODINGS[encoding])
            moment = self.taking.at(place, called)
            name = self.names[number] = moment.name
            self.row.ledger.saved[name] = moment
        return number_at(encoding, let_subject(name), 0)


def steps_with_snapshots(row: RowState, steps: list[plan.Step]) -> list[plan.Step]:
    """The steps of the row, and those that take the bytes which the rig alone can know."""
    if not row.ledger.saved:
        return steps
    steps = steps.copy()
    for moment in sorted(row.ledger.saved.values(), key=_order, reverse=True):
        steps.insert(moment.position, plan.Snapshot(moment.at, moment.name, _observed(moment)))
    return steps


def _order(moment: Moment) -> tuple[int, int, plan.At, str]:
    turn = moment.at.turn
    return moment.position, 0 if turn is None else turn.number, moment.at, moment.name


def _observed(moment: Moment) -> plan.Content | plan.Wire:
    return observed_place(moment.ledger, moment.place, moment.span, moment.name)
