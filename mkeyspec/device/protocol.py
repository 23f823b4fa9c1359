"""What a device is to the rig: objects, work requests, completions; typed values in, typed values out.

A device is the fixture of one worker: two endpoints, `owner` (holds the mkey under test) and
`peer`, joined by connected QP pairs. Three devices speak this protocol: the model, the software
NIC and a real NIC under pyverbs. Every number is the page's own (struct members, enum values),
so that a wrong one can be passed on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, Union

import numpy as np
import numpy.typing as npt

Side = Literal["owner", "peer"]

# Objects -------------------------------------------------------------------------------------


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
    """What a QP pair is created with; both ends alike.

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


# Structs of the pages ------------------------------------------------------------------------


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


# Setters -------------------------------------------------------------------------------------


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

# Work requests -------------------------------------------------------------------------------
# `wr_id` and `flags` (constants.SendFlag) are those of ibv_qp_ex before the builder is called.


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


@dataclass(frozen=True, slots=True)
class Send:
    """SEND, with an immediate (host order) or an rkey to invalidate at the receiver."""

    wr_id: int
    flags: int
    sges: tuple[Sge, ...]
    imm: int | None = None
    invalidate_rkey: int | None = None
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class Write:
    wr_id: int
    flags: int
    sges: tuple[Sge, ...]
    remote_addr: int
    rkey: int
    imm: int | None = None
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class Read:
    wr_id: int
    flags: int
    sges: tuple[Sge, ...]
    remote_addr: int
    rkey: int
    dc: DcAddress | None = None


@dataclass(frozen=True, slots=True)
class FetchAdd:
    """8 bytes; the old value lands in `sge`."""

    wr_id: int
    flags: int
    sge: Sge
    remote_addr: int
    rkey: int
    add: int
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


WorkRequest = Union[
    Configure, StraySetter, MrList, MrInterleaved, Send, Write, Read, FetchAdd, LocalInv, Memcpy, RawWqe
]

# What comes back -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Completion:
    """struct ibv_wc. `status` and `opcode` are names of `constants`; of an error only wr_id and status are defined."""

    qp: Qp
    queue: Literal["send", "recv"]
    wr_id: int
    status: str
    opcode: str = ""
    byte_len: int = 0
    imm: int | None = None
    invalidated_rkey: int | None = None
    vendor_error: int = 0


@dataclass(frozen=True, slots=True)
class SignatureError:
    """struct mlx5dv_mkey_err, raw: `type` is constants.MkeyError (never NO_ERR)."""

    type: int
    actual_value: int
    expected_value: int
    offset: int


@dataclass(frozen=True, slots=True)
class AsyncEvent:
    """`kind` is the name of enum ibv_event_type without IBV_EVENT_, lower case, e.g. sq_drained."""

    kind: str
    qp: Qp | None = None


class Refused(Exception):
    """The driver refused a call; `errno` is the positive number it gave."""

    def __init__(self, call: str, errno: int) -> None:
        super().__init__(f"{call}: errno {errno}")
        self.call = call
        self.errno = errno


class Unsupported(Exception):
    """This device can't do the step at all: the case is skipped with this reason."""


class Unavailable(Exception):
    """A device can't be opened; `str()` is one line with a code (MKS09xx) that says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"error[{code}]: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the device offers; the names are those of a case's needs (`signature.crc32c`, `block.4048`, `memcpy`…)."""

    offers: frozenset[str] = frozenset()
    values: dict[str, int] = field(default_factory=dict)
    """Numbers a case may read as `device.NAME`, e.g. max_wr_memcpy_length."""


@dataclass(frozen=True, slots=True)
class Info:
    """Provenance of a run."""

    device: str
    firmware: str = ""
    versions: dict[str, str] = field(default_factory=dict)


class Device(Protocol):
    """A fixture of two endpoints. No call waits; no call raises anything but `Refused` and `Unsupported`."""

    def info(self) -> Info: ...

    def capabilities(self) -> Capabilities: ...

    def pd(self, side: Side) -> Pd: ...

    def memory(
        self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None
    ) -> Memory:
        """A registered buffer of its own key, at an address that is `misaligned` bytes past a 64-byte boundary."""
        ...

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        """The host stores into a buffer."""
        ...

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        """The host loads from a buffer; a copy, or a view that the caller doesn't keep."""
        ...

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey: ...

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        """Set the tag (lowest byte) of an mkey created with UPDATE_TAG."""
        ...

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        """mlx5dv_mkey_check; None is NO_ERR."""
        ...

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        """Two connected QPs, the pooled pair where the attributes are the default."""
        ...

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        """ibv_wr_start, the requests, and ibv_wr_complete (its errno is returned, 0 is success) or ibv_wr_abort."""
        ...

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int: ...

    def poll(self, qp: Qp) -> list[Completion]:
        """All completions that both CQs of this QP hold now, in order."""
        ...

    def events(self) -> list[AsyncEvent]:
        """Async events that have arrived."""
        ...

    def cancel(self, qp: Qp, wr_id: int) -> int:
        """mlx5dv_qp_cancel_posted_send_wrs: the number of cancelled WRs, or a negative errno."""
        ...

    def resume(self, qp: Qp) -> int:
        """SQD to RTS; errno."""
        ...

    def dek(self, key: bytes, keytag: bytes | None = None) -> Dek: ...

    def dct(self, key: int) -> int:
        """A DCT at the peer; its number."""
        ...

    def reconnect(self, pair: QpPair) -> QpPair:
        """After an error: the pair back to RTS with empty queues (perhaps new QPs); mkeys and memory survive."""
        ...

    def release(self, *, healthy: bool) -> None:
        """End of a case: everything it created goes back to the pools, or is thrown away after anything but a pass."""
        ...

    def close(self) -> None: ...
