"""The root of a suite: no file outside of it is read.

It is the nearest directory at or above a file that holds `mkeyspec.toml`, `pyproject.toml` or `.git`, else the file's
own directory.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MARKERS = ("mkeyspec.toml", "pyproject.toml", ".git")
"""What a suite's root holds."""


def find_root(path: Path) -> Path:
    """The root of the suite to which the file (or directory) `path` belongs; absolute, without symlinks."""
    start = real(path)
    if not stat.S_ISDIR(mode(start)):
        start = start.parent
    for directory in (start, *start.parents):
        if any(mode(directory / marker) for marker in MARKERS):
            return directory
    return start


def suite_root(path: Path, project: Path) -> Path:
    """The root of the suite of `path` in a project, without symlinks. A suite that marks none has the project's; of a
    link out of the project it is the project, so that the link is refused (MKS0808)."""
    root, around, place = find_root(path), real(project), real(path)
    marked = any(mode(root / marker) for marker in MARKERS)
    leads_out = real(path.parent).is_relative_to(around) and not place.is_relative_to(around)
    return around if leads_out or (not marked and root.is_relative_to(around)) else root


def mode(path: Path) -> int:
    """The kind of file at `path`; 0 where there is none that we may see."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def real(path: Path) -> Path:
    """`path` without symlinks; unlike `Path.resolve` it takes a circle of links as well."""
    return Path(os.path.realpath(path))
