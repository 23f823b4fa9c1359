"""The judge of three: what the case expects is of the references; the model and a device each pass it or fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file
from mkeyspec.shrink.judge import Outcome, Player

REFERENCES, MODEL, COMPILER = "the references", "the model", "the compiler"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`alone`: who the others contradict; "" where no two agree, or there are only two. `code` of the failure;
    `said`: what each says, in a line."""

    alone: str
    code: str
    said: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> tuple[str, str]:
        """What is kept while a case is made smaller."""
        return self.alone, self.code


class Three:
    """Plays cases on the model and on a device side by side, statement by statement.

    `device` None: only the references and the model are compared. `name` of the device in messages.
    """

    def __init__(self, folder: Path, model: Player, device: Player | None, name: str = "") -> None:
        self.folder = folder
        self.model = model
        self.device = device
        self.name = name

    def disagreement(self, text: str) -> Disagreement | None:
        """What the three make of a case; None if they agree, or if one of them can't carry it out."""
        file = self.folder / "searched.mks"
        file.write_text(text, encoding="utf-8")
        compiled = compile_file(file, root=self.folder)
        if compiled.suite is None:
            first = next(iter(compiled.diagnostics.errors))
            return Disagreement(COMPILER, first.code, ((COMPILER, f"{first.code}: {first.message}"),))
        (case,) = compiled.suite.cases
        (row,) = case.rows
        return self._judged(self._played(case, row, compiled.suite.source))

    def _played(self, case: plan.Case, row: plan.Row, source: str) -> list[Outcome]:
        players = [self.model] if self.device is None else [self.model, self.device]
        sides = [player.playing(case, row, source) for player in players]
        ended: dict[int, Outcome] = {}
        while len(ended) < len(sides):
            for number, side in enumerate(sides):
                outcome = None if number in ended else next(side)
                if outcome is not None:
                    ended[number] = outcome
        return [ended[number] for number in range(len(sides))]

    def _judged(self, outcomes: Sequence[Outcome]) -> Disagreement | None:
        failed = [one for one in outcomes if one.status == "fail"]
        if not failed or any(one.status == "skip" for one in outcomes):
            return None
        names = (MODEL, self.name)
        said = [(REFERENCES, "as the case expects")]
        said += [(name, _said(one)) for name, one in zip(names, outcomes, strict=False)]
        if len(outcomes) == 1:
            alone = ""
        elif len(failed) == 1:
            alone = names[list(outcomes).index(failed[0])]
        else:
            alone = REFERENCES if _said(failed[0]) == _said(failed[1]) else ""
        return Disagreement(alone, failed[0].code, tuple(said))


def _said(outcome: Outcome) -> str:
    one = outcome.failure
    if one is None:
        return "as the case expects" if outcome.status == "pass" else outcome.status
    got = "" if one.difference is None else f"; got {one.difference.got[:32]} from byte {one.difference.start} on"
    return f"{one.code} in line {one.at.line}: {one.message}{got}"
