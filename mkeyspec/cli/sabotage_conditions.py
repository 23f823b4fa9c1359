"""The command `mkeyspec sabotage --conditions`: a sample of conditional faults against the cases."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from mkeyspec.cli.sabotage_command import Command
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.device.select import DeviceChoice
from mkeyspec.device.verbs import names, opening
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage.campaign import campaign
from mkeyspec.sabotage.catalogue import UnknownFaultError
from mkeyspec.sabotage.conditions import catalogue, sample, soft, soft_reach
from mkeyspec.sabotage.conditions.catalogue import ConditionalFault
from mkeyspec.sabotage.conditions.reach import reach
from mkeyspec.sabotage.suite import Item

_HANG = {"model": 10.0, "soft": 30.0}
"""An item that has not ended after so many seconds never will."""


class Reached(Protocol):
    """Which rows come to which faults, and which tell nothing."""

    @property
    def failing(self) -> dict[int, str]: ...
    @property
    def skipped(self) -> list[int]: ...
    def of(self, fault: ConditionalFault) -> set[int]: ...


def of_device(device: DeviceChoice) -> dict[str, ConditionalFault]:
    """Every conditional fault that the device can have, by id."""
    return soft.faults() if device.kind == "soft" else catalogue.faults()


def wanted(options: argparse.Namespace, device: DeviceChoice) -> dict[str, ConditionalFault]:
    """Those that the options name or draw. Raises Failure."""
    for option in ("matrix", "rows", "choose"):
        if getattr(options, option) is not None:
            raise Failure("MKS0905", f"--conditions and --{option} do not go together")
    if options.sample is not None and options.sample < 1:
        raise Failure("MKS0905", f"--sample {options.sample}: at least one fault")
    everything = of_device(device)
    found: dict[str, ConditionalFault] = {}
    for name in options.only:
        of_base = {key: one for key, one in everything.items() if one.base.name == name}
        try:
            found.update(of_base or {name: catalogue.named(name, everything)})
        except UnknownFaultError as error:
            raise Failure("MKS0907", str(error)) from None
    found = found or everything
    return found if options.sample is None else sample.drawn(found, options.sample, options.seed)


def show(faults: Mapping[str, ConditionalFault], format: str) -> int:
    """Name them, and run nothing."""
    if format == "json":
        print(json.dumps([_data(one) for one in faults.values()], indent=2))
    else:
        for one in faults.values():
            print(f"{one.id}  {one.what} ({one.requirement})")
        print(f"mkeyspec: {len(faults)} conditional faults", file=sys.stderr)
    return OK


def _data(one: ConditionalFault) -> dict[str, Any]:
    return {"id": one.id, "what": one.what, "condition": str(one.condition), "violates": one.requirement}


class Progress:
    """What is known while a campaign runs, on stderr: each survivor, and a line at each tenth of 100 faults or more."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.survivors = 0

    def one(self, survivor: ConditionalFault | None) -> None:
        """A fault is judged; `survivor`: it was not killed."""
        before = self.done * 10 // self.total
        self.done += 1
        if survivor is not None:
            self.survivors += 1
            print(f"SURVIVES {survivor.id}: {survivor.what}", file=sys.stderr, flush=True)
        if self.total >= 100 and self.done * 10 // self.total > before:
            print(
                f"mkeyspec: {self.done} of {self.total} faults that a row reaches are judged, {self.survivors} survive",
                file=sys.stderr,
                flush=True,
            )


