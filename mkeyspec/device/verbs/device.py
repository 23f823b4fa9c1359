"""The verbs device: two end stations, under pyverbs, libibverbs and libmlx5. One of them has both sides, over one port
of an mlx5 NIC; or the owner's is in this process, and the peer's in another.

One context per station; a protection domain, QP pairs and registered memory per side are kept until the worker ends, so
a case needs work requests instead of system calls. Objects that may not be clean are not kept: QPs on which something
was refused, aborted or left waiting; every mkey (a used one can't be reset: LOCAL_INV keeps the layout and the driver's
signature state, X-DIFF-27, X-BUG-03); and all objects after a case that did not pass.

No function waits, and none depends on the kind of NIC.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
    DeviceLost,
    Info,
    Memory,
    Mkey,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Refused,
    Sge,
    Side,
    SignatureError,
    WorkRequest,
)
from mkeyspec.device.verbs import capability
from mkeyspec.device.verbs.address import EndAddress, Ended
from mkeyspec.device.verbs.login import LoginCalls
from mkeyspec.device.verbs.station import ObjectCalls, Station, StationCalls

KEPT_PAIRS = 8


@dataclass(slots=True, eq=False)
class Pair:
    owner: EndAddress
    peer: EndAddress
    attributes: QpAttributes
    shared: bool = False
    """The peer is the case's DC responder, which this pair neither closes nor keeps."""

    @property
    def told(self) -> QpPair:
        return QpPair(self.owner.qp, self.peer.qp)

    @property
    def own(self) -> tuple[EndAddress, ...]:
        """The ends that end with it."""
        return (self.owner,) if self.shared else (self.owner, self.peer)

    @property
    def lends(self) -> bool:
        """Whether another case may use it: not if it has a PD of the case, if the case is `isolated`, or if a signature
        error may have stopped its queue."""
        mine = self.attributes
        return not self.shared and mine.pd is None and not mine.private and not mine.sig_pipelining


