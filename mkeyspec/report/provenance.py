"""What a report says of a run as a whole: on what it ran, and of what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mkeyspec.report.reader import Run


def provenance_of(run: Run) -> Iterator[tuple[str, str]]:
    """Of a run: name and value; values may be empty."""
    begin, device = run.begin, run.device
    yield "unit", begin.unit
    yield "device", device.device
    yield "firmware", device.firmware
    yield "pci", device.pci
    for name, value in device.versions.items():
        yield f"version:{name}", value
    yield "mkeyspec", begin.mkeyspec
    yield "run", begin.run
    yield "lab", begin.lab
    yield "started", begin.started
    yield "host", begin.host
    yield "kernel", begin.kernel
    yield "python", begin.python
    yield "git_commit", begin.git_commit + (" (with changes)" if begin.git_changed else "")
    yield "personality", begin.personality
    yield "profile", begin.profile
    yield "device_profile", begin.device_profile
    for one in points_of(run):
        yield f"profile:{one.point}", f"{one.value} (default {one.default}; {one.seen})"
    yield "expectations", " ".join(begin.expectations)
    yield "options", " ".join(begin.options)
    yield "seed", begin.seed
    yield "vary", begin.vary
    yield "judged", begin.judged
    if run.end is None:
        yield "ended", "not by itself"
    for culprit, symptom in run.end.reopened.items() if run.end is not None else ():
        yield f"reopened:{culprit}", symptom


@dataclass(frozen=True, slots=True)
class DevicePoint:
    """A point of the device profile that is not the default's, as the profile writes it; `seen`: the confidence;
    `sides`: what each way to look at it saw."""

    point: str
    value: str
    default: str
    seen: str
    sides: tuple[str, ...]


def points_of(run: Run) -> list[DevicePoint]:
    """Where the device of a run differs from the defaults, by its profile."""
    whole = ([*one, *[""] * (4 - len(one))] for one in run.begin.device_points)
    return [DevicePoint(point, value, default, seen, tuple(sides)) for point, value, default, seen, *sides in whole]


def run_line(run: Run) -> str:
    """A run in one line."""
    begin, device = run.begin, run.device
    words = [begin.run, begin.unit, device.device, f"firmware {device.firmware}" if device.firmware else ""]
    words += [f"{name} {version}" for name, version in device.versions.items()]
    words += [f"commit {begin.git_commit[:12]}{'+' if begin.git_changed else ''}" if begin.git_commit else ""]
    words += ["" if run.end is not None else "did not end by itself"]
    return ", ".join(filter(None, words))
