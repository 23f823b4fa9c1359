"""The records of calibration: a point, its sides, how each choice shows, and what is found of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mkeyspec.calibrate.bench import Bench

Confidence = Literal["sure", "single", "told", "undecided", "contradicts", "nothing"]


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Of a number: a side has seen that it is not less."""

    least: int


@dataclass(frozen=True, slots=True)
class Side:
    """One way to see a point.

    `look` returns what the device did, in few words or as a number. `shows` maps that to the choice (or choices, in a
    set) that it is a sign of; without it what was seen is the value. What `shows` doesn't list is a sign of no choice.
    """

    name: str
    look: Callable[[Bench], Any]
    shows: Mapping[Any, Any] | None = None
    needs: tuple[str, ...] = ()
    told: bool = False
    """The device is asked for it, not tried."""


@dataclass(frozen=True, slots=True)
class Point:
    """A member of the profile, or (with `rule`) the errno of a rule; `member` empty: what published sources settle."""

    member: str
    sides: tuple[Side, ...]
    rule: str = ""

    @property
    def key(self) -> str:
        return f"{self.member}.{self.rule}" if self.rule else self.member


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of a side: `signs` are the choices it is a sign of, None if it tells nothing. `text`: in words."""

    side: str
    text: str
    signs: frozenset[Any] | AtLeast | None = None
    strange: bool = False
    """The device did what no choice explains."""
    told: bool = False
    absent: bool = False
    """There is nothing to see: the device lacks what the side needs, or does not refuse what is refused elsewhere."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a point. `value` counts if `confidence` is sure (several sides), single, or told;
    `nothing`: there is nothing to measure."""

    key: str
    confidence: Confidence
    value: Any = None
    sides: tuple[Seen, ...] = ()
    reason: str = ""
    """Why it is undecided, or what contradicts what."""

    @property
    def decided(self) -> bool:
        return self.confidence in ("sure", "single", "told")
