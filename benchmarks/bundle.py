"""What a bundle costs: a run on the model that keeps one, and judging it, in times of a run without.

    python benchmarks/bundle.py [--items N] [--rounds N]

The suite is made of the shipped cases, compiled and run once before the clock starts. The sessions take turns, each a
process of its own, and the best of each counts. Time is of processors, for the whole session. Linux only.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from shipped import shipped, write
from stream import session

from mkeyspec.store import Store, compile_paths

AIM = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description="A run that keeps a bundle, and judging it, against a run without.")
    parser.add_argument("--items", type=int, default=10_000, help="default: 10000")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each; default: 3")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\nnorecursedirs = generated\n")
        paths = write(shipped().items(arguments.items), folder)
        list(compile_paths(paths, Store(folder)))
        bundle = folder / "a.bundle"
        kinds = {"without": (), "with": (f"--bundle={bundle}",), "judged": (f"--device=bundle:{bundle}",)}
        best = {kind: session(folder, "off", *words) for kind, words in kinds.items()}
        for _ in range(arguments.rounds):
            best = {kind: min(best[kind], session(folder, "off", *words)) for kind, words in kinds.items()}
        size = bundle.stat().st_size
    without = best["without"]
    print(f"{arguments.items} items: {without:.2f} s of processor time without a bundle")
    print(f"with it {best['with']:.2f} s, ratio {best['with'] / without:.2f} (aim: {AIM} or less)")
    print(f"judged {best['judged']:.2f} s, ratio {best['judged'] / without:.2f}")
    print(f"{size / arguments.items:.0f} bytes an item")


if __name__ == "__main__":
    main()
