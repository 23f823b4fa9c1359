"""The rows of cases: their ids, and what is refused (`rows.toml`)."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.scope import Contents, NoLedger, Scope
from mkeyspec.compiler.expand.expand import Bindings, RowTally, expand, library_scope
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.limits import CALL_DEPTH, CASE_ROWS, ERRORS, FILE_ROWS
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "rows.toml").read_text("utf-8"))["case"]


class Written:
    """A lowering that writes down which sentences a row has seen."""

    def __init__(self) -> None:
        self.seen: tuple[str, ...] = ()
        self.ledger: Contents = NoLedger()

    def step(self, node: ast.Step, scope: Scope) -> None:
        if node.verb.text == "abort":
            raise fault("MKS0302", "no", node.span)
        self.seen = (*self.seen, node.verb.text)

    def expect(self, node: ast.Expect, scope: Scope) -> None:
        raise fault("MKS0301", "no", node.span)

    def named(self, name: ast.Name, scope: Scope) -> None:
        """Nothing of a `let` is written down."""

    def read(self, node: ast.Step) -> object:
        return node

    def begin_turn(self, statement: ast.Repeat, turn: plan.Turn | None) -> None:
        self.seen = (*self.seen, ")" if turn is None else f"({turn.number}")

    def end_turn(self, statement: ast.Repeat) -> None:
        self.seen = (*self.seen, "end")

    def finish(self, row_id: str, bindings: Bindings) -> plan.Row:
        return plan.Row(row_id, (), self.seen, bindings)


def rows_of(text: str, tally: RowTally | None = None) -> tuple[list[plan.Row], Diagnostics]:
    diagnostics = Diagnostics()
    file = parse(Source("rows.mks", text), diagnostics)
    assert file is not None
    assert not diagnostics.errors, diagnostics.errors
    library = library_scope(file.lets, diagnostics)
    return expand(file.cases[0], library, Written, diagnostics, tally), diagnostics


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_rows(case: dict[str, Any]) -> None:
    began = time.process_time()
    rows, diagnostics = rows_of(f"mks 1\ncase rows\n{case['body']}\n")
    if "code" in case:
        assert [found.code for found in diagnostics] == [case["code"]]
        assert time.process_time() - began < 5, "limits are there to be quick"
    else:
        assert [found.message for found in diagnostics] == []
        assert [row.id for row in rows] == case["ids"]


def test_ids_are_safe_everywhere() -> None:
    for case in CASES:
        for row_id in case.get("ids", ()):
            assert row_id.isascii()
            assert row_id.isprintable()
            assert not set(row_id) & set(" \"'\\")


def test_a_row_is_the_whole_body_walked_once() -> None:
    rows, _ = rows_of("mks 1\ncase c\n    pd a\n    for n in 1, 2\n    pd b\n    if n == 2 { pd c }\n    dct d\n")
    assert [row.needs for row in rows] == [("pd", "pd", "dct"), ("pd", "pd", "pd", "dct")]


def test_the_lines_of_a_repeat_are_walked_once_for_each_turn() -> None:
    rows, _ = rows_of("mks 1\ncase c\n    for n in 1, 2\n    repeat n as i { if i == 2 { pd a }; dct b }\n    pd e\n")
    turns = [("(1", "dct", "end", ")"), ("(2", "pd", "dct", "end", ")")]
    assert [row.needs for row in rows] == [(*turns[0], "pd"), (*turns[0], *turns[1], "pd")]


def test_a_mistake_of_a_turn_is_said_once_with_its_turn_and_what_follows_is_looked_at() -> None:
    text = 'mks 1\ncase c\n    repeat 9 as i {\n        let a = 1 / (4 - i)\n    }\n    let d = 2 + "x"\n'
    rows, diagnostics = rows_of(text)
    assert rows == []
    assert [(found.code, [note.message for note in found.notes]) for found in diagnostics] == [
        ("MKS0304", ["in turn 4 of 9: the turns before it are right"]),
        ("MKS0302", []),
    ]


def test_values_above_the_first_step_are_evaluated_once() -> None:
    """They are the same for all rows below: what they cost doesn't grow with the number of rows."""
    head = "mks 1\ncase c\n    let all = [n * n for n in 0..2_000]\n    if all[1] == 1 { let most = 900 }\n"
    rows, diagnostics = rows_of(head + "    for n in 0..most\n    where n in all\n    pd a\n")
    assert [found.code for found in diagnostics] == []
    assert len(rows) == 30


