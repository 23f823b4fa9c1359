"""What became of a mutant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Changed(Protocol):
    """A mutant of either language."""

    @property
    def module(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def key(self) -> tuple[str, str, str, str]: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """`result`: killed, timed out (that is killed, too) or survived. `how`: the test that failed, or what
    was tried."""

    mutant: Changed
    result: str
    how: str
