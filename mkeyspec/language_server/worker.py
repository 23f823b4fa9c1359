"""A process that compiles, one text after the other: pickles of jobs on its standard input, of results on its output.

A process and not a thread: while a long file is compiled in a thread, a keystroke takes ten times as long.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from typing import BinaryIO

from mkeyspec.language_server.place import Place
from mkeyspec.language_server.whole import Whole, compiled


@dataclass(frozen=True, slots=True)
class Job:
    """A text to compile."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """Compiling has failed, by a mistake of ours."""

    why: str


def answer(job: Job) -> Whole | Broken:
    """The result of a job."""
    try:
        return compiled(job.place, job.text)
    except Exception as error:
        return Broken(f"{type(error).__name__}: {error}")


def work(jobs: BinaryIO, results: BinaryIO) -> None:
    """Answer every job, until there are no more, or the reader has ended."""
    while True:
        try:
            job = pickle.load(jobs)
        except (EOFError, pickle.UnpicklingError):
            return
        try:
            pickle.dump(answer(job), results)
            results.flush()
        except OSError:
            return


def main() -> None:
    """What is printed goes to standard error, since standard output has the results."""
    with os.fdopen(os.dup(0), "rb") as jobs, os.fdopen(os.dup(1), "wb") as results:
        os.dup2(2, 1)
        work(jobs, results)


if __name__ == "__main__":
    main()
