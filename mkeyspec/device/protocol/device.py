"""The calls that the rig makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mkeyspec.device.protocol.answers import AsyncEvent, Capabilities, Completion, Info, SignatureError
from mkeyspec.device.protocol.objects import Dek, Memory, Mkey, Pd, Qp, QpAttributes, QpPair, Side
from mkeyspec.device.protocol.requests import Sge, WorkRequest


class Device(Protocol):
    """A fixture of two endpoints. No call waits; a call raises `Refused`, `Unsupported` or
    `NoSuchCall`, and nothing else."""

    def info(self) -> Info: ...

    def capabilities(self) -> Capabilities: ...

    def pd(self, side: Side) -> Pd: ...

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        """A registered buffer with its own key, at an address that is `misaligned` bytes past a 64-byte boundary."""
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

    def destroy(self, mkey: Mkey) -> None:
        """mlx5dv_destroy_mkey; its keys are of nothing from then on."""
        ...

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        """mlx5dv_mkey_check; None is NO_ERR."""
        ...

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        """Two connected QPs; possibly a pair that an earlier case had, unless the attributes have `private`."""
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
        """After an error: the pair back to RTS with empty queues (perhaps new QPs); mkeys and memory do not
        change."""
        ...

    def release(self, *, healthy: bool) -> None:
        """End of a case: its objects return to the pools, or are destroyed after every verdict except passed. Events
        that come meanwhile are reported by the next `events`; anything else is an exception.
        """
        ...

    def close(self) -> None: ...
