"""A device while one side of a point is looked at: objects, requests, waits with a deadline."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic, sleep

from mkeyspec.abi.constants import (
    BLOCK_ENUM,
    MR_ACCESS,
    Access,
    BgType,
    CrcType,
    MkeyFlag,
    SendFlag,
    SigBlockFlag,
    SigType,
)
from mkeyspec.device.protocol import (
    Completion,
    Configure,
    Dek,
    DekAttr,
    Device,
    Interleaved,
    LoginAttr,
    Memory,
    Mkey,
    NoSuchCall,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Read,
    Refused,
    Send,
    SetAccess,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    Side,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SignatureError,
    SigT10dif,
    StraySetter,
    Unsupported,
    WorkRequest,
    Write,
)
from mkeyspec.reference.key_wrap import wrap

SIGNALED = int(SendFlag.SIGNALED)
CONFIGURES = int(SendFlag.INLINE | SendFlag.SIGNALED)
EVERYTHING = int(MR_ACCESS)
INDIRECT = int(MkeyFlag.INDIRECT)
SIGNED = int(MkeyFlag.INDIRECT | MkeyFlag.BLOCK_SIGNATURE)
CRCS = {"crc32": CrcType.CRC32, "crc32c": CrcType.CRC32C, "crc64_xp10": CrcType.CRC64_XP10}
OK = "success"


class Unknown(Exception):
    """A side tells nothing; `str()` says why, in one line."""


class Strange(Unknown):
    """The device did what no choice of the point explains."""


class Absent(Unknown):
    """The device has nothing that could be measured here."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A message: the sender's completion, the receiver's (of a SEND), and the bytes at the peer's buffer."""

    sent: Completion
    received: Completion | None = None
    data: bytes = b""

    @property
    def status(self) -> str:
        return self.sent.status


