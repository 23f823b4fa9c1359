"""Translates a bad block to the members of struct mlx5dv_mkey_err, by the profile.

The model makes its reports with it. The rig uses it to translate `block`, `found` and `computed` of a case.
"""

from __future__ import annotations

from mkeyspec.abi.constants import MkeyError
from mkeyspec.device.profile.profile import Profile

PARTS = {"guard": (0, 2), "app": (2, 4), "ref": (4, 8)}
"""Where a T10-DIF field's parts are (mlx5dv_wr_set_mkey_sig_block(3), T10 SBC-3); a CRC field is all guard."""

TYPES = {"guard": int(MkeyError.BAD_GUARD), "ref": int(MkeyError.BAD_REFTAG), "app": int(MkeyError.BAD_APPTAG)}


def record(
    profile: Profile,
    kind: str,
    field_size: int,
    block_size: int,
    k: int,
    found: bytes,
    computed: bytes,
    part: str = "guard",
) -> tuple[int, int, int, int]:
    """(type, expected, actual, offset) of an error in block `k`, counted from 0.

    `kind` is crc32, crc32c, crc64_xp10 or t10dif; `block_size` is in bytes; `found` is what is in the field,
    `computed` the right value: the whole field, or the part alone. hardware, Errors 1 and 2; X-OPEN-08.
    """
    stored = value(profile, kind, found, part)
    ought = value(profile, kind, computed, part)
    expected, actual = (ought, stored) if profile.err_actual == "field" else (stored, ought)
    return TYPES[part], expected, actual, offset(profile, field_size, block_size, k)


def value(profile: Profile, kind: str, field: bytes, part: str = "guard") -> int:
    """A field, or a part of it, as the number in the record."""
    if kind == "t10dif":
        first, end = PARTS[part]
        bytes_of_part = field[first:end] if len(field) == 8 else field
        return int.from_bytes(bytes_of_part, "big")
    return int.from_bytes(field, "little" if _reads_little(profile, kind) else "big")


def offset(profile: Profile, field_size: int, block_size: int, k: int) -> int:
    """The offset of block `k` in the record; 519 for the first of 512 + 8 on hardware."""
    frame = block_size + field_size
    if profile.err_offset == "block-last-byte":
        return (k + 1) * frame - 1
    return k * (frame if profile.err_offset == "block-start" else block_size)


def _reads_little(profile: Profile, kind: str) -> bool:
    """Whether the number is read little endian. CRC32 is printed as it is in memory; the others are open."""
    if kind == "crc32c":
        return profile.err_value_order_crc32c == "value"
    if kind == "crc64_xp10":
        return profile.err_value_order_crc64 == "value"
    return False
