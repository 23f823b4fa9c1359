"""Every disturbance that a page forbids turns a row red, and every legal one leaves it green.

`python -m tests.quality.disturb`. For each row a clean run shows where each kind of disturbance can be tried. Of these
places some are drawn, and the row is run once for each, on a new device with that one disturbance. What comes out
otherwise than its kind demands must be an entry of `exceptions.toml`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Any

from mkeyspec.device.select import parse
from mkeyspec.device.soft import preload
from tests.quality.kind import PLACES, Kind, Place, kinds
from tests.quality.subject import Bench, Outcome, Row, Subject, match, model, rows
from tests.quality.tap import Record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXCEPTIONS = Path(__file__).with_name("exceptions.toml")


@dataclass(slots=True)
class Wrong:
    """A verdict that is not the kind's. `result`: green, red or error (the judge itself fell over)."""

    kind: str
    row: str
    place: str
    step: int
    at: str
    """FILE:LINE of the step."""
    text: str
    result: str

    def __str__(self) -> str:
        because = f": {self.text}" if self.text else ""
        return f"{self.at}: {self.kind} is {self.result} in {self.row}, step {self.step}: {self.place}{because}"


@dataclass(slots=True)
class Count:
    """What became of a kind: applied = right + wrong; the others were tried, and say nothing."""

    red: int = 0
    green: int = 0
    error: int = 0
    without_trace: int = 0
    """Forbidden ones of which nothing came: bytes that were written over, requests without an effect."""
    left_open: int = 0
    """Bytes of which the case itself says `any`."""
    unmet: int = 0
    """The run did not get there, or was skipped."""

    def add(self, other: Count) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Result:
    counts: dict[str, Count] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    """Rows that don't pass undisturbed."""
    ran: int = 0
    left: int = 0
    """Rows for which the budget did not suffice."""

    def add(self, other: Result) -> None:
        for name, count in other.counts.items():
            self.counts.setdefault(name, Count()).add(count)
        self.wrong += other.wrong
        self.failing += other.failing
        self.ran += other.ran
        self.left += other.left


# One row -------------------------------------------------------------------------------------


def subject_of(row: Row, bench: Bench, seed: int) -> Subject | Outcome:
    """The row with its clean run; that run's outcome if it does not pass."""
    clean = bench.run(row, keep=True)
    if not clean.green:
        return clean
    return Subject(row, clean.tap.record, random.Random(f"{seed} {row.id}"), clean.status == "known")


def drawn(subject: Subject, kind: Kind, seed: int, each: int) -> list[Place]:
    """Places of this kind in the row, at most `each` of them; 0 is all."""
    found = list(PLACES[kind.name](subject))
    if each and len(found) > each:
        found = random.Random(f"{seed} {subject.row.id} {kind.name}").sample(found, each)
    return found


def answers(record: Record) -> list[Any]:
    """What a device told, without numbers that differ from one run to another, or mean nothing: a driver leaves the
    immediate of a request's completion as it was."""
    told: list[Any] = [
        (one.qp, one.queue, one.completion.status, one.completion.opcode, one.completion.byte_len,
         one.completion.imm if one.queue == "recv" else None, one.completion.wr_id) for one in record.seen
    ]  # fmt: skip
    told += [(step, event.kind) for step, event in record.events]
    told += [(call.step, call.name, call.result) for name in ("mkey_check", "cancel") for call in record.named(name)]
    return told


def trace(subject: Subject, record: Record, place: Place) -> str:
    """What came of a disturbance that the row passed by: `none`, `open`, or `some`."""
    if answers(record) != answers(subject.record) or len(record.images) != len(subject.record.images):
        return "some"
    differing = {
        (number, at)
        for number, (was, now) in enumerate(zip(subject.record.images, record.images, strict=True))
        if was != now
        for at, (one, other) in enumerate(zip(was, now, strict=True))
        if one != other
    }
    if not differing:
        return "none"
    return "open" if differing <= subject.opened(place.step) else "some"


