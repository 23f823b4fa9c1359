"""`mkeyspec.toml`: the defaults of a project. An option of a command line wins over each of them.

The file is the nearest one from the folder of what is named upwards, as far as the folder with `.git`. Paths in it are
relative to its own folder. An empty file sets nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mkeyspec.files.toml_places import Document, Step

NAME = "mkeyspec.toml"
CODE = "MKS0940"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project's file says; None or empty where it says nothing. Paths are absolute."""

    document: Document | None = None
    device: str | None = None
    device_profile: Path | None = None
    profile: str | None = None
    deadline: float | None = None
    expectations: tuple[Path, ...] = ()
    waivers: tuple[Path, ...] = ()
    ledgers: tuple[Path, ...] = ()
    cases: tuple[Path, ...] = ()
    generated: Path | None = None
    reports: Path | None = None
    require: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def at(self, *path: Step) -> str:
        """`mkeyspec.toml:3:1`."""
        return NAME if self.document is None else self.document.at(*path)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a key takes, in words; whether it names files, or folders, which must be there; or a folder that is made."""

    words: str
    example: str
    files: bool = False
    folders: bool = False
    made: bool = False
    many: bool = False
    number: bool = False


_TEXT = "a text"
KEYS: dict[tuple[str, ...], _Kind] = {
    ("device",): _Kind(_TEXT, 'device = "soft"'),
    ("device_profile",): _Kind("the name of a file", 'device_profile = "cx6.toml"', files=True),
    ("profile",): _Kind(_TEXT, 'profile = "quick"'),
    ("deadline",): _Kind("a number of seconds above 0", "deadline = 2.5", number=True),
    ("expectations",): _Kind("a list of files", 'expectations = ["lab.toml"]', files=True, many=True),
    ("waivers",): _Kind("a list of files", 'waivers = ["waivers.toml"]', files=True, many=True),
    ("ledgers",): _Kind("a list of files", 'ledgers = ["requirements/acme.toml"]', files=True, many=True),
    ("cases",): _Kind("a list of files and folders", 'cases = ["cases"]', files=True, folders=True, many=True),
    ("generated",): _Kind("the name of a folder", 'generated = "build/generated"', made=True),
    ("reports",): _Kind("the name of a folder", 'reports = "build/reports"', made=True),
    ("require",): _Kind("a list of capabilities", 'require = ["crypto"]', many=True),
    ("warnings", "allow"): _Kind("a list of codes", 'allow = ["MKS0602"]', many=True),
    ("warnings", "deny"): _Kind("a list of codes", 'deny = ["warnings"]', many=True),
}
"""Every key, by its path."""


def find(start: Path) -> Path | None:
    """The file for what is in the folder `start`."""
    for folder in (start, *start.parents):
        if (folder / NAME).is_file():
            return folder / NAME
        if (folder / ".git").exists():
            return None
    return None


def settings_for(start: Path) -> Settings:
    """The settings for what is in the folder `start`. Raises TomlError (MKS0940)."""
    path = find(Path(os.path.abspath(start)))
    return Settings() if path is None else read(path)


def read(path: Path) -> Settings:
    """The settings in a file. Raises TomlError with all that is wrong with it."""
    document = Document(path, os.path.relpath(path), CODE)
    found = _Reader(document).read()
    document.finish()
    return found


@dataclass(slots=True)
class _Reader:
    document: Document
    values: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def read(self) -> Settings:
        tables = {path[0] for path in KEYS if len(path) == 2}
        for key, value in self.document.values.items():
            if key not in tables:
                self._one((key,), value)
            elif isinstance(value, dict):
                for name, inner in value.items():
                    self._one((key, name), inner)
            else:
                self.document.error(f"`{key}` is a table: write [{key}], and its keys below", key)
        paths = {path[-1]: value for path, value in self.values.items()}
        return Settings(self.document, **paths)

    def _one(self, path: tuple[str, ...], value: Any) -> None:
        kind = KEYS.get(path)
        if kind is None:
            self.document.error(f"unknown key `{path[-1]}`{_where(path)}; {_meant(path)}", *path)
            return
        if kind.number:
            right = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")
        elif kind.many:
            right = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        else:
            right = isinstance(value, str) and bool(value)
        if not right:
            self.document.error(f"`{path[-1]}` is {kind.words}: write {kind.example}", *path)
            return
        if kind.files:
            named = value if kind.many else [value]
            places = [self._file(name, kind, path, number) for number, name in enumerate(named)]
            self.values[path] = tuple(places) if kind.many else places[0]
        elif kind.made:
            self.values[path] = self._folder(value, path)
        else:
            self.values[path] = tuple(value) if kind.many else value

    def _file(self, name: str, kind: _Kind, path: tuple[str, ...], number: int) -> Path:
        place = Path(os.path.abspath(self.document.path.parent / name))
        if not (place.is_file() or (kind.folders and place.is_dir())):
            there = sorted(one.name for one in place.parent.glob(f"*{place.suffix}")) if place.parent.is_dir() else []
            near = get_close_matches(place.name, there, n=1)
            fix = f"did you mean {near[0]}?" if near else f"paths are relative to the folder of {NAME}"
            self.document.error(f"no such file{' or folder' if kind.folders else ''}: {name}; {fix}", *path, number)
        return place

    def _folder(self, name: str, path: tuple[str, ...]) -> Path:
        own = self.document.path.parent
        place = Path(os.path.abspath(own / name))
        if own.is_relative_to(place):
            self.document.error(f"{name} holds the suite itself; name a folder for what is made alone", *path)
        elif place.exists() and not place.is_dir():
            self.document.error(f"{name} is a file; name a folder", *path)
        return place


def _where(path: Sequence[str]) -> str:
    return f" in [{path[0]}]" if len(path) > 1 else ""


def _meant(path: tuple[str, ...]) -> str:
    """What a wrong key should be."""
    for one in KEYS:
        if one[-1] == path[-1]:
            return f"it belongs in [{one[0]}]" if len(one) > 1 else "it belongs above the first table"
    here = [one[-1] for one in KEYS if one[:-1] == path[:-1]]
    near = get_close_matches(path[-1].replace("-", "_"), here, n=1)
    return f"did you mean `{near[0]}`?" if near else f"the keys are: {', '.join(here)}"
