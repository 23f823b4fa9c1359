"""Witnesses of the conditional faults: `python -m tests.quality.witnesses -n 2` looks for one of each, and writes them.

A witness is the seed of a scenario in which the model with the fault shows something else than the model. Tried are the
scenarios in which, on the observed model, the fault's part is used and the condition holds. A fault for which none of
them shows anything has no witness, and is not in the catalogue.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from time import monotonic
from typing import Any

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.space import dimensions
from mkeyspec.sabotage.conditions.catalogue import WITNESSES, ConditionalFault, candidates, witnesses
from mkeyspec.sabotage.conditions.condition import parse
from mkeyspec.sabotage.conditions.facts import FACTS, some
from mkeyspec.sabotage.conditions.moment import Moment
from mkeyspec.sabotage.conditions.parts import hooks, observed
from mkeyspec.sabotage.fault import FAULTY
from tests.quality.scenario import Scenario

SCENARIOS = 1600
TRIES = 5
LOOKS, ENOUGH = 400, 12
CONDITIONS = {name: [parse(text) for text in one.conditions] for name, one in dimensions().items()}
Reached = dict[tuple[str, str], list[int]]
"""By hook and condition: the scenarios in which the condition holds there."""


def reached_in(seed: int) -> set[tuple[str, str]]:
    """(hook, condition) of one scenario on the model."""
    moment = Moment()
    values: dict[tuple[str, str], set[Any]] = defaultdict(set)

    def record(hook: str) -> None:
        for name, read in FACTS.items():
            values[hook, name].update(some(read(moment)))

    moment.record = record
    Scenario(observed(Profile(), moment), seed).run()
    return {
        (hook, str(condition))
        for (hook, name), facts in values.items()
        for condition in CONDITIONS[name]
        if condition.holds(list(facts))
    }


def shows(fault: ConditionalFault, seed: int) -> bool:
    """Whether the model with the fault shows something else in this scenario."""
    return _differs(fault.make(Profile()), seed)


@cache
def right(seed: int) -> list[Any]:
    """What the model shows."""
    return Scenario(Model(Profile()), seed).run()


class _Other(Exception):
    """Something else was seen."""


class _Same(list[Any]):
    """What is seen, as long as it is what the model shows."""

    def __init__(self, right: list[Any]) -> None:
        super().__init__()
        self.right = right

    def append(self, seen: Any) -> None:
        if len(self) == len(self.right) or self.right[len(self)] != seen:
            raise _Other
        super().append(seen)


def _differs(model: Model, seed: int) -> bool:
    scenario = Scenario(model, seed)
    scenario.seen = _Same(right(seed))
    try:
        return len(scenario.run()) != len(right(seed))
    except _Other:
        return True
    except Exception:  # it would not be a device any more
        return False


def telling(name: str, seeds: Sequence[int]) -> list[int]:
    """Scenarios in which the fault shows without a condition: some of the first of `seeds`."""
    found: list[int] = []
    for seed in seeds[:LOOKS]:
        if _differs(FAULTY[name].make(Profile()), seed):
            found.append(seed)
            if len(found) == ENOUGH:
                break
    return found


def search(faults: Sequence[ConditionalFault], reached: Reached, tries: int) -> dict[str, int]:
    """Faults of one base: condition to seed."""
    found: dict[str, int] = {}
    base = faults[0].base.name
    everywhere = dict.fromkeys(seed for (hook, _), seeds in reached.items() if hook in hooks(base) for seed in seeds)
    good = telling(base, sorted(everywhere))
    for fault in faults:
        seeds = dict.fromkeys(seed for hook in hooks(base) for seed in reached.get((hook, str(fault.condition)), ()))
        order = [seed for seed in good if seed in seeds] + [seed for seed in seeds if seed not in good]
        for seed in order[: len(seeds.keys() & set(good)) + tries]:
            if shows(fault, seed):
                found[str(fault.condition)] = seed
                if seed not in good:
                    good.insert(0, seed)
                break
    return found


_REACHED: Reached = {}


def _search(faults: list[ConditionalFault]) -> tuple[str, dict[str, int]]:
    return faults[0].base.name, search(faults, _REACHED, TRIES)


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.witnesses", description=__doc__)
    parser.add_argument("-n", type=int, default=1, dest="workers", metavar="N")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS, metavar="N")
    parser.add_argument("--only", nargs="+", default=[], metavar="FAULT", help="these base faults; the others are kept")
    parser.add_argument("--verify", action="store_true", help="drop those that show nothing any more; look for none")
    options = parser.parse_args(given)
    if options.verify:
        return verify(options.workers)
    began = monotonic()
    bases: dict[str, list[ConditionalFault]] = defaultdict(list)
    for fault in candidates().values():
        if not options.only or fault.base.name in options.only:
            bases[fault.base.name].append(fault)
    table: dict[str, dict[str, int]] = {}
    if options.only:
        table = json.loads(WITNESSES.read_text(encoding="utf-8"))
    with multiprocessing.get_context("fork").Pool(options.workers) as pool:
        for seed, found in enumerate(pool.imap(reached_in, range(options.scenarios), 16)):
            for place in found:
                _REACHED.setdefault(place, []).append(seed)
    print(f"witnesses: {options.scenarios} scenarios in {monotonic() - began:.0f} s", file=sys.stderr)
    with multiprocessing.get_context("fork").Pool(options.workers) as pool:
        for number, (name, found_) in enumerate(pool.imap_unordered(_search, bases.values())):
            table[name] = found_
            _write(table)
            print(f"{number + 1}/{len(bases)} {name}: {len(found_)} of {len(bases[name])}", file=sys.stderr, flush=True)
    count = sum(map(len, table.values()))
    total = sum(map(len, bases.values()))
    print(f"witnesses: {count} of {total} pairs of {len(bases)} faults in {monotonic() - began:.0f} s")
    return 0


def _holds(key: str) -> bool:
    base, _, condition = key.partition("@")
    return shows(candidates()[key], witnesses()[base][condition])


def verify(workers: int) -> int:
    """Every witness of the file once more."""
    keys = [
        f"{name}@{text}" for name, found in witnesses().items() for text in found if f"{name}@{text}" in candidates()
    ]
    table: dict[str, dict[str, int]] = {}
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for key, holds in zip(keys, pool.imap(_holds, keys, 64), strict=True):
            base, _, condition = key.partition("@")
            if holds:
                table.setdefault(base, {})[condition] = witnesses()[base][condition]
            else:
                print(f"witnesses: {key} shows nothing any more", file=sys.stderr)
    _write(table)
    print(f"witnesses: {sum(map(len, table.values()))} of {len(keys)} show their fault")
    return 0


def _write(table: dict[str, dict[str, int]]) -> None:
    lines = [
        f"  {json.dumps(name)}: {json.dumps(dict(sorted(table[name].items())))}"
        for name in sorted(table)
        if table[name]
    ]
    WITNESSES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
