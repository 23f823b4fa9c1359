"""AES key wrap (RFC 3394; KW of NIST SP 800-38F), by OpenSSL.

mlx5dv_dek_create(3) and mlx5dv_crypto_login_create(3) call it ENC(iv_64b + key). The initial value is RFC 3394's
default, 0xA6A6A6A6A6A6A6A6, and the result has 8 bytes more than the key.
"""

from __future__ import annotations

from cryptography.hazmat.primitives import keywrap

SEMIBLOCK = 8
"""Bytes by which a wrapped key is longer. A key is two semiblocks or more, and whole ones."""
KEK_BYTES = (16, 24, 32)
"""Of the key that wraps: an AES key."""


def wrap(key: bytes, kek: bytes) -> bytes:
    """`key` wrapped by `kek`. ValueError for a `kek` that is not an AES key, and for a `key` that is not two or
    more whole semiblocks of 8 bytes (RFC 3394)."""
    _check(kek, key, 2 * SEMIBLOCK)
    return keywrap.aes_key_wrap(kek, key)


def unwrap(wrapped: bytes, kek: bytes) -> bytes | None:
    """The key, or None if its integrity check fails: another `kek` wrapped it, or its bytes were changed. ValueError as
    of `wrap`, with `wrapped` of three semiblocks or more."""
    _check(kek, wrapped, 3 * SEMIBLOCK)
    try:
        return keywrap.aes_key_unwrap(kek, wrapped)
    except keywrap.InvalidUnwrap:
        return None


def _check(kek: bytes, data: bytes, least: int) -> None:
    if len(kek) not in KEK_BYTES:
        raise ValueError(f"a key that wraps has 16, 24 or 32 bytes, not {len(kek)}")
    if len(data) < least or len(data) % SEMIBLOCK:
        raise ValueError(f"AES key wrap takes a multiple of 8 bytes, {least} or more, not {len(data)}")
