"""Which rows of a suite come to which facts: the suite runs once on the observed model.

A row in which a fault's part is not used while its condition holds can't tell the faulty model from the model: up to
that moment they are one device. So only the others need to run.
"""

from __future__ import annotations

import multiprocessing
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.space import Fact, dimensions
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed
from mkeyspec.sabotage.conditions.catalogue import ConditionalFault
from mkeyspec.sabotage.conditions.condition import Condition, parse
from mkeyspec.sabotage.conditions.facts import FACTS, some
from mkeyspec.sabotage.conditions.moment import Moment
from mkeyspec.sabotage.conditions.parts import hooks, observed
from mkeyspec.sabotage.suite import Item, outcome

Values = Mapping[tuple[str, str], set[Fact]]
"""By hook and dimension: what it was there."""


@dataclass(slots=True)
class Reached:
    """`rows`: by hook and condition, the places in the suite of the rows that come to it."""

    rows: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    failing: dict[int, str] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)

    def of(self, fault: ConditionalFault) -> set[int]:
        """The rows that can kill a fault."""
        condition = str(fault.condition)
        return {row for hook in hooks(fault.base.name) for row in self.rows.get((hook, condition), ())}


@dataclass(slots=True)
class Watched:
    """One row: how it ended ("pass", "skip", or why it failed), and what was noted."""

    row: int
    outcome: str
    noted: Any


Note = Callable[[Moment, str], None]
"""Told of every hook that is come to."""


def watch(
    items: Sequence[Item], profile: Profile, deadline: float, start: Callable[[Moment], Callable[[], Any]], workers: int
) -> list[Watched]:
    """Every row on an observed model, in order. `start` is told the moment of a row, sets its `record`, and gives what
    makes of it what was noted when the row is over."""
    shares = [range(first, len(items), workers) for first in range(workers)]
    if workers == 1:
        return _watch(items, shares[0], profile, deadline, start)
    context = multiprocessing.get_context("fork")
    pipes = []
    for share in shares:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_tell, args=(there, items, share, profile, deadline, start))
        child.start()
        there.close()
        pipes.append((here, child))
    found: list[Watched] = []
    for here, child in pipes:
        found += here.recv()
        child.join()
    return sorted(found, key=lambda one: one.row)


def _tell(pipe: Any, *given: Any) -> None:
    pipe.send(_watch(*given))
    pipe.close()


def _watch(
    items: Sequence[Item],
    rows: Sequence[int],
    profile: Profile,
    deadline: float,
    start: Callable[[Moment], Callable[[], Any]],
) -> list[Watched]:
    def new() -> tuple[Moment, Rig]:
        moment = Moment()
        model = observed(profile, moment)
        return moment, Rig(model, profile, Expectations.load([], model.info()), deadline=deadline)

    moment, rig = new()
    found = []
    for row in rows:
        end = start(moment)
        try:
            how = outcome(items[row], rig)
        except CaseFailed as failed:
            how = failed.failures[0].code
        except Blocked:
            how = "blocked"
        except Exception as error:
            how = f"error: {type(error).__name__}"
        moment.record = None
        found.append(Watched(row, how, end()))
        if how not in ("pass", "skip"):
            moment, rig = new()
    return found


def conditions_of() -> dict[str, list[Condition]]:
    """By dimension: its conditions."""
    return {name: [parse(text) for text in one.conditions] for name, one in dimensions().items()}


def recorder(moment: Moment, wanted: frozenset[str] | None = None) -> dict[tuple[str, str], set[Fact]]:
    """Sets the moment's `record`; what it gives is filled while the model acts. `wanted`: hooks, None for all."""
    values: dict[tuple[str, str], set[Fact]] = defaultdict(set)
    facts = list(FACTS.items())

    def record(hook: str) -> None:
        if wanted is not None and hook not in wanted:
            return
        for name, read in facts:
            values[hook, name].update(some(read(moment)))

    moment.record = record
    return values


def reach(
    items: Sequence[Item], faults: Sequence[ConditionalFault], profile: Profile, deadline: float, workers: int
) -> Reached:
    """What the rows come to, of what these faults look at."""
    wanted = frozenset(hook for name in {fault.base.name for fault in faults} for hook in hooks(name))
    known = conditions_of()

    def start(moment: Moment) -> Callable[[], list[tuple[str, str]]]:
        values = recorder(moment, wanted)
        return lambda: [
            (hook, str(condition))
            for (hook, name), facts in values.items()
            for condition in known[name]
            if any(map(condition.holds_for, facts))
        ]

    found = Reached()
    for one in watch(items, profile, deadline, start, workers):
        if one.outcome == "skip":
            found.skipped.append(one.row)
        elif one.outcome != "pass":
            found.failing[one.row] = one.outcome
        else:
            for place in one.noted:
                found.rows[place].append(one.row)
    return found
