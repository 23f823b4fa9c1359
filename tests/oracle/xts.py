"""AES-XTS written out from IEEE 1619-2007, 5.3 and 5.4, on top of the bare block cipher.

Only AES itself is a library's; tweaks, their multiplication and ciphertext stealing are done here by hand.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB


def _aes(key: bytes, block: bytes, decipher: bool = False) -> bytes:
    cipher = Cipher(AES(key), ECB())
    context = cipher.decryptor() if decipher else cipher.encryptor()
    return context.update(block) + context.finalize()


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def _next(tweak: bytes) -> bytes:
    """Times the primitive element: a shift left of the little-endian number, 0x87 where a bit falls out."""
    shifted = int.from_bytes(tweak, "little") << 1
    if shifted >> 128:
        shifted = shifted & (1 << 128) - 1 ^ 0x87
    return shifted.to_bytes(16, "little")


def encrypt_unit(data: bytes, key: bytes, number: int) -> bytes:
    """One data unit of at least 16 bytes."""
    data_key, tweak_key = key[: len(key) // 2], key[len(key) // 2 :]
    tweak = _aes(tweak_key, (number % (1 << 128)).to_bytes(16, "little"))
    blocks, rest = divmod(len(data), 16)
    out = []
    for j in range(blocks):
        out.append(_xor(_aes(data_key, _xor(data[16 * j : 16 * j + 16], tweak)), tweak))
        tweak = _next(tweak)
    if rest:
        stolen = out.pop()
        last = data[16 * blocks :] + stolen[rest:]
        out.append(_xor(_aes(data_key, _xor(last, tweak)), tweak))
        out.append(stolen[:rest])
    return b"".join(out)


def encrypt(data: bytes, key: bytes, tweak: int, unit: int) -> bytes:
    return b"".join(
        encrypt_unit(data[at : at + unit], key, tweak + number) for number, at in enumerate(range(0, len(data), unit))
    )
