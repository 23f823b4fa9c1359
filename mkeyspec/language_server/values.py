"""The value of an expression at its place: in the first row of its case that comes there.

The case is expanded as it is compiled, up to the statement that is asked for, and no further.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    Errno,
    Flags,
    Function,
    Handle,
    Poison,
    UserFunction,
    Value,
    Word,
    is_buffer,
    is_list,
    is_reference,
)
from mkeyspec.compiler.expand.expand import expand, library_scope
from mkeyspec.compiler.statements.check_shapes import check_sentences
from mkeyspec.compiler.statements.lower import Lowering
from mkeyspec.compiler.statements.row_state import CaseState
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, TooManyErrors
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString, slice_of
from mkeyspec.value.layout import Chunk, Interleaved, List
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

SECONDS = 0.2
"""Longest time that is spent on rows that do not come to the place."""

FIRST = 16
"""Bytes that are shown."""

MOST_COMPUTED = 1 << 20
"""Bytes of a value whose first ones are computed."""

DRAWN = 8
"""Entries of a layout that are shown."""

Question = Callable[[Scope], str]


class _Answered(Exception):
    pass


class _OutOfTime(Exception):
    pass


class _Looking(Lowering):
    """The lowering of a row, which asks before the statement that holds a place, or comes after it."""

    __slots__ = ("ask", "last", "until")

    def __init__(self, shared: CaseState, until: int, ask: Callable[[Scope], None]) -> None:
        super().__init__(shared)
        self.until = until
        self.ask = ask
        self.last: Scope | None = None

    def step(self, node: ast.Step, scope: Scope) -> None:
        self._look(node.span, scope)
        super().step(node, scope)

    def expect(self, node: ast.Expect, scope: Scope) -> None:
        self._look(node.span, scope)
        super().expect(node, scope)

    def named(self, name: ast.Name, scope: Scope) -> None:
        super().named(name, scope)
        self.last = scope

    def _look(self, span: Span, scope: Scope) -> None:
        scope.ledger = self.ledger
        self.last = scope
        if span.end >= self.until:
            self.ask(scope)

    def finish(self, row_id: str, bindings: object) -> object:  # type: ignore[override]  # the row is not used
        if self.last is not None:
            self.ask(self.last)
        return super().finish(row_id, ())


def value_in_case(case: ast.Case, library: tuple[ast.Let, ...], at: int, ask: Question) -> str:
    """What `ask` says in the scope of the statement of `case` that holds offset `at` of its source, in the first row
    that comes there; "" if none does, or if it raises Fault."""
    answers: list[str] = []
    deadline = time.monotonic() + SECONDS

    def asked(scope: Scope) -> None:
        with suppress(Fault):
            answers.append(ask(scope))
        raise _Answered

    def begin() -> Lowering:
        if time.monotonic() > deadline:
            raise _OutOfTime
        return _Looking(shared, at, asked)

    diagnostics = Diagnostics()
    with suppress(_Answered, _OutOfTime, Fault, TooManyErrors):
        scope = library_scope(library, diagnostics)
        shared = CaseState(case, check_sentences(case, diagnostics), diagnostics, scope)
        expand(case, scope, begin, diagnostics)
    return answers[0] if answers else ""


def value_in_file(library: tuple[ast.Let, ...], ask: Question) -> str:
    """The same outside of cases."""
    with suppress(Fault, TooManyErrors):
        return ask(library_scope(library, Diagnostics()))
    return ""


def asking_for(expr: ast.Expr) -> Question:
    """Asks for the value of an expression."""

    def ask(scope: Scope) -> str:
        return said(evaluate(expr, scope), scope, expr.span)

    return ask


def said(value: Value, scope: Scope, span: Span) -> str:
    """A value in words, with its length and its first bytes."""
    match value:
        case Poison() | Function() | UserFunction():
            return ""
        case bool() | None:
            return f"`{'yes' if value else 'no' if value is False else 'none'}`"
        case int():
            return f"an int: `{value}`" + (f", `{value:#x}`" if abs(value) > 9 else "")
        case str():
            return f"text: `{_cut(value)}`"
        case Word(name=name, value=number):
            return f"the word `{name}`" + ("" if number is None else f": `{number:#x}`")
        case Flags(value=number, names=names):
            return f"{describe(value)}: `{' | '.join(names) or '0'}`, `{number:#x}`"
        case Errno():
            return describe(value)
        case ByteString():
            return _bytes("bytes", value)
        case List() | Interleaved():
            return f"a layout of {_count(value.length)}\n\n{drawn(value)}"
        case Crc() | T10Dif() | Domain():
            return f"{describe(value)}: `{value.describe()}`"
        case Range(start=start, length=length):
            return f"a range: `{start}..{start + length}`, {length} long"
    if is_list(value):
        inside = ", ".join(_cut(_short(one), 24) for one in value[:6])
        return f"a list of {len(value)}: `[{inside}{', …' if len(value) > 6 else ''}]`"
    if is_reference(value):
        return _of_reference(value, scope, span)
    if isinstance(value, Handle):  # what it is made of stands in its declaration
        return describe(value)
    return f"{describe(value)}: `{_cut(repr(value), 120)}`"


def _of_reference(value: Value, scope: Scope, span: Span) -> str:
    text = describe(value)
    if isinstance(value, Handle) and not is_buffer(value):
        return text
    length = None
    with suppress(Fault, KeyError):
        length = scope.ledger.length(value)  # type: ignore[arg-type]  # a reference
    if length is None:
        return text
    with suppress(Fault, KeyError):
        return _bytes(text, scope.ledger.content(value, span))  # type: ignore[arg-type]
    return f"{text}, {_count(length)}"


def _bytes(what: str, value: ByteString) -> str:
    text = f"{what}, {_count(value.length)}"
    if not 0 < value.length <= MOST_COMPUTED:
        return text
    try:
        first = slice_of(value, 0, min(FIRST, value.length)).data
    except (ValueError, MemoryError):
        return text
    return f"{text}: `{first.hex(' ')}{' …' if value.length > FIRST else ''}`"


def drawn(layout: List | Interleaved) -> str:
    """The entries of a layout, one below the other: where each begins in the mkey, and which bytes of memory it is."""
    rows: list[tuple[str, str]] = []
    at: int | None = 0
    entries = layout.given()
    for entry in entries[:DRAWN]:
        part = entry.target()
        bare = entry.bare()
        size = bare.count if isinstance(bare, Chunk) else part.length
        text = f"{part.name}[{part.start} +: {size}]"
        if isinstance(bare, Chunk) and bare.skip:
            text += f", then {bare.skip} skipped"
        times = entry.repetitions()
        rows.append(("?" if at is None else f"{at:,}", text if times == 1 else f"{text}, {times} times"))
        at = at + size * times if at is not None and isinstance(size, int) and isinstance(times, int) else None
    turns = layout.turns()
    if turns != 1:
        rows.append(("…", f"all of it {turns} times"))
    if len(entries) > DRAWN:
        rows.append(("…", f"{len(entries) - DRAWN} entries more"))
    width = max((len(place) for place, _ in rows), default=0)
    return "```text\n" + "\n".join(f"{place:>{width}}  {text}" for place, text in rows) + "\n```"


def _short(value: object) -> str:
    name, start, length = (getattr(value, member, None) for member in ("name", "start", "length"))
    if isinstance(name, str) and start is not None and length is not None:
        return f"{name}[{start} +: {length}]"
    if isinstance(name, str):
        return name
    return repr(value)


def _count(length: object) -> str:
    return f"{length:,} bytes" if isinstance(length, int) else "a live number of bytes"


def _cut(text: str, most: int = 80) -> str:
    text = text.replace("`", "'").replace("\n", " ")
    return text if len(text) <= most else text[: most - 1] + "…"
