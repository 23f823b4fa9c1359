"""Which values of points part from a man page, and the departure of the catalogue that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mkeyspec.abi.constants import Access
from mkeyspec.calibrate.point import Found
from mkeyspec.requirements import ledger

EVERY_ACCESS = sum(int(flag) for flag in Access)
DEPARTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "copy_compares_seed": (lambda value: value is False, "X-DIFF-10"),
    "err_offset": (lambda value: value == "block-last-byte", "X-DIFF-32"),
    "err_priority": (lambda value: value != ("guard", "app", "ref"), "X-DIFF-22"),
    "err_unread": (lambda value: value == "last", "X-DIFF-23"),
    "dci_mkey_operations": (lambda value: value is False, "X-DIFF-14"),
    "stride_bits": (lambda value: value < 32, "X-DIFF-07"),
    "access_supported": (lambda value: value & EVERY_ACCESS != EVERY_ACCESS, "X-DIFF-01"),
    "few_setters": (lambda value: value == "dropped", "X-DIFF-03"),
    "strided_entry": (lambda value: value == "completion", "X-DIFF-06"),
}
"""By member: whether a value departs, and the id."""

LISTED = ("X-DIFF-01", "X-DIFF-07", "X-DIFF-10", "X-DIFF-14", "X-DIFF-22", "X-DIFF-23")
"""Those whose cases name them: a run is green if a file of expectations lists them. Of the others the profile is
enough."""


def departures(found: Iterable[Found]) -> Iterator[tuple[Found, str, str]]:
    """Of each point that departs: the point, the id, and what the catalogue says."""
    for one in found:
        if one.decided and one.key in DEPARTS:
            departs, id = DEPARTS[one.key]
            if departs(one.value):
                yield one, id, ledger.departures()[id].statement
