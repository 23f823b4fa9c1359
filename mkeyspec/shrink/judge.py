"""Whether a text still fails as it should: on the device in question, and not on the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.compiler.compile import Compiled, compile_file
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed, CaseInfo, Failure

OpenRig = Callable[[], Rig]


class Outcome(NamedTuple):
    """`status`: "pass", "fail", or "skip"; of a failure, its first finding, the code of that, and its whole text."""

    status: str
    code: str = ""
    text: str = ""
    failure: Failure | None = None


class Player:
    """Runs single rows on one device, which is opened again when a row leaves it unusable."""

    def __init__(self, open_rig: OpenRig) -> None:
        self._open = open_rig
        self._rig: Rig | None = None

    def play(self, case: plan.Case, row: plan.Row, source: str) -> Outcome:
        """Run a row; raises nothing that a device causes."""
        return next(outcome for outcome in self.playing(case, row, source) if outcome is not None)

    def playing(self, case: plan.Case, row: plan.Row, source: str) -> Iterator[Outcome | None]:
        """As `play`, step by step: None after each step, and the outcome at the end."""
        if self._rig is None or self._rig.blocked is not None:
            self._rig = self._open()
        rig = self._rig
        info = CaseInfo(f"{source}::{case.name}", source, case.verifies, row.needs, None, case.at, case.isolated)
        try:
            if rig.begin(info):
                yield Outcome("skip")
                return
            for step in row.steps:
                rig.step(step)
                yield None
            rig.finish()
        except CaseFailed as failed:
            first = failed.failures[0] if failed.failures else None
            yield Outcome("fail", first.code if first is not None else "", failed.text, first)
        except Blocked as blocked:
            yield Outcome("skip", text=str(blocked))
        else:
            yield Outcome("pass")


class Judge:
    """Tells of a text whether it has one row that fails with `code` on the device, and passes on the model.

    `model` None: the row fails on the model too, which then says nothing.
    """

    def __init__(self, folder: Path, device: Player, model: Player | None, code: str) -> None:
        self._file = folder / "shrunk.mks"
        self._device = device
        self._model = model
        self._code = code
        self.tried = 0

    def compiled(self, text: str) -> Compiled:
        self._file.write_text(text, encoding="utf-8")
        return compile_file(self._file, root=self._file.parent)

    def alone(self, text: str) -> str:
        """`text` without the overrides that have no effect in its one row, though they have in others (MKS0327)."""
        found = [one.span for one in self.compiled(text).diagnostics.errors if one.code == "MKS0327"]
        for span in sorted(found, key=lambda one: one.start, reverse=True):
            text = text[: span.start].rstrip().removesuffix(",") + text[span.end :]
        return text

    def is_row(self, text: str, id: str) -> bool:
        """Whether the one row of a text is called so."""
        suite = self.compiled(text).suite
        return suite is not None and [row.id for case in suite.cases for row in case.rows] == [id]

    def fails(self, text: str) -> bool:
        """Whether it does; False of one that does not compile, or is skipped, or fails in another way."""
        self.tried += 1
        suite = self.compiled(text).suite
        if suite is None or len(suite.cases) != 1 or len(suite.cases[0].rows) != 1:
            return False
        case = suite.cases[0]
        row = case.rows[0]
        if self._model is not None and self._model.play(case, row, suite.source).status != "pass":
            return False
        found = self._device.play(case, row, suite.source)
        return found.status == "fail" and found.code == self._code
