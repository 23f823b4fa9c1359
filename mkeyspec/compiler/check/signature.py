"""Rules of the block signature setter: mlx5dv_wr_set_mkey_sig_block(3)."""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_BYTES, BLOCK_ENUM, BgType, CrcType, MkeyFlag, SigBlockFlag, SigType, T10difFlag
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.state import AbstractMkey, overridden
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Crc, Domain, T10Dif

_COPY_MASK = int(SigBlockFlag.COPY_MASK)
_DIF_FLAGS = int(T10difFlag.REF_REMAP | T10difFlag.APP_ESCAPE | T10difFlag.APP_REF_ESCAPE)
_SEED_WIDTH = {int(CrcType.CRC32): 32, int(CrcType.CRC32C): 32, int(CrcType.CRC64_XP10): 64}
_CRC_NAME = {int(CrcType.CRC32): "crc32", int(CrcType.CRC32C): "crc32c", int(CrcType.CRC64_XP10): "crc64_xp10"}
_BG_SEEDS = (0, 0xFFFF)


class _Member:
    """One member of a domain's structs: its value as it reaches the device, and who set it."""

    __slots__ = ("by_but", "value")

    def __init__(self, but: plan.Overrides, name: str, written: Int) -> None:
        self.value, self.by_but = overridden(but, name, written)

    def outside(self, allowed: range | tuple[int, ...] | dict[int, int] | dict[int, str]) -> bool:
        """Certainly or, when live, possibly none of `allowed`."""
        return self.value is None or self.value not in allowed


class _Place:
    """Where a domain's member is reported: on the setter's `mem` or `wire` line."""

    __slots__ = ("context", "request", "setter", "side")

    def __init__(self, context: Context, request: plan.Wr, setter: plan.SetSignature, side: str) -> None:
        self.context, self.request, self.setter, self.side = context, request, setter, side

    def broken(self, rule: str, message: str, *members: _Member, help: str = "") -> None:
        self.context.broken(
            rule,
            message,
            self.setter,
            self.side,
            fallback=self.request,
            help=help,
            by_but=any(member.by_but for member in members),
            definite=all(member.value is not None for member in members),
        )


def check_signature(context: Context, request: plan.Configure, setter: plan.SetSignature, key: AbstractMkey) -> None:
    """One call of mlx5dv_wr_set_mkey_sig_block on `key`."""
    if not key.has(MkeyFlag.BLOCK_SIGNATURE):
        context.broken(
            "mkey_without_signature",
            f"`{request.mkey}` was created without BLOCK_SIGNATURE",
            setter,
            fallback=request,
            notes=context.declared(request.mkey),
            help=f"mkey {request.mkey} {{ block_signature }}",
        )
    flags, by_but = overridden(setter.but, "flags", 0 if setter.copy_mask is None else _COPY_MASK)
    if flags is None or flags & ~_COPY_MASK:
        message = (
            "flags is read from the device"
            if flags is None
            else (f"flags {flags:#x}: {flags & ~_COPY_MASK:#x} is none of the page's flags")
        )
        context.broken(
            "sig_flags", message, setter, "flags", fallback=request, by_but=by_but, definite=flags is not None
        )
    comp_mask, comp_forced = overridden(setter.but, "comp_mask", 0)
    if comp_mask != 0:
        context.broken(
            "sig_comp_mask",
            "comp_mask is reserved and must be 0",
            setter,
            "comp_mask",
            fallback=request,
            by_but=comp_forced,
            definite=comp_mask is not None,
        )
    before = len(context.found)
    for side, domain in (("mem", setter.mem), ("wire", setter.wire)):
        if domain is not None:
            _domain(_Place(context, request, setter, side), domain)
    # A domain that is wrong in itself is one fault; that the other one differs from it then is not a second.
    if flags is not None and flags & _COPY_MASK and len(context.found) == before:
        _structure(context, request, setter, by_but)


