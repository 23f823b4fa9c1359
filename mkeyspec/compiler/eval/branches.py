"""Records the values of a case's conditions over all of its rows: a branch that no row takes tests nothing.

`if`, `where` and `when` are decided row by row, so a condition that is always the same is not noticed there; a text
that a parameter never has, `if how == "tpyo"`, is one reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from typing_extensions import assert_never

from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.syntax import ast


@dataclass(slots=True)
class _Compared:
    """A comparison with a text that is written out: the values on the other side, and whether one was that text."""

    span: Span
    text: str
    values: set[str] = field(default_factory=set)
    equal: bool = False


class Outcomes:
    """Of one file. Conditions are known by the identity of their node, which lives as long as the tree."""

    __slots__ = ("_conditions", "_texts")

    def __init__(self) -> None:
        self._conditions: dict[int, int] = {}
        """1: it has held, 2: it has not."""
        self._texts: dict[int, _Compared] = {}

    def decided(self, condition: ast.Expr, holds: bool) -> bool:
        """Note, and return, whether a condition holds in a row."""
        at = id(condition)
        self._conditions[at] = self._conditions.get(at, 0) | (1 if holds else 2)
        return holds

    def compared(self, expr: ast.Binary, left: str, right: str) -> None:
        """Note two texts that are compared, if one of them is written out."""
        match (expr.left, expr.right):
            case (_, ast.Text() as written):
                value = left
            case (ast.Text() as written, _):
                value = right
            case _:
                return
        found = self._texts.get(id(expr))
        if found is None:
            found = self._texts[id(expr)] = _Compared(written.span, written.value)
        found.values.add(value)
        found.equal = found.equal or value == written.value

    def report(self, case: ast.Case, diagnostics: Diagnostics) -> None:
        """Warnings about the conditions of a case whose rows are all there."""
        told: list[Span] = []
        for found in self._texts.values():
            around = found.span
            inside = around.source is case.span.source and case.span.start <= around.start < case.span.end
            if inside and not found.equal:
                told.append(around)
                values = sorted(found.values)
                diagnostics.warning(
                    "MKS0617",
                    f'"{found.text}" is none of the values that it is compared with',
                    around,
                    help=did_you_mean(found.text, values) or "they are: " + ", ".join(f'"{v}"' for v in values[:8]),
                )
        for condition, kind, otherwise in _conditions(case.body):
            if not case.span.holds(condition.span):
                continue  # of a setup: another case may take the other way
            if any(condition.span.start <= span.start < condition.span.end for span in told):
                continue
            held = self._conditions.get(id(condition), 0)
            message = ""
            if held == 2 and kind != "where":
                message = _NEVER[kind]
            elif held == 1 and kind == "where":
                message = "this `where` takes no row away"
            elif held == 1 and otherwise:
                message = "every row takes this branch, none the `else`"
            if message:
                diagnostics.warning("MKS0617", f"{message}: the condition is always the same", condition.span)


_NEVER = {"if": "no row takes this branch", "when": "in no row is this claimed", "known": "in no row is this known"}


def _conditions(lines: tuple[ast.Statement, ...]) -> Iterator[tuple[ast.Expr, str, bool]]:
    """Every condition in a case: its expression, its word, and whether it has an `else`."""
    for line in lines:
        match line:
            case ast.If():
                yield line.condition, "if", line.orelse is not None
                for block in line.blocks():
                    yield from _conditions(block.lines)
            case ast.Where():
                yield line.condition, "where", False
            case ast.Step():
                if line.block is not None:
                    yield from _conditions(line.block.lines)
                if line.claim is not None and line.claim.when is not None:
                    yield line.claim.when, "when", False
                yield from _departure(line.known)
                for block in line.claim.lists() if line.claim is not None else ():
                    yield from _conditions(block.lines)
            case ast.Expect():
                yield from _departure(line.known)
            case ast.Repeat():
                yield from _conditions(line.lines)
            case ast.Let() | ast.For():
                pass  # without a condition of its own
            case _:
                assert_never(line)


def _departure(known: ast.Known | None) -> Iterator[tuple[ast.Expr, str, bool]]:
    if known is not None and known.when is not None:
        yield known.when, "known", False
