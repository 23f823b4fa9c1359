"""A rig that carries out each row in other surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mkeyspec.plan import At, Step
from mkeyspec.plan import Turn as Place
from mkeyspec.run.rig import Rig
from mkeyspec.run.turn import Turn
from mkeyspec.run.verdict import Verdict
from mkeyspec.vary.varied import vary


class VariedRig:
    """Stands for the rig of one row, which has been begun: collects its steps, and carries them out at its end."""

    def __init__(self, rig: Rig, seed: str, id: str) -> None:
        self._rig, self._seed, self._id = rig, seed, id
        self._steps: list[Step] = []

    def step(self, step: Step) -> None:
        """Keep one step."""
        self._steps.append(step)

    def repeat(self, at: At, of: int, /, **columns: Sequence[Any]) -> Iterator[Turn]:
        """All turns of a `repeat`, as `Rig.repeat` gives them."""
        for number in range(1, of + 1):
            values = {name: column[min(number, len(column)) - 1] for name, column in columns.items()}
            yield Turn(Place(number, of, at.line, at.column), values)

    def finish(self) -> Verdict:
        """Carry out the steps with what is around them. Returns and raises what `Rig.finish` does."""
        varied = vary(self._steps, self._seed, self._id, self._rig.capabilities.offers)
        self._rig.varied = (self._seed, varied.notes)
        for step in varied.steps:
            self._rig.step(step)
        return self._rig.finish()
