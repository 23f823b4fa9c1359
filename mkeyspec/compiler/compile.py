"""One `.mks` file to a suite. The passes, in order:

1. Load: the file and those that it uses are read and parsed (`loader`, `syntax.parser`).
2. Resolve: every name is known, also in branches that no row takes (`resolve`).
3. Evaluate the `let`s of the files (`expand.expand.library_scope`).
4. Count: a file with too many rows is refused before any row is made (`expand.count`); the rows of a case with
   `covering` are chosen (`expand.covering`).
5. Requirements: the ids that the cases name are in the ledger (this module).

Then, case by case:

6. Shape: each statement has the parts that its record says (`statements.check_shapes`).
7. Expand: the body is walked once for each row, which is one combination of `for` values (`expand.expand`). In that
   walk each statement is evaluated (`eval`).
8. Lower: the statement becomes a step of the plan (`statements.lower`, by the records of `statements`).
9. Check: the step is checked against the rules of the man pages, in the state that the steps before it left
   (`statements.check_step`).
10. Warn: what is probably a mistake in a case without errors is reported (`check.lint`, `eval.branches`).

At the end, for all diagnostics:

11. Known mistakes: a line with an error is compared with a table of them (`known_mistakes`).
12. Levels: which warnings are not shown, and which are errors (`warning_levels`).

Bad input raises nothing: all errors are in the diagnostics. A file with an error has no suite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mkeyspec import plan
from mkeyspec.compiler.check import lint_case
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.expand.count import count_rows, most_rows
from mkeyspec.compiler.expand.covering import CoveringCases, CoveringRows
from mkeyspec.compiler.expand.expand import RowTally, expand, library_scope, report
from mkeyspec.compiler.known_mistakes import with_known_mistakes
from mkeyspec.compiler.loader import NOTHING_UNSAVED, Loaded, load
from mkeyspec.compiler.resolve import resolve, setups_of
from mkeyspec.compiler.statements.check_shapes import check_sentences
from mkeyspec.compiler.statements.lower import Lowering
from mkeyspec.compiler.statements.registry import CASE
from mkeyspec.compiler.statements.row_state import CaseState
from mkeyspec.compiler.warning_levels import PLAIN, Levels, settle
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, Note, TooManyErrors
from mkeyspec.diagnostics.limits import CASE_ROWS, FILE_ROWS
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import id_meant
from mkeyspec.process.collector import no_collection
from mkeyspec.requirements import ledger
from mkeyspec.syntax import ast, walk


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling a file. `suite` None: it has errors. `loaded` None: nothing of it could be read.

    `sound`: the cases without an error, also of a file with others; to show, and not to run.
    """

    suite: plan.Suite | None
    diagnostics: Diagnostics
    loaded: Loaded | None
    sound: tuple[plan.Case, ...] = ()


def compile_file(
    path: Path,
    *,
    root: Path | None = None,
    base: Path | None = None,
    levels: Levels = PLAIN,
    stronger: int = 0,
    own: Collection[str] = (),
    instead: bytes | None = None,
    unsaved: Mapping[Path, bytes] = NOTHING_UNSAVED,
) -> Compiled:
    """Compile the file at `path`; `root` of its suite, found if None (`loader.find_root`). Files are named from `base`,
    or from the root.

    `levels`: which warnings are errors, and which aren't shown, besides those that the file allows.
    `stronger`: how much larger the strength of each `covering` is (`expand.covering`).
    `own`: ids of requirements beside those of the shipped ledger. `instead`: bytes that are read for those of the file;
    `unsaved`: the same of files that it uses, by their real paths.
    """
    diagnostics = Diagnostics()
    loaded: Loaded | None = None
    tally = RowTally()
    with no_collection():
        try:
            loaded = load(path, diagnostics, root, base, instead, unsaved)
            suite = compile_loaded(loaded, diagnostics, stronger, own, tally) if loaded is not None else None
        except TooManyErrors:
            suite = None
    sound = _sound(suite, loaded.file.cases, diagnostics, tally) if suite is not None and loaded is not None else ()
    diagnostics = settle(with_known_mistakes(diagnostics), None if loaded is None else loaded.file, levels)
    return Compiled(None if diagnostics.errors else suite, diagnostics, loaded, sound)


def _sound(
    suite: plan.Suite, nodes: tuple[ast.Case, ...], diagnostics: Diagnostics, tally: RowTally
) -> tuple[plan.Case, ...]:
    """The cases that have no error, and all their rows. A file with too many rows has none."""
    errors = [error.span for error in diagnostics.errors]
    pairs = zip(nodes, suite.cases, strict=False)
    left = ((node, case) for node, case in pairs if node.span.start not in tally.mistaken)
    return tuple(case for node, case in left if not any(node.holds(span) for span in errors))


