"""Evidence against near misses: statements that held, and would not have held by another rule.

Only what the usual rules foresee is asked: bytes that an expectation found, records of checks, and what is in the
buffers at the end. A near miss that would have given anything else there is ruled out.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mkeyspec import plan
from mkeyspec.lookslike.evaluation import Budget, Evaluation, Part
from mkeyspec.lookslike.hypothesis import USUAL, Rules
from mkeyspec.lookslike.plain import Bytes
from mkeyspec.lookslike.record_ways import WAYS, Fits, LaidDown, Way
from mkeyspec.lookslike.records import Search, usual_messages
from mkeyspec.lookslike.transfer import Replay, Stage, moves_of
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import is_known

MOST = 8 << 20
"""Bytes that are computed for one row."""
ONE = 1 << 20
"""Of those, for one near miss."""
LARGEST = 256 << 10
"""Bytes of the buffers of a row that is asked at all."""

_WAYS: dict[str, Way] = {}
for _way in WAYS:
    _WAYS.setdefault(_way.name, _way)


@dataclass(frozen=True, slots=True)
class Asked:
    """A check that held: after how many steps, of which mkey, and which records the case admits."""

    steps: int
    mkey: str
    fits: Fits


@dataclass(frozen=True, slots=True)
class _Point:
    """Bytes that an expectation found, after so many transfers."""

    moves: int
    pieces: tuple[tuple[str, int, int], ...]
    want: bytes


class _Unlike(Mapping[str, bytes]):
    """What was on the wires before, and in buffers of which it is not known: nothing that a transfer brings."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.contents = contents

    def __getitem__(self, name: str) -> bytes:
        return random.Random(name).randbytes(len(self.contents[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.contents)

    def __len__(self) -> int:
        return len(self.contents)


def ruled_out(
    stage: Stage, names: Iterable[str], asked: Sequence[Asked], laid_down: LaidDown, *, ended: bool = False
) -> set[str]:
    """Those of the near misses by which a statement that held would not have held. `ended`: the row has passed, and
    its buffers hold what is expected. Raises nothing; a row that is not understood, or too large, rules out none."""
    try:
        if sum(map(len, stage.contents.values())) > LARGEST:
            return set()
        row = _Row(stage, asked, laid_down, ended)
    except Exception:  # what only the device knows, and did not tell
        return set()
    return {name for name in names if (way := _WAYS.get(name)) is not None and row.speaks_against(way)}


class _Row:
    def __init__(self, stage: Stage, asked: Sequence[Asked], laid_down: LaidDown, ended: bool) -> None:
        self.stage = replace(stage, contents=_Unlike(stage.contents))
        self.budget = Budget(MOST)
        self.moves = moves_of(stage)
        self.points = list(_points(stage))
        self.final: dict[str, tuple[Bytes, npt.NDArray[np.bool_]]] = {}
        """By buffer: what is there at the end, and which of it the usual rules foresee."""
        found, replay = self._replayed(USUAL)
        self.points = [point for point, data in zip(self.points, found, strict=True) if data == point.want]
        for name, image in replay.images.items() if ended else ():
            if not name.startswith("@"):
                there = np.frombuffer(stage.contents[name], np.uint8)
                self.final[name] = there, there == np.frombuffer(image, np.uint8)
        self.asked: list[tuple[Search, int, Fits]] = []
        for one in asked:
            search = Search(replace(stage, steps=stage.steps[: one.steps]), one.mkey, laid_down)
            last = usual_messages(search, one.fits)
            if last is not None:
                self.asked.append((search, last, one.fits))

    def speaks_against(self, way: Way) -> bool:
        try:
            return self._bytes_differ(way.rules) or self._a_record_differs(way)
        except Exception:  # no bytes and no record by these rules
            return False

    def _bytes_differ(self, rules: Rules) -> bool:
        if rules == Rules(escaped=rules.escaped, masked=rules.masked) or not (self.points or self.final):
            return False
        found, replay = self._replayed(rules)
        if any(data != point.want for point, data in zip(self.points, found, strict=True)):
            return True
        return any(
            bool((there[foreseen] != np.frombuffer(replay.image(name), np.uint8)[foreseen]).any())
            for name, (there, foreseen) in self.final.items()
        )

    def _replayed(self, rules: Rules) -> tuple[list[bytes], Replay]:
        """What the expectations would find, and what is there at the end."""
        evaluation = Evaluation(rules, Part(self.budget, ONE))
        replay = Replay(self.stage, evaluation, anew=True)
        found, done = [], 0
        for point in self.points:
            for move in self.moves[done : point.moves]:
                replay.carry_out(move)
            done = point.moves
            pieces = [bytes(replay.image(name)[start : start + length]) for name, start, length in point.pieces]
            found.append(b"".join(pieces))
        for move in self.moves[done:]:
            replay.carry_out(move)
        return found, replay

    def _a_record_differs(self, way: Way) -> bool:
        return any(not fits(search.told(way, last)) for search, last, fits in self.asked)


def _points(stage: Stage) -> Iterator[_Point]:
    """The expectations of bytes by one expression."""
    for number, step in enumerate(stage.steps):
        if not isinstance(step, plan.Expect) or step.operator != "==" or step.known or step.branch:
            continue
        if not isinstance(step.expected, ByteString):
            continue
        pieces: list[tuple[str, int, int]] = []
        match step.observed:
            case plan.Wire(length, start, label):
                pieces.append((f"@{label or ''}", start, length))
            case plan.Content(parts):
                for part in parts:
                    if is_known(part.start) and is_known(part.length):
                        pieces.append((part.name, part.start, part.length))
            case _:
                continue
        if sum(length for _, _, length in pieces) == step.expected.length:
            moves = len(moves_of(replace(stage, steps=stage.steps[:number])))
            yield _Point(moves, tuple(pieces), step.expected.data)
