"""How often a failure names its cause: each fault of the catalogue once, on the model or the software NIC.

    python benchmarks/lookslike.py [--device soft] [--only FAULT…] [--every] [--json FILE]

Of each fault the first row of the quick profile that notices it in bytes or in an error record is looked at. What the
near miss should be called is in lookslike.toml, written from the fault's sentence. `--every` prints a line for each
fault.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkeyspec.cli import sabotage_command
from mkeyspec.cli.sources import project_root
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.select import open_choice
from mkeyspec.device.soft import preload
from mkeyspec.device.verbs import names, opening
from mkeyspec.files import resource, selection
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.sabotage.campaign import order
from mkeyspec.sabotage.model import bent
from mkeyspec.sabotage.suite import Item, load, outcome
from mkeyspec.store import Store

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CODES = ("MKS2101", "MKS2102", "MKS2106")
"""Bytes on the wire, bytes in memory, an error record."""
FAILING = 12
"""Rows that fail in another way before a fault counts as one that changes neither bytes nor records."""
AIM_RIGHT, AIM_WRONG = 0.9, 0.02


@dataclass
class Seen:
    """What one fault looked like. `row` "": no row shows it in bytes or a record."""

    fault: str
    row: str = ""
    code: str = ""
    names: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    message: str = ""


def causes(row: dict[str, Any]) -> list[str]:
    """Patterns of the names that are right for a fault."""
    found = row.get("right", [])
    return [found] if isinstance(found, str) else list(found)


def judged(seen: Seen, right: list[str]) -> str:
    """alone, among, none or wrong. Where several are named and none is right, it is `misled`."""
    hits = [name for name in seen.names if any(fnmatch.fnmatchcase(name, one) for one in right)]
    if not seen.names:
        return "none"
    if hits:
        return "alone" if len(seen.names) == 1 else "among"
    return "wrong alone" if len(seen.names) == 1 else "misled"


class Bench:
    def __init__(self, device: str) -> None:
        self.device = sabotage_command.device_named(device)
        self.profile = Profile()
        project = project_root()
        self.first = selection.read("quick", project)
        self.items = [item for item in load([project / "cases"], Store(project, None)) if item.id in self.first]
        if self.device.kind == "soft":
            opening.devices(names.load())

    def rig(self, name: str) -> Rig:
        if self.device.kind == "model":
            model = bent(name, self.profile) if name else Model(self.profile)
            return Rig(model, self.profile, Expectations.load([], model.info()), deadline=0.01)
        os.environ[preload.FAULT] = name
        device = open_choice(self.device, self.profile)
        expectations = Expectations.load(list(resource.directory("expectations").glob("*.toml")), device.info())
        return Rig(device, self.profile, expectations, deadline=1.0)

    def looked_at(self, fault: str) -> Seen:
        """In a process of its own, as a device with a fault may end it."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(reading)
                with os.fdopen(writing, "w") as out:
                    json.dump(vars(self._look(fault)), out)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as data:
            text = data.read()
        os.waitpid(child, 0)
        return Seen(**json.loads(text)) if text else Seen(fault)

    def _look(self, fault: str) -> Seen:
        seen = Seen(fault)
        rig = self.rig(fault)
        there = sabotage_command.faults_of(self.device, [fault])[fault]
        failing = 0
        for number in order(there, self.items, self.first):
            item: Item = self.items[number]
            try:
                outcome(item, rig)
                continue
            except CaseFailed as failed:
                for failure in failed.failures:
                    if failure.code in CODES:
                        seen.row, seen.code, seen.message = item.id, failure.code, failure.message
                        seen.names = list(failure.looks_like)
                        seen.text = _looks(failure.details)
                        return seen
            except Exception:
                pass
            failing += 1
            if failing >= FAILING:
                break
            rig = self.rig(fault)
        return seen


def _looks(details: tuple[tuple[str, str], ...]) -> list[str]:
    found: list[str] = []
    for label, text in details:
        if label.startswith("looks like") or (found and not label):
            found.append(text)
        elif found:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="model")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    right = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    bench = Bench(options.device)
    faults = sabotage_command.faults_of(bench.device, options.only)
    counts: Counter[str] = Counter()
    all_seen: list[dict[str, Any]] = []
    for name in faults:
        seen = bench.looked_at(name)
        if not seen.row:
            counts["other"] += 1
            continue
        verdict = judged(seen, causes(right.get(name, {})))
        counts[verdict] += 1
        all_seen.append({**vars(seen), "verdict": verdict})
        if options.every:
            print(f"{verdict:12} {name:28} {', '.join(seen.names)}  {seen.code} {seen.row}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(all_seen, indent=1) + "\n", "utf-8")
    report(counts, len(faults), options.device)


def report(counts: Counter[str], faults: int, device: str) -> None:
    shown = faults - counts["other"]
    print(f"{shown} of {faults} faults show in bytes or records on {device}")
    for verdict, text in (
        ("alone", "named right, alone"),
        ("among", "named right, among two or three"),
        ("none", "nothing named"),
        ("misled", "two or three named, none of them right"),
        ("wrong alone", "named wrong, alone"),
    ):
        print(f"  {text:<40} {counts[verdict]:4}  {counts[verdict] / max(shown, 1):6.1%}")
    named = (counts["alone"] + counts["among"]) / max(shown, 1)
    wrong = counts["wrong alone"] / max(shown, 1)
    print(f"  right {named:.1%}: aim ≥ {AIM_RIGHT:.0%}; wrong alone {wrong:.1%}: aim ≤ {AIM_WRONG:.0%}")


if __name__ == "__main__":
    main()
