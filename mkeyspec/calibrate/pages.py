"""Which values of points part from a man page, and the departure of the catalogue that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mkeyspec.abi.constants import Access
from mkeyspec.calibrate.point import Found

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
OPEN = frozenset({"X-DIFF-22", "X-DIFF-23"})
"""Those of which a case may show nothing all the same: what is reported is the device's, what is kept the driver's."""


STATED = {
    "errno.login_twice": ("EEXIST", "XCRY-15"),
    "errno.logout_without_login": ("ENOENT", "XCRY-15"),
    "errno.login_credential": ("EINVAL", "XCRY-22"),
    "errno.login_comp_mask": ("EINVAL", "XCRY-23"),
    "errno.dek_login": ("EINVAL", "XCRY-13"),
    "errno.dek_wrapped": ("EINVAL", "XCRY-26"),
    "errno.dek_import": ("EINVAL", "XCRY-13"),
}
"""Errnos that a page states (mlx5dv_crypto_login(3), mlx5dv_dek_create(3)), with the requirement. Cases claim them by
name, so that rows fail on a device with another one, whatever the profile says."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A point that parts from a page: `id` of the catalogue or of a requirement; `advice`: what it means for a run."""

    found: Found
    id: str
    advice: str


def departures(found: Iterable[Found]) -> Iterator[Departure]:
    """Each point that parts from a page."""
    for one in found:
        if not one.decided:
            continue
        if one.key in DEPARTS:
            departs, id = DEPARTS[one.key]
            if departs(one.value):
                named = "cases name it: list it in a file of expectations"
                yield Departure(one, id, named if id in LISTED else "the profile says it")
        elif one.key in STATED and one.value != STATED[one.key][0]:
            name, id = STATED[one.key]
            yield Departure(one, id, f"the page names {name}: rows that claim it fail")
