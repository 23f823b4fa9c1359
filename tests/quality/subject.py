"""A row of a shipped case, what a clean run of it showed, and what its text leaves open."""

from __future__ import annotations

import errno
import fnmatch
import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.live_rules import LiveRules
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device, Refused
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.surroundings import Surroundings
from mkeyspec.run.verdict import Blocked, CaseFailed, CaseInfo
from mkeyspec.value.layout import Interleaved, List, Part
from tests.quality.tap import Disturbance, Record, Tap
from tests.shipped import compiled

ROOT = Path(__file__).resolve().parents[2]
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
GUARD = 64
"""Bytes of guard on either side of a buffer, inside its MR (docs/language.md, Objects)."""
PROFILE = Profile()
SIGNATURE = int(MkeyFlag.BLOCK_SIGNATURE)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of one case; `turn`: which of its case."""

    source: str
    case: plan.Case
    row: plan.Row
    turn: int

    @property
    def id(self) -> str:
        name = f"{self.source}::{self.case.name}"
        return f"{name}[{self.row.id}]" if self.row.id else name


@cache
def match(pattern: str, text: str) -> bool:
    """`*` stands for anything; brackets for themselves."""
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))


def each_value(whole: list[Row], seed: int) -> list[Row]:
    """Some rows of one case, drawn in an order of `seed`: each value of each `for` is in one."""
    values = {id(row): {(one.name, one.text) for one in row.row.bindings if one.text is not None} for row in whole}
    drawn = random.Random(f"{seed} {whole[0].case.name}").sample(whole, len(whole))
    left = set().union(*values.values())
    chosen: list[Row] = []
    for row in drawn:
        if not chosen or values[id(row)] & left:
            chosen.append(row)
            left -= values[id(row)]
    return chosen


def rows(
    paths: Iterable[Path] = (ROOT / "cases",),
    pattern: str = "*",
    most: int | None = None,
    seed: int = 1,
    *,
    each: bool = False,
) -> list[Row]:
    """The rows of all cases below `paths` whose id matches the pattern or has it in it; `most` drawn of each case, with
    `each` from those that have each value of each `for`."""
    found: list[Row] = []
    files = sorted(one for root in paths for one in ([root] if root.is_file() else root.rglob("*.mks")))
    for path in files if WORKER % 2 else reversed(files):
        compiled(path)  # two workers begin at both ends, and find the other half done
    for path in files:
        suite = compiled(path)
        for case in suite.cases:
            whole = [Row(suite.source, case, row, turn) for turn, row in enumerate(case.rows)]
            whole = [row for row in whole if match(pattern, row.id) or pattern in row.id]
            if each and whole:
                whole = each_value(whole, seed)[:most]
            elif most is not None and len(whole) > most:
                whole = random.Random(f"{seed} {case.name}").sample(whole, most)
            found += whole
    return found


@dataclass(slots=True)
class Outcome:
    """`status` is pass, known, told, fail, skip or error (the judge itself fell over). `text`: why, in a line.

    `told`: known, and the row's report says what was found in bytes that the departure may have written."""

    status: str
    text: str
    tap: Tap
    line: int = 0

    @property
    def green(self) -> bool:
        return self.status in ("pass", "known")


Make = Callable[[], Device]


def model() -> Device:
    return Model(PROFILE)


