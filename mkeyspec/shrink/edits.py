"""Smaller texts of a case: each an edit of the text as it is, the ones that take most away first.

An edit may make a text that does not compile, or that does not fail any more: who asks for edits tries them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain, count
from typing import Any

from mkeyspec import plan
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.shrink.stand_alone import number_of, replaced, text_of
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import parse
from mkeyspec.value.bytestring import ByteString

Change = list[tuple[int, int, str]]
"""Parts of the text, [start, end), and what is in their place then."""
Pass = Callable[[ast.File, plan.Row], Iterator[Change]]

SHORT = 40
"""Characters of a `let` that is written out where its name is used more than once."""


def parsed(text: str) -> ast.File:
    """The tree of a text that compiles."""
    file = parse(Source("shrunk.mks", text), Diagnostics())
    assert file is not None
    return file


def applied(text: str, change: Change) -> str:
    for start, end, new in sorted(change, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def statements(file: ast.File) -> int:
    """How many statements there are, those inside the blocks of others not counted."""
    return len(file.lets) + len(list(_unbranched(file.cases[0].body)))


def _unbranched(lines: Iterable[ast.Statement]) -> Iterator[ast.Statement]:
    for line in lines:
        if isinstance(line, ast.If):
            blocks = (line.then, *([] if line.orelse is None else [line.orelse]))
            yield from _unbranched(chain.from_iterable(block.lines for block in blocks))
        else:
            yield line


# The passes ----------------------------------------------------------------------------------------


def plain(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """`let n = 7` for a `let` that means 7 in the row, `counter(9)` for one that means 9 bytes: all, then each."""
    known = {one.name: _plain(one.value) for one in row.bindings}
    found: Change = []
    for line in _all(file.cases[0], ast.Let):
        value = known.get(line.name.text)
        if value is not None and line.parameters is None and text_of(line.value.span) != value:
            found.append((line.value.span.start, line.value.span.end, value))
    if len(found) > 1:
        yield found
    for one in found:
        yield [one]


def _plain(value: object) -> str | None:
    return f"counter({value.length})" if isinstance(value, ByteString) else number_of(value)


def calls(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """What a function of the author's own means, in place of a call of it."""
    functions = {let.name.text: let for let in (*file.lets, *_all(file.cases[0], ast.Let)) if let.parameters}
    for call in _all(file, ast.Call):
        let = functions.get(call.function.name) if isinstance(call.function, ast.Ref) else None
        if (
            let is None
            or len(call.arguments) != len(let.parameters or ())
            or any(one.keyword for one in call.arguments)
        ):
            continue
        given = {
            name.text: f"({text_of(one.span)})" for name, one in zip(let.parameters or (), call.arguments, strict=True)
        }
        uses = [(ref.span, given[ref.name]) for ref in _all(let.value, ast.Ref) if ref.name in given]
        yield [(call.span.start, call.span.end, f"({replaced(let.value.span, uses)})")]