def judge(subject: Subject, kind: Kind, place: Place, bench: Bench, count: Count) -> Wrong | None:
    """Run the row with this disturbance; what is wrong about its verdict."""
    disturbance = place.make()
    outcome = bench.run(subject.row, disturbance, keep=kind.trace, slow=not kind.forbidden)
    if (outcome.status == "skip" and not kind.skips) or not disturbance.done:
        count.unmet += 1
        return None
    green = outcome.green or outcome.status == "skip"
    result = "error" if outcome.status == "error" else "green" if green else "red"
    if result == "green" and kind.trace:
        came = trace(subject, outcome.tap.record, place)
        if came != "some":
            count.without_trace += came == "none"
            count.left_open += came == "open"
            return None
    setattr(count, result, getattr(count, result) + 1)
    if result == ("red" if kind.forbidden else "green"):
        return None
    at = f"{subject.row.source}:{subject.line(place.step)}"
    return Wrong(kind.name, subject.row.id, place.what, place.step, at, outcome.text, result)


def disturb(row: Row, chosen: Sequence[Kind], bench: Bench, seed: int, each: int) -> Result:
    """The row with each kind of disturbance."""
    result = Result(ran=1)
    subject = subject_of(row, bench, seed)
    if isinstance(subject, Outcome):
        if subject.status != "skip":
            result.failing.append(f"{row.id}: {subject.text}")
        return result
    for kind in chosen:
        count = result.counts.setdefault(kind.name, Count())
        for place in drawn(subject, kind, seed, each):
            wrong = judge(subject, kind, place, bench, count)
            if wrong is not None:
                result.wrong.append(wrong)
    return result


# Many rows -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for."""

    kinds: tuple[str, ...]
    seed: int = 1
    each: int = 1
    ends: float | None = None
    """When the budget ends, in seconds of the monotonic clock."""
    device: str = "model"
    deadline: float | None = None


def bench_of(order: Order) -> Bench:
    if order.device == "model":
        return Bench(model, order.deadline or 0.01)
    from tests.quality.soft import soft_bench

    return soft_bench(order.device, order.deadline or 0.5)


def work(order: Order, share: Sequence[Row]) -> Result:
    """All of the rows of this share, or as many as there is time for."""
    bench = bench_of(order)
    chosen = [kinds()[name] for name in order.kinds]
    result = Result()
    for place, row in enumerate(share):
        if order.ends is not None and monotonic() > order.ends:
            result.left = len(share) - place
            break
        result.add(disturb(row, chosen, bench, order.seed, order.each))
    return result


def campaign(order: Order, items: Sequence[Row], workers: int) -> Result:
    if workers <= 1:
        return work(order, items)
    result = Result()
    parts = workers * 8
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        tasks = [pool.apply_async(work, (order, items[part::parts])) for part in range(parts)]
        for task in tasks:
            result.add(task.get())
    return result


# Exceptions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exempt:
    """What is known to come out wrong. `row` and `place` are patterns."""

    kind: str
    row: str
    reason: str
    place: str = "*"
    device: str = "*"

    def fits(self, wrong: Wrong) -> bool:
        return self.kind == wrong.kind and match(self.row, wrong.row) and match(self.place, wrong.place)


def exceptions(device: str) -> list[Exempt]:
    entries = tomllib.loads(EXCEPTIONS.read_text("utf-8")).get("exception", [])
    found = [Exempt(**entry) for entry in entries]
    return [one for one in found if fnmatchcase(device.split(":")[0], one.device)]


def sorted_out(wrong: Iterable[Wrong], known: Sequence[Exempt]) -> tuple[list[Wrong], dict[Exempt, int]]:
    """What no entry names, and how often each entry was met."""
    new: list[Wrong] = []
    met: Counter[Exempt] = Counter()
    for one in wrong:
        entry = next((entry for entry in known if entry.fits(one)), None)
        if entry is None:
            new.append(one)
        else:
            met[entry] += 1
    return new, met


