"""`covering`: which rows are left of a case (`covering.toml`, and spaces that hypothesis makes up).

What must be covered is counted here, from all rows of the same case without `covering`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.compiler.compile import compile_file, compile_loaded
from mkeyspec.compiler.expand.covering_array import covering_array
from mkeyspec.compiler.loader import Loaded
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.limits import COVERED_COMBINATIONS, COVERED_TUPLES
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "covering.toml").read_text("utf-8"))["case"]
TRIED = [
    (case, strength, most) for case in CASES for strength, most in zip(case["strengths"], case["most"], strict=True)
]

Values = tuple[tuple[str, ...], ...]
"""Of a row: the texts of each `for`'s names."""


def rows_of(body: str, strength: int | None = None) -> list[Values]:
    """The rows of a case with this body; without `strength` all of them."""
    diagnostics = Diagnostics()
    line = "" if strength is None else f"    covering {strength}\n"
    file = parse(Source("rows.mks", f"mks 1\ncase rows\n    verifies LAY-05\n{line}{body}\n"), diagnostics)
    assert file is not None
    suite = compile_loaded(Loaded(file, file.lets, ()), diagnostics)
    assert [found.message for found in diagnostics.errors] == []
    case = suite.cases[0]
    assert (case.covered is None) == (strength is None)
    fors = [line for line in file.cases[0].body if isinstance(line, ast.For)]
    found = []
    for row in case.rows:
        texts = {one.name: str(one.text) for one in row.bindings if one.text is not None}
        found.append(tuple(tuple(texts[name.text] for name in one.names) for one in fors))
    return found


def tuples_of(rows: Iterable[tuple[Any, ...]], strength: int) -> set[tuple[tuple[int, Any], ...]]:
    """Every `strength` values that are together in a row, each with its place."""
    return {chosen for row in rows for chosen in combinations(enumerate(row), strength)}


@pytest.mark.parametrize(("case", "strength", "most"), TRIED, ids=[f"{c['title']}, {s}" for c, s, _ in TRIED])
def test_every_tuple_is_in_a_row(case: dict[str, Any], strength: int, most: int) -> None:
    everything, rows = rows_of(case["body"]), rows_of(case["body"], strength)
    assert rows == [row for row in everything if row in set(rows)], "rows of the case, in its order, each once"
    assert tuples_of(rows, strength) == tuples_of(everything, strength)
    assert len(rows) <= most


def test_the_rows_are_the_same_each_time() -> None:
    for case in CASES[:5]:
        assert rows_of(case["body"], 2 if len(case["strengths"]) > 1 else 1) == rows_of(
            case["body"], 2 if len(case["strengths"]) > 1 else 1
        )


def test_these_rows() -> None:
    """Other rows than these would be another release's: what names rows by their ids would not find them."""
    body = "    for a in 0..3\n    for b in 0..3\n    for c in 0..2\n    where a != 2 or b != 0"
    assert ["".join(text for (text,) in row) for row in rows_of(body, 2)] == [
        "000",
        "011",
        "020",
        "101",
        "110",
        "121",
        "210",
        "221",
    ]


# Arrays of spaces that nobody has thought of ------------------------------------------------------

SIZES = st.lists(st.integers(1, 5), min_size=2, max_size=5)


@st.composite
def spaces(draw: st.DrawFn) -> tuple[list[int], set[tuple[tuple[int, int], ...]], int]:
    """How many values each `for` has, values that can't be together, and a strength."""
    sizes = draw(SIZES)
    value = st.integers(0, len(sizes) - 1).flatmap(lambda i: st.tuples(st.just(i), st.integers(0, sizes[i] - 1)))
    never = draw(st.sets(st.lists(value, min_size=1, max_size=3).map(tuple), max_size=5))
    return sizes, never, draw(st.integers(1, min(len(sizes), 4)))


def allowed(sizes: list[int], never: set[tuple[tuple[int, int], ...]]) -> list[tuple[int, ...]]:
    return [
        row
        for row in product(*map(range, sizes))
        if not any(all(row[column] == value for column, value in one) for one in never)
    ]


