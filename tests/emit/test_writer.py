"""The text of a generated module: what is in it, to the byte, and what can never get into it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import plan, runtime
from mkeyspec.compiler.compile import compile_file
from mkeyspec.emit.align import Aligned, align
from mkeyspec.emit.header import Header
from mkeyspec.emit.printer import WIDTH, Printer, flat
from mkeyspec.emit.writer import import_order, write
from mkeyspec.run.marks import case_of, row_needs
from mkeyspec.run.rig import Rig
from mkeyspec.value.bytestring import Counter, Fill, Framed, Literal
from mkeyspec.value.signature import Crc, Domain
from tests.emit.handmade import HOSTILE, everything, hostile, strip

GOLDEN = Path(__file__).parent / "golden"


def header(source: str) -> Header:
    return Header(source, ("cases/common.mks",), "1" * 64, "2" * 64, "0.0.0")


def text(suite: plan.Suite) -> str:
    return write(suite, header(suite.source))


def run(suite: plan.Suite) -> types.ModuleType:
    module = types.ModuleType("generated")
    exec(compile(text(suite), "generated", "exec"), module.__dict__)
    return module


class Listener:
    """Stands for the rig: hears the steps. The turns of a `repeat` are the rig's."""

    _executor = None

    def __init__(self) -> None:
        self.steps: list[Any] = []

    def repeat(self, *arguments: Any, **columns: Any) -> Iterator[Any]:
        yield from Rig.repeat(self, *arguments, **columns)  # type: ignore[arg-type]

    def step(self, step: Any) -> None:
        self.steps.append(step)

    def finish(self) -> None:
        """A case ends with it."""


