"""A device that writes each call to a file, and passes it to mkeyspec's model.

Each method is one call of `mkeyspec.device.protocol.Device`. To make a device of your own, put your NIC in the model's
place, one method after the other, and run the kit after each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
    Device,
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
    Unavailable,
    WorkRequest,
)

Answer = TypeVar("Answer")


def open(argument: str, profile: Profile) -> Device:
    """The entry point: `--device acme:calls.txt` gives `calls.txt`; without it nothing is written.

    Raises Unavailable, with the reason and what to do, where the device can't be opened.
    """
    calls = Path(argument) if argument else None
    try:
        if calls is not None:
            calls.write_text("", encoding="utf-8")
    except OSError as error:
        raise Unavailable("MKS0944", f"acme can't write {argument}: {error.strerror}; name another file") from None
    return Acme(Model(profile), calls)


class Acme:
    """A `Device`. No method waits: the rig calls `poll` and `events` until its deadline."""

    def __init__(self, nic: Device, calls: Path | None) -> None:
        self._nic = nic
        self._calls = calls

    def _told(self, text: str, call: Callable[[], Answer]) -> Answer:
        """What the call gives. What it raises (Refused, Unsupported, NoSuchCall) passes through."""
        if self._calls is not None:
            with self._calls.open("a", encoding="utf-8") as file:
                file.write(f"{text}\n")
        return call()

    # What it is. Neither of them changes while the device is open.

    def info(self) -> Info:
        return Info("acme", firmware="1.0", versions=self._nic.info().versions)

    def capabilities(self) -> Capabilities:
        """Only what is carried out. A row that needs more is skipped; what is offered and then refused fails it."""
        found = self._nic.capabilities()
        return Capabilities(found.offers - {"crypto", "crypto.plaintext", "crypto.login"}, found.values)

    # Objects. A handle is a number of this device's own. What can't be made raises Refused with an errno.

    def pd(self, side: Side) -> Pd:
        return self._told(f"pd {side}", lambda: self._nic.pd(side))

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        return self._told(
            f"memory {side} {length}",
            lambda: self._nic.memory(side, length, access=access, misaligned=misaligned, pd=pd),
        )

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        self._told(f"write {memory.handle} {offset} {len(data)}", lambda: self._nic.write(memory, offset, data))

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return self._told(f"read {memory.handle} {offset} {length}", lambda: self._nic.read(memory, offset, length))

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return self._told(
            f"mkey {side} {create_flags:#x} {max_entries}",
            lambda: self._nic.mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd),
        )

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return self._told(f"retag {mkey.handle} {tag:#x}", lambda: self._nic.retag(mkey, tag))

    def destroy(self, mkey: Mkey) -> None:
        self._told(f"destroy {mkey.handle}", lambda: self._nic.destroy(mkey))

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return self._told(f"mkey_check {mkey.handle}", lambda: self._nic.mkey_check(mkey))

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        return self._told(f"dek {len(key)}", lambda: self._nic.dek(key, keytag, attr))

    def query_dek(self, dek: Dek) -> DekState:
        return self._told(f"query_dek {dek.handle}", lambda: self._nic.query_dek(dek))

    def destroy_dek(self, dek: Dek) -> None:
        self._told(f"destroy_dek {dek.handle}", lambda: self._nic.destroy_dek(dek))

    def lab_login(self) -> LabLogin:
        return self._nic.lab_login()

    def login(self, attr: LoginAttr) -> None:
        self._told("login", lambda: self._nic.login(attr))

    def login_state(self) -> int:
        return self._told("login_state", self._nic.login_state)

    def logout(self) -> None:
        self._told("logout", self._nic.logout)

    def login_object(self, attr: LoginAttr) -> Login:
        return self._told("login_object", lambda: self._nic.login_object(attr))

    def query_login(self, login: Login) -> int:
        return self._told(f"query_login {login.handle}", lambda: self._nic.query_login(login))

    def destroy_login(self, login: Login) -> None:
        self._told(f"destroy_login {login.handle}", lambda: self._nic.destroy_login(login))

    def dct(self, key: int) -> int:
        return self._told("dct", lambda: self._nic.dct(key))

    # Queues. `post` and `post_recv` return an errno (0 is success); a completion is reported once, by `poll`.

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        return self._told(f"qp_pair {attributes.type}", lambda: self._nic.qp_pair(attributes))

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        names = " ".join(type(one).__name__ for one in requests)
        return self._told(f"post {qp.handle} {names}", lambda: self._nic.post(qp, requests, abort=abort))

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        return self._told(f"post_recv {qp.handle} {wr_id}", lambda: self._nic.post_recv(qp, wr_id, sges))

    def poll(self, qp: Qp) -> list[Completion]:
        return self._nic.poll(qp)

    def events(self) -> list[AsyncEvent]:
        return self._nic.events()

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return self._told(f"cancel {qp.handle} {wr_id}", lambda: self._nic.cancel(qp, wr_id))

    def resume(self, qp: Qp) -> int:
        return self._told(f"resume {qp.handle}", lambda: self._nic.resume(qp))

    def reconnect(self, pair: QpPair) -> QpPair:
        return self._told(f"reconnect {pair.owner.handle}", lambda: self._nic.reconnect(pair))

    # The end.

    def release(self, *, healthy: bool) -> None:
        """After this the device is as new for the next case."""
        self._told(f"release {'healthy' if healthy else 'not healthy'}", lambda: self._nic.release(healthy=healthy))

    def close(self) -> None:
        """Once more does nothing."""
        self._nic.close()
