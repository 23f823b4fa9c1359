"""Where a document is: its file, its project, and what the project says of requirements and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mkeyspec.compiler.loader import NOTHING_UNSAVED
from mkeyspec.compiler.warning_levels import PLAIN, Levels
from mkeyspec.files.project import OtherCheckout, Unreadable, project_of
from mkeyspec.files.suite_root import real, suite_root
from mkeyspec.files.toml_places import TomlError
from mkeyspec.project.settings import checked_settings, levels_of
from mkeyspec.requirements.ledger import Requirement, requirements
from mkeyspec.requirements.own import own_ledger


@dataclass(frozen=True)
class Place:
    """`path` need not be there. `project`: where files are named from; `root`: of the suite.

    `requirements`: the shipped ones and the project's own; `own`: ids of the latter. `wrong`: what can't be read of the
    project's settings, in words. `unsaved`: texts of other files that are open in the editor, by their real paths.
    """

    path: Path
    project: Path
    root: Path
    requirements: Mapping[str, Requirement] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    levels: Levels = PLAIN
    wrong: str = ""
    unsaved: Mapping[Path, bytes] = field(default_factory=dict)


def place_of(path: Path, unsaved: Mapping[Path, bytes] = NOTHING_UNSAVED) -> Place:
    """The place of the file at `path`. It raises nothing: why a project can't be read is in `wrong`."""
    wrong = ""
    project = path.parent
    own: Mapping[str, Requirement] = {}
    levels = PLAIN
    try:
        found = project_of([path])
        project = found.root
        levels = levels_of(checked_settings(found.settings), PLAIN)
        own = own_ledger(path.parent).entries
    except (OtherCheckout, Unreadable, TomlError, OSError, ValueError) as error:
        wrong = str(error)
    others = {real(other): raw for other, raw in unsaved.items() if real(other) != real(path)}
    all_of_them = {**requirements(), **own}
    root = suite_root(path, project)
    return Place(path, project, root, all_of_them, frozenset(own), levels, wrong, others)
