"""Where a device profile is not the default one: what a report says of the device, and how that was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mkeyspec.device.profile.errno import ERRNO
from mkeyspec.device.profile.profile import DRIVER_ERRNO, Profile, load, load_table, show

_NOT_OF_A_DEVICE = ("name", "require", "errno")
"""What a person says of a run; and the errnos, which are told rule by rule."""
WRITTEN = "not measured"
"""How a point was seen of which the profile has no evidence."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A point, as a profile writes it (`errno.crc_seed`), its value and its default as TOML, how it was seen (the
    confidence, and the number of sides), and what each side saw."""

    point: str
    value: str
    default: str
    seen: str
    sides: tuple[str, ...] = ()


def differences(path: Path) -> list[Difference]:
    """Of a TOML file. Raises ProfileError if it can't be used."""
    profile, table = load(path), load_table(path)
    evidence = dict(table.get("evidence", {}))
    if "measured" in table:
        evidence["without"] = {"confidence": "told"}
    return list(_differences(profile, evidence))


def _differences(profile: Profile, evidence: Mapping[str, Any]) -> Iterator[Difference]:
    for item in fields(profile):
        value = getattr(profile, item.name)
        if item.name not in _NOT_OF_A_DEVICE and value != item.default:
            yield _difference(item.name, value, item.default, evidence.get(item.name, {}))
    errnos = evidence.get("errno", {})
    for rule, name in profile.errno:
        default = ERRNO.get(rule) or DRIVER_ERRNO[rule]
        if name != default:
            yield _difference(f"errno.{rule}", name, default, errnos.get(rule, {}))


def _difference(point: str, value: object, default: object, entry: Mapping[str, Any]) -> Difference:
    sides = tuple(entry.get("sides", ()))
    count = f", {len(sides)} side{'s' if len(sides) > 1 else ''}" if sides else ""
    seen = f"{entry['confidence']}{count}" if "confidence" in entry else WRITTEN
    return Difference(point, show(value), show(default), seen, sides)
