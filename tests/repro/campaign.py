"""Reproducers against the cases that they are made of: `python -m tests.repro.campaign --help`.

Each row of a sample is made a C program. The program is compiled with every warning an error, and run on the software
NIC beside its case, without a fault and with some. A program agrees with its case when it exits with 0 where the case
passes or shows a known departure, with 0 or 77 where it is skipped, and with 1 where it fails.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.select import open_choice, parse
from mkeyspec.device.soft import preload
from mkeyspec.device.verbs import names
from mkeyspec.files import resource
from mkeyspec.repro.program import Subject
from mkeyspec.repro.trace import Unsayable
from mkeyspec.repro.writer import Writer
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.shrink.judge import Player

ROOT = Path(__file__).resolve().parents[2]
CC = ("gcc", "-Wall", "-Wextra", "-Werror")
INTERPRETER = "/usr/bin/python3"
"""The one that pyverbs was built for."""
SECONDS = 60
"""Longest run of one program."""


class Verdict(NamedTuple):
    """Of a case: pass, fail or skip; and the first line that a failure names."""

    status: str
    line: int


class Made(NamedTuple):
    id: str
    path: Path | None
    """None: not written."""
    why: str = ""


def subjects(seed: int, rows: int, per_case: int, only: str) -> Iterator[Subject]:
    """A sample of the shipped rows: `per_case` of each case, or `rows` of all (0: all of them)."""
    found: list[Subject] = []
    for path in sorted((ROOT / "cases").rglob("*.mks")):
        if only not in str(path):
            continue
        suite = compile_file(path, base=ROOT).suite
        for case in suite.cases if suite is not None else ():
            chooser = random.Random(f"{seed} {path.name} {case.name}")
            chosen = chooser.sample(case.rows, min(per_case, len(case.rows))) if per_case else case.rows
            for row in chosen:
                id = f"{path.relative_to(ROOT)}::{case.name}" + (f"[{row.id}]" if row.id else "")
                found.append(Subject(case, row, id, str(path.relative_to(ROOT)), path, Profile()))
    yield from random.Random(seed).sample(found, min(rows, len(found))) if rows else found


def written(all_of: Sequence[Subject], folder: Path, language: str = "c") -> list[Made]:
    made = []
    for number, subject in enumerate(all_of):
        path = folder / f"r{number}{'.c' if language == 'c' else '.py'}"
        try:
            path.write_text(Writer(subject, language).text(), encoding="utf-8")
        except Unsayable as error:
            made.append(Made(subject.id, None, f"line {error.at.line}: {error}"))
        else:
            made.append(Made(subject.id, path))
    return made


def compiled(made: Sequence[Made], *, whole: bool) -> dict[str, str]:
    """What the compiler says, by id, where it says something. Of Python: the names that are nowhere."""
    python = [item for item in made if item.path is not None and item.path.suffix == ".py"]
    if python:
        return _checked(python)

    def one(item: Made) -> tuple[str, str]:
        assert item.path is not None
        output = ("-o", str(item.path.with_suffix("")), str(item.path), "-libverbs", "-lmlx5") if whole else (
            "-fsyntax-only", str(item.path),
        )  # fmt: skip
        done = subprocess.run([*CC, *output], capture_output=True, text=True, check=False)
        return item.id, done.stderr if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {id: said for id, said in pool.map(one, [item for item in made if item.path]) if said}


def _checked(made: Sequence[Made]) -> dict[str, str]:
    """What ruff finds wrong, but for names that the modules of enumerations have (`import *` hides these from it)."""
    ids = {str(item.path): item.id for item in made}
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E9,F", "--ignore", "F403"]
    done = subprocess.run([*command, "--output-format", "json", *ids], capture_output=True, text=True, check=False)
    found: dict[str, str] = {}
    for one in json.loads(done.stdout):
        name = re.match(r"`(\w+)` may be undefined", one["message"])
        if one["code"] != "F405" or name is None or name[1] not in enumerated():
            found[ids[one["filename"]]] = f"{one['location']['row']}: {one['message']}"
    return found


@functools.cache
def enumerated() -> frozenset[str]:
    """The names of pyverbs' enumerations."""
    names.load()
    return frozenset({**names.flat(names.VERBS_ENUMS), **names.flat(names.MLX5_ENUMS)})


def environment(fault: str) -> dict[str, str]:
    """Of a process on the software NIC; with a fault where one is named."""
    kept = os.environ.pop(preload.FAULT, None)
    try:
        if fault:
            os.environ[preload.FAULT] = fault
        return preload.environment(None)
    finally:
        os.environ.pop(preload.FAULT, None)
        if kept is not None:
            os.environ[preload.FAULT] = kept


