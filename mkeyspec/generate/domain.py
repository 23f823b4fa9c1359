"""A signature domain and the attributes of a key's signature, as the generator draws them.

mlx5dv_wr_set_mkey_sig_block(3). Nothing here is shared with a device.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZES = {"crc32": 4, "crc32c": 4, "crc64_xp10": 8, "t10dif": 8}
"""Bytes of a field."""
FLAGS = ("ref_remap", "app_escape", "app_ref_escape")


@dataclass(frozen=True, slots=True)
class Domain:
    """A signature after every `block` bytes. `ones`: the seed of the CRC or guard. The rest is of T10-DIF."""

    kind: str
    block: int
    ones: bool
    csum: bool = False
    app: int = 0
    ref: int = 0
    flags: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the field."""
        return SIZES[self.kind]

    @property
    def frame(self) -> int:
        return self.block + self.size

    @property
    def tags(self) -> bool:
        return self.kind == "t10dif"

    @property
    def remap(self) -> bool:
        return "ref_remap" in self.flags

    @property
    def little(self) -> bool:
        """The field is stored little endian (HW-08): which byte a mask's bit means is open (X-OPEN-12)."""
        return self.kind in ("crc32c", "crc64_xp10")

    @property
    def relevant(self) -> int:
        """The bits of a mask that mean a byte of the field."""
        return 0xF0 if self.size == 4 else 0xFF

    @property
    def structure(self) -> tuple[str, int]:
        """What two domains must agree on to be copied: type of signature or CRC, and block size."""
        return self.kind, self.block

    @property
    def text(self) -> str:
        return f"{self.signature} every {self.block}"

    @property
    def signature(self) -> str:
        """In the language's words, defaults left out."""
        seed = "ones" if self.ones else "zeros"
        if not self.tags:
            return f"{self.kind}({seed})"
        words = ["bg_type=csum"] * self.csum + ["bg=ones"] * self.ones
        words += [f"app_tag={self.app:#x}"] * bool(self.app) + [f"ref_tag={self.ref:#x}"] * bool(self.ref)
        words += [f"flags={' | '.join(self.flags)}"] * bool(self.flags)
        return f"t10dif({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Signature:
    """The attributes of a signature setter. `copy_mask` None: MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK is not set."""

    mem: Domain | None
    wire: Domain | None
    check_mask: int
    copy_mask: int | None = None

    @property
    def relevant(self) -> int:
        """The bits of a mask that mean a byte of either field."""
        return (self.mem.relevant if self.mem else 0) | (self.wire.relevant if self.wire else 0)

    @property
    def remap(self) -> bool:
        return any(one is not None and one.remap for one in (self.mem, self.wire))

    @property
    def block(self) -> int:
        """Of both domains; mixed sizes are not drawn (X-OPEN-05)."""
        one = self.mem or self.wire
        assert one is not None
        return one.block

    def raw_of_wire(self, length: int) -> int:
        """Bytes of data in `length` wire bytes of whole frames."""
        return length if self.wire is None else length // self.wire.frame * self.wire.block

    @property
    def mem_frame(self) -> int:
        return self.mem.frame if self.mem else self.block

    @property
    def wire_frame(self) -> int:
        return self.wire.frame if self.wire else self.block
