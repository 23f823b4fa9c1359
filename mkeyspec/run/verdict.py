"""The result of a case: a verdict, its failures, and the exceptions that end a test function with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mkeyspec.plan import At, Need

Status = Literal["pass", "fail", "known", "blocked"]


_START = At(1, 1)


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """One expanded case.

    `id` is `cases/crc.mks::published_values[crc=crc32]`; `source` the `.mks` file as users name it;
    `path` that file on this machine, for the lines in messages (it may not exist).
    """

    id: str
    source: str
    verifies: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    path: Path | None = None
    at: At = _START
    """Where the case begins."""
    isolated: bool = False
    """Its QP pairs are never pooled."""
    title: str = ""
    """What the case is about, in the author's words."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Bytes that differ, as facts for reports."""

    first: str
    """The first byte, as the case names it: `wire[516]`."""
    differing: int
    total: int
    start: int
    """Of `expected` and `got`: their first byte, in what was compared."""
    expected: str
    """Bytes from `start` on, in hex."""
    got: str
    part: str = ""
    """Block and field or data, and the byte in it."""
    source: str = ""
    """What the byte is computed of, or comes from."""
    way: str = ""
    """The keys and entries on the way of these bytes."""
    groups: list[str] = field(default_factory=list)
    """All bytes that differ, by field, data and entry."""
    key: str = ""
    side: str = ""
    """Of `cells`: where the bytes were compared, "wire" or "mem"."""
    cells: list[list[str]] = field(default_factory=list)
    """A drawing: memory, mkey, wire, and "differs" or "", cell by cell."""
    before: bool = False
    after: bool = False
    """Whether there are bytes before these cells, and after them."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that went wrong.

    `code` has a page of explanation; `message` is one line, with the turn of a `repeat` at its end; `details` are
    further lines, (label, text), label "" for lines that belong to the one above; `hard` failures end the case.
    """

    code: str
    at: At
    message: str
    details: tuple[tuple[str, str], ...] = ()
    hard: bool = False
    suspects: tuple[str, tuple[At, ...]] = ("", ())
    """Statements that may have caused it: the kind of suspicion in a word or two, and their locations."""
    looks_like: tuple[tuple[str, str], ...] = ()
    """The near misses that give exactly what was got (`mkeyspec.lookslike`): (name, sentence), special ones first."""
    difference: Difference | None = None
    """Of bytes: the same as facts."""

    def __post_init__(self) -> None:
        """A failure of a turn of a `repeat` says which, wherever its message is read."""
        if self.at.turn is not None and not self.message.endswith(f"({self.at.turn})"):
            object.__setattr__(self, "message", f"{self.message} ({self.at.turn})")


@dataclass(slots=True)
class Verdict:
    """`known`: ids of the departures that were seen, as listed; `records`: name to text, in the order of the case;
    `statuses`: every refusal that was seen: (location, phase, errno's name or completion status)."""

    status: Status = "pass"
    failures: list[Failure] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    records: dict[str, str] = field(default_factory=dict)
    statuses: list[tuple[At, str, str]] = field(default_factory=list)
    not_run: list[At] = field(default_factory=list)
    reason: str = ""
    """Of a blocked case: what is wrong with the device."""
    blocked_by: str = ""
    """The id of the case since which the device is not healthy; the status is then "blocked": nothing was run."""
    unhealthy: str = ""
    """What the canary transfer after this case showed; "" if the device is healthy, or the case passed."""
    consequences: list[Failure] = field(default_factory=list)
    """What was found after the case ended early and may follow from that: reported, not counted as failures."""
    quiet: list[tuple[At, str]] = field(default_factory=list)
    """Where a bounded time without anything new replaced a marker: (location, which QP and how long)."""
    size: dict[str, int] = field(default_factory=dict)
    """Of a case that failed: `requests`, `entries`, `bytes`."""
    against: list[str] = field(default_factory=list)
    """Of a row that passed: near misses, named before in this run, by which it would have failed."""
    absent: list[str] = field(default_factory=list)
    """Departures listed for this device and named without a value (`known ID`) that this row did not show. That is a
    failure of the case if no row shows them, not of one row, since some rows may follow the page."""
    shown: list[str] | None = None
    """The departures that this row did show; None of a row that ended early and may have shown more."""


_OF_STEPS = ("MKS2001", "MKS2002", "MKS2003", "MKS2004", "MKS2005", "MKS2006", "MKS2013")
_OF_VALUES = ("MKS2101", "MKS2102", "MKS2103", "MKS2104", "MKS2105", "MKS2106", "MKS2109", "MKS2110", "MKS2120")
_AT_THE_END = ("MKS2201", "MKS2202", "MKS2203", "MKS2204", "MKS2205", "MKS2302")
JUDGED = frozenset({*_OF_STEPS, *_OF_VALUES, *_AT_THE_END})
"""Codes of failures that are a verdict about the device. The others are about the case, the machine or the options."""


class CaseFailed(Exception):
    """A case failed; `str()` is the whole rendered text. `unhealthy`: what is wrong with the device since."""

    def __init__(self, text: str, failures: tuple[Failure, ...], unhealthy: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.failures = failures
        self.unhealthy = unhealthy

    @property
    def is_judged(self) -> bool:
        """Whether it is a verdict about the device alone, which a waiver or a level may excuse. A device that is not
        healthy any more is never excused: what comes after can't be judged."""
        return bool(self.failures) and not self.unhealthy and all(one.code in JUDGED for one in self.failures)

    def __str__(self) -> str:
        return self.text


class Blocked(Exception):
    """The device has not been healthy since the case `culprit`; this case was not run."""

    def __init__(self, culprit: str, symptom: str, text: str = "") -> None:
        super().__init__(text or f"MKS2008: blocked: the device is not healthy since {culprit} ({symptom})")
        self.culprit = culprit
        self.symptom = symptom
