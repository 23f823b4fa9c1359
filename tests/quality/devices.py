"""Devices that are wrong in one way, or right in an unusual one, the case that each is run with, and its verdict.

`devices.toml` is the table, `devices_unreliable.toml` that of unreliable connections. A device is a `Disturbance`
(tests/quality/tap.py) around the model, entered here under `@device`. The tests are in `test_devices.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mkeyspec.run.departures import Expectations
from tests.quality.subject import PROFILE, Bench, Outcome, Row, model, rows
from tests.quality.tap import Disturbance

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILES = [
    Path(__file__).with_name(f"{name}.toml")
    for name in (
        "devices",
        "devices_overwritten",
        "devices_reach",
        "devices_receives",
        "devices_streams",
        "devices_two_ends",
        "devices_unreliable",
    )
]

Make = Callable[[], Disturbance]
DEVICES: dict[str, Make] = {"undisturbed": Disturbance}


def device(name: str) -> Callable[[Make], Make]:
    """Enter a device under this name."""

    def enter(make: Make) -> Make:
        assert name not in DEVICES, name
        DEVICES[name] = make
        return make

    return enter


@dataclass(frozen=True, slots=True)
class Trial:
    """`verdict`: as of an `Outcome`, or the code of the first failure; where time decides which, "A or B". `why`: what
    forbids what the device does, or permits it. `known`: departures that are listed for the device."""

    device: str
    case: str
    verdict: str
    why: str
    known: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.device}-{self.case}"

    @property
    def right(self) -> bool:
        return not self.verdict.startswith("MKS")


@cache
def table() -> tuple[dict[str, str], list[Trial]]:
    """The text of each case by its name, and the trials."""
    from tests.quality import (  # noqa: F401
        devices_bytes,
        devices_completions,
        devices_overwritten,
        devices_receives,
        devices_streams,
        devices_unreliable,
    )

    read = [tomllib.loads(file.read_text("utf-8")) for file in FILES]
    trials = []
    for entry in (entry for one in read for entry in one["trial"]):
        known = tuple(entry.pop("known", ()))
        cases = entry.pop("case")
        trials += [Trial(case=case, known=known, **entry) for case in ([cases] if isinstance(cases, str) else cases)]
    return {name: text for one in read for name, text in one["case"].items()}, trials


def row_of(case: str, folder: Path) -> Row:
    """The one row of this case."""
    text = table()[0][case]
    path = folder / f"{case}.mks"
    path.write_text(f'mks 1\nsuite "devices"\ncase {case}\n    verifies CFG-18\n{text}', "utf-8")
    (row,) = rows([path])
    return row


def run(trial: Trial, folder: Path) -> tuple[str, Outcome, Disturbance]:
    """The verdict, as the table writes it."""
    listed = dict.fromkeys(trial.known, ("devices.toml", "as the case says"))
    disturbance = DEVICES[trial.device]()
    outcome = Bench(model, 0.05, expectations=Expectations(listed), profile=PROFILE).run(
        row_of(trial.case, folder), disturbance, slow=trial.right
    )
    return (outcome.text.partition(" ")[0] if outcome.status == "fail" else outcome.status), outcome, disturbance
