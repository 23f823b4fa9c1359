"""`mkeyspec run -n N` against one process, and against pytest-xdist: on the wall, and in processor time.

    python benchmarks/processes.py [PATH …] [--device soft] [-n 2] [--rounds 3] [--xdist]

The suite (default: cases/) is compiled before; the contenders take turns, and the median of the rounds counts. On a
machine that has other things to do, the wall says little. So this also adds up what N quiet cores would need, from the
processor time of each process: that of one process before and after the rows, and between them the longest worker's,
or an N-th of all that runs then, whichever is more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
AIM = 1.6


class Cost(NamedTuple):
    """Seconds."""

    wall: float
    processor: float
    """Of all processes."""
    quiet: float
    """What N quiet cores would need."""


def measured(arguments: Sequence[str], number: int, place: Path) -> Cost:
    """A run of its own; SystemExit if it went wrong."""
    place.write_text("")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": f"{HERE}{os.pathsep}{ROOT}", "SHARES": str(place)}
    command = [sys.executable, "-m", "mkeyspec", "run", *arguments, "-q", "-pshares"]
    command += [f"--junit={place.parent / 'junit.xml'}", f"--results={place.parent / 'results.ndjson'}"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    printed = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}\n{printed[-2000:]}")
    spent = usage.ru_utime + usage.ru_stime
    shares = [json.loads(line) for line in place.read_text().splitlines()]
    workers = [share["spent"] for share in shares if share["process"] != "main"]
    [during] = [share["loop"] for share in shares if share["process"] == "main"]
    if not workers:
        return Cost(wall, spent, spent)
    alone = spent - sum(workers) - during
    return Cost(wall, spent, alone + max(*workers, (sum(workers) + during) / number))


def main() -> None:
    parser = argparse.ArgumentParser(description="mkeyspec run -n N against one process.")
    parser.add_argument("paths", nargs="*", default=["cases"], metavar="PATH")
    parser.add_argument("--device", default="soft")
    parser.add_argument("-n", type=int, default=2, dest="number", help="processes (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each contender (default: 3)")
    parser.add_argument("--xdist", action="store_true", help="pytest-xdist too")
    given = parser.parse_args()
    number = str(given.number)
    contenders = {"-n 0": ["-n", "0"], f"-n {number}": ["-n", number]}
    if given.xdist:
        contenders["xdist"] = ["-n", number, "--dist=load"]
    compiled = [sys.executable, "-m", "mkeyspec", "compile", *given.paths]
    subprocess.run(compiled, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    seen: dict[str, list[Cost]] = {name: [] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.rounds):
            for name, more in contenders.items():
                arguments = [*given.paths, f"--device={given.device}", *more]
                seen[name].append(measured(arguments, given.number, Path(folder) / "shares"))
    costs = {name: Cost(*map(median, zip(*each, strict=True))) for name, each in seen.items()}
    print(f"{'':<8}{'wall s':>9}{'CPU s':>9}{f'{number} cores':>10}   load {os.getloadavg()[0]:.1f}")
    for name, cost in costs.items():
        quiet = f"{cost.quiet:>10.1f}" if name != "xdist" else f"{'':>10}"
        print(f"{name:<8}{cost.wall:>9.1f}{cost.processor:>9.1f}{quiet}")
    one, many = costs["-n 0"], costs[f"-n {number}"]
    print(f"as fast as one process: {one.wall / many.wall:.2f} times on the wall; ", end="")
    figure = one.processor / many.quiet
    print(f"{figure:.2f} on quiet cores (aim: at least {AIM}; {'met' if figure >= AIM else 'missed'})")


if __name__ == "__main__":
    main()
