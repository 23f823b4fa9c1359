"""One turn of a `repeat`, as a generated module sees it."""

from __future__ import annotations

from typing import Any

from mkeyspec import plan


class Turn:
    """The values in which a turn differs from the others, as attributes."""

    __slots__ = ("__dict__", "_turn")

    def __init__(self, turn: plan.Turn, columns: dict[str, Any]) -> None:
        self._turn = turn
        self.__dict__ = columns

    @property
    def number(self) -> int:
        """From 1."""
        return self._turn.number

    def at(self, line: int, column: int) -> plan.At:
        """The place of a statement in this turn."""
        return plan.At(line, column, self._turn)

    def name(self, called: str) -> str:
        """What this turn calls the bytes that it takes, or a record of its own."""
        return plan.of_turn(called, self._turn)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"turn {self._turn.number} has no column {name!r}")

    def __repr__(self) -> str:
        return f"<{self._turn}>"
