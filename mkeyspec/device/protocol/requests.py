"""Structs of the pages, setters and work requests, as they are passed to the driver.

`wr_id` and `flags` (constants.SendFlag) are those of ibv_qp_ex before the builder is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from mkeyspec.device.protocol.objects import Dek, Mkey


@dataclass(frozen=True, slots=True)
class Sge:
    """struct ibv_sge."""

    addr: int
    length: int
    lkey: int


@dataclass(frozen=True, slots=True)
class Interleaved:
    """struct mlx5dv_mr_interleaved."""

    addr: int
    bytes_count: int
    bytes_skip: int
    lkey: int


@dataclass(frozen=True, slots=True)
class SigCrc:
    """struct mlx5dv_sig_crc."""

    type: int
    seed: int


@dataclass(frozen=True, slots=True)
class SigT10dif:
    """struct mlx5dv_sig_t10dif."""

    bg_type: int
    bg: int
    app_tag: int
    ref_tag: int
    flags: int


@dataclass(frozen=True, slots=True)
class SigBlockDomain:
    """struct mlx5dv_sig_block_domain; `block_size` is the enum's value."""

    sig_type: int
    sig: SigCrc | SigT10dif
    block_size: int
    comp_mask: int = 0


@dataclass(frozen=True, slots=True)
class SigBlockAttr:
    """struct mlx5dv_sig_block_attr."""

    mem: SigBlockDomain | None
    wire: SigBlockDomain | None
    flags: int = 0
    check_mask: int = 0
    copy_mask: int = 0
    comp_mask: int = 0


@dataclass(frozen=True, slots=True)
class CryptoAttr:
    """struct mlx5dv_crypto_attr; `initial_tweak` 16 bytes, `keytag` 8 bytes."""

    crypto_standard: int
    encrypt_on_tx: bool
    signature_crypto_order: int
    data_unit_size: int
    initial_tweak: bytes
    dek: Dek
    keytag: bytes = bytes(8)
    comp_mask: int = 0


@dataclass(frozen=True, slots=True)
class SetAccess:
    access_flags: int


@dataclass(frozen=True, slots=True)
class SetList:
    sges: tuple[Sge, ...]


@dataclass(frozen=True, slots=True)
class SetInterleaved:
    repeat_count: int
    entries: tuple[Interleaved, ...]


@dataclass(frozen=True, slots=True)
class SetSignature:
    attr: SigBlockAttr


@dataclass(frozen=True, slots=True)
class SetCrypto:
    attr: CryptoAttr


Setter = Union[SetAccess, SetList, SetInterleaved, SetSignature, SetCrypto]


@dataclass(frozen=True, slots=True)
class DcAddress:
    """Arguments of mlx5dv_wr_set_dc_addr[_stream]."""

    dct: int
    key: int
    stream: int | None = None


@dataclass(frozen=True, slots=True)
class Configure:
    """mlx5dv_wr_mkey_configure and the setters called after it."""

    wr_id: int
    flags: int
    mkey: Mkey
    num_setters: int
    setters: tuple[Setter, ...]
    conf_flags: int = 0
    comp_mask: int = 0


@dataclass(frozen=True, slots=True)
class StraySetter:
    """A setter called where no configuration is open."""

    setter: Setter


@dataclass(frozen=True, slots=True)
class MrList:
    wr_id: int
    flags: int
    mkey: Mkey
    access_flags: int
    sges: tuple[Sge, ...]


@dataclass(frozen=True, slots=True)
class MrInterleaved:
    wr_id: int
    flags: int
    mkey: Mkey
    access_flags: int
    repeat_count: int
    entries: tuple[Interleaved, ...]


class Addressed:
    """A request that moves data between the two ends. `dc`: the target, of a request on a DCI."""

    __slots__ = ()

    wr_id: int
    flags: int
    dc: DcAddress | None


@dataclass(frozen=True, slots=True)
class Send(Addressed):
    """SEND, with an immediate (host order) or an rkey to invalidate at the receiver."""

    wr_id: int
    flags: int
    sges: tuple[Sge, ...]
    imm: int | None = None
    invalidate_rkey: int | None = None
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class Write(Addressed):
    wr_id: int
    flags: int
    sges: tuple[Sge, ...]
    remote_addr: int
    rkey: int
    imm: int | None = None
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class Read(Addressed):
    wr_id: int
    flags: int
    sges: tuple[Sge, ...]
    remote_addr: int
    rkey: int
    dc: DcAddress | None = None


class Atomic(Addressed):
    """8 bytes of the other end, in the host's order; the old value is written to `sge`."""

    __slots__ = ()

    sge: Sge
    remote_addr: int
    rkey: int


@dataclass(frozen=True, slots=True)
class FetchAdd(Atomic):
    wr_id: int
    flags: int
    sge: Sge
    remote_addr: int
    rkey: int
    add: int
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class CompareSwap(Atomic):
    wr_id: int
    flags: int
    sge: Sge
    remote_addr: int
    rkey: int
    compare: int
    swap: int
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class LocalInv:
    """IBV_WR_LOCAL_INV by ibv_post_send, or ibv_wr_local_inv."""

    wr_id: int
    flags: int
    rkey: int
    by_post_send: bool = False


@dataclass(frozen=True, slots=True)
class Memcpy:
    wr_id: int
    flags: int
    dest_lkey: int
    dest_addr: int
    src_lkey: int
    src_addr: int
    length: int


@dataclass(frozen=True, slots=True)
class RawWqe:
    wr_id: int
    flags: int
    wqe: bytes


Data = Union[Send, Write, Read, FetchAdd, CompareSwap]
"""The requests that are `Addressed`."""

WorkRequest = Union[Configure, StraySetter, MrList, MrInterleaved, Data, LocalInv, Memcpy, RawWqe]
