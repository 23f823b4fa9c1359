"""Translates setters of the plan to setters of the device: layouts, access flags, signatures, crypto."""

from __future__ import annotations

from functools import lru_cache
from typing import Union

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_ENUM, SigBlockFlag, SigType
from mkeyspec.device import protocol
from mkeyspec.device.protocol import NoSuchCall
from mkeyspec.run.addresses import Addresses
from mkeyspec.run.buffer import inside
from mkeyspec.run.overrides import Members
from mkeyspec.value.layout import Chunk, Interleaved, Layout, List, Part
from mkeyspec.value.signature import Crc, Domain, T10Dif


class Setters:
    """Builds setters from the state of the case."""

    __slots__ = ("addresses", "state")

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self.state = addresses.state

    def layout(self, layout: Layout, but: Members) -> Union[protocol.SetList, protocol.SetInterleaved]:
        resolved = layout if _fixed(layout) else layout.resolve(self.state.read)
        match resolved:
            case List():
                return protocol.SetList(tuple(self.addresses.sge(part) for part in resolved.posted()))
            case Interleaved():
                entries = tuple(self._chunk(resolved, chunk, but) for chunk in resolved.posted())
                repeat = but.take("repeat_count", self.state.member(resolved.repeat, "repeat"))
                return protocol.SetInterleaved(repeat, entries)
            case _:
                assert_never(resolved)

    def _chunk(self, layout: Interleaved, chunk: Chunk, but: Members) -> protocol.Interleaved:
        own = Members(chunk.part.but, self.state)
        addr, _, lkey, _ = self.addresses.resolve(Part(chunk.part.name, chunk.part.start, 0))
        self._reaches(layout, chunk, addr, meant=bool(chunk.part.but) or but.left is not None)
        built = protocol.Interleaved(
            own.take("addr", addr),
            own.take("bytes_count", self.state.member(chunk.count, "count")),
            own.take("bytes_skip", self.state.member(chunk.skip, "skip")),
            own.take("lkey", lkey),
        )
        own.done(f"an entry of {chunk.part.name}")
        return built

    def _reaches(self, layout: Interleaved, chunk: Chunk, addr: int, *, meant: bool) -> None:
        """The last repeat of an entry must end in its buffer."""
        buffer = self.state.buffers.get(chunk.part.name)
        repeat, count, skip = (self.state.evaluate(value) for value in (layout.repeat, chunk.count, chunk.skip))
        if buffer is not None and repeat > 0 and count > 0:
            inside(buffer, addr, (repeat - 1) * (count + skip) + count, meant=meant)

    def setter(self, setter: plan.Setter) -> protocol.Setter:
        state = self.state
        but = Members(setter.but, state)
        built: protocol.Setter
        match setter:
            case plan.SetLayout():
                built = self.layout(setter.layout, but)
            case plan.SetAccess():
                built = protocol.SetAccess(but.take("access_flags", state.member(setter.flags, "access")))
            case plan.SetSignature():
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
            case plan.SetCrypto():
                built = protocol.SetCrypto(
                    protocol.CryptoAttr(
                        crypto_standard=but.take("crypto_standard", 0),
                        encrypt_on_tx=bool(but.take("encrypt_on_tx", int(setter.encrypt_on_tx))),
                        signature_crypto_order=but.take("signature_crypto_order", setter.order),
                        data_unit_size=but.take("data_unit_size", BLOCK_ENUM.get(setter.data_unit, -1)),
                        initial_tweak=setter.tweak.to_bytes(16, "little"),
                        dek=state.deks[setter.dek],
                        keytag=setter.keytag or bytes(8),
                        comp_mask=but.take("comp_mask", 0),
                    )
                )
            case _:
                assert_never(setter)
        but.done("a setter")
        return built

    def domain(self, domain: Domain | None) -> protocol.SigBlockDomain | None:
        if domain is None:
            return None
        if not domain.but and not domain.signature.but:
            return _plain_domain(domain)
        but = Members(domain.but, self.state)
        own = Members(domain.signature.but, self.state, domain.signature.kind)
        plain = _plain_domain(domain)
        sig: Union[protocol.SigCrc, protocol.SigT10dif]
        match domain.signature:
            case Crc(type, seed):
                sig = protocol.SigCrc(own.take("type", type), own.take("seed", seed))
            case T10Dif(bg_type, bg, app_tag, ref_tag, flags):
                sig = protocol.SigT10dif(
                    own.take("bg_type", bg_type),
                    own.take("bg", bg),
                    own.take("app_tag", app_tag),
                    own.take("ref_tag", ref_tag),
                    own.take("flags", flags),
                )
            case _:
                assert_never(domain.signature)
        built = protocol.SigBlockDomain(
            but.take("sig_type", plain.sig_type),
            sig,
            but.take("block_size", plain.block_size),
            but.take("comp_mask", plain.comp_mask),
        )
        own.done("a signature")
        but.done("a domain")
        return built


@lru_cache(maxsize=1024)
def _plain_domain(domain: Domain) -> protocol.SigBlockDomain:
    """The struct of a domain, without its overrides."""
    signature = domain.signature
    size = BLOCK_ENUM.get(domain.block)
    if size is None:
        raise NoSuchCall(f"there is no mlx5dv_block_size for {domain.block} bytes")
    match signature:
        case Crc(type, seed):
            return protocol.SigBlockDomain(int(SigType.CRC), protocol.SigCrc(type, seed), size)
        case T10Dif(bg_type, bg, app_tag, ref_tag, flags):
            sig = protocol.SigT10dif(bg_type, bg, app_tag, ref_tag, flags)
            return protocol.SigBlockDomain(int(SigType.T10DIF), sig, size)
        case _:
            assert_never(signature)


def _fixed(layout: Layout) -> bool:
    """Whether a layout has no repetition by a live number."""
    return all(entry.bare() is entry for entry in layout.given())
