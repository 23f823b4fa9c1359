"""The engine of `python -m tests.mutants`, and its two tables."""

from __future__ import annotations

import ast
import builtins
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.mutants import reach, swap
from tests.mutants.c_source import CSource
from tests.mutants.child import Died, TimedOut, alarm, forked
from tests.mutants.modules import modules, wider
from tests.mutants.mutant import ROOT, Mutant, Source, meaning, sample
from tests.mutants.survivors import survivors

MUTATED = ("mkeyspec/reference", "mkeyspec/device/model", "mkeyspec/run", "mkeyspec/compiler/check")

TEXT = """\
LIMIT = 4


def outer(values, least=1):
    def inner(value):
        return value > least

    for value in values:
        if inner(value) and value < LIMIT:
            note(value)
        elif value == 7:
            raise ValueError
    return [value + 1 for value in values]
"""


@pytest.fixture
def source() -> Source:
    return Source("of/a/test.py", TEXT)


def change(source: Source, becomes: str) -> Mutant:
    return next(mutant for mutant in source.all() if mutant.becomes == becomes)


# What is drawn -------------------------------------------------------------------------------


def test_a_seed_draws_the_same_and_each_module_has_its_share() -> None:
    some = ["mkeyspec/reference/crc.py", "mkeyspec/reference/key_wrap.py"]
    drawn = sample(some, 8, 5)
    assert drawn == sample(some, 8, 5) != sample(some, 8, 6)
    assert [mutant.module for mutant in drawn] == [some[0]] * 4 + [some[1]] * 4


@pytest.mark.parametrize(
    ("becomes", "inside"),
    [
        ("LIMIT = 5", ""),
        ("def outer(values, least= 2):", "outer"),
        ("return value <= least", "outer.inner"),
        ("if inner(value) or value < LIMIT:", "outer"),
        ("if not inner(value) and value < LIMIT:", "outer"),
        ("pass", "outer"),
        ("for value in []:", "outer"),
        ("return [value - 1 for value in values]", "outer"),
    ],
)
def test_what_is_changed(source: Source, becomes: str, inside: str) -> None:
    mutant = change(source, becomes)
    assert mutant.inside == inside
    assert mutant.code != TEXT
    assert ast.parse(mutant.code)


def test_in_becomes_not_in() -> None:
    source = Source("of/a/test.py", "def f(a, b):\n    return a in b and a not in f\n")
    assert change(source, "return a not in b and a not in f")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a: int | None) -> int | None: ...", "def f(a: int & None) -> int & None: ..."),
        ("@dataclass(frozen=True, slots=True)\nclass A: ...", "@dataclass(frozen=False, slots=False)\nclass A: ..."),
        ("@cache\ndef f(): ...", "def f(): ..."),
        ("zip(a, b, strict=True)", "zip(a, b, strict=False)"),
        ("assert a < b", "assert a <= b"),
        ("assert_never(a)", "pass"),
    ],
)
def test_what_no_test_can_see_is_no_mutant(one: str, other: str) -> None:
    assert meaning(one) == meaning(other)
    assert meaning(one) != meaning("f(1)")


def test_a_key_does_not_know_lines(source: Source) -> None:
    moved = Source(source.module, f"# moved\n\n{TEXT}")
    assert change(source, "LIMIT = 5").key == change(moved, "LIMIT = 5").key


# How it is put in place ----------------------------------------------------------------------


def put(source: Source, code: Any) -> tuple[dict[str, Any], list[Any] | None, bool]:
    """The module, the functions that differ, and whether they could be put into it."""
    path = "/of/a/test.py"
    module: dict[str, Any] = {"note": lambda value: None}
    exec(swap.compiled(path, source.text), module)
    new = swap.compiled(path, code) if isinstance(code, str) else code
    pairs = swap.changed(swap.compiled(path, source.text), new)
    return module, pairs, pairs is not None and swap.Functions().put(pairs)


def test_whoever_has_the_function_has_the_mutant(source: Source) -> None:
    module, _, done = put(source, change(source, "return [value - 1 for value in values]").code)
    assert done
    assert module["outer"]([1, 2]) == [0, 1]


def test_a_function_inside_a_function(source: Source) -> None:
    module, _, done = put(source, change(source, "elif value != 7:").code)
    assert done
    with pytest.raises(ValueError):
        module["outer"]([1])


@pytest.mark.parametrize("becomes", ["LIMIT = 5", "def outer(values, least= 2):"])
def test_what_runs_at_import_is_not_put(source: Source, becomes: str) -> None:
    assert put(source, change(source, becomes).code)[1:] == (None, False)