def heard(suite: plan.Suite) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The steps of every row, as the generated functions ask the rig for them."""
    found = {}
    for function in vars(run(suite)).values():
        mark = case_of(function)
        if mark is None:
            continue
        parametrize = [one for one in function.pytestmark if one.name == "parametrize"]
        rows = list(zip(parametrize[0].kwargs["ids"], parametrize[0].args[1], strict=True)) if parametrize else []
        for id, row in rows or [("", None)]:
            listener = Listener()
            function(listener, *([] if row is None else [row]))
            found[mark.name, id] = tuple(listener.steps)
    return found


def statements() -> plan.Suite:
    """Compiled: every step and every request of the language."""
    return golden("statements")


def turns() -> plan.Suite:
    """Compiled: `repeat`s whose turns differ in all that turns can differ in, in one row and in several."""
    return golden("turns")


def setup() -> plan.Suite:
    """Compiled: steps of a setup, which stands above the lines of the case that come before it."""
    return golden("setup")


def golden(name: str) -> plan.Suite:
    compiled = compile_file(GOLDEN / f"{name}.mks.txt", root=GOLDEN)
    assert compiled.suite is not None, [str(one) for one in compiled.diagnostics]
    return compiled.suite


@pytest.mark.parametrize("suite", [strip, everything, statements, turns, setup])
def test_golden(suite: Callable[[], plan.Suite]) -> None:
    """Read the files: they are what a user sees. BLESS=1 writes them anew."""
    path = GOLDEN / f"{suite.__name__}.py.txt"
    if os.environ.get("BLESS"):
        path.write_text(text(suite()), encoding="utf-8")
    assert text(suite()) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("suite", [strip, everything, hostile, statements, turns, setup])
def test_every_row_asks_for_its_own_steps(suite: Callable[[], plan.Suite]) -> None:
    made = suite()
    assert heard(made) == {(case.name, row.id): row.steps for case in made.cases for row in case.rows}


@pytest.mark.parametrize("suite", [strip, everything, hostile, statements, turns, setup])
def test_marks_carry_what_the_plan_says(suite: Callable[[], plan.Suite]) -> None:
    made = suite()
    module = run(made)
    for case in made.cases:
        function = getattr(module, f"test_{case.name}")
        mark = case_of(function)
        assert mark is not None
        assert (mark.at, mark.name, mark.title, mark.verifies) == (case.at, case.name, case.title, case.verifies)
        assert mark.isolated == case.isolated
        assert (mark.suite.source, mark.suite.title, mark.suite.digest) == (made.source, made.title, "1" * 64)
        rows = [one.args[1] for one in getattr(function, "pytestmark", []) if one.name == "parametrize"]
        needs = [mark.needs + row_needs(row) for row in (rows[0] if rows else [None])]
        assert [set(one) for one in needs] == [set(row.needs) for row in case.rows]


def test_hostile_text_stays_text() -> None:
    tree = ast.parse(text(hostile()))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    allowed = {"SUITE", "rig", "row", "rows", "case", "suite", "Rig", "Row", *runtime.__all__, "bytes"}
    assert names <= allowed
    strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert HOSTILE in strings
    comments = [line for line in text(hostile()).split("\n") if line.lstrip().startswith("#")]
    assert len(comments) == len(header("x").lines(""))
    assert not [line for line in text(hostile()).split("\n") if "\u2028" in line or "\u202e" in line]


@pytest.mark.parametrize("name", ["Upper", "a-b", "a b", "1a", "", "x):\n    import os\ndef y(", "é"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        text(plan.Suite("a.mks", "", (plan.Case(plan.At(1, 1), name, "", (), (plan.Row("", ()),)),)))


def test_equal_ids_are_refused() -> None:
    rows = (plan.Row("n=1", ()), plan.Row("n=1", ()))
    with pytest.raises(ValueError, match="ids of their own"):
        text(plan.Suite("a.mks", "", (plan.Case(plan.At(1, 1), "a", "", (), rows),)))


def test_what_is_no_value_is_refused() -> None:
    steps = (plan.Memory(plan.At(1, 1), "m", 1, object()),)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="can't hold"):
        text(plan.Suite("a.mks", "", (plan.Case(plan.At(1, 1), "a", "", (), (plan.Row("", steps),)),)))


def test_only_names_in_use_are_imported_and_all_of_them() -> None:
    for suite in (strip(), everything(), hostile(), turns()):
        tree = ast.parse(text(suite))
        imported = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert imported == sorted(imported, key=import_order)
        assert set(imported) <= used
        assert set(imported) <= set(runtime.__all__)


@pytest.mark.skipif(shutil.which("ruff", path=str(Path(sys.executable).parent)) is None, reason="ruff is not installed")
def test_a_module_is_clean(tmp_path: Path) -> None:
    for suite in (strip, everything, hostile, turns):
        (tmp_path / f"test_{suite.__name__}.py").write_text(text(suite()), encoding="utf-8")
    done = subprocess.run(
        [Path(sys.executable).parent / "ruff", "check", "--isolated", "--select", "E9,F,I", "--no-cache", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_lines_are_short_where_they_can_be() -> None:
    assert max(len(line) for line in text(strip()).split("\n")) <= WIDTH
    assert max(len(line) for line in text(everything()).split("\n")) <= WIDTH
    assert max(len(line) for line in text(turns()).split("\n")) <= WIDTH


def test_the_same_suite_is_the_same_text() -> None:
    assert text(strip()) == text(strip())


def test_a_value_is_written_as_its_repr() -> None:
    """The printer breaks long values up by itself; on one line the two must agree."""
    domain = Domain(Crc(0, 0xFFFFFFFF), 512)
    for value in (domain, Framed(Counter(1024), domain), Fill(0xA5, 3), Literal(b"\x00\x01"), Literal(b"ab'c")):
        assert flat(Printer().document(value)) == repr(value)


def test_a_hundred_turns_are_one_loop() -> None:
    module = text(turns())
    body = module[module.index("def test_hundred(") :].partition("    rig.finish()")[0]
    assert "    for turn in rig.repeat(At(8, 5), 100):\n" in body
    assert body.count("rig.step(") == 6
    assert len(body.split("\n")) < 30


# Alignment -----------------------------------------------------------------------------------


def columns(*rows: tuple[Any, ...]) -> list[str]:
    made = [plan.Row(f"n={index}", steps) for index, steps in enumerate(rows)]
    return [column.name for column in align(made, Printer()).columns]


def memory(name: str, length: int, seed: int = 0, line: int = 5) -> plan.Memory:
    return plan.Memory(plan.At(line, 5), name, length, Fill(seed, length))


def test_equal_columns_are_one() -> None:
    first = (memory("a", 8, 1), memory("b", 8, 1, line=6))
    second = (memory("a", 8, 2), memory("b", 8, 2, line=6))
    assert columns(first, second) == ["a"]


def test_columns_of_one_name_are_told_apart() -> None:
    first = (memory("a", 8, 1), memory("a", 8, 5, line=6))
    second = (memory("a", 8, 2), memory("a", 8, 7, line=6))
    assert columns(first, second) == ["a", "a_2"]


@pytest.mark.parametrize("name", ["row", "rig", "class", "has_5"])
def test_a_column_is_never_a_word_of_the_module(name: str) -> None:
    rows = (memory(name, 8, 1), memory("z", 8, line=7)), (memory(name, 8, 2),)
    names = columns(*rows)
    assert len(set(names)) == len(names) == 2
    assert not {"row", "rig", "class"} & set(names)


def test_a_step_of_some_rows_is_guarded() -> None:
    rows = (memory("a", 8), memory("b", 8, line=6)), (memory("a", 8),)
    aligned = align([plan.Row("n=0", rows[0]), plan.Row("n=1", rows[1])], Printer())
    assert [statement.guard for statement in aligned.statements] == ["", "row.has_memory_b"]
    assert aligned.columns[0].values == {0: True, 1: False}


def bound(*rows: tuple[tuple[Any, ...], dict[str, Any]]) -> Aligned:
    """Rows of steps and of what their variables mean."""
    made = []
    for number, (steps, names) in enumerate(rows):
        bindings = tuple(plan.Binding(name, value, str(value)) for name, value in names.items())
        made.append(plan.Row(f"row={number}", steps, (), bindings))
    suite = plan.Suite("a.mks", "", (plan.Case(plan.At(1, 1), "a", "", (), tuple(made)),))
    assert heard(suite) == {("a", row.id): row.steps for row in made}
    return align(made, Printer())


def test_a_column_is_called_after_the_variable_that_it_is() -> None:
    aligned = bound(*[((memory("a", n, seed),), {"n": n, "seed": seed, "m": 2 * n}) for n in (8, 9) for seed in (1, 2)])
    assert [column.name for column in aligned.columns] == ["n", "seed"]
    assert flat(aligned.statements[0].step) == "Memory(At(5, 5), 'a', row.n, data=Fill(row.seed, row.n))"


def test_a_value_is_taken_apart_only_for_columns_that_are_there() -> None:
    data = (Framed(Counter(512), Domain(Crc(0, 7), 512)), Framed(Counter(1024), Domain(Crc(1, 9), 512)))
    rows = [((plan.Memory(plan.At(5, 5), "a", one.length, one),), {"n": one.of.length}) for one in data]
    aligned = bound(*rows)
    assert [column.name for column in aligned.columns] == ["a_length", "a"]


def test_a_variable_that_is_a_word_of_python() -> None:
    aligned = bound(((memory("a", 8),), {"class": 8}), ((memory("a", 9),), {"class": 9}))
    assert [column.name for column in aligned.columns] == ["v_class"]


CONDITIONS: list[tuple[list[Any], list[bool], str]] = [
    ([True, False], [True, False], "row.v"),
    ([True, False], [False, True], "not row.v"),
    (["send", "read"], [True, False], "row.v == 'send'"),
    (["a", "b", "c"], [True, True, False], "row.v != 'c'"),
    ([1, 2, 3, 4, 5], [True, True, False, False, False], "row.v in (1, 2)"),
    ([None, Fill(1, 1), Fill(2, 1)], [False, True, True], "row.v is not None"),
    ([None, Fill(1, 1)], [True, False], "row.v is None"),
    ([Fill(1, 1), Fill(2, 1)], [True, False], "row.has_memory_a"),
    ([0, False, 2], [True, False, True], "row.has_memory_a"),
    (list(range(12)), [i % 2 == 0 for i in range(12)], "row.has_memory_a"),
]


@pytest.mark.parametrize(("values", "holds", "condition"), CONDITIONS)
def test_a_condition_is_on_the_variable_that_decides_it(values: list[Any], holds: list[bool], condition: str) -> None:
    rows = [((memory("a", 8),) if held else (), {"v": value}) for value, held in zip(values, holds, strict=True)]
    assert [statement.guard for statement in bound(*rows).statements] == [condition]


def test_steps_of_two_kinds_at_one_place_are_two_statements() -> None:
    at = plan.At(5, 5)
    rows = (memory("a", 8),), (plan.Pd(at, "a"),)
    suite = plan.Suite("a.mks", "", (plan.Case(at, "a", "", (), (plan.Row("n=0", rows[0]), plan.Row("n=1", rows[1]))),))
    assert heard(suite) == {("a", "n=0"): rows[0], ("a", "n=1"): rows[1]}
