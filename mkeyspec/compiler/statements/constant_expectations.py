"""Expectations of numbers that come out the same on every device: `k.max_entries * 0 == 0`, `k.max_entries + 1 > 0`."""

from __future__ import annotations

from random import Random

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.values import is_live
from mkeyspec.value.live import MEMBER_TYPES, Int, Live, LiveOp, NoValue, bits_of, evaluate, lives_in, width

CANNOT_FAIL, CANNOT_HOLD = "cannot fail", "cannot hold"

TRIES = 12
"""How many devices are made up: the smallest numbers, the largest, and some between."""
LEAST = 4
"""On so many of them it must have a value."""


def fixed_number(observed: plan.Observed, operator: str, expected: plan.Expected) -> tuple[str, str] | None:
    """What an expectation of a number does on every device, and why; None if the device decides."""
    if isinstance(expected, plan.OneOf):
        return _one_of(observed, operator, expected)
    if observed == expected:
        return (CANNOT_FAIL if operator in ("==", "<=", ">=") else CANNOT_HOLD), "both sides are the same"
    if not is_live(observed) or not isinstance(expected, (int, Live, LiveOp)):
        return None
    computed = isinstance(observed, LiveOp)
    if computed or isinstance(expected, LiveOp):
        between = constant(LiveOp("-", (observed, expected)))
        if between is not None:
            return (CANNOT_FAIL if _holds(operator, between, 0) else CANNOT_HOLD), "what the device says cancels out"
    mine, other = bounds(observed), bounds(expected)
    if mine is None or other is None:
        return None
    ends = [(low, high) for low in mine for high in other]
    outcomes = {_holds(operator, low, high) for low, high in ends}
    apart = mine[1] < other[0] or other[1] < mine[0]
    if len(outcomes) > 1 or (operator in ("==", "!=") and not apart):
        return None
    bits = "the number is" if computed else f"the number has {width(observed)} bits, it is"
    return (CANNOT_FAIL if outcomes == {True} else CANNOT_HOLD), f"{bits} from {mine[0]} to {mine[1]}"


def _one_of(observed: plan.Observed, operator: str, expected: plan.OneOf) -> tuple[str, str] | None:
    always, never = (CANNOT_FAIL, CANNOT_HOLD) if operator == "==" else (CANNOT_HOLD, CANNOT_FAIL)
    if not expected.alternatives:
        return never, "the list is empty"
    if observed in expected.alternatives:
        return always, "one of the alternatives equals the other side"
    mine = bounds(observed) if is_live(observed) else None
    known = {one for one in expected.alternatives if isinstance(one, int)}
    if mine is not None and mine[1] - mine[0] < len(known) and all(n in known for n in range(mine[0], mine[1] + 1)):
        return always, f"the list has every number from {mine[0]} to {mine[1]}"
    return None


def _holds(operator: str, a: int, b: int) -> bool:
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def bounds(value: Int) -> tuple[int, int] | None:
    """The least and the largest number that `value` may be, or a wider range; None if that is unknown."""
    match value:
        case int():
            return value, value
        case Live():
            return None if value.member in MEMBER_TYPES else (0, (1 << bits_of(value)) - 1)
        case LiveOp():
            return _bounds_of_result(value)
        case _:
            assert_never(value)


def _bounds_of_result(value: LiveOp) -> tuple[int, int] | None:
    parts = [bounds(argument) for argument in value.args]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    (a, b), (c, d) = parts[0], parts[1]
    if value.operator == "+":
        return a + c, b + d
    if value.operator == "-":
        return a - d, b - c
    if a < 0 or c < 0:
        return None
    if value.operator == "*":
        return a * c, b * d
    if value.operator == "&":
        return 0, min(b, d)
    if value.operator == "/" and c > 0:
        return a // d, b // c
    if value.operator == "%" and c > 0:
        return 0, d - 1
    return None


def constant(value: LiveOp) -> int | None:
    """The number that `value` is on any device; None if that depends on the device."""
    lives = list(dict.fromkeys(lives_in(value)))
    if any(live.member in MEMBER_TYPES for live in lives):
        return None
    found: list[int] = []
    for turn in range(TRIES):
        made = zip(lives, _numbers(lives, turn), strict=True)
        numbers = {(live.subject, live.member): number for live, number in made}
        try:
            found.append(evaluate(value, lambda subject, member, numbers=numbers: numbers[subject, member]))  # type: ignore[misc]
        except NoValue:
            continue
    return found[0] if len(found) >= LEAST and len(set(found)) == 1 else None


def _numbers(lives: list[Live], turn: int) -> list[int]:
    """Numbers of their widths, each turn others, and not the same for all of them."""
    random = Random(turn)
    masks = [(1 << bits_of(live)) - 1 for live in lives]
    if turn < 4:
        return [(turn + 3 * place) & mask for place, mask in enumerate(masks)]
    if turn < 6:
        return [mask - (turn - 4) * place for place, mask in enumerate(masks)]
    return [random.randint(0, mask) for mask in masks]