def test_a_where_below_a_step_takes_the_row_and_no_more() -> None:
    body = "    for a in 1, 2\n    pd a\n    for b in 0..3\n    where b != a\n    for c in 0..b\n    pd b\n"
    rows, diagnostics = rows_of("mks 1\ncase c\n" + body)
    assert [found.code for found in diagnostics] == ["MKS0333"], "b=0 has no value of c"
    assert [row.id for row in rows] == ["a=1,b=2,c=0", "a=1,b=2,c=1", "a=2,b=1,c=0"]
    assert {row.needs for row in rows} == {("pd", "pd")}


def test_a_function_of_another_row_keeps_its_own_names() -> None:
    body = "    for n in 1, 2\n    pd a\n    let f(x) = x + n\n    for g in f\n    let v = g(1)\n    for i in 0..v\n"
    rows, _ = rows_of("mks 1\ncase c\n" + body)
    assert [row.id for row in rows] == [f"n={n},g=f,i={i}" for n in (1, 2) for i in range(n + 1)]


def test_several_mistakes_of_a_row_are_found_but_none_that_follows_from_another() -> None:
    text = (
        "mks 1\ncase c\n    let a = 1 / 0\n    let b = a + 1\n    expect a == b\n    expect 1 == 2\n"
        '    let c = 1 + "x"\n    abort { }\n    let d = 2 + "x"\n'
    )
    rows, diagnostics = rows_of(text)
    assert rows == []
    lines = [(found.code, found.span.source.location(found.span.start).line) for found in diagnostics]
    assert lines == [("MKS0304", 3), ("MKS0301", 5), ("MKS0301", 6), ("MKS0302", 7), ("MKS0302", 8)]


def test_a_mistake_in_one_row_leaves_the_others() -> None:
    rows, diagnostics = rows_of("mks 1\ncase c\n    for n in 0, 1, 2\n    let a = 4 / n\n")
    assert [row.id for row in rows] == ["n=1", "n=2"]
    assert [found.code for found in diagnostics] == ["MKS0304"]


def test_as_many_rows_as_the_limit_says() -> None:
    body = f"    for a in 0..{CASE_ROWS.most}\n"
    rows, diagnostics = rows_of("mks 1\ncase c\n" + body)
    assert len(rows) == CASE_ROWS.most
    assert diagnostics.found == []
    rows, diagnostics = rows_of(f"mks 1\ncase c\n    for a in 0..{CASE_ROWS.most + 1}\n")
    assert [found.code for found in diagnostics] == ["MKS0704"]


def test_rows_of_a_file_are_limited_too() -> None:
    tally = RowTally(FILE_ROWS.most - 1)
    rows, diagnostics = rows_of("mks 1\ncase c\n    for a in 1, 2\n", tally)
    assert len(rows) == 1
    assert [found.code for found in diagnostics] == ["MKS0705"]


def test_functions_inside_one_another_are_limited() -> None:
    depth = CALL_DEPTH.most + 1
    lets = "".join(f"let f{i}(x) = f{i - 1}(x)\n" for i in range(1, depth))
    _, diagnostics = rows_of(f"mks 1\nlet f0(x) = x\n{lets}let a = f{depth - 2}(1)\ncase c\n    let b = a\n")
    assert diagnostics.found == []
    _, diagnostics = rows_of(f"mks 1\nlet f0(x) = x\n{lets}let a = f{depth - 1}(1)\ncase c\n    let b = a\n")
    assert [found.code for found in diagnostics] == ["MKS0711"]


SLOW = {
    "rows of a file, each case within its limit": (
        "".join(f"case c{i}\n    for a in 0..9_000\n    memory m[64]\n" for i in range(40)),
        "MKS0705",
    ),
    "errors of a pass behind the parser": (
        "case c\n" + "".join(f"    memory w{i}[zz{i}]\n" for i in range(20_000)),
        "MKS0714",
    ),
    "calls of functions": (
        "let f0(n) = n\n"
        + "".join(f"let f{i}(n) = f{i - 1}(n) + f{i - 1}(n)\n" for i in range(1, 60))
        + "case c\n    memory m[f59(1)]\n",
        "MKS0712",
    ),
    "combinations": (
        "case c\n" + "".join(f"    for a{i} in 0..9\n" for i in range(12)) + "    where a0 + a11 == 99\n",
        "MKS0716",
    ),
}


@pytest.mark.parametrize(("text", "code"), SLOW.values(), ids=SLOW)
def test_what_would_take_minutes_is_refused_at_once(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "slow.mks").write_text(f"mks 1\n{text}", encoding="utf-8")
    began = time.process_time()
    compiled = compile_file(tmp_path / "slow.mks", root=tmp_path)
    assert time.process_time() - began < 5  # a second, on a machine with nothing else to do
    assert code in [found.code for found in compiled.diagnostics]
    assert len(compiled.diagnostics.errors) <= ERRORS.most + 1
