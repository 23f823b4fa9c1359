"""`expect` and `record`: what is observed, what is expected, and what is known afterwards."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval import undecided
from mkeyspec.compiler.eval.buffer_contents import BufferContents
from mkeyspec.compiler.eval.coercion import as_expected, fault, no_but, raise_if_hidden
from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.evaluate import COMPARISONS, condition, evaluate
from mkeyspec.compiler.eval.known_bytes import Unsaid
from mkeyspec.compiler.eval.live_types import comparable
from mkeyspec.compiler.eval.meant import bytes_for
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    Value,
    is_known_bytes,
    is_live,
    is_live_bytes,
    is_reference,
    is_wire,
)
from mkeyspec.compiler.eval.wire_length import explain_wire
from mkeyspec.compiler.statements.claims import ACCEPTED, bare_departure, outcome
from mkeyspec.compiler.statements.operands import observed_place
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import Shape, Slot
from mkeyspec.compiler.statements.snapshot import taken_here
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.compiler.statements.vacuous import check_expectation
from mkeyspec.compiler.statements.writes import open_writer
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment, window
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import ENCODINGS, LiveBytes, LiveContent, LiveJoin, known_number, lives_in, place_of
from mkeyspec.value.signature import Domain

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def expect(row: RowState, node: ast.Expect, scope: Scope) -> None:
    """`expect LEFT == RIGHT known …`: judged where it is; what it matched is the truth from here on."""
    reads = row.ledger.unseen.copy()
    found = condition(node.condition, scope)
    operator, right, right_span = found.operator, found.right, found.right_span
    observed = observe(row, found.left, scope)
    left_expr = found.left
    if observed is None:
        if not is_live(right):
            raise nothing_observed(left_expr, scope, node.span)
        # The device's number is on the right: `expect 4 <= k.max_entries`.
        observed, right, right_span = right, evaluate(left_expr, scope), left_expr.span
        operator = _MIRRORED[operator]
    expected = _expected(row, observed, operator, right, node.condition, right_span, scope)
    at, known = row.at(node.span), _known(row, node, observed, scope)
    branch, by = branch_of(row, node.branch, scope)
    step = plan.Expect(at, observed, operator, expected, known, open_writer(row, observed, expected), branch)
    _look_decided(row, step, by, node.span)
    check_expectation(row, step, node.span)
    if not plan.is_bytes(observed):
        for side in (observed, right):
            _look_at_numbers(row, side)
    if branch is not None and not branch.accepted:  # where the request went through, it looks at nothing
        row.ledger.unseen = reads
    row.add_expect(step, node.span)
    row.origin.put_member(step, "expected", right_span)
    row.origin.put_member(step, "observed", left_expr.span)
    if operator == "==" and plan.is_bytes(observed) and branch is None:
        _learn(row, observed, expected, node.span, step.known)


def _look_at_numbers(row: RowState, side: Value) -> None:
    """The bytes of a wire that a number of an expectation is read from, here or at a `let`, are looked at."""
    for number in lives_in(side) if is_live(side) else ():
        found = place_of(number)
        if found is None:
            continue
        encoding, start = found
        kind, label = number.subject[:1], number.subject[1:] or None
        if kind == "=":
            place = row.ledger.saved[number.subject[1:]].place
            if not is_wire(place):
                continue
            label, start = place.label, place.start
        if kind in ("@", "=") and (wire := row.ledger.wires.get(label)) is not None:
            row.ledger.seen(wire.buffer, start, start + ENCODINGS[encoding])


def branch_of(row: RowState, node: ast.Branch | None, scope: Scope) -> tuple[plan.Branch | None, Span | None]:
    """The outcome that an expectation or a check is of, and the statement that leaves it open."""
    if node is None:
        return None, None
    label = node.label
    evaluate(ast.Ref(label.span, label.text), scope)
    found = row.undecided.label(label.text)
    if found is None:
        raise fault(
            "MKS0517",
            f"`{label.text}` is not a statement whose outcome is left open",
            label.span,
            help=f"as {label.text} accepted or rejected at …; without it there is one outcome, and no `when`",
        )
    return plan.Branch(row.at(found[1]), node.accepted), found[1]


def _look_decided(row: RowState, step: plan.Expect, by: Span | None, span: Span) -> None:
    """What an expectation judges may depend on the outcome that it is of, and on no other that is left open."""
    doubts, open = row.ledger.doubts, row.undecided
    if by is not None:
        row.ledger.doubts = tuple(doubt for doubt in doubts if doubt.by != by)
        open = open._replace(labels=tuple(one for one in open.labels if one[2] != by))
    try:
        undecided.record_expectation(open, row.ledger, step, span)
    finally:
        row.ledger.doubts = doubts


def observe(row: RowState, expr: ast.Expr, scope: Scope) -> plan.Observed | None:
    """The object that the rig reads for `expr`; None if it is not readable."""
    value = evaluate(expr, scope)
    if is_live(value):
        return value
    if is_reference(value):
        no_but(value, expr.span)
        return observed_place(row.ledger, value, expr.span, _text(expr.span))
    return None


def nothing_observed(expr: ast.Expr, scope: Scope, span: Span) -> Fault:
    value: Value = evaluate(expr, scope)
    try:
        raise_if_hidden(value, scope, expr.span, "a buffer, an mkey, the wire or a live value")
    except Fault as hidden:
        return hidden
    return fault(
        "MKS0322",
        f"nothing is observed here: this is {describe(value)}",
        expr.span,
        help="a buffer, an mkey, `wire` or a live value (`k.max_entries`) is expected left of the operator",
    )


def _text(span: Span) -> str:
    return " ".join(span.source.text[span.start : span.end].split())


# Do both sides go together -------------------------------------------------------------------


def _expected(
    row: RowState, observed: plan.Observed, operator: str, right: Value, condition: ast.Expr, span: Span, scope: Scope
) -> plan.Expected:
    """What is on the other side: as many bytes, by == and != only; of a live value, one of its type."""
    if not plan.is_bytes(observed):
        return comparable(observed, operator, right, scope, span)
    if operator not in ("==", "!="):
        raise fault("MKS0316", f"bytes are compared by == and !=, not by {operator}", span)
    expected = as_expected(taken_here(row, right, span), scope, span)
    for one in plan.alternatives_of(expected):
        length = _length(one, observed, span, row.ledger)
        if length is not None and length != _observed_length(observed):
            raise _lengths_differ(row, observed, length, condition, span, scope)
    return expected


def _length(
    expected: plan.Expected, observed: plan.Content | plan.Wire, span: Span, ledger: BufferContents
) -> int | None:
    """Bytes on the right; None where the pattern takes any number."""
    match expected:
        case ByteString() | LiveBytes() | LiveContent() | LiveJoin() | plan.Any() | plan.Masked():
            return expected.length
        case plan.Sequence():
            lengths = [_length(item, observed, span, ledger) for item in expected.items]
            known = [length for length in lengths if length is not None]
            return sum(known) if len(known) == len(lengths) else None
        case plan.Unchanged():
            if not plan.is_content(observed) and not ledger.doubtful(undecided.segments_of(ledger, observed)):
                raise fault("MKS0316", "every wire is new: it can't be unchanged", span)
            return None
        case _:
            what = "text" if span.source.text[span.start] == '"' else "a number"
            raise fault("MKS0316", f"bytes are compared with {what}", span, help=_bytes_meant(expected, observed, span))


def _bytes_meant(expected: plan.Expected, observed: plan.Content | plan.Wire, span: Span) -> str:
    """How the bytes are written that a number or a text on the right is meant for."""
    length = _observed_length(observed)
    if span.source.text[span.start] == "[" and length > 1:
        return f'bytes are written hex"0001", or fill(0, {length}); a list is one of several values'
    match expected:
        case int() if 0 <= expected < 256 and length > 1:
            return f"fill({expected}, {length}) are {length} bytes of this value, be32({expected}) is a number in four"
        case int() | str():
            return bytes_for(expected, span)
        case _:
            return "be32(n) are its bytes"


def _observed_length(observed: plan.Content | plan.Wire) -> int:
    if plan.is_content(observed):
        return sum(known_number(part.length) or 0 for part in observed.parts)
    return observed.length


def _lengths_differ(
    row: RowState, observed: plan.Content | plan.Wire, length: int, condition: ast.Expr, span: Span, scope: Scope
) -> Fault:
    """MKS0310, or MKS0311 where `..` was read as including its end."""
    have = _observed_length(observed)
    message = f"{have} bytes compared with {length}"
    if isinstance(condition, ast.Binary):
        for side, short, other in ((condition.left, have, length), (condition.right, length, have)):
            match side:
                case ast.Index(of=of, index=ast.Range(start=start, end=end)) if end is not None and short + 1 == other:
                    help = f"`..` leaves its end out; {_text(of.span)}[{_text(start.span)} +: {other}]"
                    return fault("MKS0311", message, side.span, help=help)
                case _:
                    pass  # it does not end where `..` may have been misread
    notes: tuple[Note, ...] = ()
    help = ""
    if not plan.is_content(observed):
        wire = row.ledger.wires.get(observed.label)
        why = "" if wire is None or wire.length is None else explain_wire(wire.length, wire.domains)
        if wire is not None and why:
            notes = (Note(why, wire.domain_span),)
            domain = wire.domains.wire
            if domain is not None and length * domain.frame == have * domain.block:
                help = f"framed({_text(span)}, {scope.called(domain) or domain.describe()})?"
    else:
        mem = _memory_domain(row, condition)
        if mem is not None and length * mem.frame == have * mem.block:
            size = mem.signature.field_size
            notes = (Note(f"in memory a field of {size} bytes follows each block: {mem.describe()}"),)
            help = f"framed({_text(span)}, {scope.called(mem) or mem.describe()})?"
    match condition:
        case ast.Binary(left=ast.Ref(span=place)) if not help and length < have:
            help = f"a part of that length: {_text(place)}[0 +: {length}]"
        case ast.Binary(left=ast.Index(of=ast.Ref(span=place), index=ast.Range(start=start))) if (
            not help and length < have
        ):
            help = f"a part of that length: {_text(place)}[{_text(start.span)} +: {length}]"
        case _:
            pass  # what is observed is a part already, or too short
    return fault("MKS0310", message, condition.span, notes=notes, help=help)


def _memory_domain(row: RowState, condition: ast.Expr) -> Domain | None:
    """The memory domain of the mkey that is observed, whole or a part of it; None where it has none."""
    match condition:
        case ast.Binary(left=ast.Ref(name=name) | ast.Index(of=ast.Ref(name=name))) if (
            key := row.state.mkey(name)
        ) is not None:
            return key.mem
        case _:
            return None


# What is known from here on ------------------------------------------------------------------


def _learn(
    row: RowState, observed: plan.Content | plan.Wire, expected: plan.Expected, span: Span, known: plan.Known | None
) -> None:
    segments = undecided.segments_of(row.ledger, observed)
    if known is not None:
        why = f"on a device that departs here ({known.id}) something else is there"
        unsaid = Unsaid(why, span, "a `let` after it takes what is there: let now = …")
        row.ledger.write_segments(segments, None, unsaid)
        return
    if expected == plan.Unchanged():
        return
    at = 0
    for item in expected.items if isinstance(expected, plan.Sequence) else (expected,):
        if is_known_bytes(item):
            row.ledger.write_segments(_cut(segments, at, item.length), item, None)
            at += item.length
            continue
        length = item.length if plan.is_any(item) or plan.is_masked(item) or is_live_bytes(item) else None
        opened = plan.is_any(item) or plan.is_masked(item)
        why = "matched by a pattern here" if opened else "matched here by what is known to the rig only"
        rest = _observed_length(observed) - at if length is None else length
        row.ledger.write_segments(_cut(segments, at, rest), None, Unsaid(why, span, device=True))
        at += rest


def _cut(segments: list[Segment], start: int, length: int) -> list[Segment]:
    """Bytes [start, start + length) of segments concatenated."""
    if start == 0 and length == sum(size for _, _, size in segments):
        return segments
    return window(segments, start, length)


# known, record -------------------------------------------------------------------------------


def _known(row: RowState, node: ast.Expect, observed: plan.Observed, scope: Scope) -> plan.Known | None:
    known = node.known
    if known is None:
        return None
    if known.outcome is not None:
        found = outcome(known.outcome, scope, row.sentences)
        if found != ACCEPTED:
            raise fault("MKS0510", "an expectation is not rejected", known.span, help="known ID VALUE")
    if known.value is None:
        raise bare_departure(known, "known ID VALUE; `known ID any` if its value is unknown")
    instead = evaluate(known.value, scope)
    value = _expected(row, observed, "==", instead, node.condition, known.value.span, scope)
    return plan.Known(known.requirement.text, None, value)


def _record(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`record name = observed`: a value, or the result of a comparison, for the report. It checks nothing."""
    unseen = row.ledger.unseen.copy()
    _observe(row, sentence, scope)
    row.ledger.unseen = unseen


