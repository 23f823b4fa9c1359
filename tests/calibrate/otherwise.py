"""Each point of the device profile set to each of its other choices, in the device and in the profile: no row is red.

    python -m tests.calibrate.otherwise                  # the model: the table, point by point
    python -m tests.calibrate.otherwise --turns          # all rows, with every point set otherwise at once
    python -m tests.calibrate.otherwise --pairs          # a sample of rows, with every pair of choices somewhere

A point is looked at with the rows that read it, in the model or in the judge: a profile notes which of its members are
read. The others can't come out otherwise. With `--sample N --seed S` N rows are drawn of them. The column `told`
says that the check can fail: a row is red if the judge has the default, and the device does not. Where it is empty, the
cases take the answer either way.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from mkeyspec.calibrate.pages import DEPARTS, LISTED, STATED
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile, parse
from mkeyspec.run.departures import Expectations
from tests.calibrate.blind import TABLE, Secret, secrets
from tests.quality.subject import Bench, Row, rows

MEMBERS = frozenset(item.name for item in fields(Profile))
DEFAULT = Profile()
TELLING = 300
"""So many rows are tried with the default's judge, until one is red."""


class Watched(Profile):
    """The default profile; `READ` has the members that were read of it."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name in MEMBERS:
            READ.add(name)
        return Profile.__getattribute__(self, name)

    def errno_of(self, rule: str) -> int:
        READ.add(f"errno.{rule}")
        return Profile.errno_of(self, rule)


READ: set[str] = set()
ANYWHERE = frozenset({"err_priority", "csum_seed_ffff"})
"""Read when a model is made, whatever the row does; they are of T10-DIF."""


@dataclass(frozen=True, slots=True)
class Device:
    """A model with some points set otherwise: `answers` by member."""

    name: str
    profile: Profile

    @property
    def listed(self) -> Expectations:
        """The departures that `mkeyspec calibrate --departures` would list."""
        found = (
            id
            for member, (departs, id) in DEPARTS.items()
            if id in LISTED and departs(getattr(self.profile, member))
        )  # fmt: skip
        return Expectations(dict.fromkeys(found, ("departures.toml", "")))

    def bench(self, *, told: bool = True) -> Bench:
        """`told`: the judge has the device's profile, not the default."""
        judge = self.profile if told else DEFAULT
        return Bench(lambda: Model(self.profile), profile=judge, expectations=self.listed)


def profile_of(*given: Secret) -> Profile:
    """Of several answers; raises ProfileError if no device has them together."""
    members: dict[str, str] = {}
    errnos: dict[str, str] = {}
    for one in given:
        if one.point.startswith("errno."):
            errnos[one.point] = one.profile.splitlines()[-1]
        else:
            members |= {line.split(" = ")[0]: line for line in one.profile.splitlines()}
    lines = [f"{rule} = {line.split(' = ', 2)[-1].strip(' }')}" for rule, line in errnos.items()]
    return parse("\n".join([*members.values(), *lines]))


NAMED = {*STATED, "errno.qp_streams"}
"""Errnos that cases name, as a page does (and those of too many streams): there a device with another one is red,
whatever the profile says."""


def choices() -> list[Secret]:
    """Each answer to each point that is not the default's."""
    return [
        one for one in secrets() if one.point not in NAMED and one.answer != TABLE["choices"].get(one.point, [0])[0]
    ]


def readers(sample: Sequence[Row]) -> dict[str, list[Row]]:
    """By point: the rows that read it. Row by row on the default model, so that it costs one run."""
    found: dict[str, list[Row]] = {one.point: [] for one in choices()}
    watched = Watched()
    bench = Bench(lambda: Model(watched), profile=watched)
    for row in sample:
        READ.clear()
        bench.run(row)
        needs = set(map(str, row.row.needs))
        of_dif = not needs.isdisjoint({"signature.t10dif", "signature.csum"})
        for name in READ - ANYWHERE | (ANYWHERE if of_dif else frozenset()):
            if name in found:
                found[name].append(row)
    return found


def judge(device: Device, sample: Sequence[Row], *, told: bool = True) -> Iterator[tuple[Row, str, str]]:
    """Each row, its status, and why."""
    bench = device.bench(told=told)
    for row in sample:
        out = bench.run(row)
        yield row, "failed" if out.status in ("fail", "error", "told") else out.status, out.text


def noticed(device: Device, sample: Sequence[Row]) -> bool:
    """Whether a row is red if the judge has the default."""
    return any(status == "failed" for _, status, _ in judge(device, sample[:TELLING], told=False))


