"""Cases that reach new code are kept, and changed further: coverage steers what is drawn."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from random import Random

from mkeyspec.generate.operations import KEYS, MOST_KEYS, NAMES, Operation, grown
from mkeyspec.generate.seed import Seed
from mkeyspec.search.hunt import Hunt, Parted
from mkeyspec.search.reached import Reached

FRESH = 0.25
"""Share of cases that are drawn anew."""
MOST = 16
"""Operations of one case."""


def guided(hunt: Hunt, seed: Seed, reached: Sequence[Reached]) -> int:
    """Run cases until the budget of the hunt is over, or one is found on which the three disagree. Returns how many
    were kept because they reached something new."""
    rng = Random(f"mkeyspec {seed} guided")
    kept: list[list[Operation]] = []
    before = [one.count() for one in reached]
    while not hunt.idle and hunt.found is None:
        some = changed(rng, kept) if kept and rng.random() >= FRESH else fresh(rng)
        try:
            made = grown("found", some)
            hunt.take(made)
        except Parted:
            _fewer(hunt, made.operations)
            break
        now = [one.count() for one in reached]
        if now != before:
            kept.append(made.operations)
            before = now
    return len(kept)


def fresh(rng: Random) -> list[Operation]:
    """A key and what happens to it."""
    names = [rng.choice(KEYS), *rng.choices(NAMES, k=rng.randrange(1, MOST - 2))]
    return [_one(rng, name) for name in names]


def changed(rng: Random, kept: Sequence[list[Operation]]) -> list[Operation]:
    """One of the kept, with something else, more or less in it, or the end of another."""
    some = list(rng.choice(kept[-40:] if rng.random() < 0.5 else kept))
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(some))
        way = rng.choice(("other numbers", "other", "more", "more", "less", "the end of another"))
        if way == "other numbers":
            some[at] = _one(rng, some[at].name)
        elif way == "other" and at:
            some[at] = _one(rng, rng.choice(NAMES))
        elif way == "more":
            some.insert(at + 1, _one(rng, rng.choice(NAMES)))
        elif way == "less" and at:
            del some[at]
        elif way == "the end of another":
            other = rng.choice(kept)
            some[at + 1 :] = other[rng.randrange(len(other)) :]
    return some[:MOST]


def _one(rng: Random, name: str) -> Operation:
    return Operation(name, rng.randrange(MOST_KEYS), rng.getrandbits(32))


def _fewer(hunt: Hunt, some: list[Operation]) -> None:
    """Without the operations that the disagreement does not need, the last ones first."""
    for at in range(len(some) - 1, 0, -1):
        with contextlib.suppress(Parted):
            hunt.take(grown("found", some[:at] + some[at + 1 :]))
            continue
        del some[at]
