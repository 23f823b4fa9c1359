"""`python -m tests.mutants`: do the tests notice when mkeyspec itself is changed?

A seeded sample of small changes of the source, each judged by the tests of its module. What no test notices is an
entry of survivors.toml with its reason, or the exit code is 1. Nothing is written into the work tree.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic

from tests.mutants.c_engine import Engine
from tests.mutants.modules import c_files, modules
from tests.mutants.mutant import listed_mutants, sample
from tests.mutants.python import Broken, judge
from tests.mutants.survivors import Survivor, survivors
from tests.mutants.verdict import Verdict
from tests.shipped import ANEW


def chosen(paths: Iterable[str], patterns: Sequence[str], few: int | None, seed: int) -> list[str]:
    """Those that fit a pattern; `few` of them, drawn."""
    found = sorted(path for path in paths if _fits(path, patterns))
    if few is not None and few < len(found):
        found = sorted(random.Random(seed).sample(found, few))
    return found


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(pattern in path or fnmatch.fnmatch(path, pattern) for pattern in patterns)


def table(verdicts: Sequence[Verdict], known: Sequence[Survivor]) -> Iterator[str]:
    yield f"{'package':30} {'mutants':>8} {'killed':>8} {'timed out':>10} {'survived':>9} {'listed':>7}"
    counts: dict[str, Counter[str]] = {}
    listed = {entry.key for entry in known}
    for verdict in verdicts:
        name = verdict.mutant.module.rpartition("/")[0]
        result = "listed" if verdict.result == "survived" and verdict.mutant.key in listed else verdict.result
        counts.setdefault(name, Counter())[result] += 1
    for name, count in sorted(counts.items()):
        yield (
            f"{name:30} {count.total():8} {count['killed']:8} {count['timed out']:10} {count['survived']:9} "
            f"{count['listed']:7}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    os.environ[ANEW] = "1"  # a plan that was kept is not a mutant's
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=100, help="how many mutants (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--modules", type=int, help="only so many modules, drawn")
    parser.add_argument(
        "--module", action="append", default=[], help="only modules with this in the path; may be repeated"
    )
    parser.add_argument("--listed", action="store_true", help="the listed survivors: does each still survive?")
    parser.add_argument("--engine", action="store_true", help="of the software NIC's C instead, by shipped rows")
    parser.add_argument("--how", action="store_true", help="also print what killed each")
    options = parser.parse_args(arguments)
    began = monotonic()
    try:
        verdicts, known = of_engine(options) if options.engine else of_python(options)
    except (Broken, RuntimeError) as error:
        print(f"the tests must pass without a mutant: {error}", file=sys.stderr)
        return 2
    if not verdicts and not options.listed:
        parser.error("no module has this in its path, or there is nothing in it to change")
    verdicts.sort(key=lambda verdict: (verdict.mutant.module, verdict.mutant.line))
    return tell(verdicts, known, options, monotonic() - began)


Judged = tuple[list[Verdict], list[Survivor]]
"""And the entries of survivors.toml for what was asked."""


def of_python(options: argparse.Namespace) -> Judged:
    some = chosen(modules(), options.module, options.modules, options.seed)
    known = [entry for entry in survivors() if entry.module in some]
    if options.listed:
        mutants = listed_mutants([entry.key for entry in known])
    else:
        mutants = sample(some, options.sample, options.seed)
    return (list(judge(mutants, modules())) if mutants else []), known


def of_engine(options: argparse.Namespace) -> Judged:
    some = chosen(c_files(), options.module, options.modules, options.seed)
    known = [entry for entry in survivors() if entry.module in some]
    with Engine() as engine:
        if options.listed:
            mutants = engine.listed([entry.key for entry in known])
        else:
            mutants = engine.sample(some, options.sample, options.seed)
        return (list(engine.judge(mutants)) if mutants else []), known


def tell(verdicts: Sequence[Verdict], known: Sequence[Survivor], options: argparse.Namespace, seconds: float) -> int:
    entries = {entry.key: entry for entry in known}
    new = [each for each in verdicts if each.result == "survived" and each.mutant.key not in entries]
    stale = [each.mutant.key for each in verdicts if each.result != "survived" and each.mutant.key in entries]
    if options.listed:
        met = {verdict.mutant.key for verdict in verdicts}
        stale += [key for key in entries if key not in met]
    if options.how:
        for verdict in verdicts:
            print(f"{verdict.mutant}\n    {verdict.result}: {verdict.how}")
    else:
        for verdict in new:
            print(f"{verdict.mutant}\n    survived: {verdict.how}")
    for key in stale:
        print("survives no more, or is not there any more; take it out of survivors.toml:", *key, sep="\n    ")
    print("\n".join(table(verdicts, known)))
    killed = sum(verdict.result != "survived" for verdict in verdicts)
    kept = sum(verdict.result == "survived" for verdict in verdicts) - len(new)
    rate = 100 * killed / max(1, len(verdicts) - kept)
    print(
        f"mutants: {len(verdicts)} of {len({verdict.mutant.module for verdict in verdicts})} modules, {killed} killed "
        f"({rate:.1f} % of the unlisted), {len(new)} unlisted survivors, {kept} listed ones, in {seconds:.1f} s"
    )
    return 1 if new or stale else 0


if __name__ == "__main__":
    sys.exit(main())
