"""Byte strings with signatures: framed, stripped, and a field alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mkeyspec.abi.constants import BgType
from mkeyspec.value.expression import HEX, Style
from mkeyspec.value.node import EMPTY, ByteString, Steps
from mkeyspec.value.signature import Crc, Domain, Signature, T10Dif


@dataclass(frozen=True, slots=True, repr=False)
class Framed(ByteString):
    """`of` with the domain's field after every block. `app_tags`: one a block, instead of the signature's."""

    of: ByteString
    domain: Domain
    app_tags: tuple[int, ...] = ()

    styles: ClassVar[Mapping[str, Style]] = {"app_tags": HEX}

    @property
    def length(self) -> int:
        return self.of.length // self.domain.block * self.domain.frame

    def inside(self) -> tuple[object, ...]:
        return (self.of,)

    def compute(self) -> bytes:
        from mkeyspec.reference.frame import frame
        from mkeyspec.value.fields import stored_fields

        domain, data = self.domain, self.of.data
        fields = stored_fields(domain.signature, data, domain.block, 0, self.app_tags)
        return frame(data, domain.block, fields).tobytes()

    def reasons(self, i: int) -> Steps:
        domain = self.domain
        block, place = divmod(i, domain.frame)
        start = block * domain.block
        if place < domain.block:
            return (f"block {block}, byte {place}", *self.of.explain(start + place))
        tag = self.app_tags[block] if self.app_tags else None
        over = f"data[{start}..{start + domain.block}]"
        what, why = _field_reasons(domain.signature, place - domain.block, over, block, tag)
        return (f"block {block}, {what}", why)


def framed(of: ByteString, domain: Domain | None, app_tags: tuple[int, ...] = ()) -> ByteString:
    """`of` with the domain's field after every block; of no domain, `of` itself."""
    if domain is None:
        if app_tags:
            raise ValueError("application tags belong to t10dif, and there is no signature")
        return of
    domain.framed_length(of.length)
    if app_tags:
        blocks = of.length // domain.block
        if not isinstance(domain.signature, T10Dif):
            raise ValueError(f"{domain.signature.kind} has no application tag")
        if len(app_tags) != blocks:
            raise ValueError(f"{len(app_tags)} application tags for {blocks} blocks")
        for tag in app_tags:
            if not 0 <= tag <= 0xFFFF:
                raise ValueError(f"an application tag has 16 bits: {tag:#x}")
    return Framed(of, domain, tuple(app_tags)) if of.length else EMPTY


@dataclass(frozen=True, slots=True, repr=False)
class Strip(ByteString):
    """A framed stream without its fields."""

    stream: ByteString
    domain: Domain

    @property
    def length(self) -> int:
        return self.stream.length // self.domain.frame * self.domain.block

    def inside(self) -> tuple[object, ...]:
        return (self.stream,)

    def compute(self) -> bytes:
        from mkeyspec.reference.frame import split

        data, _ = split(self.stream.data, self.domain.block, self.domain.signature.field_size)
        return data.tobytes()

    def reasons(self, i: int) -> Steps:
        block, place = divmod(i, self.domain.block)
        at = block * self.domain.frame + place
        return (f"block {block}, byte {place}, of the stream byte {at}", *self.stream.explain(at))


def strip(stream: ByteString, domain: Domain | None) -> ByteString:
    """`stream` without the fields of `domain`; of no domain, the stream itself."""
    if domain is None:
        return stream
    domain.stripped_length(stream.length)
    if isinstance(stream, Framed) and (stream.domain.block, stream.domain.frame) == (domain.block, domain.frame):
        return stream.of
    return Strip(stream, domain) if stream.length else EMPTY


@dataclass(frozen=True, slots=True, repr=False)
class Field(ByteString):
    """The field of one block; `index` is the block's number, for REF_REMAP."""

    signature: Signature
    block: ByteString
    index: int = 0

    @property
    def length(self) -> int:
        return self.signature.field_size

    def inside(self) -> tuple[object, ...]:
        return (self.block,)

    def compute(self) -> bytes:
        from mkeyspec.value.fields import stored_fields

        return stored_fields(self.signature, self.block.data, self.block.length, self.index).tobytes()

    def reasons(self, i: int) -> Steps:
        return _field_reasons(self.signature, i, f"{self.block.length} bytes", self.index)


def field(signature: Signature, block: ByteString, index: int = 0) -> ByteString:
    if index < 0:
        raise ValueError(f"there is no block {index}")
    if not block.length:
        raise ValueError("no field belongs to a block of no bytes")
    return Field(signature, block, index)


def _field_reasons(signature: Signature, i: int, over: str, block: int, app_tag: int | None = None) -> Steps:
    """The reasons for byte `i` of a field: the part that it belongs to, then the formula `over` its data. `block` is
    the block's number; `app_tag` replaces the signature's.
    """
    if isinstance(signature, Crc):
        order = "big" if signature.kind == "crc32" else "little"
        return (
            f"{signature.kind.upper()} field, byte {i} ({order} endian)",
            f"{signature.describe()} over {over}",
        )
    if i < 2:
        return (f"guard, byte {i} (big endian)", f"{_guard_text(signature)} over {over}")
    if i < 4:
        tag = signature.app_tag & 0xFFFF if app_tag is None else app_tag
        return (f"application tag, byte {i - 2} (big endian)", f"app_tag {tag:#06x}")
    first = signature.ref_tag & 0xFFFFFFFF
    text = f"ref_tag {first:#010x}"
    return (f"reference tag, byte {i - 4} (big endian)", f"{text} + block {block}" if signature.remap else text)


def _guard_text(signature: T10Dif) -> str:
    start = {0: "zeros", 0xFFFF: "ones"}.get(signature.bg & 0xFFFF, f"{signature.bg & 0xFFFF:#06x}")
    name = "Internet checksum" if signature.bg_type == BgType.CSUM else "T10 CRC"
    return f"{name} from bg {start}"
