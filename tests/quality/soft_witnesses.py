"""Witnesses on the software NIC: `python -m tests.quality.soft_witnesses -n 2` writes `soft_witnesses.json`.

A witness is the seed of a scenario (`scenario.py`) in which the NIC with the fault twice shows something else than
without it. Tried are the scenarios in which the observed NIC comes to the fault while the condition holds. A pair
without a witness is not in the catalogue: the fault excludes the condition, or nothing legal reaches it. Most of the
time is spent waiting: use more processes than there are processors.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import multiprocessing
import os
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from time import monotonic, sleep
from typing import Any

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device
from mkeyspec.device.select import open_choice, parse
from mkeyspec.device.soft import preload
from mkeyspec.sabotage.conditions import soft
from tests.quality.scenario import Scenario

SCENARIOS, TRIES = 500, 3
LOOKS, ENOUGH = 60, 12
QUIET = 0.002
"""Seconds without a completion after which a queue has nothing more to tell."""
Reached = dict[str, dict[str, list[int]]]
"""By fault and condition: the scenarios that come to it."""


class Settled:
    """The device; what it owes has come when it is looked at."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def poll(self, qp: Any) -> list[Any]:
        found: list[Any] = []
        quiet = monotonic() + QUIET
        while monotonic() < quiet:
            more = list(self._device.poll(qp))
            if more:
                found += more
                quiet = monotonic() + QUIET
            else:
                sleep(0.0002)
        return found


class Bench:
    """One device, for one scenario after the other."""

    def __init__(self) -> None:
        self.device: Device = open_choice(parse("soft"), Profile())

    def shown(self, seed: int) -> str:
        """All that a scenario shows, keys by their place."""
        scenario = Scenario(Settled(self.device), seed)
        try:
            scenario.run()
            end = ""
        except Exception as error:
            end = type(error).__name__
            with contextlib.suppress(Exception):
                self.device.close()
            self.device = open_choice(parse("soft"), Profile())
        text = re.sub(r"(handle|number|qp_num|lkey|rkey)=\d+", r"\1", repr(scenario.seen))
        for place, key in enumerate(scenario.keys):
            text = text.replace(str(key.mkey.rkey), f"key{place}").replace(str(key.mkey.lkey), f"key{place}")
        return text + end


def reached_in(seeds: Sequence[int]) -> list[tuple[int, dict[str, int], str]]:
    """What each scenario comes to, and what it shows; "" where that is not always the same."""
    bench, observed, found = Bench(), soft.Observed(), []
    for seed in seeds:
        shown = bench.shown(seed)
        taken = observed.taken()
        found.append((seed, taken, shown if bench.shown(seed) == shown else ""))
        observed.taken()
    return found


_REACHED: Reached = {}
_RIGHT: dict[int, str] = {}


_KNOWN: dict[str, dict[str, int]] = {}


def search(name: str) -> tuple[str, dict[str, int]]:
    """By condition of one fault: the scenario that shows it."""
    os.environ[preload.FAULT] = name
    bench = Bench()
    inject = ctypes.CDLL(str(preload.loaded())).mkeyspec_softnic_inject
    found = dict(_KNOWN.get(name, {}))
    everywhere = sorted({seed for seeds in _REACHED.get(name, {}).values() for seed in seeds if _RIGHT[seed]})
    good: list[int] = []  # scenarios in which the fault shows without a condition
    assert inject(name.encode())
    for seed in everywhere[:: max(1, len(everywhere) // LOOKS)]:
        if len(good) < ENOUGH and bench.shown(seed) != _RIGHT[seed]:
            good.append(seed)
    for one in soft.candidates().values():
        text = str(one.condition)
        if one.base.name != name or text in found:
            continue
        seeds = [seed for seed in _REACHED.get(name, {}).get(text, ()) if _RIGHT[seed]]
        order = [seed for seed in good if seed in seeds] + [seed for seed in seeds if seed not in good][:TRIES]
        assert inject(one.id.encode())
        for seed in order:
            if all(bench.shown(seed) != _RIGHT[seed] for _ in range(2)):
                found[text] = seed
                good = [seed, *(other for other in good if other != seed)]
                break
    return name, found


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.soft_witnesses", description=__doc__)
    parser.add_argument("-n", type=int, default=1, dest="workers", metavar="N")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS, metavar="N")
    parser.add_argument("--only", nargs="+", default=[], metavar="FAULT", help="these base faults; the others are kept")
    parser.add_argument("--more", action="store_true", help="keep the known ones, look for those that are missing")
    options = parser.parse_args(given)
    soft.Observed.choose()
    preload.ensure(None, whole=True)
    began = monotonic()
    seeds = range(options.scenarios)
    context = multiprocessing.get_context("fork")
    with context.Pool(options.workers, maxtasksperchild=1) as pool:
        for part in pool.imap_unordered(reached_in, [seeds[first : first + 20] for first in seeds[::20]], 1):
            for seed, taken, shown in part:
                _RIGHT[seed] = shown
                for name, bits in taken.items():
                    places = _REACHED.setdefault(name, defaultdict(list))
                    for place, text in enumerate(soft.conditions()):
                        if bits >> place & 1:
                            places[text].append(seed)
    steady = sum(map(bool, _RIGHT.values()))
    print(f"witnesses: {steady} of {len(_RIGHT)} scenarios are steady, {monotonic() - began:.0f} s", file=sys.stderr)
    names = list(dict.fromkeys(one.base.name for one in soft.candidates().values()))
    names = [name for name in names if not options.only or name in options.only]
    table: dict[str, dict[str, int]] = {}
    if options.only or options.more:
        table = json.loads(soft.WITNESSES.read_text(encoding="utf-8"))
    if options.more:
        _KNOWN.update(table)
    with context.Pool(options.workers, maxtasksperchild=1) as pool:
        for number, (name, found) in enumerate(pool.imap_unordered(search, names, 1)):
            table[name] = found
            reached = sum(text in _REACHED.get(name, {}) for text in soft.conditions())
            print(f"{number + 1}/{len(names)} {name}: {len(found)}, {reached} reached", file=sys.stderr, flush=True)
            rows = {key: dict(sorted(table[key].items())) for key in sorted(table) if table[key]}
            lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
            soft.WITNESSES.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"witnesses: {sum(map(len, table.values()))} of {len(soft.candidates())} in {monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
