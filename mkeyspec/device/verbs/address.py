"""What two stations tell each other to connect their queue pairs; all of it is plain data."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.device.protocol import Completion, Qp


@dataclass(frozen=True, slots=True)
class PortAddress:
    """Of the port of a station."""

    ethernet: bool
    """The link layer: Ethernet (RoCE), or InfiniBand."""
    lid: int
    gid: str
    """As eight groups of hexadecimal digits; "" where the port has none."""
    by_gid: bool
    """Whether an address of it must have a global route. Without, it is addressed by its LID."""
    path_mtu: int
    """That of its QPs, of enum ibv_mtu: 128 << path_mtu bytes."""


@dataclass(frozen=True, slots=True)
class EndAddress:
    """Of one end: its QP, and the packet sequence number that its send queue begins with."""

    qp: Qp
    psn: int


@dataclass(frozen=True, slots=True)
class Ended:
    """What a case has left of an end."""

    handle: int
    clean: bool
    """Nothing waits in it, and nothing was refused or aborted on it."""
    late: tuple[Completion, ...]
