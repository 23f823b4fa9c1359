"""Which requirement a near miss breaks: the rule that forbids what it does."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_CRC_KINDS = ("CRC-02", "CRC-03", "CRC-04")
_BITS = ("MSK-04", "MSK-05", "MSK-06")
_ENTRIES = ("LST-01", "INT-01")

_BROKEN: dict[str, tuple[str, ...]] = {
    "app.": ("DIF-09",),
    "app.byte_order": ("DIF-01",),
    "block.size": ("SIG-22",),
    "cancel.": ("XCAN-05",),
    "cancel.none": ("XCAN-04",),
    "check.": ("MSK-01",),
    "check.all": ("MSK-02",),
    "check.app": ("MSK-02",),
    "check.guard": ("MSK-02",),
    "check.guard_only": ("MSK-01",),
    "check.parts": ("MSK-02",),
    "check.ref": ("MSK-02",),
    "check.shifted": _BITS,
    "check.turned": _BITS,
    "copied.all_or_nothing": ("MSK-11",),
    "copied.app": ("MSK-11",),
    "copied.automatic": ("MSK-12",),
    "copied.by_mask": ("MSK-13",),
    "copied.guard": ("MSK-11",),
    "copied.inverted": ("MSK-14",),
    "copied.parts": ("MSK-14",),
    "copied.ref": ("MSK-11",),
    "copied.shifted": _BITS,
    "copied.tags_swapped": ("MSK-11",),
    "copied.turned": _BITS,
    "crc.": _CRC_KINDS,
    "crc.seed": ("CRC-05",),
    "crc.type": ("CRC-01",),
    "crypto.direction": ("XCRY-06",),
    "crypto.none": ("CRY-01",),
    "crypto.one_unit": ("XCRY-05",),
    "crypto.order": ("XCRY-04",),
    "crypto.tweak": ("XCRY-08",),
    "crypto.unit": ("XCRY-05",),
    "domains.": ("SIG-05",),
    "escape.app_alone": ("DIF-15",),
    "escape.app_always": ("DIF-14",),
    "escape.app_ignored": ("DIF-14",),
    "escape.app_ref_ignored": ("DIF-15",),
    "escape.both_always": ("DIF-15",),
    "escape.half_ref": ("DIF-15",),
    "escape.low_ref": ("DIF-15",),
    "escape.tags_only": ("DIF-14", "DIF-15"),
    "frame.at_the_end": ("CRC-08", "DIF-01"),
    "frame.in_front": ("CRC-08", "DIF-01"),
    "guard.arc": ("DIF-04",),
    "guard.byte_order": ("DIF-01",),
    "guard.carries": ("DIF-05",),
    "guard.ccitt": ("DIF-04",),
    "guard.checksum": ("DIF-04",),
    "guard.crc": ("DIF-05",),
    "guard.inversion": ("DIF-04", "DIF-05"),
    "guard.reflection": ("DIF-04",),
    "guard.seed": ("DIF-06",),
    "key.old_layout": ("LAY-04",),
    "key.old_signature": ("SIG-04",),
    "layout.count_of_first": ("INT-08",),
    "layout.first_only": _ENTRIES,
    "layout.first_two": _ENTRIES,
    "layout.first_two_strips": ("INT-01",),
    "layout.last_missing": _ENTRIES,
    "layout.last_turn": ("INT-06",),
    "layout.no_stride": ("INT-07",),
    "layout.not_in_turn": ("INT-01",),
    "layout.one_repeat": ("INT-06",),
    "layout.order": _ENTRIES,
    "layout.rotated": _ENTRIES,
    "layout.skip": ("INT-09",),
    "layout.skip_first": ("INT-07",),
    "layout.stride_of_first": ("INT-09",),
    "offset.": ("LAY-05",),
    "record.again": ("XCHK-04",),
    "record.application_first": ("XCHK-06",),
    "record.guard_always": ("XCHK-05",),
    "record.guard_and": ("XCHK-05",),
    "record.kinds_swapped": ("XCHK-05",),
    "record.last_block": ("XCHK-04",),
    "record.last_message": ("XCHK-04",),
    "record.offset": ("XCHK-08",),
    "record.reference_always": ("XCHK-05",),
    "record.reference_first": ("XCHK-06",),
    "record.reference_second": ("XCHK-06",),
    "record.swapped": ("XCHK-07",),
    "ref.": ("DIF-12",),
    "ref.byte_order": ("DIF-01",),
    "ref.early": ("DIF-03",),
    "ref.from_one": ("DIF-03",),
    "ref.from_zero": ("DIF-03",),
    "ref.goes_on": ("DIF-03",),
    "ref.incremented": ("DIF-13",),
    "ref.one_": ("DIF-03",),
    "ref.ones": ("DIF-10",),
    "ref.restarts": ("DIF-12",),
    "ref.zero": ("DIF-10",),
    "tags.order": ("DIF-01",),
}
"""The beginning of a near miss's name -> the requirements that forbid it; the longest beginning counts. Of several, it
is the one that the case verifies. Near misses that several rules forbid, or none that is written down, are not named.
"""


def broken_by(names: Iterable[str], verified: Collection[str]) -> str:
    """The requirement that each of these near misses breaks; "" if there is none, or if they break several.

    `verified`: the requirements of the case.
    """
    found = {_one(name, verified) for name in names}
    return found.pop() if len(found) == 1 else ""


def _one(name: str, verified: Collection[str]) -> str:
    beginnings = [beginning for beginning in _BROKEN if name.startswith(beginning)]
    candidates = _BROKEN[max(beginnings, key=len)] if beginnings else ()
    if len(candidates) > 1:
        candidates = tuple(one for one in candidates if one in verified)
    return candidates[0] if len(candidates) == 1 else ""
