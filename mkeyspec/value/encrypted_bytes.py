"""Byte strings encrypted and decrypted by AES-XTS (IEEE 1619)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mkeyspec.value.expression import HEX, Style
from mkeyspec.value.node import EMPTY, ByteString, Steps


@dataclass(frozen=True, slots=True, repr=False)
class _Xts(ByteString):
    """AES-XTS over data units of `unit` bytes; unit i has the tweak `tweak + i`. `key` is both keys, 32 or 64 bytes."""

    of: ByteString
    key: ByteString
    tweak: int = 0
    unit: int = 512

    styles: ClassVar[Mapping[str, Style]] = {"tweak": HEX}

    @property
    def length(self) -> int:
        return self.of.length

    def inside(self) -> tuple[object, ...]:
        return (self.of, self.key)


@dataclass(frozen=True, slots=True, repr=False)
class XtsEncrypt(_Xts):
    """`of` enciphered."""

    def compute(self) -> bytes:
        from mkeyspec.reference import xts

        return xts.encrypt(self.of.data, self.key.data, self.tweak, self.unit)

    def reasons(self, i: int) -> Steps:
        return (*_unit(self, i, "enciphered"), *self.of.explain(i))


@dataclass(frozen=True, slots=True, repr=False)
class XtsDecrypt(_Xts):
    """`of` deciphered: the inverse of XtsEncrypt."""

    def compute(self) -> bytes:
        from mkeyspec.reference import xts

        return xts.decrypt(self.of.data, self.key.data, self.tweak, self.unit)

    def reasons(self, i: int) -> Steps:
        return (*_unit(self, i, "deciphered"), *self.of.explain(i))


def _unit(value: _Xts, i: int, done: str) -> Steps:
    unit, byte = divmod(i, value.unit)
    tweak = value.tweak + unit & (1 << 128) - 1
    return (f"data unit {unit}, byte {byte}", f"AES-XTS {done}, tweak {tweak:#x}")


def xts_encrypt(of: ByteString, key: ByteString, tweak: int = 0, unit: int = 512) -> ByteString:
    """`of` enciphered by AES-XTS; `key` is the data key and the tweak key, 32 or 64 bytes."""
    _xts(of, key, unit)
    return XtsEncrypt(of, key, tweak, unit) if of.length else EMPTY


def xts_decrypt(of: ByteString, key: ByteString, tweak: int = 0, unit: int = 512) -> ByteString:
    """`of` deciphered, the inverse of `xts_encrypt`."""
    _xts(of, key, unit)
    return XtsDecrypt(of, key, tweak, unit) if of.length else EMPTY


def _xts(of: ByteString, key: ByteString, unit: int) -> None:
    from mkeyspec.reference.xts import check_key, check_lengths

    check_key(key.data)
    check_lengths(of.length, unit)
