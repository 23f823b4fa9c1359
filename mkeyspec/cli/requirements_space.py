"""`mkeyspec requirements coverage --space`: what the cases cover of the dimensions of each entry."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.cli.sources import project_root, sources_of
from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.space import spaces
from mkeyspec.requirements.space_coverage import SpaceCovered
from mkeyspec.sabotage.conditions.events import measure
from mkeyspec.sabotage.suite import BrokenSuite, load
from mkeyspec.store import Store


def coverage(options: argparse.Namespace) -> int:
    """The command. `options`: paths, only, pairs, workers, format."""
    for name in options.only:
        if name not in spaces():
            raise Failure("MKS0907", f"{name} is not an entry of the ledger that can be tested")
    if options.workers < 1:
        raise Failure("MKS0905", f"-n {options.workers}: at least one process")
    if options.format == "markdown":
        raise Failure("MKS0905", "--space --format markdown: text or json")
    try:
        items = load(sources_of(options.paths), Store(project_root(), None))
    except BrokenSuite as error:
        raise Failure("MKS0907", str(error)) from None
    if not items:
        return NOTHING
    measured, rows = measure(items, Profile(), options.workers)
    for row in rows:
        if row.outcome not in ("pass", "skip"):
            print(f"mkeyspec: fails on the model, and covers nothing: {items[row.row].id}", file=sys.stderr)
    found = [measured.of(name) for name in (options.only or spaces())]
    if options.format == "json":
        print(json.dumps([_data(one) for one in found], indent=2))
    else:
        for one in found:
            print(_line(one))
            if options.pairs:
                _pairs(one)
        print(_total(found))
    return FAILED if any(one.missing for one in found) else OK


def _line(one: SpaceCovered) -> str:
    by_dimension: dict[str, list[str]] = {}
    for name, label in one.missing:
        by_dimension.setdefault(name, []).append(label)
    lacks = "; ".join(f"{name} {', '.join(labels)}" for name, labels in by_dimension.items())
    numbers = f"{one.covered} of {one.classes} classes, {one.covered_pairs} of {one.pairs} pairs"
    return f"{one.requirement:8} {numbers}" + (f"; no row has {lacks}" if lacks else "")


def _pairs(one: SpaceCovered) -> None:
    """The missing pairs, but those of a class that is missing altogether."""
    alone = set(one.missing)
    for (first, second), labels in one.grouped().items():
        left = [pair for pair in labels if (first, pair[0]) not in alone and (second, pair[1]) not in alone]
        if left:
            print(f"  {first} × {second}: " + ", ".join(f"{here} × {there}" for here, there in left))


def _total(found: list[SpaceCovered]) -> str:
    classes, pairs = sum(one.classes for one in found), sum(one.pairs for one in found)
    covered, covered_pairs = sum(one.covered for one in found), sum(one.covered_pairs for one in found)
    whole = sum(not one.missing for one in found)
    return (
        f"mkeyspec: {covered} of {classes} classes ({covered / classes:.1%}) and {covered_pairs} of {pairs} pairs "
        f"({covered_pairs / pairs:.1%}) of the dimensions of {len(found)} entries are covered; "
        f"{whole} entries have every class"
    )


def _data(one: SpaceCovered) -> dict[str, Any]:
    return {
        "id": one.requirement,
        "classes": one.classes,
        "pairs": one.pairs,
        "missing": [f"{name}={label}" for name, label in one.missing],
        "missing_pairs": [[f"{name}={label}" for name, label in pair] for pair in one.missing_pairs],
    }
