"""Signatures and domains: `crc32(ones) every 512` is a value.

Members and their numbers are those of mlx5dv_wr_set_mkey_sig_block(3). `but` overrides what is written
into the struct and nothing else: the bytes always follow from the members themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Optional

from mkeyspec.abi.constants import BLOCK_ENUM, BgType, CrcType, SigType, T10difFlag
from mkeyspec.value.expression import HEX, SEED, Expression, Style
from mkeyspec.value.live import Int
from mkeyspec.value.range import Range

Overrides = tuple[tuple[str, Int], ...]

_CRC_KIND = {int(CrcType.CRC32): "crc32", int(CrcType.CRC32C): "crc32c", int(CrcType.CRC64_XP10): "crc64_xp10"}
_CRC_SIZE = {int(CrcType.CRC32): 4, int(CrcType.CRC32C): 4, int(CrcType.CRC64_XP10): 8}


@dataclass(frozen=True, slots=True, repr=False)
class Crc(Expression):
    """struct mlx5dv_sig_crc. `type` is constants.CrcType; `seed` as written; `init` has the bits that are used."""

    type: int
    seed: int
    but: Overrides = ()

    struct: ClassVar[tuple[str, ...]] = ("type", "seed")
    """The members of the struct."""
    tags: ClassVar[bool] = False
    """Whether its field has an application tag and a reference tag."""
    remap: ClassVar[bool] = False

    styles: ClassVar[Mapping[str, Style]] = {"type": CrcType.__name__, "seed": SEED}

    @property
    def kind(self) -> str:
        return _CRC_KIND[self.type]

    @property
    def field_size(self) -> int:
        """Bytes after every block."""
        return _CRC_SIZE[self.type]

    @property
    def relevant_mask(self) -> int:
        """The bits of check_mask and copy_mask that mean a byte of this field."""
        return 0xF0 if self.field_size == 4 else 0xFF

    @property
    def sig_type(self) -> int:
        return int(SigType.CRC)

    @property
    def init(self) -> int:
        """The register's initial value: the seed's lower bits."""
        return self.seed & (1 << 8 * self.field_size) - 1

    def describe(self) -> str:
        """In the language's words: `crc32(ones)`."""
        return f"{self.kind}({_seed_text(self.init, 8 * self.field_size)})"


@dataclass(frozen=True, slots=True, repr=False)
class T10Dif(Expression):
    """struct mlx5dv_sig_t10dif. `bg_type` is constants.BgType, `flags` constants.T10difFlag."""

    bg_type: int = 0
    bg: int = 0
    app_tag: int = 0
    ref_tag: int = 0
    flags: int = 0
    but: Overrides = ()

    struct: ClassVar[tuple[str, ...]] = ("bg_type", "bg", "app_tag", "ref_tag", "flags")
    tags: ClassVar[bool] = True

    styles: ClassVar[Mapping[str, Style]] = {
        "bg_type": BgType.__name__,
        "bg": SEED,
        "app_tag": HEX,
        "ref_tag": HEX,
        "flags": T10difFlag.__name__,
    }

    @property
    def kind(self) -> str:
        return "t10dif"

    @property
    def field_size(self) -> int:
        """Bytes after every block: guard (2), application tag (2), reference tag (4)."""
        return 8

    @property
    def relevant_mask(self) -> int:
        return 0xFF

    @property
    def sig_type(self) -> int:
        return int(SigType.T10DIF)

    @property
    def remap(self) -> bool:
        """REF_REMAP: block i carries ref_tag + i."""
        return bool(self.flags & T10difFlag.REF_REMAP)

    def describe(self) -> str:
        """In the language's words, defaults left out: `t10dif(bg=ones, flags=ref_remap)`."""
        words = []
        if self.bg_type:
            words.append("bg_type=csum" if self.bg_type == BgType.CSUM else f"bg_type={self.bg_type}")
        if self.bg:
            words.append(f"bg={_seed_text(self.bg & 0xFFFF, 16)}")
        if self.app_tag:
            words.append(f"app_tag={self.app_tag:#x}")
        if self.ref_tag:
            words.append(f"ref_tag={self.ref_tag:#x}")
        if self.flags:
            names = [flag.name.lower() for flag in T10difFlag if self.flags & flag and flag.name]
            rest = self.flags & ~int(T10difFlag.REF_REMAP | T10difFlag.APP_ESCAPE | T10difFlag.APP_REF_ESCAPE)
            words.append("flags=" + " | ".join(names + ([f"{rest:#x}"] if rest else [])))
        return f"t10dif({', '.join(words)})"


