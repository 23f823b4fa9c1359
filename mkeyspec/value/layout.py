"""What an mkey is made of: parts of memories and other mkeys, in a list or interleaved.

The virtual space of an mkey begins at offset 0 and runs through its parts in order
(mlx5dv_wr_post(3), mlx5dv_wr_set_mkey_layout: "virtually contiguous").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mkeyspec.reference.layout import Segment, interleaved
from mkeyspec.value.expression import Expression
from mkeyspec.value.live import Int, NoValue, Read, evaluate

MOST_ENTRIES = 100_000
"""Repetitions of an entry that a number of the device may ask for."""


@dataclass(frozen=True, slots=True, repr=False)
class Part(Expression):
    """`length` bytes of the memory or mkey `name`, from `start`. `but` overrides `addr`, `length`, `lkey`, `rkey`…"""

    name: str
    start: Int
    length: Int
    but: tuple[tuple[str, Int], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Expression):
    """An entry of an interleaved layout: `count` bytes of `part`, then `skip` left out, once a repeat.

    Only where the part starts matters; its own length does not (mlx5dv_wr_post(3), struct mlx5dv_mr_interleaved).
    """

    part: Part
    count: Int
    skip: Int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Repeated(Expression):
    """The same entry `times` times over, where the number may depend on the device."""

    part: Part | Chunk
    times: Int


@dataclass(frozen=True, slots=True, repr=False)
class List(Expression):
    parts: tuple[Part | Repeated, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Interleaved(Expression):
    """Chunk by chunk, `repeat` times; in repeat r a chunk begins r * (count + skip) after its part's start."""

    repeat: Int
    entries: tuple[Chunk | Repeated, ...]


Layout = List | Interleaved


def _fixed(value: Int) -> int:
    if isinstance(value, int):
        return value
    raise ValueError(f"{value!r} is known to the device only")


def entries_of(layout: Layout) -> Iterator[Part | Chunk]:
    """The entries as they are posted, repetitions written out. ValueError if a number is live."""
    for entry in layout.parts if isinstance(layout, List) else layout.entries:
        if isinstance(entry, Repeated):
            for _ in range(_fixed(entry.times)):
                yield entry.part
        else:
            yield entry


def layout_length(layout: Layout) -> int | None:
    """Bytes of the virtual space; None if it depends on the device."""
    total: int = 0
    for entry in layout.parts if isinstance(layout, List) else layout.entries:
        part, times = (entry.part, entry.times) if isinstance(entry, Repeated) else (entry, 1)
        size = part.count if isinstance(part, Chunk) else part.length
        if not isinstance(times, int) or not isinstance(size, int):
            return None
        total += times * size
    if isinstance(layout, Interleaved):
        if not isinstance(layout.repeat, int):
            return None
        total *= layout.repeat
    return total


def walk(layout: Layout) -> list[Segment]:
    """The segments of the virtual space in offset order. ValueError if a number is live (`resolve` first)."""
    if isinstance(layout, List):
        return [
            (part.name, _fixed(part.start), _fixed(part.length))
            for part in entries_of(layout)
            if isinstance(part, Part)
        ]
    chunks = [
        (chunk.part.name, _fixed(chunk.part.start), _fixed(chunk.count), _fixed(chunk.skip))
        for chunk in entries_of(layout)
        if isinstance(chunk, Chunk)
    ]
    return interleaved(_fixed(layout.repeat), chunks)


def resolve(layout: Layout, read: Read) -> Layout:
    """The same layout with every live number read and every repetition written out. Raises NoValue."""

    def part_of(part: Part) -> Part:
        return Part(
            part.name,
            evaluate(part.start, read),
            evaluate(part.length, read),
            tuple((member, evaluate(value, read)) for member, value in part.but),
        )

    def written_out(entries: Iterable[Part | Chunk | Repeated]) -> Iterator[Part | Chunk]:
        for entry in entries:
            one, times = (entry.part, evaluate(entry.times, read)) if isinstance(entry, Repeated) else (entry, 1)
            fixed: Part | Chunk = (
                part_of(one)
                if isinstance(one, Part)
                else Chunk(part_of(one.part), evaluate(one.count, read), evaluate(one.skip, read))
            )
            if not 0 <= times <= MOST_ENTRIES:
                raise NoValue(f"{times} entries of a layout; 0 to {MOST_ENTRIES} can be written out")
            yield from (fixed,) * times

    if isinstance(layout, List):
        return List(tuple(part for part in written_out(layout.parts) if isinstance(part, Part)))
    chunks = tuple(chunk for chunk in written_out(layout.entries) if isinstance(chunk, Chunk))
    return Interleaved(evaluate(layout.repeat, read), chunks)
