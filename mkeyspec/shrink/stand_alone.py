"""One row as a file of its own: `let`s of used files and setups are written out, each `for` has one value."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from mkeyspec import plan
from mkeyspec.compiler.expand import row_id
from mkeyspec.compiler.loader import Loaded
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast

MOST = 50
"""Combinations of texts for the values of a row that are tried."""


def stand_alone(loaded: Loaded, case: ast.Case, row: plan.Row) -> Iterator[str]:
    """Files with the case alone, the likeliest to have just `row` first; who asks compiles them and sees."""
    texts = {one.name: one for one in row.bindings}
    loops = [line for line in case.body if isinstance(line, ast.For)]
    # Without `covering`: of one value of each `for` there is one row.
    cuts = [] if case.covering is None else [(case.covering.span, "")]
    setups = [(used.span, _lines(used.setup)) for used in case.setups]
    for values in islice(product(*[_values(line, texts) for line in loops]), MOST):
        names = [", ".join(name.text for name in line.names) for line in loops]
        ones = [(line.span, f"for {name} in {value}") for line, name, value in zip(loops, names, values, strict=True)]
        lets = [text_of(let.span) for let in loaded.library]
        yield "\n".join(["mks 1", "", *lets, "", replaced(case.span, [*cuts, *ones, *setups]), ""])


def _lines(setup: ast.Setup) -> str:
    return text_of(setup.lines[0].span.to(setup.lines[-1].span))


def text_of(span: Span) -> str:
    return span.source.text[span.start : span.end]


def replaced(whole: Span, edits: list[tuple[Span, str]]) -> str:
    """The text of `whole` with these parts of it replaced."""
    text, at = [], whole.start
    for span, new in sorted(edits, key=lambda edit: edit[0].start):
        text += [whole.source.text[at : span.start], new]
        at = span.end
    return "".join([*text, whole.source.text[at : whole.end]])


def _values(line: ast.For, texts: dict[str, plan.Binding]) -> list[str]:
    """How a single value of a `for` may be written, the likeliest first."""
    found = [texts[name.text] for name in line.names if name.text in texts]
    called = [one.text for one in found]
    first: list[str] = []
    others: list[str] = []
    for item in line.items:
        written = text_of(item.value.span)
        if isinstance(item.value, ast.List):  # the `for` would go through it
            written = f"[{written}]"
        several = len(line.names) > 1 and isinstance(item.value, ast.Tuple)
        exprs = item.value.items if isinstance(item.value, ast.Tuple) and several else (item.value,)
        if item.label is not None:
            (first if [item.label.text] == called[:1] else others).append(f"{item.label.text}: {written}")
        else:
            (first if [row_id.text_of(expr) for expr in exprs] == called else others).append(written)
    numbers = [number_of(one.value) for one in found]
    if found and None not in numbers:
        together = ", ".join(number for number in numbers if number is not None)
        first.append(f"({together})" if len(numbers) > 1 else together)
    if len(found) == 1 and isinstance(found[0].value, str) and called[0] is not None:
        first += [called[0], f'"{found[0].value}"']
    return list(dict.fromkeys(first + others))


def number_of(value: object) -> str | None:
    """A number, or yes or no, as the language writes it; None of any other value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int) else None
