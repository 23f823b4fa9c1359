"""The events of a row: each request's use of each key, for `requirements/space_coverage.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.space import dimensions
from mkeyspec.requirements.space_coverage import SpaceCoverage, bits
from mkeyspec.sabotage.conditions.facts import FACTS, some
from mkeyspec.sabotage.conditions.moment import Moment
from mkeyspec.sabotage.conditions.reach import Watched, watch
from mkeyspec.sabotage.suite import Item

DEADLINE = 0.01
"""Longest wait for anything that the model owes, in seconds: it has done all there is to do before it returns."""


def collector(moment: Moment) -> Callable[[], list[int]]:
    """Sets the moment's `record`; what it gives makes the events of what was noted."""
    values: dict[tuple[int, int], dict[str, set[int | str]]] = defaultdict(lambda: defaultdict(set))
    facts = list(FACTS.items())

    def record(hook: str) -> None:
        event = values[moment.turn, id(moment.key)]
        for name, read in facts:
            event[name].update(some(read(moment)))

    moment.record = record
    return lambda: list({_mask(event) for event in values.values()})


def _mask(event: dict[str, set[int | str]]) -> int:
    mask = 0
    for name, facts in event.items():
        dimension = dimensions()[name]
        for label in {dimension.class_of(fact) for fact in facts}:
            if label is not None:
                mask |= bits()[name, label]
    return mask


def measure(items: Sequence[Item], profile: Profile, workers: int) -> tuple[SpaceCoverage, list[Watched]]:
    """The coverage of a suite on the model, and how each row ended. What fails or is skipped covers nothing."""
    coverage = SpaceCoverage()
    rows = watch(items, profile, DEADLINE, collector, workers)
    for one in rows:
        if one.outcome == "pass":
            coverage.add(items[one.row].info.verifies, one.noted)
    return coverage, rows
