"""The counters of a port and of its device, as sysfs has them (Documentation/ABI/stable/sysfs-class-infiniband)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SYSFS = Path("/sys/class/infiniband")
_SETTINGS = frozenset({"lifespan"})
"""Files between the counters that count nothing."""


@dataclass(frozen=True, slots=True)
class Counters:
    """`values`: by name, as `ports/1/hw_counters/out_of_sequence`. `unread`: what can't be read, and why."""

    values: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)


def read(device: str, port: int, sysfs: Path = SYSFS) -> Counters:
    """Those of now. A folder or file that can't be read is told in `unread`; nothing is raised."""
    values: dict[str, int] = {}
    unread: dict[str, str] = {}
    places = [f"ports/{port}/counters", f"ports/{port}/hw_counters", "hw_counters"]
    for place in places:
        try:
            names = sorted(one.name for one in (sysfs / device / place).iterdir())
        except OSError as error:
            if place != "hw_counters":  # of a device: only some drivers have them
                unread[place] = error.strerror or str(error)
            continue
        for name in names:
            if name not in _SETTINGS:
                value = _value(sysfs / device / place / name)
                if isinstance(value, int):
                    values[f"{place}/{name}"] = value
                else:
                    unread[f"{place}/{name}"] = value
    return Counters(values, unread)


def _value(path: Path) -> int | str:
    """What it says; text: why it can't be read."""
    try:
        with path.open("rb", buffering=0) as file:
            data = file.read(64)
    except OSError as error:
        return error.strerror or str(error)
    text = data.decode("ascii", "replace").strip()
    return int(text) if text.isdigit() and text.isascii() else f"it says {text[:20]!r}, which is not a number"


def changes(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """Name, before, after: of the counters that have changed."""
    for name, value in after.items():
        if name in before and before[name] != value:
            yield name, before[name], value
