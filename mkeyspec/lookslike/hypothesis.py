"""A hypothesis: what a device may have done in place of what the page says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

from mkeyspec.plan import SetSignature
from mkeyspec.reference.buffer import Octets
from mkeyspec.reference.layout import Segment
from mkeyspec.value.layout import Layout
from mkeyspec.value.signature import Domain, Signature


@dataclass(frozen=True, slots=True)
class FieldsJob:
    """The fields of whole blocks of `data` are to be computed. `index`: the number of the first block. `app_tags`: one
    a block, or () for the signature's. `before`: the fields that came in with the data, (n, size), if any did."""

    signature: Signature
    data: bytes
    block: int
    index: int = 0
    app_tags: tuple[int, ...] = ()
    before: Optional[Octets] = None


@dataclass(frozen=True, slots=True)
class CryptJob:
    """`data` is to be enciphered, or deciphered. `key`: data key, then tweak key."""

    data: bytes
    key: bytes
    tweak: int
    unit: int
    encipher: bool
    starts: tuple[int, ...] = ()
    """Where entries of the layout begin in `data`, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic request: `operand` is added, or, where the 8 bytes are `compare`, written. Numbers of 64 bits."""

    operand: int
    compare: Optional[int] = None


Fields = Callable[[FieldsJob], Optional[Octets]]
"""The fields, (n, size) of uint8; None where the hypothesis says nothing of this signature."""
Frame = Callable[[bytes, Domain, Octets], bytes]
Strip = Callable[[bytes, Domain], bytes]
Crypt = Callable[[CryptJob], bytes]
Walk = Callable[[Layout], Optional[list[Segment]]]
Copied = Callable[[list[int], SetSignature, Domain, Domain], list[int]]
"""(positions in the field that pass through, the setter, the domain they come from, the one they go to) -> the other
positions."""
Escaped = Callable[[Octets, Octets, Domain], Octets]
"""(which blocks are escaped, (n,) of bool; the fields, (n, 8); the domain) -> the other blocks, or which bytes of their
fields are not checked, (n, 8)."""
Domains = Callable[[Optional[Domain], Optional[Domain]], "tuple[Optional[Domain], Optional[Domain]]"]
"""(memory, wire) -> the domains that count."""
Masked = Callable[[int, Domain], int]
"""The check mask -> another one."""

Atomically = Callable[[Atomic, int], "tuple[int, int]"]
"""(the request, what is there) -> (what is returned, what is there afterwards)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that are other ones; None: as the references say."""

    fields: Optional[Fields] = None
    frame: Optional[Frame] = None
    strip: Optional[Strip] = None
    crypt: Optional[Crypt] = None
    walk: Optional[Walk] = None
    copied: Optional[Copied] = None
    escaped: Optional[Escaped] = None
    masked: Optional[Masked] = None
    atomic: Optional[Atomically] = None
    by_entry: bool = False
    """Data units count from the beginning of each SGE of a work request."""
    found: bool = False
    """Every field is told of, whether it is bad or not."""
    crypto_order: bool = False
    """Enciphered before the fields are made, and not after; or the reverse."""
    start: int = 0
    """Added to the offset at which a transfer begins in its mkey."""
    start_ignored: bool = False
    shifted: int = 0
    """The destination begins so many bytes later."""
    limit: Optional[float] = None
    """Which part of the bytes is moved at all."""
    bytes_lost: int = 0
    """Bytes at the end that are not moved."""
    aligned: int = 1
    """The offset at which a transfer begins is rounded down to a multiple."""
    domains: Optional[Domains] = None
    earlier: str = ""
    """This part of an mkey's configuration (layout, signature, crypto, check_mask, mem, all) is the one before the
    last; `none`: it has no signature."""
    rest: Optional[Callable[[bytes], bytes]] = None
    """What becomes of the data after the last whole block of a signature."""
    early: bool = False
    """The last transfer comes before the one, or before the stored bytes, in front of it."""
    cancel: str = ""
    """Which of the requests that wait are cancelled: `none`, the `first` of the number, `all` of any number."""
    copied_once: bool = False
    """Fields are copied in the first block only."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """`name`: for reports and tests; `sentence`: as it is shown."""

    name: str
    sentence: str
    rules: Rules


USUAL = Rules()
"""As the references say."""
