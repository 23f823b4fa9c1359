"""Reads the parts of a file that have changed: syntax, names, and the shapes of statements.

A file is its *head* (all before the first case) and its cases, a *piece* each. A piece is read together with the head,
and with empty lines in place of the other pieces, by the compiler's own passes. So the time of a keystroke is that of
one case, whatever the length of the file. What only the whole file can tell (rows, rules of the pages, names of cases
that are there twice) comes from compiling it (`whole`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from mkeyspec.compiler.known_mistakes import with_known_mistakes
from mkeyspec.compiler.loader import load
from mkeyspec.compiler.meanings import Meanings
from mkeyspec.compiler.resolve import resolve
from mkeyspec.compiler.statements.check_shapes import check_sentences
from mkeyspec.compiler.statements.registry import CASE
from mkeyspec.compiler.warning_levels import settle
from mkeyspec.diagnostics.diagnostic import Diagnostic, Diagnostics, TooManyErrors
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.language_server.place import Place
from mkeyspec.process.collector import no_collection
from mkeyspec.syntax import ast

_CASE = re.compile(r"^[ \t\f]*case\b", re.MULTILINE)
"""`case` begins a statement wherever it begins a line: it ends every open bracket."""

OF_THE_WHOLE_FILE = frozenset({"MKS0119", "MKS0609", "MKS0610"})
"""What can't be said of the head without all cases."""


def pieces_of(text: str) -> list[tuple[int, int]]:
    """Where the pieces of a text are: the head, which may be empty, then each case."""
    starts = [0, *(found.start() for found in _CASE.finditer(text))]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read. `source`: of the file with empty lines; `file`: its tree, with cases that have mistakes, None if
    nothing is usable; `library`: the `let`s that the cases see; `places`: of the pieces that were read."""

    source: Source
    head: int
    places: tuple[tuple[int, int], ...]
    file: ast.File | None
    library: tuple[ast.Let, ...]
    uses: tuple[tuple[Span, Span | None], ...]
    declarations: tuple[tuple[Span, Span | None], ...]
    found: tuple[Diagnostic, ...]

    def of(self, start: int, end: int) -> list[ast.Case]:
        """The cases that begin there."""
        return [] if self.file is None else [case for case in self.file.cases if start <= case.span.start < end]


def masked(text: str, places: Sequence[tuple[int, int]], wanted: Collection[int]) -> tuple[str, list[int]]:
    """`text` with empty lines in place of the pieces that aren't wanted, and where each piece begins in it."""
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for at, (start, end) in enumerate(places):
        part = text[start:end] if at == 0 or at in wanted else "\n" * text.count("\n", start, end)
        starts.append(length)
        parts.append(part)
        length += len(part)
    return "".join(parts), starts


def read(place: Place, text: str, places: Sequence[tuple[int, int]], wanted: Collection[int]) -> Reading:
    """Read the head and the pieces whose numbers are `wanted`. `places` as in the masked text, in the result."""
    shown, starts = masked(text, places, wanted)
    lengths = [end - start for start, end in places]
    mine = tuple((starts[at], starts[at] + lengths[at]) for at in sorted(wanted))
    head = lengths[0]
    diagnostics = Diagnostics()
    meanings = Meanings()
    file: ast.File | None = None
    library: tuple[ast.Let, ...] = ()
    with no_collection(), suppress(TooManyErrors):
        raw = shown.encode("utf-8")
        loaded = load(place.path, diagnostics, place.root, place.project, raw, place.unsaved, broken=True)
        if loaded is not None:
            file, library = loaded.file, loaded.library
            _look(file, library, head, diagnostics, meanings)
    settled = settle(_without_consequences(diagnostics), None, place.levels)
    source = file.source if file is not None else Source(place.path.name, shown, place.path)
    return Reading(
        source, head, mine, file, library, tuple(meanings.uses), tuple(meanings.declarations), tuple(settled)
    )


def _without_consequences(diagnostics: Diagnostics) -> Diagnostics:
    """What is found, with known mistakes named. What only the whole file can tell hides nothing of a case: it is not
    found where that case is read alone."""
    of_the_pieces = Diagnostics([one for one in diagnostics.found if one.code not in OF_THE_WHOLE_FILE])
    of_the_file = [one for one in diagnostics.found if one.code in OF_THE_WHOLE_FILE]
    return Diagnostics([*with_known_mistakes(of_the_pieces).found, *of_the_file])


def _look(
    file: ast.File, library: tuple[ast.Let, ...], head: int, diagnostics: Diagnostics, meanings: Meanings
) -> None:
    """Names and shapes; of a case that can't be read whole, what its names mean, and nothing else."""
    errors = [one for one in diagnostics.errors if one.code not in OF_THE_WHOLE_FILE]
    wrong = sorted(one.span.start for one in errors if one.span.source is file.source)
    headless = bool(wrong) and wrong[0] < head
    ends = [*(case.span.start for case in file.cases[1:]), len(file.source.text) + 1]
    bad = [headless or _any_in(wrong, case.span.start, end) for case, end in zip(file.cases, ends, strict=False)]
    verbs = frozenset(CASE.shapes)
    good = tuple(case for case, is_bad in zip(file.cases, bad, strict=True) if not is_bad)
    if not headless:
        resolve(replace(file, cases=good), library, diagnostics, verbs, meanings)
        for case in good:
            check_sentences(case, diagnostics)
    if headless or len(good) < len(file.cases):
        rest = tuple(case for case, is_bad in zip(file.cases, bad, strict=True) if is_bad)
        with suppress(TooManyErrors):
            resolve(replace(file, cases=rest), library, Diagnostics(), verbs, meanings)


def _any_in(places: Sequence[int], start: int, end: int) -> bool:
    at = bisect_left(places, start)
    return at < len(places) and places[at] < end
