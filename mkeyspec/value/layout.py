"""Layouts of mkeys: parts of memories and other mkeys, in a list or interleaved.

The virtual space of an mkey begins at offset 0 and runs through its parts in order
(mlx5dv_wr_post(3), mlx5dv_wr_set_mkey_layout: "virtually contiguous").
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import ClassVar, Generic, TypeVar

from mkeyspec.reference.layout import Segment, interleaved
from mkeyspec.value.expression import Expression
from mkeyspec.value.live import Int, NoValue, Read, evaluate, is_known

MOST_ENTRIES = 100_000
"""Repetitions of an entry that a number of the device may ask for."""


class Entry(Expression):
    """An entry of a layout as it is given. Its members answer all questions, so callers do not test its class."""

    __slots__ = ()

    repeated: ClassVar[bool] = False
    """Whether a number says how many times it is posted."""

    @abstractmethod
    def bare(self) -> Part | Chunk:
        """The entry without its repetitions."""

    @abstractmethod
    def target(self) -> Part:
        """The part that it names."""

    @abstractmethod
    def size(self) -> Int:
        """Bytes that one repetition adds to the virtual space (in each repeat of an interleaved layout)."""

    def repetitions(self) -> Int:
        """How many times it is posted."""
        return 1


@dataclass(frozen=True, slots=True, repr=False)
class Part(Entry):
    """`length` bytes of the memory or mkey `name`, from `start`. `but` overrides `addr`, `length`, `lkey`, `rkey`…"""

    name: str
    start: Int
    length: Int
    but: tuple[tuple[str, Int], ...] = ()

    def bare(self) -> Part:
        return self

    def target(self) -> Part:
        return self

    def size(self) -> Int:
        return self.length

    def bounds(self) -> tuple[int, int] | None:
        """Start and length where both are known."""
        start, length = self.start, self.length
        return (start, length) if is_known(start) and is_known(length) else None

    def resolved(self, read: Read) -> Part:
        """The same part with every live number read. Raises NoValue."""
        but = tuple((member, evaluate(value, read)) for member, value in self.but)
        return Part(self.name, evaluate(self.start, read), evaluate(self.length, read), but)


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Entry):
    """An entry of an interleaved layout: `count` bytes of `part`, then `skip` bytes skipped, in each repeat.

    Only where the part starts matters; its own length does not (mlx5dv_wr_post(3), struct mlx5dv_mr_interleaved).
    """

    part: Part
    count: Int
    skip: Int = 0

    def bare(self) -> Chunk:
        return self

    def target(self) -> Part:
        return self.part

    def size(self) -> Int:
        return self.count

    def resolved(self, read: Read) -> Chunk:
        """The same chunk with every live number read. Raises NoValue."""
        return Chunk(self.part.resolved(read), evaluate(self.count, read), evaluate(self.skip, read))


Repeats = TypeVar("Repeats", bound=Part | Chunk, covariant=True)
Bare = TypeVar("Bare", Part, Chunk)


@dataclass(frozen=True, slots=True, repr=False)
class Repeated(Entry, Generic[Repeats]):
    """The same entry `times` times over, where the number may depend on the device."""

    repeated: ClassVar[bool] = True

    part: Repeats
    times: Int

    def bare(self) -> Repeats:
        return self.part

    def target(self) -> Part:
        return self.part.target()

    def size(self) -> Int:
        return self.part.size()

    def repetitions(self) -> Int:
        return self.times


def as_often(entry: Bare | Repeated[Bare], bare: Bare) -> Bare | Repeated[Bare]:
    """`bare` as many times over as the entry is."""
    return replace(entry, part=bare) if isinstance(entry, Repeated) else bare


class _Layout(Expression):
    """Common members of a layout, so that callers do not test its class."""

    __slots__ = ("_segments", "_starts", "_walked")

    strided: ClassVar[bool]
    """Whether its entries are taken in turn, with bytes left out (mlx5dv_wr_set_mkey_layout_interleaved)."""

    length: int | None
    """Bytes of the virtual space; None if it depends on the device."""
    _segments: list[Segment]
    _starts: list[int]
    _walked: list[Segment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", self._length())

    @abstractmethod
    def given(self) -> tuple[Entry, ...]:
        """The entries as they are given, repetitions not written out."""

    def turns(self) -> Int:
        """How many times all entries are repeated."""
        return 1

    def targets(self) -> tuple[Part, ...]:
        """The part of each entry, in order."""
        return tuple([entry.target() for entry in self.given()])

    @abstractmethod
    def walk(self) -> list[Segment]:
        """The segments of the virtual space in offset order. ValueError if a number is live (`resolve` first)."""

    def window(self, start: int, length: int) -> list[Segment]:
        """The segments under `length` bytes from offset `start`, which are inside. ValueError as `walk`.

        Not to be changed: all of them are the list that the layout keeps.
        """
        segments, starts = self._filled()
        if not start and length == self.length:
            return segments
        found: list[Segment] = []
        end = start + length
        for number in range(bisect_right(starts, start) - 1, bisect_left(starts, end)):
            name, first, size = segments[number]
            low, high = max(start, starts[number]), min(end, starts[number] + size)
            if low < high:
                found.append((name, first + low - starts[number], high - low))
        return found

    def walked(self) -> Sequence[Segment]:
        """As `walk`: the list that the layout keeps. A layout is asked often, and made once."""
        try:
            return self._walked
        except AttributeError:
            walked = self.walk()
            object.__setattr__(self, "_walked", walked)
            return walked

    def _filled(self) -> tuple[list[Segment], list[int]]:
        """The segments with bytes, and the offset at which each begins."""
        try:
            return self._segments, self._starts
        except AttributeError:
            segments = [segment for segment in self.walked() if segment[2]]
            starts = [0, *accumulate(size for _, _, size in segments)][:-1]
            object.__setattr__(self, "_segments", segments)
            object.__setattr__(self, "_starts", starts)
            return segments, starts

    def _length(self) -> int | None:
        total = 0
        for entry in self.given():
            times, size = entry.repetitions(), entry.size()
            if not is_known(times) or not is_known(size):
                return None
            total += times * size
        turns = self.turns()
        return total * turns if is_known(turns) else None


@dataclass(frozen=True, slots=True, repr=False)
class List(_Layout):
    strided: ClassVar[bool] = False

    parts: tuple[Part | Repeated[Part], ...]
    length: int | None = field(init=False, repr=False, compare=False)

    def given(self) -> tuple[Entry, ...]:
        return self.parts

    def posted(self) -> Iterator[Part]:
        """The entries as they are posted, repetitions written out. ValueError if their number is live."""
        return (entry.bare() for entry in self.parts for _ in range(_fixed(entry.repetitions())))

    def walk(self) -> list[Segment]:
        """The segments of the virtual space in offset order. ValueError if a number is live (`resolve` first)."""
        return [(part.name, _fixed(part.start), _fixed(part.length)) for part in self.posted()]

    def resolve(self, read: Read) -> List:
        """The same layout with every live number read and every repetition written out. Raises NoValue."""
        return List(tuple(_written_out(((entry.bare(), entry.repetitions()) for entry in self.parts), read)))


@dataclass(frozen=True, slots=True, repr=False)
class Interleaved(_Layout):
    """Chunk by chunk, `repeat` times; in repeat r a chunk begins r * (count + skip) after its part's start."""

    strided: ClassVar[bool] = True

    repeat: Int
    entries: tuple[Chunk | Repeated[Chunk], ...]
    length: int | None = field(init=False, repr=False, compare=False)

    def given(self) -> tuple[Entry, ...]:
        return self.entries

    def turns(self) -> Int:
        return self.repeat

    def posted(self) -> Iterator[Chunk]:
        """The entries as they are posted, repetitions written out. ValueError if their number is live."""
        return (entry.bare() for entry in self.entries for _ in range(_fixed(entry.repetitions())))

    def walk(self) -> list[Segment]:
        """The segments of the virtual space in offset order. ValueError if a number is live (`resolve` first)."""
        chunks = [
            (chunk.part.name, _fixed(chunk.part.start), _fixed(chunk.count), _fixed(chunk.skip))
            for chunk in self.posted()
        ]
        return interleaved(_fixed(self.repeat), chunks)

    def resolve(self, read: Read) -> Interleaved:
        """The same layout with every live number read and every repetition written out. Raises NoValue."""
        chunks = tuple(_written_out(((entry.bare(), entry.repetitions()) for entry in self.entries), read))
        return Interleaved(evaluate(self.repeat, read), chunks)


Layout = List | Interleaved


def _written_out(entries: Iterable[tuple[Bare, Int]], read: Read) -> Iterator[Bare]:
    for bare, repetitions in entries:
        times = evaluate(repetitions, read)
        resolved = bare.resolved(read)
        if not 0 <= times <= MOST_ENTRIES:
            raise NoValue(f"{times} entries of a layout; 0 to {MOST_ENTRIES} can be written out")
        yield from (resolved,) * times


def _fixed(value: Int) -> int:
    if is_known(value):
        return value
    raise ValueError(f"{value!r} is known to the device only")
