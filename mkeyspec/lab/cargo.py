"""The files that go to a host: cases, what they use, their modules, and files that options and settings name.

They keep their places in the project, so that rows have the same ids and messages the same paths as here. A file that
is outside of it goes to the folder `.lab` of the copy.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mkeyspec.files.settings import NAME, Settings, read

_SETTINGS = (NAME, "pyproject.toml", "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg")
"""Files that mark a project or a suite, and say which folders are not searched."""
_OUTSIDE = ".lab"


@dataclass(slots=True)
class Cargo:
    """`root`: of the project; `base`: the nearest folder that also has its settings."""

    root: Path
    base: Path
    files: dict[str, bytes] = field(default_factory=dict)
    """By their paths in the copy of `base`."""
    names: dict[Path, str] = field(default_factory=dict)

    @staticmethod
    def of(root: Path, settings: Settings) -> Cargo:
        own = settings.document.path.parent if settings.document is not None else root
        return Cargo(root, Path(os.path.commonpath([root, Path(os.path.abspath(own))])))

    @property
    def folder(self) -> str:
        """Of the project, in the copy."""
        return os.path.relpath(self.root, self.base)

    def add(self, path: Path) -> str:
        """What a command line there calls the file. Raises OSError."""
        path = Path(os.path.abspath(path))
        if path not in self.names:
            inside = path.is_relative_to(self.base)
            name = path.relative_to(self.base).as_posix() if inside else f"{_OUTSIDE}/{len(self.names)}-{path.name}"
            self.put(name, path.read_bytes())
            self.names[path] = name
        return os.path.relpath(self.names[path], self.folder)

    def put(self, name: str, data: bytes) -> None:
        self.files[name] = data

    def add_sources(self, sources: Iterable[Path]) -> None:
        """Sources, with the files beside and above them that mark a suite and that its settings name. Raises OSError,
        TomlError."""
        folders: dict[Path, None] = {}
        for source in sources:
            self.add(source)
            folder = Path(os.path.abspath(source)).parent
            while folder not in folders and folder.is_relative_to(self.base):
                folders[folder] = None
                folder = folder.parent
        folders[self.root] = None
        for folder in folders:
            for name in _SETTINGS:
                if (folder / name).is_file():
                    self.add(folder / name)
            if (folder / NAME).is_file():
                self._add_named(read(folder / NAME))
        if not any(Path(self.folder, name).as_posix() in self.files for name in _SETTINGS):
            self.put(
                Path(self.folder, NAME).as_posix(), b""
            )  # the root is marked by .git, or by where the command was called

    def _add_named(self, settings: Settings) -> None:
        named = [*settings.expectations, *settings.waivers, *settings.ledgers]
        if settings.device_profile is not None:
            named.append(settings.device_profile)
        for path in named:
            if path.is_relative_to(self.base):
                self.add(path)

    def items(self) -> Iterator[tuple[str, bytes, str]]:
        """Path, bytes and SHA-256 of each file."""
        for name, data in self.files.items():
            yield name, data, hashlib.sha256(data).hexdigest()
