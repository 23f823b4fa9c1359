"""How long compiling takes, in times of what Lark alone takes to parse the same text.

    python benchmarks/compiler.py [--cases N] [--rounds N]

Compiling is everything from files to the texts of the modules: reading, parse, resolve, expand, lower, check, emit.
Lark alone is the same grammar in its LALR parser, with its basic lexer, its own trees, and the filter which makes
ends of lines into ENDs after the lexer (`postlex`); the grammar is loaded before the clock starts. Two texts:

    folded    each `for` of a case has one value, so that a case is about one row: what a line of text costs
    shipped   the cases as they are, about eight rows each: rows cost time, and no text

The contenders take turns in one process, and the best round of each counts; ratios are of processor time. Before each
turn Python's collector has taken away what the one before left: else Lark would pay for the garbage of the compiler.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lark import Lark, Token
from shipped import shipped, write

from mkeyspec.compiler.compile import compile_file
from mkeyspec.compiler.loader import load
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.emit.header import Header
from mkeyspec.emit.writer import write as emit
from mkeyspec.syntax import terminators
from mkeyspec.syntax.lexer import TEXT

AIM = 4.0
HEADER = Header("suite.mks", (), "", "", "")


class LineEnds:
    """Our filter of new lines as Lark's `postlex`; it stops nobody, since the text has no mistake."""

    always_accept = ("NEWLINE", "SEMI", "BADQUOTE", "BADSTRING", "BADINT", "BADNAME", "BADSIGN")

    def process(self, stream: Iterator[Any]) -> Iterator[Any]:
        words: list[Any] = terminators.arrange(Source("", ""), list(stream), Diagnostics()).tokens
        return (word if isinstance(word, Token) else Token(word.type, word.value) for word in words)


def alone(lark: Lark, texts: Sequence[str]) -> None:
    for text in texts:
        lark.parse(text)


def read(paths: Sequence[Path]) -> None:
    for path in paths:
        load(path, Diagnostics())


def check(paths: Sequence[Path]) -> None:
    for path in paths:
        compile_file(path)


def whole(paths: Sequence[Path]) -> tuple[int, int, int]:
    """Cases, rows, and characters written."""
    cases = rows = size = 0
    for path in paths:
        suite = compile_file(path).suite
        assert suite is not None, path
        cases += len(suite.cases)
        rows += sum(len(case.rows) for case in suite.cases)
        if suite.cases:
            size += len(emit(suite, HEADER))
    return cases, rows, size


def best(runs: Sequence[Callable[[], object]], rounds: int) -> list[tuple[float, float]]:
    """The shortest (processor, wall) time of each run, in turns."""
    times = [(float("inf"), float("inf"))] * len(runs)
    for _ in range(rounds):
        for number, run in enumerate(runs):
            gc.collect()
            processor, wall = time.process_time(), time.perf_counter()
            run()
            took = time.process_time() - processor, time.perf_counter() - wall
            times[number] = min(times[number][0], took[0]), min(times[number][1], took[1])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description="The compiler against Lark alone.")
    parser.add_argument("--cases", type=int, default=1000, help="cases of the suite (default: 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contender (default: 5)")
    arguments = parser.parse_args()
    lark = Lark(TEXT, start="file", parser="lalr", lexer="basic", postlex=LineEnds())
    print(f"{'suite':<9}{'cases':>6}{'rows':>7}{'KB':>6}   {'':<8}{'CPU s':>7}{'wall s':>8}{'ratio':>7}")
    for title in ("folded", "shipped"):
        with tempfile.TemporaryDirectory() as folder:
            texts = shipped(folded=title == "folded").suite(arguments.cases)
            paths = write(texts, Path(folder))
            cases, rows, size = whole(paths)
            runs = [partial(alone, lark, list(texts.values())), *(partial(run, paths) for run in (read, check, whole))]
            times = best(runs, arguments.rounds)
        kilobytes = sum(map(len, texts.values())) / 1000
        print(f"{title:<9}{cases:>6}{rows:>7}{kilobytes:>6.0f}   ", end="")
        names = ("Lark", "parse", "+ check", "+ emit")
        for name, (processor, wall) in zip(names, times, strict=True):
            indent = "" if name == "Lark" else " " * 31
            print(f"{indent}{name:<8}{processor:>7.2f}{wall:>8.2f}{processor / times[0][0]:>7.2f}")
        ratio = times[-1][0] / times[0][0]
        print(f"{'':<31}{size / 1e6:.1f} MB written, {times[-1][0] / rows * 1e6:.0f} us a row; ratio {ratio:.2f}")
    print(f"\nratio: all of compiling / Lark alone, of one run; the aim is {AIM:g} or less")


if __name__ == "__main__":
    main()
