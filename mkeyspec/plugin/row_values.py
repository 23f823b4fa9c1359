"""The values at a statement of a row that failed, from its `.mks` file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkeyspec.compiler.row_values import RowValues
    from mkeyspec.plan import At
    from mkeyspec.run.verdict import CaseInfo


def values_of_row(case: CaseInfo, at: At) -> RowValues | None:
    """None of a test that no `.mks` file is known of."""
    from mkeyspec.compiler.row_values import values_at

    if case.path is None:
        return None
    name, _, row = case.id.partition("::")[2].partition("[")
    return values_at(case.path, name, row.removesuffix("]"), at)
