"""Byte strings as expressions: how the bytes come about, their length, and on demand the bytes.

Constructing a node checks and computes nothing. Authors' values are made by the functions at the end, which
refuse nonsense with a ValueError and fold what is trivial. `explain(i)` says why byte i is what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as member
from typing import TYPE_CHECKING, ClassVar

from mkeyspec.value.cache import DATA
from mkeyspec.value.expression import Expression
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Domain, Signature, T10Dif


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


EMPTY = Literal(b"")

# Constructors for authors' values ------------------------------------------------------------


def counter(length: int) -> ByteString:
    return Counter(_size(length))


def fill(byte: int, length: int) -> ByteString:
    if not 0 <= byte <= 255:
        raise ValueError(f"{byte:#x} is no byte")
    return Fill(byte, _size(length))


def random(length: int, seed: int) -> ByteString:
    if seed < 0:
        raise ValueError(f"a seed is not negative: {seed}")
    return Random(_size(length), seed)


def slice_of(of: ByteString, start: int, length: int) -> ByteString:
    """Bytes `start` to `start + length` of `of`."""
    _inside(of, start, _size(length))
    if length == of.length:
        return of
    if not length:
        return EMPTY
    if isinstance(of, Slice):
        return Slice(of.of, of.start + start, length)
    if isinstance(of, Fill):
        return Fill(of.byte, length)
    if isinstance(of, Literal):
        return Literal(of.value[start : start + length])
    if isinstance(of, Join):
        return _slice_of_join(of, start, start + length)
    return Slice(of, start, length)


def _slice_of_join(of: Join, start: int, end: int) -> ByteString:
    pieces: list[ByteString] = []
    at = 0
    for part in of.parts:
        low, high = max(start, at), min(end, at + part.length)
        if low < high:
            pieces.append(slice_of(part, low - at, high - low))
        at += part.length
        if at >= end:
            break
    return join(pieces)


def join(parts: list[ByteString] | tuple[ByteString, ...]) -> ByteString:
    """`parts` strung together: joins are flattened, neighbouring literals and fills melted."""
    flat: list[ByteString] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Join) else (part,):
            last = flat[-1] if flat else None
            if not piece.length:
                continue
            if isinstance(piece, Literal) and isinstance(last, Literal):
                flat[-1] = Literal(last.value + piece.value)
            elif isinstance(piece, Fill) and isinstance(last, Fill) and piece.byte == last.byte:
                flat[-1] = Fill(piece.byte, last.length + piece.length)
            elif (
                isinstance(piece, Slice)
                and isinstance(last, Slice)
                and piece.start == last.start + last.length
                and piece.of == last.of
            ):
                flat[-1] = slice_of(piece.of, last.start, last.length + piece.length)
            else:
                flat.append(piece)
    if len(flat) > 1:
        return Join(tuple(flat))
    return flat[0] if flat else EMPTY


def repeat(of: ByteString, times: int) -> ByteString:
    if times < 0:
        raise ValueError(f"nothing can be repeated {times} times")
    if not times or not of.length:
        return EMPTY
    if times == 1:
        return of
    if isinstance(of, Fill):
        return Fill(of.byte, of.length * times)
    if isinstance(of, Repeat):
        return Repeat(of.of, of.times * times)
    return Repeat(of, times)


def framed(of: ByteString, domain: Domain | None, app_tags: tuple[int, ...] = ()) -> ByteString:
    """`of` with the domain's field behind every block; of no domain, `of` itself."""
    if domain is None:
        if app_tags:
            raise ValueError("application tags belong to t10dif, and there is no signature")
        return of
    domain.framed_length(of.length)
    if app_tags:
        blocks = of.length // domain.block
        if not isinstance(domain.signature, T10Dif):
            raise ValueError(f"{domain.signature.kind} has no application tag")
        if len(app_tags) != blocks:
            raise ValueError(f"{len(app_tags)} application tags for {blocks} blocks")
        for tag in app_tags:
            if not 0 <= tag <= 0xFFFF:
                raise ValueError(f"an application tag has 16 bits: {tag:#x}")
    return Framed(of, domain, tuple(app_tags)) if of.length else EMPTY


def strip(stream: ByteString, domain: Domain | None) -> ByteString:
    """`stream` without the fields of `domain`; of no domain, the stream itself."""
    if domain is None:
        return stream
    domain.stripped_length(stream.length)
    if isinstance(stream, Framed) and (stream.domain.block, stream.domain.frame) == (domain.block, domain.frame):
        return stream.of
    return Strip(stream, domain) if stream.length else EMPTY


def field(signature: Signature, block: ByteString, index: int = 0) -> ByteString:
    if index < 0:
        raise ValueError(f"there is no block {index}")
    if not block.length:
        raise ValueError("no field belongs to a block of no bytes")
    return Field(signature, block, index)


def flip(of: ByteString, at: int | Range, bit: int = 0) -> ByteString:
    """Bit `bit` of byte `at` inverted; of a range, of its first byte."""
    start = at.start if isinstance(at, Range) else at
    _inside(of, start, 1)
    if not 0 <= bit <= 7:
        raise ValueError(f"a byte has the bits 0 to 7, not {bit}")
    return Flip(of, start, bit)


def patch(of: ByteString, at: int | Range, new: ByteString) -> ByteString:
    """`new` in place of the bytes from `at`; a range must be as long as `new`."""
    start = at
    if isinstance(at, Range):
        start = at.start
        if at.length != new.length:
            raise ValueError(f"{new.length} bytes in place of {at.length}")
    assert isinstance(start, int)
    _inside(of, start, new.length)
    if not new.length:
        return of
    return new if new.length == of.length else Patch(of, start, new)


def merge(a: ByteString, b: ByteString, positions: tuple[int, ...] | list[int]) -> ByteString:
    """`a`, with the bytes at `positions` taken from `b`."""
    if a.length != b.length:
        raise ValueError(f"{a.length} bytes merged with {b.length}")
    for position in positions:
        _inside(a, position, 1)
    return Merge(a, b, tuple(positions)) if positions else a


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


def _size(length: int) -> int:
    if length < 0:
        raise ValueError(f"a length is not negative: {length}")
    return length


def _inside(of: ByteString, start: int, length: int) -> None:
    if start < 0 or start + length > of.length:
        place = f"byte {start}" if length == 1 else f"[{start}..{start + length}]"
        raise ValueError(f"{place} is not within {of.length} bytes")
