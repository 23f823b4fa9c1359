"""Selection: the items of `--case-profile`, and always broken files; of these, the part that `--shard` names."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from difflib import get_close_matches
from pathlib import Path

import pytest

from mkeyspec.emit.module_path import source_name
from mkeyspec.files.project import SUFFIX
from mkeyspec.files.selection import file_of
from mkeyspec.plugin import shards
from mkeyspec.plugin.compilation import Outcome, compilation
from mkeyspec.plugin.nodes import BrokenFile
from mkeyspec.plugin.option_values import SELECTED, SHARD
from mkeyspec.plugin.waivers import unmatched
from mkeyspec.run.marks import case_of

_TOLD_GONE = 5
"""Number of ids that are printed."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """It is unknown whether a broken file has what -k, -m or --lf select, so its item is always kept."""
    chosen = config.stash.get(SELECTED, None)
    if chosen is None:  # with a profile, files are left out
        items += unmatched(session, [_id(item) for item in items], _collects)
    collected = {_id(item) for item in items}
    _by_labels(session, items)
    broken = [item for item in items if isinstance(item, BrokenFile)]
    if chosen is not None:
        left = [item for item in items if _id(item) not in chosen and not isinstance(item, BrokenFile)]
        items[:] = [item for item in items if _id(item) in chosen or isinstance(item, BrokenFile)]
        config.hook.pytest_deselected(items=left)
        broken += _gone(session, [*items, *left], chosen - collected)
    yield
    kept = {id(item) for item in items}
    items[:0] = [item for item in broken if id(item) not in kept]
    shard = config.stash.get(SHARD, None)
    if shard is not None:
        part, number = shard
        ids = [_id(item) for item in items]
        split = shards.parts(ids, number, config.stash.get(shards.SECONDS, {}))
        config.stash[shards.SPLIT] = f"{part}/{number}", shards.checksum(ids, split)
        ours = set(split[part - 1])
        config.hook.pytest_deselected(items=[item for place, item in enumerate(items) if place not in ours])
        items[:] = [items[place] for place in split[part - 1]]


def _by_labels(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Leave out the cases that have none of the tags, or another level; an ordinary test has neither."""
    config = session.config
    tags, levels = set(config.option.tag), config.option.level
    if not tags and not levels:
        return
    marks = [case_of(getattr(item, "obj", None)) for item in items]
    there = {tag for mark in marks if mark is not None for tag in mark.tags}
    whole = not any(isinstance(item, BrokenFile) for item in items)  # its tags are unknown
    strange = [_strange(session, tag, there) for tag in config.option.tag if whole and tag not in there]
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item, mark in zip(items, marks, strict=True):
        has = mark is not None and (not tags or tags & set(mark.tags)) and (not levels or mark.level in levels)
        (kept if has or isinstance(item, BrokenFile) else left).append(item)
    items[:] = [*strange, *kept]
    config.hook.pytest_deselected(items=left)


def _strange(session: pytest.Session, tag: str, there: set[str]) -> BrokenFile:
    """A failing item for a tag that no collected case has."""
    close = get_close_matches(tag, there, 1)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    outcome = Outcome(code="MKS0905", text=f"error[MKS0905]: --tag {tag}: no case here has this tag{guess}")
    path = session.config.rootpath
    return BrokenFile.from_parent(session, name="MKS0905", nodeid=f"--tag {tag}::MKS0905", path=path, outcome=outcome)


def _gone(session: pytest.Session, items: list[pytest.Item], missing: frozenset[str]) -> list[BrokenFile]:
    """One failing item if the profile lists an item that does not exist, in files that are collected whole. `missing`:
    those that were not collected."""
    config = session.config
    # Of a broken file nothing is known but that it is broken.
    broken = {source_name(item.path, config.rootpath) for item in items if isinstance(item, BrokenFile)}
    # --lf does not collect the files in which nothing failed.
    collected = {_file_of(_id(item)) for item in items} if config.getoption("lf", False) else None
    gone = sorted(
        id
        for id in missing
        if (file := _file_of(id)) not in broken and _whole(config, file) and (collected is None or file in collected)
    )
    if not gone:
        return []
    path = file_of(config.getoption("--case-profile"), config.rootpath)
    name = source_name(path, config.rootpath)
    what = "1 item that is not there" if len(gone) == 1 else f"{len(gone)} items that are not there"
    more = f" and {len(gone) - _TOLD_GONE} more" if len(gone) > _TOLD_GONE else ""
    text = f"error[MKS0922]: {name} lists {what}: {', '.join(gone[:_TOLD_GONE])}{more}; choose the profile again"
    outcome = Outcome(code="MKS0922", text=text)
    made: BrokenFile = BrokenFile.from_parent(
        session, name="MKS0922", nodeid=f"{name}::MKS0922", path=path, outcome=outcome
    )
    return [made]


def _collects(config: pytest.Config, place: str) -> bool:
    """Whether the session collects a file or a folder of the project whole."""
    if config.getoption("lf", False) or config.getoption("ignore") or config.getoption("deselect"):
        return False
    if place.endswith(SUFFIX):
        return _whole(config, place) or _below(config.rootpath / Path(place).parent, _folders(config))
    return _below(config.rootpath / place, _folders(config))


def _folders(config: pytest.Config) -> list[Path]:
    return [
        place for one in config.args if "::" not in one and (place := Path(config.invocation_params.dir, one)).is_dir()
    ]


def _whole(config: pytest.Config, file: str) -> bool:
    """Whether the session collects a file of the project, or its module, whole."""
    source = config.rootpath / file
    places = (source, compilation(config).store.module_of(source))
    ignored = [Path(config.invocation_params.dir, one) for one in config.getoption("ignore") or ()]
    named = [Path(config.invocation_params.dir, one) for one in config.args if "::" not in one]
    return any(_below(place, named) and not _below(place, ignored) for place in places)


def _below(place: Path, folders: Iterable[Path]) -> bool:
    return any(
        Path(os.path.abspath(place)).is_relative_to(os.path.abspath(folder))
        or place.resolve().is_relative_to(folder.resolve())
        for folder in folders
    )


def _file_of(id: str) -> str:
    return id.split("::", 1)[0]


def _id(item: pytest.Item) -> str:
    """`cases/crc.mks::published_values[crc=crc32]`, whatever module it was collected from."""
    mark = case_of(getattr(item, "obj", None))
    if mark is None or not isinstance(item, pytest.Function):
        return item.nodeid
    return f"{mark.suite.source}::{mark.name}{item.name.removeprefix(item.originalname)}"
