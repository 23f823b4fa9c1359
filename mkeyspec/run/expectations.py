"""Expectations: compares what is there with what the case says, byte for byte.

An expectation that matched sets the expected value of its bytes from then on. One that failed sets it to the bytes
found, so that one fault is reported once (docs/design/language.md, values).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Union

import numpy as np
from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.run import byte_failure, difference, likeness, observe
from mkeyspec.run.buffer import Bytes
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.observe import Seen
from mkeyspec.run.outcomes import show
from mkeyspec.run.verdict import Failure
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Live, LiveBytes, LiveContent, LiveJoin, LiveOp, called, evaluate

Scalar = Union[int, str]

MOST_ALTERNATIVES = 16
"""Alternatives that a message names one by one; of more, these, their number and the last."""

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Bytes with holes: [start, end) where any byte is allowed. `data` None: any bytes."""

    data: bytes | None
    holes: tuple[tuple[int, int], ...] = ()
    parts: tuple[tuple[int, int, ByteString], ...] = ()
    """(start, length, expression) of the known bytes, for reasons."""

    def matches(self, got: bytes) -> bool:
        if self.data is None:
            return True
        if not self.holes:
            return got == self.data
        if len(got) != len(self.data):
            return False
        at = 0
        for start, end in self.holes:
            if got[at:start] != self.data[at:start]:
                return False
            at = end
        return got[at:] == self.data[at:]

    def reason(self, i: int) -> tuple[str, ...]:
        for start, length, value in self.parts:
            if start <= i < start + length:
                return value.explain(i - start)
        return ()

    @property
    def whole(self) -> ByteString | None:
        """The one expression of all bytes, if there is one."""
        if len(self.parts) == 1 and not self.holes and self.data is not None and self.parts[0][1] == len(self.data):
            return self.parts[0][2]
        return None


def compare(state: CaseState, step: plan.Expect, seen: Seen | None = None) -> tuple[Failure | None, bool]:
    """The failure of an expectation, if it fails, and then whether the known departure's value was found. `seen`: its
    bytes, if they have been looked at (`there`)."""
    observed = step.observed
    known = step.known.value if step.known is not None else None
    if plan.is_bytes(observed):
        seen = look(state, observed) if seen is None else seen
        failure = _bytes(state, step, seen)
        if failure is None:
            return None, known is not None and step.operator == "==" and _is(state, seen, known)
        stated = known is not None and _is(state, seen, known)
        seen.believe(seen.data)
        return failure, stated
    value = scalar(state, observed)
    held = compare_scalars(state, value, step.operator, step.expected)
    live = observed if isinstance(observed, Live) else None
    if live is not None and not held:
        state.wrong_numbers.pop((live.subject, live.member), None)  # this failure reports it
    stated = known is not None and compare_scalars(state, value, "==", known)
    if held:
        return None, known is not None and stated
    name = called(live) if live is not None else "the value"
    wanted = expected_text(state, step.expected)
    details = (("expected", f"{step.operator} {wanted}"), ("got", show(value)))
    return Failure("MKS2105", step.at, f"{name} is {value}, not {step.operator} {wanted}", details), stated


def look(state: CaseState, observed: plan.Content | plan.Wire) -> Seen:
    match observed:
        case plan.Wire():
            return observe.wire(state, observed)
        case plan.Content():
            return observe.content(state, observed)
        case _:
            assert_never(observed)


def there(state: CaseState, step: plan.Step) -> Seen | None:
    """The bytes, if a statement says bytes and they are there: whatever comes later, they can't be waited for. The
    statement is about these: bytes that are on their way may change them before another look."""
    match step:
        case plan.Expect(operator="==", expected=ByteString() | LiveBytes() | LiveContent() | LiveJoin()):
            seen = look(state, step.observed) if plan.is_bytes(step.observed) else None
            return seen if seen is not None and _is(state, seen, step.expected) else None
        case _:
            return None


def holds(state: CaseState, step: plan.Record) -> bool:
    """The result of a record's comparison; changes nothing."""
    assert step.operator is not None
    assert step.expected is not None
    if plan.is_bytes(step.observed):
        seen = look(state, step.observed)
        return _is(state, seen, step.expected) == (step.operator == "==")
    return compare_scalars(state, scalar(state, step.observed), step.operator, step.expected)


# Bytes ---------------------------------------------------------------------------------------


def _is(state: CaseState, seen: Seen, expected: plan.Expected) -> bool:
    got = seen.data.tobytes()
    return any(pattern.matches(got) for pattern in patterns(state, expected, seen))


def patterns(state: CaseState, expected: plan.Expected, seen: Seen) -> list[Pattern]:
    """Every byte pattern that `expected` allows for what was seen."""
    match expected:
        case ByteString():
            return [Pattern(expected.data, (), ((0, expected.length, expected),))]
        case plan.Any(size):
            return [Pattern(None)] if size is None or size == len(seen.data) else [Pattern(bytes(size), ((0, size),))]
        case plan.Masked():
            return [Pattern(expected.filled(seen.data.tobytes()))]
        case plan.Unchanged():
            return [Pattern(seen.expected().tobytes())]
        case plan.OneOf():
            return [pattern for item in expected.alternatives for pattern in patterns(state, item, seen)]
        case plan.Sequence():
            return [_sequence(expected, seen.data.tobytes())]
        case LiveBytes() | LiveContent() | LiveJoin():
            return [Pattern(evaluate(expected, state.read))]
        case int() | str() | Live() | LiveOp():
            raise TypeError(f"bytes are not compared with {expected!r}")
        case _:
            assert_never(expected)