class Bench:
    """`deadline`: longest wait for a completion; `quiet`: how long nothing must come to be nothing. In seconds.
    `rights`: what keys of the probes are given, as far as the device takes it.
    """

    def __init__(self, device: Device, deadline: float, quiet: float, rights: int = EVERYTHING) -> None:
        self.device = device
        self.deadline = deadline
        self.quiet = quiet
        self.rights = rights
        self.offers = device.capabilities().offers
        self.numbers = device.capabilities().values
        self.healthy = True
        self.logged_in = False
        self._pair: QpPair | None = None
        self._ids = 100

    @property
    def pair(self) -> QpPair:
        if self._pair is None:
            self._pair = self.device.qp_pair(QpAttributes())
        return self._pair

    def use(self, attributes: QpAttributes) -> QpPair:
        """From now on another pair."""
        self._pair = self.device.qp_pair(attributes)
        return self._pair

    def again(self) -> None:
        """After an error: the pair back to RTS, with empty queues."""
        if self._pair is not None:
            self._pair = self.device.reconnect(self._pair)

    def id(self) -> int:
        self._ids += 1
        return self._ids

    # Objects ---------------------------------------------------------------------------------

    def memory(self, data: bytes, side: Side = "owner", *, access: int = EVERYTHING, pd: Pd | None = None) -> Memory:
        memory = self.device.memory(side, len(data), access=access, pd=pd)
        self.device.write(memory, 0, data)
        return memory

    def bytes_of(self, memory: Memory) -> bytes:
        return self.device.read(memory, 0, memory.length).tobytes()

    def mkey(self, flags: int = INDIRECT, entries: int = 8, pd: Pd | None = None) -> Mkey:
        return self.device.mkey("owner", create_flags=flags, max_entries=entries, pd=pd)

    def over(self, memory: Memory, *setters: Setter, flags: int = 0, access: int | None = None) -> Mkey:
        """An mkey over a whole buffer, configured; signed if one of the setters asks for it."""
        signed = any(setter.__class__ is SetSignature for setter in setters)
        mkey = self.mkey(flags or (SIGNED if signed else INDIRECT))
        self.must(
            self.configure(mkey, SetAccess(self.rights if access is None else access), layout(memory), *setters),
            "a configuration",
        )
        return mkey

    def dek(self, keytag: bytes | None = None) -> Dek:
        """A DEK, of a key in plaintext where the device takes it, else of a wrapped one, with a login."""
        key = bytes(range(16)) + bytes(range(32, 48))
        if "crypto.plaintext" in self.offers:
            return self.device.dek(key, keytag)
        if "crypto.login" not in self.offers:
            raise Unknown("the device takes no DEK without a login")
        self.login()
        inside = wrap(key + (keytag or b""), self.device.lab_login().import_kek)
        attr = DekAttr(key_size=0, comp_mask=0, wrapped=True, has_keytag=keytag is not None)
        return self.device.dek(inside, None, attr)

    def login_attr(self) -> LoginAttr:
        lab = self.device.lab_login()
        return LoginAttr(lab.credential_id, lab.import_kek_id, wrap(lab.credential, lab.import_kek))

    def login(self) -> None:
        """A session, unless there is one."""
        if not self.logged_in:
            self.device.login(self.login_attr())
            self.logged_in = True
            self.healthy = False

    # Work ------------------------------------------------------------------------------------

    def configure(
        self, mkey: Mkey, *setters: Setter, count: int | None = None, flags: int = CONFIGURES, conf_flags: int = 0
    ) -> str:
        """`success`, the status of the completion, or the name of the errno."""
        number = len(setters) if count is None else count
        return self.done(Configure(self.id(), flags, mkey, number, setters, conf_flags))

    def done(self, request: WorkRequest) -> str:
        """One signaled request of the owner: the status of its completion, or the name of the errno."""
        assert not isinstance(request, StraySetter)
        refused = self.device.post(self.pair.owner, (request,))
        if refused:
            self.healthy = False
            return errno_name(refused)
        return self.completion(self.pair.owner, request.wr_id).status

    def must(self, outcome: str, what: str) -> None:
        if outcome != OK:
            raise Strange(f"{what} that is right ends with {outcome}")

    def completion(self, qp: Qp, wr_id: int) -> Completion:
        """The completion of a request. Raises Unknown after the deadline. Others are left aside."""
        found = self.await_one(qp, wr_id, self.deadline)
        if found is None:
            self.healthy = False
            raise Unknown(f"no completion came within {self.deadline:g} s")
        return found

    def await_one(self, qp: Qp, wr_id: int, seconds: float) -> Completion | None:
        end = monotonic() + seconds
        while True:
            late = monotonic() >= end
            found = None
            for one in self.device.poll(qp):
                if one.status != OK:
                    self.healthy = False
                if one.wr_id == wr_id and found is None:
                    found = one
            if found is not None:
                return found
            if late:
                return None
            sleep(5e-5)

    def send(
        self, sges: Sequence[Sge], into: Sequence[Sge], *, by: Side = "owner", invalidate: int | None = None
    ) -> Moved:
        """A SEND of one end and a receive of the other."""
        pair = self.pair
        here, there = (pair.owner, pair.peer) if by == "owner" else (pair.peer, pair.owner)
        taken = self.id()
        if number := self.device.post_recv(there, taken, into):
            raise Strange(f"ibv_post_recv gives {errno_name(number)}")
        request = Send(self.id(), SIGNALED, tuple(sges), invalidate_rkey=invalidate)
        if number := self.device.post(here, (request,)):
            raise Strange(f"a SEND gives {errno_name(number)}")
        sent = self.completion(here, request.wr_id)
        wait = self.deadline if sent.status in (OK, "rem_op_err", "rem_inv_req_err", "rem_access_err") else self.quiet
        return Moved(sent, self.await_one(there, taken, wait))

    def transmit(self, key: int, length: int, addr: int = 0) -> Moved:
        """Wire bytes of a key of the owner, as a SEND lays them down at the peer."""
        wire = self.memory(b"\xee" * max(length, 1), "peer")
        moved = self.send([Sge(addr, length, key)], [Sge(wire.addr, length, wire.lkey)])
        return replace(moved, data=self.bytes_of(wire)[:length])

    def receive(self, key: int, data: bytes, addr: int = 0) -> Moved:
        """Wire bytes of the peer into a key of the owner."""
        source = self.memory(data, "peer")
        return self.send([sge(source)], [Sge(addr, len(data), key)], by="peer")

    def remote_write(self, key: int, data: bytes, addr: int = 0) -> str:
        """An RDMA WRITE of the peer to a key of the owner."""
        source = self.memory(data, "peer")
        return self._remote(Write(self.id(), SIGNALED, (sge(source),), addr, key))

    def remote_read(self, key: int, length: int, addr: int = 0) -> str:
        target = self.memory(bytes(length), "peer")
        return self._remote(Read(self.id(), SIGNALED, (sge(target),), addr, key))

    def remote(self, request: WorkRequest) -> str:
        return self._remote(request)

    def _remote(self, request: WorkRequest) -> str:
        assert not isinstance(request, StraySetter)
        if number := self.device.post(self.pair.peer, (request,)):
            raise Strange(f"a request of the peer gives {errno_name(number)}")
        return self.completion(self.pair.peer, request.wr_id).status

    def settle(self) -> None:
        """Poll both ends until nothing came for `quiet` seconds."""
        end = monotonic() + self.quiet
        while True:
            late = monotonic() >= end
            self.device.poll(self.pair.owner)
            self.device.poll(self.pair.peer)
            if late:
                return
            sleep(5e-5)

    def error_of(self, mkey: Mkey) -> SignatureError | None:
        """mkey_check, asked until there is an error or nothing came for `quiet` seconds."""
        end = monotonic() + self.quiet
        while True:
            late = monotonic() >= end
            self.device.poll(self.pair.owner)
            self.device.poll(self.pair.peer)
            found = self.device.mkey_check(mkey)
            if found is not None or late:
                return found
            sleep(5e-5)


