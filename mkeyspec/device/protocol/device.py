"""The calls that the rig makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mkeyspec.device.protocol.answers import AsyncEvent, Capabilities, Completion, DekState, Info, SignatureError
from mkeyspec.device.protocol.login import LabLogin, Login, LoginAttr
from mkeyspec.device.protocol.objects import Dek, DekAttr, Memory, Mkey, Pd, Qp, QpAttributes, QpPair, Side
from mkeyspec.device.protocol.requests import Sge, WorkRequest


class Device(Protocol):
    """A fixture of two endpoints. No call waits; a call raises `Refused`, `Unsupported` or
    `NoSuchCall`, and nothing else. `mkeyspec.device.kit` has a test of each sentence."""

    def info(self) -> Info:
        """The same while the device is open, and when it is opened again."""
        ...

    def capabilities(self) -> Capabilities:
        """What is carried out; the same while the device is open. A row that needs more is skipped."""
        ...

    def pd(self, side: Side) -> Pd:
        """A new one."""
        ...

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        """A registered buffer with its own key, at an address that is `misaligned` bytes past a 64-byte boundary."""
        ...

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        """The host stores into a buffer. The data is copied: the device keeps no array of the caller's, nor writes to
        it. Refused where the buffer has no such bytes."""
        ...

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        """The host loads from a buffer: bytes in a row; a copy, or a view that the caller doesn't keep. Refused as
        `write`."""
        ...

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        """`max_entries` of it is no fewer than asked for. Refused for unknown flags."""
        ...

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

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        """ibv_post_recv; its errno, which is EINVAL for a QP that is not there. So is that of `post`."""
        ...

    def poll(self, qp: Qp) -> list[Completion]:
        """All completions that both CQs of this QP hold now, in order. Each is reported once."""
        ...

    def events(self) -> list[AsyncEvent]:
        """Async events that have arrived. Each is reported once."""
        ...

    def cancel(self, qp: Qp, wr_id: int) -> int:
        """mlx5dv_qp_cancel_posted_send_wrs: the number of cancelled WRs, or a negative errno."""
        ...

    def resume(self, qp: Qp) -> int:
        """SQD to RTS; errno."""
        ...

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        """mlx5dv_dek_create of a plaintext key; Refused, or NoSuchCall, for a length that AES-XTS has not.
        `attr` is given only to devices that offer `dek_query`. With its `wrapped`, `key` is the wrapped one."""
        ...

    def query_dek(self, dek: Dek) -> DekState:
        """mlx5dv_dek_query; of devices that offer `dek_query`."""
        ...

    def destroy_dek(self, dek: Dek) -> None:
        """mlx5dv_dek_destroy; of devices that offer `dek_query`."""
        ...

    def lab_login(self) -> LabLogin:
        """What to log in with; it and the calls below are of devices that offer `crypto.login`."""
        ...

    def login(self, attr: LoginAttr) -> None:
        """mlx5dv_crypto_login. The session ends with the case, if the case does not end it."""
        ...

    def login_state(self) -> int:
        """mlx5dv_crypto_login_query_state: a value of enum mlx5dv_crypto_login_state."""
        ...

    def logout(self) -> None:
        """mlx5dv_crypto_logout."""
        ...

    def login_object(self, attr: LoginAttr) -> Login:
        """mlx5dv_crypto_login_create."""
        ...

    def query_login(self, login: Login) -> int:
        """mlx5dv_crypto_login_query: a value of enum mlx5dv_crypto_login_state."""
        ...

    def destroy_login(self, login: Login) -> None:
        """mlx5dv_crypto_login_destroy."""
        ...

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

    def close(self) -> None:
        """The device can be opened again after it. Once more does nothing."""
        ...
