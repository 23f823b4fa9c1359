"""What it costs a green run to keep the calls of the row under way for a ticket: in times of a run that does not.

    python benchmarks/evidence.py [--rounds N] [PATH …]

On the software NIC. The runs take turns, each a process of its own, and the best of each counts. Time is of
processors, for the whole run. Linux only.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

WITHOUT = """\
from mkeyspec.plugin import device_opening
device_opening.traced = lambda config, device: device
"""


def seconds(folder: Path, paths: list[str], *words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "mkeyspec", "run", *paths, "--device", "soft", "-q", "--results", "off", *words]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="A run that keeps the calls of each row, against one that does not.")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each; default: 5")
    parser.add_argument("paths", nargs="*", default=["cases/signature/crc.mks", "cases/signature/errors.mks"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "keeps_no_calls.py").write_text(WITHOUT)
        kinds: dict[str, tuple[str, ...]] = {"without": ("-pkeeps_no_calls",), "with": ()}
        best = {kind: seconds(Path(name), arguments.paths, *words) for kind, words in kinds.items()}
        for _ in range(arguments.rounds - 1):
            for kind, words in kinds.items():
                best[kind] = min(best[kind], seconds(Path(name), arguments.paths, *words))
    print(f"{best['without']:.2f} s of processor time without the calls")
    print(f"with them {best['with']:.2f} s, ratio {best['with'] / best['without']:.2f}")


if __name__ == "__main__":
    main()
