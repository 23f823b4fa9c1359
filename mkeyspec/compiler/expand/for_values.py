"""The values of a `for`: zipped with its names, equal ones once, each under its own text in the row's id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import as_list, fault
from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Value, is_list, is_live, is_live_bytes
from mkeyspec.compiler.expand.bindings import planned
from mkeyspec.compiler.expand.row_id import name_of, text_of
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.range import Range


class ForValue:
    """One value of a `for`: what its names are bound to, and how they are called in the row's id."""

    __slots__ = ("bindings", "span", "text", "values")

    def __init__(self, names: Sequence[ast.Name], values: tuple[Value, ...], texts: Sequence[str], span: Span) -> None:
        """`texts`: one for each name, or one label for all of them."""
        self.values = values
        self.text = ",".join([f"{name.text}={text}" for name, text in zip(names, texts, strict=False)])
        self.span = span
        if len(texts) < len(names):
            texts = [texts[0]] * len(names)
        self.bindings = tuple(
            [plan.Binding(n.text, planned(v, text), text) for n, v, text in zip(names, values, texts, strict=True)]
        )


class ForValues:
    """The values of the `for`s of one case."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: dict[int, list[Optional[str]]] = {}
        """Of each item of a `for`, by the item's identity: one text, or one for each name."""

    def of(self, statement: ast.For, scope: Scope) -> list[ForValue]:
        """The values of a `for`, equal ones once, each under its own text."""
        found: list[ForValue] = []
        seen: set[object] = set()
        by_text: dict[str, ForValue] = {}
        for choice, labelled in self._candidates(statement, scope):
            key = (choice.text if labelled else None, tuple((type(value), value) for value in choice.values))
            if key in seen:
                continue
            seen.add(key)
            other = by_text.get(choice.text)
            if other is not None:
                help = "each value has a label of its own" if labelled else "give them labels: first: …, second: …"
                raise fault(
                    "MKS0330",
                    f"two values would be called `{choice.text}` in the row's id",
                    choice.span,
                    notes=(Note("the other one", other.span),),
                    help=help,
                )
            by_text[choice.text] = choice
            found.append(choice)
        return found

    def _candidates(self, statement: ast.For, scope: Scope) -> list[tuple[ForValue, bool]]:
        items = statement.items
        if len(items) == 1 and items[0].label is None:
            several = self._iterated(statement, items[0].value, scope)
            if several is not None:
                return several
        found: list[tuple[ForValue, bool]] = []
        for i, item in enumerate(items):
            value = evaluate(item.value, scope)
            values = _zipped(statement, value, item.value)
            if item.label is not None:
                found.append((ForValue(statement.names, values, [item.label.text], item.label.span), True))
                continue
            _need_label(value, item.value)
            found.append((self._named(statement, values, item.value, i), False))
        return found

    def _iterated(self, statement: ast.For, expr: ast.Expr, scope: Scope) -> Optional[list[tuple[ForValue, bool]]]:
        """One list or range after `in` is gone through, as in Python; None: it is one value."""
        value = evaluate(expr, scope)
        if isinstance(value, Range):
            value = as_list(value, scope, expr.span)
        if not is_list(value):
            return None
        count = len(statement.names)
        if count > 1 and not all(is_list(item) and len(item) == count for item in value):
            return None
        written: tuple[Optional[ast.Expr], ...]
        match expr:
            case ast.Tuple(items=items):
                written = items
            case ast.List(items=arguments) if not any(item.pairs for item in arguments):
                written = tuple(item.value for item in arguments)
            case _:
                written = (None,) * len(value)
        found: list[tuple[ForValue, bool]] = []
        for i, (item, source) in enumerate(zip(value, written, strict=True)):
            _need_label(item, source or expr)
            values = _zipped(statement, item, source or expr)
            if source is not None:
                found.append((self._named(statement, values, source, i), False))
            else:
                texts = [name_of(v) for v in values]
                found.append((_choice(statement, values, texts, i, expr.span), False))
        return found

    def _named(self, statement: ast.For, values: tuple[Value, ...], expr: ast.Expr, i: int) -> ForValue:
        """Values called as they are written."""
        if len(values) > 1 and not isinstance(expr, ast.Tuple):
            return _choice(statement, values, [name_of(value) for value in values], i, expr.span)
        texts = self._texts.get(id(expr))
        if texts is None:
            items = ast.items_of(expr) if len(values) > 1 else (expr,)
            texts = self._texts[id(expr)] = [text_of(item) for item in items]
        return _choice(statement, values, texts, i, expr.span)


def no_values(statement: ast.For, row_id: str) -> Fault:
    """The mistake of a `for` that has nothing to go through in one row while other rows go on."""
    names = " and ".join(f"`{name.text}`" for name in statement.names)
    return fault(
        "MKS0333",
        f"row `{row_id}` is lost: there is no value for {names}",
        statement.span,
        help="if it is meant to have no rows, a `where` above says so",
    )


def _zipped(statement: ast.For, value: Value, expr: ast.Expr) -> tuple[Value, ...]:
    """One value for each name."""
    names = statement.names
    if len(names) == 1:
        return (value,)
    if not is_list(value):
        raise fault(
            "MKS0302",
            f"{len(names)} names take tuples of {len(names)} values, not {describe(value)}",
            expr.span,
            notes=(Note("the names", names[0].span.to(names[-1].span)),),
        )
    if len(value) != len(names):
        raise fault(
            "MKS0302",
            f"{len(value)} values for {len(names)} names",
            expr.span,
            notes=(Note("the names", names[0].span.to(names[-1].span)),),
        )
    return value


def _need_label(value: Value, expr: ast.Expr) -> None:
    """A live value in a `for` has no text of its own that would say what it is."""
    if is_live(value) or is_live_bytes(value):
        raise fault("MKS0330", "a live value in a `for` needs a label", expr.span, help="end: k.max_entries")


def _choice(statement: ast.For, values: tuple[Value, ...], texts: list[Optional[str]], i: int, span: Span) -> ForValue:
    called = [
        text if text is not None else name_of(value) or f"item{i}" for text, value in zip(texts, values, strict=True)
    ]
    return ForValue(statement.names, values, called, span)
