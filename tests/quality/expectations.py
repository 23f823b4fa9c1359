"""What a case claims, made wrong, is found wrong at its line: `python -m tests.quality.expectations`.

Of each row one claim at a time is changed, weakened or left out; the row is run with everything else as it is, on a
device without a fault. What passes although it must not is an entry of `survivors.toml`, with its reason.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from mkeyspec import plan
from mkeyspec.device.select import parse
from mkeyspec.device.soft import preload
from tests.quality.mutation import Mutant, Mutation, mutants, mutations
from tests.quality.subject import Bench, Outcome, Row, match, model, rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SURVIVORS = Path(__file__).with_name("survivors.toml")


@dataclass(slots=True)
class Wrong:
    """A mutant that did not end as its mutation must. `result`: passes, elsewhere, or error (the judge fell over)."""

    mutation: str
    row: str
    at: str
    """FILE:LINE of the statement."""
    text: str
    result: str

    def __str__(self) -> str:
        return f"{self.at}: {self.mutation} {self.result} in {self.row}: {self.text}"


@dataclass(slots=True)
class Count:
    """What became of a mutation: rows that failed at the changed statement, that failed elsewhere, that passed."""

    here: int = 0
    elsewhere: int = 0
    passed: int = 0
    error: int = 0
    skipped: int = 0

    def add(self, other: Count) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Result:
    counts: dict[str, Count] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    """Rows that don't pass as they are."""
    ran: int = 0
    left: int = 0

    def add(self, other: Result) -> None:
        for name, count in other.counts.items():
            self.counts.setdefault(name, Count()).add(count)
        self.wrong += other.wrong
        self.failing += other.failing
        self.ran += other.ran
        self.left += other.left


ENDS = {
    "here": {"here"},
    "red": {"here", "elsewhere"},
    "one": {"here"},
    "open": {"here", "elsewhere", "passed"},
}
"""What may become of a mutant, by what must."""


def mutate(row: Row, mutant: Mutant) -> Row:
    steps = row.row.steps
    new = () if mutant.step is None else (mutant.step,)
    return replace(row, row=replace(row.row, steps=(*steps[: mutant.at], *new, *steps[mutant.at + 1 :])))


def judge(row: Row, mutant: Mutant, mutation: Mutation, bench: Bench, count: Count) -> Wrong | None:
    """Run the mutant; what is wrong about its verdict."""
    outcome = bench.run(mutate(row, mutant))
    step: plan.Step = row.row.steps[mutant.at]
    result = ended(outcome, step.at.line)
    setattr(count, result, getattr(count, result) + 1)
    allowed = ENDS[mutation.must]
    if result in allowed or result == "skipped":
        return None
    text = f"{mutant.step!r}"[:300] if result == "passed" else outcome.text
    return Wrong(mutation.name, row.id, f"{row.source}:{step.at.line}", text, result)


def ended(outcome: Outcome, line: int) -> str:
    if outcome.status == "skip":
        return "skipped"
    if outcome.status == "error":
        return "error"
    if outcome.green:
        return "passed"
    return "here" if outcome.line == line else "elsewhere"


def run(row: Row, bench: Bench, names: Sequence[str], seed: int, each: int) -> Result:
    """The mutants of a row: at most `each` of a mutation; 0 is all."""
    result = Result(ran=1)
    plain = bench.run(row)
    if not plain.green:
        if plain.status != "skip":
            result.failing.append(f"{row.id}: {plain.text}")
        return result
    found: dict[str, list[Mutant]] = {}
    for mutant in mutants(row.row.steps):
        if mutant.mutation in names:
            found.setdefault(mutant.mutation, []).append(mutant)
    for name, some in found.items():
        if each and len(some) > each and mutations()[name].must != "one":
            some = random.Random(f"{seed} {row.id} {name}").sample(some, each)
        count = result.counts.setdefault(name, Count())
        passed: set[int] = set()
        for mutant in some:
            wrong = judge(row, mutant, mutations()[name], bench, count)
            passes = wrong is not None and wrong.result == "passed"
            if mutations()[name].must == "one" and passes and mutant.at not in passed:
                passed.add(mutant.at)  # the one that is so
                continue
            for other in (mutant, replace(mutant, step=row.row.steps[mutant.at])):
                flipped = other.of_other_outcome()
                if wrong is not None and wrong.result == "passed" and flipped is not None:
                    # Not judged: the other outcome came. There it would be noticed.
                    wrong = judge(row, flipped, mutations()[name], bench, count)
            if wrong is not None:
                result.wrong.append(wrong)
    return result


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for."""

    names: tuple[str, ...]
    seed: int = 1
    each: int = 0
    ends: float | None = None
    device: str = "model"


def work(order: Order, share: Sequence[Row]) -> Result:
    if order.device == "model":
        bench = Bench(model)
    else:
        from tests.quality.soft import soft_bench

        bench = soft_bench(order.device, 0.2)
    result = Result()
    for place, row in enumerate(share):
        if order.ends is not None and monotonic() > order.ends:
            result.left = len(share) - place
            break
        result.add(run(row, bench, order.names, order.seed, order.each))
    return result


def campaign(order: Order, items: Sequence[Row], workers: int) -> Result:
    if workers <= 1:
        return work(order, items)
    result = Result()
    parts = workers * 8
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for task in [pool.apply_async(work, (order, items[part::parts])) for part in range(parts)]:
            result.add(task.get())
    return result


# Survivors -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that is known to end otherwise. `row` is a pattern."""

    mutation: str
    row: str
    reason: str

    def fits(self, wrong: Wrong) -> bool:
        return self.mutation == wrong.mutation and match(self.row, wrong.row)


