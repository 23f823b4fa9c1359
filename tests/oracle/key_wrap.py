"""AES key wrap written out from RFC 3394, 2.2.1, on top of the bare block cipher, which alone is a library's."""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB


def wrap(key: bytes, kek: bytes) -> bytes:
    """The variant that computes by indices: n semiblocks, six times round."""
    cipher = Cipher(AES(kek), ECB()).encryptor()
    register = 0xA6A6A6A6A6A6A6A6
    parts = [key[at : at + 8] for at in range(0, len(key), 8)]
    for j in range(6):
        for i, part in enumerate(parts, start=1):
            block = cipher.update(register.to_bytes(8, "big") + part)
            register = int.from_bytes(block[:8], "big") ^ (len(parts) * j + i)
            parts[i - 1] = block[8:]
    return register.to_bytes(8, "big") + b"".join(parts)
