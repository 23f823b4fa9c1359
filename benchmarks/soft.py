"""What the cases cost on the software NIC, under the real driver, and what else does there.

    python benchmarks/soft.py [--rounds N] [--upstream DIR] [--rates]

In one run, taking turns, and the median of the rounds counts:

    upstream   rdma-core's own test_mlx5_mkey under unittest's runner, on the same NIC, in the same Python
    cases      all of cases/ on `soft` and on `model`, without workers and with one and two
    ping       a receive, a send of 64 bytes and both completions through pyverbs; doorbells trapped, and polled
    idle       what the NIC takes of a processor while nothing happens
    machine    a loop in one process, and in two at once: what a second processor is worth here just now
    rates      how fast data goes through it (rates.py); with --rates nothing but that and the pings

A session is a process of its own; "inside" is from the first test to the last, "whole" from start to exit.
Needs what `--device soft` needs, and upstream's tests as Debian's python3-pyverbs brings them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import rates

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.soft import preload, softnic
from mkeyspec.device.verbs import names

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGED = Path("/usr/share/doc/rdma-core/tests")
CASE_AIM, WORKER_AIM = 0.5, 1.6
PINGS, IDLE, BURN = 2000, 3.0, 4_000_000
UNWANTED = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTEST_ADDOPTS")


class Cost(NamedTuple):
    """Of a session: how many tests, and seconds inside and as a whole, on the wall and of processors."""

    tests: int
    inside: float
    inside_processor: float
    whole: float
    whole_processor: float


def environment(personality: str | None = None) -> dict[str, str]:
    """Of a process on the software NIC, or, without a personality, of one that is not."""
    own = dict(os.environ) if personality is None else preload.environment(personality)
    return {name: value for name, value in own.items() if name not in UNWANTED} | {
        "PYTHONPATH": f"{HERE}{os.pathsep}{ROOT}"
    }


def run(command: Sequence[str], variables: dict[str, str]) -> tuple[str, float, float]:
    """What it printed, and its (wall, processor) seconds, children included; SystemExit if it failed."""
    with tempfile.TemporaryFile("w+") as errors:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}\n{printed[-2000:]}{errors.read()}")
    return printed, wall, usage.ru_utime + usage.ru_stime


def driven(name: str, argument: str, variables: dict[str, str]) -> Any:
    """What driver.py says."""
    return json.loads(run([sys.executable, str(HERE / "driver.py"), name, argument], variables)[0])


# Contenders ----------------------------------------------------------------------------------


def upstream(directory: Path) -> Cost:
    printed, wall, processor = run(
        [sys.executable, str(HERE / "driver.py"), "upstream", str(directory)], environment("connectx7")
    )
    tests, inside, inside_processor = json.loads(printed)
    return Cost(tests, inside, inside_processor, wall, processor)


def cases(device: str, workers: int, work: Path, *chosen: str) -> Cost:
    """A session over `cases/`. Inside is the worker's where there is one, the mean of them where there are more."""
    phases = work / "phases"
    phases.write_text("")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "phases", "-p", "no:cacheprovider", "-n", str(workers)]
    command += [f"--device={device}", f"--generated={work / 'generated'}", *(chosen or ("cases",))]
    printed, wall, processor = run(command, environment() | {"PHASES": str(phases)})
    tests = sum(int(number) for number in re.findall(r"(\d+) (?:passed|xfailed|skipped)", printed.splitlines()[-1]))
    processes = [json.loads(line) for line in phases.read_text().splitlines()]
    loops = [one for one in processes if (one["process"] == "main") == (workers == 0)]
    inside = max(one["last report"][0] for one in loops) - min(one["collected"][0] for one in loops)
    spent = sum(one["last report"][1] - one["collected"][1] for one in loops)
    return Cost(tests, inside, spent, wall, processor)


def machine() -> float:
    """How many times as fast two processes are as one."""
    command = [sys.executable, str(HERE / "driver.py"), "burn", str(BURN)]
    alone = json.loads(run(command, environment())[0])
    both = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    together = max(json.loads(process.communicate()[0]) for process in both)
    return float(2 * alone / together)


# ---------------------------------------------------------------------------------------------


def missing(tests: Path) -> str | None:
    """What this machine lacks, and what brings it."""
    try:
        names.load()
    except Unavailable as error:
        return error.message
    if softnic.library() is None:
        return softnic.missing()
    if not (tests / "test_mlx5_mkey.py").is_file() and not (tests / "test_mlx5_mkey.py.gz").is_file():
        return f"no upstream tests in {tests}: apt-get install python3-pyverbs (with documentation), or name them"
    return None


def unpack(tests: Path, directory: Path) -> None:
    """Upstream's package `tests` below `directory`; Debian compresses the long ones."""
    (directory / "tests").mkdir()
    for path in tests.iterdir():
        target = directory / "tests" / path.name.removesuffix(".gz")
        if path.suffix == ".gz":
            with gzip.open(path) as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out)
        elif path.is_file():
            shutil.copyfile(path, target)


def medians(costs: Sequence[Cost]) -> Cost:
    return Cost(costs[0].tests, *(median(values) for values in list(zip(*costs, strict=True))[1:]))


