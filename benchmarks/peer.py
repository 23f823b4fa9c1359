"""What the peer in another process costs: the same rows in one process and in two, in turns, on the software NIC.

    python benchmarks/peer.py [--shard 1/40] [--turns 3]

Prints the time of the rows (without start and collecting) as a ratio, the calls to the peer for each row, and what a
call takes when it does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]

COUNTED = """\
import os
from mkeyspec.device.verbs.peer.process import PeerProcess
CALLS = []
real = PeerProcess.call
def call(self, name, *given, **named):
    CALLS.append(name)
    if name == "close":  # in each process that runs rows
        with open(os.environ["PEER_CALLS"], "a") as out:
            out.write(" ".join(CALLS) + " ")
        CALLS.clear()
    return real(self, name, *given, **named)
PeerProcess.call = call
"""

CALL = """
import time
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import PathChoice, QpAttributes
from mkeyspec.device.select import open_choice, parse
device = open_choice(parse("soft"), Profile(), path=PathChoice(peer="popen"))
peer = device.qp_pair(QpAttributes()).peer
best = 1.0
for _ in range(20):
    begun = time.perf_counter()
    for _ in range(100):
        device.poll(peer)
    best = min(best, (time.perf_counter() - begun) / 100)
device.close()
print(best * 1e6)
"""


def rows(shard: str, more: list[str], folder: Path) -> dict[str, float]:
    """Seconds of each row."""
    results, calls = folder / f"{time.monotonic_ns()}.ndjson", folder / "calls"
    (folder / "counted.py").write_text(COUNTED)
    command = [sys.executable, "-m", "mkeyspec", "run", "cases", "--device", "soft", "--shard", shard, "-q", *more]
    command += ["-pcounted", f"--results={results}", f"--junit={folder / 'junit.xml'}"]
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PEER_CALLS": str(calls), "PYTHONPATH": path}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    told = [json.loads(line) for line in results.read_text().splitlines()]
    return {one["id"]: one["seconds"] for one in told if one["kind"] == "result" and one["verdict"] != "skipped"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shard", default="1/40")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mkeyspec-") as place:
        folder = Path(place)
        turns = []
        for _ in range(options.turns):
            one = rows(options.shard, [], folder)
            two = rows(options.shard, ["--peer", "popen"], folder)
            assert one.keys() == two.keys()
            turns.append((sum(one.values()), sum(two.values())))
        calls = (folder / "calls").read_text().split()
    asked = len(one) * options.turns
    ratios = [two / one for one, two in turns]
    print(f"{len(one)} rows of shard {options.shard}, {options.turns} turns")
    print(f"two processes / one process: {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    counts = {name: calls.count(name) for name in sorted(set(calls), key=calls.count, reverse=True)}
    most = ", ".join(f"{name} {number / asked:.1f}" for name, number in counts.items() if number >= asked / 2)
    print(f"calls to the peer for each row: {len(calls) / asked:.1f}, of these {most}")
    command = [sys.executable, "-m", "mkeyspec", "softnic", "exec", "--", sys.executable, "-c", CALL]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    print(f"a call that finds nothing: {float(done.stdout):.0f} us")


if __name__ == "__main__":
    main()