def _domain(place: _Place, domain: Domain) -> None:
    comp_mask = _Member(domain.but, "comp_mask", 0)
    if comp_mask.value != 0:
        place.broken("domain_comp_mask", "the domain's comp_mask is reserved and must be 0", comp_mask)
    size = _Member(domain.but, "block_size", BLOCK_ENUM.get(domain.block, -1))
    if size.value is None:
        place.broken("block_size", "block_size is read from the device", size)
    elif size.by_but and size.value not in BLOCK_BYTES:
        place.broken("block_size", f"block_size {size.value} is none of enum mlx5dv_block_size", size)
    elif not size.by_but and size.value == -1:
        # No value of the enum says this, so that no device can be asked to refuse it.
        place.context.broken(
            "block_size",
            f"blocks of {domain.block} bytes: the pages have {', '.join(map(str, BLOCK_ENUM))}",
            place.setter,
            place.side,
            fallback=place.request,
            help="to pass a value outside the enum: `… every 512 but block_size 5`",
            phases=(),
        )
    kind = _Member(domain.but, "sig_type", domain.signature.sig_type)
    if kind.outside((int(SigType.T10DIF), int(SigType.CRC))):
        place.broken("sig_type", f"sig_type {_shown(kind)} is neither T10DIF nor CRC", kind)
        return
    match domain.signature:
        case Crc() as crc:
            _crc(place, crc)
        case T10Dif() as dif:
            _dif(place, dif)
        case _:
            assert_never(domain.signature)


def _crc(place: _Place, crc: Crc) -> None:
    kind = _Member(crc.but, "type", crc.type)
    if kind.outside(_SEED_WIDTH):
        place.broken("crc_type", f"CRC type {_shown(kind)} is none of the page's", kind)
        return
    assert kind.value is not None
    seed = _Member(crc.but, "seed", crc.seed)
    ones = (1 << _SEED_WIDTH[kind.value]) - 1
    # "Bits not relevant to the CRC type are ignored" comes first (CRC-06), then the two supported values.
    if seed.value is None or seed.value & ones not in (0, ones):
        name = _CRC_NAME[kind.value]
        place.broken("crc_seed", f"seed {_shown(seed)} is neither zeros nor ones for {name}", kind, seed)


def _dif(place: _Place, dif: T10Dif) -> None:
    bg_type = _Member(dif.but, "bg_type", dif.bg_type)
    if bg_type.outside((int(BgType.CRC), int(BgType.CSUM))):
        place.broken("dif_bg_type", f"bg_type {_shown(bg_type)} is neither CRC nor CSUM", bg_type)
    bg = _Member(dif.but, "bg", dif.bg)
    if bg.outside(_BG_SEEDS):
        place.broken("dif_bg", f"bg {_shown(bg)} is neither 0 nor 0xffff", bg)
    flags = _Member(dif.but, "flags", dif.flags)
    if flags.value is None or flags.value & ~_DIF_FLAGS:
        message = f"T10DIF flags {_shown(flags)}: a bit that is none of the page's flags"
        place.broken("dif_flags", message, flags)


def _structure(context: Context, request: plan.Configure, setter: plan.SetSignature, by_but: bool) -> None:
    """COPY_MASK only between domains of the same block size and signature type (MSK-16, MSK-17).

    A domain without signature has no structure that another could share: `none` on either side, or on both,
    differs. CRC and checksum guards are one type, T10DIF.
    """
    mem, wire = setter.mem, setter.wire
    if mem is None or wire is None:
        side = "either" if mem is wire else "the memory" if mem is None else "the wire"
        difference = f"there is no signature in {side} domain"
    elif _structure_of(mem) == _structure_of(wire):
        return
    else:
        difference = f"mem is {_structure_text(mem)}, wire is {_structure_text(wire)}"
    context.broken(
        "copy_mask_structure",
        f"copy_mask demands domains of the same structure: {difference}",
        setter,
        "copy_mask",
        fallback=request,
        notes=(Note("same structure: same block size and signature type"),),
        by_but=by_but,
    )


def _structure_of(domain: Domain) -> tuple[Int | None, ...]:
    size, _ = overridden(domain.but, "block_size", BLOCK_ENUM.get(domain.block, -1))
    match domain.signature:
        case T10Dif():
            return (int(SigType.T10DIF), size)
        case Crc(but=but, type=type):
            return (int(SigType.CRC), size, overridden(but, "type", type)[0])
        case _:
            assert_never(domain.signature)


def _structure_text(domain: Domain) -> str:
    return f"{domain.signature.kind} every {domain.block}"


def _shown(member: _Member) -> str:
    if member.value is None:
        return "(live)"
    return hex(member.value) if member.value > 9 else str(member.value)