def _observe(row: RowState, sentence: Sentence, scope: Scope) -> None:
    word = sentence.new_name()
    name = word.text
    first = row.records.get(name)
    if first is not None and first != word.span:
        note = Note("the first one is here", first)
        raise fault("MKS0203", f"`{name}` is recorded twice", word.span, notes=(note,), help="the report keeps one")
    row.records[name] = word.span
    expr = sentence.node.value
    if expr is None:
        raise AssertionError("record without value")  # the table refuses it
    if isinstance(expr, ast.Binary) and expr.operator in COMPARISONS:
        found = condition(expr, scope)
        observed = observe(row, found.left, scope)
        if observed is None:
            raise nothing_observed(found.left, scope, expr.span)
        expected = _expected(row, observed, found.operator, found.right, expr, found.right_span, scope)
        row.add(plan.Record(sentence.at, name, observed, found.operator, expected), sentence)
        return
    observed = observe(row, expr, scope)
    if observed is None:
        raise nothing_observed(expr, scope, expr.span)
    row.add(plan.Record(sentence.at, name, observed), sentence)


RECORD = Statement(
    step=plan.Record,
    shapes=(
        Shape(
            "record",
            "record room = k.max_entries",
            Slot("a name for the report"),
            value=Slot("something observed"),
        ),
    ),
    lower=_record,
    check=None,
    effect=None,
)
