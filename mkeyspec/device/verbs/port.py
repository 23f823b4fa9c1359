"""The port of a NIC, and the path from it to itself: by LID or by GID, and with which MTU."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from mkeyspec.abi.constants import MTUS
from mkeyspec.device.protocol import PathChoice, Unavailable
from mkeyspec.device.verbs.address import PortAddress

ACTIVE = 4
"""IBV_PORT_ACTIVE"""
LINK_ETHERNET = 2
GRH_REQUIRED = 1
"""IBV_QPF_GRH_REQUIRED of struct ibv_port_attr.flags: an address of this port must have a global route."""
ROCE_V2 = 1
"""IBV_GID_TYPE_SYSFS_ROCE_V2 of ibv_query_gid_type; 0 is IB or RoCE v1."""
USUAL_MTU = 1024
"""Unless another one is asked for, or the port has less."""


@dataclass(slots=True, eq=False)
class Port:
    """The port of a device's QPs: `number`, and how it is addressed: by LID, or by a GID."""

    number: int
    lid: int
    gid: Any = None
    gid_index: int = 0
    by_gid: bool = False
    sl: int = 0
    mtu: int = 1
    """The active MTU, of enum ibv_mtu: 128 << mtu bytes."""
    longest: int = 1 << 31
    """max_msg_sz: bytes of the longest message."""
    path_mtu: int = 1
    """That of the QPs, of enum ibv_mtu."""
    ethernet: bool = False

    def address(self) -> PortAddress:
        gid = "" if self.gid is None else str(self.gid)
        return PortAddress(self.ethernet, self.lid, gid, self.by_gid, self.path_mtu)


def find(pyverbs: Any, context: Any, name: str, number: int, choice: PathChoice) -> Port:
    """Port `number` of the device `name`; 0 is the first that is active. Raises Unavailable (MKS0915, MKS0919) with the
    fix."""
    count = int(context.query_device().phys_port_cnt)
    if not number:
        those = (one for one in range(1, count + 1) if int(context.query_port(one).state) == ACTIVE)
        number = next(those, 1)
    if not 1 <= number <= count:
        raise Unavailable("MKS0915", f"{name} has no port {number}; it has {count}")
    attr = context.query_port(number)
    if int(attr.state) != ACTIVE:
        raise Unavailable("MKS0919", f"port {number} of {name} is not active; bring its link up")
    active, of = int(attr.active_mtu), f"port {number} of {name}"
    found = Port(
        number, int(attr.lid), mtu=active, longest=int(attr.max_msg_sz), path_mtu=_path_mtu(active, of, choice)
    )
    found.ethernet = int(attr.link_layer) == LINK_ETHERNET
    found.by_gid = found.ethernet or bool(int(getattr(attr, "flags", 0)) & GRH_REQUIRED) or choice.gid_index is not None
    if found.by_gid:
        found.gid_index = _gid_index(pyverbs, context, number, int(attr.gid_tbl_len), choice.gid_index, of)
        found.gid = context.query_gid(number, found.gid_index)
    elif int(attr.gid_tbl_len):  # the other side may need a global route
        found.gid = context.query_gid(number, 0)
    return found


def _path_mtu(active: int, of: str, choice: PathChoice) -> int:
    if choice.mtu is None:
        return min(active, MTUS.index(USUAL_MTU) + 1)
    wanted = MTUS.index(choice.mtu) + 1
    if wanted > active:
        raise Unavailable("MKS0919", f"--path-mtu {choice.mtu}: the active MTU of {of} is {128 << active}")
    return wanted


def _gid_index(pyverbs: Any, context: Any, number: int, length: int, wanted: int | None, of: str) -> int:
    """The index that was asked for, or that of the GID which people run: RoCE v2 before v1, which may be switched off
    or filtered; an address that is routed before a link-local one."""
    there = {index: _address(context, number, index) for index in range(length)}
    valid = {index: address for index, address in there.items() if int(address)}
    if wanted is not None:
        if wanted not in valid:
            has = ", ".join(map(str, valid)) or "none"
            raise Unavailable("MKS0919", f"--gid-index {wanted}: {of} has no GID there; it has GIDs at {has}")
        return wanted
    if not valid:
        raise Unavailable("MKS0919", f"{of} has no GID; bring its network interface up")
    return min(
        valid,
        key=lambda index: (_is_v1(pyverbs, context, number, index), valid[index].is_link_local, index),
    )


def _address(context: Any, number: int, index: int) -> ipaddress.IPv6Address:
    return ipaddress.IPv6Address(str(context.query_gid(number, index)))


def _is_v1(pyverbs: Any, context: Any, number: int, index: int) -> bool:
    """False where it is unknown, so that the order of the table remains."""
    try:
        return int(context.query_gid_type(number, index)) != ROCE_V2
    except (AttributeError, pyverbs.PyverbsError):
        return False