# The command ---------------------------------------------------------------------------------


def table(result: Result) -> Iterator[str]:
    header = ("kind", "verdict", "applied", "red", "green", "fell over", "no trace", "open", "unmet", "right")
    yield "{:30} {:10} {:>8} {:>8} {:>8} {:>9} {:>8} {:>6} {:>6} {:>7}".format(*header)
    for name, kind in kinds().items():
        count = result.counts.get(name)
        if count is None:
            continue
        applied = count.red + count.green + count.error
        right = count.red if kind.forbidden else count.green
        share = f"{100 * right / applied:.2f}%" if applied else "-"
        yield (
            f"{name:30} {kind.verdict:10} {applied:8} {count.red:8} {count.green:8} {count.error:9} "
            f"{count.without_trace:8} {count.left_open:6} {count.unmet:6} {share:>7}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.disturb", description=__doc__)
    parser.add_argument("--rows", type=int, help="at most so many rows of each case, drawn")
    parser.add_argument("--each", type=int, default=1, help="places drawn of each kind in a row (default 1; 0: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--kind", action="append", default=[], help="a kind or a group; may be repeated")
    parser.add_argument("--case", default="*", help="only rows whose id has this in it, or matches it")
    parser.add_argument("--device", default="model", help="model or soft[:PERSONALITY]")
    parser.add_argument("--deadline", type=float, help="longest wait for what a device owes, in seconds")
    parser.add_argument("--budget", type=float, help="stop after so many seconds")
    parser.add_argument("-n", type=int, default=1, dest="workers", help="processes")
    parser.add_argument("--list", action="store_true", help="print the kinds, and end")
    parser.add_argument("--most", type=int, default=20, help="print at most so many wrong verdicts of a kind")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    chosen = [kind for kind in kinds().values() if not options.kind or {kind.name, kind.group} & {*options.kind}]
    if options.list:
        for kind in chosen:
            print(f"{kind.name:30} {kind.verdict:10} {kind.what}\n{'':41} {kind.sentence} ({kind.source})")
        return 0
    if options.device.startswith("soft"):
        preload.ensure(parse(options.device).personality, whole=True)
    began = monotonic()
    ends = began + options.budget if options.budget else None
    items = rows(options.paths or [Path("cases").resolve()], options.case, options.rows, options.seed)
    if ends is not None:
        random.Random(options.seed).shuffle(items)
    order = Order(tuple(k.name for k in chosen), options.seed, options.each, ends, options.device, options.deadline)
    result = campaign(order, items, options.workers)
    return tell(result, options, monotonic() - began)


def tell(result: Result, options: argparse.Namespace, seconds: float) -> int:
    print("\n".join(table(result)))
    known = exceptions(options.device)
    new, met = sorted_out(result.wrong, known)
    told: Counter[str] = Counter()
    for wrong in new:
        told[wrong.kind] += 1
        if told[wrong.kind] <= options.most:
            print(wrong)
    for entry, times in met.items():
        print(f"exception: {entry.kind} in {entry.row}: {times} times: {entry.reason}")
    whole = not (options.rows or options.each or options.kind or options.paths or result.left) and options.case == "*"
    absent = [entry for entry in known if whole and entry not in met]
    for entry in absent:
        print(f"no exception any more, take it out: {entry.kind} in {entry.row}, {entry.place}")
    for row in result.failing:
        print(f"fails undisturbed: {row}")
    applied = sum(count.red + count.green + count.error for count in result.counts.values())
    left = f", {result.left} rows left over" if result.left else ""
    print(
        f"disturb: {applied} disturbances of {len(result.counts)} kinds in {result.ran} rows on {options.device}, "
        f"{len(new)} wrong verdicts, {sum(met.values())} known ones, in {seconds:.1f} s{left}"
    )
    return 1 if new or absent or result.failing or not applied else 0


if __name__ == "__main__":
    sys.exit(main())
