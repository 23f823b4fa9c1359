"""How many of the faults rdma-core's own tests notice.

    python -m tests.upstream.witness [-n N] [--modules MODULE... --] [NAME...]

The same faults that `mkeyspec sabotage --device soft` gives the software NIC, one at a time, under those modules of
expected.toml that move data or configure something. A fault is noticed if a test comes out other than it does
without one, if the tests don't end, or if they take the process with them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mkeyspec.device.soft import softnic
from mkeyspec.sabotage.catalogue import of_device
from tests.upstream.test_upstream import HERE, PYTHON, RUNS, differences, environment, missing, unpack

MODULES = {
    "connectx7": (
        "test_mr", "test_cq", "test_cqex", "test_cq_events", "test_qp", "test_qpex", "test_atomic",
        "test_parent_domain", "test_relaxed_ordering", "test_mlx5_mkey", "test_mlx5_crypto", "test_mlx5_dma_memcpy",
        "test_mlx5_raw_wqe", "test_mlx5_dc", "test_mlx5_cq", "test_shared_pd",
    ),
    "bluefield3-wrapped": ("test_mlx5_crypto",),
}  # fmt: skip
DEADLINE = 60.0
"""Seconds for all modules of a personality, which need some ten without a fault."""


def noticed(library: Path, directory: Path, fault: str, only: frozenset[str] = frozenset()) -> list[str]:
    """What is different with this fault: a line for each test, or for the whole process. "" is not a fault."""
    lines = []
    for personality, all_modules in MODULES.items():
        modules = [module for module in all_modules if not only or module in only]
        added = {"MKEYSPEC_SOFTNIC_FAULT": fault} if fault else {}
        try:
            done = subprocess.run(
                [PYTHON, str(HERE / "run.py"), str(directory), "mlx5_0", *modules],
                env={**environment(library, directory, personality), **added},
                cwd=directory,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=DEADLINE,
            )
        except subprocess.TimeoutExpired:
            lines.append(f"{personality}: not over after {DEADLINE:g} s")
            continue
        if done.returncode == 2 and "MKEYSPEC_SOFTNIC_FAULT" in done.stderr:
            raise SystemExit(f"witness.py: {done.stderr.strip()}")
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [""])[-1]
            lines.append(f"{personality}: ended with {done.returncode}: {last}")
            continue
        for module, seen in json.loads(done.stdout).items():
            run = next(run for run in RUNS if (run["module"], run["personality"]) == (module, personality))
            got = {name: (outcome, why) for name, (outcome, why) in seen.items()}
            lines += [f"{module}.{line.splitlines()[0]}" for line in differences(run, got)]
    return lines


def report(names: Iterable[str], library: Path, directory: Path, workers: int, only: frozenset[str]) -> tuple[int, int]:
    """Prints a line for each fault; (noticed, all)."""
    count = total = 0

    def look(name: str) -> list[str]:
        return noticed(library, directory, name, only)

    with ThreadPoolExecutor(workers) as pool:
        wanted = list(names)
        for name, lines in zip(wanted, pool.map(look, wanted), strict=True):
            total += 1
            count += bool(lines)
            print(f"noticed   {name} by {lines[0]}" if lines else f"unnoticed {name}", flush=True)
    return count, total


def main() -> int:
    parser = argparse.ArgumentParser(description="How many faults rdma-core's own tests notice.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these faults")
    parser.add_argument("-n", type=int, default=1, dest="workers", help="this many at a time")
    parser.add_argument("--modules", nargs="+", default=[], metavar="MODULE", help="only these of rdma-core's modules")
    options = parser.parse_args()
    if reason := missing():
        print(f"witness.py: {reason}", file=sys.stderr)
        return 2
    known = of_device("soft")
    if unknown := [name for name in options.names if name not in known]:
        print(f"witness.py: no fault of the software NIC: {', '.join(unknown)}", file=sys.stderr)
        return 2
    only = frozenset(options.modules)
    os.environ.pop("MKEYSPEC_SOFTNIC_FAULT", None)
    library = softnic.library(faults=True)
    assert library is not None
    with tempfile.TemporaryDirectory(prefix="mkeyspec-witness-") as place:
        directory = Path(place)
        unpack(directory)
        if lines := noticed(library, directory, "", only):
            print("witness.py: without any fault:", *lines, sep="\n  ", file=sys.stderr)
            return 2
        count, total = report(options.names or known, library, directory, options.workers, only)
    print(f"rdma-core's tests notice {count} of {total} faults")
    return 0


if __name__ == "__main__":
    sys.exit(main())
