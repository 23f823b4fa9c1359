"""Keeps the calls that the rig makes of a device, and what they gave or raised, row by row.

What would tell of secrets is left out: the credential and the key encryption key of a login, and what is wrapped by it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from mkeyspec.bundle.frames import Written
from mkeyspec.bundle.values import plain, raised
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
    WorkRequest,
)
from mkeyspec.run.surroundings import PASSED_ON, Surroundings

Entry = dict[str, Any]
Given = TypeVar("Given")


class Out(Protocol):
    """Where a recording goes."""

    def row(self, row: Entry) -> None:
        """A row has ended."""
        ...

    def blob(self, data: bytes) -> str:
        """Keep these bytes; their sha256 in hex."""
        ...


class Recorder(Surroundings):
    """The recording of one process. `wrap` gives a device whose calls are kept."""

    def __init__(self, out: Out) -> None:
        self.out = out
        self._row: Entry | None = None
        self._calls: list[Entry] = []
        self._empty: Counter[object] = Counter()
        """Polls of each QP that gave nothing, since something else than an observation was done or one gave something;
        of None: looks for events."""
        self._images: dict[int, npt.NDArray[np.uint8]] = {}
        """By the handle of a buffer: its bytes as they are known."""
        self._written = Written()

    def wrap(self, device: Device) -> Device:
        return Recorded(device, self)

    @property
    def under_way(self) -> bool:
        return self._row is not None

    # Surroundings ----------------------------------------------------------------------------

    def ran_out(self) -> None:
        self._mark("ran out")

    def fell_quiet(self) -> None:
        self._mark("quiet")

    def begin(self, case: str, late: Counter[int]) -> Counter[int]:
        self._row = {"kind": "row", "id": case}
        if late:
            self._row["late"] = {str(handle): number for handle, number in late.items() if number}
        self._calls, self._images, self._written = [], {}, Written()
        self._empty.clear()
        return late

    def passed_by(self, case: str, unmet: Sequence[str]) -> None:
        self.out.row({"kind": "row", "id": case, "unmet": list(unmet)})

    def blocked(self, case: str, culprit: str, symptom: str) -> None:
        """A case is not run: the device has not been healthy since another one."""
        self.out.row({"kind": "row", "id": case, "blocked": [culprit, symptom]})

    def end(self, whole: bool) -> None:
        if self._row is not None:
            self._row["whole"] = whole
            self._mark("end")

    def ended(self) -> None:
        row, self._row = self._row, None
        if row is not None:
            row["calls"] = self._calls
            self.out.row(row)

    def symptom(self, ask: Callable[[], str]) -> str:
        row, self._row = self._row, None  # its calls are not kept, what it found is
        found = ask()
        self._row = row
        if found and row is not None:
            row["symptom"] = found
        return found

    def _mark(self, what: str) -> None:
        if self._row is not None:
            self._calls.append({"call": what})
            self._empty.clear()

    # Calls -----------------------------------------------------------------------------------

    def call(
        self, name: str, arguments: Sequence[Any], made: Callable[[], Given], shown: Callable[[Any], Any] = plain
    ) -> Given:
        """Make a call, and keep it. `shown`: what is kept of the answer."""
        if self._row is None:
            return made()
        entry: Entry = {"call": name, "args": plain(arguments)}
        if self.own:
            entry["own"] = True
        self._calls.append(entry)
        self._empty.clear()
        gave = self._kept(entry, made)
        if gave is not None:
            entry["gave"] = shown(gave)
        return gave

    def _kept(self, entry: Entry, made: Callable[[], Given]) -> Given:
        try:
            return made()
        except PASSED_ON:
            raise
        except BaseException as error:
            entry["raised"] = raised(error)
            raise

    def look(self, name: str, of: int | None, made: Callable[[], list[Given]]) -> list[Given]:
        """A call that tells what came: kept if something did, with how many before gave nothing."""
        if self._row is None:
            return made()
        entry: Entry = {"call": name}
        if of is not None:
            entry["args"] = [of]
        if self._empty[of]:
            entry["after"] = self._empty[of]
        try:
            gave = self._kept(entry, made)
        finally:
            if "raised" in entry:
                self._calls.append(entry)
                self._empty[of] = 0
        if gave:
            entry["gave"] = [_seen(one) for one in gave]
            self._calls.append(entry)
            self._empty[of] = 0
        else:
            self._empty[of] += 1
        return gave

    def memory(self, arguments: Sequence[Any], made: Callable[[], Memory]) -> Memory:
        memory: Memory = self.call("memory", arguments, made)
        if self._row is not None:
            self._images[memory.handle] = np.zeros(arguments[1], np.uint8)
        return memory

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8], made: Callable[[], None]) -> None:
        """The host's own bytes are those of the case: their checksum is kept."""
        if self._row is None:
            return made()
        data = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        self.call("write", [memory.handle, offset, len(data), sha256(data)], made)
        if not self.own:
            self._written.add(data.tobytes())
        image = self._images.get(memory.handle)
        if image is not None:
            image[offset : offset + len(data)] = data
        return None

    def read(
        self, memory: Memory, offset: int, length: int, made: Callable[[], npt.NDArray[np.uint8]]
    ) -> npt.NDArray[np.uint8]:
        """What differs from what was there is kept, packed with what the host wrote as the dictionary."""
        if self._row is None:
            return made()
        entry: Entry = {"call": "read", "args": [memory.handle, offset, length]}
        self._calls.append(entry)
        got: npt.NDArray[np.uint8] = self._kept(entry, made)
        image = self._images.get(memory.handle)
        if image is None or offset < 0 or len(got) != length or offset + length > len(image):
            entry["gave"] = {"all": True, "sha256": self.out.blob(got.tobytes())}
            return got
        known = image[offset : offset + length]
        if not np.array_equal(known, got):
            where = np.flatnonzero(known != got)
            first, last = int(where[0]), int(where[-1]) + 1
            frame = self._written.pack(got[first:last].tobytes())
            entry["gave"] = {"at": offset + first, "length": last - first, "frame": self.out.blob(frame)}
            known[first:last] = got[first:last]
        return got


