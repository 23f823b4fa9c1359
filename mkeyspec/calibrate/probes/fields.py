"""Signature fields of a few blocks, by the references, and memory that has them."""

from __future__ import annotations

from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, crc_blocks
from mkeyspec.reference.dif import CSUM, dif_blocks

CRC_OF = {"crc32": CRC32, "crc32c": CRC32C, "crc64_xp10": CRC64_XP10}
SIZES = {"crc32": 4, "crc32c": 4, "crc64_xp10": 8, "t10dif": 8}
ONES = {"crc32": 0xFFFFFFFF, "crc32c": 0xFFFFFFFF, "crc64_xp10": 0xFFFFFFFFFFFFFFFF}


def data(blocks: int, block: int = 512) -> bytes:
    """Bytes that differ from block to block."""
    return bytes((i * 7 + (i >> 8) * 3 + 1) & 255 for i in range(blocks * block))


def crc_field(kind: str, content: bytes, seed: int = 0) -> bytes:
    """The field of one block."""
    return crc_blocks(CRC_OF[kind], content, len(content), seed).tobytes()


def t10_field(content: bytes, app: int = 0, ref: int = 0, *, bg: int = 0, csum: bool = False) -> bytes:
    """The field of one block."""
    return dif_blocks(content, len(content), guard=CSUM if csum else T10, bg=bg, app_tags=app, ref_tag=ref).tobytes()


def framed(content: bytes, fields: list[bytes], block: int = 512) -> bytes:
    """Each block with its field after it."""
    return b"".join(content[k * block : (k + 1) * block] + field for k, field in enumerate(fields))


def fields_of(stream: bytes, size: int, block: int = 512) -> list[bytes]:
    """The fields of a stream of whole blocks."""
    frame = block + size
    return [stream[k * frame + block : (k + 1) * frame] for k in range(len(stream) // frame)]


def flipped(field: bytes, *positions: int) -> bytes:
    """Some bytes of a field inverted."""
    return bytes(byte ^ 0xFF if at in positions else byte for at, byte in enumerate(field))