def survivors() -> list[Survivor]:
    return [Survivor(**entry) for entry in tomllib.loads(SURVIVORS.read_text("utf-8")).get("survivor", [])]


def sorted_out(wrong: Iterable[Wrong], known: Sequence[Survivor]) -> tuple[list[Wrong], Counter[Survivor]]:
    """What no entry names, and how often each entry was met."""
    new: list[Wrong] = []
    met: Counter[Survivor] = Counter()
    for one in wrong:
        entry = next((entry for entry in known if entry.fits(one)), None)
        if entry is None:
            new.append(one)
        else:
            met[entry] += 1
    return new, met


# The command ---------------------------------------------------------------------------------


def table(result: Result) -> Iterator[str]:
    yield f"{'mutation':28} {'must be':8} {'tried':>7} {'here':>7} {'elsewhere':>9} {'passed':>7} {'fell over':>9}"
    for name, mutation in mutations().items():
        count = result.counts.get(name)
        if count is not None:
            tried = count.here + count.elsewhere + count.passed + count.error
            yield (
                f"{name:28} {mutation.must:8} {tried:7} {count.here:7} {count.elsewhere:9} {count.passed:7} "
                f"{count.error:9}"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.expectations", description=__doc__)
    parser.add_argument("--rows", type=int, help="at most so many rows of each case, drawn")
    parser.add_argument("--each", type=int, default=0, help="mutants drawn of each mutation in a row (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--mutation", action="append", default=[], help="one mutation; may be repeated")
    parser.add_argument("--case", default="*", help="only rows whose id has this in it, or matches it")
    parser.add_argument("--device", default="model", help="model or soft[:PERSONALITY]")
    parser.add_argument("--budget", type=float, help="stop after so many seconds")
    parser.add_argument("-n", type=int, default=1, dest="workers", help="processes")
    parser.add_argument("--most", type=int, default=20, help="print at most so many survivors of a mutation")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    if options.device.startswith("soft"):
        preload.ensure(parse(options.device).personality, whole=True)
    began = monotonic()
    names = tuple(name for name in mutations() if not options.mutation or name in options.mutation)
    items = rows(options.paths or [Path("cases").resolve()], options.case, options.rows, options.seed)
    if options.budget:
        random.Random(options.seed).shuffle(items)
    ends = began + options.budget if options.budget else None
    result = campaign(Order(names, options.seed, options.each, ends, options.device), items, options.workers)
    return tell(result, options, monotonic() - began)


def tell(result: Result, options: argparse.Namespace, seconds: float) -> int:
    print("\n".join(table(result)))
    new, met = sorted_out(result.wrong, survivors())
    told: Counter[str] = Counter()
    for wrong in new:
        told[wrong.mutation] += 1
        if told[wrong.mutation] <= options.most:
            print(wrong)
    for entry, times in met.items():
        print(f"known: {entry.mutation} in {entry.row}: {times} times: {entry.reason}")
    whole = not (options.rows or options.each or options.mutation or options.paths or result.left)
    whole = whole and options.case == "*" and options.device == "model"
    absent = [entry for entry in survivors() if whole and entry not in met]
    for entry in absent:
        print(f"survives no more, take it out: {entry.mutation} in {entry.row}")
    for row in result.failing:
        print(f"fails as it is: {row}")
    tried = sum(count.here + count.elsewhere + count.passed + count.error for count in result.counts.values())
    left = f", {result.left} rows left over" if result.left else ""
    print(
        f"expectations: {tried} mutants of {len(result.counts)} mutations in {result.ran} rows on {options.device}, "
        f"{len(new)} unlisted survivors, {sum(met.values())} listed ones, in {seconds:.1f} s{left}"
    )
    return 1 if new or absent or result.failing or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
