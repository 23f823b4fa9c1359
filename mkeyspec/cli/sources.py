"""The `.mks` files that a command works on, and their project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from mkeyspec.cli.session import Failure
from mkeyspec.files.project import SUFFIX, find_sources, project_of, real_path, refuse_name
from mkeyspec.files.settings import Settings
from mkeyspec.project.settings import checked_settings


def project_root() -> Path:
    """The root of the project of the current directory."""
    return project_of().root


def sources_of(paths: Iterable[str]) -> list[Path]:
    """Every `.mks` file in `paths`, those of folders as well. Raises Failure for a path that does not exist."""
    given = given_paths(paths)
    for path in given:
        if not path.exists():
            raise Failure("MKS0903", f"no such file or directory: {path}")
        be_a_source(path, SUFFIX)
    return find_sources(given, project_of(given).root)


def project_settings(paths: Iterable[str | Path] = ()) -> Settings:
    """The settings of the project of `paths`, or of the current directory. Raises TomlError."""
    return checked_settings(project_of(list(paths)).settings)


def default_paths() -> list[str]:
    """The default paths of a command: those of mkeyspec.toml, or the folder cases/. Raises Failure if there is none."""
    named = project_settings().cases
    if named:
        return [os.path.relpath(path) for path in named]
    if Path("cases").is_dir():
        return ["cases"]
    raise Failure("MKS0903", "there is no folder cases/ here; name a .mks file or a folder")


def named_paths(paths: Sequence[str]) -> Sequence[str]:
    """`paths`, or the default."""
    return [real_path(path) for path in paths] or default_paths()


def given_paths(paths: Iterable[str]) -> list[Path]:
    """As `named_paths`, as paths."""
    return [Path(path) for path in named_paths(list(paths))]


def be_a_source(path: Path, *suffixes: str) -> None:
    """Raises Failure for a file with none of these suffixes, Unreadable for a name that no id can contain."""
    if not path.is_dir() and path.suffix not in suffixes:
        raise Failure("MKS0903", f"{path} is no {SUFFIX} file")
    if path.suffix == SUFFIX:
        refuse_name(path)
