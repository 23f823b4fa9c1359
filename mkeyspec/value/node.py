"""The base class of byte strings, and the basic ones: literals, patterns, and joined pieces of others.

A node is frozen, compared by value, and written as its constructor's call. It checks and computes nothing when it is
made: `length` is cheap, `data` is computed when it is needed. Each class has its length, its bytes, the reason of
each byte, and the values it is made of.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as member
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from mkeyspec.value.cache import DATA
from mkeyspec.value.expression import HEX, Expression, Style

Steps = tuple[str, ...]
"""The reasons for a byte, the outermost first."""


class ByteString(Expression):
    """Bytes that are known without a device."""

    __slots__ = ()

    if TYPE_CHECKING:  # at run time a member of some classes, a property of others

        @property
        def length(self) -> int: ...

    @property
    def data(self) -> bytes:
        """The bytes. Kept for a while in a bounded cache, by value."""
        return DATA.get(self, self.compute)

    @abstractmethod
    def compute(self) -> bytes:
        """The bytes, computed again; those of the values inside come from the cache where they can.

        numpy and the references are imported here, when bytes are first wanted: checking a suite needs lengths only.
        """

    def explain(self, i: int) -> Steps:
        """The reasons for byte `i`, outermost first. IndexError beyond the end. Nodes that do not change the byte (a
        patch elsewhere, a flip of another byte) give none.
        """
        if not 0 <= i < self.length:
            raise IndexError(f"byte {i} of {self.length}")
        return self.reasons(i)

    @abstractmethod
    def reasons(self, i: int) -> Steps:
        """The reasons for byte `i`, which exists."""

    def __len__(self) -> int:
        return self.length


@dataclass(frozen=True, slots=True, repr=False)
class Literal(ByteString):
    """Bytes as they are."""

    value: bytes

    @property
    def length(self) -> int:
        return len(self.value)

    @property
    def data(self) -> bytes:
        return self.value

    def compute(self) -> bytes:
        return self.value

    def reasons(self, i: int) -> Steps:
        return (f"literal, byte {i} of {self.length}",)

    def __repr__(self) -> str:
        if self.value.isascii() and self.value.decode("ascii").isprintable():
            return f"Literal({self.value!r})"
        return f"Literal(bytes.fromhex('{self.value.hex()}'))"


EMPTY = Literal(b"")


@dataclass(frozen=True, slots=True, repr=False)
class Counter(ByteString):
    """Byte i is (i + (i >> 8)) & 255: blocks of 512 all differ, so that a swap is seen."""

    length: int

    def compute(self) -> bytes:
        import numpy as np

        i = np.arange(self.length, dtype=np.uint64)
        data: bytes = (i + (i >> np.uint64(8))).astype(np.uint8).tobytes()
        return data

    def reasons(self, i: int) -> Steps:
        return (f"counter({self.length}), byte {i}",)


@dataclass(frozen=True, slots=True, repr=False)
class Fill(ByteString):
    byte: int
    length: int

    styles: ClassVar[Mapping[str, Style]] = {"byte": HEX}

    def compute(self) -> bytes:
        return bytes((self.byte,)) * self.length

    def reasons(self, i: int) -> Steps:
        return (f"fill({self.byte:#04x}, {self.length})",)


@dataclass(frozen=True, slots=True, repr=False)
class Random(ByteString):
    """Raw 64-bit outputs of numpy's PCG64(seed), each little endian: a stream numpy guarantees for all releases.

    Bit generators, and how they are seeded, are what numpy keeps stable between releases; the methods of its
    Generator are not.
    """

    length: int
    seed: int

    def compute(self) -> bytes:
        import numpy as np

        raw = np.random.PCG64(self.seed).random_raw(-(-self.length // 8))
        data: bytes = raw.astype("<u8").tobytes()
        return data[: self.length]

    def reasons(self, i: int) -> Steps:
        return (f"random({self.length}, seed={self.seed}), byte {i}",)


@dataclass(frozen=True, slots=True, repr=False)
class Slice(ByteString):
    of: ByteString
    start: int
    length: int

    def inside(self) -> tuple[object, ...]:
        return (self.of,)

    def compute(self) -> bytes:
        return self.of.data[self.start : self.start + self.length]

    def reasons(self, i: int) -> Steps:
        at = self.start + i
        return (f"byte {at} of {self.of.length}", *self.of.explain(at))


@dataclass(frozen=True, slots=True, repr=False)
class Join(ByteString):
    parts: tuple[ByteString, ...]
    length: int = member(init=False, repr=False, compare=False)
    _starts: list[int] | None = member(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", sum([part.length for part in self.parts]))
        object.__setattr__(self, "_starts", None)

    def starts(self) -> list[int]:
        """Where each part begins. A join of many parts is cut often."""
        starts = self._starts
        if starts is None:
            starts = [0, *accumulate([part.length for part in self.parts])][:-1]
            object.__setattr__(self, "_starts", starts)
        return starts

    def inside(self) -> tuple[object, ...]:
        return self.parts

    def compute(self) -> bytes:
        return b"".join(part.data for part in self.parts)

    def reasons(self, i: int) -> Steps:
        at = 0
        for number, part in enumerate(self.parts, 1):
            if i < at + part.length:
                return (f"part {number} of {len(self.parts)}, byte {i - at}", *part.explain(i - at))
            at += part.length
        raise AssertionError(i)


@dataclass(frozen=True, slots=True, repr=False)
class Repeat(ByteString):
    of: ByteString
    times: int

    @property
    def length(self) -> int:
        return self.of.length * self.times

    def inside(self) -> tuple[object, ...]:
        return (self.of,)

    def compute(self) -> bytes:
        return self.of.data * self.times

    def reasons(self, i: int) -> Steps:
        turn, at = divmod(i, self.of.length)
        return (f"copy {turn + 1} of {self.times}, byte {at}", *self.of.explain(at))
