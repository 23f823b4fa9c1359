"""The values of the names and expressions of one statement, in one row, as a failure shows them.

The row is expanded again, alone, up to the statement. Nothing is reported: what can't be evaluated has no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.evaluate import COMPARISONS, evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Errno, Flags, Value, Word
from mkeyspec.compiler.expand.expand import expand, library_scope
from mkeyspec.compiler.expand.for_values import ForValue
from mkeyspec.compiler.loader import Loaded, load
from mkeyspec.compiler.statements.check_shapes import check_sentences
from mkeyspec.compiler.statements.lower import Lowering
from mkeyspec.compiler.statements.row_state import CaseState
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, TooManyErrors
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import flat, parts_of, refs_of, values_of
from mkeyspec.value.bytestring import ByteString, slice_of
from mkeyspec.value.layout import Part
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

FIRST = 16
"""A byte string of at most so many bytes is shown whole."""
MOST = 4
"""Expressions of a statement that are shown."""
ITEMS = 6
"""Items of a list that are shown."""

_SHOWN = (bool, int, str, Flags, Word, Errno, ByteString, Domain, Crc, T10Dif, Range, tuple)
"""Kinds of values that a name of a case has, and that its text does not show."""


_NEXT = re.compile(r",[a-zA-Z_]\w*=|\Z")
"""What follows a value in the id of a row: the next one, or nothing."""


@dataclass(slots=True)
class RowValues:
    """`names`: of the `for`s and `let`s that the statement sees, the value of each that one line can tell, and whether
    that is all of it (of a long byte string only the length is shown). `lets`: what each `let` of the case is, as it is
    written; of a `pick`, what it takes in this row. `expressions`: those of the statement that don't show their
    value."""

    names: dict[str, tuple[str, bool]] = field(default_factory=dict)
    lets: dict[str, str] = field(default_factory=dict)
    expressions: dict[str, str] = field(default_factory=dict)


class _Found(Exception):
    """The statement was reached."""


class _Reaching(Lowering):
    """The lowering of a row, which ends before the statement at a place."""

    __slots__ = ("found", "offset", "place")

    def __init__(self, shared: CaseState, at: plan.At, offset: int, found: _Finding) -> None:
        super().__init__(shared)
        self.place, self.offset, self.found = at, offset, found

    def step(self, node: ast.Step, scope: Scope) -> None:
        self._look(node, scope)
        super().step(node, scope)

    def expect(self, node: ast.Expect, scope: Scope) -> None:
        self._look(node, scope)
        super().expect(node, scope)

    def _look(self, node: ast.Step | ast.Expect, scope: Scope) -> None:
        if not node.span.start <= self.offset < node.span.end:
            return
        turn = None if self.turn is None else self.turn.turn.number
        if self.place.turn is None or turn == self.place.turn.number:
            scope.ledger = self.ledger
            self.found.tell(node, self.offset, scope)
            raise _Found


@dataclass(slots=True)
class _Finding:
    """The values to show for the statement. The scopes of a row are emptied at its end, so they are computed now."""

    lets: Mapping[str, ast.Expr]
    library: Scope = field(default_factory=Scope)
    values: RowValues = field(default_factory=RowValues)

    def tell(self, node: ast.Step | ast.Expect, offset: int, scope: Scope) -> None:
        at: Scope | None = scope
        while at is not None and at is not self.library:
            for name, value in at.names.items():
                if _is_shown(value) and (text := told(value)):
                    self.values.names.setdefault(name, (text, not _is_long(value)))
            at = at.around
        self.values.lets = {name: _in_one_line(_picked(value, scope)) for name, value in self.lets.items()}
        for expr in _expressions(_at(node, offset)):
            self._look(expr, scope)

    def _look(self, expr: ast.Expr, scope: Scope) -> None:
        found = self.values.expressions
        if len(found) >= MOST or isinstance(expr, (ast.Int, ast.Text, ast.Bytes, ast.Errno)):
            return
        whole = False
        if self._hides(expr, scope):
            with suppress(Fault):
                value = evaluate(expr, scope)
                text, said = _in_one_line(expr), told(value)
                whole = bool(said) and not _is_long(value)
                if whole and not _same(text, said):
                    found[text] = said
        for part in () if whole else parts_of(expr):
            for one in values_of(part):
                self._look(one, scope)

    def _hides(self, expr: ast.Expr, scope: Scope) -> bool:
        """Whether the value isn't seen in the text. A name of the row is shown by itself."""
        match expr:
            case ast.Binary(operator=operator) if operator in COMPARISONS or operator == "++":
                return False
            case ast.Ref(name=name):
                return name in self.library.names and _is_shown(self.library.names[name])
            case ast.Binary():
                return True
            case _:
                return any(_is_value(ref.name, scope) for ref in refs_of(expr))


