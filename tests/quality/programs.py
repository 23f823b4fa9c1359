"""Legal programs that are drawn: green on every right device, and red with every disturbance that a page forbids.

`python -m tests.quality.programs`. A program is a case of many statements that are drawn by a seed. Its outcome is
predicted by what the pages say of each request (`programs_world.py`). It is run on the model, and on right devices
whose schedule is drawn (`programs_devices.py`). With `--disturb`, it is also run with each kind of disturbance of
`kinds.toml`. A verdict that is wrong is kept in a folder, with the program, a smaller one, and the command that draws
it again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file
from mkeyspec.shrink import judge
from mkeyspec.shrink.shrink import shrink
from tests.quality import disturb
from tests.quality.kind import kinds
from tests.quality.programs_devices import Right, right
from tests.quality.programs_mixed import listed, mixed
from tests.quality.programs_pipelining import pipelining
from tests.quality.programs_streams import streams
from tests.quality.subject import ROOT, Bench, Outcome, Row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STYLES: dict[str, Callable[[int], str]] = {
    "mixed": mixed,
    "listed": listed,
    "streams": streams,
    "pipelining": pipelining,
}
EXCEPTIONS = Path(__file__).with_name("programs_exceptions.toml")
KEPT = ROOT / "reports" / "programs"
DEADLINE, PATIENCE = 0.05, 3.0
"""Seconds that a run waits at most for what a device owes: the model, and a device that is late."""
AGAIN = 3
"""A schedule depends on the clock, too: a smaller program is run so often."""


@dataclass(frozen=True, slots=True)
class Exempt:
    """A verdict that is known to be wrong: `what` a kind of disturbance, or `right` for a right device. `program`
    (STYLE-SEED), `device` in words, `text` of the failure and `source` are patterns. `reason`: why it is not mended."""

    what: str
    reason: str
    program: str = "*"
    device: str = "*"
    text: str = "*"
    source: str = "*"

    def fits(self, wrong: Wrong) -> bool:
        said = (wrong.what, wrong.program, wrong.device, wrong.text, wrong.source)
        patterns = (self.what, self.program, self.device, self.text, self.source)
        return all(map(fnmatchcase, said, patterns))


@dataclass(slots=True)
class Wrong:
    """`what`: a kind of disturbance, `right` or `model`; `device` in words; `text`: the failure, if there is one."""

    program: str
    what: str
    device: str
    text: str
    source: str
    line: int = 0
    place: int = -1
    """Which device of the seed."""

    def __str__(self) -> str:
        at = f" line {self.line}:" if self.line else ""
        return f"{self.program}:{at} {self.what} ({self.device}): {self.text or 'green'}"


@dataclass(slots=True)
class Result:
    programs: int = 0
    runs: int = 0
    refused: list[str] = field(default_factory=list)
    """Programs that the compiler does not pass, with its first error: no programs."""
    wrong: list[Wrong] = field(default_factory=list)
    kinds: dict[str, disturb.Count] = field(default_factory=dict)

    def add(self, other: Result) -> None:
        self.programs += other.programs
        self.runs += other.runs
        self.refused += other.refused
        self.wrong += other.wrong
        for name, count in other.kinds.items():
            self.kinds.setdefault(name, disturb.Count()).add(count)


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for."""

    seed: int
    devices: int = 4
    disturb: bool = False
    kinds: tuple[str, ...] = ()
    """Of the disturbances; none: all."""
    ends: float | None = None
    """When the time is over, in seconds of the monotonic clock."""


# One program ---------------------------------------------------------------------------------


def row_of(text: str, name: str, folder: Path) -> Row | str:
    """The one row of a program; the compiler's first error."""
    path = folder / f"{name}.mks"
    path.write_text(text, "utf-8")
    compiled = compile_file(path, root=folder)
    if compiled.suite is None:
        first = next(iter(compiled.diagnostics.errors))
        return f"{first.code} {first.message}"
    (case,) = compiled.suite.cases
    return Row(compiled.suite.source, case, case.rows[0], 0)


def run_right(row: Row, device: Right) -> Outcome:
    return Bench(device.make, DEADLINE, PATIENCE).run(row, device.disturbance(), slow=True)


def program(style: str, seed: int, order: Order, folder: Path) -> Result:
    """One program on its devices. It is not run on others once a right one fails it."""
    name, text = f"{style}-{seed}", STYLES[style](seed)
    row = row_of(text, name, folder)
    if isinstance(row, str):
        return Result(refused=[f"{name}: {row}"])
    result = Result(programs=1, runs=1)
    clean = Bench(deadline=DEADLINE).run(row)
    if clean.status != "pass":
        result.wrong.append(Wrong(name, "model", "the model", clean.text, text, clean.line))
        return result
    for place, device in enumerate(right(seed, order.devices)):
        result.runs += 1
        outcome = run_right(row, device)
        if outcome.status != "pass":
            result.wrong.append(Wrong(name, "right", device.what, outcome.text, text, outcome.line, place))
            break
    if order.disturb:
        chosen = [kind for kind in kinds().values() if not order.kinds or {kind.name, kind.group} & {*order.kinds}]
        found = disturb.disturb(row, chosen, Bench(deadline=0.01), seed, each=1)
        result.kinds = found.counts
        result.wrong += [Wrong(name, one.kind, one.place, one.text, text, place=-1) for one in found.wrong]
    return result


# Smaller programs ----------------------------------------------------------------------------


