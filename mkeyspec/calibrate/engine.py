"""Looks at each side of each point, and decides.

A side that fails, hangs, or sees what no choice explains never gives a value: its point is undecided, or contradicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from mkeyspec.calibrate.bench import Absent, Bench, Strange, Unknown, rights_of
from mkeyspec.calibrate.point import AtLeast, Found, Point, Seen, Side
from mkeyspec.calibrate.probes import POINTS
from mkeyspec.device.profile.profile import Profile, ProfileError, show
from mkeyspec.device.protocol import Device, NoSuchCall, Refused, Unsupported

DEADLINE = 2.0
QUIET = 0.02
"""Seconds in which nothing must come. The model has done its work before a call returns: there, 0 is enough."""


def look_at(device: Device, point: Point, deadline: float = DEADLINE, quiet: float = QUIET) -> Found:
    """What the sides of a point tell."""
    rights = rights_of(device, deadline, quiet)
    return decide(point, [see(device, side, deadline, quiet, rights) for side in point.sides])


def all_points(
    device: Device, deadline: float = DEADLINE, quiet: float = QUIET, points: Sequence[Point] = POINTS
) -> Iterator[Found]:
    """What is found of each point, one after the other."""
    rights = rights_of(device, deadline, quiet)
    for point in points:
        yield decide(point, [see(device, side, deadline, quiet, rights) for side in point.sides])


def see(device: Device, side: Side, deadline: float, quiet: float, rights: int) -> Seen:
    """One side, with objects of its own."""
    bench = Bench(device, deadline, quiet, rights)
    lacks = sorted(set(side.needs) - bench.offers)
    if lacks:
        return Seen(side.name, f"the device lacks {', '.join(lacks)}", absent=True)
    try:
        got = side.look(bench)
    except Strange as strange:
        return Seen(side.name, str(strange), strange=True)
    except Absent as absent:
        return Seen(side.name, str(absent), absent=True)
    except Unknown as unknown:
        return Seen(side.name, str(unknown))
    except (Refused, Unsupported, NoSuchCall) as refused:
        return Seen(side.name, f"what the probe needs is refused: {refused}")
    except Exception as error:  # a device may answer anything: a side that it confuses tells nothing
        return Seen(side.name, f"the probe itself failed: {type(error).__name__}: {error}")
    finally:
        # A failure may leave anything: nothing of it is used again. What can't be put away shows in the next side.
        with suppress(Refused):
            device.release(healthy=bench.healthy)
    text = show(got) if side.shows is None else str(got)
    if isinstance(got, AtLeast):
        return Seen(side.name, f"at least {got.least}", got, told=side.told)
    if side.shows is None:
        return Seen(side.name, text, frozenset({got}), told=side.told)
    if got not in side.shows:
        return Seen(side.name, text, strange=True)
    return Seen(side.name, text, frozenset({side.shows[got]}), told=side.told)


def decide(point: Point, seen: Sequence[Seen]) -> Found:
    """A value, if all sides that tell something agree, and none is strange."""
    sides = tuple(seen)
    strange = [one for one in sides if one.strange]
    telling = [one for one in sides if one.signs is not None]
    if strange:
        texts = list(dict.fromkeys(f"{one.side}: {one.text}" for one in strange))
        what = "what is published" if not point.member else "any choice"
        return Found(point.key, "contradicts", None, sides, f"not {what}: {'; '.join(texts)}")
    values = [one for one in telling if isinstance(one.signs, frozenset)]
    if not values:
        reasons = list(dict.fromkeys(one.text for one in sides))
        nothing = all(one.absent for one in sides)
        return Found(point.key, "nothing" if nothing else "undecided", None, sides, "; ".join(reasons))
    common = frozenset.intersection(*(one.signs for one in values if isinstance(one.signs, frozenset)))
    least = max((one.signs.least for one in telling if isinstance(one.signs, AtLeast)), default=0)
    if len(common) != 1 or (least and next(iter(common)) < least):
        each = "; ".join(f"{one.side}: {one.text}" for one in telling)
        return Found(point.key, "contradicts", None, sides, f"sides disagree: {each}")
    value = next(iter(common))
    if (wrong := unfit(point, value)) is not None:
        return Found(point.key, "contradicts", None, sides, wrong)
    tried = [one for one in telling if not one.told]
    return Found(point.key, "sure" if len(telling) > 1 and tried else "single" if tried else "told", value, sides)


def unfit(point: Point, value: Any) -> str | None:
    """Why a profile can't have this value."""
    if not point.member or point.rule:
        return None
    try:
        Profile(**{point.member: value})
    except ProfileError as error:
        return f"no profile can have {show(value)}: {error}" if point.member not in TOGETHER else None
    return None


TOGETHER = ("wqe_overhead", "wqe_unit")
"""Members that a profile checks with one another."""
