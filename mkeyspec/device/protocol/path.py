"""What the user of an RDMA port may choose of the way between two of its QPs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathChoice:
    """None: what the device's opening chooses."""

    gid_index: int | None = None
    """Of the port's GID table: the source address of the QPs."""
    mtu: int | None = None
    """The path MTU of the QPs, in bytes; one of abi.constants.MTUS."""
    peer: str | None = None
    """Where the peer's side is, as `--peer` says it; None is this process."""


ANY_PATH = PathChoice()