@dataclass(slots=True)
class Bench:
    """Where rows are run: a device, the longest wait for anything that it owes, the known departures."""

    make: Make = model
    deadline: float = 0.01
    patience: float = 3.0
    """The same for a device that is slow, and right."""
    expectations: Expectations = field(default_factory=Expectations)
    tidy: Callable[[Device, bool], None] = lambda device, green: None
    """Called after every run: the device, and whether the row passed."""
    profile: Profile = PROFILE
    """What the judge is told of the device."""

    def run(
        self, row: Row, disturbance: Disturbance | None = None, *, keep: bool = False, slow: bool = False
    ) -> Outcome:
        outcome = self._run(row, disturbance, keep, slow)
        self.tidy(outcome.tap.device, outcome.green and disturbance is None)
        return outcome

    def _run(self, row: Row, disturbance: Disturbance | None, keep: bool, slow: bool) -> Outcome:
        tap = Tap(self.make(), disturbance, keep=keep)
        rig = Rig(
            tap,
            self.profile,
            self.expectations,
            deadline=self.patience if slow else self.deadline,
            rules=LiveRules,
            around=Surroundings(tap.device) if disturbance is None else None,
        )
        case, steps = row.case, row.row.steps
        info = CaseInfo(row.id, row.source, case.verifies, row.row.needs, None, case.at, case.isolated)
        try:
            unmet = rig.begin(info)
            if unmet:
                return Outcome("skip", ", ".join(map(str, unmet)), tap)
            for number, step in enumerate(steps):
                tap.begin(number)
                rig.step(step)
            tap.begin(len(steps))
            verdict = rig.finish()
            told = ", ".join(f"{one.code} {one.message}" for one in verdict.consequences)
            return Outcome("told" if told else verdict.status, told, tap)
        except CaseFailed as failed:
            first = failed.failures[0]
            return Outcome("fail", f"{first.code} {first.message}", tap, first.at.line if first.at else 0)
        except Blocked as blocked:
            return Outcome("fail", f"blocked: {blocked}", tap)
        except Exception as error:
            return Outcome("error", f"{type(error).__name__}: {error}", tap)


@dataclass
class Subject:
    """A row and its clean run."""

    row: Row
    record: Record
    random: random.Random
    departs: bool = False
    """The clean run was known: a statement came out as the departure that it names."""

    @property
    def steps(self) -> tuple[plan.Step, ...]:
        return self.row.row.steps

    def step(self, number: int) -> plan.Step | None:
        """The step of this number; None before the first and after the last."""
        return self.steps[number] if 0 <= number < len(self.steps) else None

    def line(self, number: int) -> int:
        """The line of a step; of the end of the case that of its last step."""
        return self.steps[max(0, min(number, len(self.steps) - 1))].at.line

    def claim(self, number: int) -> tuple[plan.Outcome, ...]:
        claim: tuple[plan.Outcome, ...] = getattr(self.step(number), "claim", ())
        return claim

    def phases(self, number: int) -> set[str]:
        """Where the step may be refused."""
        known = getattr(self.step(number), "known", None)
        departure = (known.outcome,) if self.departs and isinstance(known, plan.Known) else ()
        return {one.phase for one in (*self.claim(number), *departure) if isinstance(one, plan.Rejected)}

    def must(self, number: int) -> bool:
        """The step has one outcome, and it is what the clean run showed."""
        return len(self.claim(number)) <= 1

    def judged(self, number: int) -> tuple[str, str]:
        """Where a refusal that this step claims is judged: side and queue of the request that names the mkey
        (docs/language.md, Claims)."""
        step = self.step(number)
        if isinstance(step, plan.Receive):
            return {"recv": ("owner", "recv"), "read": ("owner", "send")}.get(step.by, ("peer", "send"))
        if isinstance(step, plan.Transmit):
            return ("peer" if step.by == "peer_read" else "owner", "send")
        if "local_protection" in {getattr(one, "reason", None) for one in self.claim(number)}:
            for seen in self.record.seen:  # a message whose explicit receive can't take it is judged there
                if (seen.step, seen.queue) == (number, "recv") and seen.completion.status == "loc_prot_err":
                    return (seen.completion.qp.side, "recv")
        return ("peer" if getattr(step, "peer", False) else "owner", "send")

    def connected_anew(self, qp: int, first: int, last: int) -> bool:
        """Whether a QP was reconnected by a step from `first` on, before `last`: its queues are empty then."""
        for call in self.record.named("reconnect"):
            ends = {self.record.numbers[call.args[0].owner.handle], self.record.numbers[call.args[0].peer.handle]}
            if qp in ends and first <= call.step < last:
                return True
        return False

    @cached_property
    def names(self) -> dict[int, plan.Memory]:
        """Regions that are buffers of the case, by number."""
        found: dict[int, plan.Memory] = {}
        for region in self.record.regions:
            step = self.step(region.step)
            if isinstance(step, plan.Memory):
                found[region.number] = step
        return found

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {memory.name: number for number, memory in self.names.items()}

    @cached_property
    def parts(self) -> dict[str, list[tuple[int, int]]]:
        """What the steps name of each buffer: (offset, length)."""
        found: dict[str, list[tuple[int, int]]] = {}
        for step in self.steps:
            named(step, found)
        return found

    def opened(self, since: int) -> set[tuple[int, int]]:
        """Bytes (region, offset) of which the text says, from step `since` on, that anything may be there."""
        found: set[tuple[int, int]] = set()
        held: set[tuple[int, int]] = set()
        written: set[tuple[int, int]] = set()
        """Only into the report: what is there is an open point, and judged by nobody."""
        internal: int | None = None
        labels: dict[str, int] = {}
        for number, step in enumerate(self.steps):
            if isinstance(step, plan.Transmit):
                made = [region for region in self.record.regions if region.step == number]
                internal = made[-1].number if made else None
                if step.label is not None and internal is not None:
                    labels[step.label] = internal
            recorded = isinstance(step, plan.Record) and isinstance(step.observed, plan.Wire)
            if not isinstance(step, (plan.Expect, plan.Record)) or not (
                recorded or (number >= since and isinstance(step, plan.Expect))
            ):
                continue
            observed = step.observed
            if isinstance(observed, plan.Content):
                places = self._bytes(observed.parts)
            elif isinstance(observed, plan.Wire):
                region = internal if observed.label is None else labels.get(observed.label)
                if region is None:
                    continue
                places = [(region, GUARD + observed.start + at) for at in range(observed.length)]
            else:
                continue
            if isinstance(step, plan.Record):
                written |= set(places)
                continue
            for place, is_open in zip(places, open_bytes(step.expected, len(places)), strict=True):
                (found if is_open else held).add(place)
        return found | (written - held)

    def _bytes(self, parts: tuple[Part, ...]) -> list[tuple[int, int]]:
        """The bytes (region, offset) of parts of the case's buffers."""
        found: list[tuple[int, int]] = []
        for part in parts:
            if part.name in self.number_of and isinstance(part.start, int) and isinstance(part.length, int):
                first = GUARD + part.start
                found += [(self.number_of[part.name], at) for at in range(first, first + part.length)]
        return found


