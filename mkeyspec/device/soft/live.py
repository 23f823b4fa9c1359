"""How many objects the software NIC has now (softnic/shim/live.c)."""

from __future__ import annotations

import ctypes

KINDS = ("contexts", "PDs", "keys", "PSVs", "CQs", "QPs", "SRQs", "DEKs", "logins", "umems")
"""In the order of the library's numbers."""


def counts() -> dict[str, int]:
    """By kind; empty if this process is not on the software NIC."""
    try:
        live = ctypes.CDLL(None).mkeyspec_softnic_live
    except AttributeError:
        return {}
    live.restype = ctypes.c_long
    return {kind: int(live(ctypes.c_uint(number))) for number, kind in enumerate(KINDS)}
