"""What only a work request shows of a device: one is carried out when the device is opened."""

from __future__ import annotations

from time import monotonic, sleep

from mkeyspec.abi.constants import Access, MkeyFlag, SendFlag
from mkeyspec.device.protocol import (
    Capabilities,
    Configure,
    QpAttributes,
    Refused,
    SetAccess,
    SetList,
    Sge,
    Unsupported,
)
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.station import Station

DEADLINE = 2.0
"""Seconds to wait for the completion."""
_LENGTH = 64


def tried(station: Station) -> None:
    """Add to the station's capabilities what it carries out, and leave it without objects.

    `access.remote_atomic`: firmware may take that right of an mkey at its creation only (mlx5 PRM,
    umr_modify_atomic_disabled), and libmlx5 creates mkeys without it.
    """
    if _takes(Verbs(station), int(Access.REMOTE_ATOMIC)):
        had = station.capabilities()
        station.has(Capabilities(had.offers | {"access.remote_atomic"}, had.values))


def _takes(device: Verbs, access: int) -> bool:
    """Whether a configuration may give an mkey this right."""
    try:
        pair = device.qp_pair(QpAttributes(private=True))
        memory = device.memory("owner", _LENGTH, access=int(Access.LOCAL_WRITE))
        mkey = device.mkey("owner", create_flags=int(MkeyFlag.INDIRECT), max_entries=4)
        setters = (SetAccess(access), SetList((Sge(memory.addr, _LENGTH, memory.lkey),)))
        flags = int(SendFlag.SIGNALED | SendFlag.INLINE)
        if device.post(pair.owner, [Configure(1, flags, mkey, len(setters), setters)]):
            return False
        end = monotonic() + DEADLINE
        while not (found := device.poll(pair.owner)) and monotonic() < end:
            sleep(1e-4)
        return bool(found) and found[0].status == "success"
    except (Refused, Unsupported):
        return False
    finally:
        device.release(healthy=False)
        device.events()
