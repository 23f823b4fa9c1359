"""A suite's own ledgers: requirements of a vendor, with ids of their own prefix (`ACME-12`).

`ledgers` in `mkeyspec.toml` names the files. They have the form of `requirements/*.toml`: `page` above all, which says
where the requirements come from, then a table for each id. An entry needs `title` and `statement` alone.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from mkeyspec.files.settings import find, read
from mkeyspec.files.toml_places import Document, TomlError
from mkeyspec.requirements.ledger import Requirement, departures, requirements

CODE = "MKS0941"

_ID = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z]+)*-[0-9]+[a-z]?\Z", re.ASCII)
_TEXTS = ("title", "statement", "page", "section", "positive", "negative", "negative_judged", "negative_reason",
          "treatment", "reason", "note", "level")  # fmt: skip
_LISTS = ("observe", "sentences")
_CHOICES = {
    "level": ("must", "caller", "permission", "limit", "information"),
    "treatment": ("strict", "implementation", "untestable"),
    "negative_judged": ("claim", "exactness", "not"),
}


@dataclass(frozen=True, slots=True)
class OwnLedger:
    """The entries of a suite's own files, in their order. `digest`: of the files; "" if there are none."""

    entries: Mapping[str, Requirement] = field(default_factory=dict)
    digest: str = ""


NONE = OwnLedger()


def own_ledger(start: Path) -> OwnLedger:
    """The ledgers of the project of the folder `start`. Raises TomlError (MKS0940, MKS0941)."""
    path = find(Path(os.path.abspath(start)))
    if path is None:
        return NONE
    ledgers = read(path).ledgers
    return _load(ledgers, _marks(ledgers)) if ledgers else NONE


def all_requirements(start: Path) -> dict[str, Requirement]:
    """The shipped ledger, and then the project's own. Raises TomlError."""
    return {**requirements(), **own_ledger(start).entries}


def _marks(files: tuple[Path, ...]) -> tuple[tuple[int, int], ...]:
    """What changes when a file is written."""
    found = [path.stat() for path in files if path.exists()]
    return tuple((one.st_mtime_ns, one.st_size) for one in found)


@lru_cache(maxsize=8)
def _load(files: tuple[Path, ...], marks: tuple[tuple[int, int], ...]) -> OwnLedger:
    entries: dict[str, Requirement] = {}
    places: dict[str, str] = {}
    errors: list[str] = []
    digest = hashlib.sha256()
    for path in files:
        try:
            document = Document(path, os.path.relpath(path), CODE)
        except TomlError as error:
            errors.append(str(error))
            continue
        digest.update(path.read_bytes() + b"\0")
        _read(document, entries, places)
        errors += document.errors
    if errors:
        raise TomlError(CODE, *errors)
    return OwnLedger(entries, digest.hexdigest())


def _read(document: Document, entries: dict[str, Requirement], places: dict[str, str]) -> None:
    page = document.values.get("page", "")
    if not isinstance(page, str) or not page:
        document.error('a ledger says where its requirements come from: page = "ACME NIC specification 2.1"', "page")
    for id, table in document.values.items():
        if id == "page":
            continue
        wrong = _wrong_id(id, places)
        if wrong:
            document.error(wrong, id)
        elif not isinstance(table, dict):
            document.error(f"`{id}` is a table: write [{id}], and its keys below", id)
        else:
            places[id] = document.at(id)
            _entry(document, id, table)
            if not document.errors:
                entries[id] = _requirement(id, table, str(page))


def _wrong_id(id: str, places: dict[str, str]) -> str:
    """Why an id can't be one of a suite's own; "" if it can."""
    if not _ID.match(id):
        return f"`{id}` is not an id: write capital letters, a hyphen and a number, as ACME-12"
    if id in requirements() or id in departures():
        return f"`{id}` is an id of the shipped ledger; give yours another prefix"
    prefix = id.rpartition("-")[0]
    if prefix in _shipped_prefixes() or id.startswith("X-"):
        return f"`{id}`: ids that begin with {prefix}- belong to the shipped ledger; give yours another prefix"
    return f"`{id}` is there already, at {places[id]}; give one of them another number" if id in places else ""


@lru_cache(maxsize=1)
def _shipped_prefixes() -> frozenset[str]:
    return frozenset(id.rpartition("-")[0] for id in (*requirements(), *departures()))


def _entry(document: Document, id: str, table: dict[str, Any]) -> None:
    for name in ("title", "statement"):
        if not table.get(name):
            document.error(f"{id} lacks `{name}`: a text", id)
    for key, value in table.items():
        if key in _TEXTS:
            if not isinstance(value, str):
                document.error(f"`{key}` of {id} is a text", id, key)
            elif key in _CHOICES and value not in _CHOICES[key]:
                document.error(f"`{key}` of {id} is one of {', '.join(_CHOICES[key])}", id, key)
        elif key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                document.error(f"`{key}` of {id} is a list of texts", id, key)
        else:
            document.error(f"unknown key `{key}` in {id}; the keys are: {', '.join((*_TEXTS, *_LISTS))}", id, key)
    if table.get("treatment") == "untestable" and not table.get("reason"):
        document.error(f"{id} is untestable: say why, in `reason`", id, "treatment")


def _requirement(id: str, table: dict[str, Any], page: str) -> Requirement:
    """An entry that says nothing else wants a case that shows that it holds."""
    negative = table.get("negative", "")
    return Requirement(
        id=id,
        title=table["title"],
        statement=table["statement"],
        page=table.get("page", page),
        section=table.get("section", ""),
        level=table.get("level", "must"),
        observe=tuple(table.get("observe", ())),
        positive=table.get("positive", "" if negative else "It holds."),
        negative=negative,
        negative_judged=table.get("negative_judged", "claim" if negative else ""),
        negative_reason=table.get("negative_reason", ""),
        treatment=table.get("treatment", "strict"),
        reason=table.get("reason", ""),
        note=table.get("note", ""),
        sentences=tuple(table.get("sentences", ())),
    )