def named(value: Any, found: dict[str, list[tuple[int, int]]]) -> None:
    """Every part of a buffer in a step; of an interleaved layout what it takes, without what it leaves out."""
    if isinstance(value, Part):
        if isinstance(value.start, int) and isinstance(value.length, int):
            found.setdefault(value.name, []).append((value.start, value.length))
    elif isinstance(value, (List, Interleaved)):
        with suppress(ValueError):
            for name, start, length in value.walk():
                found.setdefault(name, []).append((start, length))
    elif isinstance(value, tuple):
        for one in value:
            named(one, found)
    elif is_dataclass(value) and type(value).__module__.startswith(plan.__name__):
        for member in fields(value):
            named(getattr(value, member.name), found)


def open_bytes(expected: plan.Expected, length: int) -> Iterator[bool]:
    """Of each byte, whether the pattern takes anything there."""
    if isinstance(expected, plan.Any):
        return iter([True] * length)
    if isinstance(expected, plan.Sequence):
        found: list[bool] = []
        for item in expected.items:
            if isinstance(item, plan.Any):
                found += [True] * (item.length if item.length is not None else length - len(found))
            else:
                found += [False] * item.length
        return iter(found)
    if isinstance(expected, plan.OneOf):
        columns = [open_bytes(one, length) for one in expected.alternatives]
        return iter([any(ways) for ways in zip(*columns, strict=True)])
    return iter([False] * length)


def errno_beside(number: int) -> int:
    """An errno that is another one."""
    return errno.ENOTTY if number != errno.ENOTTY else errno.EXDEV


def is_refusal(result: object) -> bool:
    return isinstance(result, Refused)