Signature = Crc | T10Dif


def _seed_text(value: int, width: int) -> str:
    return "zeros" if value == 0 else "ones" if value == (1 << width) - 1 else hex(value)


@dataclass(frozen=True, slots=True, repr=False)
class Domain(Expression):
    """A signature after every `block` bytes. `but` overrides sig_type, block_size (the enum's value), comp_mask."""

    signature: Signature
    block: int
    but: Overrides = ()

    @property
    def frame(self) -> int:
        """Bytes of a block with its field."""
        return self.block + self.signature.field_size

    @property
    def block_size(self) -> int:
        """enum mlx5dv_block_size. KeyError for a size the pages do not have."""
        return BLOCK_ENUM[self.block]

    def framed_length(self, length: int) -> int:
        """Bytes of `length` bytes of data with their fields; ValueError unless whole blocks."""
        if length % self.block:
            nearest = _nearest(length, self.block)
            raise ValueError(f"{length} bytes are not a whole number of blocks of {self.block}; {nearest} would be")
        return length // self.block * self.frame

    def stripped_length(self, length: int) -> int:
        """Bytes of data in `length` bytes of framed stream; ValueError unless whole frames."""
        if length % self.frame:
            blocks = f"blocks of {self.block} + {self.signature.field_size}"
            nearest = _nearest(length, self.frame)
            raise ValueError(f"{length} bytes are not a whole number of {blocks}; {nearest} would be")
        return length // self.frame * self.block

    def block_at(self, k: int) -> Range:
        """Where the data of block `k` is in the framed stream."""
        return Range(self._start(k), self.block)

    def field_at(self, k: int) -> Range:
        return Range(self._start(k) + self.block, self.signature.field_size)

    def guard_at(self, k: int) -> Range:
        """The guard of block `k`; of a CRC, the whole field (mlx5dv_mkey_check(3) reports it as BAD_GUARD)."""
        field = self.field_at(k)
        return Range(field.start, 2) if self.signature.tags else field

    def app_at(self, k: int) -> Range:
        return Range(self._tuple_at(k, "application") + 2, 2)

    def ref_at(self, k: int) -> Range:
        return Range(self._tuple_at(k, "reference") + 4, 4)

    def mask_at(self, k: int, mask: int) -> tuple[int, ...]:
        """Positions of the bytes of block `k`'s field that `mask` selects: bit 7 is the first byte in memory.

        Bits that mean no byte of this field are ignored, as the page says.
        """
        field = self.field_at(k)
        return tuple(field.start + i for i in range(field.length) if mask & 0x80 >> i)

    def describe(self) -> str:
        """In the language's words: `crc32(ones) every 512`."""
        return f"{self.signature.describe()} every {self.block}"

    def _start(self, k: int) -> int:
        if k < 0:
            raise ValueError(f"there is no block {k}")
        return k * self.frame

    def _tuple_at(self, k: int, tag: str) -> int:
        if self.signature.kind != "t10dif":
            raise ValueError(f"{self.signature.kind} has no {tag} tag")
        return self.field_at(k).start


def _nearest(length: int, unit: int) -> int:
    """The whole number of units, at least one, that is nearest to `length`; of two, the greater."""
    return max(1, (2 * length + unit) // (2 * unit)) * unit


class Domains(NamedTuple):
    """The two signature domains of an mkey; None: no signature there."""

    mem: Optional[Domain] = None
    wire: Optional[Domain] = None


PLAIN = Domains()
"""No signature on either side."""
