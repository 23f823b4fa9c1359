"""AES-XTS of an mkey's stream: keys, active attributes, the form of the data that is ciphertext, and the allowed
lengths.

mlx5dv_wr_set_mkey_crypto(3), mlx5dv_dek_create(3) and docs/design/data-path.md. The cipher is `reference.xts`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mkeyspec.abi.constants import BLOCK_BYTES, CryptoOrder
from mkeyspec.device.model.access_error import Bytes, Violation
from mkeyspec.device.protocol import CryptoAttr
from mkeyspec.reference import xts

MEMORY, RAW, WIRE = "memory", "raw", "wire"
"""Forms of a message that the cipher works on: the memory's, the bare data, the wire's; fields are in the outer two."""

BEFORE = int(CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX)
ORDERS = tuple(int(order) for order in CryptoOrder)
AES_XTS = 0
KEYTAG = 8
OPAQUE = 8
TWEAK = 16
RULES = ("crypto_missing", "crypto_keytag", "crypto_job")
"""Rules that are checked when an mkey is used."""


@dataclass(frozen=True, slots=True)
class DataKey:
    """A DEK: data key and tweak key, its keytag, and the plaintext metadata that describe it."""

    key: bytes
    keytag: bytes | None
    opaque: bytes = bytes(OPAQUE)


def key(given: bytes, keytag: bytes | None) -> DataKey:
    """ValueError for an invalid AES-XTS key or keytag."""
    xts.check_key(given)
    if keytag is not None and len(keytag) != KEYTAG:
        raise ValueError(f"a keytag has {KEYTAG} bytes, not {len(keytag)}")
    return DataKey(given, keytag)


@dataclass(frozen=True, slots=True)
class Crypto:
    """The active attributes of an mkey. `unit` in bytes; `at` is the form that is ciphertext on one of its sides."""

    key: DataKey
    keytag: bytes
    encrypt_on_tx: bool
    at: str
    tweak: int
    unit: int

    def admit(self, length: int) -> None:
        """Violation unless this key can encrypt `length` bytes (XCRY-09, XCRY-10)."""
        if self.key.keytag is not None and self.key.keytag != self.keytag:
            raise Violation("crypto_keytag")
        if not fits(length, self.unit):
            raise Violation("crypto_job")

    def apply(self, stream: Bytes, transmit: bool, before: int) -> Bytes:
        """The stream, encrypted or decrypted. `before`: bytes of this form that the message had so far, for the tweak
        (XCRY-08).

        Encrypt on TX is decrypt on RX, and the other way round (XCRY-06).
        """
        cipher = xts.encrypt if self.encrypt_on_tx == transmit else xts.decrypt
        return np.frombuffer(cipher(stream, self.key.key, self.tweak + before // self.unit, self.unit), np.uint8)


def fits(length: int, unit: int) -> bool:
    """Whole data units; or whole AES blocks, where the last unit is at least one block long and one block short (IEEE
    1619)."""
    rest = length % unit
    return not rest or (not length % xts.BLOCK and xts.BLOCK <= rest <= unit - xts.BLOCK)


def form(encrypt_on_tx: bool, order: int) -> str:
    """The form of the data on which the cipher works: the page's table of signature_crypto_order, row by row.

    Rows that the table leaves out (encrypted data under fields of memory alone, AFTER; of the wire alone, BEFORE) are
    treated like rows B and J: the fields are not encrypted.
    """
    if encrypt_on_tx:
        return WIRE if order == BEFORE else RAW  # A C D E, A B
    return RAW if order == BEFORE else MEMORY  # F J, F G H I


def attributes(attr: CryptoAttr, dek: DataKey) -> Crypto:
    """The attributes that passed the rules of the setter."""
    encrypt = bool(attr.encrypt_on_tx)
    return Crypto(
        dek,
        attr.keytag[:KEYTAG].ljust(KEYTAG, b"\0"),
        encrypt,
        form(encrypt, attr.signature_crypto_order),
        int.from_bytes(attr.initial_tweak[:TWEAK], "little"),
        BLOCK_BYTES[attr.data_unit_size],
    )
