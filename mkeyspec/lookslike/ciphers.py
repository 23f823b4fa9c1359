"""Near misses of AES-XTS, and of its order with the signature."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from mkeyspec.lookslike.blocks import SIZES
from mkeyspec.lookslike.hypothesis import Crypt, CryptJob, Hypothesis, Rules
from mkeyspec.reference import xts


def _turned(job: CryptJob) -> bytes:
    return (xts.encrypt if job.encipher else xts.decrypt)(job.data, job.key, job.tweak, job.unit)


def _changed(change: Callable[[CryptJob], CryptJob]) -> Crypt:
    return lambda job: _turned(change(job))


def _by_units(tweak: Callable[[CryptJob, int], int]) -> Crypt:
    """Every data unit with the tweak of (job, its number)."""

    def crypt(job: CryptJob) -> bytes:
        pieces = []
        for number, at in enumerate(range(0, len(job.data), job.unit)):
            piece = job.data[at : at + job.unit]
            pieces.append(_turned(replace(job, data=piece, tweak=tweak(job, number) & (1 << 128) - 1)))
        return b"".join(pieces)

    return crypt


def _turned_bytes(number: int) -> int:
    return int.from_bytes((number & (1 << 128) - 1).to_bytes(16, "little"), "big")


def _swapped_words(number: int) -> int:
    return (number >> 64 | number << 64) & (1 << 128) - 1


def _keys_swapped(job: CryptJob) -> CryptJob:
    half = len(job.key) // 2
    return replace(job, key=job.key[half:] + job.key[:half])


def _one_key(half: int) -> Callable[[CryptJob], CryptJob]:
    def change(job: CryptJob) -> CryptJob:
        size = len(job.key) // 2
        return replace(job, key=job.key[half * size :][:size] * 2)

    return change


def _first_unit(job: CryptJob) -> bytes:
    return _turned(replace(job, data=job.data[: job.unit])) + job.data[job.unit :]


def _but_last_unit(job: CryptJob) -> bytes:
    last = (len(job.data) - 1) // job.unit * job.unit
    if not last:
        raise ValueError
    return _turned(replace(job, data=job.data[:last])) + job.data[last:]


def _unit(size: int) -> Callable[[CryptJob], CryptJob]:
    return lambda job: replace(job, unit=size)


def _at_entries(job: CryptJob) -> bytes:
    """The tweak begins anew with the first data unit that begins in an entry."""
    if len(job.starts) < 2:
        raise ValueError
    pieces, number, entry = [], 0, 0
    for at in range(0, len(job.data), job.unit):
        now = bisect_right(job.starts, at)
        number, entry = (number, entry) if now == entry else (0, now)
        pieces.append(_turned(replace(job, data=job.data[at : at + job.unit], tweak=job.tweak + number)))
        number += 1
    return b"".join(pieces)


_CIPHERS: tuple[tuple[str, str, Crypt], ...] = (
    ("none", "nothing is encrypted or decrypted", lambda job: job.data),
    ("direction", "it is decrypted where it should be encrypted, and the reverse", _changed(
        lambda job: replace(job, encipher=not job.encipher))),
    ("keys_swapped", "the data key and the tweak key are swapped", _changed(_keys_swapped)),
    ("first_key", "the first half of the key is used for both", _changed(_one_key(0))),
    ("second_key", "the second half of the key is used for both", _changed(_one_key(1))),
    ("key_backwards", "the bytes of the key are in the other order", _changed(
        lambda job: replace(job, key=job.key[::-1]))),
    ("tweak_not_incremented", "the tweak is not incremented from unit to unit", _by_units(
        lambda job, i: job.tweak)),
    ("tweak_zero", "the tweak begins at 0", _changed(lambda job: replace(job, tweak=0))),
    ("tweak_one_more", "the tweak begins one too high", _changed(lambda job: replace(job, tweak=job.tweak + 1))),
    ("tweak_by_two", "the tweak is incremented by 2", _by_units(lambda job, i: job.tweak + 2 * i)),
    ("tweak_by_bytes", "the tweak is incremented by the bytes of a unit", _by_units(
        lambda job, i: job.tweak + i * job.unit)),
    ("tweak_by_sectors", "the tweak is incremented by the sectors of 512 bytes", _by_units(
        lambda job, i: job.tweak + i * job.unit // 512)),
    ("tweak_big_endian", "the tweak is taken big endian, and incremented so", _by_units(
        lambda job, i: _turned_bytes(_turned_bytes(job.tweak) + i))),
    ("tweak_stored_big_endian", "the tweak is stored big endian", _by_units(
        lambda job, i: _turned_bytes(job.tweak + i))),
    ("tweak_read_big_endian", "the initial tweak is read big endian", _by_units(
        lambda job, i: _turned_bytes(job.tweak) + i)),
    ("tweak_restarts", "the tweak begins anew within the message", _by_units(
        lambda job, i: job.tweak + i % max(-(-len(job.data) // job.unit) // 2, 1))),
    ("tweak_restarts_at_entries", "the tweak begins anew at each entry of the layout", _at_entries),
    ("tweak_words", "the two halves of the tweak are swapped", _by_units(
        lambda job, i: _swapped_words(job.tweak + i))),
    ("tweak_down", "the tweak is decremented", _by_units(lambda job, i: job.tweak - i)),
    *((f"tweak_{bits}_bits", f"the carry of the tweak is lost after {bits} bits", _by_units(
        lambda job, i, m=(1 << bits) - 1: job.tweak & ~m | (job.tweak + i) & m))  # type: ignore[misc]
      for bits in (8, 16, 32, 64)),
    ("tweak_low_half", "only the low 64 bits of the tweak are used", _by_units(
        lambda job, i: (job.tweak + i) & (1 << 64) - 1)),
    ("tweak_low_word", "only the low 32 bits of the tweak are used", _by_units(
        lambda job, i: (job.tweak + i) & (1 << 32) - 1)),
    ("first_unit_only", "only the first data unit is encrypted or decrypted", _first_unit),
    ("but_last_unit", "the last data unit is not encrypted or decrypted", _but_last_unit),
    ("one_unit", "all of it is one data unit", _changed(lambda job: replace(job, unit=max(len(job.data), 16)))),
    *((f"unit_{size}", f"the data unit is taken as {size} bytes", _changed(_unit(size))) for size in SIZES),
)  # fmt: skip

CIPHERS: tuple[Hypothesis, ...] = (
    *(Hypothesis(f"crypto.{name}", sentence, Rules(crypt=crypt)) for name, sentence, crypt in _CIPHERS),
    Hypothesis("crypto.order", "the signature and the encryption are in the other order", Rules(crypto_order=True)),
)
