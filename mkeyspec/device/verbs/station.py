"""An end station: one side of a device, or both sides of one that has both in this process. It is an open context with
its protection domains, memory, mkeys, DEKs, queues and events.

Its calls take and return plain data, so that a station in another process is called in the same way
(`peer.far`). A QP is made and connected in two calls, since each of two stations needs the address of the
other's end first. No function waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
    Info,
    LabLogin,
    LocalInv,
    Memory,
    Mkey,
    NoSuchCall,
    Pd,
    Qp,
    QpAttributes,
    Refused,
    Sge,
    Side,
    SignatureError,
    Unsupported,
    WorkRequest,
)
from mkeyspec.device.verbs import capability, names, native
from mkeyspec.device.verbs import requests as verbs_requests
from mkeyspec.device.verbs.address import EndAddress, Ended, PortAddress
from mkeyspec.device.verbs.login import Logins
from mkeyspec.device.verbs.objects import FIRST_HANDLE, Objects, close_all
from mkeyspec.device.verbs.port import Port
from mkeyspec.device.verbs.queue import End, Queues


class ObjectCalls(Protocol):
    """What `Verbs` asks of the objects of a station; `objects.Objects` says what each does."""

    def pd(self, side: Side) -> Pd: ...

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory: ...

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None: ...

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]: ...

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey: ...

    def retag(self, mkey: Mkey, tag: int) -> Mkey: ...

    def destroy(self, mkey: Mkey) -> None: ...

    def mkey_check(self, mkey: Mkey) -> SignatureError | None: ...


class StationCalls(Protocol):
    """What `Verbs` asks of a station, in this process or in another; `Station` says what each does."""

    @property
    def objects(self) -> ObjectCalls: ...

    def info(self) -> Info: ...

    def capabilities(self) -> Capabilities: ...

    def address(self) -> PortAddress: ...

    def join(self, far: PortAddress) -> None: ...

    def end(self, side: Side, attributes: QpAttributes) -> EndAddress: ...

    def responder(self, side: Side) -> EndAddress: ...

    def dct(self, handle: int, key: int) -> int: ...

    def connect(self, handle: int, far: EndAddress) -> None: ...

    def close_ends(self, handles: Sequence[int]) -> None: ...

    def post(self, handle: int, requests: Sequence[WorkRequest], abort: bool) -> int: ...

    def post_recv(self, handle: int, wr_id: int, sges: Sequence[Sge]) -> int: ...

    def poll(self, handle: int) -> list[Completion]: ...

    def poll_often(self, handle: int, times: int) -> list[Completion]: ...

    def events(self) -> list[AsyncEvent]: ...

    def cancel(self, handle: int, wr_id: int) -> int: ...

    def resume(self, handle: int) -> int: ...

    def end_case(self, handles: Sequence[int]) -> list[Ended]: ...

    def give_back(self, handles: Sequence[int], healthy: bool) -> None: ...

    def close(self) -> None: ...


class Station:
    """A station in this process; `opening.open_station` makes one."""

    def __init__(
        self,
        pyverbs: Any,
        context: Any,
        port: Port,
        info: Info,
        let_go: Callable[[], None],
        lab: LabLogin | None = None,
        first_handle: int = FIRST_HANDLE,
    ) -> None:
        """`let_go` is called once the context is closed. `lab`: what to log in with; None: no case logs in.
        `first_handle`: handles of two stations of one device are not the same."""
        self.pyverbs = pyverbs
        self.context = context
        self._info = info
        self._let_go = let_go
        self._pid = os.getpid()
        self._closed = False
        self._native = native.Native(context)
        self.queues = Queues(pyverbs, context, port)
        self.objects = Objects(pyverbs, context, first_handle)
        self.lab = lab
        self.logins = Logins(pyverbs, context, self._native, self.objects)
        self._ends: dict[int, End] = {}
        self._events: list[AsyncEvent] = []
        self._known: dict[int, Qp] = {}
        """QPs by their number, those of this case that are gone included: an event may name them."""
        self._gone: set[int] = set()
        """Numbers of the latter."""
        self._capabilities = self._read_capabilities(port)
        _forget_in_children(self)

    # About -----------------------------------------------------------------------------------

    def info(self) -> Info:
        return self._info

    def capabilities(self) -> Capabilities:
        return self._capabilities

    def has(self, capabilities: Capabilities) -> None:
        """Of the opening: what it found out."""
        self._capabilities = capabilities

    def address(self) -> PortAddress:
        """That of the port, as the other station must know it."""
        return self.queues.port.address()

    def join(self, far: PortAddress) -> None:
        """The other station is at this address; before, it is this one."""
        self.queues.join(far)

    def _read_capabilities(self, port: Port) -> Capabilities:
        pd, pyverbs = self.objects.default_pds["owner"], self.pyverbs

        def qp(attributes: QpAttributes) -> None:
            self.queues.end(0, "owner", attributes, pd).close()

        def mkey(flags: int, entries: int) -> None:
            with contextlib.closing(pyverbs.Mlx5Mkey(pd, flags, entries)) as made:
                if flags & MkeyFlag.UPDATE_TAG and native.mkey_pointer(made) is None:
                    raise Unsupported("this pyverbs hides its mkeys' keys: no tag can be set")

        offload = self._native.offload()
        found = capability.tried(pyverbs.PyverbsError, qp, mkey)
        if self._native.has("mlx5dv_dek_query"):
            found.add("dek_query")
        has_logins = self._native.has("mlx5dv_crypto_login_query") and self.pyverbs.Mlx5CryptoLogin is not None
        if self.lab is not None and has_logins:
            found.add("crypto.login")
        return capability.capabilities(offload, found, self.context.query_device(), port.mtu, port.longest)

    # DEKs ------------------------------------------------------------------------------------

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        if "crypto" not in self._capabilities.offers:
            raise Unsupported("crypto: this device imports no keys, or nothing says how to log in for wrapped ones")
        return self.objects.dek(key, keytag, attr)

    def query_dek(self, dek: Dek) -> DekState:
        """By libmlx5 itself: pyverbs takes the opaque bytes for a string, which ends at the first 0."""
        answer = self._native.query_dek(self.objects.dek_of(dek))
        if answer is None:
            raise Unsupported("this pyverbs hides its DEKs: none can be queried")
        if isinstance(answer, int):
            raise Refused("mlx5dv_dek_query", answer)
        return DekState(*answer)

    # Queues ----------------------------------------------------------------------------------

    def end(self, side: Side, attributes: QpAttributes) -> EndAddress:
        """A QP in RESET. It is kept until `close_ends` or `give_back` names it."""
        if min(attributes.max_send_wr, attributes.max_recv_wr, attributes.max_inline_data, attributes.send_ops) < 0:
            raise NoSuchCall("a negative capability of a QP")
        objects = self.objects
        own = attributes.pd if attributes.pd is not None and attributes.pd.side == side else None
        pd = objects.pd_of(side, own)
        made = objects.call("mlx5dv_create_qp", lambda: self.queues.end(objects.next(), side, attributes, pd))
        return self._adopt(made)

    def responder(self, side: Side) -> EndAddress:
        """The DC responder of a case: the receive queue of the DCTs, and the other end of every DCI."""
        attributes = QpAttributes(type="dci", send_ops=0)
        pd, objects = self.objects.default_pds[side], self.objects
        made = objects.call("ibv_create_srq", lambda: self.queues.responder(objects.next(), side, attributes, pd))
        return self._adopt(made)

    def _adopt(self, end: End) -> EndAddress:
        self._ends[end.qp.handle] = end
        if end.qp.number:
            self._known[end.qp.number] = end.qp
            self._gone.discard(end.qp.number)
        return end.told()

    def dct(self, handle: int, key: int) -> int:
        """A DCT on a responder; its number."""
        responder = self._ends[handle]
        number = verbs_requests.fit(key, verbs_requests.U64, "DC key")
        target = self.objects.call("mlx5dv_create_qp", lambda: self.queues.target(number, responder))
        responder.targets.append(target)
        self._known[int(target.qp_num)] = responder.qp  # an event may name the DCT
        self._gone.add(int(target.qp_num))  # it ends with the case
        return int(target.qp_num)

    def connect(self, handle: int, far: EndAddress) -> None:
        """To RTS, towards the end of the other station."""
        end = self._ends[handle]
        self.objects.call("ibv_modify_qp", lambda: self.queues.connect(end, far))

    def close_ends(self, handles: Sequence[int]) -> None:
        """Destroy these in the middle of a case."""
        self._collect_events()
        for handle in handles:
            if (end := self._ends.get(handle)) is not None:
                end.poll(self.objects.signed)  # X-BUG-05
        self._close(handles)

    def _close(self, handles: Iterable[int]) -> None:
        """Close all QPs before any CQ: work of one may still complete at the other."""
        closing = [end for handle in handles if (end := self._ends.pop(handle, None)) is not None]
        self._gone.update(end.qp.number for end in closing)
        close_all([*(_Queue(end) for end in closing), *closing])

    # Work ------------------------------------------------------------------------------------

    def post(self, handle: int, requests: Sequence[WorkRequest], abort: bool) -> int:
        end = self._sending(handle)
        if end is None:
            return errno.EINVAL
        for run in _runs(requests):
            if isinstance(run, LocalInv):
                if abort:
                    raise NoSuchCall("ibv_post_send inside a section that is aborted")
                number = verbs_requests.post_send(self.pyverbs, end, run)
            else:
                section = verbs_requests.SectionCalls(self.pyverbs, end, self.objects.mkey_of, self.objects.dek_of)
                try:
                    for request in run:
                        section.build(request)
                except OverflowError as error:
                    raise NoSuchCall(f"a number is more than its C type holds ({error})") from None
                number = section.post(abort=abort)
            if number:
                return number
        return 0

    def _sending(self, handle: int) -> End | None:
        end = self._ends.get(handle)
        return end if end is not None and end.handle is not None else None

    def post_recv(self, handle: int, wr_id: int, sges: Sequence[Sge]) -> int:
        end = self._ends.get(handle)
        if end is None or (end.handle is None and end.srq is None):
            return errno.EINVAL
        return verbs_requests.post_recv(self.pyverbs, end, wr_id, sges)

    def poll(self, handle: int) -> list[Completion]:
        end = self._ends.get(handle)
        if end is None:
            return []
        found = end.poll(self.objects.signed)
        if any(completion.status != "success" for completion in found):
            end.spent = True
        return found

    def poll_often(self, handle: int, times: int) -> list[Completion]:
        return [one for _ in range(times) for one in self.poll(handle)]

    def events(self) -> list[AsyncEvent]:
        self._collect_events()
        found, self._events = self._events, []
        return found

    def _collect_events(self) -> None:
        for raw in self._native.events():
            if raw.kind not in ENVIRONMENT:
                qp = self._known.get(raw.qp_number) if raw.qp_number is not None else None
                self._events.append(AsyncEvent(raw.kind, qp))

    def cancel(self, handle: int, wr_id: int) -> int:
        end = self._sending(handle)
        if end is None:
            return -errno.EINVAL
        end.spent = True
        try:
            return int(end.handle.cancel_posted_send_wrs(verbs_requests.fit(wr_id, verbs_requests.U64, "wr_id")))
        except self.pyverbs.PyverbsRDMAError as error:
            return -names.errno_of(error)

    def resume(self, handle: int) -> int:
        end = self._sending(handle)
        if end is None:
            return errno.EINVAL
        end.spent = True
        attr = self.pyverbs.QPAttr(qp_state=names.RTS, cur_qp_state=names.SQD)
        try:
            end.handle.modify(attr, names.QP_STATE | names.QP_CUR_STATE)
        except self.pyverbs.PyverbsRDMAError as error:
            return names.errno_of(error)
        return 0

    # End -------------------------------------------------------------------------------------

    def end_case(self, handles: Sequence[int]) -> list[Ended]:
        """Close what a QP may still use: mkeys, DEKs, logins. What these ends are left with, in their order."""
        ended = []
        for handle in handles:
            end = self._ends[handle]
            # Polling the entry of a signature error after its mkey was destroyed crashes (X-BUG-05).
            late = tuple(end.poll(self.objects.signed))
            ended.append(Ended(handle, not end.spent and not end.receives, late))
        try:
            self.objects.close_keys()
        finally:
            self.logins.close()
        return ended

    def give_back(self, handles: Sequence[int], healthy: bool) -> None:
        """After `end_case`, close these ends, and then what queues may use: MR, CQ, PD. After a pass what is clean
        is kept."""
        self._close(handles)
        self.objects.give_back(keep=healthy)
        self._events.clear()  # of the case; what comes while it ends is reported by the next question
        self._collect_events()
        for number in self._gone:
            self._known.pop(number, None)
        self._gone.clear()

    def close(self) -> None:
        """After `give_back`. Once more does nothing, nor does a child of a fork."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        try:
            self._close(list(self._ends))
            self.objects.close()
            self.context.close()
        finally:
            self._let_go()


class _Queue:
    """An end without its CQs."""

    def __init__(self, end: End) -> None:
        self.close = end.close_queue


ENVIRONMENT = frozenset({
    "port_active", "port_err", "lid_change", "pkey_change", "sm_change", "client_reregister", "gid_change",
})  # fmt: skip
"""Events of the port that are not caused by a case."""


def _forget_in_children(station: Station) -> None:
    """A forked child has the parent's descriptors. If it collected these objects, it would destroy the parent's. So a
    child keeps them and does not use them."""
    reference = weakref.ref(station)

    def after() -> None:
        held = reference()
        if held is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))

    with contextlib.suppress(AttributeError):
        os.register_at_fork(after_in_child=after)


def _runs(requests: Sequence[WorkRequest]) -> list[list[WorkRequest] | LocalInv]:
    """Sections between the requests that are posted by ibv_post_send."""
    runs: list[list[WorkRequest] | LocalInv] = []
    for request in requests:
        if isinstance(request, LocalInv) and request.by_post_send:
            runs.append(request)
        elif runs and isinstance(runs[-1], list):
            runs[-1].append(request)
        else:
            runs.append([request])
    return runs or [[]]
