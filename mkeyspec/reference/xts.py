"""AES-XTS (IEEE 1619) over data units.

A buffer is a run of data units; unit i is enciphered with the 128-bit tweak `tweak + i`, stored little endian
(IEEE 1619-2007, 5.1; mlx5dv_wr_set_mkey_crypto(3), initial_tweak). The last unit may be shorter, down to one AES
block; what is not a whole block is dealt with by ciphertext stealing.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB, XTS

from mkeyspec.reference.buffer import Buffer, octets

BLOCK = 16
"""Bytes of an AES block, and the shortest data unit."""


def check_key(key: bytes) -> None:
    """ValueError unless `key` is two AES keys of 128 or of 256 bits.

    They may be equal: vector 1 of IEEE 1619-2007, annex B, has both zero. FIPS 140-2 IG A.9 forbids it later.
    """
    if len(key) not in (32, 64):
        raise ValueError(f"an AES-XTS key is two AES keys, 32 or 64 bytes, not {len(key)}")


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
    half = len(key) // 2
    # OpenSSL refuses equal keys.
    turn = _by_blocks if key[:half] == key[half:] else _by_library
    out = []
    for number, at in enumerate(range(0, len(view), unit)):
        initial = (tweak + number & (1 << 128) - 1).to_bytes(BLOCK, "little")
        out.append(turn(view[at : at + unit], key, initial, encipher))
    return b"".join(out)


def _by_library(unit: memoryview, key: bytes, tweak: bytes, encipher: bool) -> bytes:
    cipher = Cipher(AES(key), XTS(tweak))
    context = cipher.encryptor() if encipher else cipher.decryptor()
    return context.update(unit) + context.finalize()


def _by_blocks(unit: memoryview, key: bytes, tweak: bytes, encipher: bool) -> bytes:
    """One data unit, block by block (IEEE 1619-2007, 5.3.2 and 5.4.2)."""
    half = len(key) // 2
    data = Cipher(AES(key[:half]), ECB())
    block = (data.encryptor() if encipher else data.decryptor()).update
    mask = int.from_bytes(Cipher(AES(key[half:]), ECB()).encryptor().update(tweak), "little")

    def turned(text: bytes, mask: int) -> bytes:
        number = int.from_bytes(text, "little") ^ mask
        return (int.from_bytes(block(number.to_bytes(BLOCK, "little")), "little") ^ mask).to_bytes(BLOCK, "little")

    text = bytes(unit)
    whole, rest = divmod(len(text), BLOCK)
    out = []
    for i in range(whole - bool(rest)):
        out.append(turned(text[i * BLOCK : (i + 1) * BLOCK], mask))
        mask = _doubled(mask)
    if rest:
        # Ciphertext stealing: the last two blocks trade their masks when deciphered.
        first, second = (mask, _doubled(mask)) if encipher else (_doubled(mask), mask)
        last = turned(text[-rest - BLOCK : -rest], first)
        out += [turned(text[-rest:] + last[rest:], second), last[:rest]]
    return b"".join(out)


def _doubled(mask: int) -> int:
    """Times x in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1."""
    mask <<= 1
    return mask ^ (1 << 128 | 0x87) if mask >> 128 else mask
