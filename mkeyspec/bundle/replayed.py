"""A device of the protocol that answers from a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mkeyspec.bundle.frames import WrongFrame
from mkeyspec.bundle.position import Position
from mkeyspec.bundle.recorder import dek_arguments, sha256, without_secrets
from mkeyspec.bundle.replay import Replay
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
    Info,
    LabLogin,
    Login,
    LoginAttr,
    Memory,
    Mkey,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Sge,
    Side,
    SignatureError,
    WorkRequest,
)
from mkeyspec.run.surroundings import NotRecorded

Given = TypeVar("Given")


class Replayed:
    """A `protocol.Device` that answers from a bundle."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def info(self) -> Info:
        return self.replay.bundle.info()

    def capabilities(self) -> Capabilities:
        return self.replay.bundle.capabilities()

    def pd(self, side: Side) -> Pd:
        return self._gave(Pd, "pd", side)

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        memory = self._gave(Memory, "memory", side, length, access, misaligned, pd)
        self._position.images.register(memory.handle, length)
        return memory

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        data = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        self._call("write", memory.handle, offset, len(data), sha256(data))
        self._position.images.write(memory.handle, offset, data, own=self.replay.own)

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        try:
            found = self._position.read(memory.handle, offset, length)
        except WrongFrame as error:
            raise NotRecorded(f"a `read` of bytes, and the bundle does not hold them: {error}") from None
        if found is None:
            raise NotRecorded("a `read` of bytes, and the run did not look at them there")
        return found

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return self._gave(Mkey, "mkey", side, create_flags, max_entries, pd)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return self._gave(Mkey, "retag", mkey, tag)

    def destroy(self, mkey: Mkey) -> None:
        self._call("destroy", mkey)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return self.replay.mkey_check(mkey)

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        pair = self._gave(QpPair, "qp_pair", attributes)
        self._position.connect(pair)
        return pair

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        if self.replay.own:
            return self.replay.own_post(qp, requests)
        return self._gave(int, "post", qp.handle, requests, abort)

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        if self.replay.own:
            return self.replay.own_receive(qp, wr_id)
        return self._gave(int, "post_recv", qp.handle, wr_id, sges)

    def poll(self, qp: Qp) -> list[Completion]:
        self.replay.looked_at.add(qp.handle)
        return self._position.poll(qp)

    def events(self) -> list[AsyncEvent]:
        position = self.replay.position
        if position is None:
            return []
        self.replay.looked_at.add(None)
        return position.events()

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return self._gave(int, "cancel", qp.handle, wr_id)

    def resume(self, qp: Qp) -> int:
        return self._gave(int, "resume", qp.handle)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        return self._gave(Dek, "dek", *dek_arguments(key, keytag, attr))

    def query_dek(self, dek: Dek) -> DekState:
        return self._gave(DekState, "query_dek", dek)

    def destroy_dek(self, dek: Dek) -> None:
        self._call("destroy_dek", dek)

    def lab_login(self) -> LabLogin:
        credential, length, kek, size = self._gave(list, "lab_login")
        return LabLogin(credential, bytes(length), kek, bytes(size))

    def login(self, attr: LoginAttr) -> None:
        self._call("login", *without_secrets(attr))

    def login_state(self) -> int:
        return self._gave(int, "login_state")

    def logout(self) -> None:
        self._call("logout")

    def login_object(self, attr: LoginAttr) -> Login:
        return self._gave(Login, "login_object", *without_secrets(attr))

    def query_login(self, login: Login) -> int:
        return self._gave(int, "query_login", login)

    def destroy_login(self, login: Login) -> None:
        self._call("destroy_login", login)

    def dct(self, key: int) -> int:
        return self._gave(int, "dct", key)

    def reconnect(self, pair: QpPair) -> QpPair:
        return self.replay.reconnect(pair)

    def release(self, *, healthy: bool) -> None:
        position = self.replay.position
        if position is None:
            return
        place = next((place for place, entry in position.following() if entry["call"] == "release"), None)
        if place is not None:
            position.cross(place)
            self.replay.given(position.entries[place])

    def close(self) -> None:
        pass

    @property
    def _position(self) -> Position:
        if self.replay.position is None:
            raise NotRecorded("a call outside of a row")
        return self.replay.position

    def _call(self, name: str, *arguments: Any) -> None:
        self.replay.call(name, arguments)

    def _gave(self, kind: type[Given], name: str, *arguments: Any) -> Given:
        gave = self.replay.call(name, arguments)
        assert isinstance(gave, kind)
        return gave
