"""Two endpoints and a few words to drive them with; what a test says is what it expects."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.abi.constants import BLOCK_ENUM, MR_ACCESS, SendFlag
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    Completion,
    Configure,
    Interleaved,
    Memory,
    Mkey,
    QpAttributes,
    Read,
    Send,
    SetAccess,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SignatureError,
    SigT10dif,
    Write,
)

SIGNALED = int(SendFlag.SIGNALED)
CONFIGURES = int(SendFlag.INLINE | SendFlag.SIGNALED)
EVERYTHING = int(MR_ACCESS)
INDIRECT, SIGNED = 1, 3
CRCS = {"crc32": 0, "crc32c": 1, "crc64_xp10": 2}
FIELD = {"crc32": 4, "crc32c": 4, "crc64_xp10": 8, "t10": 8, "csum": 8}
ONES = {"crc32": 0xFFFFFFFF, "crc32c": 0xFFFFFFFF, "crc64_xp10": 0xFFFFFFFFFFFFFFFF, "t10": 0xFFFF, "csum": 0xFFFF}
TX = ("send", "write", "peer_read")
RX = ("recv", "read", "peer_write")


def counter(length: int, start: int = 0) -> bytes:
    return bytes((i + (i >> 8)) & 255 for i in range(start, start + length))


def crc(kind: str, seed: int = 0, block: int = 512, comp_mask: int = 0) -> SigBlockDomain:
    return SigBlockDomain(1, SigCrc(CRCS[kind], seed), BLOCK_ENUM[block], comp_mask)


def t10(bg: int = 0, app: int = 0, ref: int = 0, flags: int = 0, block: int = 512, bg_type: int = 0) -> SigBlockDomain:
    return SigBlockDomain(0, SigT10dif(bg_type, bg, app, ref, flags), BLOCK_ENUM[block])


def domain(kind: str, seed: int, block: int = 512) -> SigBlockDomain:
    if kind in CRCS:
        return crc(kind, seed, block)
    return t10(seed, 0x5678, 0xF0DEBC9A, 1, block, bg_type=int(kind == "csum"))


def signature(
    mem: SigBlockDomain | None = None, wire: SigBlockDomain | None = None, check: int = 0xFF, copy: int | None = None
) -> SetSignature:
    return SetSignature(SigBlockAttr(mem, wire, int(copy is not None), check, copy or 0))


class Bench:
    """A model, a pair, and every completion of the last step in `owner` and `peer`."""

    def __init__(self, profile: Profile | None = None, qp: QpAttributes | None = None) -> None:
        self.device = Model(profile)
        self.pair = self.device.qp_pair(qp or QpAttributes())
        self.owner: list[Completion] = []
        self.peer: list[Completion] = []

    # Objects ---------------------------------------------------------------------------------

    def memory(self, data: bytes | int, *, peer: bool = False, misaligned: int = 0, access: int = EVERYTHING) -> Memory:
        fill = data if isinstance(data, bytes) else b"\xee" * data
        memory = self.device.memory("peer" if peer else "owner", len(fill), access=access, misaligned=misaligned)
        self.device.write(memory, 0, fill)
        return memory

    def bytes_of(self, memory: Memory) -> bytes:
        return self.device.read(memory, 0, memory.length).tobytes()

    def mkey(self, flags: int = SIGNED, entries: int = 8) -> Mkey:
        return self.device.mkey("owner", create_flags=flags, max_entries=entries)

    # Configuration ---------------------------------------------------------------------------

    def post(self, *requests: object, peer: bool = False, abort: bool = False) -> int:
        number = self.device.post(self.pair.peer if peer else self.pair.owner, requests, abort=abort)  # type: ignore[arg-type]
        self.poll()
        return number

    def poll(self) -> None:
        self.owner, self.peer = self.device.poll(self.pair.owner), self.device.poll(self.pair.peer)

    def configure(self, mkey: Mkey, *setters: Setter, reset: bool = False, flags: int = CONFIGURES) -> int:
        return self.post(Configure(7, flags, mkey, len(setters), setters, int(reset)))

    def over(
        self, *memories: Memory, flags: int = SIGNED, access: int = EVERYTHING, sig: SetSignature | None = None
    ) -> Mkey:
        """A new mkey over whole buffers."""
        mkey = self.mkey(flags)
        setters: tuple[Setter, ...] = (SetAccess(access), layout(*memories))
        assert self.configure(mkey, *setters, *([sig] if sig else [])) == 0
        assert [c.status for c in self.owner] == ["success"]
        return mkey

    # Data ------------------------------------------------------------------------------------

    def transmit(self, key: int, length: int, by: str = "send", start: int = 0) -> tuple[str, bytes]:
        """(status at the requester, wire bytes); the wire buffer has bytes after them, which must not change."""
        wire = self.memory(length + 64, peer=True)
        here = (Sge(start, length, key),)
        there = Sge(wire.addr, length, wire.lkey)
        if by == "send":
            assert self.device.post_recv(self.pair.peer, 3, (Sge(wire.addr, length + 64, wire.lkey),)) == 0
            self.post(Send(4, SIGNALED, here))
            done = self.owner
        elif by == "write":
            self.post(Write(4, SIGNALED, here, wire.addr, wire.rkey))
            done = self.owner
        else:
            self.post(Read(4, SIGNALED, (there,), start, key), peer=True)
            done = self.peer
        found = self.bytes_of(wire)
        assert found[length:] == b"\xee" * 64
        return done[-1].status, found[:length]

    def receive(self, key: int, data: bytes, by: str = "recv", start: int = 0) -> str:
        """Status of the requester's completion."""
        source = self.memory(data, peer=True)
        there = (Sge(source.addr, len(data), source.lkey),)
        here = Sge(start, len(data), key)
        if by == "recv":
            assert self.device.post_recv(self.pair.owner, 3, (here,)) == 0
            self.post(Send(4, SIGNALED, there), peer=True)
            return self.peer[-1].status
        if by == "read":
            self.post(Read(4, SIGNALED, (here,), source.addr, source.rkey))
            return self.owner[-1].status
        self.post(Write(4, SIGNALED, there, start, key), peer=True)
        return self.peer[-1].status

    def check(self, mkey: Mkey) -> SignatureError | None:
        return self.device.mkey_check(mkey)


def layout(*memories: Memory) -> SetList:
    return SetList(tuple(Sge(m.addr, m.length, m.lkey) for m in memories))


def turns(repeat: int, *entries: tuple[Memory, int, int, int]) -> SetInterleaved:
    """Entries are (memory, start, count, skip)."""
    return SetInterleaved(
        repeat, tuple(Interleaved(m.addr + at, count, skip, m.lkey) for m, at, count, skip in entries)
    )


def statuses(completions: Sequence[Completion]) -> list[str]:
    return [completion.status for completion in completions]
