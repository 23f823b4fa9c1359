"""AES-XTS (IEEE 1619) over data units.

A buffer is a run of data units; unit i is enciphered with the 128-bit tweak `tweak + i`, stored little endian
(IEEE 1619-2007, 5.1; mlx5dv_wr_set_mkey_crypto(3), initial_tweak). The last unit may be shorter, down to one AES
block; what is no whole block is dealt with by ciphertext stealing.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import XTS

from mkeyspec.reference.buffer import Buffer, octets

BLOCK = 16
"""Bytes of an AES block, and the shortest data unit."""


def check_key(key: bytes) -> None:
    """ValueError unless `key` is two different AES keys of 128 or of 256 bits."""
    if len(key) not in (32, 64):
        raise ValueError(f"an AES-XTS key is two AES keys, 32 or 64 bytes, not {len(key)}")
    half = len(key) // 2
    if key[:half] == key[half:]:
        raise ValueError("the two halves of an AES-XTS key must differ (FIPS 140-2 IG A.9); no library computes this")


def check_lengths(length: int, unit: int) -> None:
    """ValueError unless `length` bytes are data units of `unit` bytes, the last one perhaps shorter."""
    if unit < BLOCK:
        raise ValueError(f"a data unit has at least {BLOCK} bytes, not {unit}")
    rest = length % unit
    if 0 < rest < BLOCK:
        raise ValueError(f"the last data unit would have {rest} bytes; AES-XTS needs {BLOCK}")


def encrypt(data: Buffer, key: bytes, tweak: int = 0, unit: int = 512) -> bytes:
    """`data` enciphered. `key`: data key, then tweak key. ValueError for what AES-XTS is not defined for."""
    return _units(data, key, tweak, unit, encipher=True)


def decrypt(data: Buffer, key: bytes, tweak: int = 0, unit: int = 512) -> bytes:
    """`data` deciphered, the inverse of `encrypt`."""
    return _units(data, key, tweak, unit, encipher=False)


def _units(data: Buffer, key: bytes, tweak: int, unit: int, *, encipher: bool) -> bytes:
    check_key(key)
    view = octets(data).data
    check_lengths(len(view), unit)
    out = []
    for number, at in enumerate(range(0, len(view), unit)):
        mode = XTS((tweak + number & (1 << 128) - 1).to_bytes(16, "little"))
        cipher = Cipher(AES(key), mode)
        context = cipher.encryptor() if encipher else cipher.decryptor()
        out.append(context.update(view[at : at + unit]) + context.finalize())
    return b"".join(out)
