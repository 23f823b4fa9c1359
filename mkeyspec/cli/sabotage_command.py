"""The command `mkeyspec sabotage`: from the cases and the catalogue to what survives."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from mkeyspec.cli.options import path_or_none
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile, ProfileError, load
from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.select import DeviceChoice, open_choice, parse
from mkeyspec.device.soft import lab_login, preload
from mkeyspec.device.soft.personality import personality
from mkeyspec.device.verbs import names, opening
from mkeyspec.files import resource, selection
from mkeyspec.files.atomic_write import replace
from mkeyspec.files.settings import settings_for
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage import matrix as matrices
from mkeyspec.sabotage.campaign import Killed, baseline, campaign, order
from mkeyspec.sabotage.catalogue import Fault, UnknownFaultError, named, of_device
from mkeyspec.sabotage.matrix import Matrix, MatrixError
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.sabotage.suite import BrokenSuite, Item, thinned, varied
from mkeyspec.sabotage.suite import load as load_items
from mkeyspec.store import Store

_DEADLINES = {"model": 0.01, "soft": 1.0}
"""Longest wait, in seconds: the model has done all its work before a call returns."""
_HANG = 30.0
"""Seconds after which an item counts as hung."""
_TIMES = 3
"""In how many cases of a chosen profile a fault is noticed, where so many notice it at all."""


def device_named(text: str) -> DeviceChoice:
    try:
        device = parse(text)
    except Unavailable as error:
        raise Failure(error.code, error.message) from None
    if device.kind not in ("model", "soft"):
        raise Failure("MKS0905", f"--device {text}: only the model and the software NIC can be given a fault")
    return device


def faults_of(device: DeviceChoice, only: Sequence[str]) -> dict[str, Fault]:
    of_kind = of_device(device.kind)
    there = {name: one for name, one in of_kind.items() if not one.needs or _offers(device)}
    try:
        wanted = {name: named(name) for name in only}
    except UnknownFaultError as error:
        raise Failure("MKS0907", str(error)) from None
    for name in wanted:
        if name in of_kind and name not in there:
            text = f"{name} needs {named(name).needs}, which this personality lacks: --device soft:bf3-wrapped"
            raise Failure("MKS0907", text)
        if name not in there:
            raise Failure("MKS0907", f"{name} is a fault of the driver: under the software NIC runs the real one")
    return wanted or there


def _offers(device: DeviceChoice) -> bool:
    """Whether the device can be logged in to. The model always can."""
    if device.kind != "soft":
        return True
    given = {} if device.personality is None else personality(device.personality).environment
    return lab_login.of_environment({**os.environ, **given}) is not None


def show(faults: dict[str, Fault], format: str) -> int:
    if format == "json":
        print(json.dumps([_fault(one) for one in faults.values()], indent=2))
    else:
        for one in faults.values():
            print(f"{one.name:28} {one.part:6} {one.what} ({', '.join(one.violates)})")
        print(f"mkeyspec: {len(faults)} faults", file=sys.stderr)
    return OK


def _fault(one: Fault) -> dict[str, Any]:
    return {"name": one.name, "group": one.group, "part": one.part, "what": one.what, "violates": list(one.violates)}


def choose(name: str, files: Sequence[str], project: Path) -> int:
    """Write the profile `name` from matrices."""
    if not files:
        raise Failure("MKS0905", "--choose: name the matrices to choose from, as in --from reports/matrix.json")
    try:
        found = [matrices.read(Path(file)) for file in files]
    except MatrixError as error:
        raise Failure("MKS0904", str(error)) from None
    items = matrices.cover(found, _TIMES)
    path = selection.file_of(name, project)
    command = f"mkeyspec sabotage --choose {name} --from {' '.join(files)}"
    replace(path, selection.text(items, command))
    cases = len({matrices.case_of(item) for item in items})
    faults = sum(bool(kills) for one in found for kills in one.kills.values())
    print(
        f"mkeyspec: {os.path.relpath(path)}: {len(items)} items of {cases} cases kill {faults} faults, "
        f"each in {_TIMES} cases where there are so many"
    )
    return OK


class Command:
    """One campaign from the loaded suite to the last line."""

    def __init__(
        self,
        options: argparse.Namespace,
        device: DeviceChoice,
        faults: dict[str, Fault],
        paths: list[Path],
        project: Path,
    ) -> None:
        self.options = options
        self.device = device
        self.faults = faults
        self.paths = paths
        self.project = project
        self.started = monotonic()
        try:
            self.profile = load(Path(options.device_profile)) if options.device_profile else Profile()
        except ProfileError as error:
            raise Failure("MKS0904", str(error)) from None
        self.deadline = options.deadline or _DEADLINES[device.kind]
        self.text = options.format == "text"
        self.outcomes: dict[str, Killed] = {}

    def run(self) -> int:
        # Whoever ends this process means those it has started, too.
        before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        try:
            return self._run()
        finally:
            signal.signal(signal.SIGTERM, before)

    def _run(self) -> int:
        items = self._items()
        if not items:
            return NOTHING
        if self.device.kind == "soft":
            # Once for all: loading pyverbs takes its time, and the files that name the device are this process's.
            opening.devices(names.load())
        straight = baseline(items, self._rig, _HANG)
        if straight.unopened:
            raise Failure("MKS0919", f"{self.device.text} can't be opened: {straight.unopened}")
        for number, how in straight.kills.items():
            print(f"mkeyspec: fails without any fault: {items[number].id} ({how})", file=sys.stderr)
        unfit = {*straight.kills, *straight.skipped}
        items = [item for number, item in enumerate(items) if number not in unfit]
        if not items:
            return NOTHING
        whole = self.options.matrix is not None
        found = Matrix(self.device.text, [item.id for item in items])
        everything = frozenset(range(len(items)))
        some = everything if self.options.rows is None else thinned(items, self.options.rows)
        self._run_some(self.faults, items, some, found, whole=whole, last=some == everything)
        if some != everything:
            # What these rows don't show, the others may.
            self._run_some(found.survivors, items, everything - some, found, whole=False, last=True)
            missing = frozenset(found.vacuous) if whole and not self.options.only else frozenset()
            left = frozenset(number for number in everything - some if items[number].case in missing)
            if left:
                self._run_some(self.faults, items, left, found, whole=True, last=False)
        vacuous = found.vacuous if whole and not self.options.only else []
        if whole:
            path = Path(self.options.matrix)
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, json.dumps(found.data()) + "\n")
        self._end(items, found, vacuous, len(straight.kills), len(straight.skipped))
        if self.device.kind != "model":
            # The real driver's rules have no fault, so that what is about them alone kills nothing here.
            vacuous = []
        return FAILED if found.survivors or vacuous or straight.kills else OK

    def _run_some(
        self,
        names: Iterable[str],
        items: Sequence[Item],
        some: frozenset[int],
        found: Matrix,
        *,
        whole: bool,
        last: bool,
    ) -> None:
        """Run these of the items against these faults. `last`: what survives now survives."""
        first = self._first()
        campaigned = campaign(
            names,
            items,
            lambda name: [number for number in order(self.faults[name], items, first) if number in some],
            self._rig,
            self.options.workers,
            whole=whole,
            deadline=_HANG,
        )
        for killed in campaigned:
            if killed.unopened:
                raise Failure("MKS0919", f"{self.device.text} with {killed.fault} can't be opened: {killed.unopened}")
            before = self.outcomes.get(killed.fault)
            new = before is None or not before.kills
            outcome = self.outcomes[killed.fault] = killed if before is None else before.with_more(killed)
            found.put(outcome)
            if self.text and new and (outcome.kills or last):
                print(self._line(outcome, items, found), flush=True)

    def _items(self) -> list[Item]:
        store = Store(self.project, path_or_none(self.options.generated) or settings_for(self.project).generated)
        try:
            chosen = None if self.options.profile is None else selection.read(self.options.profile, self.project)
            items = load_items(self.paths, store, chosen)
        except BrokenSuite as error:
            raise Failure("MKS0907", str(error)) from None
        except selection.SelectionError as error:
            raise Failure("MKS0904", str(error)) from None
        gone = (chosen or frozenset()) - {item.id for item in items}
        if gone and not self.options.paths:
            name = self.options.profile
            print(f"mkeyspec: profile {name}: {len(gone)} items are no more; choose it again", file=sys.stderr)
        if self.options.vary is not None:
            items += varied(items, self.options.vary)
        return items

    def _first(self) -> frozenset[str]:
        """What is known to kill comes first."""
        try:
            return selection.read("quick", self.project)
        except selection.SelectionError:
            return frozenset()

    def _rig(self, name: str) -> Rig:
        """A rig on a device that has the fault of this name. Called in the process that will drive it."""
        if self.device.kind == "model":
            model = faulty_model(name, self.profile) if name else Model(self.profile)
            return Rig(model, self.profile, Expectations.load([], model.info()), deadline=self.deadline)
        # Whoever calls us may have one chosen; it is not for the run without any.
        os.environ[preload.FAULT] = name
        device = open_choice(self.device, self.profile)
        expectations = Expectations.load(list(resource.directory("expectations").glob("*.toml")), device.info())
        return Rig(device, self.profile, expectations, deadline=self.deadline)

    # What is said ----------------------------------------------------------------------------

    def _line(self, killed: Killed, items: Sequence[Item], found: Matrix) -> str:
        one = self.faults[killed.fault]
        if not killed.kills:
            return f"SURVIVES {one.name}: {one.what} ({', '.join(one.violates)})"
        if self.options.matrix is not None:
            by = f"{len(killed.kills)} items of {len(found.cases_of(one.name))} cases"
        else:
            number, how = next(iter(killed.kills.items()))
            by = f"{items[number].id} ({how})"
        return f"killed   {one.name} by {by}"

    def _end(self, items: Sequence[Item], found: Matrix, vacuous: list[str], failing: int, skipped: int) -> None:
        seconds = monotonic() - self.started
        cases = len({item.case for item in items})
        if not self.text:
            data = {
                "device": self.device.text,
                "items": len(items),
                "cases": cases,
                "failing": failing,
                "skipped": skipped,
                "faults": [self._outcome(killed, items, found) for killed in self.outcomes.values()],
                "survivors": found.survivors,
                "vacuous": vacuous if self.options.matrix is not None else None,
                "seconds": round(seconds, 1),
            }
            print(json.dumps(data, indent=2))
            return
        for case in vacuous:
            print(f"VACUOUS  {case} kills nothing")
        killed = len(self.outcomes) - len(found.survivors)
        parts = [f"{killed} of {len(self.outcomes)} faults killed"]
        if self.options.matrix is not None:
            parts.append(f"{cases - len(vacuous)} of {cases} cases kill something")
        left_out = f", {failing} failing and {skipped} skipped left out" if failing or skipped else ""
        suite = f"{len(items)} items of {cases} cases{left_out}"
        print(f"mkeyspec: {', '.join(parts)} on {self.device.text} ({suite}) in {seconds:.1f} s")

    def _outcome(self, killed: Killed, items: Sequence[Item], found: Matrix) -> dict[str, Any]:
        by = {items[number].id: how for number, how in killed.kills.items()}
        return {**_fault(self.faults[killed.fault]), "killed_by": by, "ran": killed.ran, "seconds": killed.seconds}
