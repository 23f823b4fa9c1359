"""A case's text lowered in memory, for tests that hold its steps against plans written by hand."""

from __future__ import annotations

from textwrap import dedent, indent

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_loaded
from mkeyspec.compiler.loader import Loaded
from mkeyspec.diagnostics.diagnostic import Diagnostic, Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax.parser import parse


class Anywhere:
    """Equal to every `At`: most tests are not about places."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, plan.At)

    __hash__ = None  # type: ignore[assignment]  # equal to many that have different ones

    def __repr__(self) -> str:
        return "AT"


AT: plan.At = Anywhere()  # type: ignore[assignment]


def compiled(body: str, head: str = "verifies LAY-05") -> tuple[list[plan.Row], list[Diagnostic]]:
    """Rows and diagnostics of a one-case file with that body."""
    text = "mks 1\ncase c\n" + indent(f"{head}\n{dedent(body).strip()}\n", "    ")
    diagnostics = Diagnostics()
    file = parse(Source("t.mks", text), diagnostics)
    if file is None:
        return [], list(diagnostics)
    suite = compile_loaded(Loaded(file, file.lets, (file.source,)), diagnostics)
    return [row for case in suite.cases for row in case.rows], list(diagnostics)


def rows(body: str, head: str = "verifies LAY-05") -> list[plan.Row]:
    """Rows of a body in which nothing is wrong."""
    found, diagnostics = compiled(body, head)
    errors = [f"{d.code} {d.message}" for d in diagnostics if d.severity == "error"]
    assert not errors, errors
    return found


def steps(body: str) -> tuple[plan.Step, ...]:
    """Steps of a body of one row."""
    (row,) = rows(body)
    return row.steps


def errors(body: str, head: str = "verifies LAY-05") -> list[str]:
    """`CODE message` of each error, in the order of their places."""
    return [f"{d.code} {d.message}" for d in compiled(body, head)[1] if d.severity == "error"]


def the_error(body: str, head: str = "verifies LAY-05") -> Diagnostic:
    """The one error of a body."""
    (found,) = [d for d in compiled(body, head)[1] if d.severity == "error"]
    return found