def rights_of(device: Device, deadline: float, quiet: float) -> int:
    """The most rights that an mkey may be given, of those that probes use: all, or without atomics, or fewer."""
    for rights in (EVERYTHING, EVERYTHING & ~int(Access.REMOTE_ATOMIC), int(Access.LOCAL_WRITE)):
        bench = Bench(device, deadline, quiet)
        try:
            if bench.configure(bench.mkey(), SetAccess(rights)) == OK:
                return rights
        except (Refused, Unsupported, NoSuchCall, Unknown):
            continue
        finally:
            with suppress(Refused):
                device.release(healthy=bench.healthy)
    return 0


def errno_name(number: int) -> str:
    """Of two names of a number, that of the man pages."""
    return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode.get(number, f"errno {number}")


def sge(memory: Memory) -> Sge:
    """The whole buffer."""
    return Sge(memory.addr, memory.length, memory.lkey)


def layout(memory: Memory) -> SetList:
    return SetList((sge(memory),))


def turns(repeat: int, *entries: tuple[Memory, int, int]) -> SetInterleaved:
    """(buffer, bytes_count, bytes_skip) of each entry."""
    return SetInterleaved(
        repeat, tuple(Interleaved(memory.addr, count, skip, memory.lkey) for memory, count, skip in entries)
    )


def crc(kind: str, seed: int = 0, block: int = 512) -> SigBlockDomain:
    return SigBlockDomain(int(SigType.CRC), SigCrc(int(CRCS[kind]), seed), BLOCK_ENUM[block])


def t10(
    bg: int = 0, app: int = 0, ref: int = 0, flags: int = 0, *, block: int = 512, csum: bool = False
) -> SigBlockDomain:
    kind = int(BgType.CSUM if csum else BgType.CRC)
    return SigBlockDomain(int(SigType.T10DIF), SigT10dif(kind, bg, app, ref, flags), BLOCK_ENUM[block])


def signature(
    mem: SigBlockDomain | None = None, wire: SigBlockDomain | None = None, check: int = 0, copy: int | None = None
) -> SetSignature:
    """`check`: no byte of a field is checked, unless it says so."""
    flags = 0 if copy is None else int(SigBlockFlag.COPY_MASK)
    return SetSignature(SigBlockAttr(mem, wire, flags, check, copy or 0))
