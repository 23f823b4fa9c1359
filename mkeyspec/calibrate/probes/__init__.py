"""The points of the profile, each with its sides."""

from __future__ import annotations

from mkeyspec.calibrate.point import Point
from mkeyspec.calibrate.probes import completions, copies, driver, errnos, records, requests, rights, room, signatures

POINTS: tuple[Point, ...] = (
    *signatures.POINTS,
    *copies.POINTS,
    *records.POINTS,
    *room.POINTS,
    *driver.POINTS,
    *rights.POINTS,
    *completions.POINTS,
    *requests.POINTS,
    *errnos.POINTS,
)
"""In the order in which they are looked at. What a failure could disturb comes late."""
