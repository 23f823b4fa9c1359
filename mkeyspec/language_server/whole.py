"""Compiles a document whole: all diagnostics, the rows of its cases, and the lengths of what they declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics.source import Source
from mkeyspec.language_server.finding import Finding, split
from mkeyspec.language_server.place import Place
from mkeyspec.language_server.reading import pieces_of
from mkeyspec.project.source import at_levels


class Length(NamedTuple):
    """`size` bytes of what the line declares under this name; the line is counted from that of the case."""

    line: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Told:
    """Of a case: its rows, and the lengths that are the same in all of them."""

    rows: int
    lengths: tuple[Length, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """The result for `text`. `found`: by its pieces; `told`: by the name of the case, of those without errors."""

    text: str
    found: tuple[tuple[Finding, ...], ...]
    told: dict[str, Told]


def compiled(place: Place, text: str) -> Whole:
    """Compile `text` as that of the file at `place`."""
    raw = text.encode("utf-8")
    done = compile_file(
        place.path, root=place.root, base=place.project, own=place.own, instead=raw, unsaved=place.unsaved
    )
    done = at_levels(done, place.levels)
    source = done.loaded.file.source if done.loaded is not None else Source(place.path.name, text, place.path)
    told = {case.name: _told(case) for case in done.sound}
    return Whole(text, tuple(split(list(done.diagnostics), source, pieces_of(text))), told)


def _told(case: plan.Case) -> Told:
    lengths: dict[tuple[int, str], set[int]] = {}
    for row in case.rows:
        for step in row.steps:
            if isinstance(step, plan.Memory):
                lengths.setdefault((step.at.line - case.at.line, step.name), set()).add(step.length)
    same = (Length(line, name, sizes.pop()) for (line, name), sizes in lengths.items() if len(sizes) == 1)
    return Told(len(case.rows), tuple(same))
