"""What a failure shows of a statement besides its text: values in its row, from the `.mks` file, and its calls in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkeyspec.compiler.row_values import RowValues
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.plan import At, Step
    from mkeyspec.run.verdict import CaseInfo


def values_of_row(case: CaseInfo, at: At) -> RowValues | None:
    """None of a test that no `.mks` file is known of."""
    from mkeyspec.compiler.row_values import values_at

    if case.path is None:
        return None
    name, _, row = case.id.partition("::")[2].partition("[")
    return values_at(case.path, name, row.removesuffix("]"), at)


def calls_of_row(case: CaseInfo, steps: Sequence[Step], profile: Profile, at: At) -> list[str]:
    """The calls in C that the statement at `at` makes, of a row of which `steps` were carried out."""
    from mkeyspec.plan import Row
    from mkeyspec.repro.statement_calls import calls_at

    return calls_at(Row("", tuple(steps), case.needs), case.id, case.at, at, profile)
