"""Handles of the objects of a device: protection domains, buffers, mkeys, QP pairs, DEKs.

A handle is that of one object of its class and its end. That of a QP is of one QP of both ends: an event names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mkeyspec.device.protocol.login import Login

Side = Literal["owner", "peer"]


@dataclass(frozen=True, slots=True)
class Pd:
    handle: int
    side: Side


@dataclass(frozen=True, slots=True)
class Memory:
    """A registered buffer: `length` bytes at virtual address `addr`."""

    handle: int
    side: Side
    addr: int
    length: int
    lkey: int
    rkey: int


@dataclass(frozen=True, slots=True)
class Mkey:
    """A created mkey; `max_entries` is what the device granted."""

    handle: int
    side: Side
    lkey: int
    rkey: int
    max_entries: int


@dataclass(frozen=True, slots=True)
class QpAttributes:
    """The attributes of a QP pair; both ends have the same.

    `send_ops` are mlx5 op flags (`constants.QpOps`); `type` is rc, uc, ud, dci, xrc_send or raw_packet.
    """

    type: str = "rc"
    send_ops: int = 0x7
    max_send_wr: int = 64
    max_recv_wr: int = 64
    max_send_sge: int = 4
    max_recv_sge: int = 4
    max_inline_data: int = 512
    sq_sig_all: bool = False
    sig_pipelining: bool = False
    scatter_to_cqe: bool = False
    streams: int = 0
    pd: Pd | None = None
    private: bool = False
    """A new pair that is destroyed after the case (`isolated`)."""


@dataclass(frozen=True, slots=True)
class Qp:
    """One end. `max_inline_data` is what the device granted."""

    handle: int
    side: Side
    number: int
    max_inline_data: int


@dataclass(frozen=True, slots=True)
class QpPair:
    owner: Qp
    peer: Qp


@dataclass(frozen=True, slots=True)
class Dek:
    handle: int


@dataclass(frozen=True, slots=True)
class DekAttr:
    """What struct mlx5dv_dek_init_attr has beside the key and its keytag. `key_size` None: that of the key's length.
    `comp_mask` 1 is MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN; `login` None is NULL: a plaintext DEK.

    `wrapped`: the key was wrapped, keytag included; `has_keytag` is said then, and otherwise follows from the keytag.
    """

    opaque: bytes = bytes(8)
    key_size: int | None = None
    key_purpose: int = 0
    comp_mask: int = 1
    pd: Pd | None = None
    login: Login | None = None
    wrapped: bool = False
    has_keytag: bool = False