def sha256(data: bytes | npt.NDArray[np.uint8]) -> str:
    return hashlib.sha256(data if isinstance(data, bytes) else np.ascontiguousarray(data).data).hexdigest()


def _seen(one: Any) -> Any:
    """A completion, or an event, with the handle of its QP."""
    members = plain(one)
    (values,) = members.values()
    place = 0 if isinstance(one, Completion) else 1
    if values[place] is not None:
        values[place] = values[place]["Qp"][0]
    return members


SECRET = "left out"


def without_secrets(attr: LoginAttr) -> list[Any]:
    """What is kept of a login's attributes: not the credential, which is wrapped by the device's key encryption key."""
    return [attr.credential_id, attr.import_kek_id, SECRET, attr.comp_mask]


def dek_arguments(key: bytes, keytag: bytes | None, attr: DekAttr | None) -> list[Any]:
    """What is kept of the arguments of `dek`."""
    wrapped = attr is not None and attr.wrapped
    return [f"{len(key)} bytes {SECRET}" if wrapped else key, keytag, attr]


def _ids_of(lab: LabLogin) -> list[int]:
    """The ids, and how long what they name is."""
    return [lab.credential_id, len(lab.credential), lab.import_kek_id, len(lab.import_kek)]


class Recorded:
    """A `protocol.Device` whose calls are kept."""

    def __init__(self, device: Device, recorder: Recorder) -> None:
        self.device = device
        self._recorder = recorder

    def info(self) -> Info:
        return self.device.info()

    def capabilities(self) -> Capabilities:
        return self.device.capabilities()

    def pd(self, side: Side) -> Pd:
        return self._call("pd", [side], lambda: self.device.pd(side))

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        def made() -> Memory:
            return self.device.memory(side, length, access=access, misaligned=misaligned, pd=pd)

        return self._recorder.memory([side, length, access, misaligned, pd], made)

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        self._recorder.write(memory, offset, data, lambda: self.device.write(memory, offset, data))

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return self._recorder.read(memory, offset, length, lambda: self.device.read(memory, offset, length))

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        def made() -> Mkey:
            return self.device.mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)

        return self._call("mkey", [side, create_flags, max_entries, pd], made)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return self._call("retag", [mkey, tag], lambda: self.device.retag(mkey, tag))

    def destroy(self, mkey: Mkey) -> None:
        self._call("destroy", [mkey], lambda: self.device.destroy(mkey))

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return self._call("mkey_check", [mkey], lambda: self.device.mkey_check(mkey))

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        return self._call("qp_pair", [attributes], lambda: self.device.qp_pair(attributes))

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        return self._call("post", [qp.handle, requests, abort], lambda: self.device.post(qp, requests, abort=abort))

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        return self._call("post_recv", [qp.handle, wr_id, sges], lambda: self.device.post_recv(qp, wr_id, sges))

    def poll(self, qp: Qp) -> list[Completion]:
        return self._recorder.look("poll", qp.handle, lambda: self.device.poll(qp))

    def events(self) -> list[AsyncEvent]:
        return self._recorder.look("events", None, self.device.events)

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return self._call("cancel", [qp.handle, wr_id], lambda: self.device.cancel(qp, wr_id))

    def resume(self, qp: Qp) -> int:
        return self._call("resume", [qp.handle], lambda: self.device.resume(qp))

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        def made() -> Dek:
            return self.device.dek(key, keytag) if attr is None else self.device.dek(key, keytag, attr)

        return self._call("dek", dek_arguments(key, keytag, attr), made)

    def query_dek(self, dek: Dek) -> DekState:
        return self._call("query_dek", [dek], lambda: self.device.query_dek(dek))

    def destroy_dek(self, dek: Dek) -> None:
        self._call("destroy_dek", [dek], lambda: self.device.destroy_dek(dek))

    def lab_login(self) -> LabLogin:
        return self._recorder.call("lab_login", [], self.device.lab_login, _ids_of)

    def login(self, attr: LoginAttr) -> None:
        self._call("login", without_secrets(attr), lambda: self.device.login(attr))

    def login_state(self) -> int:
        return self._call("login_state", [], self.device.login_state)

    def logout(self) -> None:
        self._call("logout", [], self.device.logout)

    def login_object(self, attr: LoginAttr) -> Login:
        return self._call("login_object", without_secrets(attr), lambda: self.device.login_object(attr))

    def query_login(self, login: Login) -> int:
        return self._call("query_login", [login], lambda: self.device.query_login(login))

    def destroy_login(self, login: Login) -> None:
        self._call("destroy_login", [login], lambda: self.device.destroy_login(login))

    def dct(self, key: int) -> int:
        return self._call("dct", [key], lambda: self.device.dct(key))

    def reconnect(self, pair: QpPair) -> QpPair:
        return self._call("reconnect", [pair], lambda: self.device.reconnect(pair))

    def release(self, *, healthy: bool) -> None:
        self._call("release", [], lambda: self.device.release(healthy=healthy))

    def close(self) -> None:
        self.device.close()

    def _call(self, name: str, arguments: Sequence[Any], made: Callable[[], Given]) -> Given:
        return self._recorder.call(name, arguments, made)
