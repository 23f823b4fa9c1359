"""One `.mks` file to a suite: load, parse, resolve, expand and lower, check.

Nothing is raised for bad input: everything that is wrong is in the diagnostics, and a file with an
error has no suite.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mkeyspec import plan, requirement
from mkeyspec.lang import tree
from mkeyspec.lang.check import Spans, lint_case
from mkeyspec.lang.diagnostic import Diagnostics, TooManyErrors
from mkeyspec.lang.expand import Tally, expand, library_scope
from mkeyspec.lang.limit import CASE_ROWS, FILE_ROWS
from mkeyspec.lang.lower import Lowering
from mkeyspec.lang.resolve import resolve
from mkeyspec.lang.row_count import count_rows, most_rows
from mkeyspec.lang.scope import Scope
from mkeyspec.lang.sentence import check_sentences
from mkeyspec.lang.severity import PLAIN, Levels, settle
from mkeyspec.lang.spelling import id_meant
from mkeyspec.lang.suite import Loaded, load


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a file. `suite` None: it has errors. `loaded` None: nothing of it could be read."""

    suite: plan.Suite | None
    diagnostics: Diagnostics
    loaded: Loaded | None


def compile_file(path: Path, *, root: Path | None = None, levels: Levels = PLAIN) -> Compiled:
    """Compile the file at `path`; `root` of its suite, found if None (`suite.find_root`).

    `levels`: which warnings are errors, and which aren't shown, besides those that the file allows.
    """
    diagnostics = Diagnostics()
    loaded: Loaded | None = None
    try:
        loaded = load(path, diagnostics, root)
        suite = compile_loaded(loaded, diagnostics) if loaded is not None else None
    except TooManyErrors:
        suite = None
    diagnostics = settle(diagnostics, None if loaded is None else loaded.file, levels)
    return Compiled(None if diagnostics.errors else suite, diagnostics, loaded)


def compile_loaded(loaded: Loaded, diagnostics: Diagnostics) -> plan.Suite:
    """All passes after parsing. The suite is worth something only if there is no error."""
    file = loaded.file
    resolve(file, loaded.library, diagnostics)
    scope = library_scope(loaded.library, diagnostics)
    tally = Tally()
    found = () if _too_many_rows(file.cases, scope, diagnostics) else file.cases
    cases = tuple(compile_case(case, scope, diagnostics, tally) for case in found)
    return plan.Suite(file.source.name, "" if file.suite is None else file.suite.value, cases)


def _too_many_rows(cases: tuple[tree.Case, ...], library: Scope, diagnostics: Diagnostics) -> bool:
    """Whether the file has more rows than it may have; found, and reported, before one of them is lowered."""
    bounds = [min(most_rows(case) or CASE_ROWS.most, CASE_ROWS.most) for case in cases]
    left = FILE_ROWS.most
    if sum(bounds) <= left:
        return False
    for case, bound in zip(cases, bounds, strict=True):
        left -= count_rows(case, library, CASE_ROWS.most).rows if bound > 1 else bound
        if left < 0:
            diagnostics.error(FILE_ROWS.code, FILE_ROWS.broken(), case.name.span, help="divide the file")
            return True
    return False


def compile_case(case: tree.Case, library: Scope, diagnostics: Diagnostics, tally: Tally) -> plan.Case:
    """A case with its rows; rows with a mistake are left out."""
    _check_ids(case, diagnostics)
    check_sentences(case, diagnostics)
    before = len(diagnostics.found)
    spans = Spans(case.name.span)
    lowering = Lowering(case, diagnostics, spans, library)
    rows = expand(case, library, lowering, diagnostics, tally)
    verifies = tuple(name.text for name in case.verifies)
    if not any(found.severity == "error" and _within(found.span, case.span) for found in diagnostics.found):
        lint_case(rows, verifies, spans, case.name.span, diagnostics)
        library.budget.outcomes.report(case, diagnostics)
        if not any(found.code == "MKS0602" for found in diagnostics.found[before:]):
            for held in lowering.held:
                diagnostics.add(held)
    at = case.span.source.location(case.span.start)
    title = "" if case.title is None else case.title.value
    return plan.Case(plan.At(*at), case.name.text, title, verifies, tuple(rows), case.isolated)


def _within(place: tree.Span, around: tree.Span) -> bool:
    return place.source is around.source and around.start <= place.start < around.end


# Requirement ids -----------------------------------------------------------------------------


def _check_ids(case: tree.Case, diagnostics: Diagnostics) -> None:
    """Every id that a case names is one of the ledger."""
    known = requirement.ids()
    for name in case.verifies:
        if name.text not in known:
            _unknown("MKS0220", "requirement", name, known, diagnostics)
    departures = requirement.departure_ids()
    for departure in _departures(case.body):
        if departure.requirement.text not in departures:
            _unknown("MKS0221", "departure", departure.requirement, departures, diagnostics)


def _unknown(code: str, what: str, name: tree.Name, known: frozenset[str], diagnostics: Diagnostics) -> None:
    diagnostics.error(
        code,
        f"the ledger has no {what} `{name.text}`",
        name.span,
        help=id_meant(name.text, known) or "`mkeyspec list --requirements` shows them",
    )


def _departures(lines: Iterable[tree.Statement]) -> Iterable[tree.Known]:
    for line in lines:
        if isinstance(line, tree.If):
            yield from _departures(line.then.lines)
            if line.orelse is not None:
                yield from _departures(line.orelse.lines)
        elif isinstance(line, (tree.Step, tree.Expect)) and line.known is not None:
            yield line.known
