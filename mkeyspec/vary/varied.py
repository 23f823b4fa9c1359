"""The steps of one row in other surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from mkeyspec import plan
from mkeyspec.plan.request import configuring
from mkeyspec.vary import company, history, keys, objects, operations, sections
from mkeyspec.vary.row import Draw, Row

MOST = 300
"""A row of more steps is carried out as it is."""


@dataclass(frozen=True, slots=True)
class Varied:
    """`notes`: what differs from the row's text, each as one phrase; empty if nothing does."""

    steps: tuple[plan.Step, ...]
    notes: tuple[str, ...] = ()


def vary(steps: Sequence[plan.Step], seed: str, id: str, offers: frozenset[str]) -> Varied:
    """What a row does, with more around it. The same for the same seed and id.

    `offers`: what the device offers (`Capabilities.offers`); nothing else is used.
    """
    if len(steps) > MOST:
        return Varied(tuple(steps))
    draw = Draw(Row(steps), Random(f"{seed} {id}"), offers)
    draw.row = objects.objects(draw)
    return Varied(tuple(_all(draw)), tuple(draw.notes))


def _all(draw: Draw) -> Iterator[plan.Step]:
    changed: set[str] = set()
    yield from company.before(draw)
    for step in draw.row.steps:
        if isinstance(step, plan.Mkey):
            yield from keys.mkey(draw, step)
        elif isinstance(step, plan.Dek):
            yield from keys.dek(draw, step)
        elif isinstance(step, plan.Post):
            yield from _post(draw, step, changed)
        elif isinstance(step, plan.Transmit | plan.Receive):
            yield from operations.moved(draw, step)
        else:
            yield step
    yield from draw.last


def _post(draw: Draw, step: plan.Post, changed: set[str]) -> Iterator[plan.Step]:
    """`changed`: the keys that the row has configured, or invalidated, or tried to."""
    first: set[str] = set()
    if not step.claim and step.known is None and not step.abort:
        for request in configuring(step.requests):
            if request.mkey not in changed and isinstance(request, history.GIVEN):
                yield from history.before(draw, step, request)
                changed.add(request.mkey)
                first.add(request.mkey)
    for one in step.requests:
        changed.update(one.changes())
    yield from sections.section(draw, step, first)
