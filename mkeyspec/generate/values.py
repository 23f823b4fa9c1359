"""Byte strings as the language writes them, beside the bytes that they are by the references.

A case is written from these, so that a person can read where a byte comes from. What the machine predicts is bytes; the
case compares it with a value only if the two are equal (`Script.told`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mkeyspec.generate.blocks import frame_of, split_of
from mkeyspec.generate.domain import Domain
from mkeyspec.reference import xts
from mkeyspec.value.bytestring import random as random_bytes


@dataclass(frozen=True, slots=True)
class Value:
    """`text` in the language is `data`. `joined`: it takes brackets to be indexed."""

    text: str
    data: bytes
    joined: bool = False

    def __len__(self) -> int:
        return len(self.data)

    @property
    def atom(self) -> str:
        return f"({self.text})" if self.joined else self.text

    def part(self, start: int, length: int) -> Value:
        """`length` bytes from `start`; the value itself where that is all of it."""
        if start == 0 and length == len(self):
            return self
        return Value(f"{self.atom}[{start} +: {length}]", self.data[start : start + length])


@lru_cache(maxsize=64)
def _random(length: int, seed: int) -> bytes:
    return random_bytes(length, seed).data


def noise(length: int, seed: int) -> Value:
    """Bytes without a pattern; one seed gives the same ones, longer or shorter."""
    return Value(f"random({length}, seed={seed})", _random(length, seed))


def literal(data: bytes) -> Value:
    """Bytes in hex."""
    return Value(f'hex"{data.hex()}"', data)


def joined(values: Sequence[Value]) -> Value:
    """One after the other; empty ones are left out."""
    some = [one for one in values if len(one)]
    if len(some) == 1:
        return some[0]
    return Value(" ++ ".join(one.text for one in some) or 'hex""', b"".join(one.data for one in some), len(some) > 1)


def framed(data: Value, domain: Domain | None, name: str) -> Value:
    """`data` with its fields. `name` of the domain in the case."""
    if domain is None:
        return data
    return Value(f"framed({data.text}, {name})", frame_of(domain, data.data))


def stripped(stream: Value, domain: Domain | None, name: str) -> Value:
    """The data of a framed stream, whatever its fields are."""
    if domain is None:
        return stream
    return Value(f"strip({stream.text}, {name})", split_of(domain, stream.data)[0].tobytes())


def flipped(value: Value, at: int, where: str, bit: int) -> Value:
    """One bit inverted. `where`: the place as the language says it, a range that begins at byte `at`."""
    data = bytearray(value.data)
    data[at] ^= 1 << bit
    return Value(f"flip({value.text}, {where}, bit={bit})", bytes(data))


def patched(value: Value, at: int, where: str, new: bytes) -> Value:
    """`new` in place of the bytes at `where`."""
    data = bytearray(value.data)
    data[at : at + len(new)] = new
    return Value(f'patch({value.text}, {where}, hex"{new.hex()}")', bytes(data))


def enciphered(value: Value, key: Value, tweak: int, unit: int) -> Value:
    """AES-XTS over data units."""
    text = f"xts_encrypt({value.text}, {key.text}, tweak={tweak:#x}, unit={unit})"
    return Value(text, xts.encrypt(value.data, key.data, tweak, unit))


def deciphered(value: Value, key: Value, tweak: int, unit: int) -> Value:
    """The inverse of `enciphered`."""
    text = f"xts_decrypt({value.text}, {key.text}, tweak={tweak:#x}, unit={unit})"
    return Value(text, xts.decrypt(value.data, key.data, tweak, unit))