class Conditions(Command):
    """One campaign of conditional faults."""

    def __init__(
        self,
        options: argparse.Namespace,
        device: DeviceChoice,
        faults: dict[str, ConditionalFault],
        paths: list[Path],
        project: Path,
    ) -> None:
        super().__init__(options, device, {}, paths, project)
        self.conditional = faults

    def _run(self) -> int:
        items = self._items()
        if not items:
            return NOTHING
        faults = self.conditional
        reached = self._reach(items)
        for number, how in reached.failing.items():
            print(f"mkeyspec: fails without any fault: {items[number].id} ({how})", file=sys.stderr)
        rows = {key: self._order(fault, items, reached) for key, fault in faults.items()}
        killed: dict[str, tuple[str, str]] = {}
        ran = 0
        running = [key for key in faults if rows[key]]
        progress = Progress(len(running))
        for one in campaign(
            running,
            items,
            lambda key: rows[key],
            self._rig,
            self.options.workers,
            whole=False,
            deadline=_HANG[self.device.kind],
        ):
            if one.unopened:
                raise Failure("MKS0919", f"{self.device.text} with {one.fault} can't be opened: {one.unopened}")
            ran += one.ran if not one.kills else rows[one.fault].index(next(iter(one.kills))) + 1
            for number, how in one.kills.items():
                killed[one.fault] = items[number].id, how
            progress.one(None if one.kills else faults[one.fault])
        self._say(killed, rows, items, ran, len(reached.failing), len(reached.skipped))
        return FAILED if len(killed) < len(faults) or reached.failing else OK

    def _reach(self, items: Sequence[Item]) -> Reached:
        if self.device.kind == "model":
            faults = list(self.conditional.values())
            return reach(items, faults, self.profile, self.deadline, self.options.workers)
        opening.devices(names.load())  # once for all processes
        return soft_reach.reach(items, self.conditional, super()._rig, self.options.workers)

    def _rig(self, name: str) -> Rig:
        if self.device.kind != "model":
            return super()._rig(name)
        model = self.conditional[name].make(self.profile)
        return Rig(model, self.profile, Expectations.load([], model.info()), deadline=self.deadline)

    def _order(self, fault: ConditionalFault, items: Sequence[Item], reached: Reached) -> list[int]:
        """The rows that reach the condition: those that verify the sentence, then those of its other requirements,
        known killers, and one row of each case before the second of any."""
        first, violated = self._first(), set(fault.base.violates)

        def rank(number: int) -> tuple[bool, bool, bool, int, int]:
            item = items[number]
            verifies = item.info.verifies
            return (
                fault.requirement not in verifies,
                not violated.intersection(verifies),
                item.id not in first,
                item.turn,
                number,
            )

        return sorted(reached.of(fault), key=rank)

    # What is said ----------------------------------------------------------------------------

    def _say(
        self,
        killed: Mapping[str, tuple[str, str]],
        rows: Mapping[str, list[int]],
        items: Sequence[Item],
        ran: int,
        failing: int,
        skipped: int,
    ) -> None:
        faults = self.conditional
        survivors = [key for key in faults if key not in killed]
        low, high = sample.wilson(len(killed), len(faults))
        seconds = monotonic() - self.started
        by_requirement: dict[str, list[str]] = defaultdict(list)
        for key, fault in faults.items():
            by_requirement[fault.requirement].append(key)
        if not self.text:
            data = {
                "device": self.device.text,
                "catalogue": len(of_device(self.device)),
                "seed": self.options.seed if self.options.sample is not None else None,
                "faults": len(faults),
                "killed": len(killed),
                "interval": [round(low, 4), round(high, 4)],
                "unreached": sum(not rows[key] for key in survivors),
                "requirements": {
                    name: {"faults": len(keys), "killed": sum(key in killed for key in keys)}
                    for name, keys in sorted(by_requirement.items())
                },
                "survivors": [{**_data(faults[key]), "rows": len(rows[key])} for key in survivors],
                "killed_by": {key: list(how) for key, how in killed.items()},
                "items": len(items),
                "items_run": ran,
                "failing": failing,
                "skipped": skipped,
                "seconds": round(seconds, 1),
            }
            print(json.dumps(data, indent=2))
            return
        for name, keys in sorted(by_requirement.items()):
            left = [key for key in keys if key not in killed]
            if not left:
                continue
            print(f"{name}: {len(keys) - len(left)} of {len(keys)} killed")
            for key in left:
                seen = f"{len(rows[key])} rows reach it" if rows[key] else "no row reaches it"
                print(f"  SURVIVES {key}: {faults[key].what}; {seen}")
        unreached = sum(not rows[key] for key in survivors)
        drawn = (
            ""
            if self.options.sample is None
            else f", drawn by seed {self.options.seed} of {len(of_device(self.device))}"
        )
        print(
            f"mkeyspec: {len(killed)} of {len(faults)} conditional faults killed{drawn}: "
            f"{len(killed) / len(faults):.1%}, 95 % interval {low:.1%} to {high:.1%}; of {len(survivors)} survivors, "
            f"{unreached} are reached by no row; on {self.device.text} ({len(items)} items) in {seconds:.1f} s"
        )
