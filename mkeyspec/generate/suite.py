"""Files of cases: the text that is written, for a number of cases or until a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from mkeyspec.generate.case import Case
from mkeyspec.generate.draw import draw
from mkeyspec.generate.seed import Seed

CASES_A_FILE = 25


@dataclass(frozen=True, slots=True)
class File:
    """`name` without a folder. `first`: number of its first case."""

    name: str
    text: str
    first: int
    cases: int


def files(seed: Seed, cases: int | None, seconds: float | None = None) -> Iterator[File]:
    """The cases from 0 on, up to `cases` of them, or as many as can be drawn in so many seconds."""
    began = time.monotonic()
    first = 0
    while cases is None or first < cases:
        count = CASES_A_FILE if cases is None else min(CASES_A_FILE, cases - first)
        if first and seconds is not None and time.monotonic() - began >= seconds:
            return
        yield file_of(seed, first, count)
        first += count


def file_of(seed: Seed, first: int, count: int) -> File:
    """One file, of `count` cases from number `first` on."""
    texts = [text_of(draw(seed, number)) for number in range(first, first + count)]
    head = f'mks 1\nsuite "drawn at random: seed {seed}, cases {first} to {first + count - 1}"\n'
    again = f"# mkeyspec generate --seed {seed} --cases {first + count}\n"
    return File(
        f"seed_{str(seed).replace('.', '_')}_{first:05}.mks", head + again + "\n" + "\n\n".join(texts), first, count
    )


def text_of(case: Case) -> str:
    """A case, with its title."""
    drawn = list(case.script.drawn)
    case.script.notes.insert(0, f"Drawn: {'; '.join(drawn)}.")
    return case.script.text("Drawn at random, judged by the references.")
