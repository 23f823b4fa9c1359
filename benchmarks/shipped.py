"""Suites of any size, made of the shipped cases: their texts repeated, under names of their own.

A case keeps its text but for its name. The files of a suite are those of `cases/`, each with its cases repeated,
so that what a file brings in (`use`, `let`) is there as often as it is in life.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from mkeyspec.compiler.compile import compile_file, compile_loaded
from mkeyspec.compiler.loader import Loaded
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import parse

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "cases"


@dataclass(frozen=True)
class Case:
    """A shipped case: its text is `before + name + after`. `rows`: into how many it expands."""

    file: str
    before: str
    name: str
    after: str
    rows: int

    def text(self, number: int) -> str:
        return f"{self.before}{self.name}_{number}{self.after}"


@dataclass(frozen=True)
class Shipped:
    """`heads`: by file from `cases/`, what comes before its first case."""

    heads: dict[str, str]
    cases: tuple[Case, ...]

    def suite(self, count: int) -> dict[str, str]:
        """`count` cases, all of them in turn: texts by file."""
        return self._texts(islice(self._endless(), count))

    def items(self, count: int) -> dict[str, str]:
        """Cases of `count` rows together; the last ones are chosen so that the number comes out."""
        chosen: list[tuple[Case, int]] = []
        missing = count
        for case, number in self._endless():
            if case.rows <= missing:
                chosen.append((case, number))
                missing -= case.rows
            if not missing:
                break
        return self._texts(iter(chosen))

    def _endless(self) -> Iterator[tuple[Case, int]]:
        for place, case in enumerate(cycle(self.cases)):
            yield case, place // len(self.cases)

    def _texts(self, chosen: Iterator[tuple[Case, int]]) -> dict[str, str]:
        texts: dict[str, list[str]] = {}
        for case, number in chosen:
            texts.setdefault(case.file, [self.heads[case.file]]).append(case.text(number))
        # Without cases: a library, which the others use.
        libraries = {file: head for file, head in self.heads.items() if all(case.file != file for case in self.cases)}
        return {file: "".join(parts) for file, parts in texts.items()} | libraries


def shipped(*, folded: bool = False) -> Shipped:
    """The cases of `cases/`. `folded`: each `for` has its first value only, as far as its text shows which that is."""
    heads: dict[str, str] = {}
    cases: list[Case] = []
    for path in sorted(CASES.rglob("*.mks")):
        name = path.relative_to(CASES).as_posix()
        compiled = compile_file(path)
        if compiled.suite is None or compiled.loaded is None:
            raise SystemExit(f"{path} does not compile")
        rows = {case.name: len(case.rows) for case in compiled.suite.cases}
        file = compiled.loaded.file
        text = file.source.text
        starts = [case.span.start for case in file.cases]
        heads[name] = text[: starts[0]] if starts else text
        for case, start, end in zip(file.cases, starts, [*starts, len(text)][1:], strict=True):
            place = case.name.span
            whole = Case(name, text[start : place.start], case.name.text, text[place.end : end], rows[case.name.text])
            cases.append(_folded(case, whole, end, compiled.loaded) if folded else whole)
    return Shipped(heads, tuple(cases))


def write(texts: dict[str, str], folder: Path) -> list[Path]:
    """Put a suite on disk, as one with a root of its own; its files, in order."""
    (folder / "mkeyspec.toml").write_text("", "utf-8")
    paths = []
    for name, text in sorted(texts.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths


def _folded(case: ast.Case, whole: Case, end: int, loaded: Loaded) -> Case:
    """The case with fewer values, except where it would say nothing without the others (a `where`, a claim)."""
    text = loaded.file.source.text
    edits = [_first_only(statement, text) for statement in case.body if isinstance(statement, ast.For)]
    folded = _edited(case, whole, end, loaded, edits)
    if folded is not None:
        return folded
    good: list[Edit] = []
    for edit in edits:
        if _edited(case, whole, end, loaded, [*good, edit]) is not None:
            good.append(edit)
    return _edited(case, whole, end, loaded, good) or whole


Edit = tuple[int, int, str]
"""Put this text in the place of [start, end)."""


def _first_only(statement: ast.For, text: str) -> Edit:
    first, last = statement.items[0].value, statement.items[-1].value
    if first is not last:
        return first.span.end, last.span.end, ""
    if isinstance(first, ast.List):
        return first.items[0].span.end, first.items[-1].span.end, ""
    if isinstance(first, ast.Range):
        return first.start.span.end, first.span.end, ""
    return first.span.end, first.span.end, "[0]"


def _edited(case: ast.Case, whole: Case, end: int, loaded: Loaded, edits: list[Edit]) -> Case | None:
    """The case after `edits`; None if it does not compile then."""
    text = loaded.file.source.text
    parts, at = [], case.name.span.end
    for start, stop, new in edits:
        parts += [text[at:start], new]
        at = stop
    after = "".join(parts) + text[at:end]
    diagnostics = Diagnostics()
    file = parse(Source("folded.mks", f"mks 1\n{whole.before}{whole.name}{after}"), diagnostics)
    if file is None or diagnostics.errors:
        return None
    suite = compile_loaded(Loaded(file, loaded.library, loaded.inputs), diagnostics)
    if diagnostics.errors:
        return None
    return Case(whole.file, whole.before, whole.name, after, len(suite.cases[0].rows))
