"""The first day with a NIC, as a new user has it: a software NIC answers five points otherwise, drawn by chance.

    python -m tests.calibrate.rehearsal --seed S           # five answers, drawn by this seed
    python -m tests.calibrate.rehearsal --random           # a seed of /dev/urandom
    python -m tests.calibrate.rehearsal --turns            # every answer that a software NIC can give, in a few turns:
                                                           # calibrated, and the quick profile

What docs/howto/first_day.md has is done: doctor, calibrate, the quick profile, all cases, the reports. The answers are
in the environment and in a file of the software NIC, which no command of these reads. In the end the profile, and each
report that a user reads, must name them, and no row may be red.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.calibrate.made_nic import MadeNic, drawn, turns

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEADLINE = 900.0
"""Seconds of the whole day."""
PROFILE, DEPARTURES = "profile.toml", "departures.toml"


class Day:
    """A folder, a software NIC, and what each command said."""

    def __init__(self, nic: MadeNic, folder: Path, shard: str | None) -> None:
        self.nic = nic
        self.folder = folder
        self.device = nic.device(folder)
        self.shard = [] if shard is None else ["--shard", shard]
        self.wrong: list[str] = []

    def mkeyspec(self, *words: str, right: Sequence[int] = (0,)) -> str:
        """Its output; a wrong exit code is noted."""
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "mkeyspec", *words],
            cwd=self.folder,
            env=self.nic.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        print(
            f"    {time.monotonic() - began:6.1f} s  mkeyspec {' '.join(words)}: exit code {done.returncode}",
            flush=True,
        )
        if done.returncode not in right:
            said = (done.stdout + done.stderr)[-3000:]
            self.wrong.append(f"mkeyspec {' '.join(words)}: exit code {done.returncode}\n{said}")
        return done.stdout + done.stderr

    def calibrate(self) -> dict[str, Any]:
        """The profile that was found, which must have each answer."""
        self.mkeyspec("calibrate", "--device", self.device, "--out", PROFILE, "--departures", DEPARTURES)
        found: dict[str, Any] = tomllib.loads((self.folder / PROFILE).read_text(encoding="utf-8"))
        self.wrong += [
            f"calibrate: not {one.point} = {one.value}" for one in self.nic.answers if not one.in_profile(found)
        ]
        return found

    def run(self, *words: str) -> Counter[str]:
        """Rows by verdict."""
        rules = ["--expectations", DEPARTURES]
        judged = [
            "--device",
            self.device,
            "--device-profile",
            PROFILE,
            *rules,
            "--results",
            "results.ndjson",
            "--junit",
            "junit.xml",
        ]
        (self.folder / "results.ndjson").unlink(missing_ok=True)
        said = self.mkeyspec("run", "--shipped", *judged, "-n", "auto", *words)
        self.named("the run's last lines", said)
        lines = (self.folder / "results.ndjson").read_text(encoding="utf-8").splitlines()
        last = {one["id"]: one for one in map(json.loads, lines) if one["kind"] == "result"}
        red = [one for one in last.values() if one["verdict"] not in ("passed", "known", "skipped")]
        self.wrong += [f"{one['id']}: {one['verdict']}: {one.get('message', '')}" for one in red[:20]]
        return Counter(one["verdict"] for one in last.values())

    def named(self, where: str, report: str) -> None:
        """Each answer that is not the default's must be in it."""
        told = [one for one in self.nic.answers if not one.is_default]
        self.wrong += [f"{where}: no {one.point} = {one.value}" for one in told if not one.named_in(report)]

    def reports(self) -> None:
        self.named("report text", self.mkeyspec("report", "text", "results.ndjson"))
        self.mkeyspec("report", "html", "results.ndjson", "-o", "report.html")
        self.named("report html", _cells((self.folder / "report.html").read_text(encoding="utf-8")))
        junit = (self.folder / "junit.xml").read_text(encoding="utf-8")
        properties = [line.replace("&quot;", '"') for line in junit.replace("<property ", "\n<property ").splitlines()]
        self.named("junit.xml", "\n".join(line for line in properties if 'name="profile:' in line))


def _cells(page: str) -> str:
    """The table of points of a page, a line for each."""
    from lxml import html

    (section,) = html.document_fromstring(page).xpath("//section[@id='device-points']")
    return "\n".join(" = ".join(cell.text_content() for cell in row.findall("td")[:2]) for row in section.iter("tr"))


@dataclass(frozen=True, slots=True)
class Result:
    wrong: list[str]
    seconds: float


def rehearse(nic: MadeNic, folder: Path, shard: str | None = None) -> Result:
    """`shard`: of all cases this part."""
    began = time.monotonic()
    day = Day(nic, folder, shard)
    deep = ["--deep"] if "--deep" in day.mkeyspec("doctor", "--help") else []
    day.mkeyspec("doctor", "--device", day.device, *deep)
    day.calibrate()
    print(f"    quick: {dict(day.run('--profile', 'quick', *day.shard))}")
    print(f"    all: {dict(day.run(*day.shard))}")
    day.reports()
    return Result(day.wrong, time.monotonic() - began)


def one_turn(nic: MadeNic, folder: Path, shard: str | None) -> Result:
    """Calibrated, and run with what was found."""
    began = time.monotonic()
    day = Day(nic, folder, shard)
    day.calibrate()
    print(f"    quick: {dict(day.run('--profile', 'quick', *day.shard))}")
    return Result(day.wrong, time.monotonic() - began)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.calibrate.rehearsal")
    parser.add_argument("--seed", type=int, action="append", default=[])
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many seeds of /dev/urandom")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--shard", metavar="K/N", help="of all cases this part alone")
    options = parser.parse_args(words)
    seeds = [*options.seed, *(int.from_bytes(os.urandom(4), "big") for _ in range(options.random))]
    nics = [(f"turn {number}", nic) for number, nic in enumerate(turns())] if options.turns else []
    nics += [(f"seed {seed}", drawn(seed)) for seed in seeds]
    failed = False
    for name, nic in nics:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name}: {', '.join(f'{one.point} = {one.value}' for one in nic.answers)}", flush=True)
            do = one_turn if options.turns else rehearse
            result = do(nic, Path(folder), options.shard)
        late = not options.turns and result.seconds > DEADLINE
        print(*(f"    {line}" for line in result.wrong), sep="\n")
        print(f"    {'wrong' if result.wrong else 'late' if late else 'right'}: {result.seconds:.0f} s", flush=True)
        failed |= bool(result.wrong) or late
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
