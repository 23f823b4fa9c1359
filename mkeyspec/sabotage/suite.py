"""The cases as this process runs them without pytest: what it takes to run each against many devices."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import cast

from mkeyspec.emit.module_path import source_name
from mkeyspec.files.project import find_sources
from mkeyspec.plan import Need
from mkeyspec.run.marks import Row, case_of
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseInfo
from mkeyspec.store import Store
from mkeyspec.vary.rig import VariedRig


class BrokenSuite(Exception):
    """A `.mks` file does not compile; `str()` is one line that says which."""


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a case; `id` as pytest calls it. `turn`: which row of its case it is."""

    id: str
    case: str
    info: CaseInfo
    turn: int
    run: Callable[[Rig], None]


def load(paths: Iterable[Path], store: Store, chosen: frozenset[str] | None = None) -> list[Item]:
    """Every item of the sources in `paths`, or those of them whose ids are in `chosen`. Modules are brought up to date.

    A source without a chosen item is neither compiled nor imported. Raises BrokenSuite, Unwritable.
    """
    items: list[Item] = []
    sources = None if chosen is None else {id.partition("::")[0] for id in chosen}
    for path in find_sources(paths, store.project):
        if sources is not None and source_name(path, store.project) not in sources:
            continue
        result = store.compile(path)
        if result.state == "broken":
            raise BrokenSuite(f"{result.source} has errors, see `mkeyspec check {result.source}`")
        if result.module is not None:
            items += _items(_module(result.module))
    return items if chosen is None else [item for item in items if item.id in chosen]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"mkeyspec_sabotaged.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _items(module: ModuleType) -> list[Item]:
    items: list[Item] = []
    for function in vars(module).values():
        mark = case_of(function)
        if mark is None:
            continue
        case = f"{mark.suite.source}::{mark.name}"

        def info(id: str, needs: tuple[Need, ...], function: object = function) -> CaseInfo:
            found = case_of(function)
            assert found is not None
            all_needs = (*found.needs, *needs)
            return CaseInfo(id, found.suite.source, found.verifies, all_needs, None, found.at, found.isolated)

        expansions = _rows(function)
        if expansions is None:
            items.append(Item(case, case, info(case, ()), 0, function))
            continue
        for turn, (name, row) in enumerate(expansions):
            id = f"{case}[{name}]"
            items.append(Item(id, case, info(id, row._needs), turn, _with(function, row)))
    return items


def _rows(function: object) -> Sequence[tuple[str, Row]] | None:
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            return list(zip(mark.kwargs["ids"], mark.args[1], strict=True))
    return None


def _with(function: Callable[[Rig, Row], None], row: Row) -> Callable[[Rig], None]:
    return lambda rig: function(rig, row)


def varied(items: Sequence[Item], seed: str) -> list[Item]:
    """The same rows in other surroundings, as `mkeyspec run --vary SEED` has them; their ids end with the option."""

    def around(item: Item) -> Item:
        def run(rig: Rig) -> None:
            item.run(cast(Rig, VariedRig(rig, seed, item.id)))  # has what a test function calls

        return replace(item, id=f"{item.id} --vary {seed}", run=run)

    return [around(item) for item in items]


def thinned(items: Sequence[Item], most: int) -> frozenset[int]:
    """At most so many rows of each case, from its first to its last, as far apart as can be; as places in `items`."""
    kept: set[int] = set()
    for _, group in groupby(range(len(items)), key=lambda number: items[number].case):
        rows = list(group)
        if len(rows) > most:
            rows = [rows[place * (len(rows) - 1) // max(1, most - 1)] for place in range(most)]
        kept.update(rows)
    return frozenset(kept)


def outcome(item: Item, rig: Rig) -> str:
    """`pass`, or `skip`. Raises CaseFailed, Blocked, or whatever an item dies of."""
    if rig.begin(item.info):
        return "skip"
    item.run(rig)
    return "pass"
