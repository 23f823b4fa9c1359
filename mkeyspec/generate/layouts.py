"""Layouts: drawn for a number of bytes, over regions of memory with gaps, and through other keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from mkeyspec.generate.machine import Layout
from mkeyspec.generate.values import Value, joined, noise
from mkeyspec.reference.layout import Strip

SKIPS = (0, 0, 0, 1, 2, 7, 8, 9, 63, 64, 65, 4096)
GAPS = (0, 0, 0, 1, 7, 64, 100)
MISALIGNED = (0, 0, 0, 1, 7, 63)


@dataclass(frozen=True, slots=True)
class Run:
    """Part of a region: `times` runs of `size` bytes of the stream from `first` on, each `step` after the one before,
    and `gap` other bytes after each. `size` 0: other bytes alone."""

    first: int
    size: int
    gap: int = 0
    step: int = 0
    times: int = 1


@dataclass(slots=True)
class Region:
    """A memory that a layout names, and where the stream's bytes are in it."""

    name: str
    seed: int
    runs: list[Run] = field(default_factory=list)
    declared: bool = False
    misaligned: int = 0

    @property
    def size(self) -> int:
        return sum(run.times * (run.size + run.gap) for run in self.runs)

    def contents(self, stream: Value) -> Value:
        """The region's bytes where its layout holds `stream`."""
        return joined([_run(run, stream, self.seed + number) for number, run in enumerate(self.runs)])

    def shifted(self, by: int) -> None:
        """The stream's bytes begin `by` later."""
        self.runs = [Run(run.first + by, run.size, run.gap, run.step, run.times) for run in self.runs]


def _run(run: Run, stream: Value, seed: int) -> Value:
    gap = noise(run.gap, seed) if run.gap else Value("", b"")
    if run.times == 1:
        return joined([stream.part(run.first, run.size), gap])
    data = b"".join(
        stream.data[at : at + run.size] + gap.data
        for at in range(run.first, run.first + run.step * run.times, run.step)
    )
    start = f"{run.step} * i" if run.step > 0 else f"{run.first} - {-run.step} * i"
    if run.step > 0 and run.first:
        start = f"{run.first} + {start}"
    tail = f" ++ {gap.text}" if run.gap else ""
    return Value(f"join([{stream.atom}[{start} +: {run.size}]{tail} for i in 0..{run.times}])", data)


@dataclass(slots=True)
class Shape:
    """A layout, as text and to the machine. `inner`: keys that it names, to be configured first."""

    kind: str
    text: str
    layout: Layout
    regions: list[Region]
    length: int
    entries: int
    inner: list[tuple[str, Shape]] = field(default_factory=list)

    def every_region(self) -> Iterator[Region]:
        yield from self.regions
        for _, shape in self.inner:
            yield from shape.every_region()


