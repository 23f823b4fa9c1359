"""Finds the names that a tree uses and declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from typing_extensions import assert_never

from mkeyspec.syntax import ast

DECLARING = ("memory", "mkey", "qp", "pd", "dek", "dct", "login_object")
"""Verbs whose operand is a new name."""


def parts_of(expr: ast.Expr) -> Iterator[ast.Expr | ast.Argument]:
    """The expressions directly inside `expr`; of a comprehension, nothing (it has a name of its own)."""
    match expr:
        case ast.Binary(left=left, right=right):
            yield left
            yield right
        case ast.Call(function=function, arguments=arguments):
            yield function
            yield from arguments
        case ast.Tuple(items=items):
            yield from items
        case ast.List(items=arguments):
            yield from arguments
        case ast.Index(of=of, index=index):
            yield of
            yield index
        case ast.Attribute(of=of):
            yield of
        case ast.Unary(operand=operand):
            yield operand
        case ast.Range(start=start, end=end, length=length):
            yield from (part for part in (start, end, length) if part is not None)
        case ast.But(value=value, override=override):
            yield value
            yield override
        case ast.Int() | ast.Ref() | ast.Errno() | ast.Text() | ast.Bytes() | ast.Comprehension():
            pass
        case _:
            assert_never(expr)


def values_of(part: ast.Expr | ast.Argument) -> tuple[ast.Expr, ...]:
    """The expressions of an argument; an expression is its own."""
    return (part.value, *(pair.value for pair in part.pairs)) if isinstance(part, ast.Argument) else (part,)


Used = tuple[ast.Ref, frozenset[str]]
"""A name that is used, and those that the parameters and comprehensions around it give a meaning."""


def used_in(expr: ast.Expr, local: frozenset[str] = frozenset()) -> list[Used]:
    """The names used in `expr`, those of its own comprehensions and of `local` left out."""
    found: list[Used] = []
    _collect(expr, local, found)
    return found


def _collect(expr: ast.Expr, local: frozenset[str], found: list[Used]) -> None:
    match expr:
        case ast.Ref(name=name):
            if name not in local:
                found.append((expr, local))
        case ast.Comprehension(over=over, name=variable, item=item):
            _collect(over, local, found)
            for value in values_of(item):
                _collect(value, local | {variable.text}, found)
        case _:
            for part in parts_of(expr):
                for value in values_of(part):
                    _collect(value, local, found)


def refs_of(expr: ast.Expr, local: frozenset[str] = frozenset()) -> list[ast.Ref]:
    """The names used in `expr`, without what is around them."""
    return [ref for ref, _ in used_in(expr, local)]


def named(operand: ast.Expr | None) -> ast.Name | None:
    """The name in an operand `k` or `k[3]`; None where it is another expression."""
    match operand:
        case ast.Ref(span, name) | ast.Index(of=ast.Ref(span, name)):
            return ast.Name(span, name)
        case _:
            return None


def index_of(operand: ast.Expr | None) -> ast.Expr | None:
    """`3` of an operand `k[3]`."""
    return operand.index if isinstance(operand, ast.Index) else None


def label_of(phrase: ast.Phrase) -> ast.Name | None:
    """The label that `as r` gives; None of another phrase."""
    return named(phrase.value) if phrase.preposition.text == "as" and index_of(phrase.value) is None else None


Unbranched = ast.Let | ast.For | ast.Where | ast.Expect | ast.Step | ast.Repeat
"""A statement other than `if`."""


def branches(lines: Iterable[ast.Statement]) -> Iterator[Unbranched]:
    """The statements of these lines, with those of both branches of an `if` in its place."""
    for line in lines:
        if isinstance(line, ast.If):
            for block in line.blocks():
                yield from branches(block.lines)
        else:
            yield line


def flat(lines: Iterable[ast.Statement]) -> Iterator[ast.Let | ast.For | ast.Where | ast.Expect | ast.Step]:
    """The same, with the lines of a `repeat` in its place."""
    for line in branches(lines):
        if isinstance(line, ast.Repeat):
            yield from flat(line.lines)
        else:
            yield line


def declared(statements: Iterable[ast.Statement], lines: bool = False) -> Iterator[ast.Name]:
    """Every name that the statements of a case declare, in order; `lines`: they are lines of a step's braces."""
    for statement in statements:
        match statement:
            case ast.If():
                for block in statement.blocks():
                    yield from declared(block.lines, lines)
            case ast.Repeat():
                yield from (label for phrase in statement.sentence.phrases if (label := label_of(phrase)) is not None)
                yield from declared(statement.lines)
            case ast.Let():
                yield statement.name
            case ast.For():
                yield from statement.names
            case ast.Step():
                name = named(statement.operand)
                if not lines and statement.verb.text in DECLARING and name is not None:
                    yield name
                yield from (label for phrase in statement.phrases if (label := label_of(phrase)) is not None)
                if statement.block is not None:
                    yield from declared(statement.block.lines, True)
            case ast.Where() | ast.Expect():
                pass
            case _:
                assert_never(statement)
