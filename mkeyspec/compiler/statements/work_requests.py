"""The work requests of the language: their records by word and by the class of the plan, and what a section takes."""

from __future__ import annotations

from typing import Any

from mkeyspec import plan
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import atomics, configure, data_requests, vendor_requests
from mkeyspec.compiler.statements.request_parts import options
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import Place, Shape
from mkeyspec.compiler.statements.statement import Request

RECORDS: tuple[Request[Any], ...] = tuple(
    record
    for module in (configure, data_requests, atomics, vendor_requests)
    for record in vars(module).values()
    if isinstance(record, Request)
)
_BY_WORD = {shape.name: record for record in RECORDS for shape in record.shapes}
_BY_CLASS = {record.request: record for record in RECORDS}

SECTION = Place("section", (shape for record in RECORDS for shape in record.shapes))

SHAPES: tuple[Shape, ...] = tuple(
    shape for record in RECORDS if record.request is not plan.StraySetter for shape in record.shapes
)
"""Of the requests that may be alone: a setter may not."""


def record_of(request: plan.Wr) -> Request[Any]:
    return _BY_CLASS[type(request)]


def request(row: RowState, sentence: Sentence, scope: Scope, alone: bool) -> plan.Wr:
    """One work request, or a stray setter. `alone`: it is a section of its own, and signaled."""
    record = _BY_WORD[sentence.verb.name]
    section = row.origin
    row.origin = section.inner(sentence.span)
    found: plan.Wr = record.lower(row, sentence, scope, options(row, sentence, scope, alone))
    row.put_overrides(found, sentence)
    for word, modifier in sentence.modifiers.items():
        row.origin.put_member(found, word, modifier.span)
    found.locate(row.origin)
    row.origin = section
    return found
