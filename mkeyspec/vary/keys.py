"""More mkeys and DEKs than a row has, and more entries than a key needs.

mlx5dv_create_mkey(3): each call gives a new mkey, with at least `max_entries` entries; nothing of it is another's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mkeyspec import plan
from mkeyspec.value.live import is_known
from mkeyspec.vary.row import Draw

_NUMBERS = (1, 1, 2, 3, 13)
_ENTRIES = (1, 4, 5, 16, 33, 64, 257)
_MORE_ENTRIES = (1, 2, 3, 5, 17, 61, 257)
_LARGE = 1024
"""A key of more entries is about how many it can have."""


def mkey(draw: Draw, step: plan.Mkey) -> Iterator[plan.Step]:
    """An mkey, after others of the same kind, after one that was refused, with more entries."""
    if step.claim or step.but or step.known is not None:
        yield step
        return
    if draw.often(0.4):
        yield from _others(draw, step)
    if draw.often(0.2):
        draw.note(f"an mkey without a create flag is refused before `{step.name}`")
        yield replace(step, name=draw.name("refused mkey"), flags=0, claim=(plan.Rejected("create"),))
    fixed = draw.row.refuses or "max_entries" in draw.row.read or not is_known(step.entries)
    if not fixed and draw.often(0.5) and isinstance(step.entries, int) and step.entries <= _LARGE:
        more = draw.one(_MORE_ENTRIES)
        draw.note(f"`{step.name}` is asked for with {more} entries more")
        step = replace(step, entries=step.entries + more)
    yield step


def _others(draw: Draw, step: plan.Mkey) -> Iterator[plan.Step]:
    number = draw.one(_NUMBERS)
    draw.note(f"{number} other mkeys are made before `{step.name}`")
    for _ in range(number):
        other = replace(step, name=draw.name("mkey"), entries=draw.one(_ENTRIES))
        yield other
        if draw.often(0.7):
            yield plan.Destroy(step.at, other.name)


def dek(draw: Draw, step: plan.Dek) -> Iterator[plan.Step]:
    """A DEK, after another with the same key, which is destroyed again (mlx5dv_dek_destroy(3): the given DEK goes)."""
    plain = not (step.claim or step.but or step.wrapped) and step.known is None and step.is_plain()
    if plain and draw.often(0.4):
        draw.note(f"a DEK with the key of `{step.name}` is made before it, and destroyed after it is made")
        twin = replace(step, name=draw.name("dek"))
        yield twin
        yield step
        yield plan.DestroyDek(step.at, twin.name)
        return
    yield step
