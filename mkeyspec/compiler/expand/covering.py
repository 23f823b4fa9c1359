"""The rows of a case with `covering`: a covering array over the combinations that its `where`s leave."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.expand.combinations import Combinations, combinations_of
from mkeyspec.compiler.expand.covering_array import covering_array, tuples_in
from mkeyspec.compiler.expand.for_values import ForValue
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.limits import CASE_ROWS, COVERED_TUPLES
from mkeyspec.syntax import ast


class CoveringRows:
    """The rows that are chosen, by the texts of their `for` values."""

    __slots__ = ("_beginnings", "covered", "rows")

    def __init__(self, rows: Sequence[tuple[str, ...]], covered: plan.Covered) -> None:
        """`covered`: of what the rows are chosen."""
        self.rows = len(rows)
        self.covered = covered
        self._beginnings = {row[:length] for row in rows for length in range(1, len(row) + 1)}

    def kept(self, chosen: Sequence[ForValue], values: Sequence[ForValue]) -> list[ForValue]:
        """Those `values` of a `for`, under the `chosen` ones of the `for`s above, with which a row begins."""
        above = tuple([value.text for value in chosen])
        return [value for value in values if (*above, value.text) in self._beginnings]


def covering_rows(case: ast.Case, library: Scope, stronger: int = 0) -> CoveringRows:
    """Choose rows of a case with `covering`: every tuple of as many values as that says that occurs in an allowed
    combination occurs in a row.

    Raises `Fault` after a mistake in a `for` or `where`, or where there are too many combinations.
    """
    assert case.covering is not None
    strength = case.covering.strength
    names = tuple(tuple(name.text for name in line.names) for line in case.body if isinstance(line, ast.For))
    fors = len(names)
    if strength > fors:
        raise fault(
            "MKS0334",
            f"`covering {strength}` needs as many `for`s, and the case has {fors or 'none'}",
            case.covering.span,
            help=f"covering {fors}, or no `covering`" if fors > 1 else "no `covering`",
        )
    found = combinations_of(case, library)
    # A larger strength than the case says is at most what the limits allow; the case's own must be in them.
    for tried in range(min(strength + stronger, fors), strength, -1):
        with suppress(Fault):
            return _chosen(case, found, names, tried)
    return _chosen(case, found, names, strength)


def _chosen(case: ast.Case, found: Combinations, names: tuple[tuple[str, ...], ...], strength: int) -> CoveringRows:
    """The rows for a strength; raises `Fault` where a limit is broken."""
    tuples = tuples_in(len(found.table), len(names), strength)
    if tuples > COVERED_TUPLES.most:
        message = f"case {case.name.text}: {COVERED_TUPLES.broken(tuples)}"
        raise fault(COVERED_TUPLES.code, message, case.name.span, help="fewer values, or a smaller strength")
    array = covering_array(found.table, strength, CASE_ROWS.most)
    if array is None:
        message = f"case {case.name.text}: {CASE_ROWS.broken()}"
        raise fault(CASE_ROWS.code, message, case.name.span, help="fewer values, or a smaller strength")
    rows = [found.texts_of(row) for row in array]
    return CoveringRows(rows, plan.Covered(strength, len(found.table), names))


class CoveringCases:
    """The chosen rows of the cases of a file; those of a case are found once."""

    __slots__ = ("_found", "_library", "_stronger")

    def __init__(self, library: Scope, stronger: int = 0) -> None:
        """`stronger`: the strength of each case is so much larger, as far as the limits and its `for`s let it."""
        self._library = library
        self._stronger = stronger
        self._found: dict[int, CoveringRows] = {}

    def of(self, case: ast.Case) -> CoveringRows:
        """The rows of a case with `covering`; raises what `covering_rows` raises."""
        found = self._found.get(id(case))
        if found is None:
            found = self._found[id(case)] = covering_rows(case, self._library, self._stronger)
        return found
