"""Values that depend on an outcome which a case leaves open: `accepted or rejected …`, or lists that differ in it.

After such a statement nothing is judged that is one thing if it is accepted and another if it is refused: what it
writes, what its label shows, what a check of its key reports, and whatever is made of these. Such bytes may be opened
(`any`), be one of several with what was there before (`in [x, unchanged]`), be taken (`let now = m`) or recorded.

Bytes are the ledger's (`BufferContents.doubts`), keys the abstract state's
(`AbstractMkey.unknown`); the rest is in this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import NamedTuple

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.buffer_contents import BufferContents, Doubt
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.values import Handle, Moment
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Part
from mkeyspec.value.live import ENCODINGS, Live, LiveOp, LiveString, called, is_known, place_of

CODE = "MKS0514"
WHY = "this may be accepted or refused"


class Undecided(NamedTuple):
    """The open outcomes of one row; replaced, never changed.

    `labels`: members of a label that are there whichever outcome comes, and the statement. `keys`: with a signature
    that a transfer may have used, or a check read, or not. `qps`: posted to, so that an event may come, or not.
    `polls`: ends of QPs with completions that no statement had waited for, which a refusal has judged.
    """

    labels: tuple[tuple[str, tuple[str, ...], Span], ...] = ()
    keys: tuple[tuple[str, Span], ...] = ()
    qps: tuple[tuple[str | None, Span], ...] = ()
    polls: tuple[tuple[str | None, bool, Span], ...] = ()

    def label(self, name: str) -> tuple[tuple[str, ...], Span] | None:
        return next(((members, span) for label, members, span in self.labels if label == name), None)

    def with_labels(self, names: Iterable[str | None], members: tuple[str, ...], span: Span) -> Undecided:
        added = tuple((name, members, span) for name in names if name is not None)
        return self._replace(labels=(*self.labels, *added)) if added else self

    def with_keys(self, names: Iterable[str], span: Span) -> Undecided:
        added = tuple((name, span) for name in dict.fromkeys(names))
        return self._replace(keys=(*self.keys, *added)) if added else self

    def without_key(self, name: str, by: Span | None = None) -> Undecided:
        """Nothing of the key is open; `by`: no more by that statement."""
        left = tuple(one for one in self.keys if one[0] != name or by not in (None, one[1]))
        return self._replace(keys=left) if self.keys else self


NOTHING = Undecided()


# Claims --------------------------------------------------------------------------------------


def members_shown(claim: plan.Claim) -> tuple[str, ...] | None:
    """The members that a label shows whichever outcome of the claim comes; None: all that it ever shows."""
    phases = {item.phase for item in plan.rejections(claim)}
    if not phases or (len(phases) == 1 and plan.is_rejected(claim)):
        return ("errno", "status") if plan.is_undecided(claim) else None
    return ("errno", "status") if phases == {"completion"} else ("errno",)


# Uses ----------------------------------------------------------------------------------------


def record_step(undecided: Undecided, step: plan.Step, span: Span) -> None:
    """Raises `Fault` where a step other than `expect` or `record` takes a number that is not there in each outcome."""
    if not undecided.labels or isinstance(step, (plan.Record, plan.Expect)):
        return
    for live in lives(step):
        if (found := undecided.label(live.subject)) is not None and live.member not in found[0]:
            raise _member(live, found[1], span)


def record_expectation(undecided: Undecided, ledger: BufferContents, step: plan.Expect, span: Span) -> None:
    """Raises `Fault` where what an expectation judges depends on an outcome that is left open."""
    known = step.known.value if step.known is not None else None
    if plan.is_bytes(step.observed):
        _look_bytes(ledger, step, known, span)
        return
    for live in lives((step.observed, step.expected, known)) if ledger.doubts else ():
        if (doubt := _doubt_of(ledger, live)) is not None:
            raise fault(
                CODE,
                f"`{called(live)}` depends on an outcome that the case leaves open",
                span,
                notes=(Note(WHY, doubt.by),),
            )
    if undecided.labels and not plan.is_any(step.expected):
        for live in lives((step.observed, step.expected, known)):
            if (found := undecided.label(live.subject)) is not None and live.member not in found[0]:
                raise _member(live, found[1], span)


def _doubt_of(ledger: BufferContents, live: Live) -> Doubt | None:
    """Why the bytes that a live number is read from, or was read from at its `let`, are not known."""
    found = place_of(live)
    if found is None:
        return None
    name = live.subject
    if name.startswith("="):
        return _at(ledger.saved[name[1:]])
    if name.startswith("@"):
        name = ledger.wires[name[1:] or None].buffer
    return ledger.doubtful([(name, found[1], ENCODINGS[found[0]])])


def is_open_error(undecided: Undecided, mkey: str) -> bool:
    """Whether a statement whose outcome is left open decides what a check of the mkey finds."""
    return any(key == mkey for key, _ in undecided.keys)


def record_check(undecided: Undecided, step: plan.Check, of: Span | None, span: Span) -> None:
    """Raises `Fault` where a check names an error that is there in one outcome only. `of`: the statement whose outcome
    it is of."""
    by = next((by for key, by in undecided.keys if key == step.mkey and by != of), None)
    if by is not None and "ok" not in step.kind:
        raise fault(
            CODE,
            f"whether `{step.mkey}` has an error depends on an outcome that the case leaves open",
            span,
            notes=(Note(WHY, by),),
            help=f"`check {step.mkey} is {_either(step.kind)} when accepted t`, and label that statement t; "
            f"or `is [ok, {', '.join(step.kind)}]`, which takes both in each outcome",
        )


def _either(kinds: tuple[str, ...]) -> str:
    return kinds[0] if len(kinds) == 1 else f"[{', '.join(kinds)}]"


def record_await(undecided: Undecided, step: plan.Await, span: Span) -> None:
    by = next((by for qp, by in undecided.qps if qp == step.qp), None)
    if by is not None:
        message = "whether this event comes depends on an outcome that the case leaves open"
        raise fault(CODE, message, span, notes=(Note(WHY, by),), help="use another qp, or claim one outcome")


def _member(live: Live, by: Span, span: Span) -> Fault:
    return fault(
        CODE,
        f"`{live.subject}.{live.member}` is not there in each outcome that the case leaves open",
        span,
        notes=(Note(WHY, by),),
        help=f"record {live.member} = {live.subject}.{live.member}",
    )


def _look_bytes(ledger: BufferContents, step: plan.Expect, known: plan.Expected | None, span: Span) -> None:
    segments = segments_of(ledger, step.observed)
    for wanted in (step.expected,) if known is None else (step.expected, known):
        alternatives = plan.alternatives_of(wanted)
        opened = plan.Unchanged() in alternatives and len(alternatives) > 1
        if step.operator == "==" and (opened or any(plan.is_any(one) for one in alternatives)):
            continue
        for one in alternatives:
            _look_pattern(ledger, step, one, segments, span)


def _look_pattern(
    ledger: BufferContents, step: plan.Expect, wanted: plan.Expected, segments: list[Segment], span: Span
) -> None:
    at = 0
    total = sum(size for _, _, size in segments)
    items = plan.items_of(wanted)
    fixed = sum(getattr(item, "length", None) or 0 for item in items)
    for item in items:
        length = getattr(item, "length", None)
        size = total - fixed if length is None else length
        doubt = ledger.doubtful(_window(segments, at, size))
        taken = taken_by(ledger, item)
        at += size
        if plan.is_any(item) or (doubt is None) == (taken is None):
            continue
        found = doubt or taken
        assert found is not None
        raise fault(
            CODE,
            "what is judged here depends on an outcome that the case leaves open",
            span,
            notes=(Note(WHY, found.by),),
            help="`== any`, and `record` it; or `in [x, unchanged]`, with what is there in each outcome",
        )


def _window(segments: list[Segment], start: int, length: int) -> list[Segment]:
    found = []
    for name, first, size in segments:
        low, high = max(start, 0), min(start + length, size)
        if low < high:
            found.append((name, first + low, high - low))
        start -= size
    return found


def segments_of(ledger: BufferContents, observed: plan.Observed) -> list[Segment]:
    """The bytes that an expectation looks at; a wire is a buffer of the ledger's."""
    match observed:
        case plan.Wire(length, start, label):
            return [(ledger.wires[label].buffer, start, length)]
        case plan.Content(parts):
            return [(part.name, *bounds) for part in parts if (bounds := part.bounds()) is not None]
        case Live() | LiveOp():
            return []
        case _:
            assert_never(observed)


