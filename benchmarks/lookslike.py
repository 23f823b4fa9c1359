"""How often a failure names its cause: each fault of the catalogue once, on the model or the software NIC.

    python benchmarks/lookslike.py [--device soft] [--only FAULT…] [--every] [--json FILE]

Of each fault those rows of the quick profile are looked at that notice it, at most 25. `run` is the first cause that
a report of such a run names (`mkeyspec.report.causes`), `failure` the first failure alone that shows bytes or an error
record. What the near miss should be called is in lookslike.toml, written from the fault's sentence. `--every` prints a
line for each fault.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import traceback
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
from mkeyspec.report.causes import causes_of
from mkeyspec.report.reader import Run
from mkeyspec.report.record import SCHEMA, Begin, Result
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.sabotage.campaign import order
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.sabotage.suite import Item, load, outcome
from mkeyspec.store import Store

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CODES = ("MKS2101", "MKS2102", "MKS2106")
"""Bytes on the wire, bytes in memory, an error record."""
FAILING = 25
"""Rows that fail, after which a run is ended."""
SHOWN = 3
WHAT = ("run", "failure")
AIM_RIGHT, AIM_WRONG = 0.9, 0.02


@dataclass
class Seen:
    """What one fault looked like. `row` "": no row shows it in bytes or a record."""

    fault: str
    row: str = ""
    code: str = ""
    failure: list[str] = field(default_factory=list)
    """What the text of the first failure names."""
    run: list[str] = field(default_factory=list)
    """What a report of all the rows names first."""
    rows: int = 0
    explained: int = 0
    """Rows with that cause."""


def causes(row: dict[str, Any]) -> list[str]:
    """Patterns of the names that are right for a fault."""
    found = row.get("right", [])
    return [found] if isinstance(found, str) else list(found)


def judged(names: list[str], right: list[str]) -> str:
    """alone, among, none or wrong. Where several are named and none is right, it is `misled`."""
    # What the bytes are (zeros, unchanged) is no cause, unless the fault is just that.
    names = [
        name for name in names if not name.startswith("bytes.") or any(fnmatch.fnmatchcase(name, one) for one in right)
    ]
    hits = [name for name in names if any(fnmatch.fnmatchcase(name, one) for one in right)]
    if not names:
        return "none"
    if hits:
        return "alone" if len(names) == 1 else "among"
    return "wrong alone" if len(names) == 1 else "misled"


class Bench:
    def __init__(self, device: str) -> None:
        self.device = sabotage_command.device_named(device)
        if self.device.kind == "soft":
            # The library of faults, in this process: it can't be loaded later.
            os.environ.setdefault(preload.FAULT, "")
            preload.ensure(self.device.personality, whole=True)
        self.profile = Profile()
        project = project_root()
        self.first = selection.read("quick", project)
        self.items = [item for item in load([project / "cases"], Store(project, None)) if item.id in self.first]
        if self.device.kind == "soft":
            opening.devices(names.load())

    def rig(self, name: str) -> Rig:
        if self.device.kind == "model":
            model = faulty_model(name, self.profile) if name else Model(self.profile)
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
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as data:
            text = data.read()
        os.waitpid(child, 0)
        return Seen(**json.loads(text)) if text else Seen(fault)

    def _look(self, fault: str) -> Seen:
        seen = Seen(fault)
        rig, left = self.rig(fault), []
        there = sabotage_command.faults_of(self.device, [fault])[fault]
        failing: list[Result] = []
        rows: list[Result] = []
        for number in order(there, self.items, self.first):
            item: Item = self.items[number]
            if item.id not in self.first:
                continue
            failed = self._outcome(item, rig)
            if failed is None:
                rows.append(Result(item.id, "passed", against=rig.verdict.against))
                continue
            code, names = failed
            failing.append(Result(item.id, "failed", code=code, looks_like=names))
            rows.append(failing[-1])
            if code in CODES and not seen.row:
                seen.row, seen.code, seen.failure = item.id, code, names[:SHOWN]
            if len(failing) >= FAILING:
                break
            if rig.blocked is not None:
                left.append(rig)  # what it has made goes when the process ends
                doubts, rig = rig.doubts, self.rig(fault)
                rig.doubts = doubts
        seen.rows = len(failing)
        run = Run(Path(), Begin(SCHEMA, "", "", ""))
        found = causes_of((run, result) for result in rows)
        first = next((cause for cause in found if cause.looks_like), None)
        if first is not None:
            seen.run, seen.explained = list(first.looks_like), len(first.results)
        elif seen.failure:
            seen.run = seen.failure
        return seen

    @staticmethod
    def _outcome(item: Item, rig: Rig) -> tuple[str, list[str]] | None:
        """None if the row passed; the code of the failure that a report shows, and its near misses."""
        try:
            outcome(item, rig)
        except CaseFailed as failed:
            first = next((one for one in failed.failures if one.looks_like), failed.failures[0])
            shown = next((one.code for one in failed.failures if one.code in CODES), first.code)
            return shown, [name for name, _ in first.looks_like]
        except Exception:
            return "", []
        return None


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
    everything: list[dict[str, Any]] = []
    for name in faults:
        seen = bench.looked_at(name)
        patterns = causes(right.get(name, {}))
        verdicts = {what: judged(getattr(seen, what), patterns) for what in WHAT}
        everything.append({**vars(seen), "verdicts": verdicts})
        if options.every and seen.row:
            print(
                f"{verdicts['run']:12} {verdicts['failure']:12} {name:28} {', '.join(seen.run)}  "
                f"({seen.explained} of {seen.rows} rows)  {seen.code} {seen.row}",
                flush=True,
            )
    if options.json:
        Path(options.json).write_text(json.dumps(everything, indent=1) + "\n", "utf-8")
    report(everything, options.device)


def report(everything: list[dict[str, Any]], device: str) -> None:
    shown = [one for one in everything if one["row"]]
    print(f"{len(shown)} of {len(everything)} faults show in bytes or records on {device}")
    counts = {what: Counter(one["verdicts"][what] for one in shown) for what in WHAT}
    print(f"  {'':<40} {'the run':>14} {'first failure':>16}")
    for verdict, text in (
        ("alone", "named right, alone"),
        ("among", "named right, among two or three"),
        ("none", "nothing named"),
        ("misled", "two or three named, none of them right"),
        ("wrong alone", "named wrong, alone"),
    ):
        cells = [f"{counts[what][verdict]:4}  {counts[what][verdict] / max(len(shown), 1):6.1%}" for what in WHAT]
        print(f"  {text:<40} {cells[0]:>14} {cells[1]:>16}")
    for what in WHAT:
        named = (counts[what]["alone"] + counts[what]["among"]) / max(len(shown), 1)
        wrong = counts[what]["wrong alone"] / max(len(shown), 1)
        print(f"  {what}: right {named:.1%}: aim ≥ {AIM_RIGHT:.0%}; wrong alone {wrong:.1%}: aim ≤ {AIM_WRONG:.0%}")


if __name__ == "__main__":
    main()
