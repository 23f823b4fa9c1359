"""Where a statement is in its `.mks` file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class At(NamedTuple):
    """Line and column, from 1, of the statement in the `.mks` file."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A step, or a work request. `origin`: the text that it was made of, for the compiler's findings; not a part of its
    value, and None in a generated module."""

    origin: object = field(default=None, compare=False, repr=False)

    def locate(self, origin: object) -> None:
        """Give a step that was just made its origin. It is not a part of its value, so the step stays what it is."""
        object.__setattr__(self, "origin", origin)