class Anew(judge.Player):
    """Runs a row on a new device each time, at most so often until it fails."""

    def __init__(self, run: Callable[[Row], Outcome], times: int) -> None:
        self._run, self._times = run, times

    def play(self, case: plan.Case, row: plan.Row, source: str) -> judge.Outcome:
        found = judge.Outcome("skip")
        for _ in range(self._times):
            outcome = self._run(Row(source, case, row, 0))
            found = judge.Outcome(outcome.status, outcome.text.partition(" ")[0], outcome.text)
            if outcome.status == "fail":
                break
        return found


def smaller(wrong: Wrong, order: Order, seconds: float, folder: Path) -> str:
    """The least program that is found which the same right device fails with the same code. It may have left what the
    writers of programs hold to, so whether it is right is for a reader to judge."""
    device = right(int(wrong.program.partition("-")[2]), order.devices)[wrong.place]
    fails = Anew(lambda row: run_right(row, device), AGAIN)
    passes = Anew(lambda row: Bench(deadline=DEADLINE).run(row), 1)
    return shrink(wrong.source, judge.Judge(folder, fails, passes, wrong.text.partition(" ")[0]), seconds).text


def keep(wrong: Wrong, order: Order, seconds: float, under: Path) -> Path:
    """The folder with the program and what was wrong."""
    folder = under / f"{wrong.program}-{wrong.what}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mks").write_text(wrong.source, "utf-8")
    style, _, seed = wrong.program.partition("-")
    again = f"python -m tests.quality.programs --style {style} --seed {seed} --programs 1 --devices {order.devices}"
    again += "" if wrong.what in ("right", "model") else f" --disturb --kind {wrong.what}"
    (folder / "verdict.txt").write_text(f"{wrong}\n\n{again}\n", "utf-8")
    if wrong.what == "right" and seconds:
        with tempfile.TemporaryDirectory() as scratch:
            (folder / "smaller.mks").write_text(smaller(wrong, order, seconds, Path(scratch)), "utf-8")
    return folder


# Many programs -------------------------------------------------------------------------------


def work(order: Order, share: Sequence[tuple[str, int]]) -> Result:
    """All programs of this share, or as many as there is time for."""
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        for style, seed in share:
            if order.ends is not None and monotonic() > order.ends:
                break
            result.add(program(style, seed, order, Path(folder)))
    return result


def campaign(order: Order, items: Sequence[tuple[str, int]], workers: int) -> Result:
    if workers <= 1:
        return work(order, items)
    result = Result()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        tasks = [pool.apply_async(work, (order, items[part::workers])) for part in range(workers)]
        for task in tasks:
            result.add(task.get())
    return result


def exceptions() -> list[Exempt]:
    return [Exempt(**entry) for entry in tomllib.loads(EXCEPTIONS.read_text("utf-8")).get("exception", [])]


def sorted_out(wrong: Sequence[Wrong], known: Sequence[Exempt]) -> tuple[list[Wrong], Counter[Exempt]]:
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


def drawn(styles: Sequence[str], seed: int, number: int) -> list[tuple[str, int]]:
    """So many programs, by turns of each style, from this seed on."""
    return [(styles[at % len(styles)], seed + at // len(styles)) for at in range(number)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.programs", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first program (default 1)")
    parser.add_argument("--programs", type=int, default=100, help="how many are drawn (default 100)")
    parser.add_argument("--minutes", type=float, help="stop after so many")
    parser.add_argument("--style", action="append", choices=[*STYLES], help="may be repeated (default: all)")
    parser.add_argument("--devices", type=int, default=4, help="right devices for each program (default 4)")
    parser.add_argument("--disturb", action="store_true", help="with each kind of disturbance, too")
    parser.add_argument("--kind", action="append", default=[], help="a kind or a group of them; may be repeated")
    parser.add_argument("--keep", type=Path, default=KEPT, help="where wrong verdicts are kept (reports/programs)")
    parser.add_argument("--shrink", type=float, default=20, help="seconds to make a kept program smaller; 0: don't")
    parser.add_argument("--most", type=int, default=5, help="keep at most so many (default 5)")
    parser.add_argument("-n", type=int, default=1, dest="workers", help="processes")
    options = parser.parse_args(arguments)
    began = monotonic()
    ends = began + 60 * options.minutes if options.minutes else None
    order = Order(options.seed, options.devices, options.disturb, tuple(options.kind), ends)
    items = drawn(options.style or [*STYLES], options.seed, options.programs)
    result = campaign(order, items, options.workers)
    return tell(result, order, options, len(items), monotonic() - began)


def tell(result: Result, order: Order, options: argparse.Namespace, asked: int, seconds: float) -> int:
    if order.disturb:
        print("\n".join(disturb.table(disturb.Result(counts=result.kinds))))
    new, met = sorted_out(result.wrong, exceptions())
    for wrong in new:
        print(wrong)
    for wrong in new[: options.most]:
        print(f"kept: {keep(wrong, order, options.shrink, options.keep)}")
    for entry, times in met.items():
        print(f"exception: {entry.what}: {times} times: {entry.reason}")
    for one in result.refused[:3]:
        print(f"not compiled: {one}")
    disturbed = sum(count.red + count.green + count.error for count in result.kinds.values())
    left = asked - result.programs - len(result.refused)
    print(
        f"programs: {result.programs} programs from seed {options.seed}, {result.runs} runs on right devices, "
        f"{disturbed} disturbances, {len(new)} wrong verdicts, {sum(met.values())} known ones, in {seconds:.1f} s"
        + (f", {len(result.refused)} not compiled" if result.refused else "")
        + (f", {left} left over" if left else "")
    )
    return 1 if new or not result.programs else 0


if __name__ == "__main__":
    sys.exit(main())
