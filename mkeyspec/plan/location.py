"""Where a statement is in its `.mks` file, and in which turn of a `repeat` it is carried out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Turn(NamedTuple):
    """One turn of a `repeat`: `number` from 1, of so many; line and column of the `repeat`."""

    number: int
    of: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"in turn {self.number} of {self.of}"


class At(NamedTuple):
    """Line and column, from 1, of the statement in the `.mks` file; `turn`: of the `repeat` that it is in.

    The same statement in two turns is at two places: what a claim, an outcome or a failure of one turn says is of that
    turn.
    """

    line: int
    column: int
    turn: Turn | None = None

    def __str__(self) -> str:
        """`13:9`, or `13:9 in turn 37`."""
        return f"{self.line}:{self.column}" + (f" in turn {self.turn.number}" if self.turn is not None else "")


def of_turn(name: str, turn: Turn) -> str:
    """What something that each turn makes anew is called in this one."""
    return f"{name} in turn {turn.number} of {turn.line}:{turn.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A step, or a work request. `origin`: the text that it was made of, for the compiler's findings; not a part of its
    value, and None in a generated module."""

    origin: object = field(default=None, compare=False, repr=False)

    def locate(self, origin: object) -> None:
        """Give a step that was just made its origin. It is not a part of its value, so the step stays what it is."""
        object.__setattr__(self, "origin", origin)
