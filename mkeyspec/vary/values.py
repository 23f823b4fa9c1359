"""Another value that a page forbids, in place of the one that a refused configuration has.

What is refused for a value outside an enum, for an undefined bit or for a seed that is neither zeros nor ones is
refused for each other such value, by the same rule (mlx5dv_wr_post(3), mlx5dv_wr_set_mkey_sig_block and
mlx5dv_wr_set_mkey_crypto).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mkeyspec import plan
from mkeyspec.abi.constants import (
    BLOCK_ENUM,
    ONES_16,
    ONES_32,
    ONES_64,
    BgType,
    CrcType,
    CryptoOrder,
    SigBlockFlag,
    SigType,
    T10difFlag,
)
from mkeyspec.plan import Configure
from mkeyspec.plan.setter import Overrides, Setter
from mkeyspec.value.signature import Crc, Domain
from mkeyspec.vary.row import Draw

_ENUMS: Mapping[str, frozenset[int]] = {
    "crypto_standard": frozenset({0}),
    "signature_crypto_order": frozenset(map(int, CryptoOrder)),
    "data_unit_size": frozenset(BLOCK_ENUM.values()),
    "block_size": frozenset(BLOCK_ENUM.values()),
    "sig_type": frozenset(map(int, SigType)),
    "type": frozenset(map(int, CrcType)),
    "bg_type": frozenset(map(int, BgType)),
}
"""Members that are an enum, and its values."""
_DEFINED_BITS: Mapping[str, tuple[int, int]] = {
    "flags of a signature": (int(SigBlockFlag.COPY_MASK), 32),
    "flags": (int(T10difFlag.REF_REMAP | T10difFlag.APP_ESCAPE | T10difFlag.APP_REF_ESCAPE), 16),
    "comp_mask": (0, 64),
}
"""Members of bits: those that are defined, and the width of the member."""
_WIDTHS: Mapping[int, tuple[int, ...]] = {ONES_16: (8, 12), ONES_32: (8, 16, 24), ONES_64: (8, 16, 32, 48)}


def another(draw: Draw, request: Configure) -> Configure:
    """The configuration, with other forbidden values where it has some."""
    if not draw.often(0.6):
        return request
    setters = tuple(_setter(draw, setter) for setter in request.setters)
    if setters != request.setters:
        draw.note(f"what is wrong in `configure {request.mkey}` has another value")
    return replace(request, setters=setters)


def _setter(draw: Draw, setter: Setter) -> Setter:
    if isinstance(setter, plan.SetSignature):
        flags = tuple((f"{name} of a signature" if name == "flags" else name, value) for name, value in setter.but)
        but = tuple((name.partition(" ")[0], value) for name, value in _overrides(draw, flags))
        return replace(setter, mem=_domain(draw, setter.mem), wire=_domain(draw, setter.wire), but=but)
    if isinstance(setter, plan.SetCrypto):
        return replace(setter, but=_overrides(draw, setter.but))
    return setter


def _domain(draw: Draw, domain: Domain | None) -> Domain | None:
    if domain is None:
        return None
    signature = domain.signature
    if isinstance(signature, Crc):
        seed = {"seed": ONES_64 if signature.type == CrcType.CRC64_XP10 else ONES_32}
    else:
        seed = {"bg": ONES_16}
    changed = replace(signature, but=_overrides(draw, signature.but, seed))
    return replace(domain, signature=changed, but=_overrides(draw, domain.but))


def _overrides(draw: Draw, but: Overrides, seeds: Mapping[str, int] | None = None) -> Overrides:
    return tuple(
        (name, _value(draw, name, value, seeds or {}) if isinstance(value, int) else value) for name, value in but
    )


def _value(draw: Draw, name: str, value: int, seeds: Mapping[str, int]) -> int:
    """Another forbidden one; the same one if it is not forbidden by itself."""
    if name in _ENUMS and value not in _ENUMS[name]:
        allowed = _ENUMS[name]
        near = draw.one(sorted(allowed))
        found = (max(allowed) + 1, max(allowed) + 2, near | 0x100, near | 0x1_0000, near | 0x100_0000, 0xFF, 0xFFFF)
        return draw.one(found)
    if name in _DEFINED_BITS:
        defined, width = _DEFINED_BITS[name]
        if value & ~defined:
            undefined = [1 << bit for bit in range(width) if not 1 << bit & defined]
            return value & defined | draw.one(undefined) | (draw.one(undefined) if draw.often(0.3) else 0)
    ones = seeds.get(name)
    if ones is not None and 0 < value < ones:
        widths = _WIDTHS[ones]
        low = (1 << draw.one(widths)) - 1
        return draw.one((low, ones & ~low, 1 << draw.random.randrange(ones.bit_length()), ones >> 1, ones - 1))
    return value
