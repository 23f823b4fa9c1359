"""Work requests of the plan to work requests of the device: addresses, keys, structs, numbers set wrong on purpose."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Union

from mkeyspec import plan
from mkeyspec.constants import BLOCK_ENUM, MEMBER_BITS, SendFlag, SigBlockFlag, SigType
from mkeyspec.device import protocol
from mkeyspec.device.protocol import Unsupported
from mkeyspec.plan import At, Options
from mkeyspec.run.bench import Bench, MkeyState, byte_lens
from mkeyspec.run.buffer import inside
from mkeyspec.value.layout import Chunk, Interleaved, Layout, Part, entries_of, resolve
from mkeyspec.value.live import NoValue, evaluate
from mkeyspec.value.signature import Crc, Domain

INLINE = int(SendFlag.INLINE)
SIGNALED = int(SendFlag.SIGNALED)

OPCODES: dict[type, str] = {
    plan.Configure: "driver1",
    plan.MrList: "driver1",
    plan.MrInterleaved: "driver1",
    plan.Send: "send",
    plan.Write: "rdma_write",
    plan.Read: "rdma_read",
    plan.FetchAdd: "fetch_add",
    plan.Invalidate: "local_inv",
    plan.Memcpy: "driver3",
    plan.RawWqe: "driver2",
}
"""The opcode a successful completion of each request carries (ibv_wc_opcode, mlx5dv.h MLX5DV_WC_*)."""


@dataclass(slots=True)
class Planned:
    """A request ready to be posted, and what its completion is judged by.

    `delivers`: bytes that arrive in a receive of the other end; None if the request uses none. `byte_lens`: of its own
    completion, where that is defined and known (RDMA READ and atomics). `mkeys`: those that it names; `layout`: the
    mkey that it gives a layout, and the mkeys in that.
    """

    at: At
    request: protocol.WorkRequest
    opcode: str
    wr_id: int
    signaled: bool
    names_mkey: bool = False
    delivers: int | None = None
    by_write: bool = False
    imm: int | None = None
    invalidated: int | None = None
    byte_lens: tuple[int, ...] = ()
    dc: protocol.DcAddress | None = None
    mkeys: list[MkeyState] = field(default_factory=list)
    layout: tuple[MkeyState, tuple[MkeyState, ...]] | None = None
    domains: tuple[Domain | None, Domain | None] | None = None
    """Of a configuration: the signature that it leaves, memory and wire."""


class Members:
    """Overrides (`but`) of one struct, evaluated; each must be taken by a member of that struct."""

    __slots__ = ("left",)

    def __init__(self, overrides: plan.Overrides, bench: Bench) -> None:
        self.left = {name: bench.member(value, name) for name, value in overrides} if overrides else None

    def take(self, name: str, otherwise: int) -> int:
        return otherwise if self.left is None else self.left.pop(name, otherwise)

    def retag(self, lkey: int, rkey: int) -> tuple[int, int]:
        """Both keys with the tag (lowest byte) of `but tag`, if there is one; it is then taken."""
        if self.left is None or "tag" not in self.left:
            return lkey, rkey
        tag = self.left.pop("tag")
        return lkey & ~0xFF | tag, rkey & ~0xFF | tag

    def done(self, what: str) -> None:
        if self.left:
            raise Unsupported(f"`but {next(iter(self.left))}` of {what}")


def flags_of(options: Options, signaled: bool | None = None) -> int:
    """ibv_send_flags without INLINE."""
    flags = 0
    if options.signaled if signaled is None else signaled:
        flags |= SIGNALED
    if options.fence:
        flags |= SendFlag.FENCE
    if options.solicited:
        flags |= SendFlag.SOLICITED
    return int(flags)


class Builder:
    """Builds requests out of what stands on the bench."""

    __slots__ = ("bench", "named", "reached")

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.named: list[MkeyState] = []
        """The mkeys that the request under way names."""
        self.reached: list[MkeyState] = []
        """The mkeys whose keys it has, those in its layout included."""

    # Keys and addresses ----------------------------------------------------------------------

    def names_mkey(self, name: str) -> bool:
        """Whether `name` is an mkey; if so the request under way names it."""
        mkey = self.bench.mkeys.get(name)
        if mkey is None:
            return False
        self.named.append(mkey)
        return True

    def place(self, part: Part) -> tuple[int, int, int, int]:
        """(addr, length, lkey, rkey) of a part; the address within an mkey counts from 0 (zero-based)."""
        bench = self.bench
        start, length = bench.evaluate(part.start), bench.evaluate(part.length)
        buffer = bench.buffers.get(part.name)
        if buffer is not None:
            addr, lkey, rkey = buffer.addr + start, buffer.memory.lkey, buffer.memory.rkey
            if not part.but:
                inside(buffer, addr, length)
                return addr, length, lkey, rkey
        else:
            if start < 0 or length < 0:
                raise NoValue(f"`{part.name}[{start} +: {length}]` is no place")
            if length >> MEMBER_BITS["length"]:
                raise NoValue(f"`length` has {MEMBER_BITS['length']} bits, and {length:#x} does not fit")
            mkey = bench.mkeys[part.name]
            self.reached.append(mkey)
            addr, lkey, rkey = start, mkey.handle.lkey, mkey.handle.rkey
        if part.but:
            but = Members(part.but, bench)
            lkey, rkey = but.retag(lkey, rkey)
            addr, length = but.take("addr", addr), but.take("length", length)
            lkey, rkey = but.take("lkey", lkey), but.take("rkey", rkey)
            but.done(part.name)
            if buffer is not None and lkey == buffer.memory.lkey:
                inside(buffer, addr, length, meant=True)
        return addr, length, lkey, rkey

    def sge(self, part: Part) -> protocol.Sge:
        addr, length, lkey, _ = self.place(part)
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
            buffer = self.bench.buffers.get(parts[0].name)
            if buffer is not None and sges[0].lkey == buffer.memory.lkey:
                inside(buffer, sges[0].addr, sges[0].length, meant=True)
        return tuple(sges), named

    def remote(self, part: Part, but: Members, length: int) -> tuple[int, int, bool]:
        """(remote address, rkey, whether it is an mkey) of a request that moves `length` bytes."""
        at, _, _, key = self.place(part)
        named = self.names_mkey(part.name)
        rkey = but.retag(0, key)[1] if named else key
        addr, rkey = but.take("remote_addr", at), but.take("rkey", rkey)
        buffer = self.bench.buffers.get(part.name)
        if buffer is not None and rkey == buffer.memory.rkey:
            inside(buffer, addr, length, meant=addr != at or bool(part.but))
        return addr, rkey, named

    def dc(self, options: Options, but: Members | None = None) -> protocol.DcAddress | None:
        if options.dct is None:
            return None
        number, key = self.bench.dcts[options.dct]
        if but is not None:
            number, key = but.take("dctn", number), but.take("dc_key", key)
        return protocol.DcAddress(number, key, options.stream)

    # Setters ---------------------------------------------------------------------------------

    def layout(self, layout: Layout, but: Members) -> Union[protocol.SetList, protocol.SetInterleaved]:
        resolved = layout if _fixed(layout) else resolve(layout, self.bench.read)
        if isinstance(resolved, Interleaved):
            entries = []
            for chunk in entries_of(resolved):
                assert isinstance(chunk, Chunk)
                own = Members(chunk.part.but, self.bench)
                addr, _, lkey, _ = self.place(Part(chunk.part.name, chunk.part.start, 0))
                self._reaches(resolved, chunk, addr, meant=bool(chunk.part.but) or but.left is not None)
                entries.append(
                    protocol.Interleaved(
                        own.take("addr", addr),
                        own.take("bytes_count", self.bench.member(chunk.count, "count")),
                        own.take("bytes_skip", self.bench.member(chunk.skip, "skip")),
                        own.take("lkey", lkey),
                    )
                )
                own.done(f"an entry of {chunk.part.name}")
            return protocol.SetInterleaved(
                but.take("repeat_count", self.bench.member(resolved.repeat, "repeat")), tuple(entries)
            )
        return protocol.SetList(tuple(self.sge(part) for part in entries_of(resolved) if isinstance(part, Part)))

    def _reaches(self, layout: Interleaved, chunk: Chunk, addr: int, *, meant: bool) -> None:
        """The last repeat of an entry must end in its buffer."""
        buffer = self.bench.buffers.get(chunk.part.name)
        repeat, count, skip = (self.bench.evaluate(value) for value in (layout.repeat, chunk.count, chunk.skip))
        if buffer is not None and repeat > 0 and count > 0:
            inside(buffer, addr, (repeat - 1) * (count + skip) + count, meant=meant)

    def setter(self, setter: plan.Setter) -> protocol.Setter:
        bench = self.bench
        but = Members(setter.but, bench)
        built: protocol.Setter
        if isinstance(setter, plan.SetLayout):
            built = self.layout(setter.layout, but)
        elif isinstance(setter, plan.SetAccess):
            built = protocol.SetAccess(but.take("access_flags", bench.member(setter.flags, "access")))
        elif isinstance(setter, plan.SetSignature):
            built = protocol.SetSignature(
                protocol.SigBlockAttr(
                    mem=self.domain(setter.mem),
                    wire=self.domain(setter.wire),
                    flags=but.take("flags", 0 if setter.copy_mask is None else int(SigBlockFlag.COPY_MASK)),
                    check_mask=but.take("check_mask", setter.check_mask),
                    copy_mask=but.take("copy_mask", setter.copy_mask or 0),
                    comp_mask=but.take("comp_mask", 0),
                )
            )
        else:
            built = protocol.SetCrypto(
                protocol.CryptoAttr(
                    crypto_standard=but.take("crypto_standard", 0),
                    encrypt_on_tx=bool(but.take("encrypt_on_tx", int(setter.encrypt_on_tx))),
                    signature_crypto_order=but.take("signature_crypto_order", setter.order),
                    data_unit_size=but.take("data_unit_size", BLOCK_ENUM.get(setter.data_unit, -1)),
                    initial_tweak=setter.tweak.to_bytes(16, "little"),
                    dek=bench.deks[setter.dek],
                    keytag=setter.keytag or bytes(8),
                    comp_mask=but.take("comp_mask", 0),
                )
            )
        but.done("a setter")
        return built

    def domain(self, domain: Domain | None) -> protocol.SigBlockDomain | None:
        if domain is None:
            return None
        if not domain.but and not domain.signature.but:
            return _plain_domain(domain)
        but = Members(domain.but, self.bench)
        own = Members(domain.signature.but, self.bench)
        plain = _plain_domain(domain)
        sig: Union[protocol.SigCrc, protocol.SigT10dif]
        if isinstance(plain.sig, protocol.SigCrc):
            sig = protocol.SigCrc(own.take("type", plain.sig.type), own.take("seed", plain.sig.seed))
        else:
            sig = protocol.SigT10dif(
                own.take("bg_type", plain.sig.bg_type),
                own.take("bg", plain.sig.bg),
                own.take("app_tag", plain.sig.app_tag),
                own.take("ref_tag", plain.sig.ref_tag),
                own.take("flags", plain.sig.flags),
            )
        built = protocol.SigBlockDomain(
            but.take("sig_type", plain.sig_type),
            sig,
            but.take("block_size", plain.block_size),
            but.take("comp_mask", plain.comp_mask),
        )
        own.done("a signature")
        but.done("a domain")
        return built

    # Requests --------------------------------------------------------------------------------

    def request(self, wr: plan.Wr, signal_all: bool = False) -> Planned:
        """`wr` ready to post. `signal_all`: the QP signals whatever its requests say (sq_sig_all)."""
        at = wr.at
        if isinstance(wr, plan.StraySetter):
            return Planned(at, protocol.StraySetter(self.setter(wr.setter)), "", -1, False)
        options = wr.options
        bench = self.bench
        wr_id = bench.number() if options.id is None else options.id
        flags = flags_of(options)
        but = Members(options.but, bench)
        self.named, self.reached = [], []
        planned = Planned(at, _NOTHING, OPCODES[type(wr)], wr_id, options.signaled or signal_all, mkeys=self.named)
        if options.dct is not None:
            planned.dc = self.dc(options)

        if isinstance(wr, (plan.Configure, plan.MrList, plan.MrInterleaved)):
            planned.names_mkey = True
            state = bench.mkeys[wr.mkey]
            self.named.append(state)
            mkey = state.handle
            flags |= INLINE if but.take("inline", 1) else 0
            if isinstance(wr, plan.Configure):
                planned.request = protocol.Configure(
                    wr_id,
                    flags,
                    mkey,
                    but.take("num_setters", len(wr.setters)),
                    tuple([self.setter(setter) for setter in wr.setters]),
                    but.take("conf_flags", 1 if wr.reset_signature else 0),
                    but.take("comp_mask", 0),
                )
            else:
                access = but.take("access_flags", bench.member(wr.access, "access"))
                layout = self.layout(wr.layout, but)
                if isinstance(layout, protocol.SetList):
                    planned.request = protocol.MrList(wr_id, flags, mkey, access, layout.sges)
                else:
                    planned.request = protocol.MrInterleaved(
                        wr_id, flags, mkey, access, layout.repeat_count, layout.entries
                    )
            if isinstance(wr, plan.Configure):
                for one in wr.setters:
                    if isinstance(one, plan.SetSignature):
                        planned.domains = (one.mem, one.wire)
                if planned.domains is None and wr.reset_signature:
                    planned.domains = (None, None)
            if not isinstance(wr, plan.Configure) or any(isinstance(one, plan.SetLayout) for one in wr.setters):
                planned.layout = (state, tuple(dict.fromkeys(self.reached)))
        elif isinstance(wr, plan.Send):
            sges, planned.names_mkey = self.sges(wr.data, but)
            planned.imm = None if wr.imm is None else bench.member(wr.imm, "imm")
            if wr.invalidate is not None:
                key = self.place(Part(wr.invalidate, 0, 0))[3]
                planned.invalidated = but.take("invalidate_rkey", key)
            planned.delivers = sum(sge.length for sge in sges)
            planned.request = protocol.Send(wr_id, flags, sges, planned.imm, planned.invalidated, self.dc(options, but))
        elif isinstance(wr, plan.Write):
            sges, local = self.sges(wr.data, but)
            addr, rkey, far = self.remote(wr.to, but, sum(sge.length for sge in sges))
            planned.names_mkey = local or far
            if wr.imm is not None:
                planned.imm = bench.member(wr.imm, "imm")
                planned.delivers, planned.by_write = sum(sge.length for sge in sges), True
            planned.request = protocol.Write(wr_id, flags, sges, addr, rkey, planned.imm, self.dc(options, but))
        elif isinstance(wr, plan.Read):
            sges, local = self.sges(wr.into, but)
            addr, rkey, far = self.remote(wr.source, but, sum(sge.length for sge in sges))
            planned.names_mkey = local or far
            planned.byte_lens = self._answer(sum(sge.length for sge in sges), len(sges))
            planned.request = protocol.Read(wr_id, flags, sges, addr, rkey, self.dc(options, but))
        elif isinstance(wr, plan.FetchAdd):
            sges, local = self.sges((wr.into,), but)
            addr, rkey, far = self.remote(wr.source, but, 8)
            planned.names_mkey = local or far
            planned.byte_lens = self._answer(8, 1)
            planned.request = protocol.FetchAdd(
                wr_id, flags, sges[0], addr, rkey, bench.member(wr.add, "add"), self.dc(options, but)
            )
        elif isinstance(wr, plan.Invalidate):
            planned.names_mkey = True
            rkey = but.take("rkey", bench.mkeys[wr.mkey].handle.rkey)
            planned.request = protocol.LocalInv(wr_id, flags, rkey, wr.by == "post_send")
        elif isinstance(wr, plan.Memcpy):
            source, target = self.place(wr.source), self.place(wr.to)
            planned.names_mkey = self.names_mkey(wr.source.name) or self.names_mkey(wr.to.name)
            count = but.take("length", source[1])
            for part, (addr, _, _, _) in ((wr.source, source), (wr.to, target)):
                buffer = bench.buffers.get(part.name)
                if buffer is not None:
                    inside(buffer, addr, count, meant=count != source[1] or bool(part.but))
            planned.request = protocol.Memcpy(wr_id, flags, target[2], target[0], source[2], source[0], count)
        else:
            planned.request = protocol.RawWqe(wr_id, flags, evaluate(wr.wqe, bench.read))
        but.done("a work request")
        return planned

    def _answer(self, length: int, pieces: int) -> tuple[int, ...]:
        """What byte_len may be of a request that an answer fills."""
        signed = [mkey for mkey in self.named if mkey.signed]
        return () if signed and pieces > 1 else byte_lens(signed, length)


_NOTHING = protocol.RawWqe(0, 0, b"")


@lru_cache(maxsize=1024)
def _plain_domain(domain: Domain) -> protocol.SigBlockDomain:
    """The struct of a domain, without its overrides."""
    signature = domain.signature
    size = BLOCK_ENUM.get(domain.block)
    if size is None:
        raise Unsupported(f"there is no mlx5dv_block_size for {domain.block} bytes")
    if isinstance(signature, Crc):
        return protocol.SigBlockDomain(int(SigType.CRC), protocol.SigCrc(signature.type, signature.seed), size)
    sig = protocol.SigT10dif(signature.bg_type, signature.bg, signature.app_tag, signature.ref_tag, signature.flags)
    return protocol.SigBlockDomain(int(SigType.T10DIF), sig, size)


def _fixed(layout: Layout) -> bool:
    """Whether a layout can be walked as it is: nothing repeated by a live number."""
    if isinstance(layout, Interleaved):
        entries: tuple[object, ...] = layout.entries
    else:
        entries = layout.parts
    return all(type(entry) is Part or type(entry) is Chunk for entry in entries)