def compile_loaded(
    loaded: Loaded,
    diagnostics: Diagnostics,
    stronger: int = 0,
    own: Collection[str] = (),
    tally: RowTally | None = None,
) -> plan.Suite:
    """All passes after parsing. The suite is valid only if there is no error."""
    file = loaded.file
    resolve(file, loaded.library, diagnostics, frozenset(CASE.shapes))
    scope = library_scope(loaded.library, diagnostics)
    tally = RowTally() if tally is None else tally
    covering = CoveringCases(scope, stronger)
    found = () if _too_many_rows(file.cases, scope, covering, diagnostics) else file.cases
    known = ledger.ids().union(own)
    for case in found:
        _check_ids(case, known, diagnostics)
    cases = tuple(compile_case(case, scope, diagnostics, tally, covering) for case in found)
    scope.leave(scope.around)
    return plan.Suite(file.source.name, "" if file.suite is None else file.suite.value, cases)


def _too_many_rows(
    cases: tuple[ast.Case, ...], library: Scope, covering: CoveringCases, diagnostics: Diagnostics
) -> bool:
    """Whether the file has more rows than it may have. This is reported before any row is lowered."""
    bounds = [min(most_rows(case) or CASE_ROWS.most, CASE_ROWS.most) for case in cases]
    left = FILE_ROWS.most
    if sum(bounds) <= left:
        return False
    for case, bound in zip(cases, bounds, strict=True):
        left -= _rows_of(case, library, covering) if bound > 1 else bound
        if left < 0:
            diagnostics.error(FILE_ROWS.code, FILE_ROWS.broken(), case.name.span, help="divide the file")
            return True
    return False


def _rows_of(case: ast.Case, library: Scope, covering: CoveringCases) -> int:
    """How many rows a case has; 0 if that is not known, or if `covering` is wrong (which is reported later)."""
    if case.covering is None:
        return count_rows(case, library, CASE_ROWS.most).rows
    with suppress(Fault):
        return covering.of(case).rows
    return 0


def compile_case(
    case: ast.Case, library: Scope, diagnostics: Diagnostics, tally: RowTally, covering: CoveringCases
) -> plan.Case:
    """A case with its rows; rows with a mistake are left out."""
    diagnostics.around = setups_of(case)
    sentences = check_sentences(case, diagnostics)
    before = len(diagnostics.found)
    shared = CaseState(case, sentences, diagnostics, library)
    rows: list[plan.Row] = []
    chosen: CoveringRows | None = None
    try:
        chosen = None if case.covering is None else covering.of(case)
        rows = expand(case, library, lambda: Lowering(shared), diagnostics, tally, chosen)
    except Fault as mistake:
        tally.mistaken.add(case.span.start)
        report(mistake, diagnostics)
    verifies = tuple(name.text for name in case.verifies)
    if not any(found.severity == "error" and case.holds(found.span) for found in diagnostics.found):
        lint_case(rows, verifies, case.name.span, diagnostics)
        library.budget.outcomes.report(case, diagnostics)
        if not any(found.code == "MKS0602" for found in diagnostics.found[before:]):
            for held in shared.held:
                diagnostics.add(held)
    diagnostics.around = ()
    at = case.span.source.location(case.span.start)
    title = "" if case.title is None else case.title.value
    covered = None if chosen is None else chosen.covered
    head = (plan.At(*at), case.name.text, title, verifies, tuple(rows), case.isolated, covered)
    return plan.Case(*head, case.tags, case.level)


# Requirement ids -----------------------------------------------------------------------------


def _check_ids(case: ast.Case, known: frozenset[str], diagnostics: Diagnostics) -> None:
    """Every id that a case names is one of the ledger; `known` are the requirements."""
    said: dict[str, Span] = {}
    for name in case.verifies:
        if name.text not in known:
            _unknown("MKS0220", "requirement", name, known, diagnostics)
        elif name.text in said:
            first = (Note("first here", said[name.text]),)
            diagnostics.error("MKS0217", f"`{name.text}` is given twice", name.span, notes=first, help="leave one out")
        said[name.text] = name.span
    departures = ledger.departure_ids()
    for departure in _departures(case.body):
        if departure.requirement.text not in departures:
            _unknown("MKS0221", "departure", departure.requirement, departures, diagnostics)


def _unknown(code: str, what: str, name: ast.Name, known: frozenset[str], diagnostics: Diagnostics) -> None:
    diagnostics.error(
        code,
        f"the ledger has no {what} `{name.text}`",
        name.span,
        help=id_meant(name.text, known) or "`mkeyspec list --requirements` shows them",
    )


def _departures(lines: Iterable[ast.Statement]) -> Iterable[ast.Known]:
    for line in walk.flat(lines):
        if isinstance(line, (ast.Step, ast.Expect)) and line.known is not None:
            yield line.known
