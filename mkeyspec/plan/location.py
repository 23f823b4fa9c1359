"""Where a statement stands in its `.mks` file."""

from __future__ import annotations

from typing import NamedTuple


class At(NamedTuple):
    """Line and column, from 1, of the statement in the `.mks` file."""

    line: int
    column: int
