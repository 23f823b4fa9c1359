"""What the stream of results costs: a run on the model with it, in times of one without it.

    python benchmarks/stream.py [--items N] [--rounds N]

The suite is made of the shipped cases, compiled and run once before the clock starts. Sessions with the stream and
without it take turns, each a process of its own, and the best of each counts. Time is of processors, for the whole
session: the stream is written by the process that runs the cases. Linux only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from shipped import shipped, write

from mkeyspec.store import Store, compile_paths

AIM = 1.05
HERE = Path(__file__).resolve().parent


def session(folder: Path, results: str, *words: str) -> float:
    """Seconds of processor time of one session, with these further words; SystemExit if a row failed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mkeyspec.plugin", "-p", "forget"]
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            [*command, f"--results={results}", *words, str(folder)], cwd=folder, env=environment, stdout=out, stderr=out
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit((folder / "out").read_text()[-2000:])
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="A run with the stream of results against one without it.")
    parser.add_argument("--items", type=int, default=10_000, help="default: 10000")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each; default: 3")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\nnorecursedirs = generated\n")
        paths = write(shipped().items(arguments.items), folder)
        list(compile_paths(paths, Store(folder)))
        kinds = {"without": "off", "with": str(folder / "results.ndjson")}
        best = {kind: session(folder, value) for kind, value in kinds.items()}
        for _ in range(arguments.rounds):
            best = {kind: min(best[kind], session(folder, value)) for kind, value in kinds.items()}
        size = (folder / "results.ndjson").stat().st_size
    without, with_it = best["without"], best["with"]
    ratio = with_it / without
    print(f"{arguments.items} items: {without:.2f} s of processor time without the stream, {with_it:.2f} with it")
    print(f"ratio {ratio:.3f} (aim: {AIM:g} or less), {size / arguments.items:.0f} bytes an item")


if __name__ == "__main__":
    main()
