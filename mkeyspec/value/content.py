"""The bytes of byte strings, computed by the references, whole buffers at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mkeyspec.abi.constants import BgType, CrcType
from mkeyspec.reference import xts
from mkeyspec.reference.buffer import Buffer, Octets, octets
from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, CrcParameters, crc_blocks
from mkeyspec.reference.dif import CSUM, Guard, dif_blocks
from mkeyspec.reference.frame import frame, split
from mkeyspec.value.node import (
    ByteString,
    Counter,
    Field,
    Fill,
    Flip,
    Framed,
    Join,
    Literal,
    Merge,
    Patch,
    Random,
    Repeat,
    Slice,
    Strip,
    XtsDecrypt,
    XtsEncrypt,
)
from mkeyspec.value.signature import Crc, Signature

CRC_PARAMETERS: dict[int, CrcParameters] = {
    int(CrcType.CRC32): CRC32,
    int(CrcType.CRC32C): CRC32C,
    int(CrcType.CRC64_XP10): CRC64_XP10,
}
GUARD_PARAMETERS: dict[int, Guard] = {int(BgType.CRC): T10, int(BgType.CSUM): CSUM}


def content(value: ByteString) -> bytes:
    """The bytes of `value`, computed anew; those of the values inside it come from the cache where they can."""
    return _CONTENT[type(value)](value)


def stored_fields(
    signature: Signature, data: Buffer, block: int, index: int = 0, app_tags: tuple[int, ...] = ()
) -> Octets:
    """The fields of all blocks of `data`, (blocks, field_size) of uint8, as they stand in memory and on the wire.

    `index`: the number of the first block, for REF_REMAP. `app_tags`: one a block, instead of the signature's.
    ValueError for a type the pages do not have, and unless `data` is whole blocks.
    """
    if isinstance(signature, Crc):
        parameters = CRC_PARAMETERS.get(signature.type)
        if parameters is None:
            raise ValueError(f"there is no CRC of type {signature.type}")
        return crc_blocks(parameters, data, block, signature.seed)
    guard = GUARD_PARAMETERS.get(signature.bg_type)
    if guard is None:
        raise ValueError(f"there is no block guard of type {signature.bg_type}")
    return dif_blocks(
        data,
        block,
        guard=guard,
        bg=signature.bg & 0xFFFF,
        app_tags=app_tags or signature.app_tag & 0xFFFF,
        ref_tag=signature.ref_tag,
        step=int(signature.remap),
        index=index,
    )


def counted(length: int) -> Octets:
    """Byte i is (i + (i >> 8)) & 255."""
    i = np.arange(length, dtype=np.uint64)
    pattern: Octets = (i + (i >> np.uint64(8))).astype(np.uint8)
    return pattern


def drawn(length: int, seed: int) -> bytes:
    """The first bytes of PCG64(seed)'s raw outputs, little endian.

    Bit generators, and how they are seeded, are what numpy keeps stable between releases; the methods of its
    Generator are not.
    """
    raw = np.random.PCG64(seed).random_raw(-(-length // 8))
    data: bytes = raw.astype("<u8").tobytes()
    return data[:length]


def _framed(value: Framed) -> bytes:
    domain, data = value.domain, value.of.data
    fields = stored_fields(domain.signature, data, domain.block, 0, value.app_tags)
    return frame(data, domain.block, fields).tobytes()


def _strip(value: Strip) -> bytes:
    data, _ = split(value.stream.data, value.domain.block, value.domain.signature.field_size)
    return data.tobytes()


def _field(value: Field) -> bytes:
    return stored_fields(value.signature, value.block.data, value.block.length, value.index).tobytes()


def _flip(value: Flip) -> bytes:
    data = bytearray(value.of.data)
    data[value.at] ^= 1 << value.bit
    return bytes(data)


def _patch(value: Patch) -> bytes:
    data = value.of.data
    return b"".join((data[: value.at], value.new.data, data[value.at + value.new.length :]))


def _merge(value: Merge) -> bytes:
    data: Octets = octets(value.a.data).copy()
    other = octets(value.b.data)
    positions = np.array(value.positions, np.intp)
    data[positions] = other[positions]
    return data.tobytes()


_CONTENT: dict[type[ByteString], Callable[[Any], bytes]] = {
    Literal: lambda value: value.value,
    Counter: lambda value: counted(value.length).tobytes(),
    Fill: lambda value: bytes((value.byte,)) * value.length,
    Random: lambda value: drawn(value.length, value.seed),
    Slice: lambda value: value.of.data[value.start : value.start + value.length],
    Join: lambda value: b"".join(part.data for part in value.parts),
    Repeat: lambda value: value.of.data * value.times,
    Framed: _framed,
    Strip: _strip,
    Field: _field,
    Flip: _flip,
    Patch: _patch,
    Merge: _merge,
    XtsEncrypt: lambda value: xts.encrypt(value.of.data, value.key.data, value.tweak, value.unit),
    XtsDecrypt: lambda value: xts.decrypt(value.of.data, value.key.data, value.tweak, value.unit),
}
