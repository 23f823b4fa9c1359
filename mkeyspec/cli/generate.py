"""`mkeyspec generate`: cases drawn at random from a seed; and the options of `run` that runs such cases."""

from __future__ import annotations

import argparse
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.session import OK, Failure
from mkeyspec.files.project import project_of
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.generate.seed import BadSeedError, Seed, parsed
from mkeyspec.generate.suite import CASES_A_FILE, File, file_of, files

MOST = 1_000_000
"""The largest number of cases."""
_ROUND = 4 * CASES_A_FILE
"""The number of cases of one round: the time limit is checked after each round."""
_EXAMPLE = """\
example:
  $ mkeyspec generate --seed 42 --cases 100
  $ mkeyspec generate --seed 3.42 --cases 25 --out /tmp/drawn     # 3: the generator's version, as reports name it
  $ mkeyspec run --generate 100 --seed 42 --device soft           # draws them and runs them
Case number i of a seed is the same however many are drawn, on every machine.
Exit code: 0 if the files were written, 2 for a wrong option or a directory that can't be written."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    made = command(commands, "generate", _generate, "draw cases at random, as .mks files", _EXAMPLE)
    made.add_argument("--seed", metavar="S", help="what all cases follow from (default: a new one, which is printed)")
    made.add_argument("--cases", metavar="N", help="how many (default: 100)")
    made.add_argument("--minutes", metavar="M", help="draw until so much time is over; with --cases, at most so many")
    made.add_argument("--out", metavar="DIR", help="where the files go (default: reports/generate/)")


def add_drawing(run: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    run.add_argument("--generate", metavar="N", help="draw so many cases at random, and run them (docs/generate.md)")
    run.add_argument("--seed", metavar="S", help="of --generate: what the cases follow from (default: a new one)")
    run.add_argument("--minutes", metavar="M", help="of --generate: go on until so much time is over")


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn. `cases` None: as many as the time allows."""

    seed: Seed
    cases: int | None
    seconds: float | None
    folder: Path

    def run(self, session: Callable[[Sequence[str], Sequence[str]], int]) -> int:
        """Draw and run, in rounds if there is a time limit; `session` runs files with more arguments."""
        began, first = time.monotonic(), 0
        while True:
            limited = self.seconds is not None
            count = _ROUND if self.cases is None else min(_ROUND if limited else self.cases, self.cases - first)
            paths = [str(path) for path in self._written(_some(self.seed, first, count))]
            print(f"mkeyspec: cases {first} to {first + count - 1} of seed {self.seed} are in {_near(self.folder)}")
            code = session(paths, [f"--drawn-from={self.seed}"])
            first += count
            late = limited and time.monotonic() - began >= (self.seconds or 0)
            if code != OK or late or first == self.cases:  # the next round would write over the report of this one
                break
        if code != OK:
            print(f"mkeyspec: again: mkeyspec run --generate {first} --seed {self.seed}")
        return code

    def write(self) -> int:
        """Draw, and write the files. Nothing is run."""
        count = 0
        for file in files(self.seed, self.cases, self.seconds):
            count += file.cases
            self._write(file)
        print(f"mkeyspec: {count} cases of seed {self.seed} are in {_near(self.folder)}")
        return OK

    def _written(self, some: Iterator[File]) -> Iterator[Path]:
        for file in some:
            yield self._write(file)

    def _write(self, file: File) -> Path:
        path = self.folder / file.name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")
        except OSError as error:
            raise Unwritable(path, error, "--out") from None
        return path


def drawing_of(options: argparse.Namespace) -> Drawing | None:
    """What `run` is to draw; None if it runs files. Raises Failure."""
    if options.generate is None:
        for name in ("seed", "minutes"):
            if getattr(options, name) is not None:
                raise Failure("MKS0927", f"--{name} is of drawn cases: name their number after --generate")
        return None
    if options.paths:
        raise Failure("MKS0927", f"--generate draws its cases; leave {options.paths[0]} out, or --generate")
    return _drawing(options, "--generate", options.generate, None)


def _generate(options: argparse.Namespace) -> int:
    cases = options.cases if options.cases is not None or options.minutes is not None else "100"
    return _drawing(options, "--cases", cases, options.out).write()


def _drawing(options: argparse.Namespace, name: str, cases: str | None, out: str | None) -> Drawing:
    seed = seed_of(options.seed)
    folder = Path(out) if out is not None else project_of().reports / "generate"
    seconds = None if options.minutes is None else seconds_of(options.minutes)
    return Drawing(seed, None if cases is None else cases_of(name, cases), seconds, folder)


def seed_of(text: str | None) -> Seed:
    """As an option has it; a new one if there is none. Raises Failure (MKS0925, MKS0926)."""
    try:
        return parsed(text) if text is not None else Seed(secrets.randbelow(1 << 32))
    except BadSeedError as error:
        raise Failure(error.code, str(error)) from None


def cases_of(name: str, text: str) -> int:
    """A number of cases. Raises Failure (MKS0927)."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST or len(text) > len(str(MOST)):
        raise Failure("MKS0927", f"{name} {text}: a number of cases from 1 to {MOST}")
    return int(text)


def seconds_of(text: str) -> float:
    """Of a number of minutes. Raises Failure (MKS0927)."""
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 10_000:
        raise Failure("MKS0927", f"--minutes {text}: a number greater than 0, up to 10000")
    return 60 * minutes


def _some(seed: Seed, first: int, count: int) -> Iterator[File]:
    for number in range(first, first + count, CASES_A_FILE):
        yield file_of(seed, number, min(CASES_A_FILE, first + count - number))


def _near(path: Path) -> str:
    return os.path.relpath(path)