def run(made: Sequence[Made], fault: str) -> dict[str, tuple[int, str]]:
    """The exit code and the output of each program."""
    variables = environment(fault)

    def one(item: Made) -> tuple[str, tuple[int, str]]:
        assert item.path is not None
        try:
            script = [INTERPRETER, str(item.path)]
            done = subprocess.run(
                script if item.path.suffix == ".py" else [str(item.path.with_suffix(""))],
                env=variables,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return item.id, (-1, "it did not end")
        return item.id, (done.returncode, done.stdout + done.stderr)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(one, made))


def verdicts(all_of: Sequence[Subject], fault: str, folder: Path) -> dict[str, Verdict]:
    """What the rig says of each row on the software NIC, in a process that has its library from the start."""
    given, told = folder / "rows.pickle", folder / "verdicts.json"
    given.write_bytes(pickle.dumps(list(all_of)))
    command = [sys.executable, "-m", "tests.repro.campaign", "--judge", str(given), str(told)]
    subprocess.run(command, cwd=ROOT, env=environment(fault), check=True)
    return {id: Verdict(*verdict) for id, verdict in json.loads(told.read_text(encoding="utf-8")).items()}


def judge(given: Path, told: Path) -> None:
    """The other process of `verdicts`."""
    player = Player(_rig)
    all_of: list[Subject] = pickle.loads(given.read_bytes())
    found = {}
    for one in all_of:
        outcome = player.play(one.case, one.row, one.source)
        place = re.search(rf"{re.escape(one.source)}:(\d+)", outcome.text)
        found[one.id] = Verdict(outcome.status, int(place[1]) if place is not None else 0)
    told.write_text(json.dumps(found), encoding="utf-8")


def _rig() -> Rig:
    device = open_choice(parse("soft"), Profile())
    files = resource.directory("expectations").glob("*.toml")
    return Rig(device, Profile(), Expectations.load(files, device.info()), deadline=1.0)


def agrees(verdict: Verdict, code: int, output: str) -> bool:
    """Whether a program ends as its case does; the line of a failure may differ (`same_line`)."""
    if verdict.status == "pass":
        return code == 0
    return code in (0, 77) if verdict.status == "skip" else code == 1


def same_line(verdict: Verdict, output: str) -> bool:
    """Whether a program fails at the line at which its case does."""
    found = re.search(r"^FAIL [^\n]*?\.mks:(\d+):", output, re.MULTILINE)
    return found is not None and int(found[1]) == verdict.line


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.repro.campaign", description=__doc__)
    parser.add_argument("--language", choices=("c", "python"), default="c")
    parser.add_argument("--rows", type=int, default=200, help="how many rows (0: all)")
    parser.add_argument("--per-case", type=int, default=0, help="rows of each case that are drawn from (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files with this in their path")
    parser.add_argument(
        "--fault", action="append", default=[], help="a fault of `mkeyspec sabotage --list`, besides none"
    )
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--judge", nargs=2, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--keep", metavar="DIR", help="leave the programs there")
    options = parser.parse_args(arguments)
    if options.judge:
        judge(*map(Path, options.judge))
        return 0
    folder = Path(options.keep) if options.keep else Path(tempfile.mkdtemp(prefix="repro-"))
    folder.mkdir(parents=True, exist_ok=True)
    sample = [*subjects(options.seed, options.rows, options.per_case, options.only)]
    made = written(sample, folder, options.language)
    there = [item for item in made if item.path is not None]
    for item in made:
        if item.path is None:
            print(f"NOT WRITTEN {item.id}: {item.why}")
    wrong = compiled(made, whole=not options.compile_only)
    for id, said in wrong.items():
        print(f"NOT COMPILED {id}\n" + "\n".join(said.splitlines()[:3]))
    print(f"{len(made)} rows, {len(there)} programs, {len(there) - len(wrong)} compiled without a warning")
    bad = len(wrong) + len(made) - len(there)
    there = [item for item in there if item.id not in wrong]
    for fault in () if options.compile_only else ("", *options.fault):
        cases, programs = verdicts(sample, fault, folder), run(there, fault)
        table: Counter[tuple[str, int]] = Counter()
        elsewhere = 0
        for item in there:
            verdict, (code, output) = cases[item.id], programs[item.id]
            table[verdict.status, code] += 1
            if not agrees(verdict, code, output):
                bad += 1
                print(f"{fault or 'no fault'}: {item.path} {item.id}: case {verdict.status}, program {code}")
                print("    " + "\n    ".join(output.strip().splitlines()[-6:]))
            elif verdict.status == "fail" and not same_line(verdict, output):
                elsewhere += 1
                print(f"{fault}: {item.path} {item.id}: the case fails at line {verdict.line}, the program elsewhere")
        for (status, code), count in sorted(table.items()):
            print(f"{fault or 'no fault'}: case {status}, program {code}: {count}")
        if elsewhere:
            print(f"{fault}: {elsewhere} at another line than the case")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
