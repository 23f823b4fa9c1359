"""Which names a tree uses, and which it declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mkeyspec.syntax import ast

DECLARING = ("memory", "mkey", "qp", "pd", "dek", "dct")
"""Verbs whose operand is a new name."""


def parts_of(expr: ast.Expr) -> Iterator[ast.Expr | ast.Argument]:
    """The expressions directly inside `expr`; of a comprehension, nothing (it has a name of its own)."""
    if isinstance(expr, ast.Binary):
        yield expr.left
        yield expr.right
    elif isinstance(expr, ast.Call):
        yield expr.function
        yield from expr.arguments
    elif isinstance(expr, (ast.Tuple, ast.List)):
        yield from expr.items
    elif isinstance(expr, ast.Index):
        yield expr.of
        yield expr.index
    elif isinstance(expr, ast.Attribute):
        yield expr.of
    elif isinstance(expr, ast.Unary):
        yield expr.operand
    elif isinstance(expr, ast.Range):
        yield expr.start
        if expr.end is not None:
            yield expr.end
        if expr.length is not None:
            yield expr.length
    elif isinstance(expr, ast.But):
        yield expr.value
        yield expr.override


def refs_of(expr: ast.Expr, local: frozenset[str] = frozenset()) -> Iterator[ast.Ref]:
    """The names used in `expr`, those of its own comprehensions left out."""
    if isinstance(expr, ast.Ref):
        if expr.name not in local:
            yield expr
        return
    if isinstance(expr, ast.Comprehension):
        yield from refs_of(expr.over, local)
        local = local | {expr.name.text}
        yield from refs_of(expr.item.value, local)
        for pair in expr.item.pairs:
            yield from refs_of(pair.value, local)
        return
    for part in parts_of(expr):
        if isinstance(part, ast.Argument):
            yield from refs_of(part.value, local)
            for pair in part.pairs:
                yield from refs_of(pair.value, local)
        else:
            yield from refs_of(part, local)


def declared(statements: Iterable[ast.Statement], lines: bool = False) -> Iterator[ast.Name]:
    """Every name that the statements of a case declare, in order; `lines`: they are lines of a step's braces."""
    for statement in statements:
        if isinstance(statement, ast.Let):
            yield statement.name
        elif isinstance(statement, ast.For):
            yield from statement.names
        elif isinstance(statement, ast.If):
            yield from declared(statement.then.lines, lines)
            if statement.orelse is not None:
                yield from declared(statement.orelse.lines, lines)
        elif isinstance(statement, ast.Step):
            operand = statement.operand
            if isinstance(operand, ast.Index):
                operand = operand.of
            if not lines and statement.verb.text in DECLARING and isinstance(operand, ast.Ref):
                yield ast.Name(operand.span, operand.name)
            for phrase in statement.phrases:
                if phrase.preposition.text == "as" and isinstance(phrase.value, ast.Ref):
                    yield ast.Name(phrase.value.span, phrase.value.name)
            if statement.block is not None:
                yield from declared(statement.block.lines, True)