def array_of(rows: list[tuple[int, ...]], columns: int, strength: int) -> list[tuple[int, ...]]:
    table = np.array(rows, np.int32).reshape(len(rows), columns)
    found = covering_array(table, strength, len(rows))
    assert found is not None
    return [rows[number] for number in found]


@given(spaces())
@settings(max_examples=100, deadline=None)
def test_every_tuple_of_an_allowed_row_is_covered(space: tuple[list[int], Any, int]) -> None:
    sizes, never, strength = space
    rows = allowed(sizes, never)
    chosen = array_of(rows, len(sizes), strength)
    assert chosen == [row for row in rows if row in set(chosen)]
    assert tuples_of(chosen, strength) == tuples_of(rows, strength)
    assert len(chosen) <= len(tuples_of(rows, strength)), "each row covers a tuple that no other did before it"


@given(spaces(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_value_at_the_end_leaves_the_rows_of_the_first_values(
    space: tuple[list[int], Any, int], data: st.DataObject
) -> None:
    """Of a `for` with m values: the rows whose values are all among the first m of their `for` stay, and no other
    row comes among them. All rows stay if no `for` has more than m."""
    sizes, never, strength = space
    column = data.draw(st.integers(0, len(sizes) - 1))
    longer = [size + (i == column) for i, size in enumerate(sizes)]
    before = array_of(allowed(sizes, never), len(sizes), strength)
    after = array_of(allowed(longer, never), len(sizes), strength)
    first = sizes[column]
    assert [row for row in before if max(row) < first] == [row for row in after if max(row) < first]
    if first == max(sizes):
        assert set(before) <= set(after)


def test_a_value_more_in_a_case() -> None:
    """The same, through a file: the ids of the rows."""
    body = "    for a in {}\n    for b in x: 1, y: 2\n    for c in 0..3\n    where c != 1 or b == 1"
    before, after = (rows_of(body.format(values), 2) for values in ("2, 3, 5", "2, 3, 5, 7"))
    assert set(before) < set(after)
    assert {row[0] for row in set(after) - set(before)} == {("7",)}


def test_a_limit_that_is_in_the_way_of_more_leaves_the_strength_of_the_case() -> None:
    body = "".join(f"    for v{i} in 0, 1\n" for i in range(14))
    diagnostics = Diagnostics()
    for stronger, strength in ((0, 3), (1, 3), (0, 2), (1, 3), (5, 3)):
        file = parse(
            Source("rows.mks", f"mks 1\ncase rows\n    covering {strength if stronger < 1 else 2}\n{body}"), diagnostics
        )
        assert file is not None
        (case,) = compile_loaded(Loaded(file, file.lets, ()), diagnostics, stronger).cases
        assert case.covered is not None
        assert case.covered.strength == strength
    assert [found.message for found in diagnostics.errors] == []


# Too many, and never a hang ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fors", "strength", "code"),
    [
        ([20_000], 1, "MKS0704"),
        ([COVERED_COMBINATIONS.most // 10, 11], 2, "MKS0719"),
        ([40_000] * 6, 2, "MKS0719"),
        ([2] * 40, 2, "MKS0719"),
        ([2] * 17, 4, "MKS0720"),
        ([150, 150], 2, "MKS0704"),
    ],
    ids=str,
)
def test_too_many(fors: list[int], strength: int, code: str, tmp_path: Path) -> None:
    lines = "".join(f"    for v{i} in 0..{count}\n" for i, count in enumerate(fors))
    file = tmp_path / "a.mks"
    file.write_text(f"mks 1\ncase c\n    verifies LAY-05\n    covering {strength}\n{lines}    pd p\n")
    assert code in [found.code for found in compile_file(file).diagnostics.errors]


def test_the_largest_space_that_is_allowed() -> None:
    columns = 17
    rows = 1 << columns
    assert rows <= COVERED_COMBINATIONS.most
    table = (np.arange(rows)[:, None] >> np.arange(columns) & 1).astype(np.int32)
    chosen = table[covering_array(table, 2, rows)]
    assert len(tuples_of(map(tuple, chosen.tolist()), 2)) == columns * (columns - 1) // 2 * 4
    assert rows * columns * (columns - 1) // 2 > COVERED_TUPLES.most, "a case is not even as large"
