"""How long a case takes on the model, in times of what an empty parametrized pytest test takes.

    python benchmarks/running.py [--items N ...] [--workers N ...] [--rounds N]

Ours is a suite made of the shipped cases, compiled and run once before the clock starts. Empty tests come in two
shapes: `empty`, one function with a parameter, the least that pytest can be asked for, which the aim is about; and
`shaped`, empty functions in as many modules, under the names and with the ids of our cases. Every session is a process
of its own, with the same options and the same plugins but ours; the three take turns and the best round of each
counts. Time is that of the whole session from start to exit, collection and all. Memory is the peak of each process
of the session, added up. A case that is there more than once finds nothing that its copies have computed
(forget.py). Linux only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from shipped import shipped, write

from mkeyspec.store import Store, compile_paths

AIM = 3.0
HERE = Path(__file__).resolve().parent

EMPTY = """\
import pytest

@pytest.mark.parametrize("row", range({count}))
def test_empty(row):
    pass
"""

SHAPED = """\
@pytest.mark.parametrize("row", range({count}), ids={ids!r})
def test_{name}(row):
    pass
"""


class Cost(NamedTuple):
    """Seconds on the wall and of processors; MB."""

    wall: float
    processor: float
    memory: float

    def better(self, other: Cost) -> Cost:
        return Cost(*map(min, self, other))


class Contender(NamedTuple):
    name: str
    folder: Path
    plugins: tuple[str, ...]


def contenders(folder: Path, count: int) -> list[Contender]:
    """The suite and its two rivals, on disk; the suite compiled."""
    ours, empty, shaped = (folder / name for name in ("ours", "empty", "shaped"))
    for each in (ours, empty, shaped):
        each.mkdir()
        (each / "pytest.ini").write_text("[pytest]\nnorecursedirs = generated\n")
    paths = write(shipped().items(count), ours)
    (empty / "test_empty.py").write_text(EMPTY.format(count=count))
    for result in compile_paths(paths, Store(ours)):
        compiled = result.compiled
        assert compiled is not None, result.path
        assert compiled.suite is not None, result.path
        if not compiled.suite.cases:
            continue
        texts = ["import pytest\n"]
        for case in compiled.suite.cases:
            ids = [row.id or "-" for row in case.rows]
            texts.append(SHAPED.format(count=len(case.rows), ids=ids, name=case.name))
        module = shaped / Path(result.source).parent / f"test_{result.path.stem}.py"
        module.parent.mkdir(exist_ok=True)
        (module.parent / "__init__.py").touch()
        module.write_text("\n\n".join(texts))
    return [
        Contender("ours", ours, ("-p", "mkeyspec.plugin", "-p", "forget")),
        Contender("empty", empty, ()),
        Contender("shaped", shaped, ()),
    ]


def session(contender: Contender, count: int, workers: int, peaks: Path) -> Cost:
    """One pytest session; SystemExit unless it ran `count` tests and none failed."""
    peaks.write_text("")
    # Bytecode is cached, as it is unless somebody asks for the opposite.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
        "PEAK": str(peaks),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "peak"]
    command += [*contender.plugins, "-n", str(workers), str(contender.folder)]
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=contender.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    ran = sum(int(number) for number in re.findall(r"(\d+) (?:passed|skipped)", output.splitlines()[-1]))
    if process.returncode or ran != count:
        raise SystemExit(f"{contender.name}: {ran} of {count} tests went well\n{output[-2000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, sum(map(int, peaks.read_text().split())) / 1024)


def measure(rivals: list[Contender], count: int, workers: int, rounds: int, peaks: Path) -> list[Cost]:
    """The best of each, in turns, after a round that writes bytecode."""
    best = [session(each, count, workers, peaks) for each in rivals]
    for _ in range(rounds):
        best = [cost.better(session(each, count, workers, peaks)) for each, cost in zip(rivals, best, strict=True)]
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Cases on the model against empty pytest tests.")
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 10_000], help="sizes (default: 1000 10000)")
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2], help="values of -n (default: 0 2)")
    parser.add_argument("--rounds", type=int, help="turns of each contender (default: 5, for 10,000 items 3)")
    arguments = parser.parse_args()
    print(f"{'items':>6}{'-n':>4}  {'':<8}{'wall s':>7}{'CPU s':>8}{'us/item':>9}{'MB':>6}   ratios: wall, CPU, memory")
    for count in arguments.items:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rivals = contenders(folder, count)
            for workers in arguments.workers:
                rounds = arguments.rounds or (5 if count < 5_000 else 3)
                costs = measure(rivals, count, workers, rounds, folder / "peaks")
                ours = costs[0]
                for each, cost in zip(rivals, costs, strict=True):
                    wall, processor, memory = cost
                    ratios = "" if cost is ours else "".join(f"{a / b:>7.2f}" for a, b in zip(ours, cost, strict=True))
                    print(
                        f"{count:>6}{workers:>4}  {each.name:<8}{wall:>7.2f}{processor:>8.2f}"
                        f"{wall / count * 1e6:>9.0f}{memory:>6.0f}   {ratios}"
                    )
    print(f"\nratios: ours / each, of one run; the aim is {AIM:g} or less against `empty`")
    print("with -n 0 a session is one busy process: where its wall time is not its CPU time, the machine was not ours")


if __name__ == "__main__":
    main()
