"""Software NICs that answer points of the profile otherwise: by the choices of the library of faults, and by members of
a personality. `made_nic.toml` has both tables."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mkeyspec.device.profile.profile import Profile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DEFAULTS: dict[str, Any] = {item.name: item.default for item in fields(Profile)}
LIBRARY, CHOICES = "MKEYSPEC_SOFTNIC_FAULT", "MKEYSPEC_SOFTNIC_CHOICES"


@dataclass(frozen=True, slots=True)
class Answer:
    """A point of the profile, and its value as the profile writes it; of `without` one capability. `choice`: what the
    library of faults is told; `members`: what a personality is; `hides`: points that can't be measured beside it."""

    point: str
    value: str
    choice: str = ""
    members: tuple[tuple[str, str], ...] = ()
    hides: tuple[str, ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether the default profile says so, although a software NIC by itself does not."""
        return self.point != "without" and self.in_profile({self.point: DEFAULTS[self.point]})

    def in_profile(self, profile: dict[str, Any]) -> bool:
        """Whether a profile, as TOML has it, says so."""
        if self.point == "without":
            return self.value in profile["without"]
        found = profile.get(self.point)
        return (" ".join(found) if isinstance(found, list) else str(found).lower()) == self.value

    def named_in(self, report: str) -> bool:
        """Whether a report has the point with its value on a line: `err_actual = "computed"`."""
        lines = [line for line in report.splitlines() if self.point in line]
        value = '["' + '", "'.join(self.value.split()) + '"]' if " " in self.value else self.value
        return any(value in line for line in lines)


def answers() -> list[Answer]:
    """Each answer that a software NIC of connectx7 can be made to give, and does not give by itself."""
    found = []
    for point, values in TABLE["choices"].items():
        for value in values:
            text = " ".join(value) if isinstance(value, list) else str(value).lower()
            found.append(Answer(point, text, f"{point}={text.replace(' ', '+')}"))
    for one in TABLE["personality"]:
        members = tuple(
            (name, repr(value).lower() if isinstance(value, bool) else _toml(value))
            for name, value in one["members"].items()
        )
        found.append(Answer(one["point"], str(one["value"]), "", members, tuple(one.get("hides", ()))))
    return found


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True)
class MadeNic:
    """A software NIC with these answers."""

    answers: tuple[Answer, ...]

    def environment(self) -> dict[str, str]:
        own = {LIBRARY: "", CHOICES: ";".join(one.choice for one in self.answers if one.choice)}
        return {**os.environ, **own}

    def device(self, folder: Path) -> str:
        """As `--device` names it; its personality is a file in `folder`."""
        lines = ['base = "connectx7"', *(f"{name} = {value}" for one in self.answers for name, value in one.members)]
        (folder / "nic.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return "soft:nic.toml"


def fit(given: Sequence[Answer]) -> bool:
    """Whether one NIC can have them, and each of them be measured on it."""
    points = [one.point if one.point != "without" else f"without {one.value}" for one in given]
    members = [name for one in given for name, _ in one.members]
    hidden = {point for one in given for point in one.hides}
    return len(set(points)) == len(points) and len(set(members)) == len(members) and hidden.isdisjoint(points)


def drawn(seed: int, count: int = 5) -> MadeNic:
    """As many departures from the default profile, by chance."""
    draw = random.Random(seed)
    by_point: dict[str, list[Answer]] = {}
    for one in answers():
        if not one.is_default:
            by_point.setdefault(one.point, []).append(one)
    while True:
        chosen = tuple(draw.choice(by_point[point]) for point in draw.sample(sorted(by_point), count))
        if fit(chosen):
            return MadeNic(chosen)


def turns() -> Iterator[MadeNic]:
    """Each answer in one of them; those of a personality each turn one."""
    by_point: dict[str, list[Answer]] = {}
    for one in answers():
        by_point.setdefault(one.point if not one.members else "members", []).append(one)
    for turn in range(max(map(len, by_point.values()))):
        yield MadeNic(_fitting([values[turn % len(values)] for values in by_point.values()]))


def _fitting(given: Sequence[Answer]) -> tuple[Answer, ...]:
    """Without what is hidden by others."""
    hidden = {point for one in given for point in one.hides}
    return tuple(one for one in given if one.point not in hidden)
