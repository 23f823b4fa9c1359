"""The verbs device: two endpoints on one port of an mlx5 NIC, under pyverbs, libibverbs and libmlx5.

One context; a protection domain, QP pairs and registered memory per side are kept until the worker ends, so a case
needs work requests instead of system calls. Objects that may not be clean are not kept: QPs on which something was
refused, aborted or left waiting; every mkey (a used one can't be reset: LOCAL_INV keeps the layout and the driver's
signature state, X-DIFF-27, X-BUG-03); and all objects after a case that did not pass.

No function waits, and none depends on the kind of NIC.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import errno
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

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
    QpPair,
    Refused,
    Sge,
    Side,
    SignatureError,
    Unsupported,
    WorkRequest,
)
from mkeyspec.device.verbs import capability, names, native
from mkeyspec.device.verbs import requests as verbs_requests
from mkeyspec.device.verbs.login import LoginCalls, Logins
from mkeyspec.device.verbs.objects import Objects, close_all
from mkeyspec.device.verbs.port import Port
from mkeyspec.device.verbs.queue import End, Pair, Queues

KEPT_PAIRS = 8


class Verbs(LoginCalls):
    """A `protocol.Device` on an open context; `opening.open_device` makes one."""

    def __init__(
        self,
        pyverbs: Any,
        context: Any,
        port: Port,
        info: Info,
        let_go: Callable[[], None],
        lab: LabLogin | None = None,
    ) -> None:
        """`let_go` is called once the context is closed. `lab`: what to log in with; None: no case logs in."""
        self.pyverbs = pyverbs
        self.context = context
        self._info = info
        self._let_go = let_go
        self._pid = os.getpid()
        self._closed = False
        self._native = native.Native(context)
        self._queues = Queues(pyverbs, context, port)
        self._objects = Objects(pyverbs, context)
        self.lab = lab
        self.logins = Logins(pyverbs, context, self._native, self._objects)
        self._idle: OrderedDict[QpAttributes, Pair] = OrderedDict()
        self._pairs: list[Pair] = []
        self._ends: dict[int, End] = {}
        self._responder: End | None = None
        self._events: list[AsyncEvent] = []
        self._known: dict[int, Qp] = {}
        """QPs by their number, those of this case that are gone included: an event may name them."""
        self._capabilities = self._read_capabilities(port)
        _forget_in_children(self)
        _close_at_exit(self)

    # About -----------------------------------------------------------------------------------

    def info(self) -> Info:
        return self._info

    def capabilities(self) -> Capabilities:
        return self._capabilities

    def has(self, capabilities: Capabilities) -> None:
        """Of the opening: what it found out."""
        self._capabilities = capabilities

    def _read_capabilities(self, port: Port) -> Capabilities:
        pd, pyverbs = self._objects.default_pds["owner"], self.pyverbs

        def qp(attributes: QpAttributes) -> None:
            self._queues.end(0, "owner", attributes, pd).close()

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

    # Objects ---------------------------------------------------------------------------------

    def pd(self, side: Side) -> Pd:
        return self._objects.pd(side)

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        return self._objects.memory(side, length, access=access, misaligned=misaligned, pd=pd)

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        self._objects.write(memory, offset, data)

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return self._objects.read(memory, offset, length)

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return self._objects.mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return self._objects.retag(mkey, tag)

    def destroy(self, mkey: Mkey) -> None:
        """The rig polls first: an entry of a signature error is of the mkey (X-BUG-05)."""
        self._objects.destroy(mkey)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return self._objects.mkey_check(mkey)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        if "crypto" not in self._capabilities.offers:
            raise Unsupported("crypto: this device imports no keys, or nothing says how to log in for wrapped ones")
        return self._objects.dek(key, keytag, attr)

    def query_dek(self, dek: Dek) -> DekState:
        """By libmlx5 itself: pyverbs takes the opaque bytes for a string, which ends at the first 0."""
        answer = self._native.query_dek(self._objects.dek_of(dek))
        if answer is None:
            raise Unsupported("this pyverbs hides its DEKs: none can be queried")
        if isinstance(answer, int):
            raise Refused("mlx5dv_dek_query", answer)
        return DekState(*answer)

    def destroy_dek(self, dek: Dek) -> None:
        self._objects.destroy_dek(dek)

    # Queue pairs -----------------------------------------------------------------------------

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        pair = self._idle.pop(attributes, None) or self._make(attributes)
        return self._adopt(pair)

    def _adopt(self, pair: Pair) -> QpPair:
        self._pairs.append(pair)
        for end in pair.ends:
            self._ends[end.qp.handle] = end
            if end.qp.number:
                self._known[end.qp.number] = end.qp
        return QpPair(pair.owner.qp, pair.peer.qp)

    def _make(self, attributes: QpAttributes) -> Pair:
        make, queues, objects = "mlx5dv_create_qp", self._queues, self._objects
        if min(attributes.max_send_wr, attributes.max_recv_wr, attributes.max_inline_data, attributes.send_ops) < 0:
            raise NoSuchCall("a negative capability of a QP")
        pds: dict[Side, Any] = dict(objects.default_pds)
        if attributes.pd is not None:
            pds[attributes.pd.side] = objects.pd_of(attributes.pd.side, attributes.pd)
        owner = objects.call(make, lambda: queues.end(objects.next(), "owner", attributes, pds["owner"]))
        dci = attributes.type == "dci"
        try:
            if dci:
                peer = self._targets()
            else:
                peer = objects.call(make, lambda: queues.end(objects.next(), "peer", attributes, pds["peer"]))
        except BaseException:
            owner.close()
            raise
        pair = Pair(owner, peer, attributes, shared=dci)
        try:
            objects.call("ibv_modify_qp", lambda: queues.connect(pair, pds))
        except BaseException:
            pair.close()
            raise
        return pair

    def _targets(self) -> End:
        """The DC responder of the case: the receive queue of the DCTs, and the other end of every DCI."""
        if self._responder is None:
            attributes = QpAttributes(type="dci", send_ops=0)
            pd, objects = self._objects.default_pds["peer"], self._objects
            self._responder = objects.call(
                "ibv_create_srq", lambda: self._queues.responder(objects.next(), "peer", attributes, pd)
            )
        return self._responder

    def dct(self, key: int) -> int:
        responder, pd = self._targets(), self._objects.default_pds["peer"]
        number = verbs_requests.fit(key, verbs_requests.U64, "DC key")
        target = self._objects.call("mlx5dv_create_qp", lambda: self._queues.target(number, responder, pd))
        responder.targets.append(target)
        self._known[int(target.qp_num)] = responder.qp  # an event may name the DCT
        return int(target.qp_num)

    def reconnect(self, pair: QpPair) -> QpPair:
        """Create new QPs: a refused section leaves an open configuration in libmlx5's QP, and a reset does not close
        it."""
        self._collect_events()
        old = next((item for item in self._pairs if item.owner.qp.handle == pair.owner.handle), None)
        if old is None:
            raise Refused("ibv_modify_qp", errno.EINVAL)
        self._drain(old)
        self._pairs.remove(old)
        for end in old.ends:
            self._ends.pop(end.qp.handle, None)
        old.close()
        return self._adopt(self._make(old.attributes))

    def _drain(self, pair: Pair) -> list[Completion]:
        """Polling the entry of a signature error after its mkey was destroyed crashes (X-BUG-05)."""
        return [one for end in pair.ends for one in end.poll(self._objects.signed)]

    # Work ------------------------------------------------------------------------------------

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        end = self._sending(qp)
        if end is None:
            return errno.EINVAL
        for run in _runs(requests):
            if isinstance(run, LocalInv):
                if abort:
                    raise NoSuchCall("ibv_post_send inside a section that is aborted")
                number = verbs_requests.post_send(self.pyverbs, end, run)
            else:
                section = verbs_requests.SectionCalls(self.pyverbs, end, self._objects.mkey_of, self._objects.dek_of)
                try:
                    for request in run:
                        section.build(request)
                except OverflowError as error:
                    raise NoSuchCall(f"a number is more than its C type holds ({error})") from None
                number = section.post(abort=abort)
            if number:
                return number
        return 0

    def _sending(self, qp: Qp) -> End | None:
        end = self._ends.get(qp.handle)
        return end if end is not None and end.handle is not None else None

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        end = self._ends.get(qp.handle)
        if end is None or (end.handle is None and end.srq is None):
            return errno.EINVAL
        return verbs_requests.post_recv(self.pyverbs, end, wr_id, sges)

    def poll(self, qp: Qp) -> list[Completion]:
        end = self._ends.get(qp.handle)
        if end is None:
            return []
        found = end.poll(self._objects.signed)
        if any(completion.status != "success" for completion in found):
            end.spent = True
        return found

    def events(self) -> list[AsyncEvent]:
        self._collect_events()
        found, self._events = self._events, []
        return found

    def _collect_events(self) -> None:
        for raw in self._native.events():
            if raw.kind not in ENVIRONMENT:
                qp = self._known.get(raw.qp_number) if raw.qp_number is not None else None
                self._events.append(AsyncEvent(raw.kind, qp))

    def cancel(self, qp: Qp, wr_id: int) -> int:
        end = self._sending(qp)
        if end is None:
            return -errno.EINVAL
        end.spent = True
        try:
            return int(end.handle.cancel_posted_send_wrs(verbs_requests.fit(wr_id, verbs_requests.U64, "wr_id")))
        except self.pyverbs.PyverbsRDMAError as error:
            return -names.errno_of(error)

    def resume(self, qp: Qp) -> int:
        end = self._sending(qp)
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

    def release(self, *, healthy: bool) -> None:
        """Close in the order mkey, DEK, login, QP, MR, CQ, PD; keep what is clean after a pass."""
        late = [(pair, one) for pair in self._pairs for one in self._drain(pair)]
        try:
            self._objects.close_keys()
        finally:
            self.logins.close()
        over: list[Any] = []
        for pair in self._pairs:
            told = any(one is pair for one, _ in late)
            if healthy and pair.clean and pair.lends and not told and pair.attributes not in self._idle:
                self._idle[pair.attributes] = pair
            else:
                over.append(pair)
        while len(self._idle) > (KEPT_PAIRS if healthy else 0):
            over.append(self._idle.popitem(last=False)[1])
        if self._responder is not None:
            over.append(self._responder)
        self._pairs.clear()
        self._ends.clear()
        self._responder = None
        close_all(over)
        self._objects.give_back(keep=healthy)
        self._events.clear()  # of the case; what comes while it ends is reported by the next question
        self._collect_events()
        self._known.clear()
        if healthy and late:
            raise Late(f"a completion came when nothing was due any more: {late[0][1]}")

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        try:
            self.release(healthy=False)
            self._objects.close()
            self.context.close()
        finally:
            self._let_go()


class Late(Exception):
    """There were completions that no request caused; all objects were released."""


ENVIRONMENT = frozenset({
    "port_active", "port_err", "lid_change", "pkey_change", "sm_change", "client_reregister", "gid_change",
})  # fmt: skip
"""Events of the port that are not caused by a case."""


def _forget_in_children(device: Verbs) -> None:
    """A forked child has the parent's descriptors. If it collected these objects, it would destroy the parent's. So a
    child keeps them and does not use them."""
    reference = weakref.ref(device)

    def after() -> None:
        held = reference()
        if held is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))

    with contextlib.suppress(AttributeError):
        os.register_at_fork(after_in_child=after)


def _close_at_exit(device: Verbs) -> None:
    """At the interpreter's end pyverbs' objects would be destroyed in any order, and crash."""
    reference = weakref.ref(device)

    def close() -> None:
        held = reference()
        if held is not None:
            with contextlib.suppress(Exception):
                held.close()

    atexit.register(close)


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
