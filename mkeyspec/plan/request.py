"""The setters of a configuration, and work requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from mkeyspec.plan.place import At
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, LiveString
from mkeyspec.value.signature import Domain

Overrides = tuple[tuple[str, Int], ...]
"""Struct members set wrong on purpose (`but`): (member, value)."""


@dataclass(frozen=True, slots=True)
class SetAccess:
    flags: Int
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetLayout:
    layout: Layout
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetSignature:
    """`copy_mask` None: the COPY_MASK flag is clear. Overrides: flags, comp_mask."""

    mem: Optional[Domain] = None
    wire: Optional[Domain] = None
    check_mask: int = 0
    copy_mask: Optional[int] = None
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetCrypto:
    """`data_unit` in bytes; `order` is constants.CryptoOrder. Overrides: members of mlx5dv_crypto_attr."""

    dek: str
    tweak: int = 0
    data_unit: int = 512
    encrypt_on_tx: bool = True
    order: int = 0
    keytag: Optional[bytes] = None
    but: Overrides = ()


Setter = Union[SetAccess, SetLayout, SetSignature, SetCrypto]


@dataclass(frozen=True, slots=True)
class Options:
    """What every work request may carry."""

    signaled: bool = False
    fence: bool = False
    solicited: bool = False
    id: Optional[int] = None
    """The user's wr_id; None: the rig numbers it."""
    dct: Optional[str] = None
    stream: Optional[int] = None
    but: Overrides = ()
    """Of a data WR: `lkey`, `rkey`, `length`, `addr`…; of a configuration: `num_setters`, `conf_flags`, `comp_mask`,
    `inline` (0: IBV_SEND_INLINE is left out)."""


PLAIN = Options()
"""A work request of which nothing is said."""


@dataclass(frozen=True, slots=True)
class Configure:
    """`setters` in the order they are called, repeats included; num_setters is their count unless overridden."""

    at: At
    mkey: str
    setters: tuple[Setter, ...] = ()
    reset_signature: bool = False
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class StraySetter:
    """A setter where no configuration is open."""

    at: At
    setter: Setter


@dataclass(frozen=True, slots=True)
class MrList:
    at: At
    mkey: str
    layout: Layout
    access: Int
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class MrInterleaved:
    at: At
    mkey: str
    layout: Layout
    access: Int
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class Send:
    """SEND / SEND_IMM (`imm`) / SEND_INV (`invalidate`: an mkey or memory of the other side, by name)."""

    at: At
    data: tuple[Part, ...]
    imm: Optional[Int] = None
    invalidate: Optional[str] = None
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class Write:
    at: At
    data: tuple[Part, ...]
    to: Part
    imm: Optional[Int] = None
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class Read:
    at: At
    into: tuple[Part, ...]
    source: Part
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class FetchAdd:
    at: At
    into: Part
    source: Part
    add: Int
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class Invalidate:
    """LOCAL_INV `by` post_send or wr_post."""

    at: At
    mkey: str
    by: str
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class Memcpy:
    at: At
    source: Part
    to: Part
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class RawWqe:
    at: At
    wqe: Union[ByteString, LiveString]
    options: Options = PLAIN


Wr = Union[Configure, StraySetter, MrList, MrInterleaved, Send, Write, Read, FetchAdd, Invalidate, Memcpy, RawWqe]
