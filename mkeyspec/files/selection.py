"""Named profiles of a suite: `cases/quick.toml` lists the items of the profile `quick`.

A command chooses them by the faults that they detect (`mkeyspec sabotage --choose`). A profile without items is of the
whole suite, with a larger strength of each `covering`: `stronger = 1` in `cases/deep.toml`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = "cases"

MOST_STRONGER = 5
"""From `covering 1` to `covering 6`."""


class SelectionError(ValueError):
    """A profile that can't be used; `str()` is one line."""


def file_of(name: str, project: Path) -> Path:
    return project / FOLDER / f"{name}.toml"


def read(name: str, project: Path) -> frozenset[str]:
    """The ids of the items of a profile. Raises SelectionError."""
    items = _table(name, project).get("items")
    if not isinstance(items, list) or not all(isinstance(one, str) for one in items):
        raise SelectionError(f"{file_of(name, project)}: a profile has a list `items` of ids, or `stronger = 1`")
    return frozenset(items)


def stronger(name: str, project: Path) -> int:
    """How much larger the strength of each `covering` is in a profile; 0 in one of items. Raises SelectionError."""
    table = _table(name, project)
    more = table.get("stronger", 0)
    if "items" in table and "stronger" in table:
        raise SelectionError(f"{file_of(name, project)}: a profile has `items` or `stronger`, not both")
    if isinstance(more, bool) or not isinstance(more, int) or not 0 <= more <= MOST_STRONGER:
        raise SelectionError(f"{file_of(name, project)}: `stronger` is a number from 1 to {MOST_STRONGER}")
    return more


def _table(name: str, project: Path) -> dict[str, Any]:
    path = file_of(name, project)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        there = sorted(one.stem for one in path.parent.glob("*.toml"))
        near = get_close_matches(name, there, n=1)
        advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(there) or 'none'}"
        raise SelectionError(f"no profile {name!r} in {FOLDER}/; {advice}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SelectionError(f"{path}: can't read the profile: {str(error).splitlines()[0]}") from None


def text(items: Sequence[str], command: str) -> str:
    """A profile as it is written, with the command that made it."""
    lines = [f"# Written by `{command}`: don't edit, run it again.", "items = ["]
    lines += [f'    "{item}",' for item in sorted(items)]
    return "\n".join([*lines, "]", ""])
