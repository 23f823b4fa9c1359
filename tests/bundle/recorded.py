"""Rows that are recorded in a bundle, and judged from it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkeyspec.bundle.merge import merge
from mkeyspec.bundle.part import Part
from mkeyspec.bundle.reader import Bundle, read
from mkeyspec.bundle.recorder import Recorder
from mkeyspec.bundle.replay import Replay
from mkeyspec.bundle.replayed import Replayed
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.surroundings import NotRecorded
from mkeyspec.run.verdict import Blocked, CaseFailed, Failure
from mkeyspec.sabotage.suite import Item, outcome

HEAD = {"device": "model", "device_kind": "model", "run": {"run": "a-run", "started": "2026-11-23T00:00:00.000Z"}}

Told = tuple[Any, ...]


class Recording:
    """A bundle that is being made."""

    def __init__(self, folder: Path) -> None:
        self.part = Part(folder / "parts", HEAD)
        self.recorder = Recorder(self.part)
        self._file = folder / "a.bundle"

    def rig(self, device: Device, deadline: float, expectations: Expectations) -> Rig:
        wrapped = self.recorder.wrap(device)
        capabilities, info = device.capabilities(), device.info()
        self.part.device(
            {"device": info.device, "offers": sorted(capabilities.offers), "values": dict(capabilities.values)}
        )
        return Rig(wrapped, Profile(), expectations, deadline=deadline, around=self.recorder)

    def bundle(self) -> Bundle:
        self.part.close()
        merge(self.part.path.parent, self._file)
        return read(self._file)


def judge_of(bundle: Bundle, expectations: Expectations) -> Rig:
    replay = Replay(bundle)
    return Rig(Replayed(replay), Profile(), expectations, deadline=5, around=replay)


def told(rig: Rig, item: Item) -> Told:
    """What a report says of a row, but for the places in our own code where an exception came by."""
    try:
        outcome(item, rig)
    except CaseFailed:
        pass
    except Blocked as blocked:
        return ("blocked", str(blocked))
    except NotRecorded as missing:
        rig.leave()
        return ("not judged", str(missing))
    verdict = rig.verdict
    return (
        verdict.status,
        [_failure(one) for one in verdict.failures],
        [_failure(one) for one in verdict.consequences],
        verdict.known,
        verdict.records,
        verdict.statuses,
        verdict.not_run,
        verdict.quiet,
        verdict.unhealthy,
        verdict.absent,
    )


def _failure(one: Failure) -> Told:
    details: list[tuple[str, str]] = []
    for label, text in one.details:
        if label == "traceback":
            break
        details.append((label, text))
    return (one.code, one.at, one.message, details, one.hard, one.suspects, one.looks_like, one.difference)


def differing(run: Iterable[tuple[Item, Told]], bundle: Bundle, expectations: Expectations) -> list[str]:
    """The rows that are judged otherwise than in the run."""
    rig = judge_of(bundle, expectations)
    found = []
    for item, expected in run:
        if rig.blocked is not None:
            rig.take_over(rig.device)
        got = told(rig, item)
        if got != expected:
            first = next(
                (f"{one!r:.600} -> {two!r:.600}" for one, two in zip(expected, got, strict=False) if one != two), ""
            )
            found.append(f"{item.id}: {first}")
    return found