def _sequence(expected: plan.Sequence, got: bytes) -> Pattern:
    fixed = sum(item.length or 0 for item in expected.items)
    data: list[bytes] = []
    holes: list[tuple[int, int]] = []
    parts: list[tuple[int, int, ByteString]] = []
    at = 0
    for item in expected.items:
        if plan.is_any(item):
            size = len(got) - fixed if item.length is None else item.length
            holes.append((at, at + size))
            data.append(bytes(size))
        elif plan.is_masked(item):
            size = item.length
            data.append(item.filled(got[at : at + size]))
        else:
            size = item.length
            parts.append((at, size, item))
            data.append(item.data)
        at += size
    return Pattern(b"".join(data), tuple(holes), tuple(parts))


def _bytes(state: CaseState, step: plan.Expect, seen: Seen) -> Failure | None:
    expected: plan.Expected = step.expected
    data, accepted, refused = seen.data, False, False
    if step.operator == "==" and isinstance(expected, ByteString):
        want = expected.data
        if data.tobytes() == want:
            seen.believe(data, expected)
            return None
        admitted = [Pattern(want, (), ((0, expected.length, expected),))]
    else:
        got = data.tobytes()
        accepted = step.writer is not None and step.writer in state.accepted
        if accepted:
            left = tuple(one for one in plan.alternatives_of(expected) if one != plan.Unchanged())
            expected = plan.OneOf(left)
        elif step.writer in state.not_posted and plan.Unchanged() in plan.alternatives_of(expected):
            refused, expected = True, plan.Unchanged()
        admitted = patterns(state, expected, seen)
        found = next((pattern for pattern in admitted if pattern.matches(got)), None)
        if (found is not None) == (step.operator == "=="):
            seen.believe(data, found.whole if found is not None else None)
            return None
    code = "MKS2101" if seen.wire is not None else "MKS2102"
    if step.operator == "!=":
        message = f"{seen.name} holds exactly the bytes that it must not hold"
        return Failure(code, step.at, message, (*_taken(state, expected), ("bytes", f"all {len(data)} are equal")))
    failure = likeness.of_bytes(state, different(state, code, step.at, seen, admitted), seen, admitted)
    failure = replace(failure, details=(*_taken(state, expected), *failure.details))
    if accepted:
        assert step.writer is not None
        why = f"the transfer at {step.writer} was accepted: `unchanged` is none of them"
        failure = replace(failure, details=(*failure.details, ("outcome", why)))
    if refused:
        why = f"the transfer at {step.writer} was refused before it was posted: only `unchanged` is left"
        failure = replace(failure, details=(*failure.details, ("outcome", why)))
    return failure


def _taken(state: CaseState, expected: plan.Expected) -> Iterator[tuple[str, str]]:
    """What the bytes were compared with that the case itself does not know."""
    names = plan.snapshots_in(expected)
    for step in state.taken if names else ():
        match step:
            case plan.Snapshot(at, name) if name in names:
                yield "against", f"{plan.place_taken(name)}, taken at {at}"
            case _:
                pass  # it takes nothing, or something else


def different(state: CaseState, code: str, at: plan.At, seen: Seen, admitted: list[Pattern]) -> Failure:
    """The failure of bytes that match none of the patterns, described against the nearest one."""
    best: tuple[int, Pattern, Bytes] | None = None
    for pattern in admitted:
        if pattern.data is None or len(pattern.data) != len(seen.data):
            continue
        want = np.frombuffer(pattern.data, np.uint8)
        count = len(difference.positions(want, seen.data, list(pattern.holes)))
        if best is None or count < best[0]:
            best = (count, pattern, want)
    if best is None:
        lengths = " or ".join(str(len(pattern.data)) for pattern in admitted if pattern.data is not None)
        message = f"{seen.name} has {len(seen.data)} bytes, compared with {lengths}"
        return Failure(code, at, message)
    _, pattern, want = best
    failure = byte_failure.of(state, code, at, seen, byte_failure.Wanted(want, pattern.reason, pattern.holes))
    if len(admitted) > 1:
        of = ("of", f"{len(admitted)} alternatives, none matches; this is the nearest")
        failure = replace(failure, details=(of, *failure.details))
    return failure


# Scalars -------------------------------------------------------------------------------------


def scalar(state: CaseState, value: object) -> Scalar:
    """A live scalar, or a known one."""
    match value:
        case Live():
            return state.scalar(value.subject, value.member)
        case LiveOp():
            return state.evaluate(value)
        case bool():
            return int(value)
        case int() | str():
            return value
        case _:
            raise TypeError(f"{value!r} is not a scalar")


def compare_scalars(state: CaseState, value: Scalar, operator: str, expected: plan.Expected) -> bool:
    match expected:
        case plan.OneOf(alternatives):
            return any(compare_scalars(state, value, "==", item) for item in alternatives) == (operator == "==")
        case plan.Any():
            return operator == "=="
        case _:
            wanted = scalar(state, expected)
    if operator in ("==", "!="):
        equal = value == wanted or (isinstance(wanted, str) and value in STATUS_CLASS.get(wanted, ()))
        return equal == (operator == "==")
    if isinstance(value, int) and isinstance(wanted, int):
        return _COMPARE[operator](value, wanted)
    return False


def expected_text(state: CaseState, expected: plan.Expected) -> str:
    match expected:
        case plan.OneOf(alternatives):
            told = [expected_text(state, item) for item in alternatives[:MOST_ALTERNATIVES]]
            if (left := len(alternatives) - len(told)) > 0:
                told.append(f"… ({left} more), {expected_text(state, alternatives[-1])}")
            return "one of " + ", ".join(told)
        case plan.Any():
            return "anything"
        case _:
            return show(scalar(state, expected))
