"""Registers and frees two million memory regions and two million mkeys, one after the other, on the software NIC.

    python benchmarks/keys.py [--count N] [--personality P]

A minute and a half. It fails if an index grows with their number, if a key comes back among the last 200, or if the
process grows by more than a MiB.
"""

from __future__ import annotations

import argparse

from soft import driven, environment

MOST_INDEX = 4096
MOST_GROWTH = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Two million keys on the software NIC.")
    parser.add_argument("--count", type=int, default=2_000_000, help="of each kind (default: 2000000)")
    parser.add_argument("--personality", default="connectx7", help="a name or a TOML file (default: connectx7)")
    arguments = parser.parse_args()
    wrong = []
    for kind, told in driven("keys", str(arguments.count), environment(arguments.personality)).items():
        wall, processor, index, distinct, growth = told
        print(
            f"{arguments.count} {kind}: {wall:.1f} s, {processor:.1f} s of processor time, "
            f"{processor / arguments.count * 1e6:.1f} us each; greatest index {index}, "
            f"{distinct} keys among the last 200, {growth} KiB more"
        )
        if index >= MOST_INDEX or distinct < min(200, arguments.count) or growth > MOST_GROWTH:
            wrong.append(kind)
    if wrong:
        raise SystemExit(f"not as it should be: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
