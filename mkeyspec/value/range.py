"""A half-open range of byte positions."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.value.expression import Expression


@dataclass(frozen=True, slots=True, repr=False)
class Range(Expression):
    """Bytes `start` to `start + length`, the end left out."""

    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length
