"""Byte strings with some bytes changed: a bit inverted, a part replaced, two merged, two exclusive-or."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mkeyspec.value.node import ByteString, Steps
from mkeyspec.value.range import Range


@dataclass(frozen=True, slots=True, repr=False)
class Flip(ByteString):
    """One bit of byte `at` inverted; bit 0 is the least significant."""

    of: ByteString
    at: int
    bit: int = 0

    @property
    def length(self) -> int:
        return self.of.length

    def inside(self) -> tuple[object, ...]:
        return (self.of,)

    def compute(self) -> bytes:
        data = bytearray(self.of.data)
        data[self.at] ^= 1 << self.bit
        return bytes(data)

    def reasons(self, i: int) -> Steps:
        below = self.of.explain(i)
        return (f"bit {self.bit} flipped by the case", *below) if i == self.at else below


def flip(of: ByteString, at: int | Range, bit: int = 0) -> ByteString:
    """Bit `bit` of byte `at` inverted; of a range, of its first byte."""
    start = at.start if isinstance(at, Range) else at
    check_inside(of, start, 1)
    if not 0 <= bit <= 7:
        raise ValueError(f"a byte has the bits 0 to 7, not {bit}")
    return Flip(of, start, bit)


@dataclass(frozen=True, slots=True, repr=False)
class Patch(ByteString):
    """`new` in place of the bytes from `at`."""

    of: ByteString
    at: int
    new: ByteString

    @property
    def length(self) -> int:
        return self.of.length

    def inside(self) -> tuple[object, ...]:
        return (self.of, self.new)

    def compute(self) -> bytes:
        data = self.of.data
        return b"".join((data[: self.at], self.new.data, data[self.at + self.new.length :]))

    def reasons(self, i: int) -> Steps:
        if self.at <= i < self.at + self.new.length:
            return (f"patched, byte {i - self.at} of {self.new.length}", *self.new.explain(i - self.at))
        return self.of.explain(i)


def patch(of: ByteString, at: int | Range, new: ByteString) -> ByteString:
    """`new` in place of the bytes from `at`; a range must be as long as `new`."""
    start = at
    if isinstance(at, Range):
        start = at.start
        if at.length != new.length:
            raise ValueError(f"{new.length} bytes in place of {at.length}")
    assert isinstance(start, int)
    check_inside(of, start, new.length)
    if not new.length:
        return of
    return new if new.length == of.length else Patch(of, start, new)


@dataclass(frozen=True, slots=True, repr=False)
class Merge(ByteString):
    """`a`, with the bytes at `positions` taken from `b`."""

    a: ByteString
    b: ByteString
    positions: tuple[int, ...]

    @property
    def length(self) -> int:
        return self.a.length

    def inside(self) -> tuple[object, ...]:
        return (self.a, self.b)

    def compute(self) -> bytes:
        data, other = bytearray(self.a.data), self.b.data
        for position in self.positions:
            data[position] = other[position]
        return bytes(data)

    def reasons(self, i: int) -> Steps:
        if i in self.positions:
            return ("merged from the second", *self.b.explain(i))
        return ("merged from the first", *self.a.explain(i))


def merge(a: ByteString, b: ByteString, positions: Sequence[int]) -> ByteString:
    """`a`, with the bytes at `positions` taken from `b`."""
    if a.length != b.length:
        raise ValueError(f"{a.length} bytes merged with {b.length}")
    for position in positions:
        check_inside(a, position, 1)
    return Merge(a, b, tuple(positions)) if positions else a


@dataclass(frozen=True, slots=True, repr=False)
class Xor(ByteString):
    """The bytes of `a` and `b`, of one length, exclusive-or."""

    a: ByteString
    b: ByteString

    @property
    def length(self) -> int:
        return self.a.length

    def inside(self) -> tuple[object, ...]:
        return (self.a, self.b)

    def compute(self) -> bytes:
        both = int.from_bytes(self.a.data, "big") ^ int.from_bytes(self.b.data, "big")
        return both.to_bytes(self.length, "big")

    def reasons(self, i: int) -> Steps:
        return (f"exclusive or with {self.b.data[i]:#04x}", *self.a.explain(i))


def xor(a: ByteString, b: ByteString) -> ByteString:
    """The exclusive or of two byte strings of one length."""
    if a.length != b.length:
        raise ValueError(f"{a.length} bytes exclusive-or {b.length}")
    return Xor(a, b) if a.length else a


def check_inside(of: ByteString, start: int, length: int) -> None:
    if start < 0 or start + length > of.length:
        place = f"byte {start}" if length == 1 else f"[{start}..{start + length}]"
        raise ValueError(f"{place} is not within {of.length} bytes")
