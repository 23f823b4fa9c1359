"""Translates parts of buffers and mkeys to addresses and keys: SGEs, remote addresses, DC addresses."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.abi.constants import MEMBER_BITS, SendFlag
from mkeyspec.device import protocol
from mkeyspec.plan import Options
from mkeyspec.run.buffer import inside
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.key_owner import owner_of
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.overrides import Members
from mkeyspec.value.layout import Part
from mkeyspec.value.live import NoValue


class Addresses:
    """Addresses and keys for the requests of a section, in order. Collects the mkeys that a request names and
    reaches."""

    __slots__ = ("named", "reached", "state")

    def __init__(self, state: CaseState) -> None:
        self.state = state
        self.named: list[MkeyState] = []
        """The mkeys that the request under way names."""
        self.reached: list[MkeyState] = []
        """The mkeys whose keys it has, those in its layout included."""

    def names_mkey(self, name: str) -> bool:
        """Whether `name` is an mkey; if so the request under way names it."""
        mkey = self.state.mkeys.get(name)
        if mkey is None:
            return False
        self.named.append(mkey)
        return True

    def resolve(self, part: Part) -> tuple[int, int, int, int]:
        """(addr, length, lkey, rkey) of a part; the address within an mkey counts from 0 (zero-based)."""
        state = self.state
        start, length = state.evaluate(part.start), state.evaluate(part.length)
        buffer = state.buffers.get(part.name)
        if buffer is not None:
            addr, lkey, rkey = buffer.addr + start, buffer.memory.lkey, buffer.memory.rkey
            if not part.but:
                inside(buffer, addr, length)
                return addr, length, lkey, rkey
        else:
            if start < 0 or length < 0:
                raise NoValue(f"`{part.name}[{start} +: {length}]` is not a place")
            if length >> MEMBER_BITS["length"]:
                raise NoValue(f"`length` has {MEMBER_BITS['length']} bits, and {length:#x} does not fit")
            mkey = state.mkeys[part.name]
            self.reached.append(mkey)
            addr, lkey, rkey = start, mkey.handle.lkey, mkey.handle.rkey
        if part.but:
            but = Members(part.but, state)
            lkey, rkey = but.retag(lkey, rkey)
            addr, length = but.take("addr", addr), but.take("length", length)
            lkey, rkey = but.take("lkey", lkey), but.take("rkey", rkey)
            but.done(part.name)
            if buffer is not None and lkey == buffer.memory.lkey:
                inside(buffer, addr, length, meant=True)
        return addr, length, lkey, rkey

    def sge(self, part: Part) -> protocol.Sge:
        addr, length, lkey, _ = self.resolve(part)
        return protocol.Sge(addr, length, lkey)

    def sges(self, parts: tuple[Part, ...], but: Members) -> tuple[tuple[protocol.Sge, ...], bool]:
        """The SGEs, and whether one of them names an mkey. Overrides of the request apply to its first SGE."""
        named = False
        sges = []
        for part in parts:
            named = self.names_mkey(part.name) or named
            sges.append(self.sge(part))
        if but.left is not None and sges:
            first = sges[0]
            lkey = but.retag(first.lkey, 0)[0] if named else first.lkey
            sges[0] = protocol.Sge(
                but.take("addr", first.addr), but.take("length", first.length), but.take("lkey", lkey)
            )
            buffer = self.state.buffers.get(parts[0].name)
            if buffer is not None and sges[0].lkey == buffer.memory.lkey:
                inside(buffer, sges[0].addr, sges[0].length, meant=True)
        return tuple(sges), named

    def fills(self, parts: Sequence[Part], sges: Sequence[protocol.Sge]) -> tuple[tuple[MkeyState | None, int], ...]:
        """The pieces of a message that fills these (`mkey_state.byte_lens`)."""
        mkeys = [self.state.mkeys.get(part.name) for part in parts]
        return tuple(
            (mkey if mkey is not None and mkey.signed else None, sge.length)
            for mkey, sge in zip(mkeys, sges, strict=True)
        )

    def remote(self, part: Part, but: Members, length: int) -> tuple[int, int, bool]:
        """(remote address, rkey, whether it is an mkey) of a request that moves `length` bytes."""
        at, _, _, key = self.resolve(part)
        named = self.names_mkey(part.name)
        rkey = but.retag(0, key)[1] if named else key
        addr, rkey = but.take("remote_addr", at), but.take("rkey", rkey)
        buffer = self.state.buffers.get(part.name)
        if buffer is not None and rkey == buffer.memory.rkey:
            inside(buffer, addr, length, meant=addr != at or bool(part.but))
        return addr, rkey, named

    def is_key(self, name: str, key: int, *, remote: bool = False) -> bool:
        """Whether a key, given in the place of that of the buffer or mkey `name`, is of anything."""
        buffer, mkey = self.state.buffers.get(name), self.state.mkeys.get(name)
        owner = buffer if buffer is not None else mkey.handle if mkey is not None else None
        return owner is None or owner_of(self.state, key, owner.side, remote=remote, named=name) is not None

    def is_astray(self, wr: plan.Wr, request: protocol.WorkRequest) -> bool:
        """Whether the first local key of a request, its remote key, or its address of a DCT is not that of what `wr`
        names, and of nothing else. The message then fails before its first byte, if it fails."""
        remote, local, dct = wr.remote(), wr.local()[:1], wr.options.dct
        rkey: int | None = None
        match request:
            case protocol.Send():
                sges = request.sges
            case protocol.Write() | protocol.Read():
                sges, rkey = request.sges, request.rkey
            case (
                protocol.FetchAdd() | protocol.CompareSwap()
            ):  # the local key is looked at when the answer comes: the other end has added by then
                sges, rkey = (), request.rkey
            case _:
                return False
        if request.flags & SendFlag.INLINE:
            sges = ()
        if dct is not None and request.dc is not None and (request.dc.dct, request.dc.key) != self.state.dcts[dct]:
            return True
        if any(not self.is_key(part.name, sge.lkey) for part, sge in zip(local, sges, strict=False)):
            return True
        return remote is not None and rkey is not None and not self.is_key(remote.name, rkey, remote=True)

    def dc(self, options: Options, but: Members | None = None) -> protocol.DcAddress | None:
        if options.dct is None:
            return None
        number, key = self.state.dcts[options.dct]
        if but is not None:
            number, key = but.take("dctn", number), but.take("dc_key", key)
        return protocol.DcAddress(number, key, options.stream)