class Verbs(LoginCalls):
    """A `protocol.Device` on open stations; `opening.open_device` makes one."""

    def __init__(self, owner: Station, peer: StationCalls | None = None) -> None:
        """Without `peer` the owner's station has both sides. It is closed with this."""
        self.owner = owner
        self.logins, self.lab = owner.logins, owner.lab
        self._at: dict[Side, StationCalls] = {"owner": owner, "peer": owner if peer is None else peer}
        self._stations: tuple[StationCalls, ...] = (owner,) if peer is None else (owner, peer)
        self._idle: OrderedDict[QpAttributes, Pair] = OrderedDict()
        self._pairs: list[Pair] = []
        self._there: set[int] = set()
        """Handles of the QPs of this case that are there."""
        self._known: set[int] = set()
        """Those that are gone included: an event may name them."""
        self._responder: EndAddress | None = None
        self._closed = False
        self._pid = os.getpid()
        self._info = owner.info() if peer is None else with_peer(owner.info(), peer.info())
        if peer is not None:
            self.poll_often = self._poll_often
            owner.join(peer.address())
            peer.join(owner.address())
        _close_at_exit(self)

    # About -----------------------------------------------------------------------------------

    def info(self) -> Info:
        return self._info

    def capabilities(self) -> Capabilities:
        owner, *others = (station.capabilities() for station in self._stations)
        return capability.both(owner, others[0]) if others else owner

    # Objects ---------------------------------------------------------------------------------

    def _objects(self, side: Side) -> ObjectCalls:
        return self._at[side].objects

    def pd(self, side: Side) -> Pd:
        return self._objects(side).pd(side)

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        return self._objects(side).memory(side, length, access=access, misaligned=misaligned, pd=pd)

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        self._objects(memory.side).write(memory, offset, data)

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return self._objects(memory.side).read(memory, offset, length)

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return self._objects(side).mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return self._objects(mkey.side).retag(mkey, tag)

    def destroy(self, mkey: Mkey) -> None:
        """The rig polls first: an entry of a signature error is of the mkey (X-BUG-05)."""
        self._objects(mkey.side).destroy(mkey)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return self._objects(mkey.side).mkey_check(mkey)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        return self.owner.dek(key, keytag, attr)

    def query_dek(self, dek: Dek) -> DekState:
        return self.owner.query_dek(dek)

    def destroy_dek(self, dek: Dek) -> None:
        self.owner.objects.destroy_dek(dek)

    # Queue pairs -----------------------------------------------------------------------------

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        pair = self._idle.pop(attributes, None) or self._make(attributes)
        return self._adopt(pair)

    def _adopt(self, pair: Pair) -> QpPair:
        self._pairs.append(pair)
        for end in (pair.owner, pair.peer):
            self._there.add(end.qp.handle)
            self._known.add(end.qp.handle)
        return pair.told

    def _make(self, attributes: QpAttributes) -> Pair:
        dci = attributes.type == "dci"
        owner = self._at["owner"].end("owner", attributes)
        try:
            peer = self._targets() if dci else self._at["peer"].end("peer", attributes)
        except BaseException:
            self._close_ends([owner])
            raise
        pair = Pair(owner, peer, attributes, shared=dci)
        try:
            self._at["owner"].connect(owner.qp.handle, peer)
            if not dci:
                self._at["peer"].connect(peer.qp.handle, owner)
        except BaseException:
            self._close_ends(pair.own)
            raise
        return pair

    def _targets(self) -> EndAddress:
        """The DC responder of the case: the receive queue of the DCTs, and the other end of every DCI."""
        if self._responder is None:
            self._responder = self._at["peer"].responder("peer")
        return self._responder

    def dct(self, key: int) -> int:
        responder = self._targets().qp
        self._known.add(responder.handle)
        return self._at["peer"].dct(responder.handle, key)

    def reconnect(self, pair: QpPair) -> QpPair:
        """Create new QPs: a refused section leaves an open configuration in libmlx5's QP, and a reset does not close
        it."""
        old = next((item for item in self._pairs if item.owner.qp.handle == pair.owner.handle), None)
        if old is None:
            raise Refused("ibv_modify_qp", errno.EINVAL)
        self._pairs.remove(old)
        self._there -= {old.owner.qp.handle, old.peer.qp.handle}
        self._close_ends(old.own)
        return self._adopt(self._make(old.attributes))

    def _close_ends(self, ends: Iterable[EndAddress]) -> None:
        for station, handles in self._by_station(ends).items():
            if handles:
                station.close_ends(handles)

    def _by_station(self, ends: Iterable[EndAddress]) -> Mapping[StationCalls, list[int]]:
        found: dict[StationCalls, list[int]] = {station: [] for station in self._stations}
        for end in ends:
            found[self._at[end.qp.side]].append(end.qp.handle)
        return found

    # Work ------------------------------------------------------------------------------------

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        if qp.handle not in self._there:
            return errno.EINVAL
        return self._at[qp.side].post(qp.handle, requests, abort)

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        if qp.handle not in self._there:
            return errno.EINVAL
        return self._at[qp.side].post_recv(qp.handle, wr_id, sges)

    def poll(self, qp: Qp) -> list[Completion]:
        return self._at[qp.side].poll(qp.handle) if qp.handle in self._there else []

    def _poll_often(self, qp: Qp, times: int) -> list[Completion]:
        """As many calls of `poll`, in one message to the peer."""
        return self._at[qp.side].poll_often(qp.handle, times) if qp.handle in self._there else []

    def events(self) -> list[AsyncEvent]:
        """One of a QP that no pair of this case has or had is of no QP."""
        told = [event for station in self._stations for event in station.events()]
        return [
            replace(event, qp=None) if event.qp is not None and event.qp.handle not in self._known else event
            for event in told
        ]

    def cancel(self, qp: Qp, wr_id: int) -> int:
        if qp.handle not in self._there:
            return -errno.EINVAL
        return self._at[qp.side].cancel(qp.handle, wr_id)

    def resume(self, qp: Qp) -> int:
        if qp.handle not in self._there:
            return errno.EINVAL
        return self._at[qp.side].resume(qp.handle)

    # End -------------------------------------------------------------------------------------

    def release(self, *, healthy: bool) -> None:
        """Close in the order mkey, DEK, login, QP, MR, CQ, PD; keep what is clean after a pass. What one side can't
        close is raised when the other has closed its own."""
        used = {end.qp.handle: end for pair in self._pairs for end in (pair.owner, pair.peer)}
        ended: list[Ended] = []
        failed: list[Exception] = []
        for station, handles in self._by_station(used.values()).items():
            try:
                ended += station.end_case(handles)
            except Exception as error:
                failed.append(error)
        late = [completion for one in ended for completion in one.late]
        kept = {one.handle for one in ended if healthy and one.clean and not one.late}
        over: list[EndAddress] = []
        for pair in self._pairs:
            if pair.lends and kept.issuperset(end.qp.handle for end in pair.own) and pair.attributes not in self._idle:
                self._idle[pair.attributes] = pair
            else:
                over += pair.own
        while len(self._idle) > (KEPT_PAIRS if healthy else 0):
            over += self._idle.popitem(last=False)[1].own
        if self._responder is not None:
            over.append(self._responder)
        self._pairs.clear()
        self._there.clear()
        self._known.clear()
        self._responder = None
        for station, handles in self._by_station(over).items():
            try:
                station.give_back(handles, healthy)
            except Exception as error:
                failed.append(error)
        if failed:
            raise failed[0]
        if healthy and late:
            raise Late(f"a completion came when nothing was due any more: {late[0]}")

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        with contextlib.ExitStack() as closing:
            for station in self._stations:
                closing.callback(station.close)
            with contextlib.suppress(DeviceLost):  # of the peer's side, which ends by itself
                self.release(healthy=False)


class Late(Exception):
    """There were completions that no request caused; all objects were released."""


def with_peer(owner: Info, peer: Info) -> Info:
    """What is said of two stations: the peer's under names that begin with `peer`."""
    more = {"peer": peer.device, "peer firmware": peer.firmware}
    more |= {f"peer {name}": version for name, version in peer.versions.items()}
    return Info(owner.device, owner.firmware, owner.versions | more)


def _close_at_exit(device: Verbs) -> None:
    """At the interpreter's end pyverbs' objects would be destroyed in any order, and crash."""
    reference = weakref.ref(device)

    def close() -> None:
        held = reference()
        if held is not None:
            with contextlib.suppress(Exception):
                held.close()

    atexit.register(close)
