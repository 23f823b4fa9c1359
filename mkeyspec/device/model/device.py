"""The model device: two endpoints in pure Python; the reference behaviour, written from the man pages.

This module has the objects and their handles. `section` and `configuration` check a section, `execution` carries it
out, `key` translates keys, `transfer`, `signature` and `crypto` move messages. All work is done in `post` and
`resume`, in order; `poll` and `events` only report. Steps that the model does not offer raise `Unsupported`.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import MANY_ENTRIES, Access, MkeyFlag, QpOps
from mkeyspec.device.model.components import PARTS, Parts
from mkeyspec.device.model.configuration import M8, M32, Builder
from mkeyspec.device.model.dct import DCI, M64, Targets
from mkeyspec.device.model.dek import DataKeys
from mkeyspec.device.model.key import IndirectKey, KeyTable, Region, SignatureState
from mkeyspec.device.model.login import LoginCalls, Logins
from mkeyspec.device.model.queue import ERR, MKEY_OPS, OPS_OF_TYPE, RESET, Notice, PostedReceive, Queue, Room, room
from mkeyspec.device.model.transfer import REMOTE_INVALIDATE
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
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

DEFAULT_QP = QpAttributes()
RESPONDER = QpAttributes(type=DCI, send_ops=0)
BLOCK_SIGNATURE, CRYPTO, UPDATE_TAG = (
    int(flag) for flag in (MkeyFlag.BLOCK_SIGNATURE, MkeyFlag.CRYPTO, MkeyFlag.UPDATE_TAG)
)
MKEY_OFFERS = (
    (BLOCK_SIGNATURE, "block_signature"),
    (CRYPTO, "crypto"),
    (UPDATE_TAG, "update_tag"),
    (REMOTE_INVALIDATE, "remote_invalidate"),
)
QP_OFFERS = ((int(QpOps.RAW_WQE), "raw_wqe"), (int(QpOps.MEMCPY), "memcpy"))
MOST_STREAMS = 1 << 15
MOST_WRS = 1 << 15
MKEY_FLAGS = sum(int(flag) for flag in MkeyFlag)
FIRST_INDEX = 0x1A0
FIRST_ADDRESS = 0x7F4C_0000_0000
GAP = 4096
"""Bytes between two registered buffers."""
LONGEST_MEMORY = 1 << 30


class Model(LoginCalls):
    """A `protocol.Device`. One instance is one fixture; nothing is shared between instances."""

    immediate = True
    """A call does all that follows from it before it returns (`mkeyspec.run.surroundings`)."""

    def __init__(self, profile: Profile | None = None, parts: Parts = PARTS) -> None:
        self.profile = profile if profile is not None else Profile()
        self.parts = parts
        self.arithmetic = parts.arithmetic(self.profile)
        self.tables: dict[str, KeyTable] = {"owner": parts.table(), "peer": parts.table()}
        self.targets = Targets()
        movement = parts.movement(self.profile, self.arithmetic, self.tables)
        transfer = parts.transfer(self.profile, movement, self.tables, self.targets)
        self.execution = parts.execution(self.profile, transfer)
        self.logins = Logins(self.profile)
        self.deks = DataKeys(self.profile, self.logins)
        self._default_pds = {"owner": Pd(1, "owner"), "peer": Pd(2, "peer")}
        self._builders: dict[int, Builder] = {}
        self.default_pair: QpPair | None = None
        self._empty()

    def _empty(self) -> None:
        """Reset to the initial state: the same keys, addresses and numbers for every case, whatever ran before."""
        for table in self.tables.values():
            table.keys.clear()
        self.targets.keys.clear()
        self.execution.events.clear()
        self.deks.clear()
        self.logins.clear()
        self._responder: Queue | None = None
        self._memories: dict[int, Region] = {}
        self._mkeys: dict[int, IndirectKey] = {}
        self._queues: dict[int, Queue] = {}
        self._pds: dict[int, Pd] = {pd.handle: pd for pd in self._default_pds.values()}
        self._handle = 16
        self._index = FIRST_INDEX
        self._address = FIRST_ADDRESS
        self.default_pair = self._pair(DEFAULT_QP)
        self._is_lent = False
        """Whether the case has this pair: the next one that it asks for is another."""

    def _next(self) -> int:
        self._handle += 1
        return self._handle

    def _key(self) -> int:
        self._index += 1
        return self._index << 8

    # About -----------------------------------------------------------------------------------

    def info(self) -> Info:
        return Info("model", versions={"profile": self.profile.name})

    def capabilities(self) -> Capabilities:
        offers = self.profile.offers
        longest = self.profile.max_wr_memcpy_length if "memcpy" in offers else 0
        sges = (self.profile.wqe_max - self.profile.wqe_overhead) // 16
        numbers = {"max_wr_memcpy_length": longest, "max_qp_wr": MOST_WRS, "max_sge": sges, "active_mtu": 4096}
        numbers["max_msg_sz"] = self.profile.max_message
        if "qp.dci_streams" in offers:
            numbers["max_log_num_concurent"] = numbers["max_log_num_errored"] = MOST_STREAMS.bit_length() - 1
        return Capabilities(offers, numbers)

    # Objects ---------------------------------------------------------------------------------

    def pd(self, side: Side) -> Pd:
        pd = Pd(self._next(), side)
        self._pds[pd.handle] = pd
        return pd

    def _pd_of(self, side: Side, pd: Pd | None, call: str) -> int:
        if pd is None:
            return self._default_pds[side].handle
        if self._pds.get(pd.handle) != pd or pd.side != side:
            raise Refused(call, errno.EINVAL)
        return pd.handle

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        if not 0 <= length <= LONGEST_MEMORY or not 0 <= misaligned < GAP:
            raise Refused("ibv_reg_mr", errno.EINVAL)
        if access & (Access.REMOTE_WRITE | Access.REMOTE_ATOMIC) and not access & Access.LOCAL_WRITE:
            raise Refused("ibv_reg_mr", errno.EINVAL)
        handle, key = self._next(), self._key() | self._handle & M8
        addr = self._address + misaligned
        self._address += (length + misaligned + 63) // 64 * 64 + GAP
        region = Region(
            key >> 8, key, self._pd_of(side, pd, "ibv_reg_mr"), addr, access & M32, np.zeros(length, np.uint8)
        )
        self.tables[side].keys[region.index] = region
        self._memories[handle] = region
        return Memory(handle, side, addr, length, key, key)

    def _stored(self, memory: Memory, offset: int, length: int, call: str) -> npt.NDArray[np.uint8]:
        region = self._memories.get(memory.handle)
        if region is None or offset < 0 or length < 0 or offset + length > len(region.data):
            raise Refused(call, errno.EFAULT)
        return region.data[offset : offset + length]

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        source = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        self._stored(memory, offset, len(source), "write")[:] = source

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        return self._stored(memory, offset, length, "read")

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        call = "mlx5dv_create_mkey"
        if create_flags <= 0 or create_flags & ~MKEY_FLAGS:
            raise Refused(call, self.profile.errno_of("create_flags"))
        for flag, offer in MKEY_OFFERS:
            if create_flags & flag and offer not in self.profile.offers:
                raise Refused(call, self.profile.errno_of("create_flags"))
        if max_entries > MANY_ENTRIES and "large_mkey" not in self.profile.offers:
            raise Refused(call, errno.EINVAL)
        step = self.profile.entries_rounding
        if not 0 <= max_entries <= 0xFFFF:
            raise Refused(call, errno.ENOMEM)
        granted = min((max_entries + step - 1) // step * step, 0xFFFF)  # 16 bits, and no fewer than asked for (MKY-09)
        key, handle = self._key(), self._next()
        mkey = IndirectKey(
            key >> 8, key, self._pd_of(side, pd, call), create_flags, granted, self.profile.initial_access
        )
        if create_flags & BLOCK_SIGNATURE:
            mkey.state = SignatureState()
        self.tables[side].keys[mkey.index] = mkey
        self._mkeys[handle] = mkey
        return Mkey(handle, side, key, key, granted)

    def _mkey_of(self, mkey: Mkey) -> IndirectKey | None:
        return self._mkeys.get(mkey.handle)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        """The application writes lkey and rkey; the device learns of it with the next configuration (MKY-06)."""
        found = self._mkeys.get(mkey.handle)
        if found is None:
            raise Refused("retag", errno.EINVAL)
        key = mkey.lkey & ~M8 | tag & M8
        return Mkey(mkey.handle, mkey.side, key, key, mkey.max_entries)

    def destroy(self, mkey: Mkey) -> None:
        """Requests that name its keys find none (MKY-02)."""
        found = self._mkeys.pop(mkey.handle, None)
        if found is None:
            raise Refused("mlx5dv_destroy_mkey", errno.EINVAL)
        del self.tables[mkey.side].keys[found.index]

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found = self._mkeys.get(mkey.handle)
        if found is None or found.state is None:
            raise Refused("mlx5dv_mkey_check", self.profile.errno_of("check_without_signature"))
        record, found.state.error = found.state.error, None
        if record is None:
            return None
        kind, expected, actual, offset = record
        return SignatureError(kind, actual, expected, offset)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        given = attr or DekAttr()
        self._pd_of("owner", given.pd, "mlx5dv_dek_create")
        dek = Dek(self._next())
        self.deks.create(dek.handle, key, keytag, given)
        return dek

    def query_dek(self, dek: Dek) -> DekState:
        return self.deks.query(dek.handle)

    def destroy_dek(self, dek: Dek) -> None:
        used = [mkey.crypto.key for mkey in self._mkeys.values() if mkey.crypto is not None]
        self.deks.destroy(dek.handle, used)

    # Queue pairs -----------------------------------------------------------------------------

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        if attributes == DEFAULT_QP and self.default_pair is not None and not self._is_lent:
            self._is_lent = True
            return self.default_pair
        self._look_at(attributes)
        return self._pair(attributes)

    def _look_at(self, attributes: QpAttributes) -> None:
        """Check the attributes of a QP (WRP-03, WRP-21, XCAN-02)."""
        call, profile = "mlx5dv_create_qp", self.profile
        kind, ops = attributes.type, attributes.send_ops & M64
        allowed = OPS_OF_TYPE.get(kind, 0)
        if kind == DCI and not profile.dci_mkey_operations:
            allowed &= ~MKEY_OPS
        wanted = [f"qp.{kind}", *(offer for flag, offer in QP_OFFERS if ops & flag)]
        if attributes.sig_pipelining:
            wanted.append("pipelining")
        if ops & ~allowed or not profile.offers.issuperset(wanted):
            raise Refused(call, profile.errno_of("qp_operations"))
        if attributes.streams:
            most = MOST_STREAMS if kind == DCI and "qp.dci_streams" in profile.offers else 0
            if not 0 < attributes.streams <= most:
                raise Refused(call, profile.errno_of("qp_streams"))

    def _pair(self, attributes: QpAttributes) -> QpPair:
        rooms = self._room(attributes)
        owner = self._end("owner", attributes, rooms)
        if attributes.type == DCI:
            owner.peer = self._answering()
        else:
            owner.peer = self._end("peer", attributes, rooms)
            owner.peer.peer = owner
        return QpPair(owner.qp, owner.peer.qp)

    def _room(self, attributes: QpAttributes) -> Room:
        sizes = (attributes.max_send_wr, attributes.max_recv_wr, attributes.max_send_sge, attributes.max_recv_sge)
        rooms = None
        if min(*sizes, attributes.max_inline_data) >= 0 and max(sizes) <= MOST_WRS:
            rooms = room(self.profile, attributes)
        if rooms is None:
            raise Refused("mlx5dv_create_qp", errno.EINVAL)
        return rooms

    def _end(self, side: Side, attributes: QpAttributes, rooms: Room) -> Queue:
        pd = attributes.pd if attributes.pd is not None and attributes.pd.side == side else None
        domain = self._pd_of(side, pd, "mlx5dv_create_qp")
        handle = self._next()
        qp = Qp(handle, side, 0x100 + handle, rooms.max_inline_data)
        queue = self._queues[handle] = self.parts.queue(handle, side, attributes, rooms, domain, qp)
        return queue

    def _answering(self) -> Queue:
        """The other end of every DCI: the receive queue of the case's DCTs."""
        if self._responder is None:
            self._responder = self._end("peer", RESPONDER, self._room(RESPONDER))
        return self._responder

    def dct(self, key: int) -> int:
        if "qp.dci" not in self.profile.offers:
            raise Refused("mlx5dv_create_qp", errno.EOPNOTSUPP)
        number = 0x100 + self._next()
        self.targets.keys[number] = key & M64
        return number

    def reconnect(self, pair: QpPair) -> QpPair:
        for qp in (pair.owner, pair.peer):
            queue = self._queues.get(qp.handle)
            if queue is None:
                raise Refused("ibv_modify_qp", errno.EINVAL)
            if queue is not self._responder or queue.state == ERR:  # what other DCIs send to is not theirs to empty
                queue.clear()
        return pair

    # Work ------------------------------------------------------------------------------------

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        queue = self._queues.get(qp.handle)
        if queue is None or queue is self._responder:
            return errno.EINVAL
        builder = self._builders.get(queue.room.inline)
        if builder is None:
            builder = self._builders[queue.room.inline] = self.parts.builder(
                self.profile, self.arithmetic, queue.room.inline, self.deks.keys
            )
        section = self.parts.section(queue, builder, self._mkey_of, self._load)
        section.build(requests)
        if section.rule is not None or abort:
            self._disturb(section.touched)
            return 0 if section.rule is None or abort else self.profile.errno_of(section.rule)
        for work in section.posted:
            self.execution.take(queue, work)
        return 0

    def _load(self, addr: int, length: int) -> bytes:
        """The host reads its memory; what is not mapped can't be read."""
        for region in self._memories.values():
            start = addr - region.addr
            if start >= 0 and start + length <= len(region.data):
                return region.data[start : start + length].tobytes()
        raise Refused("ibv_wr_set_inline_data", errno.EFAULT)

    def _disturb(self, touched: Sequence[IndirectKey]) -> None:
        """A failed or aborted section leaves its mkeys in an unknown state: they can't be used (SIG-26)."""
        if self.profile.failed_configuration == "kept":
            return
        for mkey in touched:
            mkey.forget(self.profile.initial_access)
            if mkey.state is not None:
                mkey.state.unknown = True

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        queue = self._queues.get(qp.handle)
        if queue is None or queue.state == RESET or (queue.attributes.type == DCI and queue is not self._responder):
            return errno.EINVAL
        if len(sges) > queue.attributes.max_recv_sge:
            return errno.EINVAL
        if len(queue.receives) >= queue.attributes.max_recv_wr:
            return errno.ENOMEM
        if queue.state == ERR:
            queue.received(wr_id, "wr_flush_err")
        else:
            queue.receives.append(PostedReceive(wr_id, tuple(sges)))
        return 0

    def poll(self, qp: Qp) -> list[Completion]:
        queue = self._queues.get(qp.handle)
        if queue is None or not queue.entries:
            return []
        found = []
        for entry in queue.entries:
            if isinstance(entry, Notice):
                state = entry.mkey.state
                if state is not None and (state.error is None or self.profile.err_unread == "last"):
                    state.error = entry.record
            else:
                found.append(entry.completion)
                if entry.head is not None:
                    queue.tail = entry.head
        queue.entries.clear()
        return found

    def events(self) -> list[AsyncEvent]:
        found = self.execution.events.copy()
        self.execution.events.clear()
        return found

    # Signature pipelining --------------------------------------------------------------------

    def cancel(self, qp: Qp, wr_id: int) -> int:
        queue = self._queues.get(qp.handle)
        return -errno.EINVAL if queue is None else self.execution.cancel(queue, wr_id)

    def resume(self, qp: Qp) -> int:
        queue = self._queues.get(qp.handle)
        return errno.EINVAL if queue is None else self.execution.resume(queue)

    # End -------------------------------------------------------------------------------------

    def release(self, *, healthy: bool) -> None:
        """Delete all objects of the case, healthy or not: creating them again is cheap."""
        self._empty()

    def close(self) -> None:
        self._empty()