def values_at(path: Path, case: str, row: str, at: plan.At) -> RowValues:
    """The values at the statement at `at` of a row; empty where the file or the row can't be read any more.

    `case`: the name; `row`: the id without brackets.
    """
    loaded = _loaded(path)
    node = None if loaded is None else next((one for one in loaded.file.cases if one.name.text == case), None)
    if loaded is None or node is None:
        return RowValues()
    source = loaded.file.source
    if at.line > source.text.count("\n") + 1:
        return RowValues()
    offset = source.start_of(at.line) + at.column - 1
    diagnostics = Diagnostics()
    found = _Finding({line.name.text: line.value for line in flat(node.body) if isinstance(line, ast.Let)})
    with suppress(_Found, Fault, TooManyErrors):
        found.library = library_scope(loaded.library, diagnostics)
        shared = CaseState(node, check_sentences(node, diagnostics), diagnostics, found.library)
        only = None if not row else _OneRow(row)
        expand(node, found.library, lambda: _Reaching(shared, at, offset, found), diagnostics, None, only)
    return found.values


class _OneRow:
    """The row with an id."""

    def __init__(self, id: str) -> None:
        self.id = id

    def kept(self, chosen: Sequence[ForValue], values: Sequence[ForValue]) -> list[ForValue]:
        above = "".join([f"{value.text}," for value in chosen])
        return [value for value in values if self._begins_with(above + value.text)]

    def _begins_with(self, text: str) -> bool:
        return self.id.startswith(text) and _NEXT.match(self.id, len(text)) is not None


@lru_cache(maxsize=4)
def _loaded(path: Path) -> Loaded | None:
    with suppress(TooManyErrors):
        return load(path, Diagnostics())
    return None


def told(value: Value) -> str:
    """A value in the language's words, in one short line; "" if it has none."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value} ({value:#x})" if abs(value) > 9 else str(value)
        case str():
            return f'"{value}"'
        case Word(name=name, value=number):
            return name if number is None else f"{name} ({number:#x})"
        case Flags(value=number, names=names):
            return f"{' | '.join(names)} ({number:#x})" if names else f"{number:#x}"
        case Errno(name=name):
            return name
        case ByteString(length=length):
            return f'hex"{slice_of(value, 0, length).data.hex()}"' if 0 < length <= FIRST else f"{length} bytes"
        case Domain() | Crc() | T10Dif():
            return value.describe()
        case Range(start=start, length=length):
            return f"{start} +: {length}"
        case Part(name=name, start=int(start), length=int(length), but=()):
            return f"{name}[{start} +: {length}]"
        case tuple():
            texts = ["" if _is_long(one) else told(one) for one in value[:ITEMS]]
            more = f", … {len(value)} items" if len(value) > ITEMS else ""
            return f"[{', '.join(texts)}{more}]" if all(texts) else ""
        case _:
            return ""


def _is_shown(value: object) -> bool:
    return isinstance(value, _SHOWN)


def _is_long(value: Value) -> bool:
    return isinstance(value, ByteString) and value.length > FIRST


def _is_value(name: str, scope: Scope) -> bool:
    with suppress(KeyError):
        return scope.place(name) is not None and _is_shown(scope.find(name))
    return False


def _at(node: ast.Step | ast.Expect, offset: int) -> ast.Step | ast.Expect:
    """The innermost statement that begins at `offset`."""
    inside = next((line for line in _statements_in(node) if line.span.start <= offset < line.span.end), None)
    return node if inside is None else _at(inside, offset)


def _statements_in(node: ast.Step | ast.Expect) -> Iterator[ast.Step | ast.Expect]:
    """The statements of its block."""
    match node:
        case ast.Step(block=block) if block is not None:
            for line in flat(block.lines):
                match line:
                    case ast.Step() | ast.Expect():
                        yield line


def _expressions(node: ast.Step | ast.Expect) -> Iterator[ast.Expr]:
    """The expressions of a statement, in the order of its text; those of what it claims left out."""
    match node:
        case ast.Expect(condition=condition):
            yield condition
        case ast.Step():
            for value in (node.operand, *(phrase.value for phrase in node.phrases), node.value):
                if value is not None:
                    yield value
            for modifier in node.modifiers:
                if modifier.value is not None:
                    yield modifier.value
            for line in _statements_in(node):
                yield from _expressions(line)
        case _:
            assert_never(node)


def _picked(expr: ast.Expr, scope: Scope) -> ast.Expr:
    """Of `pick(condition, one, other)`, the one that is taken."""
    match expr:
        case ast.Call(function=ast.Ref(name="pick"), arguments=(condition, one, other)):
            with suppress(Fault):
                holds = evaluate(condition.value, scope)
                if isinstance(holds, bool):
                    return _picked((one if holds else other).value, scope)
    return expr


def _in_one_line(expr: ast.Expr) -> str:
    text = expr.span.source.text[expr.span.start : expr.span.end]
    return " ".join(line.strip() for line in text.split("\n"))


def _same(text: str, said: str) -> bool:
    return text.replace(" ", "") == said.replace(" ", "")
