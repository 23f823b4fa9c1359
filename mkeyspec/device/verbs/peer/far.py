"""The peer's station as the owner's process sees it: each call goes over the channel, and has its time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Info,
    Memory,
    Mkey,
    Pd,
    QpAttributes,
    Sge,
    Side,
    SignatureError,
    WorkRequest,
)
from mkeyspec.device.verbs.address import EndAddress, Ended, PortAddress
from mkeyspec.device.verbs.peer.process import PeerProcess


class FarObjects:
    def __init__(self, process: PeerProcess) -> None:
        self._call = process.call

    def pd(self, side: Side) -> Pd:
        made: Pd = self._call("pd", side)
        return made

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        made: Memory = self._call("memory", side, length, access=access, misaligned=misaligned, pd=pd)
        return made

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        self._call("write", memory, offset, data)

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._call("read", memory, offset, length), np.uint8)

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        made: Mkey = self._call("mkey", side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        return made

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        made: Mkey = self._call("retag", mkey, tag)
        return made

    def destroy(self, mkey: Mkey) -> None:
        self._call("destroy", mkey)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found: SignatureError | None = self._call("mkey_check", mkey)
        return found


class FarStation:
    """A `station.StationCalls` in another process."""

    def __init__(self, process: PeerProcess, about: tuple[Info, Capabilities, PortAddress]) -> None:
        self.process = process
        self._call = process.call
        self._info, self._capabilities, self._address = about
        self._objects = FarObjects(process)

    @property
    def objects(self) -> FarObjects:
        return self._objects

    def info(self) -> Info:
        return self._info

    def capabilities(self) -> Capabilities:
        return self._capabilities

    def address(self) -> PortAddress:
        return self._address

    def join(self, far: PortAddress) -> None:
        self._call("join", far)

    def end(self, side: Side, attributes: QpAttributes) -> EndAddress:
        made: EndAddress = self._call("end", side, attributes)
        return made

    def responder(self, side: Side) -> EndAddress:
        made: EndAddress = self._call("responder", side)
        return made

    def dct(self, handle: int, key: int) -> int:
        return int(self._call("dct", handle, key))

    def connect(self, handle: int, far: EndAddress) -> None:
        self._call("connect", handle, far)

    def close_ends(self, handles: Sequence[int]) -> None:
        self._call("close_ends", handles)

    def post(self, handle: int, requests: Sequence[WorkRequest], abort: bool) -> int:
        return int(self._call("post", handle, requests, abort))

    def post_recv(self, handle: int, wr_id: int, sges: Sequence[Sge]) -> int:
        return int(self._call("post_recv", handle, wr_id, sges))

    def poll(self, handle: int) -> list[Completion]:
        return list(self._call("poll", handle))

    def poll_often(self, handle: int, times: int) -> list[Completion]:
        return list(self._call("poll_often", handle, times))

    def events(self) -> list[AsyncEvent]:
        return list(self._call("events"))

    def cancel(self, handle: int, wr_id: int) -> int:
        return int(self._call("cancel", handle, wr_id))

    def resume(self, handle: int) -> int:
        return int(self._call("resume", handle))

    def end_case(self, handles: Sequence[int]) -> list[Ended]:
        return list(self._call("end_case", handles))

    def give_back(self, handles: Sequence[int], healthy: bool) -> None:
        self._call("give_back", handles, healthy)

    def close(self) -> None:
        """Once more does nothing; nor does it where the process is gone."""
        self.process.close()
