"""The setters of a configuration (mlx5dv_wr_post(3), mlx5dv_wr_set_mkey_*).

Each class states the facts that several passes need (`_Setter`), so that no pass asks which class it has to know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Union

from mkeyspec.abi.constants import BLOCK_ENUM, BgType
from mkeyspec.value.layout import Layout
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Domain, T10Dif

Overrides = tuple[tuple[str, Int], ...]
"""Struct members set wrong on purpose (`but`): (member, value)."""


class _Setter:
    """The facts about a setter's class that every pass reads. A subclass is a frozen dataclass.

    `word`: as the language writes it.
    """

    __slots__ = ()

    word: ClassVar[str]

    def needs(self) -> tuple[str, ...]:
        """What a device must offer, by the names of `Capabilities.offers`: only what some device may lack."""
        return ()

    def layout_given(self) -> Optional[Layout]:
        """The layout that it gives its mkey."""
        return None

    def domains_given(self) -> Optional[tuple[Optional[Domain], Optional[Domain]]]:
        """The domains that it gives its mkey, memory and wire; None: it says nothing of them."""
        return None


@dataclass(frozen=True, slots=True)
class SetAccess(_Setter):
    word: ClassVar[str] = "access"

    flags: Int
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetLayout(_Setter):
    word: ClassVar[str] = "layout"

    layout: Layout
    but: Overrides = ()

    def layout_given(self) -> Layout:
        return self.layout


@dataclass(frozen=True, slots=True)
class SetSignature(_Setter):
    """`copy_mask` None: the COPY_MASK flag is clear. Overrides: flags, comp_mask."""

    word: ClassVar[str] = "signature"

    mem: Optional[Domain] = None
    wire: Optional[Domain] = None
    check_mask: int = 0
    copy_mask: Optional[int] = None
    but: Overrides = ()

    def domains_given(self) -> tuple[Optional[Domain], Optional[Domain]]:
        return self.mem, self.wire

    def needs(self) -> tuple[str, ...]:
        return tuple(need for domain in (self.mem, self.wire) if domain is not None for need in _domain_needs(domain))


@dataclass(frozen=True, slots=True)
class SetCrypto(_Setter):
    """`data_unit` in bytes; `order` is constants.CryptoOrder. Overrides: members of mlx5dv_crypto_attr."""

    word: ClassVar[str] = "crypto"

    dek: str
    tweak: int = 0
    data_unit: int = 512
    encrypt_on_tx: bool = True
    order: int = 0
    keytag: Optional[bytes] = None
    but: Overrides = ()

    def needs(self) -> tuple[str, ...]:
        return ("crypto",)


def _domain_needs(domain: Domain) -> tuple[str, ...]:
    signature = domain.signature
    found = [f"signature.{signature.kind}"]
    if isinstance(signature, T10Dif) and signature.bg_type == BgType.CSUM:
        found.append("signature.csum")
    if domain.block in BLOCK_ENUM:
        found.append(f"block.{domain.block}")
    return tuple(found)


Setter = Union[SetAccess, SetLayout, SetSignature, SetCrypto]