def test_a_note_before_the_statement_of_each_mutant(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["return value <= least", "pass", "elif value != 7:", "return [value - 1 for value in values]"]
    mutants = list(enumerate(change(source, text) for text in texts))
    module, _, done = put(source, reach.probed(TEXT, "/of/a/test.py", mutants))
    now: set[int] = set()
    monkeypatch.setattr(builtins, reach.NOTE, now.add, raising=False)
    assert done
    module["outer"]([])
    assert now == {3}
    module["outer"]([3])
    assert now == {0, 1, 3}
    module["outer"]([5])
    assert now == {0, 1, 2, 3}


# A process for each --------------------------------------------------------------------------


def test_a_child_gives_a_value() -> None:
    assert forked(lambda: {"a": [1]}, 20.0) == {"a": [1]}


def test_a_child_that_waits_or_works_too_long() -> None:
    def works() -> None:
        alarm(0.05)
        while True:
            pass

    with pytest.raises(TimedOut, match="processor time"):
        forked(works, 20.0)
    with pytest.raises(TimedOut, match="0 s"):
        forked(lambda: time.sleep(20), 0.1)


@pytest.mark.parametrize("work", [lambda: os._exit(0), lambda: 1 / 0, lambda: bytes(1 << 40)])
def test_a_child_that_dies(work: Any) -> None:
    with pytest.raises(Died):
        forked(work, 20.0)


# Whole ---------------------------------------------------------------------------------------


JUDGE = """
from tests.mutants.modules import modules
from tests.mutants.mutant import Mutant, Source
from tests.mutants.python import judge

name = "mkeyspec/reference/key_wrap.py"
text = Source(name).text
changes = [("2 * SEMIBLOCK", "3 * SEMIBLOCK"), ("SEMIBLOCK = 8", "SEMIBLOCK = 7"), ("< least or", "+ 0 < least or")]
lines = [text[: text.index(was)].count("\\n") + 1 for was, _ in changes]
mutants = [Mutant(name, "", n, 6, "", "", "", text.replace(*each)) for n, each in zip(lines, changes)]
assert len({text, *(mutant.code for mutant in mutants)}) == 4
found = {each.mutant.line: each.result for each in judge(mutants, modules())}
print([found[line] for line in lines])
"""


def test_killed_in_place_killed_from_the_import_and_survived() -> None:
    done = subprocess.run([sys.executable, "-c", JUDGE], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "['killed', 'killed', 'survived']\n", done.stderr


# The tables ----------------------------------------------------------------------------------


def test_each_module_has_its_tests() -> None:
    there = {str(path.relative_to(ROOT)) for folder in MUTATED for path in (ROOT / folder).glob("*.py")}
    with_functions = {path for path in there if "def " in (ROOT / path).read_text("utf-8")}
    assert with_functions <= {path for path in modules() if path.endswith(".py")} <= there
    for module in modules().values():
        assert module.tests
        assert [test for test in module.tests if not (ROOT / test.partition("::")[0]).exists()] == []
        assert [test for test in wider(module.path) if not (ROOT / test).exists()] == []
    assert {module.package for module in modules().values() if wider(module.path)} == set(MUTATED[2:])


def test_an_entry_is_whole() -> None:
    entries = survivors()
    assert len({entry.key for entry in entries}) == len(entries)
    for entry in entries:
        assert len(entry.reason.split()) > 3
        lines = [line.strip() for line in (ROOT / entry.module).read_text("utf-8").splitlines()]
        assert [line for line in entry.was.strip().splitlines() if line not in lines] == [], entry


# The software NIC's C ------------------------------------------------------------------------

C_TEXT = """\
#include "a.h"

RULE("a == b")
static int reach(struct key *key, unsigned many) // a < b
{
    int found = 0;
    if (many < 4 && key->length >= many) { /* a > b */
        key->seen = many;
        note(key, "a == b", 'x');
    }
    return found + 1;
}
"""


def test_what_is_changed_in_c() -> None:
    found = {(each.inside, each.was, each.becomes) for each in CSource("of/a/test.c", C_TEXT).all()}
    condition = "if (many < 4 && key->length >= many) { /* a > b */"
    assert found == {
        ("reach", "int found = 0;", "int found = (0 + 1);"),
        ("reach", condition, condition.replace("many < 4", "many <= 4")),
        ("reach", condition, condition.replace("4", "(4 + 1)")),
        ("reach", condition, condition.replace("&&", "||")),
        ("reach", condition, condition.replace(">= many", "> many")),
        ("reach", condition, "if (!(many < 4 && key->length >= many)) { /* a > b */"),
        ("reach", "key->seen = many;", ";"),
        ("reach", "note(key, \"a == b\", 'x');", ";"),
        ("reach", "return found + 1;", "return found - 1;"),
        ("reach", "return found + 1;", "return found + (1 + 1);"),
    }