class Layouts:
    """Draws layouts. `name_of` gives names that the case does not have."""

    def __init__(self, rng: Random, name_of: Callable[[str], str], most: int) -> None:
        self.rng = rng
        self.name_of = name_of
        self.most = most
        """Entries that fit into a work request."""

    def shape(self, length: int, *, nested: int = 0) -> Shape:
        """A layout of `length` bytes. `nested`: keys that it may go through, one below the other."""
        rng = self.rng
        kind = rng.choices(
            ("whole", "pieces", "even", "crumbs", "interleaved", "nested"),
            (2, 5, 1.5, 2, 5, 3 if nested and length > 1 else 0),
        )[0]
        if length < 4 and kind in ("crumbs", "even"):
            kind = "whole"
        made: Shape = getattr(self, f"_{kind}")(*((length, nested) if kind == "nested" else (length,)))
        for region in made.regions:
            if not region.misaligned:
                region.misaligned = rng.choice(MISALIGNED)
        return made

    def _region(self) -> Region:
        return Region(self.name_of("buf"), self.rng.randrange(1000))

    def _whole(self, length: int) -> Shape:
        region, gap = self._region(), self.rng.choice(GAPS)
        region.runs = [Run(0, 0, gap)] * bool(gap) + [Run(0, length)]
        text = f"list({region.name}[{gap} +: {length}])" if gap else f"list({region.name})"
        return Shape("list", text, Layout(((region.name, gap, length, 0),)), [region], length, 1)

    def _pieces(self, length: int, most: int = 9) -> Shape:
        rng = self.rng
        count = min(rng.choice((2, 2, 3, 3, 4, 5, 7, 8, 9)), length, self.most, most)
        cuts = _cuts(rng, length, count)
        regions = [self._region() for _ in range(min(rng.choice((1, 2, 3, 4)), count))]
        homes = [
            number % len(regions) if number < len(regions) else rng.randrange(len(regions)) for number in range(count)
        ]
        rng.shuffle(homes)
        strips: list[Strip | None] = [None] * count
        for which, region in enumerate(regions):
            mine = [number for number in range(count) if homes[number] == which]
            rng.shuffle(mine)
            at = 0
            for number in mine:
                gap = rng.choice(GAPS)
                first, size = cuts[number]
                region.runs += [Run(0, 0, gap)] * bool(gap) + [Run(first, size)]
                strips[number] = (region.name, at + gap, size, 0)
                at += gap + size
        given = [one for one in strips if one is not None]
        text = f"list({', '.join(f'{name}[{at} +: {size}]' for name, at, size, _ in given)})"
        return Shape("list", text, Layout(tuple(given)), regions, length, count)

    def _even(self, length: int) -> Shape:
        rng = self.rng
        count = max(1, min(rng.choice((2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 34, 40, 51)), length, self.most))
        region = self._region()
        region.runs = [Run(0, length)]
        size, more = divmod(length, count)
        ends = [number * size + min(number, more) for number in range(count + 1)]
        strips = tuple((region.name, ends[i], ends[i + 1] - ends[i], 0) for i in range(count))
        return Shape("list", f"list(cut({region.name}, {count}))", Layout(strips), [region], length, count)

    def _crumbs(self, length: int) -> Shape:
        """Entries of one size with gaps between them, forwards or backwards, and one for the rest."""
        rng = self.rng
        count = max(2, min(rng.choice((2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 34, 40, 50)), length // 2, self.most - 1))
        size, rest = divmod(length, count)
        gap, back = rng.choice(GAPS[2:]), rng.random() < 0.5
        pitch, region = size + gap, self._region()
        if back:
            region.runs = [Run(size * (count - 1), size, gap, -size, count)]
            places = [pitch * (count - 1 - i) for i in range(count)]
            text = f"[{region.name}[{pitch * (count - 1)} - {pitch} * i +: {size}] for i in 0..{count}]"
        else:
            region.runs = [Run(0, size, gap, size, count)]
            places = [pitch * i for i in range(count)]
            text = f"[{region.name}[{pitch} * i +: {size}] for i in 0..{count}]"
        strips = [(region.name, at, size, 0) for at in places]
        if rest:
            region.runs.append(Run(size * count, rest))
            strips.append((region.name, pitch * count, rest, 0))
            text = f"{text} ++ [{region.name}[{pitch * count} +: {rest}]]"
        return Shape("list", f"list({text})", Layout(tuple(strips)), [region], length, len(strips))

    def _interleaved(self, length: int) -> Shape:
        rng = self.rng
        turns = _turns(rng, length)
        width = length // turns
        if width >= 1 << 16:
            return self._pieces(length)
        most = min(width, self.most - 1)
        count = min(rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 16, 31)), most)
        counts = [size for _, size in _cuts(rng, width, count)]
        regions = [self._region() for _ in range(min(count, rng.choice((1, 2, 3, 4))))]
        strips: list[Strip] = []
        first = 0
        for number, size in enumerate(counts):
            region = regions[number % len(regions)]
            skip = rng.choice([one for one in SKIPS if one * turns <= 40_000 and one + size < 1 << 16])
            strips.append((region.name, region.size, size, skip))
            region.runs.append(Run(first, size, skip, width, turns))
            first += size
        words = [
            f"{name}{f'[{at}..]' if at else ''} count {size}{f' skip {skip}' if skip else ''}"
            for name, at, size, skip in strips
        ]
        text = f"interleaved({turns}, {', '.join(words)})"
        return Shape("interleaved", text, Layout(tuple(strips), turns, True), regions, length, count + 1)

    def _nested(self, length: int, depth: int) -> Shape:
        """Two or three entries, of which one goes through another key."""
        rng = self.rng
        count = min(rng.choice((1, 2, 3)), length)
        cuts = _cuts(rng, length, count)
        through = rng.randrange(count)
        regions: list[Region] = []
        inner: list[tuple[str, Shape]] = []
        strips: list[Strip] = []
        for number, (first, size) in enumerate(cuts):
            if number != through:
                region, gap = self._region(), rng.choice(GAPS)
                region.runs = [Run(0, 0, gap)] * bool(gap) + [Run(first, size)]
                regions.append(region)
                strips.append((region.name, gap, size, 0))
                continue
            shape = self.shape(size, nested=depth - 1)
            for region in shape.every_region():
                region.shifted(first)
            offset = 0 if shape.layout.strided else rng.choice((0, 0, 1, 8, 100))
            if offset:
                shape = self._behind(offset, shape)
            key = self.name_of("inner")
            inner.append((key, shape))
            strips.append((key, offset, size, 0))
        text = f"list({', '.join(f'{name}[{at} +: {size}]' for name, at, size, _ in strips)})"
        return Shape("nested", text, Layout(tuple(strips)), regions, length, count, inner)

    def _behind(self, offset: int, shape: Shape) -> Shape:
        """The list after an entry of `offset` other bytes."""
        region = self._region()
        region.runs = [Run(0, 0, offset)]
        text = shape.text.replace("list(", f"list({region.name}, ", 1)
        layout = Layout(((region.name, 0, offset, 0), *shape.layout.strips))
        regions = [region, *shape.regions]
        return Shape(shape.kind, text, layout, regions, offset + shape.length, shape.entries + 1, shape.inner)


def _cuts(rng: Random, length: int, count: int) -> list[tuple[int, int]]:
    """`count` pieces of `length` bytes, as first byte and size; often cut near the end of a block or of a field."""
    near = [
        at for base in (512, 516, 520, 1024, 1032, 4096, 4104) for at in (base - 1, base, base + 1) if 0 < at < length
    ]
    points: set[int] = set()
    while len(points) < count - 1:
        points.add(rng.choice(near) if near and rng.random() < 0.3 else rng.randrange(1, length))
    ends = [0, *sorted(points), length]
    return [(a, b - a) for a, b in pairwise(ends)]


def _turns(rng: Random, length: int) -> int:
    divisors = [one for one in range(2, min(length, 1200) + 1) if length % one == 0]
    small = [one for one in divisors if one <= 9]
    if not divisors or rng.random() < 0.1:
        return 1
    return rng.choice(small if small and rng.random() < 0.75 else divisors)
