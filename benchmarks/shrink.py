"""How small `mkeyspec shrink` makes the rows that detect the faults of the catalogue.

    $ python benchmarks/shrink.py --faults 60 --seed 1

Draws faults, has `mkeyspec sabotage` find the first row that detects each, and shrinks that row on the model with
the fault. A case may have at most 8 statements in the median.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import process_time

from mkeyspec.cli.entry import main
from mkeyspec.sabotage.catalogue import of_device

_SAID = re.compile(r"mkeyspec: (\d+) statement.* after (\d+) tries")


def killers(names: list[str], workers: int) -> dict[str, str]:
    """The first row that detects each fault."""
    command = [sys.executable, "-m", "mkeyspec", "sabotage", "-n", str(workers), "--format", "json", "--only", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {one["name"]: next(iter(one["killed_by"])) for one in json.loads(done.stdout)["faults"] if one["killed_by"]}


def shrunk(fault: str, item: str, folder: Path) -> tuple[int, int, str] | None:
    """Statements, tries and the text; None if the row can't be shrunk."""
    out = folder / "case.mks"
    with (folder / "said").open("w+") as said:
        keep, sys.stderr, sys.stdout = (sys.stderr, sys.stdout), said, said
        try:
            code = main(["shrink", item, "--fault", fault, "--out", str(out)])
        finally:
            sys.stderr, sys.stdout = keep
        said.seek(0)
        found = _SAID.search(said.read())
    return None if code or found is None else (int(found[1]), int(found[2]), out.read_text())


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-n", type=int, default=1, dest="workers")
    parser.add_argument("-v", action="store_true", dest="verbose", help="the cases too")
    options = parser.parse_args()
    names = sorted(of_device("model"))
    names = sorted(random.Random(options.seed).sample(names, min(options.faults, len(names))))
    rows = killers(names, options.workers)
    sizes: list[int] = []
    began = process_time()
    with TemporaryDirectory() as folder:
        for name in names:
            found = shrunk(name, rows[name], Path(folder)) if name in rows else None
            if found is None:
                print(f"{name:40} not shrunk: {rows.get(name, 'no row detects it')}")
                continue
            sizes.append(found[0])
            print(f"{name:40} {found[0]:3} statements, {found[1]:4} tries")
            if options.verbose:
                print(found[2])
    seconds = (process_time() - began) / max(1, len(sizes))
    low, _, high = quantiles(sizes, n=4)
    print(
        f"{len(sizes)} of {len(names)} faults: median {median(sizes):g} statements, quartiles {low:g} and {high:g}, "
        f"most {max(sizes)}; {seconds:.1f} s of processor time each"
    )


if __name__ == "__main__":
    run()