@dataclass(slots=True)
class Line:
    """One line of the table."""

    device: str
    count: Counter[str]
    red: list[str]
    told: str = ""

    def __str__(self) -> str:
        numbers = " | ".join(str(self.count[name]) for name in ("pass", "known", "skip", "failed"))
        return f"| `{self.device}` | {numbers} | {self.told} |"


def line_of(device: Device, sample: Sequence[Row], *, telling: bool = False) -> Line:
    line = Line(device.name, Counter(), [])
    for row, status, text in judge(device, sample):
        line.count[status] += 1
        if status == "failed":
            line.red.append(f"{device.name}: {row.id}: {text}")
    if telling:
        line.told = "yes" if noticed(device, sample) else ""
    return line


# Which devices ---------------------------------------------------------------------------------


def single() -> list[tuple[Secret, Device]]:
    return [(one, Device(f"{one.point} = {one.answer}", profile_of(one))) for one in choices()]


APART = ("import_method", "without", "wqe_unit", "wqe_overhead", "errno.dek_import", "errno.mixed_block_sizes")
"""Answers by which rows are skipped, or that no other may stand beside: not among many."""


def by_point() -> dict[str, list[Secret]]:
    found: dict[str, list[Secret]] = {}
    for one in choices():
        if one.point not in APART:
            found.setdefault(one.point, []).append(one)
    return found


def turns() -> list[Device]:
    """Each answer of each point in one of them, and in each of them no default that could be another answer."""
    points = by_point()
    most = max(map(len, points.values()))
    return [
        Device(f"turn {turn}", profile_of(*(answers[turn % len(answers)] for answers in points.values())))
        for turn in range(most)
    ]


def pairs(seed: int, tries: int = 20) -> list[Device]:
    """Each pair of answers to two points in one of them, the default too; drawn, the best of some tries each time.
    Errnos are one point: those of a device are all the first, the second, or the default's."""
    points: dict[str, list[tuple[Secret, ...]]] = {"errno": [()]}
    errnos: dict[str, list[Secret]] = {}
    for point, answers in by_point().items():
        if point.startswith("errno."):
            errnos[point] = answers
        else:
            points[point] = [(), *((one,) for one in answers)]
    points["errno"] += [tuple(answers[number] for answers in errnos.values()) for number in range(2)]
    levels = [len(answers) for answers in points.values()]
    draw = random.Random(seed)
    left = {
        (i, a, j, b)
        for i in range(len(levels)) for j in range(i) for a in range(levels[i]) for b in range(levels[j])
    }  # fmt: skip
    made: list[Device] = []
    while left:
        tried = [[draw.randrange(level) for level in levels] for _ in range(tries)]
        new = [left & {(i, one[i], j, one[j]) for i in range(len(one)) for j in range(i)} for one in tried]
        best = max(range(tries), key=lambda number: len(new[number]))
        if not new[best]:
            i, a, j, b = next(iter(left))
            tried[best][i], tried[best][j] = a, b
            new[best] = {(i, a, j, b)}
        left -= new[best]
        given = [one for answers, level in zip(points.values(), tried[best], strict=True) for one in answers[level]]
        made.append(Device(f"device {len(made)}", profile_of(*given)))
    return made


# The command -----------------------------------------------------------------------------------


def drawn(sample: Sequence[Row], count: int | None, seed: int) -> list[Row]:
    return list(sample) if count is None or len(sample) <= count else random.Random(seed).sample(list(sample), count)


def tables(jobs: Sequence[tuple[Device, Sequence[Row]]], workers: int, *, telling: bool) -> Iterator[Line]:
    global _JOBS
    _JOBS = jobs, telling
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap(_job, range(len(jobs)))


_JOBS: tuple[Sequence[tuple[Device, Sequence[Row]]], bool] = ((), False)


def _job(number: int) -> Line:
    jobs, telling = _JOBS
    return line_of(*jobs[number], telling=telling)


def jobs_of(options: argparse.Namespace) -> list[tuple[Device, Sequence[Row]]]:
    whole = rows()
    if options.pairs:
        return [(device, drawn(whole, options.sample or 200, options.seed)) for device in pairs(options.seed)]
    if options.turns:
        return [(device, drawn(whole, options.sample, options.seed)) for device in turns()]
    read = readers(whole)
    print("| device | passed | known | skipped | failed | told |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    return [(device, drawn(read[one.point], options.sample, options.seed)) for one, device in single()]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.calibrate.otherwise")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--sample", type=int, metavar="N", help="rows of each device (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(words)
    red: list[str] = []
    for line in tables(jobs_of(options), options.workers, telling=not (options.turns or options.pairs)):
        print(line, flush=True)
        red += line.red
    print(*red, sep="\n")
    print(f"{len(red)} rows are red")
    return int(bool(red))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
