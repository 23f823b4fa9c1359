"""Conditional faults of the software NIC: which there are, and where each could act.

The library of faults (softnic/faults/) evaluates a condition where the fault acts: `crc_runs_on@block>=8` is a value of
MKEYSPEC_SOFTNIC_FAULT. With "*" no fault acts; instead it is noted where each of them would, for each condition.
"""

from __future__ import annotations

import ctypes
import json
import os
from functools import lru_cache
from pathlib import Path

from mkeyspec.device.soft import preload
from mkeyspec.requirements.space import dimensions
from mkeyspec.sabotage.catalogue import of_device
from mkeyspec.sabotage.conditions import catalogue
from mkeyspec.sabotage.conditions.catalogue import ConditionalFault

UNKNOWN = {
    "posted": "a builder and a raw WQE give the same WQE",
    "end": "one NIC has both ends",
    "wr": "a section has no mark in the queue",
    "wrs": "a section has no mark in the queue",
    "room": "the driver's room for a request",
    "pending": "the driver counts what waits",
    "posts": "a configuration is several WQEs",
    "configured_by": "each builder gives a UMR",
    "setter": "a configuration's setters are one UMR",
    "first_setter": "a configuration's setters are one UMR",
    "last_setter": "a configuration's setters are one UMR",
    "reset": "the driver leaves the signature out of the UMR",
    "error": "mkey_check is the driver's; the NIC does not see that an error is read",
    "copy": "the driver works the mask out",
}
"""Dimensions that a NIC does not see, and why."""

WITNESSES = Path(__file__).with_name("soft_witnesses.json")
CONDITIONS = "MKEYSPEC_SOFTNIC_CONDITIONS"
OBSERVED = "*"


@lru_cache(maxsize=1)
def conditions() -> tuple[str, ...]:
    """Every condition on a dimension that a NIC sees."""
    return tuple(text for name, one in dimensions().items() if name not in UNKNOWN for text in one.conditions)


@lru_cache(maxsize=1)
def candidates() -> dict[str, ConditionalFault]:
    """Every pair that the software NIC can have, by id."""
    of_soft = of_device("soft")
    return {
        key: one
        for key, one in catalogue.candidates().items()
        if one.base.name in of_soft and one.condition.dimension not in UNKNOWN
    }


@lru_cache(maxsize=1)
def faults() -> dict[str, ConditionalFault]:
    """Those of which something can be seen, by id: with a witness in `soft_witnesses.json`."""
    known: dict[str, dict[str, int]] = json.loads(WITNESSES.read_text(encoding="utf-8"))
    return {key: one for key, one in candidates().items() if str(one.condition) in known.get(one.base.name, {})}


class Observed:
    """What the NIC of this process has noted. Its device must have been opened with `environment()`."""

    def __init__(self) -> None:
        library = ctypes.CDLL(str(preload.loaded()))
        rows, words = ctypes.c_size_t(), ctypes.c_size_t()
        library.mkeyspec_softnic_reached.restype = ctypes.POINTER(ctypes.c_uint64)
        self.table = library.mkeyspec_softnic_reached(ctypes.byref(rows), ctypes.byref(words))
        self.words = words.value
        self.size = 8 * rows.value * words.value
        self.names = ("", *of_device("soft"))

    @staticmethod
    def choose() -> None:
        """From now on a device that is opened is an observed one."""
        os.environ[preload.FAULT] = OBSERVED
        os.environ[CONDITIONS] = " ".join(conditions())

    def taken(self) -> dict[str, int]:
        """By fault: the conditions that held where it would have acted, as bits; and begin anew."""
        data = ctypes.string_at(self.table, self.size)
        ctypes.memset(self.table, 0, self.size)
        width = 8 * self.words
        found = {}
        for place, name in enumerate(self.names):
            bits = int.from_bytes(data[place * width : (place + 1) * width], "little")
            if bits:
                found[name] = bits
        return found