def branches(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """The lines of one branch in place of an `if`; one of the values in place of `pick(…)`."""
    for line in _all(file.cases[0], ast.If):
        for block in (line.then, line.orelse):
            if block is not None:
                yield [(line.span.start, line.span.end, text_of(block.span).strip()[1:-1].strip())]
    for call in _all(file, ast.Call):
        if isinstance(call.function, ast.Ref) and call.function.name == "pick":
            for argument in call.arguments[1:]:
                yield [(call.span.start, call.span.end, text_of(argument.span))]


def definitions(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """Without some of the `let`s before the case."""
    yield from _without(file, [let.span for let in file.lets])


def lines(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """Without some of the statements of the case."""
    yield from _without(file, [line.span for line in file.cases[0].body if not isinstance(line, ast.For)])


def inner_lines(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """Without a line of a block."""
    for block in _all(file.cases[0], ast.Block):
        yield from _without(file, [line.span for line in block.lines])


def objects(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """Without an object and all that mentions it; without two that one statement mentions, as a request and what is
    expected of its target go together."""
    body = file.cases[0].body
    names = dict.fromkeys(_declared(line) for line in body)
    pairs = (
        (one, other)
        for line in _parts_of(body)
        for one in dict.fromkeys(ref.name for ref in _all(line, ast.Ref))
        for other in dict.fromkeys(ref.name for ref in _all(line, ast.Ref))
        if one in names and other in names and one < other
    )
    for several in (*dict.fromkeys(pairs), *((one,) for one in names if one)):
        found = list(_mentioning(body, frozenset(several)))
        if found:
            yield [_line(file, line.span) for line in found]


def _declared(line: ast.Statement) -> str:
    """The name of what a statement declares or is about; empty if it has none."""
    operand = getattr(line, "operand", None)
    operand = operand.of if isinstance(operand, ast.Index) else operand
    return operand.name if isinstance(operand, ast.Ref) else ""


def _inside(line: ast.Statement) -> tuple[ast.Statement, ...]:
    """The lines of a statement that only holds others, as `post { … }` does; none of any other."""
    block = line.block if isinstance(line, ast.Step) and line.operand is None else None
    return block.lines if block is not None else ()


def _parts_of(lines: Iterable[ast.Statement]) -> Iterator[ast.Statement]:
    for line in lines:
        yield from _parts_of(_inside(line)) if _inside(line) else (line,)


def _mentioning(lines: Sequence[ast.Statement], names: frozenset[str]) -> Iterator[ast.Statement]:
    for line in lines:
        if isinstance(line, ast.For) or names.isdisjoint(ref.name for ref in _all(line, ast.Ref)):
            continue
        inside = list(_mentioning(_inside(line), names))
        yield from inside if len(inside) < len(_inside(line)) else (line,)


def gathered(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """One memory in place of those of a list, with the bytes of its entries."""
    body = file.cases[0].body
    held = {
        _declared(line): line.value
        for line in body
        if isinstance(line, ast.Step) and line.verb.text == "memory" and not line.peer and line.value is not None
    }
    new = next(name for name in (f"all{n}" for n in count(1)) if name not in file.source.text)
    for line in body:
        for call in _all(line, ast.Call):
            if not isinstance(call.function, ast.Ref) or call.function.name != "list" or len(call.arguments) < 2:
                continue
            entries = [_entry(one.value, held) for one in call.arguments]
            if all(entries):
                yield [
                    (line.span.start, line.span.start, f"memory {new} = {' ++ '.join(entries)}\n    "),
                    (call.arguments[0].span.start, call.arguments[-1].span.end, new),
                ]


def expected(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """What the case expects somewhere, or a part of that, in place of the longer text of a memory's bytes."""
    body = file.cases[0].body
    parts = [part for line in body if isinstance(line, ast.Expect) for part in _all(line.condition, ast.Call)]
    texts = sorted(dict.fromkeys(text_of(part.span) for part in parts), key=len)
    for line in body:
        if isinstance(line, ast.Step) and line.verb.text == "memory" and line.value is not None:
            for text in texts:
                if len(text) < len(text_of(line.value.span)):
                    yield [(line.value.span.start, line.value.span.end, text)]


def _entry(value: ast.Expr, held: Mapping[str, ast.Expr]) -> str:
    """The bytes of an entry of a list, as text; empty if the text of the case does not say them."""
    of = value.of if isinstance(value, ast.Index) else value
    if not isinstance(of, ast.Ref) or of.name not in held:
        return ""
    part = f"[{text_of(value.index.span)}]" if isinstance(value, ast.Index) else ""
    return f"({text_of(held[of.name].span)}){part}"


def parts(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """Without a part of a statement: what follows a comma, a claim, what a case says of itself."""
    case = file.cases[0]
    for step in _all(case, ast.Step):
        for part in (step.claim, step.branch, step.known, step.block, *step.modifiers):
            if part is not None:
                yield [_with_comma(file, part.span)]
        if step.claim is not None and step.claim.when is not None:
            yield [(step.claim.outcomes[-1].span.end, step.claim.span.end, "")]
        for phrase in step.phrases:
            yield [(phrase.preposition.span.start, phrase.value.span.end, "")]
    if case.title is not None:
        yield [(case.title.span.start, case.title.span.end, "")]
    for several in (case.verifies, case.allows, case.needs):
        for one in several:
            if len(several) > 1:
                yield [_with_comma(file, one.span)]
            elif several is not case.verifies:  # a case says what it is about
                yield [_whole_line(file, one.span)]
    text = file.source.text
    for comment in file.comments:
        yield [(comment.start, comment.end, "")] if text[comment.start] == "#" else []


def values(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """Smaller numbers, shorter lists, one side of `++`."""
    for binary in _all(file, ast.Binary):
        if binary.operator in ("++", "|"):
            for side in (binary.left, binary.right):
                yield [(binary.span.start, binary.span.end, text_of(side.span))]
    for many in chain(_all(file, ast.List), _all(file, ast.Tuple)):
        for item in many.items if len(many.items) > 1 else ():
            yield [_with_comma(file, item.span)]
    for number in _all(file.cases[0], ast.Int):
        for smaller in dict.fromkeys((1, number.value // 2, number.value - 1)):
            if 0 < smaller < number.value:
                yield [(number.span.start, number.span.end, str(smaller))]


def names(file: ast.File, row: plan.Row) -> Iterator[Change]:
    """A `for` of one value becomes a `let`; what a `let` is called, written out where it is used."""
    case = file.cases[0]
    for line in case.body:
        if isinstance(line, ast.For) and len(line.items) == 1:
            item = line.items[0].value
            items = item.items if isinstance(item, ast.Tuple) and len(line.names) > 1 else (item,)
            lets = [f"let {name.text} = {text_of(value.span)}" for name, value in zip(line.names, items, strict=False)]
            yield [(line.span.start, line.span.end, "\n    ".join(lets))]
    for let in (*_all(case, ast.Let), *file.lets):
        if let.parameters is not None:
            continue
        used = _uses(file, let.name.text)
        value = text_of(let.value.span)
        if used and (len(used) == 1 or len(value) <= SHORT):
            new = value if isinstance(let.value, (ast.Int, ast.Ref, ast.Call, ast.List)) else f"({value})"
            yield [_line(file, let.span), *[(ref.span.start, ref.span.end, new) for ref in used]]


def _uses(file: ast.File, name: str) -> list[ast.Ref]:
    """Where a name is used, but as the parameter of a function."""
    own = [let.span for let in _all(file, ast.Let) if name in [one.text for one in let.parameters or ()]]
    return [ref for ref in _all(file, ast.Ref) if ref.name == name and not any(span.holds(ref.span) for span in own)]


PASSES: tuple[Pass, ...] = (
    plain,
    branches,
    definitions,
    objects,
    lines,
    inner_lines,
    gathered,
    expected,
    parts,
    calls,
    names,
    values,
)


# How text is cut -------------------------------------------------------------------------------------


def _without(file: ast.File, spans: Sequence[Span]) -> Iterator[Change]:
    """Without half of them, then without smaller parts, down to each; the last ones first, which need the others."""
    size = len(spans)
    while size:
        for end in range(len(spans), 0, -size):
            yield [_line(file, span) for span in spans[max(0, end - size) : end]]
        size //= 2


def _line(file: ast.File, span: Span) -> tuple[int, int, str]:
    """A statement with what ends it: its line, or the `;` beside it."""
    text, start, end = file.source.text, span.start, span.end
    while end < len(text) and text[end] in " \t":
        end += 1
    if text[end : end + 1] == ";":
        return start, end + 1, ""
    before = text[:start].rstrip(" \t")
    if before.endswith(";"):
        return len(before) - 1, span.end, ""
    if end < len(text) and text[end] == "\n" and before.endswith("\n"):
        return len(before), end + 1, ""
    return start, span.end, ""


def _whole_line(file: ast.File, span: Span) -> tuple[int, int, str]:
    text = file.source.text
    return text.rfind("\n", 0, span.start), len(text[: span.end]) + len(text[span.end :].partition("\n")[0]), ""


def _with_comma(file: ast.File, span: Span) -> tuple[int, int, str]:
    """A part with the comma before or after it, if there is one."""
    text = file.source.text
    before = text[: span.start].rstrip()
    if before.endswith(","):
        return len(before) - 1, span.end, ""
    after = len(text) - len(text[span.end :].lstrip())
    if text[after : after + 1] == ",":
        return span.start, after + 1, ""
    return span.start, span.end, ""


def _all(node: Any, kind: type[Any]) -> Iterator[Any]:
    """Every node of a kind in a tree, the outermost first."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple) and not isinstance(node, (Span, str)):
        for item in node:
            yield from _all(item, kind)
    elif is_dataclass(node):
        for one in fields(node):
            value = getattr(node, one.name)
            if not isinstance(value, (Span, Source, str, int, bytes)):
                yield from _all(value, kind)
