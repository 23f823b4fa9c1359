"""How much processor time the rows of the shipped cases take on the model, without pytest.

    python benchmarks/rows.py [--every N] [--from K] [--cases N]

Every N-th row, from the K-th on, is begun, carried out and finished with one rig, as a session does. Prints what all of
them took, how much of it the slowest hundredth took, and the cases that took most. For a ratio of two checkouts run it
in both by turns: a busy machine changes all figures.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections import defaultdict

from shipped import CASES, ROOT

from mkeyspec.compiler.live_rules import LiveRules
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage.suite import load
from mkeyspec.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time of the shipped rows on the model.")
    parser.add_argument("--every", type=int, default=10, help="one row of so many (default: 10)")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the place of the first one (default: 0)")
    parser.add_argument("--cases", type=int, default=10, help="how many cases to name (default: 10)")
    arguments = parser.parse_args()
    items = load([CASES], Store(ROOT))[arguments.first :: arguments.every]
    profile = Profile()
    rig = Rig(Model(profile), profile, Expectations(), rules=LiveRules)
    gc.collect()
    gc.freeze()
    taken: list[float] = []
    of_case: dict[str, list[float]] = defaultdict(list)
    for item in items:
        began = time.process_time()
        if not rig.begin(item.info):
            item.run(rig)
        taken.append(time.process_time() - began)
        of_case[item.case].append(taken[-1])
    total = sum(taken)
    slowest = sum(sorted(taken, reverse=True)[: -(-len(taken) // 100)])
    print(f"{len(taken)} rows: {total:.2f} s of processor time, {total / len(taken) * 1e3:.2f} ms each")
    print(f"the slowest hundredth: {slowest / total:.0%} of it")
    for case, seconds in sorted(of_case.items(), key=lambda one: -sum(one[1]))[: arguments.cases]:
        print(f"{sum(seconds) * 1e3:8.0f} ms  {len(seconds):4} rows  {case}")


if __name__ == "__main__":
    main()
