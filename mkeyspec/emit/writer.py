"""Writes a suite down as one pytest module that people can read.

The text is a function of the suite and the header alone, to the byte. The template arranges
texts that `printer` made of typed values; nothing else is interpolated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jinja2

from mkeyspec import plan
from mkeyspec.emit.align import Aligned, Statement, align
from mkeyspec.emit.header import Header, with_header
from mkeyspec.emit.printer import Document, Printer, call, layout
from mkeyspec.files import resource
from mkeyspec.process.collector import no_collection

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class _Case:
    """Texts of one test function."""

    name: str
    mark: str
    parameters: str
    rows: list[str]
    body: list[str]


def write(suite: plan.Suite, header: Header) -> str:
    """The text of the module. ValueError if the suite is not what lowering makes (a bad name, two equal ids)."""
    printer = Printer()
    with no_collection():
        cases = [_case(case, printer) for case in suite.cases]
    names = {"suite", *printer.names}
    if cases:
        names |= {"Rig", "case"}
    if any(case.rows for case in cases):
        names |= {"Row", "row", "rows"}
    mark = call(
        "suite",
        [("", repr(header.source)), ("title=", repr(suite.title)), ("digest=", repr(header.inputs))],
    )
    text = _template().render(imports=sorted(names, key=import_order), suite=layout(mark, 0, 8), cases=cases)
    return with_header(header, text)


def import_order(name: str) -> tuple[bool, bool, str]:
    """Constants, classes, functions: as tools sort the names of an import."""
    return not name.isupper(), name.islower(), name


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource.directory("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # it writes Python, made of reprs; there is no markup to escape
    )
    return environment.get_template("module.py.j2")


def _case(case: plan.Case, printer: Printer) -> _Case:
    if not _NAME.match(case.name):
        raise ValueError(f"{case.name!r} is not a name of a case")
    ids = [row.id for row in case.rows]
    if not ids or len(set(ids)) != len(ids):
        raise ValueError(f"the rows of {case.name} need ids of their own")
    aligned = align(case.rows, printer)
    plain = ids == [""]
    common = _common_needs(case.rows)
    return _Case(
        name=case.name,
        mark=_mark(case, common, printer),
        parameters="rig: Rig" if plain else "rig: Rig, row: Row",
        rows=[] if plain else _rows(case, aligned, common, printer),
        body=[_statement(one) for one in aligned.statements],
    )


def _statement(one: Statement, indent: int = 4) -> str:
    """A step, or a loop with its steps; the first line is indented too."""
    if one.guard:
        return f"{' ' * indent}if {one.guard}:\n{_statement(replace(one, guard=''), indent + 4)}"
    if not one.body:
        return " " * indent + layout(call("rig.step", [("", one.step)]), indent)
    head = f"{' ' * indent}for turn in {layout(one.step, indent, 12, 1)}:"
    return "\n".join([head, *[_statement(step, indent + 4) for step in one.body]])


def _mark(case: plan.Case, needs: tuple[plan.Need, ...], printer: Printer) -> str:
    items: list[tuple[str, Document]] = [
        ("", "SUITE"),
        ("", printer.document(case.at)),
        ("", repr(case.name)),
    ]
    if case.title:
        items.append(("title=", repr(case.title)))
    if case.verifies:
        items.append(("verifies=", printer.document(case.verifies)))
    if needs:
        items.append(("needs=", printer.document(needs)))
    if case.isolated:
        items.append(("isolated=", "True"))
    if case.tags:
        items.append(("tags=", printer.document(case.tags)))
    if case.level != "mandatory":
        items.append(("level=", repr(case.level)))
    if any(_negative(step) for row in case.rows for step in row.steps):
        items.append(("negative=", "True"))
    return layout(call("case", items), 0, 1)


def _negative(step: Any) -> bool:
    """Whether a step claims that something is refused or found wrong."""
    if isinstance(step, plan.Check):
        return step.kind != ("ok",)
    return any(isinstance(outcome, plan.Rejected) for outcome in getattr(step, "claim", ()))


def _common_needs(rows: tuple[plan.Row, ...]) -> tuple[plan.Need, ...]:
    return tuple(need for need in rows[0].needs if all(need in row.needs for row in rows))


def _rows(case: plan.Case, aligned: Aligned, common: tuple[plan.Need, ...], printer: Printer) -> list[str]:
    texts = []
    for index, row in enumerate(case.rows):
        items: list[tuple[str, Document]] = [("", repr(row.id))]
        needs = tuple(need for need in row.needs if need not in common)
        if needs:
            items.append(("", printer.document(needs)))
        for column in aligned.columns:
            if index in column.values:
                items.append((f"{column.name}=", printer.column(column.values[index], column.style)))
        texts.append(layout(call("row", items), 4, 0, 1))
    return texts
