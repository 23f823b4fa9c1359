"""Which tests reach which mutant: the statement that a mutant changes is preceded by a call that notes it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType

from tests.mutants.mutant import Mutant

NOTE = "__mkeyspec_mutant_is_reached__"
"""Found among the built-in names, so that it is seen in each module."""


def probed(text: str, path: str, mutants: Sequence[tuple[int, Mutant]]) -> CodeType:
    """The module with a note before the statement of each mutant, whose number is beside it."""
    tree = ast.parse(text)
    for number, mutant in mutants:
        note = ast.Expr(ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(number)], []))
        found = _innermost(tree, mutant.line, mutant.column)
        if found is not None:
            body, at = found
            body.insert(at, ast.fix_missing_locations(ast.copy_location(note, body[at])))
    return compile(tree, path, "exec", dont_inherit=True)


def _innermost(tree: ast.AST, line: int, column: int) -> tuple[list[ast.stmt], int] | None:
    """The list of statements, and the place in it, of the smallest statement around a place of the source."""
    found = None
    node = tree
    while True:
        for body in _bodies(node):
            at = next((at for at, each in enumerate(body) if _covers(each, line, column)), None)
            if at is not None:
                found, node = (body, at), body[at]
                break
        else:
            return found


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    bodies = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        bodies += [part.body]
    return [body for body in bodies if isinstance(body, list)]


def _covers(node: ast.stmt, line: int, column: int) -> bool:
    """A note of another mutant has no width of its own."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == NOTE:
        return False
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) < end
