"""A device that passes each call on to the model, and keeps a list of them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import SendFlag
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
    Refused,
    Send,
    Sge,
    Side,
    SignatureError,
    StraySetter,
    WorkRequest,
    Write,
)
from mkeyspec.repro import calls
from mkeyspec.repro.names import is_taken
from mkeyspec.repro.symbol import Leaf, Symbol, plain
from mkeyspec.value.bytestring import ByteString

T = TypeVar("T")


class Forced:
    """The outcome that the next section of a step is given, whatever the model does with it: `errno` of complete, or
    the `status` of its completion; neither: success."""

    def __init__(self, errno: int = 0, status: str = "") -> None:
        self.errno = errno
        self.status = status


class Recorder:
    """A `protocol.Device` on another one."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.calls: list[calls.Call] = []
        self.naming = ""
        """What the next object that has a name in the case is called."""
        self.filling: tuple[str, ByteString | None] = ("", None)
        """What the next memory is called, and its first bytes."""
        self.force: Forced | None = None
        self._forced: dict[int, list[Completion]] = {}
        self._names: set[str] = set()
        self._last: dict[str, int] = {}
        self._of: dict[tuple[str, int], str] = {}
        """The names of objects, by their kind and handle."""
        self._ends: dict[int, tuple[str, Side]] = {}
        self._tags: dict[str, int] = {}
        """How often the tag of an mkey was changed."""
        self._waiting: dict[int, deque[int]] = {}
        self._other: dict[int, Qp] = {}
        self._count = 0

    # Names -----------------------------------------------------------------------------------

    def name(self, wanted: str) -> str:
        """A name that C and Python take, and that no other object has."""
        base = name = re.sub(r"\W+", "_", wanted).strip("_") or "qp"
        while name in self._names or is_taken(name):
            self._last[base] = self._last.get(base, 1) + 1
            name = f"{base}_{self._last[base]}"
        self._names.add(name)
        return name

    def _named(self, kind: str, handle: int) -> str:
        return self._of[kind, handle]

    def _pd(self, pd: Pd | None) -> str | None:
        return None if pd is None else self._named("pd", pd.handle)

    def _call(self, call: Callable[[], T]) -> tuple[T | None, int]:
        try:
            return call(), 0
        except Refused as refusal:
            return None, refusal.errno

    def _add(self, call: calls.Call, answer: T | None, refused: int, what: str = "the call") -> T:
        self.calls.append(call)
        if refused or answer is None:
            raise Refused(what, refused)
        return answer

    # About -----------------------------------------------------------------------------------

    def info(self) -> Info:
        return self._device.info()

    def capabilities(self) -> Capabilities:
        found = self._device.capabilities()
        return replace(
            found, values={name: Symbol(value, Leaf("device", name)) for name, value in found.values.items()}
        )

    def lab_login(self) -> LabLogin:
        return self._device.lab_login()

    # Objects ---------------------------------------------------------------------------------

    def pd(self, side: Side) -> Pd:
        made, name = self._device.pd(side), self.name(self.naming)
        self._of["pd", made.handle] = name
        self.calls.append(calls.NewPd(name))
        return made

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        called, data = self.filling
        name = self.name(called)
        made = self._device.memory(side, length, access=access, misaligned=misaligned, pd=pd)
        self._of["memory", made.handle] = name
        self.calls.append(calls.NewMemory(name, called, side, length, data, access, misaligned, self._pd(pd)))

        def member(member: str) -> Symbol:
            return Symbol(getattr(made, member), Leaf("buffer", name, member))

        return replace(made, addr=member("addr"), lkey=member("lkey"), rkey=member("rkey"))

    def memory_name(self, memory: Memory) -> str:
        return self._named("memory", memory.handle)

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        self._device.write(plain(memory), int(offset), data)

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return self._device.read(plain(memory), int(offset), int(length))

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        name = self.name(self.naming)
        flags, entries = plain(create_flags), plain(max_entries)
        made, refused = self._call(lambda: self._device.mkey(side, create_flags=flags, max_entries=entries, pd=pd))
        call = calls.NewMkey(name, side, create_flags, max_entries, self._pd(pd), refused)
        return self._keyed(self._add(call, made, refused, "mlx5dv_create_mkey"), name)

    def _keyed(self, made: Mkey, name: str) -> Mkey:
        self._of["mkey", made.handle] = name
        tags = self._tags.setdefault(name, 0)

        def key(of: str) -> Symbol:
            return Symbol(getattr(made, of), Leaf("mkey", name, f"{of}~{tags}"))

        entries = Symbol(made.max_entries, Leaf("mkey", name, "max_entries"))
        return replace(made, lkey=key("lkey"), rkey=key("rkey"), max_entries=entries)

    def mkey_name(self, mkey: Mkey) -> str:
        return self._named("mkey", mkey.handle)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        name = self.mkey_name(mkey)
        self.calls.append(calls.SetTag(name, tag))
        self._tags[name] += 1
        return self._keyed(self._device.retag(plain(mkey), plain(tag)), name)

    def destroy(self, mkey: Mkey) -> None:
        _, refused = self._call(lambda: self._device.destroy(plain(mkey)))
        self._add(calls.DestroyMkey(self.mkey_name(mkey), refused), True, refused, "mlx5dv_destroy_mkey")

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        answer, refused = self._call(lambda: self._device.mkey_check(plain(mkey)))
        self._add(calls.AskMkey(self.mkey_name(mkey), refused), True, refused, "mlx5dv_mkey_check")
        return answer

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        name, given = self.name(self.naming), attr or DekAttr()
        made, refused = self._call(lambda: self._device.dek(key, keytag, attr))
        login = None if given.login is None else self._named("login", given.login.handle)
        call = calls.NewDek(name, key, keytag, given, self._pd(given.pd), login, refused)
        found = self._add(call, made, refused, "mlx5dv_dek_create")
        self._of["dek", found.handle] = name
        return found

    def dek_name(self, dek: Dek) -> str:
        return self._named("dek", dek.handle)

    def query_dek(self, dek: Dek) -> DekState:
        answer, refused = self._call(lambda: self._device.query_dek(dek))
        return self._add(calls.OfDek(self.dek_name(dek), False, refused), answer, refused, "mlx5dv_dek_query")

    def destroy_dek(self, dek: Dek) -> None:
        _, refused = self._call(lambda: self._device.destroy_dek(dek))
        self._add(calls.OfDek(self.dek_name(dek), True, refused), True, refused, "mlx5dv_dek_destroy")

    def login(self, attr: LoginAttr) -> None:
        _, refused = self._call(lambda: self._device.login(attr))
        self._add(calls.NewLogin(None, attr, refused), True, refused, "mlx5dv_crypto_login")

    def login_state(self) -> int:
        answer, refused = self._call(self._device.login_state)
        self.calls.append(calls.OfLogin(None, False, refused))
        if answer is None:
            raise Refused("mlx5dv_crypto_login_query_state", refused)
        return answer

    def logout(self) -> None:
        _, refused = self._call(self._device.logout)
        self._add(calls.OfLogin(None, True, refused), True, refused, "mlx5dv_crypto_logout")

    def login_object(self, attr: LoginAttr) -> Login:
        name = self.name(self.naming)
        made, refused = self._call(lambda: self._device.login_object(attr))
        found = self._add(calls.NewLogin(name, attr, refused), made, refused, "mlx5dv_crypto_login_create")
        self._of["login", found.handle] = name
        return found

    def query_login(self, login: Login) -> int:
        answer, refused = self._call(lambda: self._device.query_login(login))
        self.calls.append(calls.OfLogin(self._named("login", login.handle), False, refused))
        if answer is None:
            raise Refused("mlx5dv_crypto_login_query", refused)
        return answer

    def destroy_login(self, login: Login) -> None:
        _, refused = self._call(lambda: self._device.destroy_login(login))
        name = self._named("login", login.handle)
        self._add(calls.OfLogin(name, True, refused), True, refused, "mlx5dv_crypto_login_destroy")

    # Queue pairs -----------------------------------------------------------------------------

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        name, pd = self.name(self.naming or "qp"), attributes.pd
        made, refused = self._call(lambda: self._device.qp_pair(plain(attributes)))
        side: Side = "owner" if pd is None else pd.side
        call = calls.NewPair(name, attributes, self._pd(pd), side, refused)
        return self._adopted(self._add(call, made, refused, "mlx5dv_create_qp"), name)

    def _adopted(self, pair: QpPair, name: str) -> QpPair:
        self._of["pair", pair.owner.handle] = name
        self._other[pair.owner.handle], self._other[pair.peer.handle] = pair.peer, pair.owner
        for qp in (pair.owner, pair.peer):
            if self._ends.setdefault(qp.handle, (name, qp.side))[0] == name:
                self._waiting[qp.handle] = deque()  # the targets of several DCIs keep theirs
        return QpPair(*[self._numbered(qp, name) for qp in (pair.owner, pair.peer)])

    def _numbered(self, qp: Qp, name: str) -> Qp:
        number = Symbol(qp.number, Leaf("pair", name, f"{qp.side}.number"))
        return replace(qp, number=number, max_inline_data=Symbol(qp.max_inline_data, Leaf("pair", name, "inline")))

    def reconnect(self, pair: QpPair) -> QpPair:
        name = self._named("pair", pair.owner.handle)
        made = self._device.reconnect(plain(pair))
        self.calls.append(calls.Reconnect(name))
        return self._adopted(made, name)

    def dct(self, key: int) -> int:
        name = self.name(self.naming)
        number = self._device.dct(plain(key))
        self.calls.append(calls.NewDct(name, key))
        return Symbol(number, Leaf("dct", name))

    # Work ------------------------------------------------------------------------------------

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        given, (name, side) = tuple(requests), self._ends[qp.handle]
        force = None
        if not is_marker(given):
            force, self.force = self.force, None
        if force is None:
            answer, refused = self._call(lambda: self._device.post(plain(qp), plain(given), abort=abort))
            answer = refused or answer or 0
        else:
            answer = force.errno
            if not force.errno:
                self._pretend(qp, given, force.status)
        self.calls.append(calls.Post(name, side, given, abort, answer))
        return answer

    def _pretend(self, qp: Qp, requests: Sequence[WorkRequest], status: str) -> None:
        """Completions of requests that the model was not given."""
        found = self._forced.setdefault(qp.handle, [])
        for number, request in enumerate(one for one in requests if not isinstance(one, StraySetter)):
            if status:
                found.append(Completion(qp, "send", request.wr_id, "wr_flush_err" if number else status))
                continue
            if request.flags & SendFlag.SIGNALED:
                found.append(Completion(qp, "send", request.wr_id, "success"))
            far = self._other.get(qp.handle)
            if far is not None and _takes_receive(request) and self._waiting[far.handle]:
                came = Completion(far, "recv", self._waiting[far.handle].popleft(), "success")
                self._forced.setdefault(far.handle, []).append(came)

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        refused = self._device.post_recv(plain(qp), wr_id, plain(tuple(sges)))
        self.calls.append(calls.PostRecv(*self._ends[qp.handle], wr_id, tuple(sges)))
        self._waiting[qp.handle].append(wr_id)
        return refused

    def poll(self, qp: Qp) -> list[Completion]:
        found = [*self._forced.pop(qp.handle, []), *self._device.poll(plain(qp))]
        return [self._came(qp, one) for one in found]

    def _came(self, qp: Qp, completion: Completion) -> Completion:
        self._count += 1
        if completion.queue == "recv" and completion.wr_id in self._waiting[qp.handle]:
            self._waiting[qp.handle].remove(completion.wr_id)
        number = str(self._count)
        length = Symbol(completion.byte_len, Leaf("wc", number, "byte_len"))
        imm = None if completion.imm is None else Symbol(completion.imm, Leaf("wc", number, "imm"))
        told = replace(completion, qp=qp, byte_len=length, imm=imm)
        self.calls.append(calls.Came(self._count, *self._ends[qp.handle], told, []))
        return told

    def events(self) -> list[AsyncEvent]:
        return self._device.events()

    def cancel(self, qp: Qp, wr_id: int) -> int:
        name, count = self._ends[qp.handle][0], self._device.cancel(plain(qp), wr_id)
        self._count += 1
        variable = f"cancelled_{self._count}"
        self.calls.append(calls.CancelWr(name, wr_id, count, variable))
        return count if count < 0 else Symbol(count, Leaf("variable", variable))

    def resume(self, qp: Qp) -> int:
        self.calls.append(calls.ResumeQp(self._ends[qp.handle][0]))
        return self._device.resume(plain(qp))

    def release(self, *, healthy: bool) -> None:
        self._device.release(healthy=healthy)

    def close(self) -> None:
        self._device.close()


def is_marker(requests: Sequence[WorkRequest]) -> bool:
    """Whether the rig has posted this by itself: a message without bytes, to no place."""
    match tuple(requests):
        case (Write(_, _, (), 0, 0, None),) | (Send(_, _, (), None, None),):
            return True
        case _:
            return False


def _takes_receive(request: WorkRequest) -> bool:
    return isinstance(request, Send) or (isinstance(request, Write) and request.imm is not None)
