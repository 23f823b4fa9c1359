"""Faults of AES-XTS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mkeyspec.abi.constants import CryptoOrder
from mkeyspec.device.model import crypto
from mkeyspec.device.model.configuration import Builder, Configuration
from mkeyspec.device.model.crypto import Crypto, DataKey
from mkeyspec.device.model.data_path import Movement, TranslatedSge
from mkeyspec.device.model.key import Bytes, IndirectKey
from mkeyspec.device.model.signature import Between
from mkeyspec.device.protocol import CryptoAttr
from mkeyspec.sabotage.fault import fault

BEFORE, AFTER = int(CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX), int(CryptoOrder.SIGNATURE_AFTER_CRYPTO_ON_TX)


def _attributes(name: str, change: Callable[[CryptoAttr, Crypto], Crypto]) -> None:
    """The attributes as they are taken over by a configuration, changed."""

    @fault(name)
    class Mutant(Builder):
        def _crypto(self, configuration: Configuration, attr: CryptoAttr) -> None:
            Builder._crypto(self, configuration, attr)
            if configuration.crypto is not None:
                configuration.crypto = change(attr, configuration.crypto)


def _order(wanted: int, worked: int) -> Callable[[CryptoAttr, Crypto], Crypto]:
    def change(attr: CryptoAttr, made: Crypto) -> Crypto:
        if attr.signature_crypto_order != wanted:
            return made
        return replace(made, at=crypto.form(made.encrypt_on_tx, worked))

    return change


def _halves(attr: CryptoAttr, made: Crypto) -> Crypto:
    key, half = made.key.key, len(made.key.key) // 2
    return replace(made, key=DataKey(key[half:] + key[:half], made.key.keytag))


_attributes("xts_tweak_big_endian", lambda attr, made: replace(made, tweak=int.from_bytes(attr.initial_tweak, "big")))
_attributes("xts_tweak_ignored", lambda attr, made: replace(made, tweak=0))
_attributes("xts_tweak_early", lambda attr, made: replace(made, tweak=made.tweak + 1))
_attributes("xts_keys_swapped", _halves)
_attributes("xts_direction_swapped", lambda attr, made: replace(made, encrypt_on_tx=not made.encrypt_on_tx))
_attributes("xts_unit_512", lambda attr, made: replace(made, unit=512))
_attributes("field_over_ciphertext", _order(BEFORE, AFTER))
_attributes("field_encrypted", _order(AFTER, BEFORE))
_attributes("keytag_unchecked", lambda attr, made: replace(made, key=DataKey(made.key.key, None)))

Cipher = Callable[[Bytes], Bytes]


def _ciphers(name: str, change: Callable[[Callable[[Crypto, int], Cipher], Crypto, bool, int], Cipher]) -> None:
    """`change` makes the cipher of a stream. It is told how to make a right one of attributes and what went before."""

    @fault(name)
    class Mutant(Movement):
        def cipher(self, used: Crypto, transmit: bool, before: int) -> Between:
            straight = super().cipher
            return change(lambda attributes, went: straight(attributes, transmit, went), used, transmit, before)


Make = Callable[[Crypto, int], Cipher]


def _by_unit(make: Make, used: Crypto, before: int, tweak: Callable[[int], int]) -> Cipher:
    """A stream unit by unit; `tweak` makes that of the message's n-th."""

    def cipher(stream: Bytes) -> Bytes:
        starts = range(0, len(stream), used.unit)
        units = [
            make(replace(used, tweak=tweak((before + start) // used.unit)), 0)(stream[start : start + used.unit])
            for start in starts
        ]
        return np.concatenate(units) if units else stream

    return cipher


def _constant(make: Make, used: Crypto, transmit: bool, before: int) -> Cipher:
    return _by_unit(make, used, before, lambda unit: used.tweak)


def _64_bits(make: Make, used: Crypto, transmit: bool, before: int) -> Cipher:
    low = (1 << 64) - 1
    return _by_unit(make, used, before, lambda unit: used.tweak & ~low | used.tweak + unit & low)


def _restarts(make: Make, used: Crypto, transmit: bool, before: int) -> Cipher:
    return make(used, 0)


def _plain(stream: Bytes) -> Bytes:
    return stream


def _last_plain(make: Make, used: Crypto, transmit: bool, before: int) -> Cipher:
    straight = make(used, before)

    def cipher(stream: Bytes) -> Bytes:
        made: Bytes = straight(stream).copy()
        last = (len(stream) - 1) // used.unit * used.unit
        made[last:] = stream[last:]
        return made

    return cipher


def _whole_units(make: Make, used: Crypto, transmit: bool, before: int) -> Cipher:
    straight = make(used, before)

    def cipher(stream: Bytes) -> Bytes:
        if crypto.fits(len(stream), used.unit):
            return straight(stream)
        whole = len(stream) // used.unit * used.unit
        return np.concatenate((straight(stream[:whole]), stream[whole:])) if whole else stream

    return cipher


_ciphers("xts_tweak_constant", _constant)
_ciphers("xts_tweak_64_bits", _64_bits)
_ciphers("xts_tweak_restarts_with_sge", _restarts)
_ciphers("xts_transmit_plain", lambda make, used, transmit, before: _plain if transmit else make(used, before))
_ciphers("xts_receive_plain", lambda make, used, transmit, before: make(used, before) if transmit else _plain)
_ciphers("xts_last_unit_plain", _last_plain)
_ciphers("crypto_job_unchecked", _whole_units)


class _AnyJob(Crypto):
    """Attributes that take any length."""

    __slots__ = ()

    def admit(self, length: int) -> None:
        if self.key.keytag is not None and self.key.keytag != self.keytag:
            super().admit(length)


@fault("crypto_job_unchecked")
class CryptoJobUnchecked(Builder):
    def _crypto(self, configuration: Configuration, attr: CryptoAttr) -> None:
        Builder._crypto(self, configuration, attr)
        made = configuration.crypto
        if made is not None:
            configuration.crypto = _AnyJob(made.key, made.keytag, made.encrypt_on_tx, made.at, made.tweak, made.unit)


@fault("crypto_missing_plain")
class CryptoMissingPlain(Movement):
    def _admit(self, place: TranslatedSge, found: IndirectKey) -> None:
        if found.crypto is not None:
            super()._admit(place, found)
