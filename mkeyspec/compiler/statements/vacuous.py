"""Warnings about expectations that no device can fail, and about what no statement checks."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.undecided import segments_of
from mkeyspec.compiler.eval.values import Handle, WireRef, is_known_bytes
from mkeyspec.compiler.statements import echoes
from mkeyspec.compiler.statements.already_there import MOST_COMPARED, already_there, covers, looked_at, same
from mkeyspec.compiler.statements.constant_expectations import CANNOT_FAIL, CANNOT_HOLD, fixed_number
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment, window
from mkeyspec.value.bytestring import ByteString, join, slice_of
from mkeyspec.value.layout import Part
from mkeyspec.value.live import ENCODINGS, Live, LiveContent, LiveJoin, pieces_of, place_of
from mkeyspec.value.regions import Regions

# Expectations ------------------------------------------------------------------------------------


def check_expectation(row: RowState, step: plan.Expect, span: Span) -> None:
    """Whether what an expectation says depends on the device, before the ledger learns from it."""
    observed, operator, expected = step.observed, step.operator, step.expected
    if plan.is_bytes(observed):
        fixed = _fixed_bytes(observed, operator, expected) or _as_it_was(row, observed, operator, expected)
        if fixed is None:
            echoes.note_bytes(row, step, span)
        if fixed is None and operator == "!=" and not plan.snapshots_in(expected):
            echoes.anything_else(row.diagnostics, expected, span)
    else:
        fixed = fixed_number(observed, operator, expected) or _own_number(row, observed, operator, expected)
        fixed = fixed or _success(row, observed, operator, expected)
        if fixed is None:
            echoes.note_number(row, step, span)
            echoes.any_other(row.diagnostics, step, span)
    if fixed is not None:
        row.diagnostics.warning("MKS0612", f"this expectation {fixed[0]}: {fixed[1]}", span)
    elif plan.is_content(observed) and operator == "==" and not _doubtful(row, observed):
        already_there(row, observed, expected, span)
    if plan.is_content(observed) and (step.branch is None or step.branch.accepted):
        looked_at(row, observed)


def _doubtful(row: RowState, observed: plan.Content) -> bool:
    """Whether a refusal that the case leaves open has these bytes stay as they were."""
    return bool(row.ledger.doubts) and row.ledger.doubtful(segments_of(row.ledger, observed)) is not None


def _fixed_bytes(observed: plan.Content | plan.Wire, operator: str, expected: plan.Expected) -> tuple[str, str] | None:
    """What an expectation of bytes does on every device, and why; None if the device decides."""
    always, never = (CANNOT_FAIL, CANNOT_HOLD) if operator == "==" else (CANNOT_HOLD, CANNOT_FAIL)
    if _length(observed) == 0:
        return always, "no byte is looked at"
    if plan.is_content(observed) and _contradicts_itself(observed, expected):
        return never, "the same byte is looked at twice, and is to be two things"
    match expected:
        case plan.OneOf(()):
            return never, "the list is empty"
        case plan.OneOf(alternatives) if any(plan.takes_all(one) for one in alternatives):
            return always, "one of the alternatives is `any`"
        case _ if operator == "!=" and plan.takes_all(expected):
            return always, "`any` is all there is"
        case _:
            return None


def _contradicts_itself(observed: plan.Content, expected: plan.Expected) -> bool:
    """Whether the layout leads to some byte twice, and it should be something else each time."""
    alternatives = plan.alternatives_of(expected)
    names = [part.name for part in observed.parts]
    if len(set(names)) == len(names) or not alternatives:
        return False
    return all(is_known_bytes(one) and _two_things(observed.parts, one) for one in alternatives)


def _two_things(parts: tuple[Part, ...], wanted: ByteString) -> bool:
    if wanted.length > MOST_COMPARED:
        return False
    segments: list[Segment] = []
    for part in parts:
        bounds = part.bounds()
        if bounds is None:
            return False
        segments.append((part.name, *bounds))
    for one, other in Regions.of(segments).twice():
        low, high = max(one.start, other.start), min(one.end, other.end)
        first = slice_of(wanted, one.at + low - one.start, high - low)
        if not same(first, slice_of(wanted, other.at + low - other.start, high - low)):
            return True
    return False


def _as_it_was(
    row: RowState, observed: plan.Content | plan.Wire, operator: str, expected: plan.Expected
) -> tuple[str, str] | None:
    """The same bytes on both sides, or as one of the alternatives: what is there, before anything could change it."""
    alternatives = plan.alternatives_of(expected)
    for one in alternatives:
        why = _why_as_it_was(row, observed, one)
        if why:
            several = "" if one is expected else "one of the alternatives is what is there: "
            return (CANNOT_FAIL if operator == "==" else CANNOT_HOLD), several + why
    return None


def _why_as_it_was(row: RowState, observed: plan.Content | plan.Wire, one: plan.Expected) -> str:
    match observed, one:
        case plan.Content(), plan.Unchanged() if _untouched(row, observed):
            return "nothing has been done since these bytes were last looked at"
        case plan.Content(), ByteString() if _untouched(row, observed):
            there = _there(row, observed)
            return (
                "nothing has been moved since these bytes were given" if there is not None and same(there, one) else ""
            )
        case _, (LiveContent() | LiveJoin()) if _own_snapshot(row, observed, one):
            return "both sides are the same"
        case _:
            return ""


def _own_snapshot(row: RowState, observed: plan.Content | plan.Wire, expected: LiveContent | LiveJoin) -> bool:
    """A snapshot of this wire, or of this place with nothing done since; whole, or put together of its parts."""
    at = 0
    for piece in pieces_of(expected):
        if piece.length == 0:
            continue
        if not isinstance(piece, LiveContent):
            return False
        moment = row.ledger.saved[piece.name]
        place, wires = moment.place, row.ledger.wires
        match observed, place:
            case plan.Wire(_, start, label), WireRef():
                if wires.get(place.label) is not wires.get(label) or place.start + piece.start != start + at:
                    return False
            case plan.Content(), (Part() | Handle()):
                taken = window(moment.ledger.segments(place, moment.span), piece.start, piece.length)
                if window(segments_of(row.ledger, observed), at, piece.length) != taken:
                    return False
                if any(isinstance(step, _CHANGING) for step in row.steps[moment.position :]):
                    return False
            case _:
                return False
        at += piece.length
    return True


def _own_number(
    row: RowState, observed: plan.Observed, operator: str, expected: plan.Expected
) -> tuple[str, str] | None:
    """A number of bytes, and the same number as a `let` has taken it, with nothing done since."""
    match observed, expected:
        case Live(subject), Live(taken) if taken[:1] == "=" and subject[:1] != "=":
            mine, other = place_of(observed), place_of(expected)
            if mine is None or other is None or mine[0] != other[0]:
                return None
            start, size = mine[1], ENCODINGS[mine[0]]
            there: plan.Content | plan.Wire = plan.Content((Part(subject, start, size),))
            if subject[:1] == "@":
                there = plan.Wire(size, start, subject[1:] or None)
            if not _own_snapshot(row, there, LiveContent(taken[1:], size, other[1])):
                return None
            return (CANNOT_FAIL if operator in ("==", "<=", ">=") else CANNOT_HOLD), "both sides are the same"
        case _:
            return None


_SUCCESS: dict[str, plan.Expected] = {"status": "success", "errno": 0}


def _success(row: RowState, observed: plan.Observed, operator: str, expected: plan.Expected) -> tuple[str, str] | None:
    """A status or an errno of a statement that claims nothing: another one than that of success has ended the case.
    That it is the one of success may be said."""
    match observed:
        case Live(label, ("status" | "errno") as member):
            wanted = _SUCCESS[member]
        case _:
            return None
    if expected == wanted and operator == "==":
        return None
    step = next((one for one in reversed(row.steps) if getattr(one, "label", None) == label), None)
    match step:
        case plan.Transmit(claim=(), known=None) | plan.Receive(claim=(), known=None):
            pass  # both are waited for
        case plan.Post(claim=(), known=None, wait=True, abort=False):
            pass  # and so is this
        case _:
            return None
    match expected:
        case plan.OneOf(alternatives):
            pass
        case _:
            alternatives = (expected,)
    for one in alternatives:
        match one:
            case str() | int():
                pass
            case _:
                return None  # the device's own
    holds = (wanted in alternatives) == (operator == "==")
    return (CANNOT_FAIL if holds else CANNOT_HOLD), f"`{label}` has succeeded, or the case has ended"


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
    match step:
        case plan.Post(claim=(), known=None, abort=False):
            return len(plan.configuring(step.requests)) == len(step.requests)
        case _:
            return False


def _there(row: RowState, observed: plan.Content) -> ByteString | None:
    """The bytes that should be there; None where they are not known."""
    try:
        return join([row.ledger.content(part, row.case.span) for part in observed.parts])
    except Fault:
        return None


_CHANGING = (plan.Post, plan.Transmit, plan.Receive, plan.Store)
"""Steps after which memories may hold something else."""
_GOING_ON = (*_CHANGING, plan.Check, plan.Await, plan.Poll, plan.Cancel, plan.Resume)
"""Those, and steps that wait for what was posted before."""


def _length(observed: plan.Content | plan.Wire) -> int | None:
    return plan.known_total(observed.parts) if plan.is_content(observed) else observed.length


# What no statement checks ----------------------------------------------------------------------------


def check_finished(row: RowState) -> None:
    """At the end of a row: what was moved, onto the wire or into memory, and no statement has looked at since.

    Memory that changed and is not named fails by the closing rule. It does not change where the same bytes were there.
    """
    echoes.look(row)
    for moved in row.moved:
        row.held.warning(
            "MKS0616", "no statement checks what this moves", moved.span, help="add an `expect` of these bytes after it"
        )
    for unseen in row.ledger.unseen.values():
        row.held.warning(
            "MKS0616",
            "no statement checks "
            + ("" if unseen.whole else f"bytes {', '.join(f'{a}..{b}' for a, b in unseen.ranges)} of ")
            + "what this puts on the wire",
            unseen.span,
            help="expect wire == …",
        )


def check_poll(row: RowState, step: plan.Poll, span: Span) -> None:
    """A `poll` without a list, when no request is under way whose completion it could wait for; or with one that names
    more successes than are under way."""
    queue = step.queue()
    pending = row.state.end(queue).pending
    if not step.claim and step.known is None and not pending:
        row.diagnostics.warning(
            "MKS0615",
            "nothing is due here: no request before this has a completion that was not waited for",
            span,
            help="poll completes { … } says which completions there are; `post, nowait { … }` leaves some open",
        )
    elif step.claim and step.known is None and not _is_unsure(row, step):
        listed = [sum(entry.opcode != plan.ERROR for entry in entries) for entries in plan.lists(step.claim)]
        if min(listed, default=0) > pending:
            row.diagnostics.warning(
                "MKS0615",
                f"successful completions: the list has {min(listed)}, and {pending} can be due here. A statement "
                "waits for those of its own requests and of the receives that these meet",
                span,
                help="send the message with `post, nowait { … }`, and poll for both; or leave the list out",
            )
    row.state.ends[queue] = row.state.end(queue)._replace(pending=0)


def _is_unsure(row: RowState, step: plan.Poll) -> bool:
    """Whether the completions that may come are not known: of a queue that several QPs share, or that a raw WQE or a
    `cancel` has a part in."""
    qp = row.state.qp(step.qp)
    raw = any(one.word == plan.RawWqe.word for each in row.steps for one in getattr(each, "requests", ()))
    return raw or qp.type == "dci" or qp.sig_pipelining