def judged(figure: float, aim: float, *, least: bool = False) -> str:
    met = figure >= aim if least else figure <= aim
    return f"{figure:.2f} (aim: {'at least' if least else 'at most'} {aim:g}; {'met' if met else 'missed'})"


def main() -> None:
    parser = argparse.ArgumentParser(description="The cases on the software NIC, and their neighbours there.")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contender (default: 5)")
    parser.add_argument("--upstream", type=Path, default=PACKAGED, help=f"rdma-core's tests (default: {PACKAGED})")
    parser.add_argument("--rates", action="store_true", help="only the rates of data, and the pings")
    arguments = parser.parse_args()
    reason = missing(arguments.upstream)
    if reason is not None:
        raise SystemExit(f"benchmarks/soft.py needs the software NIC, pyverbs and upstream's tests: {reason}")
    seen: dict[str, list[Cost]] = {}
    others: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        if arguments.rates:
            speeds(work, arguments.rounds)
            return
        unpack(arguments.upstream, work)
        cases("model", 0, work)  # writes modules and bytecode
        cases("soft", 0, work)
        for _ in range(arguments.rounds):
            seen.setdefault("upstream", []).append(upstream(work))
            for device, workers in (("soft", 0), ("model", 0), ("soft", 1), ("soft", 2)):
                seen.setdefault(f"{device} -n {workers}", []).append(cases(device, workers, work))
            others.setdefault("machine", []).append(machine())
            for way, personality in (("trapped", _own(work, "")), ("polled", _own(work, "trap = false\n"))):
                others.setdefault(f"ping, {way}", []).append(driven("pings", str(PINGS), environment(personality)))
                others.setdefault(f"idle, {way}", []).append(driven("idle", str(IDLE), environment(personality)))
        speed = rates.measured(driven, environment, arguments.rounds)
    report({name: medians(costs) for name, costs in seen.items()}, others)
    rates.report(speed, {}, judged)
    paired = [one.whole / two.whole for one, two in zip(seen["soft -n 1"], seen["soft -n 2"], strict=True)]
    print(f"-n 1 / -n 2 on soft, on the wall, of each round: {' '.join(f'{ratio:.2f}' for ratio in paired)}")
    print(f"        {judged(median(paired), WORKER_AIM, least=True)}")


def speeds(work: Path, rounds: int) -> None:
    seen = rates.measured(driven, environment, rounds)
    pings = {
        f"ping, {way}": [driven("pings", str(PINGS), environment(personality)) for _ in range(rounds)]
        for way, personality in (("trapped", _own(work, "")), ("polled", _own(work, "trap = false\n")))
    }
    rates.report(seen, pings, judged)


def _own(work: Path, text: str) -> str:
    path = work / ("polled.toml" if text else "trapped.toml")
    path.write_text(text)
    return str(path)


def report(costs: dict[str, Cost], others: dict[str, list[Any]]) -> None:
    print(f"{'':<12}{'tests':>6}   {'inside: wall':>12}{'CPU s':>7}{'us/test':>9}{'CPU':>6}   ", end="")
    print(f"{'whole: wall':>11}{'CPU s':>7}{'us/test':>9}")
    for name, (tests, inside, spent, whole, processor) in costs.items():
        each, each_spent = inside / tests * 1e6, spent / tests * 1e6
        print(f"{name:<12}{tests:>6}   {inside:>12.3f}{spent:>7.2f}{each:>9.0f}{each_spent:>6.0f}   ", end="")
        print(f"{whole:>11.2f}{processor:>7.2f}{whole / tests * 1e6:>9.0f}")
    theirs, ours, model = costs["upstream"], costs["soft -n 0"], costs["model -n 0"]
    one, two = costs["soft -n 1"], costs["soft -n 2"]
    print("\na case of ours / a test of upstream's, both on the software NIC")
    for what, a, b in (
        ("inside, wall", ours.inside / ours.tests, theirs.inside / theirs.tests),
        ("inside, CPU", ours.inside_processor / ours.tests, theirs.inside_processor / theirs.tests),
        ("whole, wall", ours.whole / ours.tests, theirs.whole / theirs.tests),
        ("whole, CPU", ours.whole_processor / ours.tests, theirs.whole_processor / theirs.tests),
    ):
        print(f"        {what:<13}{judged(a / b, CASE_AIM)}")
    print(f"soft / model, inside: {ours.inside / model.inside:.2f} on the wall, ", end="")
    print(f"{ours.inside_processor / model.inside_processor:.2f} of processor time")
    print(f"processor time of -n 1 and -n 2: {one.whole_processor:.1f}, {two.whole_processor:.1f} s")
    print(f"two processes of a loop are {median(others.pop('machine')):.2f} times as fast as one here")
    for name, values in sorted(others.items()):
        if name.startswith("ping"):
            wall, processor = (median(column) * 1e6 for column in zip(*values, strict=True))
            print(f"{name:<16}{wall:6.1f} us, {processor:.1f} of processor time")
        else:
            print(f"{name:<16}{median(values):6.2%} of a processor")


if __name__ == "__main__":
    main()
