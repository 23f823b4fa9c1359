"""What a calibration found, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from mkeyspec.calibrate.pages import departures
from mkeyspec.calibrate.point import Found
from mkeyspec.calibrate.worker import Opened
from mkeyspec.device.profile.errno import ERRNO
from mkeyspec.device.profile.profile import DRIVER_ERRNO, Profile, show


def defaults() -> dict[str, Any]:
    """The default of each point, by its key."""
    found = {item.name: item.default for item in fields(Profile)}
    found |= {f"errno.{rule}": name for rule, name in (ERRNO | DRIVER_ERRNO).items()}
    return found


def summary(opened: Opened, found: Sequence[Found]) -> Iterator[str]:
    """Lines: what is not the default, what departs from pages, what is not decided, and how many there are."""
    default = defaults()
    others = [one for one in found if one.decided and one.key in default and one.value != default[one.key]]
    if others:
        yield "not the default:"
        yield from _table([(f"{one.key} = {show(one.value)}", _how(one)) for one in others])
    departing = list(departures(found))
    if departing:
        yield "parts from a page:"
        yield from _table(
            [(f"{one.found.key} = {show(one.found.value)}", f"{one.id}; {one.advice}") for one in departing]
        )
    for confidence in ("contradicts", "undecided"):
        left = [one for one in found if one.confidence == confidence]
        if left:
            yield f"{confidence} (the default counts):"
            yield from _table([(_name(one), one.reason) for one in left])
    count: Counter[str] = Counter(one.confidence for one in found)
    parts = [
        f"{count[name]} {words}"
        for name, words in (
            ("sure", "seen from several sides"), ("single", "from one side"), ("told", "told by the device"),
            ("contradicts", "contradicting"), ("undecided", "undecided"), ("nothing", "that the device does not have"),
        )
        if count[name]
    ]  # fmt: skip
    yield f"{opened.info.device}: {len(found)} points: {', '.join(parts)}"


def _name(one: Found) -> str:
    return f"{one.key[1:]} as published" if one.key.startswith(".") else one.key


def _how(one: Found) -> str:
    telling = sum(side.signs is not None for side in one.sides)
    return f"{one.confidence}, {telling} side{'s' if telling > 1 else ''}"


def _table(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = min(max(len(left) for left, _ in rows), 44)
    for left, right in rows:
        yield f"    {left:<{width}}  {right}"
