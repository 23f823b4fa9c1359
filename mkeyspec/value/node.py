"""The nodes of a byte string's expression: frozen, compared by value, written down as their constructor's call.

A node checks and computes nothing when it is made; `length` is cheap, `data` is computed when it is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as member
from typing import TYPE_CHECKING, ClassVar

from mkeyspec.value.cache import DATA
from mkeyspec.value.expression import Expression
from mkeyspec.value.signature import Domain, Signature


class ByteString(Expression):
    """Bytes that are known without a device."""

    __slots__ = ()

    if TYPE_CHECKING:  # at run time a member of some classes, a property of others

        @property
        def length(self) -> int: ...

    @property
    def data(self) -> bytes:
        """The bytes. Kept for a while in a bounded cache, by value."""
        return DATA.get(self, self._bytes)

    def _bytes(self) -> bytes:
        # Imported when bytes are first wanted: checking a suite needs lengths only, and numpy is slow to load.
        from mkeyspec.value.content import content

        return content(self)

    def explain(self, i: int) -> tuple[str, ...]:
        """Why byte `i` is what it is, outermost reason first. IndexError beyond the end."""
        from mkeyspec.value.explanation import explanation

        return explanation(self, i)

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

    def __repr__(self) -> str:
        if self.value.isascii() and self.value.decode("ascii").isprintable():
            return f"Literal({self.value!r})"
        return f"Literal(bytes.fromhex('{self.value.hex()}'))"


@dataclass(frozen=True, slots=True, repr=False)
class Counter(ByteString):
    """Byte i is (i + (i >> 8)) & 255: blocks of 512 all differ, so that a swap is seen."""

    length: int


@dataclass(frozen=True, slots=True, repr=False)
class Fill(ByteString):
    byte: int
    length: int

    hexadecimal: ClassVar[frozenset[str]] = frozenset({"byte"})


@dataclass(frozen=True, slots=True, repr=False)
class Random(ByteString):
    """Raw 64-bit outputs of numpy's PCG64(seed), each little endian: a stream numpy guarantees for all releases."""

    length: int
    seed: int


@dataclass(frozen=True, slots=True, repr=False)
class Slice(ByteString):
    of: ByteString
    start: int
    length: int


@dataclass(frozen=True, slots=True, repr=False)
class Join(ByteString):
    parts: tuple[ByteString, ...]
    length: int = member(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", sum(part.length for part in self.parts))


@dataclass(frozen=True, slots=True, repr=False)
class Repeat(ByteString):
    of: ByteString
    times: int

    @property
    def length(self) -> int:
        return self.of.length * self.times


@dataclass(frozen=True, slots=True, repr=False)
class Framed(ByteString):
    """`of` with the domain's field behind every block. `app_tags`: one a block, instead of the signature's."""

    of: ByteString
    domain: Domain
    app_tags: tuple[int, ...] = ()

    hexadecimal: ClassVar[frozenset[str]] = frozenset({"app_tags"})

    @property
    def length(self) -> int:
        return self.of.length // self.domain.block * self.domain.frame


@dataclass(frozen=True, slots=True, repr=False)
class Strip(ByteString):
    """A framed stream without its fields."""

    stream: ByteString
    domain: Domain

    @property
    def length(self) -> int:
        return self.stream.length // self.domain.frame * self.domain.block


@dataclass(frozen=True, slots=True, repr=False)
class Field(ByteString):
    """The field of one block; `index` is the block's number, for REF_REMAP."""

    signature: Signature
    block: ByteString
    index: int = 0

    @property
    def length(self) -> int:
        return self.signature.field_size


@dataclass(frozen=True, slots=True, repr=False)
class Flip(ByteString):
    """One bit of byte `at` inverted; bit 0 is the least significant."""

    of: ByteString
    at: int
    bit: int = 0

    @property
    def length(self) -> int:
        return self.of.length


@dataclass(frozen=True, slots=True, repr=False)
class Patch(ByteString):
    """`new` in place of the bytes from `at`."""

    of: ByteString
    at: int
    new: ByteString

    @property
    def length(self) -> int:
        return self.of.length


@dataclass(frozen=True, slots=True, repr=False)
class Merge(ByteString):
    """`a`, with the bytes at `positions` taken from `b`."""

    a: ByteString
    b: ByteString
    positions: tuple[int, ...]

    @property
    def length(self) -> int:
        return self.a.length


@dataclass(frozen=True, slots=True, repr=False)
class XtsEncrypt(ByteString):
    """AES-XTS over data units of `unit` bytes; unit i has the tweak `tweak + i`. `key` is both keys, 32 or 64 bytes."""

    of: ByteString
    key: ByteString
    tweak: int = 0
    unit: int = 512

    hexadecimal: ClassVar[frozenset[str]] = frozenset({"tweak"})

    @property
    def length(self) -> int:
        return self.of.length


@dataclass(frozen=True, slots=True, repr=False)
class XtsDecrypt(ByteString):
    of: ByteString
    key: ByteString
    tweak: int = 0
    unit: int = 512

    hexadecimal: ClassVar[frozenset[str]] = frozenset({"tweak"})

    @property
    def length(self) -> int:
        return self.of.length