def taken_by(ledger: BufferContents, item: plan.Expected) -> Doubt | None:
    """Of bytes that a `let` has taken: the outcome that they depended on there."""
    for name in plan.snapshots_in(item):
        moment = ledger.saved.get(name)
        found = None if moment is None else _at(moment)
        if found is not None:
            return found
    return None


def _at(moment: Moment) -> Doubt | None:
    ledger = moment.ledger
    try:
        return ledger.doubtful(ledger.segments_of(moment.place, moment.span))
    except Fault:
        return None


def stored(ledger: BufferContents, data: ByteString | LiveString) -> Doubt | None:
    """The outcome that the bytes of a `store` depend on."""
    return taken_by(ledger, data)


def lives(thing: object) -> Iterator[Live]:
    """Every live number in a step, or in a part of one."""
    match thing:
        case Live():
            yield thing
        case tuple():
            for item in thing:
                yield from lives(item)
        case _ if is_dataclass(thing):
            for field in fields(thing):
                yield from lives(getattr(thing, field.name))
        case _:
            pass  # it has no parts


# What a statement that is left open does to the rest ------------------------------------------


def left_open(waiting: Iterable[bool], span: Span) -> None:
    """Raises `Fault` where receives wait that no message of this statement meets: an error completion, which the case
    leaves open, would flush them. `waiting`: the ends where they wait, True of the peer's."""
    for peer in waiting:
        raise fault(
            CODE,
            f"a receive still waits at the {'peer' if peer else 'owner'}, and is flushed if this fails",
            span,
            help="post it after this, or let its message come first, or use another qp",
        )


def record_poll(undecided: Undecided, step: plan.Poll, span: Span) -> None:
    """Raises `Fault` where a list is held against completions that a refusal would have had judged before."""
    by = next((by for qp, peer, by in undecided.polls if (qp, peer) == (step.qp, step.peer)), None)
    if by is not None and step.claim:
        message = "which completions are left here depends on an outcome that the case leaves open"
        raise fault(CODE, message, span, notes=(Note(WHY, by),), help="poll before it, or use another qp")


def names_of(step: plan.Step) -> Iterator[str]:
    """The buffers and mkeys that the data requests of a step name."""
    return (end.part.name for end in step.ends())


def reached(ledger: BufferContents, part: Part, span: Span) -> list[Segment]:
    """The bytes that a request may read from `part`: of an mkey whose offsets count otherwise, all of it."""
    length = part.length if is_known(part.length) else None
    key = ledger.mkeys.mkey(part.name)
    if key is not None and key.layout is None:
        return []
    try:
        return ledger.targets(part, length, span)
    except Fault:
        return ledger.segments(Handle("mkey", part.name), span)
