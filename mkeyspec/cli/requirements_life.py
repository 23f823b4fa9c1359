"""`mkeyspec requirements coverage --life`: which events of a key's life follow which in the rows of the cases."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable

from mkeyspec import plan
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.requirements.life import Chain, LifeCoverage, pairs, transitions


def coverage(options: argparse.Namespace, suites: Iterable[plan.Suite]) -> int:
    """The command. `options`: pairs, format."""
    if options.format == "markdown":
        raise Failure("MKS0905", "--life --format markdown: text or json")
    rows = [row for suite in suites for case in suite.cases for row in case.rows]
    if not rows:
        return NOTHING
    found = LifeCoverage()
    for row in rows:
        found.add(row)
    missing, missing_pairs = found.missing(), found.missing_pairs()
    if options.format == "json":
        data = {
            "transitions": len(transitions()),
            "missing_transitions": missing,
            "pairs": len(pairs()),
            "missing_pairs": missing_pairs,
        }
        print(json.dumps(data, indent=2))
    else:
        _print(missing)
        if options.pairs:
            _print(missing_pairs)
        print(
            f"mkeyspec: {_of(transitions(), missing)} transitions and {_of(pairs(), missing_pairs)} pairs of "
            f"transitions of a key's life are in {len(rows)} rows"
        )
    return FAILED if missing or missing_pairs else OK


def _print(missing: list[Chain]) -> None:
    """What is missing, by all events but the last."""
    by_start: dict[Chain, list[str]] = defaultdict(list)
    for chain in missing:
        by_start[chain[:-1]].append(chain[-1])
    for start, last in by_start.items():
        print(f"no row has {', '.join(start)} and then: {', '.join(last)}")


def _of(every: tuple[Chain, ...], missing: list[Chain]) -> str:
    seen = len(every) - len(missing)
    return f"{seen} of {len(every)} ({seen / len(every):.1%})"
