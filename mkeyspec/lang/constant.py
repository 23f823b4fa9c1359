"""Whether arithmetic on the device's numbers is a number that does not depend on them: `k.max_entries * 0`."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from mkeyspec.value.live import MEMBER_TYPES, WIDTHS, Int, Live, LiveOp, NoValue, evaluate

TRIES = 12
"""How many devices are made up: the smallest numbers, the largest, and some between."""
LEAST = 4
"""On so many of them it must have a value."""


def constant(value: LiveOp) -> int | None:
    """The number that `value` is on any device; None if that depends on the device."""
    lives = list(dict.fromkeys(_lives(value)))
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


def _lives(value: Int) -> Iterator[Live]:
    if isinstance(value, Live):
        yield value
    elif isinstance(value, LiveOp):
        for argument in value.args:
            yield from _lives(argument)


def _numbers(lives: list[Live], turn: int) -> list[int]:
    """Numbers of their widths, each turn others, and not the same for all of them."""
    random = Random(turn)
    masks = [(1 << WIDTHS.get(live.member, 32)) - 1 for live in lives]
    if turn < 4:
        return [(turn + 3 * place) & mask for place, mask in enumerate(masks)]
    if turn < 6:
        return [mask - (turn - 4) * place for place, mask in enumerate(masks)]
    return [random.randint(0, mask) for mask in masks]
